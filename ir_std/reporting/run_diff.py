"""The differences of two runs: by topic, and on a topic by document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan, nan
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_std.errors import UsageError, abbreviate, counted, suggestion
from ir_std.evaluation.ranked_topics import formula_of, rank_topics
from ir_std.measures import Standardized
from ir_std.reporting.evaluated_runs import EvaluatedRuns
from ir_std.reporting.tables import Cell, Table, label_cell, number_cell, signed_cell
from ir_std.reporting.topic_diff import TopicDiff, TopicDifference, count_cell, text_cell
from ir_std.schemes import EXACT
from ir_std.trec.texts import read_texts

NO_PAIR = (nan, nan)


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
        return f"<RunDiff of {self.a} and {self.b} by {by}: {counted(len(self.topics), 'topic')}>"

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
                f"raw scores differ, standardized ones do not on "
                f"{counted(len(equal), 'topic')}: {', '.join(equal)}"
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
        texts = None if self.docs is None else read_texts(self.docs, documents, "docs")
        formula = formula_of(evaluator, self.measure)
        for topic in new:
            self._on[topic] = TopicDiff(
                (self.a, self.b),
                self.measure,
                self.standardized,
                bool(formula and formula.is_sum),
                known[topic],
                (one[topic], other[topic]),
                self.queries.get(topic, ""),
                texts,
            )

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

    def as_dict(self, top: int | None = 10) -> dict[str, Any]:
        """What JSON has of it: the means' disagreements, and the first topics."""
        return {
            "a": self.a,
            "b": self.b,
            "measure": str(self.measure),
            "standardized": self.standardized and str(self.standardized),
            "disagreements": list(self.disagreements),
            "topics": [t.as_dict(self.queries.get(t.topic, "")) for t in self.topics[:top]],
        }

    def _repr_html_(self) -> str:
        return self.table().html()


def topics_table(pair: RunDiff, places: int = 4, top: int | None = 10) -> Table:
    """The topics with the largest differences, and the means; :meth:`RunDiff.table`."""
    shown = pair.topics[:top]
    measures = [m for m in (pair.measure, pair.standardized) if m]
    labels = ["topic", *["query"] * bool(pair.queries)]
    rows = [
        (
            label_cell(t.topic),
            *[text_cell(pair.queries.get(t.topic, ""))] * bool(pair.queries),
            *_scores(pair, (t.raw, t.standardized), places),
            *[count_cell(t.raw_place)] * bool(pair.standardized),
        )
        for t in shown
    ]
    if pair.topics:
        rows.append(
            (
                label_cell("mean"),
                *[label_cell("")] * bool(pair.queries),
                *_scores(pair, pair.means, places),
                *[count_cell(None)] * bool(pair.standardized),
            )
        )
    return Table(
        (
            *labels,
            *(f"{m} {run}" for m in measures for run in ("A", "B", "A-B")),
            *["raw place"] * bool(pair.standardized),
        ),
        tuple(rows),
        len(labels),
        tuple(_notes_on_topics(pair, shown)),
        (*[3] * len(measures), *[1] * bool(pair.standardized)),
    )


def _scores(pair: RunDiff, pairs: Iterable[tuple[float, float]], places: int) -> list[Cell]:
    known = [p for p, m in zip(pairs, (pair.measure, pair.standardized), strict=True) if m]
    return [
        cell
        for a, b in known
        for cell in (
            number_cell(a, places),
            number_cell(b, places),
            signed_cell(a - b, places),
        )
    ]


def _notes_on_topics(pair: RunDiff, shown: tuple[TopicDifference, ...]) -> Iterable[str]:
    yield f"A is {pair.a}, B is {pair.b}."
    if not pair.standardized:
        yield f"No factors for {pair.measure}: topics by the size of the raw difference."
    else:
        first = f"The {len(shown)} largest" if len(shown) > 1 else "The largest"
        yield (
            f"{first} of {counted(len(pair.topics), 'topic')} by {pair.standardized}; raw "
            f"place: by the size of the difference in {pair.measure}."
        )
        rest = [t for t in pair.topics[len(shown) :] if t.raw_place <= len(shown)]
        if rest:
            topics = ", ".join(f"{t.topic} ({t.raw_place})" for t in rest)
            yield f"Raw differences as large, but not standardized (raw place): {topics}."
    for text in pair.disagreements:
        yield f"{text[0].upper()}{text[1:]}."
