"""The experiment on merging: how documents are dealt to sources, and what a cell says."""

from __future__ import annotations

from collections import Counter

import merging_experiment as experiment
import numpy as np
import pytest

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
