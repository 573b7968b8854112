"""Tests of a run's rank among the reference systems."""

import re
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, P
from made_up import TOPICS, collection

import ir_std
from ir_std import FactorSet, NoFactorsError, build_factors, place, sAP
from ir_std.evaluation.placement import Placer, ordinal
from ir_std.factors.estimates import ranked_systems
from ir_std.reporting.model import place_topics

QRELS, RUNS = collection()
BUILT = build_factors(QRELS, RUNS, ["AP", "P@5"], id="mine")
MEANS = {tag: AP.calc_aggregate(QRELS, run) for tag, run in RUNS.items()}


MOMENTS = FactorSet(BUILT.info, BUILT.n_rel, BUILT.mean, BUILT.sd)
"""Built set, without the scores of its systems."""


@pytest.mark.parametrize("tag", RUNS)
def test_a_standardizing_system_ranks_where_its_mean_does(tag: str) -> None:
    better = sum(mean > MEANS[tag] + 1e-9 for mean in MEANS.values())
    raw, standardized = place(RUNS[tag], QRELS, [AP], factors=BUILT)
    assert (raw.rank, raw.n_systems, raw.is_own_system) == (better + 1, len(RUNS), True)
    assert raw.value == pytest.approx(MEANS[tag])
    assert standardized.measure == sAP
    assert standardized.is_own_system


BLEND = {
    t: {d: s + RUNS["sys3"][t].get(d, -9) for d, s in docs.items()}
    for t, docs in RUNS["sys4"].items()
}
"""A run that is not a system of the set."""


def test_a_new_run_gets_the_place_it_would_have_had() -> None:
    raw, _ = place(BLEND, QRELS, [AP], factors=BUILT)
    better = sum(mean > AP.calc_aggregate(QRELS, BLEND) for mean in MEANS.values())
    assert not raw.is_own_system
    assert raw.summary == f"would have been {ordinal(better + 1)} of {len(RUNS) + 1}"


ONE_RELEVANT = {t: {"r": 1, "x": 0} for t in TOPICS}


def finding(*topics: str, first: str = "r") -> dict[str, dict[str, float]]:
    """Return a run that finds documents on these topics only, and ranks one first."""
    return {t: {"r": 1.0, "x": 1.0, first: 2.0} if t in topics else {"none": 1.0} for t in TOPICS}


def test_ranks_of_neighbors_count_the_run_and_say_who_ties() -> None:
    systems = ir_std.load_factors("trec8-adhoc").scores["AP"].mean(axis=0)
    for value in [*np.linspace(0, 0.5, 101).round(3), *systems]:
        (placed,) = place(float(value), factors="trec8-adhoc", measures="AP")
        means = np.append(systems, value)
        rank = 1 + int((systems > value + 1e-9).sum())
        assert placed.summary.startswith(f"would have been {ordinal(rank)} ")
        for name, shown, ties in re.findall(
            r"(\S+), (\d+)\w\w(?: \(tied with (\d+)\))?", placed.neighbours
        ):
            mine = dict(zip(placed.names, placed.means, strict=True))[name]
            assert int(shown) == 1 + (means > mine + 1e-9).sum() != rank
            assert int(ties or 0) == (abs(systems - mine) <= 1e-9).sum() - 1


def test_a_system_says_who_ties_with_it() -> None:
    placed, _ = place("trec8-adhoc/isa25t", measures="AP")
    assert (placed.summary, placed.neighbours) == (
        "124th (tied with 1) of 129",
        "between AntHoc1, 123rd, and isa50, 126th",
    )


@pytest.mark.filterwarnings("ignore:.*none of the run's documents is judged")
def test_a_new_run_with_a_systems_mean_is_tied_with_it_and_no_participant() -> None:
    systems = {"a": finding("t0"), "b": finding()}
    factors = build_factors(ONE_RELEVANT, systems, ["P@1"], id="tie")
    tied, _ = place(finding("t1"), ONE_RELEVANT, [P @ 1], factors=factors)
    assert (tied.rank, tied.n_tied, tied.is_own_system) == (1, 1, False)
    assert tied.summary == "would have been 1st (tied with 1) of 3"
    took_part, _ = place(systems["a"], ONE_RELEVANT, [P @ 1], factors=factors)
    assert (took_part.rank, took_part.n_tied, took_part.is_own_system) == (1, 0, True)
    assert took_part.summary == "1st of 2"


