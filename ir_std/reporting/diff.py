"""Compare two runs topic by topic and document by document.

Like DiffIR (K. M. Jose, T. Nguyen, S. MacAvaney, J. Dalton, A. Yates, "DiffIR: Exploring
Differences in Ranking Models' Behavior", SIGIR 2021, 2595-2599), this module shows two rankings
next to each other.  The topics to show are those with the largest difference of standardized
scores.  The tables also show how much each document adds to the difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np

from ir_std._arrays import EXACT
from ir_std.errors import UsageError, abbreviate, look_up, pluralize, suggestion
from ir_std.evaluation.api import SystemsSelection
from ir_std.evaluation.inputs import resolve, resolve_runs
from ir_std.evaluation.raw_scores import RankedTopic, rank_topics
from ir_std.factors.catalog import Factors
from ir_std.measures import Measure, Measures, Standardized, as_measures
from ir_std.reporting.difference import Difference
from ir_std.reporting.model import Results
from ir_std.reporting.results import evaluate
from ir_std.reporting.sentences import diff_notes, disagreements
from ir_std.reporting.tables import Cell, Table, Value, label_cell, make_table, number_cell
from ir_std.schemes import scheme_names
from ir_std.trec import read_texts

MAX_TEXT_CHARS = 40
"""Largest number of characters of a text in a table; CSV and JSON hold whole texts."""
TABLES = ("rankings", "documents")
"""The tables of a topic."""
Pair = tuple[float, float]
"""The values of both runs."""


def diff(
    a: Any,
    b: Any,
    qrels: Any,
    measure: Measures | None = None,
    scheme: str = "N",
    *,
    factors: Factors | None = None,
    systems: SystemsSelection = None,
    without: str | Iterable[str] = (),
    residual: bool = False,
    depth: int | None = None,
    docs: Any = None,
    queries: Any = None,
    duplicates: str = "error",
) -> RunDiff:
    """Compare two runs on a measure, by topic and by document.

    Parameters
    ----------
    a, b
        Two runs in any form that :func:`evaluate` accepts.  Inputs
        that hold only scores, such as systems of factor sets, can be compared by topic, but not by
        document.
    qrels
        As for :func:`evaluate`.
    measure : Measure or str, optional
        Raw or standardized measure.  By default, the first measure of the factor set.
    scheme, factors, systems, without, residual, depth, duplicates
        As for :func:`evaluate`, but with only one scheme.
    docs, queries : mapping, str, path or file, optional
        Texts to show.  Pass a mapping ``{id: text}``, a file, or the ID of an ir_datasets dataset;
        an ID may start a download.  Each line of a file is a JSON record, or an ID and a text with
        a tab between them.

    Raises
    ------
    InputError
        If a file cannot be used.
    UsageError
        If there is more than one measure or scheme.
    NoFactorsError
        If you name a standardized measure that has no factors.

    Examples
    --------
    >>> pair = ir_std.diff("bm25.run", "mono.run", "qrels.txt", "nDCG@10")
    >>> pair
    <RunDiff of bm25 and mono by nDCG@10 and snDCG@10: 50 topics>
    >>> topic = pair.topics[0]
    >>> first = topic.topic
    >>> adds = sum(each.difference for each in pair.on(first).documents)
    >>> abs(adds - (topic.raw[0] - topic.raw[1])) < 1e-12
    True
    """
    schemes = scheme_names(scheme)
    if len(schemes) != 1:
        raise UsageError(f"expected one scheme, got {len(schemes)} ({scheme!r})")
    asked = None if measure is None else as_measures(measure)
    if asked is not None and len(asked) != 1:
        raise UsageError(f"expected one measure, got {len(asked)}")
    if asked and isinstance(asked[0], Standardized):
        asked, schemes = [asked[0].base, asked[0]], ()  # The measure names its scheme.
    given = resolve_runs([a, b], duplicates=duplicates)
    if len(given) != 2:
        raise UsageError(f"expected two runs, got {', '.join(given)}")
    results = evaluate(
        {name: resolve(run) for name, run in given.items()},  # Read each run only once.
        qrels,
        asked,
        schemes,
        factors=factors,
        systems=systems,
        without=without,
        residual=residual,
        depth=depth,
    )
    texts = {} if queries is None else read_texts(queries, results.topics, "queries")
    a, b = results.runs
    return RunDiff(results, a, b, results.measures[0], texts, docs)


class TopicScores(NamedTuple):
    """Scores of two runs on one topic.

    Attributes
    ----------
    topic : str
    raw, standardized : (float, float)
        The scores of both runs; NaN for missing scores.
    raw_place : int
        The topic's rank by the size of the raw difference, 1 for the largest.
    """

    topic: str
    raw: Pair
    standardized: Pair
    raw_place: int


class PairedDocument(NamedTuple):
    """One document of a topic, with the ranks in both runs.

    Attributes
    ----------
    document : str
    level : int or None
        Relevance level; None if the document is not judged.
    ranks : (int or None, int or None)
        Ranks in both runs; None if a run does not have the document.
    adds : (float, float)
        Amounts that the document adds to the scores of both runs; NaN if the measure is not a sum
        over documents.
    """

    document: str
    level: int | None
    ranks: tuple[int | None, int | None]
    adds: Pair

    @property
    def difference(self) -> float:
        """Amount added to the first run's score minus amount added to the second run's score."""
        return self.adds[0] - self.adds[1]


@dataclass(frozen=True, eq=False, repr=False)
class RunDiff:
    """Differences of two runs by topic, largest first.

    A notebook shows the differences as a table.

    Attributes
    ----------
    results : Results
        Results of both runs, and possibly of other runs.
    a, b : str
        The names of the two runs.
    measure : Measure
        The raw measure.
    queries : mapping of str to str
        Query texts by topic; empty if no texts were given.
    docs
        Source of the documents' texts, as for :func:`diff`; None for no texts.
    """

    results: Results
    a: str
    b: str
    measure: Measure
    queries: Mapping[str, str] = field(default_factory=dict)
    docs: Any = None
    _on: dict[str, TopicDiff] = field(default_factory=dict, init=False)

    def __repr__(self) -> str:
        by = " and ".join(map(str, self._measures))
        n = pluralize(len(self.topics), self.results.collection.unit)
        return f"<RunDiff of {self.a} and {self.b} by {by}: {n}>"

    @cached_property
    def standardized(self) -> Standardized | None:
        """Standardized measure with values per topic; None without such a measure."""
        return next(
            (
                m
                for m in self.results.collection.topic_measures
                if isinstance(m, Standardized) and m.base == self.measure
            ),
            None,
        )

    @cached_property
    def topics(self) -> tuple[TopicScores, ...]:
        """Topics on which both runs have scores, largest standardized difference first.

        Without a standardized measure, the largest raw difference comes first.  On one topic, the
        raw and the standardized difference have the same sign, because no scheme changes the order
        of scores.  The ratio of the two sizes depends on how widely the reference systems' scores
        are spread on the topic.
        """
        pairs = zip(
            self.results.topics,
            self._pairs(self.measure),
            self._pairs(self.standardized),
            strict=True,
        )
        with_difference = [each for each in pairs if _size(each[1]) >= 0]
        with_difference.sort(key=lambda each: -_size(each[1]))
        by_raw = [TopicScores(*each, place) for place, each in enumerate(with_difference, 1)]
        # Topics without factors come last.  Topics with equal differences keep their raw order.
        return tuple(sorted(by_raw, key=lambda topic: -_size(topic.standardized)))

    def _pairs(self, measure: Measure | None) -> list[Pair]:
        """Return both runs' values on each topic; NaN without a measure."""
        if measure is None:
            return [(nan, nan)] * len(self.results.topics)
        one, other = (self.results.values[run][measure].tolist() for run in (self.a, self.b))
        return list(zip(one, other, strict=True))

    @property
    def means(self) -> tuple[Pair, Pair]:
        """Raw and standardized means of both runs, over topics with both kinds of scores."""
        rows = [t for t in self.topics if self.standardized is None or not isnan(t.standardized[0])]
        if not rows:
            return (nan, nan), (nan, nan)
        raw, standardized = np.mean([(t.raw, t.standardized) for t in rows], axis=0).tolist()
        return (*raw,), (*standardized,)

    @property
    def disagreements(self) -> tuple[str, ...]:
        """Sentences about contradictions between raw and standardized scores."""
        return tuple(disagreements(self)) if self.standardized else ()

    def on(self, topic: str) -> TopicDiff:
        """Show the rankings of both runs on a topic.

        Raises
        ------
        UsageError
            If a run has no score on this topic, or has only scores and no documents.
        """
        self.load([topic])
        return self._on[topic]

    def load(self, topics: Iterable[str]) -> None:
        """Read both runs' rankings on some topics; raise the same errors as :meth:`on`."""
        by_name = {t.topic: t for t in self.topics}
        for topic in topics:
            if topic not in by_name:
                raise UsageError(
                    f"topic {topic!r} does not have scores of both runs; "
                    f"choose from {abbreviate(by_name)}{suggestion(topic, by_name)}"
                )
        new = [topic for topic in topics if topic not in self._on]
        if not new:
            return
        of = self.results.collection
        one, other = (
            rank_topics(of.evaluator, of.inputs[run], run, new, [self.measure], of.depth)
            for run in (self.a, self.b)
        )
        ranked = (r for by_topic in (one, other) for r in by_topic.values())
        documents = dict.fromkeys(d for r in ranked for d in r.documents)
        # Read the texts for all topics at once, because a collection's file may be long.
        texts = None if self.docs is None else read_texts(self.docs, documents, "docs")
        formula = of.evaluator.formulas.get(str(self.measure))
        is_sum = bool(formula and formula.terms)
        for topic in new:
            self._on[topic] = TopicDiff(
                self, by_name[topic], (one[topic], other[topic]), is_sum, texts
            )

    def table(self, places: int = 4, top: int | None = 10) -> Table:
        """Show the topics with the largest differences, and the means.

        Parameters
        ----------
        places : int
            Number of decimals; -1 for all.
        top : int, optional
            Number of topics; None for all.
        """
        shown, measures = self.topics[:top], self._measures
        rows: list[list[Value]] = []
        for t in shown:
            query = [_text_cell(self.queries.get(t.topic, ""))] * bool(self.queries)
            rows.append([t.topic, *query, *self._cells((t.raw, t.standardized), places)])
            rows[-1] += [t.raw_place] * (len(measures) - 1)
        if self.topics:
            rows.append(["mean", *[""] * bool(self.queries), *self._cells(self.means, places)])
            rows[-1] += [None] * (len(measures) - 1)
        labels = [self.results.collection.unit, *["query"] * bool(self.queries)]
        columns = [f"{m} {run}" for m in measures for run in ("A", "B", "A-B")]
        last = ["raw place"] * (len(measures) - 1)
        groups = [3] * len(measures) + [1] * len(last)
        header = [*labels, *columns, *last]
        return make_table(header, rows, len(labels), diff_notes(self, shown), groups)

    def _cells(self, pairs: tuple[Pair, Pair], places: int) -> Iterator[Cell]:
        """Yield the cells of the raw values and, if they are known, of the standardized values."""
        for pair in pairs[: len(self._measures)]:
            yield from _values_cells(pair, places)

    @property
    def _measures(self) -> list[Measure]:
        """Raw measure, followed by the standardized measure if it is known."""
        return [m for m in (self.measure, self.standardized) if m]

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Differences of the runs' means, raw and standardized, with tests over topics."""
        with_topics = [m for m in self._measures if m in self.results.collection.topic_measures]
        return tuple(self.results.difference(self.a, self.b, m) for m in with_topics)

    def as_dict(self, top: int | None = 10) -> dict[str, Any]:
        """Convert to a dict for JSON, with the first ``top`` topics."""
        return {
            "a": self.a,
            "b": self.b,
            "measure": str(self.measure),
            "standardized": self.standardized and str(self.standardized),
            "disagreements": list(self.disagreements),
            "topics": [self._topic_dict(t) for t in self.topics[:top]],
        }

    def _topic_dict(self, t: TopicScores) -> dict[str, Any]:
        query = self.queries.get(t.topic)
        return {"topic": t.topic, **({"query": query} if query else {}), **_plain(t)}

    def _repr_html_(self) -> str:
        return self.table().html()


