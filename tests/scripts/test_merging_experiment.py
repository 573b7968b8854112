"""The experiment on merging: how documents are dealt to sources, and what a cell says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import merging_experiment as experiment
import numpy as np
import pytest

from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.merging import METHODS
from ir_std.trec.files import read_qrels
from ir_std.trec.runs import DictRun, Run


@pytest.fixture
def engines() -> list[Run]:
    return [
        DictRun({"q": {f"d{i}": float(100 * (e + 1) - i) for i in range(60)}}) for e in range(3)
    ]


def test_a_document_goes_to_one_source_whose_engine_scores_it(engines: list[Run]) -> None:
    sources = experiment.deal_out(engines, 6, 1000, 0)
    dealt = Counter(doc for source in sources for docs, _ in source.lists.values() for doc in docs)
    assert dealt == Counter(f"d{i}" for i in range(60))
    for i, source in enumerate(sources):
        for _, scores in source.lists.values():
            assert set(np.ceil(scores / 100)) == {i % 3 + 1}


def test_a_source_keeps_its_first_documents(engines: list[Run]) -> None:
    for whole, cut in zip(
        experiment.deal_out(engines, 6, 1000, 0), experiment.deal_out(engines, 6, 2, 0), strict=True
    ):
        assert cut.lists["q"][0] == whole.lists["q"][0][:2]


def test_another_deal_gives_the_sources_other_documents(engines: list[Run]) -> None:
    first, second = (experiment.deal_out(engines, 6, 1000, deal) for deal in (0, 1))
    assert [s.lists for s in first] != [s.lists for s in second]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.5, 0.6, 0.7, 0.9], "0.675+"),
        ([0.1, 0.1, 0.2, 0.3], "0.175-"),
        ([0.2, 0.3, 0.4, 0.5], "0.350 "),
        ([0.9, 0.1, 0.4, 0.1], "0.375 "),
    ],
)
def test_a_mark_says_what_a_paired_t_test_finds(values: list[float], expected: str) -> None:
    assert experiment.cell(np.array(values), np.array([0.2, 0.3, 0.4, 0.5])) == expected


GUIDE = (Path(__file__).parents[2] / "scripts/README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def columns() -> dict[str, list[str]]:
    """The guide's table: by method its cells, of TREC-8 and then of DL 2019."""
    found: dict[str, list[str]] = {}
    for line in GUIDE.partition("### What we found")[2].splitlines():
        name, *cells = line.split() or [""]
        if name in METHODS and len(cells) == 12:
            found.setdefault(name, []).extend(cells)
    return found


def test_what_the_guide_says_of_merging_is_counted_in_its_table(
    columns: dict[str, list[str]],
) -> None:
    assert {len(cells) for cells in columns.values()} == {24}
    top_10, top_1000 = (
        [c + i for c in of_both for i in range(3)] for of_both in ((6, 18), (9, 21))
    )
    for cells in columns.values():
        assert [cells[i] for i in top_10] == [cells[i] for i in top_1000]
    differ = [i for i in range(24) if i not in top_1000]
    few_sources = [i for i in differ if i % 12 < 6]
    assert len(differ) == 18
    assert len(few_sources) == 12

    def marked(name: str, mark: str, where: list[int]) -> int:
        return sum(columns[name][i].endswith(mark) for i in where)

    def above(name: str, where: list[int]) -> int:
        pairs = [(columns[name][i], columns["minmax"][i]) for i in where]
        return sum(float(a.strip("+-")) > float(b.strip("+-")) for a, b in pairs)

    assert (above("zscore", differ), marked("zscore", "+", differ)) == (18, 16)
    assert (above("sum", few_sources), marked("sum", "+", few_sources)) == (12, 11)
    assert above("sum", [i for i in differ if i not in few_sources]) == 0
    assert marked("uv", "-", differ) == 18
    assert (marked("max", "-", differ), marked("max", "+", differ)) == (13, 0)
    raw = sum(marked(name, mark, list(range(24))) for name in columns for mark in "+-")
    assert f"are significant instead of {raw} " in " ".join(GUIDE.split())


@pytest.mark.slow
def test_the_guide_has_the_means_of_merging_that_the_script_computes(
    data: Path, columns: dict[str, list[str]]
) -> None:
    dl19 = next(c for c in experiment.COLLECTIONS if c.name == "dl19-passage")
    qrels = read_qrels(data / "qrels/dl19-passage.txt")
    runs = dict(experiment.read_runs(data / "runs/dl19-passage.tar.xz"))
    measures = list(dl19.measures)
    setting = experiment.Setting(30, 10)
    evaluator = StdEvaluator(measures, qrels)
    outcome = experiment.run_setting(setting, [runs[tag] for tag in dl19.engines], evaluator, 5)
    for line in experiment.table({setting: outcome}, measures).splitlines()[2:]:
        name, *cells = line.split()
        assert columns[name][12:15] == cells
