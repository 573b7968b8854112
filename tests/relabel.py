"""Judgments that are altered at random, and checks of each topic's standardized values."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
from ir_measures.measures import Measure

import ir_std
from ir_std.evaluation.evaluation import message_texts
from ir_std.evaluation.plans import Plan

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]
Alter = Callable[[dict[str, int], np.random.Generator], dict[str, int]]


def _flip(docs: dict[str, int], random: np.random.Generator) -> dict[str, int]:
    """Change some documents from relevant to not relevant, or back."""
    chosen = random.random(len(docs)) < random.choice([0.05, 0.5])
    return {
        d: (0 if n > 0 else 1) if f else n for (d, n), f in zip(docs.items(), chosen, strict=True)
    }


def _demote(docs: dict[str, int], random: np.random.Generator) -> dict[str, int]:
    """Lower the documents above some level to this level."""
    top = int(random.integers(-1, 3))
    share = random.choice([0.1, 1.0])
    return {d: min(n, top) if random.random() < share else n for d, n in docs.items()}


def _drop(docs: dict[str, int], random: np.random.Generator) -> dict[str, int]:
    """Remove some judgments, of any level or only of documents that are not relevant."""
    least = int(random.choice([-9, 1]))
    kept = random.random(len(docs)) < 0.9
    return {d: n for (d, n), k in zip(docs.items(), kept, strict=True) if k or n >= least != -9}


def _permute(docs: dict[str, int], random: np.random.Generator) -> dict[str, int]:
    """Permute the levels among the documents."""
    return dict(zip(docs, random.permutation(list(docs.values())).tolist(), strict=True))


def _replace(docs: dict[str, int], random: np.random.Generator) -> dict[str, int]:
    """Replace some or all of the documents that are judged not relevant."""
    kept = random.random(len(docs)) < random.choice([0.0, 0.9])
    return {d if n > 0 or k else f"{d}x": n for (d, n), k in zip(docs.items(), kept, strict=True)}


ALTERATIONS: dict[str, Alter] = {
    "flip": _flip,
    "demote": _demote,
    "drop": _drop,
    "permute": _permute,
    "replace": _replace,
}
KINDS = (*ALTERATIONS, "rename", "merge", "cut")


class Relabeled(NamedTuple):
    """Altered judgments, and a run on them."""

    qrels: Qrels
    run: Run


def relabel(
    kind: str, qrels: Qrels, run: Run, other: tuple[Qrels, Run], random: np.random.Generator
) -> Relabeled:
    """Alter the judgments on a random part of the topics, often after a cut."""
    size = int(random.choice([1, 3, 12, len(qrels)], p=[0.15, 0.15, 0.5, 0.2]))
    topics = [*random.permutation(list(qrels))[:size].tolist()]
    made = {t: dict(qrels[t]) for t in topics}
    ranked = {t: run[t] for t in topics}
    if kind == "merge":
        here = random.permutation([t for t in other[0] if t not in qrels])[:size].tolist()
        made |= {t: other[0][t] for t in here}
        ranked |= {t: other[1][t] for t in here}
    share = float(random.choice([0.1, 0.4, 1.0]))
    touched = [t for t in topics if random.random() < share] or topics[:1]
    if kind in ALTERATIONS:
        made |= {t: ALTERATIONS[kind](made[t], random) for t in touched}
    if kind == "rename":
        made |= {t: {f"#{d}": n for d, n in made[t].items()} for t in touched}
        ranked |= {t: {f"#{d}": x for d, x in ranked[t].items()} for t in touched}
    return Relabeled(made, ranked)


def random_run(qrels: Qrels, random: np.random.Generator) -> Run:
    """Draw some judged and some other documents per topic, in random order."""
    run: Run = {}
    for topic, docs in qrels.items():
        names = [*random.permutation(list(docs))[:150].tolist()]
        names += [d for d, n in docs.items() if n > 0][:5] + [f"unjudged{i}" for i in range(20)]
        run[topic] = {
            d: float(x) for d, x in zip(names, random.permutation(len(names)), strict=True)
        }
    return run


class Truth:
    """Raw scores of runs on the original judgments."""

    def __init__(self, collections: Iterable[tuple[Qrels, Run]]) -> None:
        self._collections = list(collections)
        self._scores: dict[str, dict[str, float]] = {}

    def of(self, raw: Measure) -> Mapping[str, float]:
        """Return a measure's scores by topic."""
        if str(raw) not in self._scores:
            scores = self._scores[str(raw)] = {}
            for qrels, run in reversed(self._collections):
                evaluator = ir_std.StdEvaluator([raw], qrels)
                values = evaluator.evaluate(run).values[raw].tolist()
                scores |= dict(zip(evaluator.qrels.topics, values, strict=True))
        return self._scores[str(raw)]


def outcome(relabeled: Relabeled, measures: Iterable[str], truth: Truth) -> Counter[str]:
    """Count topics with a ``right`` or ``wrong`` value, or with no value (``said``)."""
    counts: Counter[str] = Counter()
    measures = list(measures)
    evaluator = ir_std.evaluator(measures, relabeled.qrels)
    evaluation = evaluator.evaluate(relabeled.run)
    messages = evaluator.messages
    reasons = " ".join(message_texts(messages, True) + message_texts(messages, False))
    planned = {plan.measure.base: plan for plan in evaluator.plans}
    for measure in map(ir_std.parse_measure, measures):
        plan = planned.get(measure)
        if plan is None:
            # Without a plan, a message names the measure, or says that no set matches.
            named = str(measure) in reasons or "no factor set" in reasons
            counts["said" if named else "wrong"] += len(relabeled.qrels)
            continue
        counts += _compare(plan, evaluation.values[plan.measure].tolist(), truth, reasons)
    return counts


def _compare(plan: Plan, values: list[float], truth: Truth, reasons: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    raw = truth.of(plan.raw)
    scheme = plan.measure["scheme"]
    for topic, value in zip(plan.topics, values, strict=True):
        expected = float(
            plan.factors.standardize(plan.name, [topic], [raw.get(topic, np.nan)], scheme)[0]
        )
        if np.isnan(value):
            counts["right" if np.isnan(expected) else "said" if reasons else "wrong"] += 1
        else:
            counts["right" if abs(value - expected) < 1e-9 else "wrong"] += 1
    return counts
