"""Score normalization and merging, against plain implementations, ranx and trec_eval."""

import importlib.util
import json
import os
import sys
from collections.abc import Callable
from itertools import combinations, pairwise, permutations, product
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from hypothesis import example, given, strategies as st
from ir_measures import AP, ScoredDoc, nDCG
from made_up import collection
from processes import run_process

import ir_std
from ir_std import InputError, UsageError, merge, normalize
from ir_std.merging import BY_RANK, COMBINE, METHODS
from ir_std.trec.files import read_run
from ir_std.trec.inputs import as_run
from ir_std.trec.runs import Run

RunDict = dict[str, dict[str, float]]
LIST = {"d1": 12.0, "d2": 9.0, "d3": 8.0, "d4": 3.0}
NO_SPREAD = [m for m in METHODS if m != "max"]


def by_hand(scores: list[float]) -> dict[str, list[float]]:
    """Compute the paper's formulas as they are printed."""
    low, high, mean, sd = min(scores), max(scores), fmean(scores), pstdev(scores)
    return {
        "minmax": [(s - low) / (high - low) for s in scores],
        "sum": [(s - low) / sum(x - low for x in scores) for s in scores],
        "zscore": [(s - mean) / sd for s in scores],
        "max": [s / high for s in scores],
        "mmstdv": [sd * (s - low) / (high - low) for s in scores],
        "uv": [s / sd for s in scores],
    }


def merged_by_hand(runs: list[RunDict], combine: str) -> RunDict:
    """Combine the normalized scores of each document, one document at a time."""
    by_topic: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        for topic, docs in run.items():
            for doc, score in docs.items():
                by_topic.setdefault(topic, {}).setdefault(doc, []).append(score)
    how: dict[str, Callable[[list[float]], float]] = {
        "sum": sum,
        "max": max,
        "mnz": lambda s: sum(s) * len(s),
        "first": lambda s: s[0],
    }
    return {t: {d: how[combine](s) for d, s in docs.items()} for t, docs in by_topic.items()}


def normalized(scores: Any, method: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    return METHODS[method](np.array(scores, float))


def frame(run: RunDict) -> pd.DataFrame:
    return pd.DataFrame(
        [(t, d, s) for t, docs in run.items() for d, s in docs.items()],
        columns=["query_id", "doc_id", "score"],
    )


# The scores are so far apart that formulas agree even if they round in a different order.
tame = st.integers(1, 10**6).map(lambda i: i / 128)
tame_lists = st.lists(tame, min_size=2, max_size=30).filter(lambda s: len(set(s)) > 1)
any_list = st.lists(
    st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0.0, -0.0, 5e-324, 1.7e308, -1.7e308, 1.0, 1 + 2**-52]),
    min_size=1,
    max_size=12,
)
run_dicts = st.dictionaries(
    st.sampled_from(["1", "2", "30"]),
    st.dictionaries(
        st.sampled_from([*"abcdefgh", "B", "é", "d10", "d9"]),
        tame | st.sampled_from([1.0, 2.0, 1 + 1e-12]),
        min_size=1,
    ),
    min_size=1,
    max_size=3,
)
methods = st.sampled_from(sorted(METHODS))


# The formulas


@given(tame_lists)
def test_every_method_is_the_formula_of_the_paper(scores: list[float]) -> None:
    for method, expected in by_hand(scores).items():
        assert normalized(scores, method) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(any_list, st.sampled_from(NO_SPREAD))
def test_any_finite_scores_give_finite_scores(scores: list[float], method: str) -> None:
    assert np.isfinite(normalized(scores, method)).all()


@given(any_list, methods)
def test_no_document_of_a_list_passes_another(scores: list[float], method: str) -> None:
    if method == "max" and max(scores) <= 0:
        return
    result = normalized(sorted(scores), method)
    assert (result[:-1] <= result[1:]).all()


@given(any_list, st.sampled_from(["minmax", "sum", "zscore", "uv"]), st.integers(-60, 60))
def test_scores_in_other_units_normalize_to_the_same(
    scores: list[float], method: str, power: int
) -> None:
    small = [s for s in scores if s == 0 or 1e-200 < abs(s) < 1e200] or [0.0]
    assert (normalized(np.ldexp(small, power), method) == normalized(small, method)).all()


