"""Messages about one run: what it lacks, how deep it is, how its scores were written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats, Ints
from ir_std.errors import abbreviate, counted
from ir_std.evaluation.messages import Message, listed_counts
from ir_std.evaluation.plans import Plan
from ir_std.evaluation.run_faults import fault_messages, missing_topics
from ir_std.factors.catalog import sibling_sets
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.quality import NEAR_THE_END, saturates
from ir_std.scores.run_scores import CountedTopics, RunScores
from ir_std.trec.qrels import Qrels
from ir_std.trec.ranking import TREC_EVAL, Ranker
from ir_std.trec.runs import Run

AS_DEEP = 0.9
"""A list is as deep as the systems' if it has this share of their documents."""
NO_WEIGHT = 5e-5
"""What does not change four decimals."""
CUT_TOPICS = 3
"""Lists that are too short were cut if as many of them, and half of them, have one length: so it
is in none of the 129 runs of TREC-8, 59 of DL 2020, 126 of TREC-COVID's round 5."""


def run_messages(
    name: str, plans: Iterable[Plan], run: Run, cut: Run, qrels: Qrels, n_relevant: int
) -> Iterator[Message]:
    """About the documents of a run, of which ``n_relevant`` are relevant.

    ``cut`` has those that are evaluated, where not all are.
    """
    if run.repeated:
        yield Message(repeated_text(run.repeated), warns=True, run=name)
    yield from fault_messages(name, run, qrels, n_relevant)
    yield from _depth_messages(name, plans, np.append(cut.sizes, 0)[cut.numbers(qrels)], qrels)


def order_messages(name: str, measures: Iterable[Measure], ranker: Ranker) -> Iterator[Message]:
    """Where RBP of a run differs from cwl-eval's, which ir_measures asks where ``rel`` is given."""
    if not any(m.__name__ == "RBP" and "rel" in m.params for m in measures):
        return
    tied, not_sorted = ranker.tied_topics(TREC_EVAL), ranker.unsorted_topics(TREC_EVAL)
    parts = [f"topics with tied scores: {tied}"] * (tied > 0)
    parts += [f"topics that are not in the order of scores: {not_sorted}"] * (not_sorted > 0)
    if parts:
        yield Message(
            f"{', '.join(parts)}; RBP is by score and id, cwl-eval's by file order", run=name
        )


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
    present = set(scores.topics)
    lacking = [row for topic, row in qrels.positions.items() if topic not in present]
    as_zero = [int((~np.isnan(values[lacking])).sum()) for values in columns.values()]
    yield from missing_topics(name, max(as_zero, default=0), len(qrels.topics))
    if scores.unlisted:
        yield Message(
            f"its means are over {counted(scores.unlisted, 'more topic')} "
            f"than it lists, here they are over those "
            "listed; give the qrels too, and the others count as 0",
            warns=isinstance(qrels, CountedTopics),
            run=name,
        )
    without = {m: n for m, values in columns.items() if (n := int(np.isnan(values).sum()))}
    if without:
        units = "data sets" if scores.unit == "collection" else "topics"
        text = f"has no value of {listed_counts(without)} of the {units}: left out of the means"
        yield Message(text, warns=True, run=name)
    if scores.skipped:
        yield Message(
            f"skipped what is no raw measure here: {abbreviate(scores.skipped)}", run=name
        )
    yield from _rounding_messages(name, plans, columns, steps)
    if scores.n_ret:
        sizes = np.array([*scores.n_ret.values()], np.int64)
        yield from _depth_messages(name, plans, sizes, qrels)


def repeated_text(count: int) -> str:
    """How many lines of a run were left out because their document is in others."""
    return f"{counted(count, 'line')} left out whose document is in another of the topic"


def _rounding_messages(
    name: str, plans: Iterable[Plan], columns: Mapping[str, Floats], steps: Mapping[str, float]
) -> Iterator[Message]:
    """How much means may change by the rounding of the values in a score file."""
    changes_by_step: dict[float, dict[str, float]] = {}
    for plan in plans:
        raw = str(plan.raw)
        if step := steps[raw]:
            change = plan.uncertainty(columns[raw], step)
            if math.isnan(change):
                continue  # there is no mean
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


