"""The report's first sentences: the headline, its numbers, and their reliability."""

import io
from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock

import pytest
from ir_measures import AP, P
from views import hits, plain, simulated

import ir_std
from ir_std.evaluation.placement import ordinal
from ir_std.reporting.html import standing
from ir_std.reporting.html.record import collection_record
from ir_std.reporting.html.report import method
from ir_std.reporting.html.standing import RunStanding, standings_of, subject_of, views_of
from ir_std.reporting.html.words import say
from ir_std.reporting.result_tables import differences_table, means_table
from ir_std.testing import simulated_qrels, simulated_run

pytestmark = pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")

BASE = [0.0, 1.0] * 10
GOOD = [1.0] * 18 + [0.0, 1.0]
BEST = [1.0] * 20
NONE = [0.0] * 20


def record(results: Any, number: int = 0) -> Any:
    """Return the record of one measure."""
    return collection_record("here", standings_of(results, subject_of(results)), {})["measures"][
        number
    ]


def headline_of(results: Any) -> str:
    return plain(record(results)["headline"])


def system(name: str, **options: Any) -> Any:
    return ir_std.evaluate(name, None, "nDCG@10", **options)


def pair(run: str, baseline: str) -> Any:
    runs = [f"dl19-passage/{name}" for name in (run, baseline)]
    return ir_std.evaluate(runs, None, "nDCG@10", baseline=baseline)


# The headline.

SYSTEMS = "37 systems of its track"
HEADLINES = {
    "the best of its track": (
        lambda: system("dl19-passage/bm25base_p", baseline="best"),
        f"bm25base_p is 33rd of the {SYSTEMS}, and clearly worse than the best.",
    ),
    "another baseline": (
        lambda: pair("p_bert", "bm25base_p"),
        f"p_bert is 6th of the {SYSTEMS}, and clearly better than bm25base_p.",
    ),
    "what is not separated is never equal": (
        lambda: pair("p_bert", "idst_bert_p1"),
        f"p_bert is 6th of the {SYSTEMS}, with no clear difference from the best on 43 topics.",
    ),
    "below": (
        lambda: system("dl19-passage/bm25base_p"),
        f"bm25base_p is 33rd of the {SYSTEMS}: below average.",
    ),
    "above": (
        lambda: system("dl19-passage/p_bert"),
        f"p_bert is 6th of the {SYSTEMS}: above average.",
    ),
    "about": (
        lambda: system("dl19-passage/ms_duet_passage"),
        f"ms_duet_passage is 22nd of the {SYSTEMS}: about average.",
    ),
    "the first of its track could have company": (
        lambda: system("dl19-passage/idst_bert_p1"),
        f"idst_bert_p1 is first of the {SYSTEMS}, but 12 others could be first.",
    ),
    "the best of many is named with those that could be": (
        lambda: hits({"base": BASE, "good": GOOD, "best": BEST}),
        "best is the best of your 3 runs, but any of the top two could be the best.",
    ),
    "clearly the best": (
        lambda: hits({"base": BASE, "none": NONE, "best": BEST}),
        "best is clearly the best of your 3 runs.",
    ),
    "no order": (
        lambda: hits({"a": BASE, "b": BASE[::-1], "c": BASE}),
        "There is no clear order: any of your 3 runs could be the best.",
    ),
    "with a baseline the first run": (
        lambda: hits({"base": BASE, "low": NONE, "best": BEST}, baseline="base"),
        "low is clearly worse than base.",
    ),
    "scores without company": (
        lambda: hits({"a": [1.0, 0.0]}),
        "a scores 0.500; there are no other systems to compare with.",
    ),
    "too few others for a place": (
        lambda: system("mteb-retrieval/BAAI/bge-m3"),
        "BAAI/bge-m3 is about average on 525 datasets.",
    ),
    "runs that are all the systems are not called yours": (
        lambda: system("ntcir13-www-english/*"),
        "RMIT-E-NU-Own-1 is the best of the 13 runs, but any of the top three could be the best.",
    ),
}


@pytest.mark.parametrize(("evaluate", "expected"), HEADLINES.values(), ids=HEADLINES)
def test_the_headline_states_the_finding(evaluate: Callable[[], Any], expected: str) -> None:
    assert headline_of(evaluate()) == expected


def test_what_is_not_separated_has_an_interval_and_what_the_test_could_have_found() -> None:
    results = pair("p_bert", "idst_bert_p1")
    found = results.differences["p_bert"][results.measures[1]]
    low, high = (f"{end:+.3f}".replace("-", "\N{MINUS SIGN}") for end in found.interval)
    assert plain(record(results)["deck"]).endswith(
        f"(95% interval {low} to {high}; paired t-test, p = {found.p:.3f}, one comparison); the "
        f"test would have found a difference of {found.detectable:.3f} four times in five. "
        "The best system was chosen by its scores on the same topics, and this choice favors it."
    )
    assert record(results)["trust"][0].startswith("The order of the two runs is uncertain.")


