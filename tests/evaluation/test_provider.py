"""Raw and standardized scores in one pass, through ir_measures and without it."""

import copy
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from import_published import published
from ir_measures import AP, RBP, RR, NumRet, P, Qrel, Rprec, ScoredDoc, SetF, nDCG
from made_up import write_qrels
from processes import run_process

import ir_std
from ir_std import (
    FactorSet,
    NoFactorsError,
    StandardizationWarning,
    UsageError,
    sAP,
    sBpref,
    snDCG,
    sP,
    sSP,
)
from ir_std.errors import InputError
from ir_std.factors.judgments import judgments_of
from ir_std.measures.records import by_class
from ir_std.trec.inputs import as_qrels
from ir_std.trec.ranking import Ranker

TOPICS = {"t1": 2, "t2": 1, "t3": 3}
QRELS = {"t1": {"a": 1, "b": 1, "c": 0}, "t2": {"a": 1}, "t3": {"a": 1, "b": 1, "z": 1, "y": -1}}
RUN = {"t1": {"a": 3.0, "x": 2.0, "b": 1.0}, "t2": {"x": 2.0, "a": 1.0}, "other": {"a": 1.0}}
MEANS = np.array([0.5, 0.25, 0.5])
SDS = np.array([0.25, 0.125, 0.2])


def factor_set(**changes: Any) -> FactorSet:
    """Make factors for AP and binary nDCG on the three topics."""
    measures = {"AP": {"systems": 10}, "nDCG(rel=1)": {"systems": 10}}
    info: dict[str, Any] = {"id": "tiny", "title": "Tiny", "depth": 3, "measures": measures}
    info |= changes
    mean, sd = {"nDCG(rel=1)": MEANS}, {"nDCG(rel=1)": SDS}
    spread = np.linspace(-1, 1, info["measures"]["AP"]["systems"])
    scores = {"AP": MEANS[:, None] + np.outer(SDS, spread / spread.std(ddof=1))}
    return FactorSet(info, judgments_of(as_qrels(QRELS)), mean, sd, scores)


