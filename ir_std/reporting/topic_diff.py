"""What two runs ranked on one topic, and what each document adds to their difference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from ir_std.errors import look_up
from ir_std.evaluation.ranked_topics import RankedTopic
from ir_std.measures import Standardized
from ir_std.reporting.tables import Cell, Table, label_cell, number_cell, signed_cell
from ir_std.schemes import EXACT

SHOWN = 40
"""Letters of a query or a document that a table has room for; CSV and JSON have all."""


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

    def as_dict(self, query: str = "") -> dict[str, Any]:
        """What JSON has of it, and of the query's text if it is known."""
        return {
            "topic": self.topic,
            **({"query": query} if query else {}),
            "raw": _known(self.raw),
            "standardized": _known(self.standardized),
            "raw_place": self.raw_place,
        }


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


@dataclass(frozen=True, eq=False)
class TopicDiff:
    """Two runs on one topic: what each ranked; it displays in a notebook.

    Attributes
    ----------
    runs : (str, str)
        Their names.
    measure : Measure
        The raw one.
    standardized : Standardized or None
        Its companion, if it has values by topic.
    is_sum : bool
        Whether the measure is a sum over documents, so that each adds something.
    scores : TopicDifference
    rankings : (RankedTopic, RankedTopic)
    query : str
        Its text; empty where none is known.
    texts : mapping of str to str or None
        Of documents, by id; None where none were asked for.
    """

    runs: tuple[str, str]
    measure: Measure
    standardized: Standardized | None
    is_sum: bool
    scores: TopicDifference
    rankings: tuple[RankedTopic, RankedTopic]
    query: str = ""
    texts: Mapping[str, str] | None = None

    def document(self, document: str) -> DocumentDifference:
        """One document in both rankings."""
        one, other = self.rankings
        return DocumentDifference(
            document,
            one.levels.get(document),
            (one.ranks.get(document), other.ranks.get(document)),
            (self._added(one, document), self._added(other, document)),
        )

    def _added(self, ranking: RankedTopic, document: str) -> float:
        return ranking.contributions[self.measure].get(document, 0.0) if self.is_sum else nan

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
        scores = [
            f"{measure} {a:.4f} and {b:.4f}, {a - b:+.4f}"
            for measure, (a, b) in (
                (self.measure, self.scores.raw),
                (self.standardized, self.scores.standardized),
            )
            if measure and not isnan(a - b)
        ]
        query = f" ({self.query})" if self.query else ""
        return f"Topic {self.scores.topic}{query}: {'; '.join(scores)}."

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

    def as_dict(self, ranks: int | None = 10) -> dict[str, Any]:
        """What JSON has of it: scores, and each document that adds or is among the first ranks."""
        shown = [
            d
            for d in self.documents
            if abs(d.difference) > 0 or ranks is None or any(r and r <= ranks for r in d.ranks)
        ]
        return {
            **self.scores.as_dict(self.query),
            "documents": [
                {
                    "document": d.document,
                    "level": d.level,
                    "ranks": list(d.ranks),
                    "adds": _known(d.adds),
                    **({} if self.texts is None else {"text": self.texts.get(d.document)}),
                }
                for d in shown
            ],
        }

    def _repr_html_(self) -> str:
        return "".join(self.table(name).html() for name in TABLES_OF_TOPIC)


def rankings_table(topic: TopicDiff, places: int = 4, ranks: int | None = 10) -> Table:
    """Both rankings side by side; :meth:`TopicDiff.table`."""
    longest = max((len(r.documents) for r in topic.rankings), default=0)
    last = longest if ranks is None else min(ranks, longest)
    return Table(
        ("rank", "A", "A level", "in B", "A adds", "B", "B level", "in A", "B adds"),
        tuple(
            (
                count_cell(rank),
                *(cell for run in (0, 1) for cell in _place_cells(topic, run, rank, places)),
            )
            for rank in range(1, last + 1)
        ),
        1,
        tuple(_notes_on_rankings(topic)),
        (4, 4),
    )


