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


def test_uninformative_labels_do_no_harm() -> None:
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
    page = " ".join(PAGE.read_text("utf-8").split())
    rows = re.findall(r"^\| \d+ \| .* \|$", printed, re.MULTILINE)
    assert len(rows) == len(trials.SIZES)
    assert all(row in page for row in rows)
    figures = {
        (collection, measure, scale, int(n)): [float(figure) for figure in rest.split()]
        for collection, measure, scale, n, rest in re.findall(
            r"^(dl\S+) (\S+) (\S+) +(\d+) +(\d.*)$", printed, re.MULTILINE
        )
    }
    lowest = min(found[2] for (_, measure, *_), found in figures.items() if measure != "RR")
    coverage, alone = (figures["dl19-passage", "P@10", "raw", 15][k] for k in (2, 4))
    assert coverage == lowest
    assert f"coverage is {coverage:.3f}, for P@10 on DL 2019 with 15 human topics" in page
    assert f"with only people's labels, the coverage is {alone:.3f}" in page
    of_rr = [found for case, found in figures.items() if case[1:] == ("RR", "N", 10)]
    for k, sentence in ((2, "its intervals hold in {} of draws"), (4, "people alone in {}.")):
        values = [found[k] for found in of_rr]
        assert sentence.format(f"{min(values):.2f} to {max(values):.2f}") in page
    worse = re.findall(r"(?:permuted|inverted|noisy|random) +([\d.]+) +([\d.]+)", printed)
    assert f"at most {max(float(one) for pair in worse for one in pair):.2f} times" in page
    favors = {
        name: values
        for name, *values in re.findall(r"^(dl\S+) +\+(0\.\d+) +\+(0\.\d+)$", printed, re.MULTILINE)
    }
    (a, left), (b, left_2) = favors["dl19-passage"], favors["dl20-passage"]
    assert f"by {a} N (nDCG@10) on DL 2019 and by {b} on DL 2020" in page
    assert f"the estimates favor them by {left} and {left_2}." in page
