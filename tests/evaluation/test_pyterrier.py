"""Inside PyTerrier experiments, with the real package and without Java."""

import copy
import pickle
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import ir_measures
import pandas as pd
import pytest
from ir_measures import AP, P

import ir_std
from ir_std import FactorSet, StandardizationWarning, sAP, sP
from ir_std.errors import UsageError
from ir_std.factors.judgments import judgments_of
from ir_std.trec.inputs import as_qrels

pt = pytest.importorskip("pyterrier", reason="python-terrier is not installed")
std = pytest.importorskip("ir_std.pyterrier")  # pt.std, if ir_std is installed

TOPICS = pd.DataFrame({"qid": [f"t{i}" for i in range(6)], "query": ["q"] * 6})
QRELS = pd.DataFrame(
    [(f"t{i}", f"d{j}", int(j <= i % 3)) for i in range(6) for j in range(5)],
    columns=["qid", "docno", "label"],
)
RESULTS = pd.DataFrame(
    [(f"t{i}", f"d{j}", float((i * j) % 5), "q") for i in range(5) for j in range(6)],
    columns=["qid", "docno", "score", "query"],
)
RESULTS["rank"] = RESULTS.groupby("qid")["score"].rank(ascending=False, method="first")
OTHER = RESULTS.assign(score=-RESULTS["score"])
MEASURES = [AP, sAP, sP @ 2, sAP(scheme="U"), P @ 2]


def save_factors(name: str, folder: Path) -> None:
    """Save factors for the six topics."""
    measures = {"AP": {"systems": 9}, "P@2": {"systems": 9}}
    FactorSet(
        {"id": name, "depth": 6, "measures": measures},
        judgments_of(as_qrels(in_their_columns(QRELS))),
        dict.fromkeys(measures, (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)),
        dict.fromkeys(measures, (0.1,) * 6),
    ).save(folder / f"{name}.npz")


@pytest.fixture(autouse=True)
def tiny_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Save a set of the six topics where ir_std finds it."""
    save_factors("tiny", tmp_path)
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path))


def experiment(systems: list[Any], **options: Any) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=FutureWarning)
        return pt.Experiment(
            systems, TOPICS, QRELS, MEASURES, names=["a", "b"][: len(systems)], **options
        )


def in_their_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Rename PyTerrier's columns to the names of ir_measures."""
    return table.rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"})


def expected(results: pd.DataFrame) -> dict[str, float]:
    scores = ir_std.calc_aggregate(MEASURES, in_their_columns(QRELS), in_their_columns(results))
    return {str(m): v for m, v in scores.items() if m in MEASURES}


@pytest.mark.parametrize("as_transformer", [False, True])
def test_means_are_those_of_the_library(as_transformer: bool) -> None:
    system = pt.Transformer.from_df(RESULTS) if as_transformer else RESULTS
    row = experiment([system]).iloc[0]
    assert {name: row[name] for name in map(str, MEASURES)} == pytest.approx(expected(RESULTS))


def test_values_per_topic_include_topics_without_results() -> None:
    table = experiment([RESULTS], perquery=True)
    mine = table[table["measure"] == "sAP"].set_index("qid")["value"]
    assert set(mine.index) == set(TOPICS["qid"])
    assert mine["t5"] == pytest.approx(ir_std.schemes.normal_cdf(-7.0))


@pytest.mark.filterwarnings("ignore:no factor set:ir_std.StandardizationWarning")
def test_batches_of_unrecognized_qrels_keep_the_highest_level_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("IR_STD_FACTORS")
    qrels = QRELS.copy()
    qrels.loc[qrels["qid"] == "t1", "label"] *= 3
    system = pt.Transformer.from_df(RESULTS)
    whole, batches = (
        pt.std.Experiment([system], TOPICS, qrels, [ir_std.nERR @ 3], names=["a"], batch_size=size)
        for size in (None, 2)
    )
    assert batches["nERR@3"][0] == pytest.approx(whole["nERR@3"][0], abs=1e-12)
    with pytest.warns(StandardizationWarning, match="use pt.std.Experiment, which uses the level"):
        pt.Experiment([system], TOPICS, qrels, [ir_std.nERR @ 3], names=["a"])


