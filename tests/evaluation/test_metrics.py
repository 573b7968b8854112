"""Raw values equal those of ir_measures; Q and nERR equal pyNTCIREVAL's and NTCIR-13's."""

import csv
import math
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from ir_measures import AP, ERR, RBP, RR, P, Rprec, nDCG
from ir_measures.providers import FallbackProvider

import ir_std
from ir_std import Q, nERR
from ir_std.evaluation.api import StdProvider
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.measures.formulas import normalized_err
from ir_std.measures.records import TREC_EVAL
from ir_std.trec.files import read_qrels
from ir_std.trec.inputs import as_qrels, as_run
from ir_std.trec.ranking import Ranker

JUDGE = FallbackProvider(
    [p for p in ir_measures.DefaultPipeline.providers if not isinstance(p, StdProvider)]
)
"""Default pipeline of ir_measures without ir_std."""

NAMES = """
AP AP(rel=2) AP@3 nDCG nDCG@1 nDCG@5 P@1 P@10 P(rel=2)@5 RR RR(rel=2) RR@2 RR(rel=2)@10 Rprec
Rprec(rel=2) R@2 R(rel=2)@1000 Success@1 Success(rel=2)@5 Bpref Bpref(rel=2) Judged Judged@3
"""
MEASURES = [ir_measures.parse_measure(name) for name in NAMES.split()]
GDEVAL = [ERR @ 20, ERR @ 2, nDCG(dcg="exp-log2") @ 20, nDCG(dcg="exp-log2") @ 2]

docs = st.sampled_from([*"abcdefghij", "B", "é", "aa", "d10", "d9"])
# Few distinct values cause ties; the last values differ by less than 32-bit floats can show.
scores = st.sampled_from(
    [0.0, -0.0, 1.0, 2.0, -3.5, 1e-9, 16777216.0, 16777217.0, 0.1, 0.1 + 1e-12, 1e300, -1e300]
) | st.floats(-1e3, 1e3)
topics = st.sampled_from(["1", "2", "30"])
run_dicts = st.dictionaries(topics, st.dictionaries(docs, scores, min_size=1), max_size=3)
qrels_dicts = st.dictionaries(
    topics,
    st.dictionaries(docs, st.integers(-2, 4), min_size=1).filter(
        # If every level is negative, trec_eval allocates no levels.
        lambda judged: max(judged.values()) >= 0
    ),
    min_size=1,
    max_size=3,
)


def by_key(results: Any) -> dict[tuple[str, str], float]:
    return {(m.query_id, str(m.measure)): m.value for m in results}


def assert_same(measures: list[Any], qrels: Any, run: Any, judge: Any = JUDGE) -> None:
    expected = by_key(judge.iter_calc(measures, qrels, run))
    computed = by_key(StdEvaluator(measures, qrels).iter_calc(run))
    assert computed.keys() == expected.keys()
    for key, value in expected.items():
        assert computed[key] == pytest.approx(value, abs=1e-9), key


@pytest.mark.filterwarnings("ignore:.*none of the run's documents is judged")
@given(qrels_dicts, run_dicts)
@settings(max_examples=2 * settings().max_examples)
def test_values_equal_ir_measures_on_any_qrels_and_run(qrels: Any, run: Any) -> None:
    assume(not run or run.keys() & qrels.keys())  # with no topic in common it is an error
    assert_same(MEASURES + GDEVAL * bool(run), qrels, run)  # gdeval fails on an empty run


@given(st.integers(0, 2**32), st.integers(1, 6))
def test_values_equal_ir_measures_on_deep_runs_with_many_ties(seed: int, distinct: int) -> None:
    random = np.random.default_rng(seed)
    names = [f"doc{i}" for i in random.permutation(300)]
    qrels = {
        "1": {d: int(r) for d, r in zip(names[::2], random.integers(-1, 4, 150), strict=True)}
        | {"doc": 1}
    }
    run = {
        "1": {d: float(s) for d, s in zip(names, random.integers(0, distinct, 300), strict=True)}
    }
    assert_same(MEASURES, qrels, run)


