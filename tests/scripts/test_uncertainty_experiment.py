"""The experiment on intervals, with the systems of shipped factor sets."""

from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import uncertainty_experiment as experiment
from experiment import spread

import ir_std
from ir_std.analysis.influence import DESIGN_EFFECT
from ir_std.analysis.means import Estimate

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = (DOCS / "evidence/intervals.md").read_text(encoding="utf-8")
"""Page with the script's output for its own number of trials and its own seed."""
TEXT = " ".join(GUIDE.split())
TRIALS, SEED = 150, 0


Found = dict[experiment.Case, experiment.Needed]


@pytest.fixture(scope="module")
def found() -> Found:
    """Compute all cases as the script does."""
    task = partial(experiment.needed_multipliers, TRIALS, SEED)
    return dict(zip(experiment.cases(), spread(task, experiment.cases(), jobs=2), strict=True))


@pytest.mark.exhaustive
def test_the_guide_has_the_coverage_that_the_script_computes(found: Found) -> None:
    rows = experiment.rows_of(found)
    for by, known in product(experiment.DRAWS, experiment.KNOWN):
        assert experiment.coverage_row(rows, by, known, "NzU") in GUIDE.splitlines()
    own = experiment.coverage_row(rows, "one by one", experiment.OWN_TEAMS, "NzU")
    assert own in GUIDE.splitlines()


@pytest.mark.exhaustive
def test_the_guide_has_the_systems_part_that_the_script_computes() -> None:
    todo = list(product(experiment.PART_SETS, experiment.PART_SIZES))
    found = {case: experiment.systems_part(TRIALS, SEED, case) for case in todo}
    assert "\n".join(experiment.systems_part_table(found)) in GUIDE


@pytest.mark.parametrize("size", [10, 30])
def test_names_that_differ_are_not_taken_for_teams_of_one(size: int) -> None:
    found = experiment.systems_part(60, 1, ("trec8-adhoc", size))
    assert found["names that differ"] == found["nothing known"] > 0.85
    assert found["each taken for a team"] < 0.8


@pytest.mark.exhaustive
def test_the_guide_counts_the_cases_that_are_in_the_band(found: Found) -> None:
    rows = [row for row in experiment.rows_of(found) if row.known in experiment.KNOWN]
    by = {
        (draw, schemes): [r for r in rows if r.case.by == draw and r.scheme in schemes]
        for draw, schemes in product(experiment.DRAWS, ("NzU", "E"))
    }
    inside, above, below = experiment.counts(of_three := by["by team", "NzU"])
    assert (
        f"by team, {inside} of {len(of_three)} cases have a coverage of .93 to .97. In {above} "
        "cases, the coverage is more than two standard errors above .97, and in no case is it more "
        "than two standard errors below .93. The smallest coverage is "
        f"{experiment.share(min(r.level for r in of_three))}"
    ) in TEXT
    assert below == 0
    inside, above, below = experiment.counts(of_three := by["one by one", "NzU"])
    assert (
        f"one by one, {inside} of {len(of_three)} cases have a coverage of .93 to .97; the "
        f"coverage is significantly higher in {above} cases, and significantly lower in none"
        in TEXT
    )
    assert below == 0
    inside, above, below = experiment.counts(of_shares := by["by team", "E"])
    assert (
        f"by team, {inside} of {len(of_shares)} cases for E have a coverage of .93 to .97; the "
        f"coverage is significantly higher in {above} cases, and significantly lower in none"
    ) in TEXT
    assert below == 0
    own = [r for r in experiment.rows_of(found) if r.known == experiment.OWN_TEAMS]
    inside, above, below = experiment.counts(own := [r for r in own if r.scheme in "NzU"])
    assert (
        f"{inside} of {len(own)} cases have a coverage of .93 to .97; the coverage is "
        f"significantly higher in {above} cases, and significantly lower in none"
    ) in TEXT
    assert below == 0


def test_the_smallest_coverage_that_the_guide_names_is_that_of_its_table() -> None:
    smallest = min(
        float(cell.split("(")[1].split(",")[0])
        for line in GUIDE.splitlines()
        if "| by team |" in line
        for cell in line.split("|")[3:-1]
    )
    assert f"smallest coverage is {experiment.share(smallest)} (for U on DL 2019, 8 systems" in TEXT


