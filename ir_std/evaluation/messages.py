"""Messages about scores: collected as data, shown once by whoever reports the scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ir_measures.measures import Measure

from ir_std.errors import abbreviate
from ir_std.measures import Standardized
from ir_std.scores.run_scores import CountedTopics
from ir_std.trec.qrels import Qrels


class Message(NamedTuple):
    """Something a reader should know of the scores.

    Attributes
    ----------
    text : str
    warns : bool
        Whether scores mislead a reader who does not know it; else it is a note.
    run : str or None
        The run it is about, whose name stands before ``text``.
    is_fault : bool
        Whether it says that the run looks broken.
    measures : tuple of Measure
        The standardized measures that alone it is about; none if it is about all.
    """

    text: str
    warns: bool = False
    run: str | None = None
    is_fault: bool = False
    measures: tuple[Measure, ...] = ()

    def concerns(self, measure: Measure) -> bool:
        """Whether it is about a measure, or about the raw one behind one of its own."""
        own = (*self.measures, *(m.base for m in self.measures if isinstance(m, Standardized)))
        return not own or measure in own


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


def listed_counts(counts: Mapping[str, int]) -> str:
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
            f"{', '.join(map(str, graded))}: gains are shares of {highest}, the highest level of "
            f"{set_id}, of which these topics are a part (their own highest is {qrels.max_level})"
        )
