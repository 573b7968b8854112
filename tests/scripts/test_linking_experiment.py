"""The experiment on linking agrees with its page, even with fewer trials."""

import contextlib
import io
import re
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import linking_constants as constants
import linking_experiment as experiment
import numpy as np
import pytest
from linking_experiment import CHOSEN_ON, RANDOM, REAL, compare_engines, matrix
from scipy.stats import ttest_ind

from ir_std._arrays import Floats

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/evidence/linking.md").read_text(encoding="utf-8")
"""Page with the script's output for its own number of trials and its own seed."""
TEXT, HOW_TO = (
    " ".join((ROOT / page).read_text(encoding="utf-8").split())
    for page in ("docs/evidence/linking.md", "docs/how-to/many-collections.md")
)


@pytest.fixture(scope="module")
def rows() -> Mapping[str, experiment.Row]:
    case = experiment.Case("robust04", "AP", 25, experiment.STRONG_WEAK, "random")
    return experiment.summarized(experiment.run_case(40, 0, case))


def test_linked_means_drift_little_more_than_those_by_the_same_systems(
    rows: Mapping[str, experiment.Row],
) -> None:
    drift = {what: row["RMS / floor"].value for what, row in rows.items()}
    assert drift["not linked"] > 2.5
    assert drift["3 anchors"] < 1.30
    assert drift["5 anchors"] < 1.20
    assert drift["10 anchors"] < 1.15


@pytest.mark.parametrize("k", [3, 5, 10])
def test_intervals_of_linked_differences_hold_their_level(
    rows: Mapping[str, experiment.Row], k: int
) -> None:
    row = rows[experiment.anchors_label(k)]
    assert row["coverage"].value + 3 * row["coverage"].error >= 0.93
    assert row["type I"].value - 3 * row["type I"].error <= 0.07


def test_without_a_link_a_system_differs_from_itself(rows: Mapping[str, experiment.Row]) -> None:
    assert rows["not linked"]["type I"].value > 0.5
    assert rows["raw"]["type I"].value < 0.1
    assert rows[experiment.SAME]["type I"].value < 0.1


def test_a_link_finds_less_than_the_same_systems_and_barely_anything_the_wrong_way(
    rows: Mapping[str, experiment.Row],
) -> None:
    found = {what: row["found"].value for what, row in rows.items()}
    assert found["3 anchors"] < found["10 anchors"] < found[experiment.SAME]
    assert rows["not linked"]["wrong way"].value > 0.2
    assert rows["10 anchors"]["wrong way"].value < 0.02


def test_results_depend_on_the_seed_alone() -> None:
    case = experiment.Case(*experiment.REAL, None, experiment.RANDOM, "random")
    one, again, other = (experiment.run_case(2, seed, case) for seed in (1, 1, 2))
    assert np.array_equal(one["3 anchors"]["drift"], again["3 anchors"]["drift"])
    assert not np.array_equal(one["3 anchors"]["drift"], other["3 anchors"]["drift"])


def test_the_error_of_a_ratio_is_that_of_resampled_trials() -> None:
    random = np.random.default_rng(0)
    floor = random.exponential(1, 400)
    drift = floor * random.uniform(1, 2, 400) + random.exponential(0.5, 400)
    samples = random.integers(0, 400, (2000, 400))
    ratios = np.sqrt(drift[samples].mean(axis=1) / floor[samples].mean(axis=1))
    found = experiment.Mean.over_floor(drift, floor)
    assert found.error == pytest.approx(ratios.std(ddof=1), rel=0.1)


def test_what_nothing_links_is_tested_by_welchs_test() -> None:
    random = np.random.default_rng(0)
    a, b = random.normal(0, 1, (20, 3)), random.normal(0.5, 2, (30, 3))
    assert experiment.welch(a, b).p == pytest.approx(ttest_ind(a, b, equal_var=False).pvalue)