def _place_cells(topic: TopicDiff, run: int, rank: int, places: int) -> tuple[Cell, ...]:
    """The document at a rank of one run, with its rank in the other."""
    documents = topic.rankings[run].documents
    if rank > len(documents):
        return (label_cell(""), *[number_cell(nan)] * 3)
    shown = topic.document(documents[rank - 1])
    return (
        label_cell(shown.document),
        count_cell(shown.level),
        count_cell(shown.ranks[1 - run]),
        number_cell(shown.adds[run], places),
    )


def _notes_on_rankings(topic: TopicDiff) -> Iterable[str]:
    yield topic.summary
    yield f"A is {topic.runs[0]}, B is {topic.runs[1]}."
    yield "level: as judged, - if it is not; in A, in B: the rank there; adds: to the measure."
    if not topic.is_sum:
        yield _no_sum(topic)


def _no_sum(topic: TopicDiff) -> str:
    return (
        f"{topic.measure} is no sum over documents, or is computed by another program: what "
        "each adds is not known."
    )


def documents_table(topic: TopicDiff, places: int = 4, ranks: int | None = 10) -> Table:
    """What documents add to the difference, the rest in one row; :meth:`TopicDiff.table`."""
    adding = [d for d in topic.documents if d.adds_something]
    texts = topic.texts or {}
    with_text = topic.texts is not None
    if ranks is None:
        shown = list(topic.documents)
    else:
        first = {name for r in topic.rankings for name in r.documents[:ranks]}
        kept = {d.document for d in adding[:ranks]} | (first if with_text else set())
        shown = [d for d in topic.documents if d.document in kept]
    end = [label_cell("")] * with_text
    rows = [
        (
            label_cell(d.document),
            count_cell(d.level),
            count_cell(d.ranks[0]),
            count_cell(d.ranks[1]),
            *_adds(d.adds, places),
            *[text_cell(texts.get(d.document, ""))] * with_text,
        )
        for d in shown
    ]
    if topic.is_sum:
        names = {d.document for d in shown}
        rest = [d for d in adding if d.document not in names]
        if rest:
            rows.append((*_totals(f"{len(rest)} more", rest, places), *end))
        rows.append((*_totals("all", adding, places, topic), *end))
    return Table(
        (
            "document",
            "level",
            "rank A",
            "rank B",
            "A adds",
            "B adds",
            "A-B",
            *["text"] * with_text,
        ),
        tuple(rows),
        1,
        () if topic.is_sum else (_no_sum(topic),),
    )


def _totals(
    name: str, documents: list[DocumentDifference], places: int, of: TopicDiff | None = None
) -> list[Cell]:
    """Sums over documents; of a whole topic its values."""
    adds = (
        of.scores.raw
        if of
        else (
            sum(d.adds[0] for d in documents),
            sum(d.adds[1] for d in documents),
        )
    )
    return [label_cell(name), *[number_cell(nan)] * 3, *_adds(adds, places)]


def _adds(adds: tuple[float, float], places: int) -> list[Cell]:
    difference = adds[0] - adds[1]
    exact = 0.0 if abs(difference) < EXACT else difference  # and never -0.0000
    return [*(number_cell(x, places) for x in adds), signed_cell(exact, places)]


def count_cell(number: int | None) -> Cell:
    """A whole number; empty for None."""
    return number_cell(nan) if number is None else Cell(f"{number}", number)


def text_cell(text: str) -> Cell:
    """A text, cut where it is long; CSV has all of it."""
    short = text if len(text) <= SHOWN else f"{text[: SHOWN - 1].rstrip()}…"
    return Cell(label_cell(short).text, label_cell(text).text)


TABLES_OF_TOPIC: dict[str, Callable[[TopicDiff, int, int | None], Table]] = {
    "rankings": rankings_table,
    "documents": documents_table,
}
"""What makes each table of a topic, by its name."""


def _known(values: Iterable[float]) -> list[float | None]:
    return [None if isnan(value) else value for value in values]