@pytest.fixture(autouse=True)
def tiny_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Save the tiny set in a place where the tests recognize it."""
    factor_set().save(tmp_path / "tiny.npz")
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path))


RAW = np.array([(1 + 2 / 3) / 2, 0.5, 0.0])
N = ir_std.schemes.normal_cdf((RAW - MEANS) / SDS)


def test_plain_ir_measures_calls_know_the_standardized_family() -> None:
    scores = ir_measures.calc_aggregate([AP, sAP], QRELS, RUN)
    assert scores == pytest.approx({AP: RAW.mean(), sAP: N.mean()})


def test_the_drop_in_adds_companions_behind_their_measures() -> None:
    scores = ir_std.calc_aggregate([AP, P @ 10, nDCG], QRELS, RUN)
    assert list(map(str, scores)) == ["AP", "sAP", "P@10", "nDCG", "snDCG"]
    assert scores[sAP] == pytest.approx(N.mean())


def test_a_level_that_no_document_has_is_reported() -> None:
    for highest in (1, 2):
        qrels, run = {"unknown": {"a": highest, "b": 1}}, {"unknown": {"a": 1.0}}
        measures = [AP, AP(rel=highest), AP(rel=highest + 1)]
        scores = ir_std.calc_aggregate(measures, qrels, run)
        assert scores[AP(rel=highest + 1)] == 0
        assert [note for note in scores.notes if "no document is relevant" in note] == [
            f"no document is relevant for AP(rel={highest + 1}), because the highest level in "
            f"these qrels is {highest}"
        ]


def test_the_drop_in_names_what_has_no_factors() -> None:
    scores = ir_std.calc_aggregate([AP, P @ 10], QRELS, RUN)
    assert scores.notes[0] == "tiny has no factors for P@10 (scheme N); it has AP, nDCG(rel=1)"
    near = ir_std.calc_aggregate([nDCG @ 7], QRELS, RUN).notes[0]
    assert near == "tiny has no factors for nDCG@7 (scheme N); it has nDCG(rel=1)"
    assert scores.match
    assert scores.match.factors
    assert scores.match.factors.id == "tiny"


def test_several_schemes_at_once() -> None:
    scores = ir_std.calc_aggregate([AP], QRELS, RUN, schemes=["z", "E", "U"])
    assert list(map(str, scores)) == ["AP", "sAP(scheme='z')", "sAP(scheme='E')", "sAP(scheme='U')"]
    assert scores[sAP(scheme="z")] == pytest.approx(((RAW - MEANS) / SDS).mean())


def test_factors_are_named_by_id_path_or_set(tmp_path: Path) -> None:
    for named in ("tiny", str(tmp_path / "tiny.npz"), factor_set()):
        scores = ir_std.calc_aggregate([AP], QRELS, RUN, factors=named)
        assert scores[sAP] == pytest.approx(N.mean())
        assert scores.match
        assert scores.match.chosen_by == "name"


def test_a_topic_absent_from_the_run_gets_the_standardized_value_of_zero() -> None:
    values = {m.query_id: m.value for m in ir_measures.iter_calc([sAP], QRELS, RUN)}
    assert values["t3"] == pytest.approx(N[2])
    assert values.keys() == set(QRELS)


@pytest.mark.parametrize("measure", ["infAP", "SetR", "AP(judged_only=True)", "IPrec@0.1"])
def test_judgments_that_end_pytrec_evals_process_are_refused(measure: str) -> None:
    qrels = QRELS | {"low": {"a": -2, "b": -3}}
    with pytest.raises(InputError, match="topic low has only negative judgments, which pytrec_eva"):
        ir_std.calc_aggregate(measure, qrels, RUN)
    kept = ir_std.calc_aggregate([measure], QRELS | {"low": {"a": -1, "b": -3}}, RUN)
    whole = ir_std.calc_aggregate([measure], QRELS, RUN)
    assert kept[measure] == pytest.approx(whole[measure] * 3 / 4)


@pytest.mark.filterwarnings("ignore:tiny has no factors")
def test_measures_that_are_computed_here_take_a_topic_with_negative_judgments_for_0() -> None:
    scores = ir_std.calc_aggregate(AP, QRELS | {"low": {"a": -2}}, RUN)
    assert scores[AP] == pytest.approx(RAW.sum() / 4)


def test_an_empty_run_scores_zero_everywhere() -> None:
    scores = ir_measures.calc_aggregate([AP, sAP], QRELS, [])
    assert scores[AP] == 0
    assert scores[sAP] == pytest.approx(ir_std.schemes.normal_cdf(-MEANS / SDS).mean())


def test_a_topic_without_factors_is_left_out_of_the_mean_and_named_once() -> None:
    qrels, text = QRELS | {"new": {"a": 1}}, r"tiny has no factors for 1 topic \(new\)"
    with pytest.warns(StandardizationWarning, match=text) as caught:
        scores = ir_std.calc_aggregate([AP, nDCG], qrels, RUN | {"new": {"a": 1.0}})
    assert len([w for w in caught if "has no factors" in str(w.message)]) == 1
    assert scores[AP] == pytest.approx((RAW.sum() + 1) / 4)
    assert scores[sAP] == pytest.approx(N.mean())


@pytest.mark.parametrize(
    ("measure", "options", "says"),
    [
        (
            sP @ 10,
            {},
            r"sP@10: tiny has no factors for P@10 \(scheme N\); it has AP, nDCG\(rel=1\)",
        ),
        (sBpref, {}, "it has AP"),
        (snDCG(scheme="E"), {}, "no scores for nDCG"),
        (AP, {"factors": "trec8-adhoc"}, "trec8-adhoc holds none of the topics"),
        (AP, {"schemes": "Q"}, "unknown scheme 'Q'"),
    ],
)
def test_what_cannot_be_standardized_is_an_error(
    measure: Any, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(UsageError if "schemes" in options else NoFactorsError, match=says):
        ir_std.calc_aggregate([measure], QRELS, RUN, **options)


def test_qrels_of_no_collection_are_an_error_only_for_standardized_names() -> None:
    qrels = {"unknown": {"a": 1}}
    assert ir_std.calc_aggregate([AP], qrels, {"unknown": {"a": 1.0}}) == {AP: 1}
    with pytest.raises(NoFactorsError, match="no factor set"):
        ir_measures.calc_aggregate([sAP], qrels, {"unknown": {"a": 1.0}})


def test_sp_is_served_by_the_factors_of_ap() -> None:
    assert sSP.calc_aggregate(QRELS, RUN) == pytest.approx(sAP.calc_aggregate(QRELS, RUN))


def test_graded_ndcg_uses_binary_factors_only_where_qrels_are_binary() -> None:
    assert snDCG.calc_aggregate(QRELS, RUN) == pytest.approx(
        snDCG(rel=1).calc_aggregate(QRELS, RUN)
    )
    graded = QRELS | {"t1": {"a": 2, "b": 1}}
    with pytest.raises(NoFactorsError, match=r"no factors for nDCG \(scheme N\); it has"):
        snDCG.calc_aggregate(graded, RUN)


def test_a_run_deeper_than_the_systems_behind_the_factors_is_warned_about_once() -> None:
    deep = {"t1": {"a": 1.0} | {f"d{i}": float(-i) for i in range(1499)}}
    text = "topics have up to 1,500 documents.*at depth 1000"
    with pytest.warns(StandardizationWarning, match=text) as caught:
        ir_std.calc_aggregate([AP, nDCG], QRELS, deep, factors=factor_set(depth=1000))
    assert len([w for w in caught if "1,500" in str(w.message)]) == 1


def test_each_measures_depth_is_warned_about_and_topics_without_qrels_do_not_count() -> None:
    measures = {"AP": {"systems": 2, "depth": 1}, "nDCG(rel=1)": {"systems": 2, "depth": 2}}
    factors = factor_set(measures=measures)
    deep = {"t1": {"a": 3.0, "b": 2.0, "c": 1.0}, "other": {f"d{i}": float(i) for i in range(9)}}
    with pytest.warns(StandardizationWarning, match="documents, but tiny") as caught:
        ir_std.calc_aggregate([nDCG, AP], QRELS, deep, factors=factors)
    assert [str(w.message)[5:] for w in caught if "tiny was" in str(w.message)] == [
        f"topics have up to 3 documents, but tiny was computed at depth {depth}; pass -M {depth} "
        f"for a fair comparison ({measure})"
        for depth, measure in ((2, "snDCG"), (1, "sAP"))
    ]


def flat(**moments: Any) -> FactorSet:
    """Make factors of AP for which all systems have the same score on two or three topics."""
    return FactorSet({"id": "flat", "measures": {"AP": {"systems": 2}}}, TOPICS, **moments)


def test_a_run_that_fails_where_all_systems_scored_the_same_falls() -> None:
    factors = flat(mean={"AP": [1.0, 0.25, 0.0]}, sd={"AP": [0.0, 0.125, 0.0]})
    scores = ir_std.calc_aggregate([AP], QRELS, RUN, factors=factors, schemes=["N", "z"])
    # On t1, the run is below all systems; on t3, it has a score of 0 like all systems (average).
    assert scores[sAP] == pytest.approx((0 + N[1] + 0.5) / 3)
    assert scores[sAP(scheme="z")] == pytest.approx((RAW[1] - 0.25) / 0.125)
    assert "all systems of flat have the same score on some topics (AP: 2)" in scores.notes[0]


@pytest.mark.parametrize(("scheme", "counted"), [("E", False), ("U", True)])
def test_topics_without_spread_are_noted_where_the_scheme_looks_at_it(
    scheme: str, counted: bool
) -> None:
    factors = flat(scores={"AP": [[1.0, 1.0], [0.25, 0.25], [0.0, 0.0]]})
    scores = ir_std.calc_aggregate([AP], QRELS, RUN, factors=factors, schemes=[scheme])
    assert any("have the same score" in note for note in scores.notes) is counted


def test_cutoff_measures_do_not_mind_depth() -> None:
    factors = FactorSet(
        {"id": "cut", "depth": 1000, "measures": {"P@10": {"systems": 2}}},
        dict.fromkeys(TOPICS),
        {"P@10": MEANS},
        {"P@10": SDS},
    )
    for depth in (10, 1500):
        run = {"t1": {f"d{i}": float(-i) for i in range(depth)}}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert sP @ 10 in ir_std.calc_aggregate([P @ 10], QRELS, run, factors=factors)
        assert [str(w.message) for w in caught if " deep" in str(w.message)] == []


def test_a_part_that_several_sets_match_is_warned_about(tmp_path: Path) -> None:
    larger = judgments_of(as_qrels(QRELS | {"t4": {"a": 1}, "t5": {"a": 1}}))
    FactorSet(
        {"id": "wide", "measures": {"AP": {"systems": 2}}},
        larger,
        {"AP": [0.5] * 5},
        {"AP": [0.1] * 5},
    ).save(tmp_path / "wide.npz")
    with pytest.warns(StandardizationWarning, match="belong to tiny .used here. and to wide"):
        ir_measures.calc_aggregate([sAP], {"t1": QRELS["t1"]}, RUN)


def namedtuples() -> tuple[Iterator[Qrel], Iterator[ScoredDoc]]:
    return (
        (Qrel(t, d, r) for t, docs in QRELS.items() for d, r in docs.items()),
        (ScoredDoc(t, d, s) for t, docs in RUN.items() for d, s in docs.items()),
    )


def files(folder: Path) -> tuple[Path, Path]:
    qrels, run = folder / "q.txt", folder / "r.txt"
    write_qrels(QRELS, qrels)
    run.write_text("".join(f"{t} Q0 {d} 1 {s} t\n" for t, ds in RUN.items() for d, s in ds.items()))
    return qrels, run


@pytest.mark.parametrize("form", ["dict", "generator", "list", "DataFrame", "Path", "str"])
def test_all_forms_of_input_give_the_same_and_are_not_modified(form: str, tmp_path: Path) -> None:
    inputs: Any = {
        "dict": (QRELS, RUN),
        "generator": namedtuples(),
        "list": tuple(map(list, namedtuples())),
        "DataFrame": tuple(pd.DataFrame(list(rows)) for rows in namedtuples()),
        "Path": files(tmp_path),
        "str": tuple(map(str, files(tmp_path))),
    }[form]
    before = copy.deepcopy(inputs) if form != "generator" else None
    scores = ir_std.calc_aggregate([AP, SetF, NumRet], *inputs)
    set_f = ir_measures.calc_aggregate([SetF], QRELS, RUN)[SetF]
    assert scores == pytest.approx({AP: RAW.mean(), sAP: N.mean(), NumRet: 5.0, SetF: set_f})
    for one, same in zip(inputs, before or (), strict=bool(before)):
        assert one.equals(same) if form == "DataFrame" else one == same


@pytest.mark.parametrize(
    ("qrels", "run", "says"),
    [
        ({1: {"a": 1}}, RUN, "topic id is 1 (int)"),
        ({"t1": {7: 1}}, RUN, "document id is 7 (int)"),
        (QRELS, {"t1": {"a": 1.0}, "not judged": {7: 1.0}}, "document id of topic not judged is 7"),
        (QRELS, pd.DataFrame({"qid": ["t1"]}), "columns qid; expected the columns of scores"),
        (QRELS, 7, "cannot use int"),
        (QRELS, [("t1", "a", 1.0)], "cannot use tuple"),
    ],
)
def test_unusable_inputs_are_reported_with_the_reason(qrels: Any, run: Any, says: str) -> None:
    with pytest.raises(InputError) as caught:
        ir_std.calc_aggregate([AP], qrels, run)
    assert says in str(caught.value)


def test_calc_gives_means_and_values_per_topic() -> None:
    result = ir_std.calc([AP], QRELS, RUN)
    assert result.aggregated == pytest.approx({AP: RAW.mean(), sAP: N.mean()})
    assert [m.query_id for m in result.per_query] == ["t1", "t1", "t2", "t2", "t3", "t3"]


def test_an_evaluator_scores_many_runs() -> None:
    evaluator = ir_std.evaluator([AP], QRELS)
    assert evaluator.calc_aggregate(RUN) == evaluator.calc_aggregate(dict(RUN))
    assert evaluator.calc_aggregate({})[AP] == 0


def test_methods_of_measures_work(tmp_path: Path) -> None:
    assert AP.calc_aggregate(QRELS, RUN) == pytest.approx(RAW.mean())
    assert sAP.evaluator(QRELS).calc_aggregate(RUN)[sAP] == pytest.approx(N.mean())
    assert sAP.calc(QRELS, RUN).aggregated == pytest.approx(N.mean())
    named = sAP(factors=str(tmp_path / "tiny.npz"))
    for measure, inputs in ((named, (QRELS, RUN)), (sAP, tuple(map(str, files(tmp_path))))):
        assert measure.calc_aggregate(*inputs) == pytest.approx(N.mean())
        assert len(list(measure.iter_calc(*inputs))) == 3


def graded(max_level: int) -> FactorSet:
    """Make factors of graded and binary measures, from judgments with these levels."""
    measures = {m: {"systems": 2} for m in ("nDCG", "nDCG(rel=1)", "nDCG@10", "RBP(p=0.8)")}
    return FactorSet(
        {"id": "graded", "max_level": max_level, "measures": measures},
        TOPICS,
        {m: MEANS + i / 10 for i, m in enumerate(measures)},
        dict.fromkeys(measures, SDS),
    )


def test_binary_qrels_of_a_graded_collection_use_binary_factors() -> None:
    scores = ir_std.calc_aggregate([nDCG, nDCG @ 10], QRELS, RUN, factors=graded(3))
    binary = ir_std.calc_aggregate([ir_std.nDCG(rel=1)], QRELS, RUN, factors=graded(3))
    assert scores[snDCG] == pytest.approx(binary[snDCG(rel=1)])
    assert snDCG @ 10 not in scores
    assert "nDCG@10" in scores.notes[0]


def test_raw_rbp_takes_the_highest_level_of_whole_qrels_whatever_the_set_says() -> None:
    scores = ir_std.calc_aggregate([RBP, RBP(rel=1)], QRELS, RUN, factors=graded(3))
    assert scores[RBP] == pytest.approx(scores[RBP(rel=1)])


def test_graded_qrels_do_not_use_graded_factors_from_binary_judgments() -> None:
    qrels = QRELS | {"t1": {"a": 2, "b": 1, "c": 0}}
    with pytest.warns(ir_std.StandardizationWarning, match="at level 2 on 1 of 3 topics"):
        scores = ir_std.calc_aggregate([nDCG, ir_std.nDCG(rel=1)], qrels, RUN, factors=graded(1))
    assert snDCG not in scores
    assert snDCG(rel=1) in scores


def test_a_part_of_graded_qrels_stays_graded() -> None:
    part = {"t1": QRELS["t1"], "t2": QRELS["t2"]}
    whole = QRELS | {"t3": {"a": 3, "b": 1, "z": 1, "y": -1}}
    measures = [nDCG, RBP]
    expected = {
        (m.query_id, m.measure): m.value
        for m in ir_std.iter_calc(measures, whole, RUN, factors=graded(3))
    }
    for metric in ir_std.iter_calc(measures, part, RUN, factors=graded(3)):
        assert metric.value == pytest.approx(expected[metric.query_id, metric.measure])


def test_every_set_that_is_used_is_known(tmp_path: Path) -> None:
    other = factor_set(id="other")
    path = str(tmp_path / "elsewhere" / "other.npz")
    other.save(path)
    evaluator = ir_std.StdEvaluator([sAP, sAP(factors=path)], QRELS)
    assert [m.factors and m.factors.id for m in evaluator.matches] == ["tiny", "other"]


def test_a_run_is_ranked_once_and_each_raw_measure_computed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ranked, computed = [], []
    rank, formula = Ranker.rank, by_class[type(AP)].formula
    assert formula

    def counted_rank(*args: Any) -> Any:
        ranked.append(args)
        return rank(*args)

    def counted_formula(*args: Any, **params: Any) -> Any:
        computed.append(params)
        return formula(*args, **params)

    monkeypatch.setattr(Ranker, "rank", counted_rank)
    own = by_class[type(AP)]._replace(formula=counted_formula)
    monkeypatch.setitem(by_class, type(AP), own)
    ir_std.calc_aggregate([AP, P @ 10, nDCG, RR, Rprec, sAP, sAP(scheme="U")], QRELS, RUN)
    assert (len(ranked), computed) == (1, [{}])


def test_user_defined_measures_are_left_to_ir_measures() -> None:
    mine = ir_measures.define_byquery(lambda _qrels, _run: 0.25, name="AP")
    values = {m.query_id: m.value for m in ir_measures.iter_calc([mine], QRELS, RUN)}
    assert values["t1"] == 0.25


@pytest.mark.parametrize("beside", [[], [AP], [SetF], [AP, SetF]])
@pytest.mark.parametrize("run", [RUN, {}, {"t3": RUN["t1"]}], ids=["whole", "empty", "part"])
def test_means_of_other_providers_are_those_of_the_same_call_of_ir_measures(
    beside: list[Any], run: Any
) -> None:
    measures = [ir_measures.Accuracy, *beside]
    ours, theirs = ir_std.calc(measures, QRELS, run), ir_measures.calc(measures, QRELS, run)
    assert {m: ours[0][m] for m in measures} == pytest.approx(theirs[0], nan_ok=True)
    mine, expected = ({m for m in part[1] if m.measure == measures[0]} for part in (ours, theirs))
    assert mine == expected


def test_gains_and_judged_only_of_one_measure_do_not_reach_another() -> None:
    only = {"judged_only": True}
    measures = [nDCG(gains={1: 0, 2: 5}), nDCG(**only), AP(**only), NumRet, SetF(**only)]
    qrels = QRELS | {"t1": {"a": 2, "b": 1, "c": 0}}
    together = ir_std.calc_aggregate(measures, qrels, RUN)
    for measure in measures:
        assert together[measure] == ir_measures.calc_aggregate([measure], qrels, RUN)[measure]


def test_standardizing_a_measure_of_another_provider() -> None:
    about = {"id": "set", "measures": {"SetF": {"systems": 2}}}
    factors = FactorSet(about, TOPICS, {"SetF": MEANS}, {"SetF": SDS})
    scores = ir_std.calc_aggregate([SetF], QRELS, RUN, factors=factors)
    raw = [m.value for m in sorted(ir_measures.iter_calc([SetF], QRELS, RUN))]
    expected = ir_std.schemes.normal_cdf((np.array(raw) - MEANS) / SDS).mean()
    assert scores[ir_std.standardized(SetF)] == pytest.approx(expected)


def test_importing_ir_std_imports_neither_large_libraries_nor_the_analysis() -> None:
    others = "{'pandas', 'scipy', 'ir_datasets', 'ir_std.analysis'}"
    code = f"import ir_std, sys; print({others} & set(sys.modules))"
    assert run_process([sys.executable, "-c", code], check=True).stdout == "set()\n"


PUBLISHED = [
    ("Flab8atdn", "AP", 0.3240, 0.6028, 0.6930, 0.5904),
    ("Flab8atdn", "nDCG", 0.6208, 0.5907, 0.7022, 0.5886),
    ("READWARE2", "AP", 0.4692, 2.1036, 0.8549, 0.7747),
    ("READWARE2", "P@10", 0.7880, 1.6858, 0.8674, 0.7462),
    ("UT803", "Rprec", 0.2390, -0.2070, 0.4350, 0.4690),
    ("isa50", "RR", 0.2602, -1.0609, 0.2370, 0.3412),
]


@pytest.mark.parametrize(("tag", "name", "raw", "z", "n", "u"), PUBLISHED)
def test_real_trec_8_runs_have_the_known_values(
    tag: str, name: str, raw: float, z: float, n: float, u: float, data: Path, runs_of: Any
) -> None:
    """Check the values that the published factors give."""
    scores = ir_std.calc_aggregate(
        [ir_std.parse_measure(name)],
        data / "qrels" / "trec8-adhoc.txt",
        runs_of("trec8-adhoc") / tag,
        schemes="z,N,U",
        factors=published("trec8-adhoc", data),
    )
    assert [round(v, 4) for v in scores.values()] == [raw, z, n, u]
