"""What a reader of the scores should know: collected as data, said once by whoever shows them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_std.errors import abbreviate
from ir_std.evaluation.plans import Plan
from ir_std.factors.catalog import sibling_sets
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.quality import saturates
from ir_std.factors.recognition import Match
from ir_std.scores.run_scores import CountedTopics, RunScores
from ir_std.trec.qrels import Qrels
from ir_std.trec.runs import Run

AS_DEEP = 0.9
"""A run is as deep as the systems if its longest list has this share of their documents."""


class Message(NamedTuple):
    """One thing to know.

    Attributes
    ----------
    text : str
    warns : bool
        Whether the scores mislead who does not know it; else it is a note.
    run : str or None
        The run it is about; then ``text`` goes on from its name.
    """

    text: str
    warns: bool = False
    run: str | None = None


def message_texts(messages: Iterable[Message], warns: bool) -> tuple[str, ...]:
    """The warnings or the notes among messages: each text once, with the runs that it is about."""
    runs: dict[str, dict[str, None]] = {}
    for message in messages:
        if message.warns == warns:
            about = runs.setdefault(message.text, {})
            if message.run is not None:
                about[message.run] = None
    return tuple(f"{abbreviate(names)}: {text}" if names else text for text, names in runs.items())


def factor_messages(plans: Iterable[Plan], matches: Iterable[Match]) -> Iterator[Message]:
    """What is to be known of the factors on these topics, whatever the runs."""
    plans, matches = list(plans), list(matches)
    for found in matches:
        if found.fit and found.fit.doubt:
            yield Message(
                f"{found.fit.factors.id}: {found.fit.doubt}", warns=found.fit.basis != "names"
            )
    yield from _gaps(plans)
    yield from _of_datasets(plans)
    yield from _flat(plans)
    for found in matches:
        if found.fit and found.others and found.chosen_by == "qrels" and found.fit.partial:
            # Other systems on the same collection leave no doubt of which it is.
            beside = {other.id for other in sibling_sets(found.fit.factors)}
            if others := [name for name in found.others if name not in beside]:
                used = found.fit.factors.id
                yield Message(
                    f"these topics are a part of {used}, which is used, but also of "
                    f"{', '.join(others)}; name the set with factors= or --factors, or in "
                    f"the measure: {plans[0].measure(factors=used)}",
                    warns=True,
                )


def _of_datasets(plans: list[Plan]) -> Iterator[Message]:
    """Whom a run is compared with on whole data sets, and what misleads there."""
    told: dict[str, dict[str, str]] = {}
    for p in plans:
        if p.factors.of_datasets:
            about = p.factors.info.get("datasets", {})
            told.setdefault(p.factors.info.get("population", ""), {}).update(
                (topic, note) for topic in p.topics if (note := about.get(topic, {}).get("note"))
            )
            if p.of_mean:
                yield from _spread(p)
    for population, notes in told.items():
        if population:
            yield Message(f"compared with {population}")
        for topic, note in notes.items():
            yield Message(f"{topic}: {note}")


def _spread(p: Plan) -> Iterator[Message]:
    scores = p.factors.scores.get(p.name)
    row = p.rows[0]
    if scores is not None and row >= 0:
        known = scores[row][~np.isnan(scores[row])]
        yield Message(
            f"{p.raw} of the {len(known)} systems on {p.topics[0]}: mean "
            f"{known.mean():.4f}, median {np.median(known):.4f}, deviation "
            f"{known.std(ddof=1):.4f}"
        )


def topics_without_factors(p: Plan) -> list[str]:
    """The topics that a measure has no factors on."""
    known = ~(np.isnan(p.factors.mean[p.name]) | np.isnan(p.factors.sd[p.name]))
    return [p.topics[i] for i in np.flatnonzero((p.rows < 0) | ~known[p.rows]).tolist()]


def _gaps(plans: list[Plan]) -> Iterator[Message]:
    without: dict[str, dict[str, None]] = {}
    for p in plans:
        without.setdefault(p.factors.id, {}).update(dict.fromkeys(topics_without_factors(p)))
    for name, topics in without.items():
        if topics:
            yield Message(
                f"{len(topics)} topic{'s' * (len(topics) > 1)} without factors in {name}, "
                f"left out of standardized means: {abbreviate(topics)}",
                warns=True,
            )


def _flat(plans: list[Plan]) -> Iterator[Message]:
    """Topics on which all systems scored the same."""
    flat: dict[str, dict[str, int]] = {}
    for p in plans:
        if p.measure["scheme"] == "E":
            continue
        n = int((p.factors.sd[p.name][p.rows[p.rows >= 0]] == 0).sum())
        if n:
            flat.setdefault(p.factors.id, {})[str(p.measure.base)] = n
    for name, counts in flat.items():
        listed = ", ".join(f"{measure} on {n}" for measure, n in counts.items())
        yield Message(
            f"the systems of {name} all scored the same on some topics ({listed}): there "
            "N and U are 0 below that score, 0.5 at it and 1 above, and z has no value"
        )


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


def run_messages(
    name: str, plans: Iterable[Plan], run: Run, qrels: Qrels, relevant: int
) -> Iterator[Message]:
    """What is to be known of one run: topics it lacks, and how deep it goes.

    ``relevant`` is the number of relevant documents that were found in it.
    """
    sizes = [b - a for t, (a, b) in run.bounds.items() if t in qrels.positions]
    lacking = len(qrels.topics) - sum(size > 0 for size in sizes)
    if lacking:
        yield Message(
            f"{lacking} of the {len(qrels.topics)} topics are not in it: they count as 0", run=name
        )
    if sizes and not relevant and not len(run.find(qrels.targets(True)).score):
        yield Message("none of its documents is judged", run=name)
    yield from _about_depth(name, plans, max(sizes, default=0))


def score_messages(
    name: str,
    plans: Iterable[Plan],
    scores: RunScores,
    qrels: Qrels,
    columns: Mapping[Measure, npt.NDArray[np.float64]],
    steps: Mapping[Measure, float],
) -> Iterator[Message]:
    """What is to be known of scores that were computed elsewhere.

    ``columns`` are the raw values by topic, ``steps`` those in which they were written.
    """
    plans, mine = list(plans), set(scores.topics)
    lacking = sum(topic not in mine for topic in qrels.topics)
    if lacking and scores.unit == "topic":
        yield Message(
            f"{lacking} of the {len(qrels.topics)} topics are not in it: they count as 0", run=name
        )
    if scores.unlisted:
        yield Message(
            f"its means are over {scores.unlisted} more topic"
            f"{'s' * (scores.unlisted > 1)} than it lists, here they are over those "
            "listed; give the qrels too, and the others count as 0",
            warns=isinstance(qrels, CountedTopics),
            run=name,
        )
    empty = {str(m): n for m, column in columns.items() if (n := int(np.isnan(column).sum()))}
    if empty:
        listed = ", ".join(f"{measure} on {n}" for measure, n in empty.items())
        what = "data sets" if scores.unit == "collection" else "topics"
        yield Message(f"has no value of {listed} of the {what}: left out of the means", True, name)
    if scores.skipped:
        yield Message(
            f"passed over what is no raw measure here: {abbreviate(scores.skipped)}", run=name
        )
    yield from _about_rounding(name, plans, columns, steps)
    if scores.n_ret:
        yield from _about_depth(name, plans, max(scores.n_ret.values()))


def _about_rounding(
    name: str,
    plans: Iterable[Plan],
    columns: Mapping[Measure, npt.NDArray[np.float64]],
    steps: Mapping[Measure, float],
) -> Iterator[Message]:
    changes: dict[float, dict[str, float]] = {}
    for p in plans:
        step = steps[p.raw]
        if step:
            changes.setdefault(step, {})[str(p.measure)] = p.uncertainty(columns[p.raw], step)
    for step, by_measure in changes.items():
        listed = ", ".join(f"{measure} by {_upwards(most)}" for measure, most in by_measure.items())
        yield Message(
            f"scores are written in steps of {step:g}: without that, raw means could "
            f"differ by {step / 2:g}, and means of {listed} at most",
            run=name,
        )


def _upwards(value: float) -> str:
    """A number rounded up to one digit."""
    if not value:
        return "0"
    power = 10.0 ** math.floor(math.log10(value))
    return f"{math.ceil(value / power - 1e-9) * power:.1g}"


def _about_depth(name: str, plans: Iterable[Plan], deepest: int) -> Iterator[Message]:
    for (factors, deeper), touched in _unlike_depth(plans, deepest).items():
        listed = ", ".join(map(str, touched))
        depth = min(touched.values())
        if deeper:
            yield Message(
                f"{deepest} documents deep, the systems behind {factors} were "
                f"evaluated to depth {depth}; cut it to compare like with like ({listed})",
                warns=True,
                run=name,
            )
        else:
            yield Message(
                f"only {deepest} documents deep, the systems behind {factors} {depth}; "
                f"going less deep lowers {listed}",
                warns=True,
                run=name,
            )


class Alternatives(dict[FactorSet, str]):
    """By factor set what still tells runs apart that saturate it; looked up when first asked."""

    def __missing__(self, factors: FactorSet) -> str:
        others = [other.id for other in sibling_sets(factors)]
        self[factors] = f"{', '.join(others)} or scheme z" if others else "scheme z"
        return self[factors]


def saturation_messages(
    name: str,
    plans: Sequence[Plan],
    standardized: Sequence[npt.NDArray[np.float64]],
    instead: Alternatives,
) -> Iterator[Message]:
    """Whether a run saturates the factors, and what still tells such runs apart.

    ``standardized`` are its scores by topic, of each plan.
    """
    full: dict[FactorSet, list[str]] = {}
    for p, values in zip(plans, standardized, strict=True):
        if not p.of_mean and saturates(values, p.measure["scheme"]):
            full.setdefault(p.factors, []).append(str(p.measure))
    for factors, measures in full.items():
        yield Message(
            f"far from most systems of {factors.id} on many topics, where "
            f"{', '.join(measures)} hardly tells such runs apart: use {instead[factors]}",
            run=name,
        )


def _unlike_depth(
    plans: Iterable[Plan], deepest: int
) -> dict[tuple[str, bool], dict[Measure, int]]:
    """The measures of each set for which a run goes deeper than its systems, or less deep.

    With each measure the systems' depth.  A measure with a cutoff looks no deeper than that.
    """
    touched: dict[tuple[str, bool], dict[Measure, int]] = {}
    for p in plans:
        depth = p.factors.about(p.name, "depth")
        cutoff = p.raw.params.get("cutoff")
        if (
            depth
            and deepest
            and (
                deepest < AS_DEEP * min(cutoff or depth, depth)
                or (cutoff is None and deepest > depth)
            )
        ):
            touched.setdefault((p.factors.id, deepest > depth), {})[p.measure] = depth
    return touched