@given(st.integers(0, 2**32))
def test_rbp_equals_cwl_evals_where_there_are_no_ties(seed: int) -> None:
    pytest.importorskip("cwl", reason="cwl-eval is not installed")
    random = np.random.default_rng(seed)
    run = {"1": {f"d{i}": float(s) for i, s in enumerate(random.permutation(60))}}
    qrels = {"1": {f"d{i}": int(random.integers(0, 3)) for i in random.permutation(60)[:20]}}
    measures = [RBP(rel=1), RBP(rel=2, p=0.5), RBP(rel=1, p=0.95)]
    assert_same(measures, qrels, run, ir_measures.cwl_eval)


def test_rbp_without_rel_takes_level_by_highest_level_as_gain() -> None:
    qrels = {"1": {"a": 3, "b": 1, "c": -1}, "2": {"a": 2}}
    run = {"1": {"a": 3.0, "x": 2.0, "b": 1.0, "c": 0.5}, "2": {"a": 1.0}}
    values = StdEvaluator([RBP(p=0.5)], qrels).values(run)[RBP(p=0.5)]
    assert values == pytest.approx([0.5 * (1 + 0.25 * 1 / 3), 0.5 * 2 / 3])


def test_rbp_has_the_same_last_digit_on_every_processor() -> None:
    weight, expected = 1.0, []
    for _ in range(200):
        expected.append((1 - 0.8) * weight)
        weight *= 0.8
    docs = [f"d{i}" for i in range(200)]
    run = {d: {other: float(-i) for i, other in enumerate(docs)} for d in docs}
    values = StdEvaluator([RBP(rel=1)], {d: {d: 1} for d in docs}).values(run)
    assert values[RBP(rel=1)].tolist() == expected


def plain_dcg(gains: list[float], jk: bool) -> float:
    """Compute the DCG of Järvelin and Kekäläinen, or of trec_eval, document by document."""
    return sum(
        g / (max(1.0, math.log2(rank)) if jk else math.log2(rank + 1))
        for rank, g in enumerate(gains, 1)
    )


@pytest.mark.parametrize("dcg", ["log2", "jk"])
@pytest.mark.parametrize("rel", [None, 1, 2])
@pytest.mark.parametrize("cutoff", [None, 4])
def test_dcg_and_ndcg_follow_their_definition(
    dcg: str, rel: int | None, cutoff: int | None
) -> None:
    retrieved, others = [0, 2, 1, 0, 3, 1], [2, 1]
    run = {"1": {f"d{i}": float(-i) for i in range(len(retrieved))}}
    qrels = {"1": {f"d{i}": level for i, level in enumerate(retrieved + others)}}
    gains = [float(x >= rel) if rel else float(x) for x in retrieved + others]
    params = {k: v for k, v in (("dcg", dcg), ("rel", rel), ("cutoff", cutoff)) if v is not None}
    measures = [ir_std.DCG(**params), ir_std.nDCG(**params)]
    values = list(StdEvaluator(measures, qrels).calc_aggregate(run).values())
    expected = plain_dcg(gains[: cutoff or len(retrieved)], dcg == "jk")
    ideal = plain_dcg(sorted(gains, reverse=True)[:cutoff], dcg == "jk")
    assert values == pytest.approx([expected, expected / ideal])


def test_sum_of_precisions_is_ap_times_the_number_of_relevant_documents() -> None:
    qrels = {"1": {"a": 1, "b": 1, "c": 2, "z": 1}}
    run = {"1": {"a": 5.0, "x": 4.0, "b": 3.0, "c": 1.0}}
    scores = StdEvaluator([ir_std.SP, AP], qrels).calc_aggregate(run)
    assert scores[ir_std.SP] == pytest.approx(1 + 2 / 3 + 3 / 4)
    assert scores[AP] == pytest.approx(scores[ir_std.SP] / 4)


