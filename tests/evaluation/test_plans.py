"""Factors that standardize a measure: plans, chosen systems, cutoffs and saturation."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ir_measures import AP
from made_up import collection

import ir_std
from ir_std import (
    FactorSet,
    InputError,
    NoFactorsError,
    UsageError,
    load_factors,
    nDCG,
    sAP,
    snDCG,
    sR,
)
from ir_std.evaluation.factor_messages import factor_messages
from ir_std.evaluation.plans import make_plan, match_factors
from ir_std.factors.derived import leave_out_systems
from ir_std.factors.quality import saturates
from ir_std.testing import simulated_qrels, simulated_run
from ir_std.trec.inputs import as_qrels


def two_topics(*measures: str, n_relevant: int = 1, **info: Any) -> FactorSet:
    """Make factors of measures on two topics, the second with one relevant document."""
    return FactorSet(
        {"id": "mine", "measures": {m: {"systems": 2} for m in measures}, **info},
        {"t1": n_relevant, "t2": 1},
        {m: [0.5, 0.5] for m in measures},
        {m: [0.25, 0.25] for m in measures},
    )


def test_a_cutoff_at_the_systems_depth_has_factors_and_one_beyond_has_none() -> None:
    factors, qrels = two_topics("R@100", "R@101", depth=100), as_qrels({"t1": {"a": 1}})
    match = match_factors(qrels, factors)
    assert make_plan(sR @ 100, match, qrels).name == "R@100"
    with pytest.raises(NoFactorsError, match="the set's systems were evaluated to depth 100"):
        make_plan(sR @ 101, match, qrels)


@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
def test_other_judgments_are_standardized_only_by_a_named_set_and_with_a_warning() -> None:
    judged, runs = collection()
    factors = ir_std.build_factors(judged, runs, "AP", id="mine")
    others = as_qrels(
        {t: {d: 1 - min(n, 1) for d, n in docs.items()} for t, docs in judged.items()}
    )
    named = match_factors(others, factors)
    assert named.chosen_by == "name"
    assert make_plan(sAP, named, others).name == "AP"
    with pytest.raises(NoFactorsError, match="at level 1 or above differ from the set's judgments"):
        make_plan(sAP, replace(named, chosen_by="qrels"), others)
    (differs,) = factor_messages([], [named])
    assert differs.is_warning
    assert "judgments differ from mine at levels 1 and 2 on 6 of 6 topics" in differs.text


def test_a_part_of_graded_judgments_that_has_one_level_stays_graded() -> None:
    part, whole = as_qrels({"t1": {"a": 1}}), as_qrels({"t1": {"a": 1}, "t2": {"a": 1}})
    graded, binary = two_topics("nDCG", max_level=2), two_topics("nDCG(rel=1)", max_level=2)
    assert make_plan(snDCG, match_factors(part, graded), part).raw == nDCG
    with pytest.raises(NoFactorsError, match=r"have one level.*judgments have levels up to 2"):
        make_plan(snDCG, match_factors(whole, graded), whole)
    with pytest.raises(NoFactorsError, match="mine has no factors for nDCG"):
        make_plan(snDCG, match_factors(part, binary), part)


def test_a_level_that_a_part_happens_to_lack_has_the_factors_of_the_whole() -> None:
    part, whole = as_qrels({"t1": {"a": 1}}), as_qrels({"t1": {"a": 1}, "t2": {"a": 1}})
    factors = two_topics("AP(rel=2)", max_level=2)
    assert make_plan(sAP(rel=2), match_factors(part, factors), part).name == "AP(rel=2)"
    with pytest.raises(NoFactorsError, match="is judged at level 2"):
        make_plan(sAP(rel=2), match_factors(whole, factors), whole)


@pytest.mark.parametrize(("n_relevant", "is_served"), [(100, True), (101, False)])
def test_ndcg_cut_at_the_systems_depth_is_theirs_unless_more_documents_are_relevant(
    n_relevant: int, is_served: bool
) -> None:
    factors = two_topics("AP", "nDCG(rel=1)", depth=100, n_relevant=n_relevant)
    qrels = as_qrels({"t1": {f"d{i}": 1 for i in range(n_relevant)}, "t2": {"a": 1}})
    match = match_factors(qrels, factors)
    # The ideal ranking also ends at the cutoff, but AP's divisor counts all relevant documents.
    assert make_plan(sAP @ 100, match, qrels).name == "AP"
    if is_served:
        assert make_plan(snDCG @ 100, match, qrels).name == "nDCG(rel=1)"
    else:
        with pytest.raises(NoFactorsError):
            make_plan(snDCG @ 100, match, qrels)


@pytest.fixture(scope="module")
def qrels() -> Any:
    judged = load_factors("dl19-passage").judgments
    return simulated_qrels({topic: known.levels for topic, known in judged.items()})


@pytest.mark.filterwarnings("ignore")
def test_modern_systems_and_sets_without_some_are_chosen(qrels: Any) -> None:
    own = ir_std.evaluator([nDCG @ 10], qrels)
    assert own.match
    assert own.match.factors
    assert own.match.factors.id == "dl19-passage"
    assert "dl19-passage-modern" in own.match.alternatives
    modern = ir_std.evaluator([nDCG @ 10], qrels, systems="modern")
    assert [p.factors.id for p in modern.plans] == ["dl19-passage-modern"]
    some = ir_std.evaluator([nDCG @ 10], qrels, without="UNH_exDL_bm25")
    expected = leave_out_systems(load_factors("dl19-passage"), ["UNH_exDL_bm25"])
    assert [p.factors.n_systems["nDCG@10"] for p in some.plans] == [36]
    assert np.array_equal(some.plans[0].factors.sd["nDCG@10"], expected.sd["nDCG@10"])


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"systems": "missing"}, "name a readable file of systems"),
        ({"systems": "list"}, "expected UTF-8 text"),
        ({"systems": "old"}, "dl19-passage has no 'old' system set; available: modern"),
        ({"without": "UNH_bm"}, r"no system 'UNH_bm'; available: .*; did you mean 'UNH_bm25'"),
    ],
)
def test_systems_that_cannot_be_chosen_are_refused(
    chosen: dict[str, Any], message: str, tmp_path: Path, qrels: Any
) -> None:
    (tmp_path / "list").write_bytes(b"a\xff\n")
    if chosen.get("systems") in ("missing", "list"):
        chosen = {"systems": tmp_path / chosen["systems"]}
    with pytest.raises((InputError, NoFactorsError, UsageError), match=message):
        ir_std.evaluator(AP, qrels, **chosen)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["AP", "nDCG", "SP", "DCG"])
def test_a_measure_cut_where_the_systems_end_is_served_by_the_whole_one(
    name: str, qrels: Any
) -> None:
    whole, cut, short = (ir_std.parse_measure(f"s{name}{end}") for end in ("", "@1000", "@500"))
    scores = ir_std.calc_aggregate([cut, whole], qrels, simulated_run(qrels, 1, 50))
    assert scores[cut] == pytest.approx(scores[whole])
    with pytest.raises(NoFactorsError, match=f"s{name}@500"):
        ir_std.evaluator([short], qrels)


@pytest.mark.parametrize(
    ("values", "scheme", "expected"),
    [
        ([0.995] * 5 + [0.5] * 45, "N", True),
        ([0.995] * 4 + [0.5] * 46, "N", False),
        ([0.005] * 5 + [0.5] * 45, "N", True),
        ([0.99] * 50, "N", False),
        ([1.0] * 17 + [0.5] * 33, "E", True),
        ([1.0] * 16 + [0.5] * 34, "E", False),
        ([5.0] * 50, "z", False),
        ([1.0] * 50, "U", False),
        ([np.nan] * 50, "N", False),
        ([np.nan] * 40 + [0.995] + [0.5] * 9, "N", True),
        ([], "N", False),
    ],
)
def test_a_run_saturates_a_set_at_stated_shares(values: Any, scheme: str, expected: bool) -> None:
    assert saturates(values, scheme) is expected


@pytest.mark.filterwarnings("ignore")
def test_a_run_that_saturates_a_set_gets_a_note_that_names_alternatives(qrels: Any) -> None:
    perfect = {
        topic: {doc: float(level) for doc, level in docs.items()}
        | {f"x{i}": -1.0 - i for i in range(100)}
        for topic, docs in qrels.items()
    }
    results = ir_std.evaluate({"best": perfect}, qrels, ["nDCG@100"])
    assert [text for text in results.notes if "near 0 or 1" in text] == [
        "best: scores are near 0 or 1 on many topics (snDCG@100), where very good runs look "
        "alike, as do very weak runs; use scheme z or --factors dl19-passage-modern"
    ]