@pytest.mark.slow
def test_the_guide_has_the_deviations_of_one_engine(engines: list[str]) -> None:
    deviations = r"standard deviation ([\d.]+);.*standard deviation ([\d.]+), .* give ([\d.]+)"
    feedback, stemming = (
        found.groups() for line in engines if (found := re.search(deviations, line))
    )
    own, by_link, by_topics = feedback
    tests = [line.rpartition("Cochran's Q, ")[2] for line in engines if "on 9 collections" in line]
    assert tests == ["p = 0.017)", "p = 5.9e-07)"]
    assert f"the nine means of sAP with feedback have a standard deviation of {own}." in TEXT
    alone = "Differences between topics alone would give"
    assert (
        f"standard deviation falls to {by_link}. {alone} a standard deviation of {by_topics}."
    ) in TEXT
    assert (
        f"a standard deviation of {stemming[0]} without a link, and of {stemming[1]} with a link. "
        f"{alone} a standard deviation of only {stemming[2]}, which is significantly smaller than "
        f"{stemming[1]} (p < 0.0001)"
    ) in TEXT
    plain, linked = re.findall(r"([\d.]+) to ([\d.]+), standard", engines[0])
    before = "from {:.2f} to {:.2f} on nine".format(*map(float, plain)).replace("0.", ".")
    assert before in HOW_TO
    assert "between {:.2f} and {:.2f}".format(*map(float, linked)).replace("0.", ".") in HOW_TO


@pytest.fixture(scope="module")
def engines(data: Path) -> list[str]:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        experiment.describe_engines(data)
    return printed.getvalue().splitlines()


@pytest.fixture(scope="module")
def results() -> experiment.Results:
    """Compute all cases as the script does."""
    return experiment.all_cases(300, 0, jobs=2)


def chosen(results: experiment.Results, *wanted: object) -> list[Mapping[str, experiment.Row]]:
    """Return the cases that have all these names, measures, topics, splits and ways."""
    return [rows for case, rows in results.items() if set(wanted) <= set(case)]


def of_each(rows: list[Mapping[str, experiment.Row]], what: str, name: str) -> list[float]:
    return [one[what][name].value for one in rows]


def share(value: float) -> str:
    return f"{value:.3f}"[1:] if value < 1 else f"{value:.0f}"


@pytest.mark.exhaustive
def test_the_guide_has_the_tables_that_the_script_prints(results: experiment.Results) -> None:
    of_table = {case: rows for case, rows in results.items() if case.in_table}
    assert "\n".join(experiment.guide_table([*of_table.values()])) in GUIDE
    first, *others = experiment.IN_TABLE.values()
    errors = [experiment.largest_errors([*of_table.values()], n) for n in (others, [first])]
    (mean, case), (of_ratio, case_of_ratio) = errors
    assert (
        f"errors of the means are at most {share(mean)} (at most {share(of_ratio)} in the first "
        f"row). The Monte Carlo errors of single cases are at most {share(case)} "
        f"(at most {share(case_of_ratio)} in the first row)"
    ) in TEXT


@pytest.mark.exhaustive
def test_the_guide_has_the_pairs_of_rounds_and_years() -> None:
    found = {pair: experiment.between_years(300, 0, pair) for pair in experiment.YEARS}
    *table, new, disagree, unlinked = experiment.describe_years(found)
    assert "\n".join(table) in GUIDE
    new, disagree, unlinked = (
        " | ".join(re.findall(r"([\d.]+) with", line)) for line in (new, disagree, unlinked)
    )
    assert f"differ from themselves | {new} |" in TEXT
    assert f"the anchors disagree | {disagree} |" in TEXT
    assert f"links that are too imprecise | {unlinked} |" in TEXT


def test_between_rounds_few_systems_differ_from_themselves() -> None:
    pair = experiment.YEARS[2]
    found = experiment.between_years(60, 1, pair)
    assert found.n_common == 15
    assert max(found.differ.values()) < 0.1 < max(found.differ_if_same.values())


