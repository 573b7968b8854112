"""Tests of the raw measure and the factors that a standardized measure is computed with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from made_up import collection

import ir_std
from ir_std import FactorSet, NoFactorsError, nDCG, sAP, snDCG, sR
from ir_std.evaluation.factor_messages import factor_messages
from ir_std.evaluation.plans import make_plan, match_factors
from ir_std.trec.inputs import as_qrels


def two_topics(*measures: str, **info: Any) -> FactorSet:
    """Make factors of measures on two topics with one relevant document each."""
    return FactorSet(
        {"id": "mine", "measures": {m: {"systems": 2} for m in measures}, **info},
        {"t1": 1, "t2": 1},
        {m: [0.5, 0.5] for m in measures},
        {m: [0.25, 0.25] for m in measures},
    )


def test_a_cutoff_at_the_systems_depth_has_factors_and_one_beyond_has_none() -> None:
    factors, qrels = two_topics("R@100", "R@101", depth=100), as_qrels({"t1": {"a": 1}})
    match = match_factors(qrels, factors)
    assert make_plan(sR @ 100, match, qrels).name == "R@100"
    with pytest.raises(NoFactorsError, match="its systems were evaluated to depth 100"):
        make_plan(sR @ 101, match, qrels)


@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
def test_other_judgments_are_standardized_only_if_the_user_names_the_set() -> None:
    judged, runs = collection()
    factors = ir_std.build_factors(judged, runs, "AP", id="mine")
    others = as_qrels(
        {t: {d: 1 - min(n, 1) for d, n in docs.items()} for t, docs in judged.items()}
    )
    named = match_factors(others, factors)
    assert named.chosen_by == "name"
    assert make_plan(sAP, named, others).name == "AP"
    with pytest.raises(NoFactorsError, match="at level 1 or above differ from its systems"):
        make_plan(sAP, replace(named, chosen_by="qrels"), others)


def test_a_part_of_graded_judgments_that_has_one_level_stays_graded() -> None:
    part, whole = as_qrels({"t1": {"a": 1}}), as_qrels({"t1": {"a": 1}, "t2": {"a": 1}})
    graded, binary = two_topics("nDCG", max_level=2), two_topics("nDCG(rel=1)", max_level=2)
    assert make_plan(snDCG, match_factors(part, graded), part).raw == nDCG
    with pytest.raises(NoFactorsError, match=r"have one level.*judged with up to 2"):
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
    factors = FactorSet(
        {
            "id": "mine",
            "depth": 100,
            "measures": {m: {"systems": 2} for m in ("AP", "nDCG(rel=1)")},
        },
        {"t1": n_relevant, "t2": 1},
        {m: [0.5, 0.5] for m in ("AP", "nDCG(rel=1)")},
        {m: [0.25, 0.25] for m in ("AP", "nDCG(rel=1)")},
    )
    qrels = as_qrels({"t1": {f"d{i}": 1 for i in range(n_relevant)}, "t2": {"a": 1}})
    match = match_factors(qrels, factors)
    # The ideal ranking, too, ends at the cutoff; AP is divided by all that are relevant.
    assert make_plan(sAP @ 100, match, qrels).name == "AP"
    if is_served:
        assert make_plan(snDCG @ 100, match, qrels).name == "nDCG(rel=1)"
    else:
        with pytest.raises(NoFactorsError):
            make_plan(snDCG @ 100, match, qrels)


def test_a_means_uncertainty_by_rounding_is_the_larger_change() -> None:
    factors, qrels = two_topics("AP"), as_qrels({"t1": {"a": 1}, "t2": {"a": 1}})
    plan = make_plan(sAP(scheme="U"), match_factors(qrels, factors), qrels)
    # U is cut at 1 above, so that only lower scores change it: 0.15 * 0.05 / 0.25.
    highest = np.full(2, 0.5 + 0.25 * 0.5 / 0.15)
    assert plan.uncertainty(highest, 0.1) == pytest.approx(0.03)


def test_a_doubtful_match_is_warned_about() -> None:
    judged, runs = collection()
    factors = ir_std.build_factors(judged, runs, "AP", id="mine")
    others = as_qrels(
        {t: {d: 1 - min(n, 1) for d, n in docs.items()} for t, docs in judged.items()}
    )
    match = match_factors(others, factors)
    assert match.fit
    (differs,) = factor_messages([], [match])
    assert differs.warns
    assert "judgments differ from mine at levels 1 and 2 on 6 of 6 topics" in differs.text
