"""What the page says of ranks is what the script computes, from the systems of shipped sets."""

from __future__ import annotations

from pathlib import Path

import pytest
import ranks_experiment as experiment

LINES = [
    line.strip("| ").split(" | ")
    for line in (Path(__file__).parents[2] / "docs/evidence/ranks.md").read_text().splitlines()
    if line.startswith("| ")
]
QUICK, OTHERS = experiment.CASES[:3], experiment.CASES[3:]


def told(case: experiment.Case) -> list[str]:
    """What the table has of a case: of pairs, how wide, of a bootstrap, of all at once."""
    label = case.label.strip("| ").split(" | ")
    (found,) = (line[3:] for line in LINES if line[:3] == label)
    return found


@pytest.mark.parametrize(
    "case", [*QUICK, *(pytest.param(c, marks=pytest.mark.exhaustive) for c in OTHERS)]
)
def test_so_many_true_ranks_are_inside_intervals_by_pairs(case: experiment.Case) -> None:
    assert experiment.by_pairs(case, experiment.TRIALS) == " | ".join(told(case)[:2])


@pytest.mark.exhaustive
def test_so_many_are_inside_percentiles_and_inside_intervals_of_all_at_once() -> None:
    case = experiment.CASES[1]
    assert experiment.by_bootstrap(case, experiment.TRIALS) == told(case)[2]
    assert experiment.at_once(case, experiment.TRIALS) == told(case)[3]


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(experiment.MADE_UP[0], marks=pytest.mark.slow),
        pytest.param(experiment.MADE_UP[1], marks=pytest.mark.exhaustive),
    ],
)
def test_so_many_are_inside_where_systems_are_tied(size: tuple[int, int]) -> None:
    row = experiment.ties(*size, 2 * experiment.TRIALS)
    assert row.strip("| ").split(" | ") in LINES


def test_all_cases_of_the_script_are_told() -> None:
    assert [len(told(case)) for case in experiment.CASES] == [4] * 12
    sizes = [f"{topics}, {systems}" for topics, systems in experiment.MADE_UP]
    assert [line[0] for line in LINES if line[0] in sizes] == sizes