def test_a_participant_has_a_systems_scores_by_every_measure() -> None:
    systems = {"a": finding(*TOPICS), "b": finding("t0")}
    factors = build_factors(ONE_RELEVANT, systems, ["AP", "P@2"], id="two")
    swapped = finding(*TOPICS, first="x")
    by_both = place(swapped, ONE_RELEVANT, [AP, P @ 2], factors=factors)
    assert [p.is_own_system for p in by_both] == [False] * 4
    assert by_both[2].summary == "would have been 1st (tied with 1) of 3"
    assert place(swapped, ONE_RELEVANT, [P @ 2], factors=factors)[0].is_own_system


@pytest.mark.parametrize("tag", [*RUNS, "blend"])
@pytest.mark.parametrize("measure", [AP, sAP, sAP(scheme="E")])
def test_on_a_topic_a_run_ranks_where_its_score_does(tag: str, measure: Any) -> None:
    run = RUNS.get(tag, BLEND)
    others = [ir_measures.calc([AP], QRELS, RUNS[name])[1] for name in RUNS if name != tag]
    by_system = [{m.query_id: m.value for m in values} for values in others]
    own = {m.query_id: m.value for m in ir_measures.calc([AP], QRELS, run)[1]}
    evaluator = ir_std.evaluator(measure, QRELS, factors=BUILT)
    placed = Placer(evaluator).place_topics(evaluator.evaluate(run).values)[measure]
    assert list(placed) == list(TOPICS)
    for topic, placement in placed.items():
        scores = [scores.get(topic, 0.0) for scores in by_system]
        mine = own.get(topic, 0.0)
        assert placement.n_better == sum(score > mine + 1e-9 for score in scores)
        # For a new run, E is the same as for the next lower system.
        if measure == AP or tag != "blend":
            assert placement.n_tied == sum(abs(score - mine) <= 1e-9 for score in scores)
        assert (placement.n_systems, placement.is_own_system) == (len(RUNS), tag != "blend")


def test_on_topics_without_scores_of_systems_there_is_no_place() -> None:
    more = {**QRELS, "new": {"d0": 1}}
    with pytest.warns(ir_std.StandardizationWarning, match="has no factors for 1 topic"):
        results = ir_std.evaluate(RUNS, more, AP, factors=BUILT)
    assert list(place_topics(results)["sys1"][sAP]) == list(TOPICS)
    alone = ir_std.evaluate(RUNS, QRELS, AP, factors=MOMENTS)
    assert place_topics(alone)["sys1"][sAP] == {}


def test_an_empty_run_comes_last() -> None:
    raw, _ = place({}, QRELS, [AP], factors=BUILT)
    assert raw.summary == f"would have been {len(RUNS) + 1}th of {len(RUNS) + 1}"


@pytest.mark.parametrize("scheme", [None, "N", "U", "E", "z"])
def test_the_systems_means_are_those_of_their_runs(scheme: str | None) -> None:
    measures = [sAP(scheme=scheme)] if scheme else [AP]
    values = [place(run, QRELS, measures, factors=BUILT)[0].value for run in RUNS.values()]
    assert np.sort(values) == pytest.approx(ranked_systems(BUILT, "AP", scheme)[0], abs=1e-12)


def test_on_a_part_of_the_topics_the_systems_are_ranked_on_that_part() -> None:
    part = {t: QRELS[t] for t in TOPICS[:3]}
    means = {tag: AP.calc_aggregate(part, run) for tag, run in RUNS.items()}
    for tag, run in RUNS.items():
        raw, _ = place(run, part, [AP], factors=BUILT)
        better = sum(mean > means[tag] + 1e-9 for mean in means.values())
        assert raw.summary == f"{ordinal(better + 1)} of 7 on 3 of the 6 topics"


