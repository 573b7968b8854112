"""Raw values are ir_measures' own: its default providers are the judge."""

from __future__ import annotations

import math
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ir_measures import AP, ERR, RBP, RR, Bpref, Judged, P, R, Rprec, Success, nDCG
from ir_measures.providers import FallbackProvider

import ir_std
from ir_std.evaluation.api import StdProvider
from ir_std.evaluation.evaluator import StdEvaluator

JUDGE = FallbackProvider(
    [p for p in ir_measures.DefaultPipeline.providers if not isinstance(p, StdProvider)]
)
"""ir_measures' default pipeline as it is without ir_std."""

MEASURES = [
    AP,
    AP(rel=2),
    AP @ 3,
    nDCG,
    nDCG @ 1,
    nDCG @ 5,
    P @ 1,
    P @ 10,
    P(rel=2) @ 5,
    RR,
    RR(rel=2),
    RR @ 2,
    RR(rel=2) @ 10,
    Rprec,
    Rprec(rel=2),
    R @ 2,
    R(rel=2) @ 1000,
    Success @ 1,
    Success(rel=2) @ 5,
    Bpref,
    Bpref(rel=2),
    Judged,
    Judged @ 3,
]
GDEVAL = [ERR @ 20, ERR @ 2, nDCG(dcg="exp-log2") @ 20, nDCG(dcg="exp-log2") @ 2]

docs = st.sampled_from([*"abcdefghij", "B", "é", "aa", "d10", "d9"])
# Few distinct values make ties; the last ones differ by less than 32-bit floats can tell.
scores = st.sampled_from(
    [0.0, -0.0, 1.0, 2.0, -3.5, 1e-9, 16777216.0, 16777217.0, 0.1, 0.1 + 1e-12, 1e300, -1e300]
) | st.floats(-1e3, 1e3)
topics = st.sampled_from(["1", "2", "30"])
run_dicts = st.dictionaries(topics, st.dictionaries(docs, scores, min_size=1), max_size=3)
qrels_dicts = st.dictionaries(
    topics,
    st.dictionaries(docs, st.integers(-2, 4), min_size=1).filter(
        # trec_eval allocates no level at all where every level is negative.
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


@pytest.mark.filterwarnings("ignore:.*none of its documents is judged")
@given(qrels_dicts, run_dicts)
@settings(max_examples=2 * settings().max_examples)
def test_values_equal_ir_measures_on_any_qrels_and_run(qrels: Any, run: Any) -> None:
    assume(not run or run.keys() & qrels.keys())  # with no topic in common it is an error
    assert_same(MEASURES, qrels, run)


@pytest.mark.filterwarnings("ignore:.*none of its documents is judged")
@given(qrels_dicts, run_dicts.filter(bool))
def test_values_equal_gdevals_on_any_qrels_and_run(qrels: Any, run: Any) -> None:
    assume(run.keys() & qrels.keys())  # with no topic in common it is an error
    assert_same(GDEVAL, qrels, run)


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
    """Compute Järvelin and Kekäläinen's DCG, or trec_eval's, document by document."""
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
    levels = [0, 2, 1, 0, 3, 1]
    unretrieved = [2, 1]
    run = {"1": {f"d{i}": float(-i) for i in range(len(levels))}}
    qrels = {"1": {f"d{i}": level for i, level in enumerate(levels + unretrieved)}}
    gains = [float(x >= rel) if rel else float(x) for x in levels]
    ideal = sorted(
        (float(x >= rel) if rel else float(x) for x in levels + unretrieved), reverse=True
    )
    params = {k: v for k, v in (("dcg", dcg), ("rel", rel), ("cutoff", cutoff)) if v is not None}
    measures = [ir_std.DCG(**params), ir_std.nDCG(**params)]
    values = list(StdEvaluator(measures, qrels).calc_aggregate(run).values())
    expected = plain_dcg(gains[:cutoff], dcg == "jk")
    assert values == pytest.approx([expected, expected / plain_dcg(ideal[:cutoff], dcg == "jk")])


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
# Nine runs of TREC-COVID's first round have their best documents at their last ranks.
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
