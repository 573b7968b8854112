"""A changed label concerns its own topic: neither the set nor another topic's value changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sets import EACH_KIND

import ir_std
from ir_std import load_factors
from ir_std.evaluation.plans import Plan
from ir_std.testing import simulated_qrels

pytestmark = pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")

Qrels = dict[str, dict[str, int]]
SETS = [
    name
    for name in ir_std.available_factors()
    if not load_factors(name).of_datasets and any(load_factors(name).n_rel.values())
]


def judged(name: str) -> Qrels:
    """Return judgments of a set's topics: those relevant, and three that are not."""
    counts = {t: known.levels or known.n_rel for t, known in load_factors(name).judgments.items()}
    return {
        topic: dict([*docs.items()][: sum(map(bool, docs.values())) + 3])
        for topic, docs in simulated_qrels(counts).items()
    }


def changed(qrels: Qrels, random: np.random.Generator) -> tuple[str, Qrels]:
    """Change one label to another level that occurs; return the topic too."""
    levels = sorted({level for docs in qrels.values() for level in docs.values()})
    topic = str(random.choice([t for t, docs in qrels.items() if docs]))
    document = str(random.choice(list(qrels[topic])))
    others = [level for level in levels if level != qrels[topic][document]]
    return topic, qrels | {topic: qrels[topic] | {document: int(random.choice(others))}}


def planned(name: str, qrels: Qrels) -> dict[str, Plan]:
    """Return how the set's default measures are standardized; Bpref needs all judgments."""
    measures = [m for m in load_factors(name).default_measures if m != "Bpref"]
    return {str(plan.measure): plan for plan in ir_std.evaluator(measures, qrels).plans}


def rows_elsewhere(plan: Plan, topic: str) -> Iterator[tuple[str, int]]:
    """Yield the rows of the set that standardize the other topics."""
    return ((t, row) for t, row in zip(plan.topics, plan.rows.tolist(), strict=True) if t != topic)


def check(name: str, n: int) -> None:
    """Change a label at random, again and again."""
    random = np.random.default_rng(9100)
    qrels: Any = judged(name)
    before = planned(name, qrels)
    assert before
    for _ in range(n):
        topic, other = changed(qrels, random)
        after = planned(name, other)
        assert after.keys() == before.keys()
        for measure, plan in before.items():
            assert after[measure].factors.id == plan.factors.id
            assert after[measure].name == plan.name
            assert [*rows_elsewhere(after[measure], topic)] == [*rows_elsewhere(plan, topic)]


@pytest.mark.parametrize("name", [name for name in EACH_KIND if name in SETS])
def test_a_changed_label_changes_no_other_topics_value(name: str) -> None:
    check(name, 3)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", SETS)
def test_a_hundred_changed_labels_change_no_other_topics_value(name: str) -> None:
    check(name, 100)
