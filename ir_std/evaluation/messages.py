"""Messages about scores: collected as data, shown once by whoever reports the scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats
from ir_std.errors import abbreviate
from ir_std.evaluation.plans import Plan
from ir_std.factors.catalog import sibling_sets
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.quality import saturates
from ir_std.scores.run_scores import CountedTopics, RunScores
from ir_std.trec.qrels import Qrels
from ir_std.trec.runs import Run

AS_DEEP = 0.9
"""A run is as deep as the systems if its longest list has this share of their documents."""


class Message(NamedTuple):
    """Something a reader should know of the scores.

    Attributes
    ----------
    text : str
    warns : bool
        Whether scores mislead a reader who does not know it; else it is a note.
    run : str or None
        The run it is about, whose name stands before ``text``.
    """

    text: str
    warns: bool = False
    run: str | None = None


def message_texts(messages: Iterable[Message], warns: bool) -> tuple[str, ...]:
    """The texts of the warnings, or of the notes: each once, with the runs that it is about."""
    runs_by_text: dict[str, dict[str, None]] = {}
    for message in messages:
        if message.warns == warns:
            runs = runs_by_text.setdefault(message.text, {})
            if message.run is not None:
                runs[message.run] = None
    return tuple(
        f"{abbreviate(runs)}: {text}" if runs else text for text, runs in runs_by_text.items()
    )


def listed(counts: Mapping[str, int]) -> str:
    """``AP on 3, P@10 on 1``."""
    return ", ".join(f"{measure} on {n}" for measure, n in counts.items())


# --- about levels of relevance --------------------------------------------------------------------


def level_messages(measures: Iterable[Measure], qrels: Qrels) -> Iterator[Message]:
    """Which measures ask for a level of relevance that no document has."""
    leveled = [m for m in measures if m.params.get("rel", 1) > 1]
    if not leveled or isinstance(qrels, CountedTopics):
        return
    empty = [str(m) for m in leveled if m["rel"] > qrels.max_level]
    if empty:
        yield Message(
            f"nothing is relevant by {', '.join(empty)}: the highest level of these qrels "
            f"is {qrels.max_level}"
        )


def gain_messages(
    graded: Iterable[Measure], highest: int, set_id: str, qrels: Qrels
) -> Iterator[Message]:
    """Whether gains of graded measures are shares of a level that these qrels do not have."""
    if highest > qrels.max_level:
        yield Message(
            f"{', '.join(map(str, graded))}: gains are level / {highest}, the highest level of "
            f"{set_id}, of which these topics are a part (their own highest is {qrels.max_level})"
        )


# --- about one run --------------------------------------------------------------------------------


def run_messages(
    name: str, plans: Iterable[Plan], run: Run, qrels: Qrels, n_relevant: int
) -> Iterator[Message]:
    """About the documents of a run, of which ``n_relevant`` are relevant."""
    sizes = [b - a for t, (a, b) in run.bounds.items() if t in qrels.positions]
    yield from _missing_topic_messages(name, sum(size > 0 for size in sizes), qrels)
    if sizes and not n_relevant and not len(run.find(qrels.targets(True)).score):
        yield Message("none of its documents is judged", warns=True, run=name)
    yield from _depth_messages(name, plans, max(sizes, default=0))


def score_messages(
    name: str,
    plans: Iterable[Plan],
    scores: RunScores,
    qrels: Qrels,
    columns: Mapping[str, Floats],
    steps: Mapping[str, float],
) -> Iterator[Message]:
    """About scores that another program computed.

    ``columns`` are the raw values by topic, ``steps`` those in which they were written, both by
    the measure's name.
    """
    if scores.unit == "topic":
        yield from _missing_topic_messages(
            name, len(qrels.positions.keys() & set(scores.topics)), qrels
        )
    if scores.unlisted:
        yield Message(
            f"its means are over {scores.unlisted} more topic"
            f"{'s' * (scores.unlisted > 1)} than it lists, here they are over those "
            "listed; give the qrels too, and the others count as 0",
            warns=isinstance(qrels, CountedTopics),
            run=name,
        )
    without = {m: n for m, values in columns.items() if (n := int(np.isnan(values).sum()))}
    if without:
        units = "data sets" if scores.unit == "collection" else "topics"
        text = f"has no value of {listed(without)} of the {units}: left out of the means"
        yield Message(text, warns=True, run=name)
    if scores.skipped:
        yield Message(
            f"skipped what is no raw measure here: {abbreviate(scores.skipped)}", run=name
        )
    yield from _rounding_messages(name, plans, columns, steps)
    if scores.n_ret:
        yield from _depth_messages(name, plans, max(scores.n_ret.values()))


def _missing_topic_messages(name: str, n_present: int, qrels: Qrels) -> Iterator[Message]:
    """How many topics of the qrels a run lacks."""
    if missing := len(qrels.topics) - n_present:
        yield Message(
            f"{missing} of the {len(qrels.topics)} topics are not in it: they count as 0", run=name
        )


def _rounding_messages(
    name: str, plans: Iterable[Plan], columns: Mapping[str, Floats], steps: Mapping[str, float]
) -> Iterator[Message]:
    """How much means may change by the rounding of the values in a score file."""
    changes_by_step: dict[float, dict[str, float]] = {}
    for plan in plans:
        raw = str(plan.raw)
        if step := steps[raw]:
            change = plan.uncertainty(columns[raw], step)
            changes_by_step.setdefault(step, {})[str(plan.measure)] = change
    for step, changes in changes_by_step.items():
        listed = ", ".join(
            f"{measure} by {_round_up(change)}" for measure, change in changes.items()
        )
        yield Message(
            f"scores are written in steps of {step:g}: without that, raw means could "
            f"differ by {step / 2:g}, and means of {listed} at most",
            run=name,
        )


def _round_up(value: float) -> str:
    """A number rounded up to one digit."""
    if not value:
        return "0"
    power = 10.0 ** math.floor(math.log10(value))
    return f"{math.ceil(value / power - 1e-9) * power:.1g}"


def _depth_messages(name: str, plans: Iterable[Plan], deepest: int) -> Iterator[Message]:
    """For which measures a run goes deeper than the systems, or less deep.

    A measure with a cutoff looks no deeper than that.
    """
    unlike: dict[tuple[str, bool], dict[Measure, int]] = {}
    for plan in plans:
        depth = plan.factors.about(plan.name, "depth")
        cutoff = plan.raw.params.get("cutoff")
        if depth and deepest and _is_unlike_depth(deepest, depth, cutoff):
            unlike.setdefault((plan.factors.id, deepest > depth), {})[plan.measure] = depth
    for (set_id, deeper), depths in unlike.items():
        listed, depth = ", ".join(map(str, depths)), min(depths.values())
        text = (
            f"{deepest} documents deep, the systems behind {set_id} were evaluated to depth "
            f"{depth}; cut it to compare like with like ({listed})"
            if deeper
            else f"only {deepest} documents deep, the systems behind {set_id} {depth}; "
            f"going less deep lowers {listed}"
        )
        yield Message(text, warns=True, run=name)


def _is_unlike_depth(deepest: int, depth: int, cutoff: int | None) -> bool:
    """Whether a run's longest list is longer or shorter than what systems were evaluated to."""
    too_deep = cutoff is None and deepest > depth
    return too_deep or deepest < AS_DEEP * min(cutoff or depth, depth)


def saturation_messages(
    name: str, plans: Sequence[Plan], standardized: Sequence[Floats]
) -> Iterator[Message]:
    """Whether a run saturates the factors, and what still separates such runs.

    ``standardized`` are its scores by topic, of each plan.
    """
    saturated: dict[FactorSet, list[str]] = {}
    for plan, values in zip(plans, standardized, strict=True):
        if not plan.of_mean and saturates(values, plan.measure["scheme"]):
            saturated.setdefault(plan.factors, []).append(str(plan.measure))
    for factors, measures in saturated.items():
        yield Message(
            f"far from most systems of {factors.id} on many topics, where "
            f"{', '.join(measures)} hardly tells such runs apart: use {_alternatives(factors)}",
            run=name,
        )


@lru_cache(maxsize=16)
def _alternatives(factors: FactorSet) -> str:
    """What separates runs that saturate a set."""
    siblings = ", ".join(sibling.id for sibling in sibling_sets(factors))
    return f"{siblings} or scheme z" if siblings else "scheme z"
