"""The differences of two runs: by topic, and on a topic by document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure

from ir_std.errors import UsageError, abbreviate, look_up, suggestion
from ir_std.evaluation.ranked_topics import RankedTopic, formula_of, rank_topics
from ir_std.measures import Standardized
from ir_std.reporting.diff_tables import TABLES_OF_TOPIC, topics_table
from ir_std.reporting.evaluated_runs import EvaluatedRuns
from ir_std.reporting.tables import Table
from ir_std.schemes import EXACT
from ir_std.trec.texts import read_texts

NO_PAIR = (nan, nan)


class TopicDifference(NamedTuple):
    """Two runs' scores on one topic.

    Attributes
    ----------
    topic : str
    raw, standardized : (float, float)
        Of the two runs; NaN where there is none.
    raw_place : int
        Where the topic stands by the size of the raw difference, 1 for the largest.
    """

    topic: str
    raw: tuple[float, float]
    standardized: tuple[float, float]
    raw_place: int


class DocumentDifference(NamedTuple):
    """One document of a topic, and what it adds to the measure of each run.

    Attributes
    ----------
    document : str
    level : int or None
        None where it is not judged.
    ranks : (int or None, int or None)
        None where a run does not have it.
    adds : (float, float)
        NaN where the measure is no sum over documents.
    """

    document: str
    level: int | None
    ranks: tuple[int | None, int | None]
    adds: tuple[float, float]

    @property
    def difference(self) -> float:
        """What it adds to the first run's value less what it adds to the second's."""
        return self.adds[0] - self.adds[1]

    @property
    def adds_something(self) -> bool:
        """Whether it adds to the value of one of the runs."""
        return any(value > 0 for value in self.adds)


@dataclass(frozen=True, eq=False, repr=False)
class RunDiff:
    """The differences of two runs, topic by topic, largest first; it displays in a notebook.

    Attributes
    ----------
    results : EvaluatedRuns
        Of both, and perhaps of others.
    a, b : str
        Their names.
    measure : Measure
        The raw one.
    queries : mapping of str to str
        Texts by topic; empty where none were given.
    docs
        Where texts of documents are read; None for nowhere.
    """

    results: EvaluatedRuns
    a: str
    b: str
    measure: Measure
    queries: Mapping[str, str] = field(default_factory=dict)
    docs: Any = None

    def __repr__(self) -> str:
        by = " and ".join(str(m) for m in (self.measure, self.standardized) if m)
        return f"<RunDiff of {self.a} and {self.b} by {by}: {len(self.topics)} topics>"

    @cached_property
    def standardized(self) -> Standardized | None:
        """The companion of the measure that has values by topic, if there is one."""
        return next(
            (
                m
                for m in self.results.topic_measures
                if isinstance(m, Standardized) and m.base == self.measure
            ),
            None,
        )

    @cached_property
    def topics(self) -> tuple[TopicDifference, ...]:
        """The topics on which both have scores, the largest standardized difference first.

        Where there is none, by the raw one.  On one topic both have the same sign, as no scheme
        changes the order of scores; their sizes differ with the spread of the systems there.
        """
        raw = self._pairs(self.measure)
        standardized = self._pairs(self.standardized) if self.standardized else raw * nan
        sizes, by = (abs(pairs[:, 0] - pairs[:, 1]) for pairs in (raw, standardized))
        known = np.flatnonzero(~np.isnan(sizes))
        order = known[np.argsort(-sizes[known], kind="stable")]
        place = {row: number for number, row in enumerate(order.tolist(), 1)}
        # Topics without factors come last; of equal ones the larger raw difference first.
        rows = sorted(order.tolist(), key=lambda row: -(by[row] if by[row] == by[row] else -1))
        return tuple(
            TopicDifference(
                self.results.topics[row],
                (float(raw[row, 0]), float(raw[row, 1])),
                (float(standardized[row, 0]), float(standardized[row, 1])),
                place[row],
            )
            for row in rows
        )

    def _pairs(self, measure: Measure) -> Any:
        return np.stack([self.results.values[run][measure] for run in (self.a, self.b)], axis=1)

    @property
    def means(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The two runs' means, raw and standardized, over the topics that have both."""
        rows = [t for t in self.topics if self.standardized is None or not isnan(t.standardized[0])]
        if not rows:
            return NO_PAIR, NO_PAIR
        raw, standardized = (
            np.array(list(pairs)).mean(axis=0).tolist()
            for pairs in ([t.raw for t in rows], [t.standardized for t in rows])
        )
        return (raw[0], raw[1]), (standardized[0], standardized[1])

    @property
    def disagreements(self) -> tuple[str, ...]:
        """Where raw and standardized scores tell different things, in sentences."""
        return tuple(self._disagreements()) if self.standardized else ()

    def _disagreements(self) -> Iterator[str]:
        (raw_a, raw_b), (std_a, std_b) = self.means
        if (raw_a - raw_b) * (std_a - std_b) < 0:
            yield (
                f"the means disagree in sign: {self.measure} {raw_a - raw_b:+.4f}, "
                f"{self.standardized} {std_a - std_b:+.4f}"
            )
        equal = [
            t.topic
            for t in self.topics
            if abs(t.raw[0] - t.raw[1]) > EXACT
            and abs(t.standardized[0] - t.standardized[1]) < EXACT
        ]
        if equal:
            yield (
                f"raw scores differ, standardized ones do not on {len(equal)} "
                f"topic{'s' * (len(equal) > 1)}: {', '.join(equal)}"
            )

    @cached_property
    def _on(self) -> dict[str, TopicDiff]:
        return {}

    def on(self, topic: str) -> TopicDiff:
        """What both runs ranked on a topic.

        Raises
        ------
        UsageError
            If there is no such topic, or only scores of a run are known.
        """
        self.load([topic])
        return self._on[topic]

    def load(self, topics: Iterable[str]) -> None:
        """Read what both runs ranked on some topics; errors as for :meth:`on`."""
        known = {t.topic: t for t in self.topics}
        for topic in topics:
            if topic not in known:
                raise UsageError(
                    f"no scores of both runs on a topic {topic!r}{suggestion(topic, known)}; "
                    f"topics here such as {abbreviate(known)}"
                )
        new = [topic for topic in topics if topic not in self._on]
        if not new:
            return
        evaluator = self.results.evaluator
        one, other = (
            rank_topics(
                evaluator,
                self.results.inputs[run],
                run,
                new,
                [self.measure],
                self.results.depth,
            )
            for run in (self.a, self.b)
        )
        documents = dict.fromkeys(
            d for by in (one, other) for r in by.values() for d in r.documents
        )
        # Of all topics at once: a collection's file may be long.
        texts = {} if self.docs is None else read_texts(self.docs, documents, "docs")
        for topic in new:
            self._on[topic] = TopicDiff(self, known[topic], (one[topic], other[topic]), texts)

    def table(self, places: int = 4, top: int | None = 10) -> Table:
        """The topics with the largest differences.

        Parameters
        ----------
        places : int
            Decimals; -1 for all.
        top : int, optional
            So many of them; all with None.
        """
        return topics_table(self, places, top)

    def _repr_html_(self) -> str:
        return self.table().html()


