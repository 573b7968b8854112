"""The experiments on judges: figures for made-up scores, and the figures on the page."""

import re
from pathlib import Path

import agreement_experiment
import few_topics as trials
import judges_experiment as experiment
import numpy as np
import pytest
from scipy.stats import kendalltau, norm

from ir_std.analysis.agreement import Interval

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
    favor = experiment.kinds(case, (X, model))
    rest = Y - X
    expected = 0.1 + (rest[:, :3].mean(axis=1) - rest[:, 3:].mean(axis=1)).mean()
    assert favor.mean == pytest.approx(expected)
    assert favor.n == 20


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
    for measure in ("nDCG@10", "P@10"):
        cells = [*gaps["dl19-passage", measure], *gaps["dl20-passage", measure]]
        assert f"| {measure} | {' | '.join(cells)} |" in TOLD
    compared, bias = figures["dl19-passage", "nDCG@10"]
    taus = [f"{one.tau:.2f}" for one in compared]
    assert "orders on DL 2019 is only {} for raw scores and {} for N".format(*taus) in TOLD
    assert f"is {bias.mean:.3f} ±{bias.topics:.3f} higher under GPT-4's labels" in TOLD
    assert f"re-rankers (red in the picture) by {bias.mean:.2f} relative to the other" in GUIDE
    people, model, n_people, n_model = means["dl19-passage", "nDCG@10"]
    assert f"an nDCG@10 of {people} with NIST's judgments, and {model} with GPT-4's" in GUIDE
    assert f"are {n_people} with NIST's judgments, and {n_model} with GPT-4's" in GUIDE
    _, bias = figures["dl20-passage", "nDCG@10"]
    assert f"on DL 2020 ({bias.mean:.3f} ±{bias.topics:.3f})" in TOLD


def test_the_page_has_the_topics_on_which_scores_are_alike(data: Path) -> None:
    by_measure = {case.measure: case for case in experiment.from_tables(data)}
    (people, _), (model, _) = map(
        experiment.flat_topics, (by_measure["RR"].people, by_measure["RR"].model)
    )
    by_judge = "topics under GPT-4's labels, and on {} topics under people's labels"
    assert f"the same RR on {model} of 82 {by_judge.format(people)}" in TOLD
    (_, people), (_, model) = map(
        experiment.flat_topics, (by_measure["P@10"].people, by_measure["P@10"].model)
    )
    assert f"standard deviation above the mean on {model} {by_judge.format(people)}" in TOLD


# Estimates from a few human topics.


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
    favored = np.arange(6) < 2
    biased = np.where(favored, MODEL + 0.1, MODEL)
    alone, left = trials.favor_left(PEOPLE, biased, favored, 12, 200, 1)
    assert alone > 0.05
    assert abs(left) < 0.01