@dataclass(frozen=True, eq=False)
class TopicDiff:
    """Rankings of two runs on one topic.

    A notebook shows the rankings as tables.

    Attributes
    ----------
    pair : RunDiff
        The two runs.
    scores : TopicScores
        The scores of both runs on the topic.
    rankings : (RankedTopic, RankedTopic)
        Rankings of the two runs.
    is_sum : bool
        True if the measure is a sum over documents, so that each document's part is known.
    texts : mapping of str to str or None
        Texts of the documents by ID; None if no texts were requested.
    """

    pair: RunDiff
    scores: TopicScores
    rankings: tuple[RankedTopic, RankedTopic]
    is_sum: bool
    texts: Mapping[str, str] | None = None

    def document(self, document: str) -> PairedDocument:
        """Look up one document in both rankings."""
        one, other = self.rankings
        return PairedDocument(
            document,
            one.levels.get(document),
            (one.ranks.get(document), other.ranks.get(document)),
            (self._added(one, document), self._added(other, document)),
        )

    def _added(self, ranking: RankedTopic, document: str) -> float:
        if not self.is_sum:
            return nan
        return ranking.contributions[self.pair.measure].get(document, 0.0)

    @cached_property
    def documents(self) -> tuple[PairedDocument, ...]:
        """Documents of both runs, sorted by contribution to the difference, then by rank."""
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
        """Sentence with the topic, its query and both runs' scores."""
        scores = [
            f"{measure} {a:.4f} and {b:.4f}, {a - b:+.4f}"
            for measure, (a, b) in (
                (self.pair.measure, self.scores.raw),
                (self.pair.standardized, self.scores.standardized),
            )
            if measure and not isnan(a - b)
        ]
        text = self.pair.queries.get(self.scores.topic)
        query = f" ({text})" if text else ""
        return f"Topic {self.scores.topic}{query}: {'; '.join(scores)}."

    def table(self, name: str = "rankings", places: int = 4, ranks: int | None = 10) -> Table:
        """Show both rankings side by side, or the contributions of documents.

        Parameters
        ----------
        name : {'rankings', 'documents'}
        places : int
            Number of decimals; -1 for all.
        ranks : int, optional
            Number of ranks, or of documents; None for all.
        """
        tables = {"rankings": self._rankings_table, "documents": self._documents_table}
        return look_up(name, tables, "table")(places, ranks)

    def _rankings_table(self, places: int, ranks: int | None) -> Table:
        longest = max(len(r.documents) for r in self.rankings)
        last = longest if ranks is None else min(ranks, longest)
        return make_table(
            ("rank", "A", "A level", "in B", "A adds", "B", "B level", "in A", "B adds"),
            (
                (rank, *(value for run in (0, 1) for value in self._values_at(run, rank)))
                for rank in range(1, last + 1)
            ),
            1,
            (
                self.summary,
                f"A is {self.pair.a}, B is {self.pair.b}.",
                "level is the relevance level, or - if the document is not judged. The columns "
                "'in B' and 'in A' have the document's rank in the other run. adds is how much the "
                "document adds to the measure.",
                *self._no_sum,
            ),
            (4, 4),
            places,
        )

    def _values_at(self, run: int, rank: int) -> tuple[Value, ...]:
        """Return the ID, level, rank in the other run and contribution of a run's document."""
        documents = self.rankings[run].documents
        if rank > len(documents):
            return "", None, None, None
        shown = self.document(documents[rank - 1])
        return shown.document, shown.level, shown.ranks[1 - run], shown.adds[run]

    def _documents_table(self, places: int, ranks: int | None) -> Table:
        adding = [d for d in self.documents if max(d.adds) > 0]
        shown = list(self.documents)
        if ranks is not None:
            kept = {d.document for d in adding[:ranks]}
            if self.texts is not None:
                kept.update(name for r in self.rankings for name in r.documents[:ranks])
            shown = [d for d in shown if d.document in kept]
        lines = [*shown]
        if self.is_sum:
            rest = [d.adds for d in adding if d not in shown]
            if rest:
                adds = sum(a for a, _ in rest), sum(b for _, b in rest)
                lines.append(PairedDocument(f"{len(rest)} more", None, (None, None), adds))
            lines.append(PairedDocument("all", None, (None, None), self.scores.raw))
        header = ["document", "level", "rank A", "rank B", "A adds", "B adds", "A-B"]
        rows: list[list[Value]] = [
            [d.document, d.level, *d.ranks, *_values_cells(d.adds, places)] for d in lines
        ]
        if self.texts is not None:
            header.append("text")
            for row, d in zip_longest(rows, shown):
                row.append(_text_cell(self.texts.get(d.document, "")) if d else "")
        return make_table(header, rows, 1, self._no_sum)

    @property
    def _no_sum(self) -> tuple[str, ...]:
        text = (
            f"The contributions of documents are unknown, because {self.pair.measure} is not a sum "
            "over documents or is computed by another program."
        )
        return () if self.is_sum else (text,)

    def as_dict(self, ranks: int | None = 10) -> dict[str, Any]:
        """Convert to a dict for JSON.

        The dict has the top documents, and all documents that add different amounts to the two
        scores.
        """
        shown = [
            d
            for d in self.documents
            if abs(d.difference) > 0 or ranks is None or any(r and r <= ranks for r in d.ranks)
        ]
        return {
            **self.pair._topic_dict(self.scores),
            "documents": [
                _plain(d) | ({} if self.texts is None else {"text": self.texts.get(d.document)})
                for d in shown
            ],
        }

    def _repr_html_(self) -> str:
        return "".join(self.table(name).html() for name in TABLES)


def _size(values: Pair) -> float:
    """Return the size of the difference of two values; -1 if it is unknown."""
    size = abs(values[0] - values[1])
    return -1.0 if isnan(size) else size


def _values_cells(values: Pair, places: int) -> list[Cell]:
    """Make cells of both runs' values and their difference."""
    difference = values[0] - values[1]
    exact = 0.0 if abs(difference) < EXACT else difference  # Do not print -0.0000.
    return [*(number_cell(x, places) for x in values), number_cell(exact, places, "+")]


def _text_cell(text: str) -> Cell:
    """Make a cell of a text, shortened if it is long; CSV holds the whole text."""
    short = text if len(text) <= MAX_TEXT_CHARS else f"{text[: MAX_TEXT_CHARS - 1].rstrip()}\u2026"
    return Cell(label_cell(short).text, label_cell(text).text)


def _plain(record: TopicScores | PairedDocument) -> dict[str, Any]:
    """Convert a record to a dict for JSON, with lists for tuples, and None for NaN."""
    return {
        name: [None if x != x else x for x in value] if isinstance(value, tuple) else value
        for name, value in record._asdict().items()
    }