@pytest.mark.filterwarnings("ignore:tiny has no factors:ir_std.StandardizationWarning")
@pytest.mark.parametrize("copied", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy])
@pytest.mark.parametrize("measure", [sAP(scheme="U"), ir_std.nERR @ 3])
def test_copies_of_an_experiments_measures_keep_what_all_topics_decide(
    copied: Callable[[Any], Any], measure: ir_measures.Measure
) -> None:
    given: list[Any] = []
    with mock.patch.object(pt, "Experiment", lambda *arguments, **_: given.extend(arguments[3])):
        pt.std.Experiment([RESULTS], TOPICS, QRELS, [measure], factors="tiny")
    assert given
    for one in given:
        again = copied(one)
        assert (again, str(again)) == (one, str(measure))
        assert again.decided.highest == one.decided.highest == 1
        if one.decided.plan:
            assert again.decided.plan.differing == one.decided.plan.differing


def test_topics_without_factors_count_in_no_mean_but_in_that_which_pyterrier_makes_itself() -> None:
    odd = {"qid": {"t5": "new"}}
    results, qrels, topics = (table.replace(odd) for table in (RESULTS, QRELS, TOPICS))
    given = [results], topics, qrels, [AP, sAP]
    with pytest.warns(StandardizationWarning) as told:
        means = pt.Experiment(*given, names=["a"])
    assert {str(one.filename) for one in told} == {__file__}
    assert [str(one.message) for one in told if "pt.Experiment" in str(one.message)] == [
        "some topics have no factors, so the means of pt.Experiment are NaN (sAP); "
        "average the values of perquery=True instead"
    ]
    assert means["AP"].notna().all()
    assert means["sAP"].isna().all()
    with pytest.warns(StandardizationWarning):
        by_topic = pt.Experiment(*given, names=["a"], perquery=True)
    with pytest.warns(StandardizationWarning):
        aggregated = pt.Evaluate(results, qrels, metrics=[AP, sAP])
    with pytest.warns(StandardizationWarning):
        ours = ir_std.calc_aggregate([AP, sAP], in_their_columns(qrels), in_their_columns(results))
    averaged = by_topic.groupby("measure")["value"].mean()
    for measure in (AP, sAP):
        assert averaged[str(measure)] == pytest.approx(ours[measure], abs=1e-12)
        assert aggregated[str(measure)] == pytest.approx(ours[measure], abs=1e-12)


def test_a_part_of_two_collections_is_named_by_the_measure(tmp_path: Path) -> None:
    save_factors("other", tmp_path)
    part = QRELS[QRELS["qid"] < "t4"]
    with pytest.warns(StandardizationWarning, match="these topics belong to") as told:
        pt.Experiment([RESULTS], TOPICS.head(4), part, [sP @ 2], names=["a"])
    (said,) = (str(one.message) for one in told if "belong to" in str(one.message))
    used, named = re.findall(r"belong to (\w+) .* or in the measure, such as (.*)$", said)[0]
    assert named == f"sP(factors='{used}')@2"
    with warnings.catch_warnings():
        warnings.simplefilter("error", StandardizationWarning)
        pt.Experiment([RESULTS], TOPICS.head(4), part, [ir_std.parse_measure(named)], names=["a"])


def test_batches_of_a_set_matched_only_by_counts_are_advised_to_name_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics = [f"c{i}" for i in range(24)]
    table = dict.fromkeys(["AP"], [0.5] * 24)
    counted = FactorSet(
        {"id": "counted", "measures": {"AP": {"systems": 40}}},
        {t: 1 + i % 3 for i, t in enumerate(topics)},
        table,
        table,
    )
    counted.save(tmp_path / "sets" / "counted.npz")
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path / "sets"))
    qrels = pd.DataFrame(
        [(t, f"d{j}", int(j <= i % 3)) for i, t in enumerate(topics) for j in range(5)],
        columns=["qid", "docno", "label"],
    )
    results = qrels.assign(score=1.0, rank=0, query="q")[["qid", "docno", "score", "rank", "query"]]
    queries = pd.DataFrame({"qid": topics, "query": "q"})

    def evaluate(n: int, measure: Any = sAP) -> None:
        part = qrels[qrels["qid"].isin(topics[:n])]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pt.Experiment([results], queries.head(n), part, [measure], names=["a"])

    evaluate(12)
    evaluate(5, sAP(factors="counted"))
    with pytest.raises(
        ValueError, match=r"name the set in the measure, such as sAP\(factors='SET'\)"
    ):
        evaluate(5)


def test_baseline_and_rounding() -> None:
    table = experiment([RESULTS, OTHER], baseline=0, round=3)
    assert "sAP p-value" in table.columns
    assert table["sAP"][0] == pytest.approx(round(expected(RESULTS)["sAP"], 3))