@pytest.mark.exhaustive
def test_the_pages_figures_are_those_of_the_script(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judges = experiment.FEW_TOPICS_JUDGES[:1]
    cases = [c for name in experiment.TRACKS for c in experiment.from_runs(data, name, judges)]
    cases += experiment.from_tables(data)
    experiment.print_few_topics(experiment.modern_pairs(data, judges), cases, 500, 0)
    printed = capsys.readouterr().out
    rows = re.findall(r"^\| \d+ \| .* \|$", printed, re.MULTILINE)
    assert len(rows) == len(trials.SIZES)
    assert all(row in TOLD for row in rows)
    figures = {
        (collection, measure, scale, int(n)): [float(figure) for figure in rest.split()]
        for collection, measure, scale, n, rest in re.findall(
            r"^(dl\S+) (\S+) (\S+) +(\d+) +(\d.*)$", printed, re.MULTILINE
        )
    }
    lowest = min(found[2] for (_, measure, *_), found in figures.items() if measure != "RR")
    coverage, alone = (figures["dl19-passage", "P@10", "raw", 15][k] for k in (2, 4))
    assert coverage == lowest
    assert f"coverage is {coverage:.3f}, for P@10 on DL 2019 with 15 human topics" in TOLD
    assert f"With only people's labels, the coverage in this case is {alone:.3f}" in TOLD
    of_rr = [found for case, found in figures.items() if case[1:] == ("RR", "N", 10)]
    for k, sentence in ((2, "is {} with the model's labels"), (4, "{} with only people's labels")):
        values = [found[k] for found in of_rr]
        assert sentence.format(f"{min(values):.2f} to {max(values):.2f}") in TOLD
    worse = re.findall(r"(?:permuted|inverted|noisy|random) +([\d.]+) +([\d.]+)", printed)
    assert f"at most {max(float(one) for pair in worse for one in pair):.2f} times" in TOLD
    favors = {
        name: values
        for name, *values in re.findall(r"^(dl\S+) +\+(0\.\d+) +\+(0\.\d+)$", printed, re.MULTILINE)
    }
    (a, left), (b, left_2) = favors["dl19-passage"], favors["dl20-passage"]
    assert f"nDCG@10 under scheme N, this advantage is {a} on DL 2019 and {b} on DL 2020" in TOLD
    assert f"favor LLM re-rankers by only {left} on DL 2019 and {left_2} on DL 2020." in TOLD


# Intervals of agreement.


def test_an_interval_holds_what_is_inside_it_up_to_rounding() -> None:
    assert agreement_experiment.holds(Interval(0.5, 0.4, 0.6), 0.6 + 1e-12)
    assert not agreement_experiment.holds(Interval(0.5, 0.4, 0.6), 0.61)


def test_few_topics_are_drawn_with_replacement_and_many_without() -> None:
    random = np.random.default_rng(0)
    assert len(set(agreement_experiment.draw_topics(random, 100, 50).tolist())) == 50
    assert len(set(agreement_experiment.draw_topics(random, 43, 50).tolist())) < 43


@pytest.mark.slow
def test_intervals_hold_for_systems_that_a_judge_scores_with_noise() -> None:
    random = np.random.default_rng(3)
    first = random.normal(0, 1, (200, 30)) + np.linspace(0, 3, 30)
    second = first + random.normal(0, 1, first.shape)
    case = agreement_experiment.Case("made-up", "score", first, second)
    printed, coverage = agreement_experiment.order_coverage(200, 0, case).transpose(1, 0, 2)
    assert (printed == 1).all()
    assert (coverage >= 0.85).all()


@pytest.mark.slow
def test_intervals_of_tau_hold_on_dl_2020(data: Path) -> None:
    (case,) = [
        case
        for case in agreement_experiment.cases(data)
        if (case.collection, case.measure) == ("dl20-passage", "nDCG@10")
    ]
    printed, coverage = agreement_experiment.order_coverage(60, 0, case).transpose(1, 0, 2)[..., 0]
    assert (printed > 0.9).all()
    assert coverage.min() >= 0.85


def test_rr_under_a_lenient_judge_has_no_interval() -> None:
    random = np.random.default_rng(4)
    first = 1 / (1 + random.poisson(0.7, (60, 8)))
    second = np.where(random.random((60, 8)) < 0.1, first, 1.0)
    printed, coverage = agreement_experiment.order_coverage(
        3, 0, agreement_experiment.Case("", "RR", first, second)
    )[0]
    assert (printed == 0).all()
    assert np.isnan(coverage).all()
    assert agreement_experiment.describe(coverage) == "-"


@pytest.mark.exhaustive
def test_the_page_has_the_coverage_that_the_script_prints(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agreement_experiment.main(["--data", str(data), "--jobs", "2"])
    for line in capsys.readouterr().out.splitlines():
        assert (line if line.startswith("|") else line.partition(": ")[2]) in TOLD


def test_the_pages_intervals_hold_in_90_to_98_percent_on_average() -> None:
    section = PAGE.partition("## Intervals of")[2].partition("## A few")[0]
    rows = [line.split(" | ") for line in section.splitlines() if line.count(" (") == 3]
    means = [float(cell[:5]) for row in rows for cell in row[3:]]
    assert len(means) == 8 * len(agreement_experiment.FIGURES)
    assert 0.90 <= min(means) <= max(means) < 0.985
    lowest = min(float(cell.partition("(")[2][:5]) for row in rows for cell in row[3:])
    assert lowest >= 0.85