def test_a_raw_mean_over_other_topics_says_what_was_placed() -> None:
    more = {**QRELS, "new": {"d0": 1}}
    with pytest.warns(ir_std.StandardizationWarning, match="has no factors for 1 topic"):
        raw, standardized = place(RUNS["sys1"], more, [AP], factors=BUILT)
    same, _ = place(RUNS["sys1"], QRELS, [AP], factors=BUILT)
    assert raw.summary == f"{same.summary} with {same.value:.4f} on 6 of 7 topics"
    assert "topics" not in standardized.summary


def test_own_parameters_of_u_are_placed_by_the_scores() -> None:
    other = sAP(scheme="U", A=0.2, B=0.4)
    assert place(RUNS["sys4"], QRELS, [other], factors=BUILT)[0].is_own_system
    alone = place(RUNS["sys4"], QRELS, [other], factors=MOMENTS)
    assert alone[0].rank is None


def test_without_scores_of_systems_a_reason_is_given() -> None:
    raw, _ = place(RUNS["sys4"], QRELS, [AP], factors=MOMENTS)
    assert str(raw) == (f"AP {MEANS['sys4']:.4f}: not placed, mine has no scores per system for AP")
    [unknown] = place(RUNS["sys4"], QRELS, [P @ 7], factors=BUILT)
    assert unknown.summary == "not placed, mine has no factors for it"


def test_scores_are_rounded_as_the_systems_were_before_they_are_compared() -> None:
    rounded = {"AP": np.round(BUILT.scores["AP"], 2)}
    about = {**BUILT.info, "measures": {"AP": {"systems": len(RUNS), "resolution": 0.01}}}
    known = FactorSet(about, BUILT.n_rel, scores=rounded, systems=BUILT.systems)
    placed = [place(run, QRELS, [AP], factors=known)[0] for run in RUNS.values()]
    assert all(p.is_own_system for p in placed)
    assert placed[0].value == pytest.approx(MEANS["sys0"])


def test_qrels_without_factors_place_nothing() -> None:
    with pytest.raises(NoFactorsError, match="no factor set"):
        place(RUNS["sys4"], QRELS)


ORDINALS = "1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 101st 111th 113th"


def test_ordinals() -> None:
    assert [ordinal(int(text[:-2])) for text in ORDINALS.split()] == ORDINALS.split()


def test_places_print_the_lines_of_the_command_line(
    data: Path, runs_of: Any, ir_std_cli: Any
) -> None:
    run, qrels = runs_of("trec8-adhoc") / "Flab8atdn", data / "qrels" / "trec8-adhoc.txt"
    placed = place(run, qrels, ["AP", "P@10"])
    assert str(placed).splitlines() == ir_std_cli(run, qrels, "AP", "P@10", "--place").out
    assert repr(placed) == str(placed)
    assert [p.rank for p in placed] == [13, 13, 17, 17]


def test_a_published_mean_is_placed_among_the_systems_means(ir_std_cli: Any) -> None:
    scores = ir_std.load_factors("dl19-passage").scores["nDCG@10"]
    (placed,) = ir_std.place(0.55, factors="dl19-passage", measures="nDCG@10")
    assert placed.rank == 1 + int((scores.mean(axis=0) > 0.55).sum())
    done = ir_std_cli("factors", "place", "dl19-passage", "nDCG@10", "0.55")
    assert done.out == [str(ir_std.place(0.55, factors="dl19-passage", measures="nDCG@10"))]
    for given, says in {
        ("dl19-passage", "snDCG@10", "0.5"): "pass the raw measure",
        ("dl19-passage", "nDCG@10", "50.6"): "50.6 is not a mean of nDCG@10; expected 0 to 1",
        ("dl19-passage", "nDCG@10", "nan"): "nan is not a mean of nDCG@10; expected 0 to 1",
        ("dl19-passage", "nDCG@10", "x"): "expected the mean as a number, got 'x'",
        ("mteb-retrieval", "nDCG@10", "0.5"): "place results per dataset instead",
        ("dl19-passage", "nDCG@10"): "write ir_std factors place ID MEASURE VALUE",
    }.items():
        assert says in ir_std_cli("factors", "place", *given).err[-1]