def test_a_run_that_is_not_a_system_would_have_had_a_place() -> None:
    results = simulated(1, [AP])
    place = results.placements["run0"][ir_std.sAP]
    assert not place.is_own_system
    assert headline_of(results).startswith(
        f"run0 would have been {ordinal(place.n_better + 1)} of 130 systems of its track: "
    )


def test_the_subject_is_the_first_run_with_a_baseline_and_else_the_best_run_of_ones_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    by_run = {"base": BASE, "low": NONE, "best": BEST}
    assert subject_of(hits(by_run, baseline="base")) == "low"
    assert subject_of(hits(by_run)) == "best"
    monkeypatch.setattr(standing, "has_only_scores", lambda _, run: run == "best")
    assert subject_of(hits({"mine": NONE, "best": BEST})) == "mine"


def test_models_are_called_models_and_datasets_datasets() -> None:
    rows = "mine,SciFact,0.64\nmine,NFCorpus,0.31\nmine,ArguAna,0.54\n"
    scores = ir_std.read_scores(io.StringIO(f"run,collection,nDCG@10\n{rows}"))
    results = ir_std.evaluate(scores, None, "nDCG@10")
    found = record(results)
    place = results.placements["mine"][results.measures[1]]
    assert f"mine would have been {place.n_better + 1}" in plain(found["headline"])
    assert f" of {place.n_systems + 1} models on 3 datasets" in plain(found["headline"])
    models = "The comparison is with all models, and some of them were trained on these datasets."
    assert models in found["trust"][0]
    assert found["trust"][1] == "3 of 3 datasets were recognized by name."
    said = " ".join([plain(found["headline"]), plain(found["deck"]), *found["trust"]])
    assert "topic" not in said
    assert "qrels" not in said


@pytest.mark.parametrize("baseline", [None, "a"])
def test_no_table_of_models_calls_a_dataset_a_topic(baseline: str | None) -> None:
    tasks = ("SciFact", "NFCorpus", "ArguAna", "FiQA2018", "SCIDOCS", "TRECCOVID")
    rows = "".join(
        f"{m},{t},0.{i}{n}\n" for i, m in enumerate("abc", 4) for n, t in enumerate(tasks)
    )
    scores = ir_std.read_scores(io.StringIO(f"run,collection,nDCG@10\n{rows}"))
    options: Any = {"baseline": baseline, "equivalent": 0.2} if baseline else {}
    one = ir_std.evaluate(scores, None, "nDCG@10", **options)
    tables = [one.table(sort="nDCG@10", place=True), means_table(one)]
    tables += [differences_table(one)] if baseline else []
    assert {table.header[2] for table in tables[1:]} == {"datasets"}
    two = ir_std.diff(scores["a"], scores["b"], None, "nDCG@10")
    tables += [two.table(), one.table(by_topic=True)]
    said = " ".join([*map(str, tables), repr(two), method(one)])
    assert "datasets" in said
    assert "topic" not in said


def test_a_model_that_too_few_others_can_be_compared_with_has_no_place() -> None:
    found = record(system("mteb-retrieval/BAAI/bge-m3"))
    assert found["place"] == [None]
    assert max(n or 0 for n in found["systemsOn"]) > 80


def test_a_best_run_was_chosen_by_its_scores() -> None:
    assert plain(record(system("ntcir13-www-english/*"))["deck"]).endswith(
        "The best run was chosen by these same scores, and this choice favors it. The "
        "runs that could be the best form a 95% confidence set."
    )


def test_runs_of_which_none_is_clearly_worse_are_not_counted() -> None:
    """The set of runs that could be the best can leave out a run that differs from no other."""
    by_run = {"a": "01111111110111110000", "b": "10001110001010110100", "c": "10011010100011001000"}
    deck = record(hits({run: [float(hit) for hit in row] for run, row in by_run.items()}))["deck"]
    assert plain(deck).startswith(
        "If all pairs of these runs are compared at once, no two differ clearly."
    )


def test_a_measure_without_scores_says_so() -> None:
    results = simulated(1, [AP])
    facts = RunStanding(results, views_of(results)[0], "run0")
    results.means["run0"][ir_std.sAP] = float("nan")
    assert plain(say("headline", facts)) == "run0 has no standardized AP."


# The numbers.


def test_the_deck_has_both_scores_and_the_average() -> None:
    results = system("dl19-passage/bm25base_p", baseline="best")
    means = results.placements["bm25base_p"][results.measures[0]].means
    assert plain(record(results)["deck"]) == (
        "Its nDCG@10 is 0.506; idst_bert_p1 has 0.764, and the average of the systems is "
        f"{sum(means) / 37:.3f}. The difference in standardized nDCG@10 is significant (paired "
        "t-test, p < 0.001, one comparison). The best system was chosen by its scores on the same "
        "topics, and this choice favors it."
    )