def test_binary_ndcg_is_not_answered_with_the_graded_value() -> None:
    qrels = {"1": {"a": 1, "b": 3}}
    run = {"1": {"a": 2.0, "b": 1.0}}
    binary = ir_std.nDCG(rel=1)
    assert ir_measures.calc_aggregate([binary], qrels, run)[binary] == 1.0
    with pytest.raises(ValueError, match="unsupported"):
        ir_measures.pytrec_eval.calc_aggregate([binary], qrels, run)


def test_err_refuses_levels_that_gdeval_does_not_define() -> None:
    with pytest.raises(ValueError, match="levels 0 to 4"):
        StdEvaluator([ERR @ 20], {"1": {"a": 5}}).calc_aggregate({"1": {"a": 1.0}})


N_REAL_RUNS = {"trec8-adhoc": 129, "covid-round1": 143, "dl19-passage": 37}
SOME_REAL_RUNS: dict[str, str] = {
    "trec8-adhoc": "AntHoc1 CL99XT Dm8Nbn READWARE UB99SW UB99T kdd8qe01",
    "dl19-passage": "ICT-CKNRM_B idst_bert_pr1 ms_duet_passage test1",
}
"""Some runs of each kind, with ties, ranks, exponents, 36 digits, scores below 0, out of order,
or a few documents per topic.
"""


@pytest.mark.parametrize(
    ("name", "every"),
    [
        ("dl19-passage", 37),
        *(pytest.param(name, 8, marks=pytest.mark.slow) for name in N_REAL_RUNS),
        *(pytest.param(name, 1, marks=pytest.mark.exhaustive) for name in N_REAL_RUNS),
    ],
)
# In nine runs of TREC-COVID's first round, the best documents have the last ranks.
@pytest.mark.filterwarnings("ignore:.*scores increase with rank")
def test_values_equal_ir_measures_on_every_topic_of_real_runs(
    name: str, every: int, data: Any, runs_of: Any
) -> None:
    measures = [AP, nDCG, P @ 10, RR, Rprec]
    qrels = ir_std.util.QrelsConverter(
        ir_measures.read_trec_qrels(str(data / "qrels" / f"{name}.txt"))
    ).as_dict_of_dict()
    judge = JUDGE.evaluator(measures, qrels)
    ours = StdEvaluator(measures, data / "qrels" / f"{name}.txt")
    files = sorted(runs_of(name).iterdir())
    assert len(files) == N_REAL_RUNS[name]
    some = [runs_of(name) / run for run in SOME_REAL_RUNS.get(name, "").split()]
    for file in {*some, *files[::every]}:
        expected = by_key(judge.iter_calc(ir_measures.read_trec_run(str(file))))
        computed = by_key(ours.iter_calc(file))
        assert computed == pytest.approx(expected, abs=1e-9), file.name


levels = st.lists(st.integers(0, 4), min_size=1, max_size=25)
judgments = levels.filter(any)


def values_of(measures: list[Any], judged: list[int], ranked: list[int]) -> list[float]:
    """Evaluate a run that ranks the documents with these numbers; the first are judged."""
    qrels = {"1": {f"d{i}": level for i, level in enumerate(judged)}}
    run = {"1": {f"d{i}": -float(rank) for rank, i in enumerate(ranked)}}
    scores = ir_std.StdEvaluator(measures, qrels).values(run)
    return [float(scores[m][0]) for m in measures]


