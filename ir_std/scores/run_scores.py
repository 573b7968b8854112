"""One run's scores by measure and topic, computed by another program."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ir_std._arrays import Floats, Ints
from ir_std.errors import InputError, abbreviate, pluralize
from ir_std.measures import ExternalMeasure, Measure, sign_of
from ir_std.measures.records import survives_rounding
from ir_std.reading import Ids
from ir_std.trec import Qrels

COARSE = 0.005
"""Smallest rounding step that ir_std ignores; for example, 0.2 may be exactly 0.2000."""
SUMMARY = "all"
"""Topic name that stands for the mean, as in trec_eval and ir_measures."""
ALL_COLLECTIONS = "all of these"
"""Name of the mean over collections in a table of comparisons."""


@dataclass(eq=False, repr=False)
class RunScores:
    """One run's scores, computed by another program.

    Attributes
    ----------
    name : str
        Name for messages.
    values : mapping of Measure to mapping of str to float
        Scores by measure and topic; NaN if the file has no value.
    n_rel : mapping of str to int
        Number of relevant documents (``num_rel``) by topic; empty if the file has none.
    n_ret : mapping of str to int
        Number of retrieved documents (``num_ret``) by topic; empty if the file has none.
    step : float
        Rounding step of the values, such as 0.0001 for four decimals; 0 for exact values.
    unlisted : int
        Number of topics that the file's means include but the file does not list.
    skipped : tuple of str
        Names in the file that are not raw measures.
    unit : {'topic', 'dataset'}
        Unit of a score: topics, or whole datasets.
    means : mapping of Measure to float
        Means that the file states; a file may hold only means.
    decimals : mapping of Measure to int
        Largest number of decimals in a value of the measure.
    level : int
        Lowest relevance level of the documents that ``n_rel`` counts; 1 if no qrels show the level.
    """

    name: str
    values: Mapping[Measure, Mapping[str, float]]
    n_rel: Mapping[str, int] = field(default_factory=dict)
    n_ret: Mapping[str, int] = field(default_factory=dict)
    step: float = 0.0
    unlisted: int = 0
    skipped: tuple[str, ...] = ()
    unit: str = "topic"
    means: Mapping[Measure, float] = field(default_factory=dict)
    decimals: Mapping[Measure, int] = field(default_factory=dict)
    level: int = 1

    def __repr__(self) -> str:
        what = pluralize(len(self.topics), self.unit) if self.values else "means"
        measures = map(str, self.values or self.means)
        return f"<RunScores of {self.name}: {what}, {abbreviate(measures)}>"

    @cached_property
    def topics(self) -> tuple[str, ...]:
        """Topics that have a value, in the file's order."""
        return tuple(
            dict.fromkeys(
                [*self.n_rel, *(topic for column in self.values.values() for topic in column)]
            )
        )

    def check_listed(self) -> RunScores:
        """Return the scores themselves; raise an error if there are only means."""
        if not self.values:
            raise InputError.at(
                self.name,
                f"only means ({', '.join(map(str, self.means))}), no scores per topic",
                "list the topics with -q",
            )
        return self

    def step_of(self, measure: Measure) -> float:
        """Return the rounding step of a measure's values; 0 if no decimals were lost."""
        if survives_rounding(measure, self.step):
            return 0.0
        if isinstance(measure, ExternalMeasure):  # the scale is unknown, but whole grades are exact
            step = 10.0 ** -self.decimals.get(measure, 0)
            return step if self.step and step < COARSE else 0.0
        return self.step

    def column(self, measure: Measure, topics: Iterable[str]) -> Floats:
        """Return a measure's values on these topics; 0 on topics that the run lacks altogether.

        The value is NaN instead of 0 in three cases: if the run has the topic but not this measure;
        if lower is better, because 0 would be the best score; and for datasets without a result,
        because a missing result says nothing about the model.
        """
        of_measure, mine = self.values[measure], set(self.topics)
        lacking = 0.0 if self.unit == "topic" and sign_of(measure) > 0 else math.nan
        return np.array([of_measure.get(t, math.nan if t in mine else lacking) for t in topics])

    def joined(self, other: RunScores) -> RunScores:
        """Join these scores with the scores of the same run on other topics."""
        values: dict[Measure, dict[str, float]] = {m: dict(v) for m, v in self.values.items()}
        for measure, column in other.values.items():
            mine = values.setdefault(measure, {})
            if twice := mine.keys() & column.keys():
                raise InputError.at(
                    other.name, f"duplicate {measure} for {min(twice)}", "pass each result once"
                )
            mine.update(column)
        steps = (self.step, other.step)
        return RunScores(
            self.name,
            values,
            {**self.n_rel, **other.n_rel},
            {**self.n_ret, **other.n_ret},
            0.0 if 0 in steps else min(steps),
            self.unlisted + other.unlisted,
            tuple(dict.fromkeys(self.skipped + other.skipped)),
            self.unit,
            decimals={**self.decimals, **other.decimals},
        )


