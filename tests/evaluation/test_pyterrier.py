"""Inside PyTerrier experiments, with the real package and without Java."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pytest
from ir_measures import AP, P

import ir_std
from ir_std import FactorSet, sAP, sP
from ir_std.factors.judgments import judgments_of
from ir_std.trec.inputs import as_qrels

pt = pytest.importorskip("pyterrier", reason="python-terrier is not installed")

TOPICS = pd.DataFrame({"qid": [f"t{i}" for i in range(6)], "query": ["q"] * 6})
QRELS = pd.DataFrame([(f"t{i}", f"d{j}", int(j <= i % 3)) for i in range(6) for j in range(5)],
                     columns=["qid", "docno", "label"])
RESULTS = pd.DataFrame([(f"t{i}", f"d{j}", float((i * j) % 5), "q") for i in range(5)
                        for j in range(6)], columns=["qid", "docno", "score", "query"])
RESULTS["rank"] = RESULTS.groupby("qid")["score"].rank(ascending=False, method="first")
OTHER = RESULTS.assign(score=-RESULTS["score"])
MEASURES = [AP, sAP, sP @ 2, sAP(scheme="U"), P @ 2]


@pytest.fixture(autouse=True)
def tiny_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Factors for the six topics."""
    judged = judgments_of(as_qrels({t: dict(zip(rows["docno"], rows["label"], strict=True))
                                    for t, rows in QRELS.groupby("qid")}))
    measures = {"AP": {"systems": 9}, "P@2": {"systems": 9}}
    FactorSet({"id": "tiny", "measures": measures}, judged,
              dict.fromkeys(measures, (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)),
              dict.fromkeys(measures, (0.1,) * 6)).save(tmp_path / "tiny")
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path))


def experiment(systems: list[Any], **options: Any) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=FutureWarning)
        return pt.Experiment(systems, TOPICS, QRELS, MEASURES, names=["a", "b"][:len(systems)],
                             **options)


def expected(results: pd.DataFrame) -> dict[str, float]:
    scores = ir_std.calc_aggregate(
        MEASURES, QRELS.rename(columns={"qid": "query_id", "docno": "doc_id",
                                        "label": "relevance"}),
        results.rename(columns={"qid": "query_id", "docno": "doc_id"}))
    return {str(m): v for m, v in scores.items() if m in MEASURES}


@pytest.mark.parametrize("as_transformer", [False, True])
def test_means_are_those_of_the_library(as_transformer: bool) -> None:
    system = pt.Transformer.from_df(RESULTS) if as_transformer else RESULTS
    row = experiment([system]).iloc[0]
    assert {name: row[name] for name in map(str, MEASURES)} == pytest.approx(expected(RESULTS))


def test_values_by_topic_include_topics_without_results() -> None:
    table = experiment([RESULTS], perquery=True)
    mine = table[table["measure"] == "sAP"].set_index("qid")["value"]
    assert set(mine.index) == set(TOPICS["qid"])
    assert mine["t5"] == pytest.approx(ir_std.schemes.normal_cdf(-7.0))


def test_batches_give_what_the_whole_gives() -> None:
    system = pt.Transformer.from_df(RESULTS)
    whole, batches = experiment([system]), experiment([system], batch_size=2)
    for name in map(str, MEASURES):
        assert batches[name][0] == pytest.approx(whole[name][0], abs=1e-12)


def test_baseline_and_rounding() -> None:
    table = experiment([RESULTS, OTHER], baseline=0, round=3)
    assert "sAP p-value" in table.columns
    assert table["sAP"][0] == pytest.approx(round(expected(RESULTS)["sAP"], 3))


def test_batches_of_real_qrels_find_their_set(data: Path) -> None:
    qrels = pd.DataFrame(list(ir_measures.read_trec_qrels(
        str(data / "qrels" / "terabyte05.txt")))).rename(
        columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"})
    topics = pd.DataFrame({"qid": qrels["qid"].unique(), "query": "q"})
    # The first judged documents of each topic serve as a run.
    results = qrels.groupby("qid").head(30).assign(score=1.0, query="q", rank=0)
    tables = []
    for size in (None, 7):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tables.append(pt.Experiment([pt.Transformer.from_df(results)], topics, qrels, [AP, sAP],
                                        names=["run"], batch_size=size))
    assert tables[0]["sAP"][0] == pytest.approx(tables[1]["sAP"][0], abs=1e-12)


def test_batches_of_graded_qrels_keep_the_collections_levels(data: Path, runs_of: Any) -> None:
    qrels = pt.io.read_qrels(str(data / "qrels" / "dl19-passage.txt"))
    results = pt.io.read_results(str(runs_of("dl19-passage") / "p_bert"))
    topics = qrels[["qid"]].drop_duplicates().assign(query="")
    measures = [ir_std.sRBP, sAP(rel=2), ir_std.snDCG @ 10]
    whole, *batches = (
        pt.Experiment([pt.Transformer.from_df(results)], topics, qrels, measures, names=["run"],
                      batch_size=size) for size in (None, 1, 7))
    for table in batches:
        for name in map(str, measures):
            assert table[name][0] == pytest.approx(whole[name][0], abs=1e-12)
