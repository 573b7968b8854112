"""The experiment on judges: its figures from plain formulas, and those of the trial."""

from __future__ import annotations

from pathlib import Path

import judges_experiment as experiment
import numpy as np
import pytest
from scipy.stats import kendalltau, norm

RNG = np.random.default_rng(31)
X = RNG.uniform(size=(20, 8))
Y = 0.3 + 0.5 * X


def judged(people: np.ndarray, model: np.ndarray) -> experiment.Judged:
    n_topics, n_systems = people.shape
    return experiment.Judged(
        "dl19-passage",
        "umbrela-gpt4",
        "nDCG@10",
        tuple(map(str, range(n_topics))),
        tuple(f"rankgpt{i}" if i < 3 else f"bm{i}" for i in range(n_systems)),
        people,
        model,
    )


def test_the_figures_are_those_of_the_means() -> None:
    figures = experiment.compare(X, Y)
    means = X.mean(axis=0), Y.mean(axis=0)
    gap = sum(abs(a - b) for a, b in zip(*means, strict=True)) / 8
    sd = (np.std(means[0], ddof=1) + np.std(means[1], ddof=1)) / 2
    assert figures.gap == pytest.approx(gap)
    assert figures.gap_sd == pytest.approx(gap / sd)
    assert figures.shift == pytest.approx(abs(means[0].mean() - means[1].mean()) / sd)
    assert figures.tau == pytest.approx(kendalltau(*means)[0])
    assert figures.tau_ap == 1


def test_a_judge_who_only_moves_and_stretches_scores_is_mended_altogether() -> None:
    by_scale = experiment.halves(5, 0, judged(X, Y))
    assert by_scale["raw"].shape == (5, len(experiment.Figures._fields))
    assert by_scale["raw"][:, 0].min() > 0.01
    for scale in ("z", "N", "U", "E"):
        assert np.abs(by_scale[scale][:, 0]).max() < 1e-9


def test_systems_that_are_held_out_are_standardized_by_the_others() -> None:
    by, held = X[:, :4], X[:, 4:]
    z = (held - by.mean(axis=1, keepdims=True)) / by.std(axis=1, ddof=1, keepdims=True)
    assert experiment.on_scale(held, by, "N") == pytest.approx(norm.cdf(z))
    assert experiment.on_scale(held, by, "raw") is held


def test_a_favour_of_a_kind_of_systems_stays() -> None:
    model = Y.copy()
    model[:, :3] += 0.1
    case = judged(X, model)
    favour = experiment.kinds(case, (X, model))
    rest = Y - X
    expected = 0.1 + (rest[:, :3].mean(axis=1) - rest[:, 3:].mean(axis=1)).mean()
    assert favour.mean == pytest.approx(expected)
    assert favour.n == 20


def test_flat_topics_are_counted() -> None:
    scores = np.array([[0.5, 0.5, 0.5], [1.0, 1.0, 0.9], [0.1, 0.2, 0.3]])
    assert experiment.flat_topics(scores) == (1, 1)


DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "evidence" / "judges.md").read_text("utf-8")
TOLD = " ".join(PAGE.split())
GUIDE = " ".join((DOCS / "how-to" / "llm-judges.md").read_text("utf-8").split())


def cases(data: Path) -> list[experiment.Judged]:
    """Return the cases for nDCG@10 with the labels of the page's first table."""
    found = [
        case
        for name in ("dl19-passage", "dl20-passage", "dl21-passage")
        for case in experiment.from_runs(data, name, ["umbrela-gpt4"])
    ]
    return [c for c in (*found, *experiment.from_tables(data)) if c.measure == "nDCG@10"]


@pytest.mark.exhaustive
def test_the_page_has_what_halves_of_the_systems_give(data: Path) -> None:
    rows = [line.split(" | ") for line in PAGE.splitlines() if line.startswith("| DL ")]
    judged_cases = cases(data)
    assert len(rows) == len(judged_cases) == 4
    for row, case in zip(rows, judged_cases, strict=True):
        assert row[0][5:9] == f"20{case.collection[2:4]}"
        means = {
            scale: experiment.Figures(*figures.mean(axis=0))
            for scale, figures in experiment.halves(500, 0, case).items()
        }
        raw, n = means["raw"], means["N"]
        numbers = (*(means[s].gap_sd for s in experiment.SCALES), raw.r, n.r, raw.tau, n.tau)
        assert [cell.strip(" |") for cell in row[1:]] == [f"{number:.2f}" for number in numbers]


@pytest.mark.slow
def test_the_page_has_what_labels_do_to_later_systems(data: Path) -> None:
    figures = {}
    means = {}
    for own, later in experiment.modern_pairs(data, ["umbrela-gpt4"]):
        scores = experiment.held_out(own, later)
        means[own.collection, own.measure] = [
            f"{one.mean():.2f}" for scale in ("raw", "N") for one in scores[scale]
        ]
        compared = [experiment.compare(*scores[scale]) for scale in ("raw", "N")]
        figures[own.collection, own.measure] = compared, experiment.kinds(later, scores["N"])
    gaps = {case: [f"{one.gap:.3f}" for one in compared] for case, (compared, _) in figures.items()}
    (a, b), (c, d) = gaps["dl19-passage", "nDCG@10"], gaps["dl20-passage", "nDCG@10"]
    assert f"differ by {a} raw and {b} for N on DL 2019, and by {c} raw and {d} for N on" in TOLD
    (a, b), (c, d) = gaps["dl19-passage", "P@10"], gaps["dl20-passage", "P@10"]
    assert f"P@10, they differ by {a} raw and {b} for N on DL 2019, and by {c} raw and {d}" in TOLD
    compared, bias = figures["dl19-passage", "nDCG@10"]
    assert f"tau is {compared[0].tau:.2f} raw and {compared[1].tau:.2f} for N on DL 2019" in TOLD
    assert f"by {bias.mean:.3f} ±{bias.topics:.3f} on DL 2019" in TOLD
    assert f"LLM re-rankers (red in the picture) gain {bias.mean:.2f} relative to the" in GUIDE
    people, model, n_people, n_model = means["dl19-passage", "nDCG@10"]
    assert f"an nDCG@10 of {people} with NIST's judgments, and {model} with GPT-4's" in GUIDE
    assert f"the scores are {n_people} and {n_model}." in GUIDE
    _, bias = figures["dl20-passage", "nDCG@10"]
    assert f"on DL 2020 ({bias.mean:.3f} ±{bias.topics:.3f})" in TOLD


def test_the_page_has_the_topics_on_which_scores_are_alike(data: Path) -> None:
    by_measure = {case.measure: case for case in experiment.from_tables(data)}
    (people, _), (model, _) = map(
        experiment.flat_topics, (by_measure["RR"].people, by_measure["RR"].model)
    )
    assert f"the same RR on {model} of 82 topics ({people} with people's labels)" in TOLD
    (_, people), (_, model) = map(
        experiment.flat_topics, (by_measure["P@10"].people, by_measure["P@10"].model)
    )
    assert f"deviation above the mean on {model} topics ({people} with people's labels)" in TOLD
