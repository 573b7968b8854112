"""The experiment on merging: the sources' documents, and the cells of its table."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import merging_experiment as experiment
import numpy as np
import pytest

from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.merging import METHODS
from ir_std.trec.files import read_qrels
from ir_std.trec.inputs import as_run
from ir_std.trec.runs import Run


@pytest.fixture
def engines() -> list[Run]:
    return [as_run({"q": {f"d{i}": float(100 * (e + 1) - i) for i in range(60)}}) for e in range(3)]


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
    both = np.array(values), np.array([0.2, 0.3, 0.4, 0.5])
    assert experiment.cell(*both, experiment.p_value(*both)) == expected


GUIDE = (Path(__file__).parents[2] / "docs/evidence/merging.md").read_text(encoding="utf-8")
TEXT = " ".join(GUIDE.split())


@pytest.fixture(scope="module")
def columns() -> dict[str, list[str]]:
    """Return the cells of the guide's table by method, for TREC-8 and then DL 2019."""
    found: dict[str, list[str]] = {}
    for line in GUIDE.splitlines():
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

    assert (above("zscore", differ), marked("zscore", "+", differ)) == (18, 11)
    assert (above("sum", few_sources), marked("sum", "+", few_sources)) == (12, 6)
    assert above("sum", [i for i in differ if i not in few_sources]) == 0
    assert marked("uv", "-", differ) == 18
    assert (marked("max", "-", differ), marked("max", "+", differ)) == (10, 0)
    significant = sum(marked(name, mark, list(range(24))) for name in columns for mark in "+-")
    assert f"120 differences from `minmax`, {significant} are significant" in TEXT


class OfDL2019(NamedTuple):
    """Data that the experiment reads for one collection."""

    evaluator: StdEvaluator
    engines: list[Run]


@pytest.fixture(scope="module")
def dl19(data: Path) -> OfDL2019:
    of = next(c for c in experiment.COLLECTIONS if c.name == "dl19-passage")
    runs = dict(experiment.read_runs(data / "runs/dl19-passage.tar.xz"))
    qrels = read_qrels(data / "qrels/dl19-passage.txt")
    return OfDL2019(StdEvaluator(of.measures, qrels), [runs[tag] for tag in of.engines])


@pytest.mark.exhaustive
def test_the_guide_has_the_means_of_merging_that_the_script_computes(
    dl19: OfDL2019, columns: dict[str, list[str]]
) -> None:
    settings = [experiment.Setting(n, kept) for n in (30, 1000) for kept in (10, 1000)]
    outcomes = {s: experiment.run_setting(s, dl19.engines, dl19.evaluator, 5) for s in settings}
    for line in experiment.table(outcomes, dl19.evaluator.measures).splitlines()[2:]:
        name, *cells = line.split()
        assert columns[name][12:] == cells


@pytest.mark.slow
def test_the_guide_says_how_well_shards_of_one_engine_merge(dl19: OfDL2019) -> None:
    first = dl19.engines[:1]
    ap = dl19.evaluator.measures[0]
    whole = dl19.evaluator.calc_aggregate(first[0])[ap]
    by_method = experiment.run_setting(experiment.Setting(30, 1000), first, dl19.evaluator, 5)
    means = {name: values[ap].mean() for name, values in by_method.values.items()}
    assert max(means, key=lambda name: means[name]) == "mmstdv"
    assert (
        f"the AP of `mmstdv` is {means['mmstdv']:.3f}, compared with {means['minmax']:.3f} for "
        f"`minmax` and {whole:.3f} for the engine on the whole collection"
    ) in TEXT


@pytest.mark.slow
def test_the_guide_says_how_many_lists_of_many_sources_hold_one_document(dl19: OfDL2019) -> None:
    lists = experiment.deal_out(dl19.engines, 1000, 1000, 0)
    lengths = [b - a for source in lists for a, b in source.bounds.values()]
    assert f"{np.mean(np.array(lengths) == 1):.0%} of the lists of 1,000 sources" in TEXT