class QrelsFromCounts(Qrels):
    """Qrels without documents, with the numbers of relevant documents if these are known.

    Parameters
    ----------
    n_rel : mapping of str to int or None
        Number of relevant documents by topic; None if unknown.
    name : str
        Name for messages.
    external : iterable of str
        External measures that have scores.
    """

    def __init__(
        self, n_rel: Mapping[str, int | None], name: str = "scores", external: Iterable[str] = ()
    ) -> None:
        nothing = np.zeros(0, np.int64)
        super().__init__(list(n_rel), nothing, Ids.of([]), nothing, name)
        self.n_rel = dict(n_rel)
        self.external = tuple(external)

    def count(self, level: int = 1) -> Ints:
        """Return the number of relevant documents per topic; 0 if it is unknown."""
        return np.array([n or 0 for n in self.n_rel.values()], np.int64)


def counted_topics(runs: Iterable[RunScores]) -> QrelsFromCounts:
    """Make qrels from all runs' topics and the numbers of relevant documents that the runs state.

    Raises
    ------
    InputError
        If two runs disagree on the number of relevant documents or have different units, or if a
        run has no topic in common with the runs before it.
    """
    runs = list(runs)
    n_rel: dict[str, int | None] = {}
    owner: dict[str, RunScores] = {}
    for run in runs:
        _check_alike(run, runs[0], n_rel)
        for topic, count in run.n_rel.items():
            other = owner.setdefault(topic, run)
            if count != other.n_rel[topic]:
                raise InputError.at(
                    run.name,
                    f"topic {topic} has {count} relevant documents here and {other.n_rel[topic]} "
                    f"in {other.name}",
                    "compare runs under the same judgments",
                )
        for topic in run.topics:
            n_rel[topic] = run.n_rel.get(topic, n_rel.get(topic))
    measures = (measure for run in runs for measure in run.values)
    external = dict.fromkeys(str(m) for m in measures if isinstance(m, ExternalMeasure))
    return QrelsFromCounts(n_rel, runs[0].name if len(runs) == 1 else "scores", external)


def _check_alike(run: RunScores, first: RunScores, earlier: Mapping[str, object]) -> None:
    """Check that a run has the unit of the first run, and a known topic."""
    if run.unit != first.unit:
        of_datasets, other = (run, first) if run.unit == "dataset" else (first, run)
        raise InputError.at(
            of_datasets.name,
            f"scores of whole datasets, unlike the scores per topic in {other.name}",
            "pass them separately",
        )
    if earlier and earlier.keys().isdisjoint(run.topics):
        raise InputError.at(
            run.name,
            f"no topic in common with {first.name} (topics such as "
            f"{run.topics[0]} instead of {next(iter(earlier))})",
            "evaluate each collection by itself, or use ir_std compare",
        )
