"""Q and nERR against pyNTCIREVAL, and against the official values of NTCIR-13's runs."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP

import ir_std
from ir_std import Q, nERR
from ir_std.errors import UsageError
from ir_std.trec.files import read_qrels

levels = st.lists(st.integers(0, 4), min_size=1, max_size=25)
judgments = levels.filter(any)


def values(measures: list[Any], judged: list[int], ranked: list[int]) -> list[float]:
    """Evaluate a run that ranks the documents with these numbers, judged ones first."""
    qrels = {"1": {f"d{i}": level for i, level in enumerate(judged)}}
    run = {"1": {f"d{i}": -float(rank) for rank, i in enumerate(ranked)}}
    scores = ir_std.StdEvaluator(measures, qrels).values(run)
    return [float(scores[m][0]) for m in measures]


@given(judgments, st.randoms(use_true_random=False), st.sampled_from([1, 3, 10]), st.data())
@settings(max_examples=2 * settings().max_examples)
def test_values_are_pyntcirevals(judged: list[int], random: Any, cutoff: int, data: Any) -> None:
    theirs = pytest.importorskip("pyNTCIREVAL.metrics", reason="pyNTCIREVAL is not installed")
    beta = data.draw(st.sampled_from([0.0, 1.0, 2.5]))
    ranked = list(range(len(judged) + 5))  # the last are not judged
    random.shuffle(ranked)
    found = [(i, judged[i] if i < len(judged) else 0) for i in ranked]
    numbers = [judged.count(level) for level in range(max(judged) + 1)]
    grades = list(range(1, max(judged) + 1))
    expected = [
        theirs.QMeasure(numbers, grades, beta, cutoff).compute(found),
        theirs.QMeasure(numbers, grades, beta).compute(found),
        theirs.nERR(numbers, grades, cutoff).compute(found),
    ]
    computed = values([Q(beta=beta) @ cutoff, Q(beta=beta), nERR @ cutoff], judged, ranked)
    assert computed == pytest.approx(expected, abs=1e-12)


@given(judgments, st.randoms(use_true_random=False))
def test_q_without_weight_of_gains_is_ap(judged: list[int], random: Any) -> None:
    ranked = random.sample(range(len(judged)), len(judged))
    q, ap = values([Q(beta=0), AP], judged, ranked)
    assert q == pytest.approx(ap)


def test_the_best_ranking_has_1_and_a_topic_without_relevant_documents_0() -> None:
    assert values([Q, Q @ 2, nERR, nERR @ 2], [3, 1, 0], [0, 1, 2]) == pytest.approx([1] * 4)
    assert values([Q, Q @ 2, nERR, nERR @ 2], [0, 0], [0, 1]) == [0] * 4


OFFICIAL_LEVELS = {
    "1": ["2444344333", "2333333344", "2211112321", "2222222221", "3232312333"],
    "2": ["2444343343", "4444444404", "3341144312", "0443344203", "3333333324"],
    "3": ["2443244344", "0121111111", "3300144131", "0004404410", "3333432334"],
    "4": ["4442443242", "4444443443", "3432142313", "0443303440", "4334314322"],
}
"""The levels of the first ten documents of RMIT's runs at NTCIR-13 on topics 0001 to 0005."""


@pytest.mark.parametrize("number", OFFICIAL_LEVELS)
@pytest.mark.parametrize("measure", [Q @ 10, nERR @ 10])
def test_rmits_runs_have_their_official_values(number: str, measure: Any, data: Path) -> None:
    judged = read_qrels(data / "qrels" / "ntcir13-www-english.txt").judged
    run: dict[str, dict[str, float]] = {}
    for topic, digits in enumerate(OFFICIAL_LEVELS[number], 1):
        at = {str(n): [d for d, level in judged[f"{topic:04}"].items() if level == n]
              for n in range(5)}  # fmt: skip
        run[f"{topic:04}"] = {at[n].pop(): -float(rank) for rank, n in enumerate(digits)}
    found = ir_std.StdEvaluator([measure], data / "qrels" / "ntcir13-www-english.txt").values(run)
    with (data / "more-scores" / "ntcir13-www-english" / f"{measure}.csv").open() as table:
        official = [float(row[f"RMIT-E-NU-Own-{number}"]) for row in csv.DictReader(table)]
    assert np.abs(found[measure][:5] - official[:5]).max() < 5e-5


def test_gains_of_nerr_are_shares_of_the_collections_highest_level() -> None:
    from ir_std.measures.formulas import normalized_err
    from ir_std.measures.records import TREC_EVAL
    from ir_std.trec.inputs import as_qrels, as_run
    from ir_std.trec.ranking import Ranker

    qrels = as_qrels({"1": {"a": 1, "b": 1}})
    ranking = Ranker(as_run({"1": {"x": 3.0, "a": 2.0, "b": 1.0}}), qrels).rank(TREC_EVAL)
    low, high = (normalized_err(ranking, highest=n)[0] for n in (1, 4))
    assert low == pytest.approx((1 / 2 * 1 / 2 + 1 / 2 * 1 / 3 * 1 / 2) / (1 / 2 + 1 / 2 * 1 / 4))
    assert high == pytest.approx((1 / 5 / 2 + 4 / 5 / 5 / 3) / (1 / 5 + 4 / 5 / 5 / 2))


def test_names_parse_print_and_are_suggested() -> None:
    for name in ("Q@10", "Q(beta=0.5)@10", "nERR@10", "sQ@10", "snERR(scheme='U')@10"):
        assert str(ir_std.parse_measure(name)) == name
        if "(" not in name:
            assert ir_measures.measures.registry[name.partition("@")[0]].__name__ in name
    with pytest.raises(NameError, match=r"did you mean 'nERR@10'"):
        ir_std.parse_measure("nEER@10")
    with pytest.raises(UsageError, match="beta must be at least 0"):
        ir_std.parse_measure("Q(beta=-1.0)@10")