def test_an_interval_is_widened_as_far_as_the_truth_is_beyond_topics() -> None:
    estimate = Estimate(0.5, 30, 0.01, 29, 0.02, 5)
    assert experiment.needed_multiplier(estimate, 0.5 + 0.9 * estimate.topics) == 0
    assert experiment.needed_multiplier(estimate, 0.5 - estimate.half) == pytest.approx(1)
    level, error = experiment.level(np.array([[0.0, 0.5], [1.5, 0.9]]))
    assert level == 0.75
    assert error == pytest.approx(0.25)


def test_a_row_of_coverage_has_the_mean_the_smallest_and_the_largest() -> None:
    case = experiment.Case("trec8-adhoc", "by team", 15, 25)
    levels = {"N": 0.94, "z": 1.0, "U": 0.955, "E": 0.1}
    rows = [experiment.Row(case, scheme, "teams", x, 0.01) for scheme, x in levels.items()]
    row = experiment.coverage_row(rows, "by team", "teams", "NzU")
    assert row == "| by team | teams | - | .965 (.940, 1) | - | - |"


def test_the_design_effect_that_is_assumed_is_the_median_of_those_that_are_seen() -> None:
    chosen, checked = (
        [effect for *_, effect in experiment.team_effects(sets)]
        for sets in (experiment.CALIBRATION, experiment.OTHERS)
    )
    assert f"{min(chosen):.2f} {max(chosen):.2f}" == "2.18 3.79"
    assert f"{min(checked):.2f} {max(checked):.2f} {np.median(checked):.2f}" == "1.91 4.71 2.76"
    assert pytest.approx(np.median(chosen), abs=0.05) == DESIGN_EFFECT


@pytest.mark.exhaustive
@pytest.mark.parametrize("split", experiment.SPLITS)
def test_a_system_differs_from_itself_by_other_systems_as_the_guide_says(split: str) -> None:
    rates = [
        experiment.share(experiment.against_itself(experiment.world(name), split, 3 * TRIALS, SEED))
        for name in ("robust04", "trec8-adhoc")
        if (name, split) != ("robust04", "teams")
    ]
    assert any(line.endswith(f"| {' | '.join(rates)} |") for line in GUIDE.splitlines())


def test_how_to_read_the_numbers_has_what_other_systems_change() -> None:
    page = (DOCS / "start/reading-the-numbers.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:4] for line in GUIDE.splitlines() if line.count("|") == 4]
    by_halves = [float(trec8) for by, _, trec8 in rows if by.strip().endswith("each")]
    assert len(by_halves) == 3
    low, high = (100 * end(by_halves) for end in (min, max))
    assert (
        f"a test at the level of 5% then finds a difference in {low:.0f} to {high:.0f}% of cases"
        in " ".join(page.split())
    )


def test_an_average_systems_n_is_near_one_half() -> None:
    means = [
        m for m in map(experiment.mean_of_systems, ir_std.available_factors()) if m is not None
    ]
    assert f"{min(means):.3f} {max(means):.3f}" == "0.468 0.542"


@pytest.mark.exhaustive
def test_the_guide_has_what_few_systems_do_to_runs_at_the_ends_of_the_field() -> None:
    found = experiment.extremes("trec8-adhoc", 3 * TRIALS, SEED)
    z = {by.systems: f"{by.z:.2f}" for by in found}
    weakest = sorted(experiment.share(by.weakest) for by in found)
    tenth = sorted(experiment.share(by.tenth) for by in found)
    assert (
        f"has a mean z of {found[0].true_z:.2f} relative to all systems. If fewer systems "
        f"standardize this run, its mean z is {z[8]} "
        f"with 8 systems, {z[15]} with 15, {z[30]} with 30 and {z[100]} with 100"
    ) in TEXT
    assert (
        f"the weakest run contain the true value in only {weakest[0]} to {weakest[-1]} of the "
        "trials. The intervals of a run that is better than only a tenth of the systems contain "
        f"the true value in {tenth[0]} to {tenth[-1]}"
    ) in TEXT


def test_the_error_of_a_mean_over_collections_with_the_same_systems_is_that_seen() -> None:
    pair = ("dl19-passage-modern", "dl20-passage-modern")
    seen, independent, together = experiment.shared_systems(pair, TRIALS // 5, SEED)
    assert (
        f"a run's mean over both collections has an observed error of {seen:.4f}. ir_std estimates "
        f"an error of {together:.4f}, because it knows that the systems are the same. If ir_std "
        "treated the systems of the two collections as independent, it would estimate an error of "
        f"only {independent:.4f}."
    ) in TEXT
    assert abs(together - seen) < 0.2 * seen