def test_two_runs_are_tested_once_for_all_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    results = hits({"good": GOOD, "base": BASE})
    test = MagicMock(wraps=results.difference)
    monkeypatch.setattr(ir_std.Results, "difference", test)
    assert "The difference in P@1 is significant" in plain(record(results)["deck"])
    test.assert_called_once()


def test_other_runs_are_counted_with_the_baseline_and_the_correction() -> None:
    said = plain(record(hits({"good": GOOD, "base": BASE, "best": BEST}, baseline="base"))["deck"])
    assert "after Holm's correction for 2 runs" in said
    assert said.endswith("The other run, best, is clearly better than base.")
    runs = {"good": GOOD, "base": BASE, "best": BEST, "same": BASE}
    assert plain(record(hits(runs, baseline="base"))["deck"]).endswith(
        "Compared with base, 1 of the other 2 runs is clearly better and 1 is not clearly "
        "different."
    )


def test_the_heading_of_the_places_counts_systems_beyond_the_interval() -> None:
    results = system("dl19-passage/bm25base_p")
    measure = results.measures[1]
    low, high = results.estimate("bm25base_p", measure).interval
    others = list(results.placements["bm25base_p"][measure].means)
    others.remove(min(others, key=lambda m: abs(m - results.means["bm25base_p"][measure])))
    best, worst = (1 + sum(m > end for m in others) for end in (high, low))
    found = record(results)
    assert (found["placeBest"], found["placeWorst"]) == ([best], [worst])
    assert found["placeHeading"] == f"33rd of 37; plausibly {best}rd to {worst}th"


def test_the_heading_of_the_topics_counts_wins_or_losses() -> None:
    assert record(system("dl19-passage/bm25base_p", baseline="best"))["topicsHeading"] == (
        "Below the best on 38 of 43 topics"
    )
    assert record(hits({"good": BEST, "base": BASE}, baseline="base"))["topicsHeading"] == (
        "Above base on 10 of 20 topics"
    )


# What to trust.


def test_the_trust_line_has_three_parts_and_says_what_was_judged() -> None:
    qrels = {str(i): {"a": 1, "b": 0} for i in range(6)}
    run = {t: {"a": 3.0, "b": 2.0, "c": 1.0, "d": 0.5} for t in qrels}
    whole = {t: {"a": 3.0, "b": 2.0} for t in qrels}
    parts = record(ir_std.evaluate({"x": run}, qrels, [P @ 2, P @ 4]))["trust"]
    assert parts == [
        "This raw score can be compared only with scores on the same topics.",
        "No reference systems are known for these 6 topics.",
        "Every top-2 document was judged.",
    ]
    both = ir_std.evaluate({"x": run, "base": whole}, qrels, [P @ 4], baseline="base")
    assert record(both)["trust"][2] == (
        "The share of the top-4 documents that were judged is 50% for x and 100% for base."
    )


@pytest.mark.parametrize(
    ("name", "n_systems", "n_topics"),
    [("dl19-passage/bm25base_p", 37, 43), ("ntcir13-www-english/RMIT-E-NU-Own-1", 13, 100)],
)
def test_few_systems_are_rough_and_nothing_is_judged_if_only_scores_are_known(
    name: str, n_systems: int, n_topics: int
) -> None:
    assert record(system(name))["trust"] == [
        f"The place is approximate, because there are only {n_systems} systems.",
        f"Judgments match on {n_topics} of {n_topics} topics.",
        "The share of judged documents is unknown, because only scores are given.",
    ]


def test_warnings_of_the_runs_that_are_named_come_first_and_faults_of_all() -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    run = simulated_run(qrels, 1, 1000)
    constant = {topic: dict.fromkeys(docs, 1.0) for topic, docs in run.items()}
    results = ir_std.evaluate({"run1": run, "constant": constant}, qrels, AP, factors="trec8-adhoc")
    found = collection_record("here", standings_of(results, "run1"), {})
    assert found["broken"] == [1]
    assert "Warning: constant: all documents of a topic" in found["measures"][0]["warnings"][0]


def test_a_run_at_the_end_of_the_scale_is_reported() -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    perfect = {
        t: {d: -float(i) for i, d in enumerate(docs) if docs[d]} for t, docs in qrels.items()
    }
    results = ir_std.evaluate({"perfect": perfect}, qrels, AP, factors="trec8-adhoc")
    assert any("perfect is at an end of the scale" in w for w in record(results)["warnings"])


def test_where_documents_are_not_known_the_page_names_the_file_to_give() -> None:
    results = system("dl19-passage/bm25base_p", baseline="best")
    why = collection_record("here", standings_of(results, "bm25base_p"), {})["rankings"]["why"]
    assert why.startswith(
        "This page has the scores of bm25base_p and idst_bert_p1, but not their documents."
    )
    assert "pass both run files and the qrels" in why