def _depth_messages(
    name: str, plans: Iterable[Plan], sizes: Ints, qrels: Qrels
) -> Iterator[Message]:
    """For which measures a run goes deeper than the systems, or less deep, and on which topics.

    A measure looks no deeper than its last rank.  ``sizes`` are the lengths of the run's
    lists; topics that it lacks are told elsewhere.
    """
    sizes = sizes[sizes > 0]
    deepest = int(sizes.max(initial=0))
    unlike: dict[tuple[str, bool], dict[Measure, int]] = {}
    short: dict[tuple[str, int], list[Measure]] = {}
    for plan in plans:
        depth = plan.factors.about(plan.name, "depth")
        if not depth or not deepest:
            continue
        cutoff = _last_rank(plan.raw, qrels)
        needed = min(cutoff or depth, depth)
        if _is_unlike_depth(deepest, depth, cutoff):
            unlike.setdefault((plan.factors.id, deepest > depth), {})[plan.measure] = depth
        elif sizes.min() < AS_DEEP * needed:
            short.setdefault((plan.factors.id, needed), []).append(plan.measure)
    for (set_id, deeper), depths in unlike.items():
        listed, depth = ", ".join(map(str, depths)), min(depths.values())
        text = (
            f"{deepest} documents deep, the systems behind {set_id} were evaluated to depth "
            f"{depth}; cut it to compare like with like ({listed})"
            if deeper
            else f"only {deepest} documents deep, the systems behind {set_id} {depth}; "
            f"going less deep lowers {listed}"
        )
        yield Message(text, warns=True, run=name, measures=tuple(depths))
    for (set_id, needed), measures in short.items():
        yield from _short_list_messages(name, set_id, needed, measures, sizes)


def _last_rank(measure: Measure, qrels: Qrels) -> int | None:
    """The last rank at which a document matters; None if all do.

    It is the cutoff; of Rprec the number of relevant documents; of RBP also the rank behind which
    all documents together weigh less than :data:`NO_WEIGHT`.
    """
    cutoff: int | None = measure.params.get("cutoff")
    if measure.__name__ == "Rprec":
        return int(qrels.count(measure.params.get("rel", 1)).max(initial=0)) or None
    if measure.__name__ != "RBP":
        return cutoff
    p = measure["p"]
    last = math.ceil(math.log(NO_WEIGHT) / math.log(p)) if p else 1
    return min(cutoff or last, last)


def _is_unlike_depth(deepest: int, depth: int, cutoff: int | None) -> bool:
    """Whether a run's longest list is longer or shorter than what systems were evaluated to."""
    too_deep = deepest > depth and (cutoff is None or cutoff > depth)
    return too_deep or deepest < AS_DEEP * min(cutoff or depth, depth)


def _short_list_messages(
    name: str, set_id: str, needed: int, measures: Sequence[Measure], sizes: Ints
) -> Iterator[Message]:
    """On how many topics a run is shorter than what measures look at.

    Lists end at one length where they were cut, at different ones where nothing else matched, as
    some do of many systems: that is no more than a note, unless most lists are less than half as
    long, and on a tenth of the topics nothing.
    """
    short = sizes[sizes < AS_DEEP * needed]
    same = int(np.bincount(short).max())
    was_cut = same >= max(CUT_TOPICS, len(short) / 2)
    warns = bool(was_cut or np.median(sizes) < needed / 2)
    if not warns and len(short) <= len(sizes) / 10:
        return
    yield Message(
        f"only {_range_of(short)} documents deep on {len(short)} of {len(sizes)} topics, "
        f"{int(sizes.max())} on others, where {', '.join(map(str, measures))} with factors of "
        f"{set_id} looks at {needed}; this lowers it unless nothing else matched",
        warns=warns,
        run=name,
        measures=tuple(measures),
    )


def _range_of(sizes: Ints) -> str:
    lowest, highest = int(sizes.min()), int(sizes.max())
    return f"{lowest}" if lowest == highest else f"{lowest} to {highest}"


def saturation_messages(
    name: str, plans: Sequence[Plan], standardized: Sequence[Floats], told: Iterable[Message]
) -> Iterator[Message]:
    """Whether a run saturates the factors, and what still separates such runs.

    ``standardized`` are its scores by topic, of each plan.  A run that is below nearly all systems
    is told apart by no factors: something is wrong with it; where it is ``told`` what, that is
    enough.
    """
    if any(message.is_fault for message in told):
        return
    far: dict[FactorSet, list[str]] = {}
    below: dict[FactorSet, dict[str, int]] = {}
    for plan, values in zip(plans, standardized, strict=True):
        if plan.of_mean or not saturates(values, plan.measure["scheme"]):
            continue
        known = values[~np.isnan(values)]
        if (low := int((known < NEAR_THE_END).sum())) > len(known) / 2:
            below.setdefault(plan.factors, {})[str(plan.measure)] = low
        else:
            far.setdefault(plan.factors, []).append(str(plan.measure))
    for factors, counts in below.items():
        yield Message(
            f"below nearly all systems of {factors.id} on most {factors.unit}s "
            f"({listed_counts(counts)}): rather a fault of the run than of the scale, such as "
            "scores turned round, other documents or topics; other factors do not mend it",
            run=name,
            is_fault=True,
        )
    for factors, measures in far.items():
        yield Message(
            f"far from most systems of {factors.id} on many {factors.unit}s, where "
            f"{', '.join(measures)} hardly tells such runs apart: use {_alternatives(factors)}",
            run=name,
        )


@lru_cache(maxsize=16)
def _alternatives(factors: FactorSet) -> str:
    """What separates runs that saturate a set."""
    siblings = " or ".join(f"--factors {sibling.id}" for sibling in sibling_sets(factors))
    return f"{siblings}, another scale that needs no link, or scheme z" if siblings else "scheme z"