@given(any_list.filter(lambda s: len(set(s)) > 1))
@example([1.0, 1.0000000000000002])
@example([1.0, 1.0000000000000002, 1.0000000000000009])
def test_ends_mean_and_variance_are_what_the_names_promise(scores: list[float]) -> None:
    assert (normalized(scores, "minmax").min(), normalized(scores, "minmax").max()) == (0, 1)
    assert normalized(scores, "sum").sum() == pytest.approx(1)
    assert normalized(scores, "zscore").mean() == pytest.approx(0, abs=1e-9)
    assert normalized(scores, "zscore").std() == pytest.approx(1)
    # Relative to their deviation, nearly equal scores are so large that rounding matters.
    uv = normalized(scores, "uv")
    rounding = np.spacing(np.abs(uv).max())
    assert (uv - uv.min()).std() == pytest.approx(1, rel=1e-6, abs=rounding)


# The edges


@pytest.mark.parametrize("docs", [{"a": 7.0}, {"a": 7.0, "b": 7.0}, {"a": -7.0}, {"a": 0.0}])
@pytest.mark.parametrize("method", NO_SPREAD)
def test_a_list_without_spread_gets_0(method: str, docs: dict[str, float]) -> None:
    assert normalize({"q": docs}, method) == {"q": dict.fromkeys(docs, 0.0)}


@pytest.mark.parametrize(
    ("docs", "expected"),
    [
        ({"a": 7.0, "b": 7.0}, {"a": 1.0, "b": 1.0}),  # no spread
        ({"a": 2.0, "b": -1.0}, {"a": 1.0, "b": -0.5}),
    ],
)
def test_max_divides_by_the_highest_score(
    docs: dict[str, float], expected: dict[str, float]
) -> None:
    assert normalize({"q": docs}, "max") == {"q": expected}


@pytest.mark.parametrize(
    ("run", "method", "message"),
    [
        *(
            ({"401": {"a": 1.0}, "402": {"a": highest, "b": -3.0}}, "max", said)
            for highest in (0.0, -0.0, -2.5)
            for said in [r"topic 402 is -?\d.*use minmax or zscore"]
        ),
        ({"q": {"a": 5e-324, "b": -1e308}}, "max", "topic q, document 'b' has score -inf"),
        ({"q": {"a": 1.0, "b": float("nan")}}, "minmax", "topic q, document 'b'"),
        ({"q": {"a": 1.0, "b": float("inf")}}, "minmax", "topic q, document 'b'"),
        ([ScoredDoc("q", "a", 1.0), ScoredDoc("q", "a", 2.0)], "minmax", "'a' twice"),
    ],
)
def test_scores_that_a_method_cannot_use_are_rejected(run: Any, method: str, message: str) -> None:
    for call in (normalize, lambda run, method: merge([run], method)):
        with pytest.raises(InputError, match=message):
            call(run, method)


