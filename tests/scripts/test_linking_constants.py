"""Tests of the figures behind the recipe's constants in its docstrings and the guide."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import linking_constants as constants
import numpy as np
import pytest
from linking_experiment import CHOSEN_ON, RANDOM, REAL, compare_engines, matrix

from ir_std._arrays import Floats

GUIDE = Path(__file__).parents[2] / "docs/evidence/linking.md"
TEXT = " ".join(GUIDE.read_text(encoding="utf-8").split())
REAL_SETS = (
    "Robust 2004, topics up to 1999 and later ones",
    "Robust 2003, the same",
    "Soboroff's engines, feedback",
    "Soboroff's engines, stemming",
    "Systems of 2020 to 2024 on DL 2019 and 2020",
)


def systems(tau: float, seed: int = 0, n: int = 60) -> tuple[Floats, Floats]:
    """Simulate z on two sets of topics, -0.5 apart, that suit systems by ``tau``."""
    random = np.random.default_rng(seed)
    level = random.normal(0, 0.3, n)
    unlike = random.normal(0, tau, n)
    return (random.normal(level - 0.5, 0.6, (100, n)), random.normal(level + unlike, 0.6, (100, n)))


@pytest.mark.parametrize("tau", [0.0, 0.15, 0.3])
def test_a_disagreement_that_was_put_in_is_found(tau: float) -> None:
    found = []
    for seed in range(20):
        a, b = systems(tau, seed)
        found.append(constants.excess(a, b, np.arange(5), np.arange(5, 60)))
    assert constants.together(found).tau == pytest.approx(tau, abs=0.04)


def test_the_constant_is_negative_whichever_collection_comes_first() -> None:
    a, b = systems(0.1)
    for pair in ((a, b), (b, a)):
        one = constants.excess(*pair, np.arange(5), np.arange(5, 60))
        assert one.constant[0] == pytest.approx(-0.5, abs=0.15)


def test_no_constant_is_ever_below_zero() -> None:
    one = constants.excess(*systems(0.0), np.arange(5), np.arange(5, 60))
    assert constants.root(-1.0) == 0
    assert one.by_constant(one) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(("name", "tau"), [("feedback", 0.055), ("stemming", 0.135)])
def test_soboroffs_engines_disagree_as_the_guide_says(data: Path, name: str, tau: float) -> None:
    comparison = compare_engines(data, name)
    assert len(list(combinations(comparison.collections, 2))) == 36
    assert constants.of_engines(comparison).tau == pytest.approx(tau, abs=5e-4)


def test_systems_of_2020_to_2024_do_not_disagree_on_dl_2019_and_2020() -> None:
    assert constants.of_modern_systems(20, 0).tau < 0.05


def test_robust_2003_and_2004_are_near_the_usual_disagreement() -> None:
    rows = np.arange(100)
    cut = constants.of_cuts(matrix(*REAL), (rows[:50], rows[50:]), RANDOM, ["random"], 20, 0)
    assert 0.08 < cut.tau < 0.22


@pytest.mark.exhaustive
def test_the_guide_has_what_the_script_prints(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    constants.main(["--data", str(data), "--jobs", "2"])
    found = dict(
        re.findall(r"^  (\S.*?)(?::|  +)\s*(\d.*)$", capsys.readouterr().out, re.MULTILINE)
    )
    taus = [short(found[name]) for name in REAL_SETS]
    assert (
        "engines disagree by {} standard deviations (Robust 2004, topics up to 1999 and later "
        "ones), {} (Robust 2003), {} and {} (Soboroff's feedback and stemming), {} (systems"
    ).format(*taus) in TEXT
    by_matrix = [found[" ".join(key)].split()[2:] for key in CHOSEN_ON]
    ranges = [
        f"{short(min(values))} to {short(max(values))}" for values in zip(*by_matrix, strict=True)
    ]
    constant, distance = map(short, found["all that the constants were chosen on"].split()[2:])
    assert f"each unit of the shift adds {constant} to the scatter ({ranges[0]};" in TEXT
    assert f"is wrong by {distance} times the shift times its distance" in TEXT
    assert f"from the anchors ({ranges[1]};" in TEXT
    others = " and ".join(map(short, found["all others"].split()[2:]))
    assert f"pairs need larger values for these last two constants, {others}." in TEXT
    left = [short(value) for name, value in found.items() if name.startswith("constants from")]
    assert (
        "this error is {} for shifts up to .25, {} up to .5, {} up to 1 and {} up to 2".format(
            *left
        )
        in TEXT
    )


def short(number: str) -> str:
    """Format a figure like ``.136``, but 0 as it is."""
    return number[1:].replace(".000", "0")