@dataclass(frozen=True, eq=False)
class TopicDiff:
    """Two runs on one topic: what each ranked; it displays in a notebook.

    Attributes
    ----------
    pair : RunDiff
    scores : TopicDifference
    rankings : (RankedTopic, RankedTopic)
    texts : mapping of str to str
        Of documents, by id; empty where none were asked for.
    """

    pair: RunDiff
    scores: TopicDifference
    rankings: tuple[RankedTopic, RankedTopic]
    texts: Mapping[str, str]

    @property
    def is_sum(self) -> bool:
        """Whether the measure is a sum over documents, so that each adds something."""
        formula = formula_of(self.pair.results.evaluator, self.pair.measure)
        return bool(formula and formula.is_sum)

    def document(self, document: str) -> DocumentDifference:
        """One document in both rankings."""
        one, other = self.rankings
        measure = self.pair.measure
        adds = (
            tuple(r.contributions[measure].get(document, 0.0) for r in self.rankings)
            if self.is_sum
            else NO_PAIR
        )
        return DocumentDifference(
            document,
            one.levels.get(document),
            (one.ranks.get(document), other.ranks.get(document)),
            (adds[0], adds[1]),
        )

    @cached_property
    def documents(self) -> tuple[DocumentDifference, ...]:
        """All documents of both, those that add most to the difference first, then by rank."""
        names = dict.fromkeys(d for r in self.rankings for d in r.documents)
        return tuple(
            sorted(
                map(self.document, names),
                key=lambda d: (
                    0 if isnan(d.difference) else -abs(d.difference),
                    min(rank for rank in d.ranks if rank),
                ),
            )
        )

    @property
    def summary(self) -> str:
        """The topic, its query and both runs' scores, in a sentence."""
        query = self.pair.queries.get(self.scores.topic)
        scores = [
            f"{measure} {a:.4f} and {b:.4f}, {a - b:+.4f}"
            for measure, (a, b) in (
                (self.pair.measure, self.scores.raw),
                (self.pair.standardized, self.scores.standardized),
            )
            if measure and not isnan(a - b)
        ]
        return f"Topic {self.scores.topic}{f' ({query})' if query else ''}: {'; '.join(scores)}."

    def table(self, name: str = "rankings", places: int = 4, ranks: int | None = 10) -> Table:
        """One of the tables.

        Parameters
        ----------
        name : {'rankings', 'documents'}
            Both rankings side by side; or document by document what it adds to the difference.
        places : int
            Decimals; -1 for all.
        ranks : int, optional
            So many of the first ranks, or of the documents; all with None.
        """
        return look_up(name, TABLES_OF_TOPIC, "table")(self, places, ranks)

    def _repr_html_(self) -> str:
        return "".join(self.table(name).html() for name in TABLES_OF_TOPIC)