@pytest.mark.parametrize(
    ("name", "run", "measures", "sizes"),
    [
        ("terabyte06", None, "AP sAP", (7,)),
        pytest.param(
            "dl19-passage",
            "p_bert",
            "sRBP sAP(rel=2) snDCG@10 sRR(rel=2) sR(rel=2)@100 sP(rel=2)@10",
            (1, 7),
            marks=pytest.mark.slow,
        ),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_batches_of_real_qrels_find_their_set_and_keep_the_collections_levels(
    name: str, run: str | None, measures: str, sizes: tuple[int, ...], data: Path, runs_of: Any
) -> None:
    qrels = pt.io.read_qrels(str(data / "qrels" / f"{name}.txt"))
    results = (
        pt.io.read_results(str(runs_of(name) / run))
        if run  # otherwise the first judged documents of each topic
        else qrels.groupby("qid").head(30).assign(score=1.0, query="q", rank=0)
    )
    asked = [ir_std.parse_measure(measure) for measure in measures.split()]
    direct = ir_std.calc_aggregate(asked, in_their_columns(qrels), in_their_columns(results))
    topics = qrels[["qid"]].drop_duplicates().assign(query="")
    for size in (None, *sizes):
        system = pt.Transformer.from_df(results)
        table = pt.Experiment([system], topics, qrels, asked, names=["run"], batch_size=size)
        assert {m: table[str(m)][0] for m in asked} == pytest.approx(
            {m: direct[m] for m in asked}, abs=1e-12
        )


def test_an_experiment_adds_what_is_standardized_and_reads_names() -> None:
    row = std.Experiment([RESULTS], TOPICS, QRELS, ["map", "P@2", "mrt"], names=["a"]).iloc[0]
    assert set(row.index) == {"name", "map", "sAP", "P@2", "sP@2", "mrt"}
    wanted = expected(RESULTS)
    assert row["map"] == pytest.approx(wanted["AP"])
    for name in ("sAP", "P@2", "sP@2"):
        assert row[name] == pytest.approx(wanted[name])
    (table, by_topic) = std.Experiment(
        [RESULTS, OTHER], TOPICS, QRELS, "sAP", ["a", "b"], schemes="U", perquery="both"
    )
    assert set(by_topic["measure"]) == set(table.columns) - {"name"} == {"sAP"}


@pytest.mark.filterwarnings("ignore:tiny has no factors")
def test_an_experiments_columns_keep_the_requested_order() -> None:
    asked = ["P@2", "mrt", "AP", "nDCG@3", "RR"]
    wanted = ["name", "P@2", "sP@2", "mrt", "AP", "sAP", "nDCG@3", "RR"]

    def columns(**options: Any) -> list[str]:
        outcome = std.Experiment([RESULTS, OTHER], TOPICS, QRELS, asked, **options)
        return list(getattr(outcome, "averages", outcome).columns)

    assert columns() == wanted
    assert columns(perquery="both") == [name for name in wanted if name != "mrt"]
    tested = columns(baseline=0, round=3)
    assert tested[:8] == wanted
    assert all(name.endswith((" +", " -", " p-value")) for name in tested[8:])
    assert columns(perquery=True) == ["name", "qid", "measure", "value"]


def test_a_standardized_measure_requested_with_its_raw_one_has_one_column() -> None:
    table = std.Experiment([RESULTS], TOPICS, QRELS, ["AP", "sAP", "sP@2", "P@2"])
    assert list(table.columns) == ["name", "AP", "sAP", "sP@2", "P@2"]


def test_an_experiment_keeps_the_set_of_all_qrels_for_a_part_of_them(tmp_path: Path) -> None:
    save_factors("other", tmp_path)  # the same topics, so a part could belong to either
    with warnings.catch_warnings():
        warnings.simplefilter("error", StandardizationWarning)
        table = std.Experiment(
            [pt.Transformer.from_df(RESULTS)],
            TOPICS.head(3),
            QRELS,
            [AP],
            factors="other",
            batch_size=1,
        )
    assert {"AP", "sAP"} <= set(table.columns)


def test_an_experiment_says_what_has_no_standardized_form_and_wants_sets_on_disk() -> None:
    foreign = QRELS.replace({"qid": {"t5": "new"}}).query("qid == 'new'")
    with pytest.warns(StandardizationWarning, match="no factor set"):
        table = std.Experiment(
            [RESULTS], foreign[["qid"]].assign(query=""), foreign, ["P@2"], filter_by_topics=False
        )
    assert "sP@2" not in table.columns
    tiny = ir_std.load_factors("tiny")
    in_memory = FactorSet(tiny.info, tiny.n_rel, tiny.mean, tiny.sd)
    with pytest.raises(UsageError, match="tiny is not on disk; save it"):
        std.Experiment([RESULTS], TOPICS, QRELS, ["AP"], factors=in_memory)
