"""Define the results of an evaluator: messages, evaluations of runs, and aggregated scores."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ir_measures.util import CalcResults, Metric

from ir_std._arrays import Floats
from ir_std.errors import IrStdError, MissingMeasureError, UsageError, abbreviate, suggestion
from ir_std.factors.match import Match
from ir_std.measures import Measure, Standardized, named_measure

V = TypeVar("V")


class Message(NamedTuple):
    """A note or a warning about scores.

    Attributes
    ----------
    text : str
    is_warning : bool
        True for a warning, which means that scores are misleading; False for a note.
    run : str or None
        Name of the run that the message is about.  In output, the name is printed before ``text``.
    is_fault : bool
        True if the message says that the run looks broken.
    measures : tuple of Measure
        Standardized measures that the message is about; empty if it applies to all measures.
    """

    text: str
    is_warning: bool = False
    run: str | None = None
    is_fault: bool = False
    measures: tuple[Measure, ...] = ()

    def applies_to(self, measure: Measure) -> bool:
        """Check whether the message applies to a raw or standardized measure.

        A message about a standardized measure also applies to the measure's raw version.
        """
        own = (*self.measures, *(m.base for m in self.measures if isinstance(m, Standardized)))
        return not own or measure in own


def message_texts(messages: Iterable[Message], is_warning: bool) -> tuple[str, ...]:
    """Return each warning or note once, and begin each text with the names of its runs."""
    runs_by_text: dict[str, dict[str, None]] = {}
    for message in messages:
        if message.is_warning == is_warning:
            runs = runs_by_text.setdefault(message.text, {})
            if message.run is not None:
                runs[message.run] = None
    return tuple(
        f"{abbreviate(runs)}: {text}" if runs else text for text, runs in runs_by_text.items()
    )


def listed_counts(counts: Mapping[str, int]) -> str:
    """Return measures and their counts as text, such as ``AP on 3, P@10 on 1``."""
    return ", ".join(f"{measure} on {n}" for measure, n in counts.items())


@dataclass(eq=False, repr=False)
class Evaluation:
    """One run's scores on all topics of the qrels.

    Attributes
    ----------
    run : str
    measures : tuple of Measure
        The evaluator's measures in the evaluator's order, followed by other raw measures that are
        needed to compute the standardized measures.
    columns : tuple of ndarray, shape (n_topics,)
        Values of each measure.  The value is NaN if the measure has no value on a topic.  For
        example, a standardized measure has no value on a topic without factors.
    averages : tuple of float
        Means of the evaluator's measures.  Standardized measures are averaged over the topics
        with factors.
    messages : tuple of Message
        Messages about this run.
    """

    run: str
    measures: tuple[Measure, ...]
    columns: tuple[Floats, ...]
    averages: tuple[float, ...]
    messages: tuple[Message, ...]

    @property
    def is_broken(self) -> bool:
        """True if a message says that the run looks broken."""
        return any(message.is_fault for message in self.messages)

    @cached_property
    def values(self) -> Mapping[Measure, Floats]:
        """Values per topic, by measure."""
        return dict(zip(self.measures, self.columns, strict=True))

    @cached_property
    def means(self) -> Mapping[Measure, float]:
        """Means by measure."""
        return dict(zip(self.measures, self.averages, strict=False))


class ByRun(dict[str, V]):
    """A dict by run name; for an unknown run, the error lists the available runs."""

    def __missing__(self, run: str) -> V:
        available = abbreviate(self, 10) or "none"
        raise UsageError(f"unknown run {run!r}; available: {available}{suggestion(str(run), self)}")


class ByMeasure(dict[Measure, V]):
    """A dict by measure that also accepts a measure's name, in any equivalent spelling.

    >>> from ir_std import P
    >>> means = ByMeasure({P(rel=2) @ 10: 0.5})
    >>> means["P(rel=2)@10"], means["P(cutoff=10, rel=2)"], "AP" in means
    (0.5, 0.5, False)
    """

    def __getitem__(self, measure: Measure | str) -> V:
        return super().__getitem__(self._key(measure))

    def __missing__(self, measure: Measure | str) -> V:
        raise MissingMeasureError(
            f"no score of {measure}; available: {', '.join(map(str, self)) or 'none'}"
        )

    def __contains__(self, measure: object) -> bool:
        return super().__contains__(self._key(measure))

    get = Mapping.get  # type: ignore[assignment]  # It calls ``__getitem__``.

    def _key(self, measure: Any) -> Any:
        """Return the measure that a name means; return any other key unchanged."""
        if not isinstance(measure, str):
            return measure
        try:
            return named_measure(measure, (m for m in self if isinstance(m, Measure)))
        except IrStdError:
            return measure


class Scores(ByMeasure[float]):
    """Aggregated scores by measure or measure name, with the factor set that was used.

    Attributes
    ----------
    match : Match or None
        The factor set used and how well it matches; None if no measure was standardized.
    notes : tuple of str
        Notes, such as measures without factors or missing topics.
    warnings : tuple of str
        Warnings, each of which means that scores are misleading.

    Examples
    --------
    >>> scores = ir_std.calc_aggregate("AP", "qrels.txt", "bm25.run")
    >>> scores["sAP"] == scores[ir_std.sAP]
    True
    >>> scores.match.factors.id, scores.match.chosen_by
    ('trec8-adhoc', 'qrels')
    """

    match: Match | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


if TYPE_CHECKING:

    class CalcResult(NamedTuple):
        """Means and values per topic."""

        aggregated: Scores
        per_query: list[Metric]
else:

    class CalcResult(CalcResults):
        """Means and values per topic."""

        __slots__ = ()