@pytest.mark.exhaustive
def test_the_guide_says_what_a_link_costs(results: experiment.Results) -> None:
    of_table = [rows for case, rows in results.items() if case.in_table]
    power = {k: np.mean(of_each(of_table, k, "found")) for k in of_table[0]}
    lost = [100 * (1 - power[k] / power[experiment.SAME]) for k in ("10 anchors", "3 anchors")]
    assert f"{lost[0]:.0f}% less with ten anchors, and {lost[1]:.0f}% less with three" in TEXT


@pytest.mark.exhaustive
def test_the_guide_has_robust_2003(results: experiment.Results) -> None:
    both, strong_weak = (
        [
            share(chosen(results, *experiment.REAL, split)[0][what]["type I"].value)
            for what in ("3 anchors", "5 anchors", experiment.SAME)
        ]
        for split in (experiment.RANDOM, experiment.STRONG_WEAK)
    )
    assert f"the other half for the new | {' | '.join(both)} |" in TEXT
    assert f"the weak half for the new | {' | '.join(strong_weak)} |" in TEXT


@pytest.mark.exhaustive
def test_the_guide_has_anchors_from_one_end_of_the_field(results: experiment.Results) -> None:
    ways = [chosen(results, way) for way in ("best", "worst", "median")]
    largest, lowest = (
        {k: [end(of_each(rows, k, name)) for rows in ways] for k in ("3 anchors", "10 anchors")}
        for end, name in ((max, "RMS / floor"), (min, "coverage"))
    )
    for i, anchors in enumerate(("the best", "the worst", "from the middle")):
        cells = [
            cell
            for k in ("3 anchors", "10 anchors")
            for cell in (f"{largest[k][i]:.2f}", share(lowest[k][i]))
        ]
        assert re.search(
            rf"\| (systems )?{anchors}( systems)? \| {re.escape(' | '.join(cells))} \|", TEXT
        )


# The constants of a link.


REAL_SETS = (
    "Robust 2004, topics up to 1999 and later ones",
    "Robust 2003, the same",
    "Soboroff's engines, feedback",
    "Soboroff's engines, stemming",
    "Systems of 2020 to 2024 on DL 2019 and 2020",
)


def systems(tau: float, seed: int = 0, n: int = 60) -> tuple[Floats, Floats]:
    """Simulate z on two sets of topics, -0.5 apart; ``tau`` is the systems' disagreement."""
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
    names = (
        "topics up to 1999, later topics",
        "old topics, new topics",
        "feedback | each pair of nine collections",
        "stemming | each pair of nine collections",
        "DL 2019, DL 2020",
    )
    for name, tau in zip(names, taus, strict=True):
        assert f"{name} | {tau} |" in TEXT
    by_matrix = [found[" ".join(key)].split()[2:] for key in CHOSEN_ON]
    ranges = [
        f"{short(min(values))} to {short(max(values))}" for values in zip(*by_matrix, strict=True)
    ]
    constant, distance = map(short, found["all that the constants were chosen on"].split()[2:])
    assert f"each unit of the shift adds {constant} to the disagreement." in TEXT
    assert f"collections and measures, this number is {ranges[0]}; ir_std uses .10" in TEXT
    assert f"the distance of the mean from the anchors' mean, and the factor {distance}." in TEXT
    assert f"collections and measures, the factor is {ranges[1]}; ir_std uses .15" in TEXT
    constant, distance = map(short, found["all others"].split()[2:])
    assert f"{constant} for the size of the shift and {distance} for the distance." in TEXT
    left = [short(value) for name, value in found.items() if name.startswith("constants from")]
    assert (
        "| 0 to .25 | {} | | .25 to .5 | {} | | .5 to 1 | {} | | 1 to 2 | {} |".format(*left)
    ) in TEXT


def short(number: str) -> str:
    """Format a figure like ``.136``, but 0 as it is."""
    return number[1:].replace(".000", "0")