def test_a_topic_without_documents_stays() -> None:
    assert merge([{"1": {}}, {"1": {}, "2": {"a": 1.0}}], "sum") == {"1": {}, "2": {"a": 0.0}}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: normalize({}, "mimmax"), "unknown method 'mimmax'.*did you mean 'minmax'"),
        (lambda: merge([{}], "minmax", combine="avg"), "unknown combination 'avg'.*sum, max, mnz"),
        (lambda: merge([{}], "minmax", depth=0), "depth must be an integer of at least 1, got 0"),
        (lambda: merge([], "minmax"), "no runs"),
        (lambda: merge([{}]), "sum needs normalized scores.*of minmax.*or combine ranks .rrf"),
        (lambda: merge([{}], "minmax", combine="rrf"), "rrf combines ranks; leave out 'minmax'"),
        (lambda: merge([{}], combine="rff"), "unknown combination 'rff'.*did you mean 'rrf'"),
        (lambda: merge({"q": {"a": 1.0}}, "minmax"), "list of runs"),
        (lambda: merge("one.run", "minmax"), "list of runs"),
        (lambda: merge(frame({"q": LIST}), "minmax"), "list of runs"),
    ],
)
def test_wrong_use_is_explained(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()


# Merging


@pytest.mark.parametrize(
    ("method", "first", "second", "order"),
    [
        ("sum", {"a1": 30.0, "a2": 25.0, "a3": 10.0}, {"b1": 0.9, "b2": 0.5, "b3": 0.4},
         "b1 a1 a2 b2 b3 a3"),  # by score
        ("minmax", {"a": 2.0, "b": 1.0}, {"c": 9.0, "B": 3.0}, "c a b B"),  # ties by ID, descending
    ],
)  # fmt: skip
def test_disjoint_lists_are_interleaved(
    method: str, first: dict[str, float], second: dict[str, float], order: str
) -> None:
    assert list(merge([{"q": first}, {"q": second}], method)["q"]) == order.split()


@given(st.lists(run_dicts, min_size=1, max_size=4), methods, st.sampled_from(sorted(COMBINE)))
def test_shared_documents_are_combined(runs: list[RunDict], method: str, combine: str) -> None:
    expected = merged_by_hand([normalize(run, method) for run in runs], combine)
    merged = merge(runs, method, combine=combine)
    assert merged.keys() == expected.keys()
    for topic, docs in expected.items():
        assert merged[topic] == pytest.approx(docs, rel=1e-12, abs=1e-12)


@given(st.lists(run_dicts, min_size=1, max_size=4), methods)
def test_documents_are_in_the_order_of_trec_eval(runs: list[RunDict], method: str) -> None:
    merged = merge(runs, method)
    for topic, docs in merged.items():
        for rank, doc in enumerate(docs, 1):
            judge = pytrec_eval.RelevanceEvaluator({topic: {doc: 1}}, {"recip_rank"})
            assert judge.evaluate({topic: docs})[topic]["recip_rank"] == pytest.approx(1 / rank)


@given(st.lists(run_dicts, min_size=1, max_size=4), methods, st.integers(1, 5))
def test_depth_keeps_the_first_documents(runs: list[RunDict], method: str, depth: int) -> None:
    whole = merge(runs, method)
    cut = merge(runs, method, depth=depth)
    assert {t: list(docs) for t, docs in cut.items()} == {
        t: list(docs)[:depth] for t, docs in whole.items()
    }


# Ranks

some_runs = st.lists(run_dicts, min_size=1, max_size=5)


def orders(runs: list[RunDict]) -> dict[str, list[list[str]]]:
    """Return the documents of each list in trec_eval's order, by topic."""
    lists: dict[str, list[list[str]]] = {}
    for run in runs:
        for topic, docs in run.items():
            ordered = sorted(((np.float32(s), d) for d, s in docs.items()), reverse=True)
            lists.setdefault(topic, []).append([doc for _, doc in ordered])
    return lists


@given(some_runs)
def test_reciprocal_ranks_are_added(runs: list[RunDict]) -> None:
    merged = merge(runs, combine="rrf")
    for topic, lists in orders(runs).items():
        assert merged[topic] == pytest.approx(
            {
                doc: sum(1 / (60 + docs.index(doc) + 1) for docs in lists if doc in docs)
                for docs in lists
                for doc in docs
            },
            rel=1e-12,
        )


@given(some_runs)
def test_every_list_gives_the_same_borda_points(runs: list[RunDict]) -> None:
    merged = merge(runs, combine="borda")
    for topic, lists in orders(runs).items():
        everything = {doc for docs in lists for doc in docs}
        n = len(everything)
        points = dict.fromkeys(everything, 0.0)
        for docs in lists:
            left = sum(range(1, n + 1)) - sum(n - i for i in range(len(docs)))
            for doc in everything:
                points[doc] += n - docs.index(doc) if doc in docs else left / (n - len(docs))
        assert merged[topic] == pytest.approx(points, rel=1e-12)


def preferred(lists: list[list[str]], a: str, b: str) -> int:
    """Count the lists with ``a`` before ``b``, minus the lists with ``b`` before ``a``."""
    places = [[docs.index(d) if d in docs else len(docs) for d in (a, b)] for docs in lists]
    return sum(x < y for x, y in places) - sum(x > y for x, y in places)


@given(some_runs)
def test_condorcet_keeps_to_majorities_and_leaves_cycles_whole(runs: list[RunDict]) -> None:
    merged, borda = merge(runs, combine="condorcet"), merge(runs, combine="borda")
    for topic, lists in orders(runs).items():
        order = list(merged[topic])
        assert list(merged[topic].values()) == list(range(len(order), 0, -1))
        beats = {
            (a, b)
            for a, b in permutations(order, 2)
            if (preferred(lists, a, b), borda[topic][a], a) > (0, borda[topic][b], b)
        }
        assert all((b, a) not in beats for a, b in beats)
        assert all(pair in beats for pair in pairwise(order))
        reached = set(beats)
        for middle in order:
            before, after = ({p[i] for p in reached if p[1 - i] == middle} for i in (0, 1))
            reached |= {*product(before, after)}
        for a, b in combinations(order, 2):
            assert (b, a) not in reached or (a, b) in reached


@pytest.mark.parametrize("combine", BY_RANK)
def test_the_order_of_the_runs_does_not_matter_to_ranks(combine: str) -> None:
    runs = [*collection()[1].values()]
    merged, other_way = (merge(each, combine=combine) for each in (runs, runs[::-1]))
    assert merged["t0"] == pytest.approx(other_way["t0"], rel=1e-12)


# The kinds of run


def test_a_dict_gives_a_dict_and_is_left_as_it_is() -> None:
    run = {"q": dict(LIST)}
    assert normalize(run, "minmax") == {"q": {"d1": 1.0, "d2": 6 / 9, "d3": 5 / 9, "d4": 0.0}}
    assert run == {"q": LIST}


def test_a_normalized_dataframe_keeps_columns_index_and_order_of_rows() -> None:
    rows = [("1", 1, "b", 3.0, "x"), ("2", 1, "a", 8.0, "y"), ("1", 0, "a", 5.0, "z")]
    columns = ["query_id", "rank", "doc_id", "score", "text"]
    given_frame = pd.DataFrame(rows, columns=columns, index=[7, 7, 9])
    before = given_frame.copy()
    after = normalize(given_frame, "minmax")
    pd.testing.assert_frame_equal(after, before.assign(score=[0.0, 0.0, 1.0]))
    pd.testing.assert_frame_equal(given_frame, before)


def test_merged_dataframes_give_a_dataframe() -> None:
    merged = merge([frame({"q": LIST}), frame({"q": {"e": 2.0, "f": 1.0}})], "minmax", depth=2)
    pd.testing.assert_frame_equal(merged, frame({"q": {"e": 1.0, "d1": 1.0}}))


def test_dataframes_keep_the_column_names_of_pyterrier() -> None:
    given_frame = frame({"1": LIST}).set_axis(["qid", "docno", "score"], axis=1)
    as_numbers = given_frame.astype({"qid": int})
    expected = given_frame.assign(score=[1.0, 6 / 9, 5 / 9, 0.0])
    pd.testing.assert_frame_equal(merge([given_frame], "minmax"), expected)
    pd.testing.assert_frame_equal(normalize(given_frame, "minmax"), expected)
    assert normalize(as_numbers, "minmax")["score"].tolist() == expected["score"].tolist()


def test_named_tuples_and_generators_give_lists_and_files_give_dicts(tmp_path: Path) -> None:
    rows = [ScoredDoc("q", "a", 4.0), ScoredDoc("q", "b", 2.0)]
    as_rows = [ScoredDoc("q", "a", 1.0), ScoredDoc("q", "b", 0.5)]
    assert normalize(rows, "max") == normalize(iter(rows), "max") == as_rows
    assert merge([iter(rows), rows], "max", combine="max") == as_rows
    file = tmp_path / "a.run"
    file.write_text("q Q0 a 1 4 t\nq Q0 b 2 2 t\n")
    as_dict = {"q": {"a": 1.0, "b": 0.5}}
    assert normalize(file, "max") == normalize(str(file), "max") == as_dict
    assert merge([file, str(file)], "max", combine="max") == as_dict


def test_the_first_run_decides_the_kind() -> None:
    in_memory = merge([as_run({"q": LIST}), {"q": LIST}], "minmax")
    assert isinstance(in_memory, Run)
    assert in_memory.lists["q"][0] == ["d1", "d2", "d3", "d4"]
    assert isinstance(merge([frame({"q": LIST}), {"q": LIST}], "uv"), pd.DataFrame)
    assert isinstance(merge([{"q": LIST}, frame({"q": LIST})], "uv"), dict)


@given(run_dicts, methods)
def test_every_kind_gives_the_same_scores(run: RunDict, method: str) -> None:
    expected = normalize(run, method)
    rows = [ScoredDoc(t, d, s) for t, docs in run.items() for d, s in docs.items()]
    scored = [ScoredDoc(t, d, s) for t, docs in expected.items() for d, s in docs.items()]
    assert normalize(rows, method) == scored
    assert normalize(frame(run), method)["score"].tolist() == [r.score for r in scored]


# Implementations by others, and real runs

RANX = """
import json, sys
from ranx import Run, fusion, normalization as n
given, alike = json.load(sys.stdin)
runs = [Run(r) for r in given]
plain = lambda run: {q: {d: float(s) for d, s in docs.items()} for q, docs in run.run.items()}
methods = {"minmax": n.min_max_norm, "max": n.max_norm, "sum": n.sum_norm, "zscore": n.zmuv_norm}
combined = {"sum": fusion.comb_sum, "max": fusion.comb_max, "mnz": fusion.comb_mnz}
scores = {m: [[plain(f(r)) for r in runs],
              {c: plain(g([f(r) for r in runs])) for c, g in combined.items()}]
          for m, f in methods.items()}
ranks = {"rrf": plain(fusion.rrf(runs)), "borda": plain(fusion.bordafuse(runs)),
         "condorcet": plain(fusion.condorcet([Run(r) for r in alike]))}
json.dump([scores, ranks], sys.stdout)
"""


@pytest.mark.slow
def test_normalized_and_combined_scores_equal_those_of_ranx() -> None:
    if not importlib.util.find_spec("ranx"):
        pytest.skip("ranx is not installed")
    draw = np.random.default_rng(20120812)
    runs = [
        {
            f"q{q}": {f"d{d}": float(draw.gamma(2.0, 3.0)) for d in draw.permutation(60)[:n]}
            for q, n in enumerate([1, 2, 40])
        }
        for _ in range(3)
    ]
    # If majorities tie or form a circle, ranx's condorcet depends on chance. It also counts a list
    # without either document as a vote. So here, all three lists have the same documents, and at
    # most one list reverses the order of any two documents.
    alike = [
        {
            "q": {
                f"d{d}": -float(i)
                for i, d in enumerate([d ^ 1 if d // 2 % 3 == turned else d for d in range(40)])
            }
        }
        for turned in range(3)
    ]
    # If ranx compiles its functions, the first result takes a minute.
    done = run_process(
        [sys.executable, "-W", "ignore", "-c", RANX],
        input=json.dumps([runs, alike]),
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=True,
    )
    scores, ranks = json.loads(done.stdout)
    for combine, expected in ranks.items():
        assert_same(merge(alike if combine == "condorcet" else runs, combine=combine), expected)
    for method, (each, together) in scores.items():
        for run, expected in zip(runs, each, strict=True):
            assert_same(normalize(run, method), expected)
        for combine, expected in together.items():
            assert_same(merge(runs, method, combine=combine), expected)


def assert_same(computed: RunDict, expected: RunDict) -> None:
    assert computed.keys() == expected.keys()
    for topic, docs in expected.items():
        assert computed[topic] == pytest.approx(docs, rel=1e-9, abs=1e-9)


def test_real_shards_of_one_run_merge_to_what_it_was(data: Path, runs_of: Any) -> None:
    # Shards that share the documents at either end have the same lowest and highest score.
    whole = read_run(runs_of("dl19-passage") / "bm25base_p")
    shards: list[RunDict] = [{}, {}, {}]
    for topic, (docs, scores) in whole.lists.items():
        ends = {int(scores.argmin()), int(scores.argmax())}
        for i, shard in enumerate(shards):
            shard[topic] = {doc: scores[k] for k, doc in enumerate(docs) if k % 3 == i or k in ends}
    merged = merge(shards, "minmax", combine="first")
    qrels = data / "qrels" / "dl19-passage.txt"
    for measure in (AP(rel=2), nDCG @ 10):
        assert ir_std.calc_aggregate([measure], qrels, merged)[measure] == pytest.approx(
            ir_std.calc_aggregate([measure], qrels, whole)[measure], abs=1e-12
        )
