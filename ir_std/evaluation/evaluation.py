"""What an evaluator gives: one run's evaluation, and its scores in ir_measures' forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ir_measures.measures import Measure
from ir_measures.util import CalcResults, Metric

from ir_std._arrays import Floats
from ir_std.evaluation.by_measure import ByMeasure
from ir_std.evaluation.messages import Message
from ir_std.factors.recognition import Match


@dataclass(eq=False, repr=False)
class Evaluation:
    """One run's scores on all topics of the qrels.

    Attributes
    ----------
    run : str
    measures : tuple of Measure
        The evaluator's measures in their order, then the raw ones that its standardized ones
        are made from.
    columns : tuple of ndarray, shape (n_topics,)
        Their values.  NaN where there is no value: a topic without factors.
    averages : tuple of float
        Means of the evaluator's measures; of standardized ones over topics with factors.
    messages : tuple of Message
        About this run.
    provider_results : tuple of Metric or None
        The values from other providers, as they gave them; None if a score file was read.
    """

    run: str
    measures: tuple[Measure, ...]
    columns: tuple[Floats, ...]
    averages: tuple[float, ...]
    messages: tuple[Message, ...]
    provider_results: tuple[Metric, ...] | None

    @cached_property
    def values(self) -> Mapping[Measure, Floats]:
        """The columns by measure."""
        return dict(zip(self.measures, self.columns, strict=True))

    @cached_property
    def means(self) -> Mapping[Measure, float]:
        """The averages by measure."""
        return dict(zip(self.measures, self.averages, strict=False))


class Scores(ByMeasure[float]):
    """Aggregated scores by measure, or its name, and where their factors came from.

    Attributes
    ----------
    match : Match or None
        The factor set used and how well it fits; None if nothing was to be standardized.
    notes, warnings : tuple of str
        What a reader should know: plain measures that the set has no factors for, topics that
        the run lacks; and what makes scores misleading.

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

    class Calculated(NamedTuple):
        """Means, and values by topic."""

        aggregated: Scores
        per_query: list[Metric]
else:

    class Calculated(CalcResults):
        """Means, and values by topic."""

        __slots__ = ()
