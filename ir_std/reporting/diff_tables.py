"""The tables of two runs' differences, and the same as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from ir_std.reporting.tables import Cell, Table, label_cell, number_cell, signed_cell
from ir_std.schemes import EXACT

if TYPE_CHECKING:
    from ir_std.reporting.run_diff import DocumentDifference, RunDiff, TopicDiff, TopicDifference

SHOWN = 40
"""Letters of a query or a document that a table has room for; CSV and JSON have all."""


def topics_table(pair: RunDiff, places: int = 4, top: int | None = 10) -> Table:
    """The topics with the largest differences, and the means; :meth:`RunDiff.table`."""
    shown = pair.topics[:top]
    measures = [m for m in (pair.measure, pair.standardized) if m]
    labels = ["topic", *["query"] * bool(pair.queries)]
    rows = [
        (
            label_cell(t.topic),
            *[_text_cell(pair.queries.get(t.topic, ""))] * bool(pair.queries),
            *_scores(pair, (t.raw, t.standardized), places),
            *[_count_cell(t.raw_place)] * bool(pair.standardized),
        )
        for t in shown
    ]
    if pair.topics:
        rows.append(
            (
                label_cell("mean"),
                *[label_cell("")] * bool(pair.queries),
                *_scores(pair, pair.means, places),
                *[_count_cell(None)] * bool(pair.standardized),
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
            f"{first} of {len(pair.topics)} topics by {pair.standardized}; raw "
            f"place: by the size of the difference in {pair.measure}."
        )
        rest = [t for t in pair.topics[len(shown) :] if t.raw_place <= len(shown)]
        if rest:
            topics = ", ".join(f"{t.topic} ({t.raw_place})" for t in rest)
            yield f"Raw differences as large, but not standardized (raw place): {topics}."
    for text in pair.disagreements:
        yield f"{text[0].upper()}{text[1:]}."


def rankings_table(topic: TopicDiff, places: int = 4, ranks: int | None = 10) -> Table:
    """Both rankings side by side; :meth:`TopicDiff.table`."""
    longest = max((len(r.documents) for r in topic.rankings), default=0)
    last = longest if ranks is None else min(ranks, longest)
    return Table(
        ("rank", "A", "A level", "in B", "A adds", "B", "B level", "in A", "B adds"),
        tuple(
            (
                _count_cell(rank),
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
        _count_cell(shown.level),
        _count_cell(shown.ranks[1 - run]),
        number_cell(shown.adds[run], places),
    )


def _notes_on_rankings(topic: TopicDiff) -> Iterable[str]:
    yield topic.summary
    yield f"A is {topic.pair.a}, B is {topic.pair.b}."
    yield "level: as judged, - if it is not; in A, in B: the rank there; adds: to the measure."
    if not topic.is_sum:
        yield _no_sum(topic)


def _no_sum(topic: TopicDiff) -> str:
    return (
        f"{topic.pair.measure} is no sum over documents, or is computed by another program: what "
        "each adds is not known."
    )


def documents_table(topic: TopicDiff, places: int = 4, ranks: int | None = 10) -> Table:
    """What documents add to the difference, the rest in one row; :meth:`TopicDiff.table`."""
    adding = [d for d in topic.documents if d.adds_something]
    with_text = topic.pair.docs is not None
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
            _count_cell(d.level),
            _count_cell(d.ranks[0]),
            _count_cell(d.ranks[1]),
            *_adds(d.adds, places),
            *[_text_cell(topic.texts.get(d.document, ""))] * with_text,
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


def _count_cell(number: int | None) -> Cell:
    return number_cell(nan) if number is None else Cell(f"{number}", number)


def _text_cell(text: str) -> Cell:
    short = text if len(text) <= SHOWN else f"{text[: SHOWN - 1].rstrip()}…"
    return Cell(label_cell(short).text, label_cell(text).text)


TABLES_OF_TOPIC: dict[str, Callable[[TopicDiff, int, int | None], Table]] = {
    "rankings": rankings_table,
    "documents": documents_table,
}
"""What makes each table of a topic, by its name."""


def diff_as_dict(pair: RunDiff, topics: Iterable[str], top: int | None, ranks: int | None) -> Any:
    """Everything as JSON has it: the first topics, and those asked for with their documents."""
    return {
        "a": pair.a,
        "b": pair.b,
        "measure": str(pair.measure),
        "standardized": pair.standardized and str(pair.standardized),
        "disagreements": list(pair.disagreements),
        "topics": [_topic_dict(pair, t) for t in pair.topics[:top]],
        "rankings": [_rankings_dict(pair.on(topic), ranks) for topic in topics],
    }


def _topic_dict(pair: RunDiff, topic: TopicDifference) -> dict[str, Any]:
    return {
        "topic": topic.topic,
        **({"query": pair.queries.get(topic.topic)} if pair.queries else {}),
        "raw": _known(topic.raw),
        "standardized": _known(topic.standardized),
        "raw_place": topic.raw_place,
    }


def _rankings_dict(topic: TopicDiff, ranks: int | None) -> dict[str, Any]:
    shown = [
        d
        for d in topic.documents
        if abs(d.difference) > 0 or ranks is None or any(rank and rank <= ranks for rank in d.ranks)
    ]
    return {
        **_topic_dict(topic.pair, topic.scores),
        "documents": [
            {
                "document": d.document,
                "level": d.level,
                "ranks": list(d.ranks),
                "adds": _known(d.adds),
                **({"text": topic.texts.get(d.document)} if topic.pair.docs is not None else {}),
            }
            for d in shown
        ],
    }


def _known(values: Iterable[float]) -> list[float | None]:
    return [None if isnan(value) else value for value in values]
