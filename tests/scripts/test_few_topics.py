"""Trials of the estimate from a few human topics: its figures on made-up scores, and the page's."""

from __future__ import annotations

import re
from pathlib import Path

import few_topics as trials
import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "judges.md"
RNG = np.random.default_rng(5)
PEOPLE = RNG.uniform(size=(40, 6))
MODEL = (0.6 * PEOPLE + 0.3 + RNG.normal(0, 0.08, PEOPLE.shape)).clip(0, 1)


def test_a_models_labels_lower_the_error_and_keep_the_coverage() -> None:
    found = trials.draw_trials(PEOPLE, MODEL, 12, 200, 1)
    assert (found.ratio < 0.8).all()
    assert (found.coverage > 0.9).all()
    assert (found.coverage_alone > 0.9).all()
    assert 12 < found.worth < 40


def test_labels_that_tell_nothing_do_no_harm() -> None:
    for kind, worse in trials.worse_labels(MODEL, 1).items():
        found = trials.draw_trials(PEOPLE, worse, 12, 100, 1)
        assert (found.ratio < 1.15).all(), kind
        assert (found.coverage > 0.88).all(), kind


def test_a_bias_is_removed() -> None:
    favoured = np.arange(6) < 2
    biased = np.where(favoured, MODEL + 0.1, MODEL)
    alone, left = trials.favour_left(PEOPLE, biased, favoured, 12, 200, 1)
    assert alone > 0.05
    assert abs(left) < 0.01


@pytest.mark.exhaustive
def test_the_pages_figures_are_those_of_the_script(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import judges_experiment as experiment

    judges = experiment.FEW_TOPICS_JUDGES[:1]
    cases = [c for name in experiment.TRACKS for c in experiment.from_runs(data, name, judges)]
    cases += experiment.from_tables(data)
    experiment.print_few_topics(experiment.modern_pairs(data, judges), cases, 500, 0)
    printed = capsys.readouterr().out
    page = PAGE.read_text("utf-8")
    rows = re.findall(r"^\| \d+ \| .* \|$", printed, re.MULTILINE)
    assert len(rows) == len(trials.SIZES)
    assert all(row in page for row in rows)
    for name in ("dl19-passage", "dl20-passage"):
        (favours,) = re.findall(rf"^{name} +(\+0\.\d+) +(\+0\.\d+)$", printed, re.MULTILINE)
        assert all(value.lstrip("+") in page for value in favours)