@given(judgments, st.randoms(use_true_random=False), st.sampled_from([1, 3, 10]), st.data())
@settings(max_examples=2 * settings().max_examples)
def test_values_are_pyntcirevals(judged: list[int], random: Any, cutoff: int, data: Any) -> None:
    theirs = pytest.importorskip("pyNTCIREVAL.metrics", reason="pyNTCIREVAL is not installed")
    beta = data.draw(st.sampled_from([0.0, 1.0, 2.5]))
    ranked = list(range(len(judged) + 5))  # the last documents are not judged
    random.shuffle(ranked)
    found = [(i, judged[i] if i < len(judged) else 0) for i in ranked]
    numbers = [judged.count(level) for level in range(max(judged) + 1)]
    grades = list(range(1, max(judged) + 1))
    expected = [
        theirs.QMeasure(numbers, grades, beta, cutoff).compute(found),
        theirs.QMeasure(numbers, grades, beta).compute(found),
        theirs.nERR(numbers, grades, cutoff).compute(found),
    ]
    computed = values_of([Q(beta=beta) @ cutoff, Q(beta=beta), nERR @ cutoff], judged, ranked)
    assert computed == pytest.approx(expected, abs=1e-12)


@given(judgments, st.randoms(use_true_random=False))
def test_q_without_weight_of_gains_is_ap(judged: list[int], random: Any) -> None:
    ranked = random.sample(range(len(judged)), len(judged))
    q, ap = values_of([Q(beta=0), AP], judged, ranked)
    assert q == pytest.approx(ap)


def test_the_best_ranking_has_1_and_a_topic_without_relevant_documents_0() -> None:
    assert values_of([Q, Q @ 2, nERR, nERR @ 2], [3, 1, 0], [0, 1, 2]) == pytest.approx([1] * 4)
    assert values_of([Q, Q @ 2, nERR, nERR @ 2], [0, 0], [0, 1]) == [0] * 4


OFFICIAL_LEVELS = {
    "1": ["2444344333", "2333333344", "2211112321", "2222222221", "3232312333"],
    "2": ["2444343343", "4444444404", "3341144312", "0443344203", "3333333324"],
    "3": ["2443244344", "0121111111", "3300144131", "0004404410", "3333432334"],
    "4": ["4442443242", "4444443443", "3432142313", "0443303440", "4334314322"],
}
"""Levels of the first ten documents in RMIT's runs at NTCIR-13, topics 0001 to 0005."""


@pytest.mark.parametrize("number", OFFICIAL_LEVELS)
@pytest.mark.parametrize("measure", [Q @ 10, nERR @ 10])
def test_rmits_runs_have_their_official_values(number: str, measure: Any, data: Path) -> None:
    judged = read_qrels(data / "qrels" / "ntcir13-www-english.txt").judged
    run: dict[str, dict[str, float]] = {}
    for topic, digits in zip(judged, OFFICIAL_LEVELS[number], strict=False):
        left = {n: [d for d, level in judged[topic].items() if level == int(n)] for n in "01234"}
        run[topic] = {left[n].pop(): -float(rank) for rank, n in enumerate(digits)}
    found = ir_std.StdEvaluator([measure], data / "qrels" / "ntcir13-www-english.txt").values(run)
    with (data / "more-scores" / "ntcir13-www-english" / f"{measure}.csv").open() as table:
        official = [float(row[f"RMIT-E-NU-Own-{number}"]) for row in csv.DictReader(table)]
    assert np.abs(found[measure][:5] - official[:5]).max() < 5e-5


def test_gains_of_nerr_are_shares_of_the_collections_highest_level() -> None:
    qrels = as_qrels({"1": {"a": 1, "b": 1}})
    ranking = Ranker(as_run({"1": {"x": 3.0, "a": 2.0, "b": 1.0}}), qrels).rank(TREC_EVAL)
    low, high = (normalized_err(ranking, highest=n)[0] for n in (1, 4))
    assert low == pytest.approx((1 / 2 * 1 / 2 + 1 / 2 * 1 / 3 * 1 / 2) / (1 / 2 + 1 / 2 * 1 / 4))
    assert high == pytest.approx((1 / 5 / 2 + 4 / 5 / 5 / 3) / (1 / 5 + 4 / 5 / 5 / 2))
