"""Is B better than A everywhere?  Differences by collection, and their summary over all.

For each collection the mean difference over the topics that both have, raw and standardized, and
the effect size; over the collections a random-effects summary, as in medicine (Soboroff, CIKM
2018; Sertkan, Althammer and Hofstätter, ACL 2023).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from math import inf, nan, sqrt

import numpy.typing as npt
from ir_measures.measures import Measure

from ir_std.analysis.corrections import get_correction
from ir_std.analysis.effects import Summary, paired_effect, random_effects
from ir_std.analysis.estimate import Estimate
from ir_std.analysis.paired import describe_correction, get_test
from ir_std.errors import UsageError
from ir_std.measures import parse_measure
from ir_std.reporting.tables import (
    Cell,
    Table,
    interval_cell,
    label_cell,
    p_value_cell,
    signed_cell,
)

MIN_SUMMARIZED = 3
"""With fewer collections there is no summary."""
MIN_COLLECTIONS = 5
"""With fewer collections than this the summary is said to be of few."""
NORMAL = 1.959963984540054
"""The normal quantile of 95 percent intervals; effect sizes are normal to the first order."""


@dataclass(frozen=True)
class Effect:
    """How a system differs from the baseline on one collection, by one measure.

    Attributes
    ----------
    collection : str
    difference : Estimate
        The mean, over the topics on which both have a score, of the system's less the baseline's.
    p, p_adjusted : float
        From a two-sided test over topics, Student's paired t-test unless another was asked for; and
        adjusted for the number of systems that were tested on this collection.
    size, size_error : float
        The standardized mean difference, Hedges' g, and its standard error over topics.
    """

    collection: str
    difference: Estimate
    p: float
    p_adjusted: float
    size: float
    size_error: float

    @classmethod
    def of(
        cls,
        collection: str,
        differences: npt.ArrayLike,
        systems_error: float = 0.0,
        systems_df: float = inf,
    ) -> Effect:
        """From differences by topic, NaN where one has no score."""
        effect = paired_effect(differences)
        return cls(
            collection,
            Estimate.of(differences, systems_error, systems_df),
            effect.p,
            effect.p,
            effect.size,
            sqrt(effect.size_variance),
        )


@dataclass(frozen=True)
class SystemEffects:
    """A system against the baseline by one measure, over collections.

    Attributes
    ----------
    system, baseline : str
    measure : Measure
    effects : tuple of Effect
    overlap : str
        Which collections share topics; they would count twice, so there is no summary then.
    label : str
        What the measure is called, of linked scores with the link; its name if not given.
    """

    system: str
    baseline: str
    measure: Measure
    effects: tuple[Effect, ...]
    overlap: str = ""
    label: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or str(self.measure))

    def points(self, size: bool = False) -> list[tuple[float, float, float]]:
        """For each collection the effect, its standard error, and half of its 95% interval."""
        if size:
            return [(e.size, e.size_error, NORMAL * e.size_error) for e in self.effects]
        return [(e.difference.mean, e.difference.error, e.difference.half) for e in self.effects]

    @property
    def known(self) -> tuple[bool, ...]:
        """For each collection whether there is an effect: it may have no factors."""
        return tuple(e.difference.n > 0 for e in self.effects)

    def summarized(self, size: bool = False) -> tuple[bool, ...]:
        """For each collection whether it is in the summary: not without spread, or of one topic."""
        return tuple(
            known and error > 0
            for known, (_, error, _) in zip(self.known, self.points(size), strict=True)
        )

    def left_out(self) -> tuple[str, ...]:
        """The collections with an effect that are not in the summary."""
        used = self.summarized()
        return tuple(
            e.collection for e, k, u in zip(self.effects, self.known, used, strict=True) if k > u
        )

    def why_not(self, size: bool = False) -> str:
        """Why there is no summary; empty if there is one."""
        if sum(self.known) < 2:
            return "there is one collection only"
        if self.overlap:
            return self.overlap
        used = sum(self.summarized(size))
        if used >= MIN_SUMMARIZED:
            return ""
        if left_out := self.left_out():
            return f"its differences have no spread on {', '.join(left_out)}"
        return f"a summary takes {MIN_SUMMARIZED} collections"

    def summary(self, size: bool = False, method: str = "pm") -> Summary | None:
        """The random-effects summary of the differences, or sizes; None if there is none.

        Hartung and Knapp's interval, but not narrower than the normal one.

        Parameters
        ----------
        size : bool
        method : {'pm', 'reml', 'dl'}
            See :func:`ir_std.analysis.effects.random_effects`.
        """
        if self.why_not(size):
            return None
        points = list(compress(self.points(size), self.summarized(size)))
        return random_effects(
            [effect for effect, _, _ in points],
            [error**2 for _, error, _ in points],
            method,
            widen=True,
        )

    @property
    def is_few(self) -> bool:
        """Whether the summary is of so few collections that readers are told."""
        return sum(self.summarized()) < MIN_COLLECTIONS


@dataclass(frozen=True)
class Effects:
    """Systems against a baseline, over collections.

    Attributes
    ----------
    baseline : str
    measures : tuple of Measure
        Each raw one, and behind it its standardized companions.
    by_system : tuple of SystemEffects
        By system, and for each by measure.
    notes : tuple of str
        What a reader must know of these collections.
    test : str
        The test over topics.
    correction : str or None
        How p-values are adjusted, each measure by itself: those over topics for the number of
        systems on each collection, the summaries' for the number of systems.  As for
        :func:`ir_std.analysis.paired.paired_tests`, but where none is given the summaries'
        p-values are always adjusted by Holm's.
    """

    baseline: str
    measures: tuple[Measure, ...]
    by_system: tuple[SystemEffects, ...]
    notes: tuple[str, ...] = ()
    test: str = "t"
    correction: str | None = None

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems that are compared with the baseline."""
        return tuple(dict.fromkeys(s.system for s in self.by_system))

    @cached_property
    def _by_key(self) -> dict[tuple[str, Measure], SystemEffects]:
        return {(s.system, s.measure): s for s in self.by_system}

    def of(self, measure: Measure | str, system: str | None = None) -> SystemEffects:
        """One system by one measure; the first system if none is named.

        Raises
        ------
        UsageError
            If there is no such system or measure.
        """
        system = self.systems[0] if system is None else system
        measure = parse_measure(measure)
        if (system, measure) not in self._by_key:
            raise UsageError(
                f"no effects of {system} by {measure}: there are "
                f"{', '.join(self.systems)} by {', '.join(map(str, self.measures))}"
            )
        return self._by_key[system, measure]

    def table(self, places: int = 4) -> Table:
        """A row for each system and collection, and below each system's rows its summary.

        For each measure the difference with its 95 percent interval, p, and Hedges' g.
        """
        header = ["system", "collection", "topics"]
        for measure in self.measures:
            header += [self.of(measure).label, f"{measure} p", f"{measure} g"]
        rows = [row for system in self.systems for row in self._rows(system, places)]
        return Table(tuple(header), tuple(rows), 3, self._table_notes(), (3,) * len(self.measures))

    def _rows(self, system: str, places: int) -> list[tuple[Cell, ...]]:
        by_measure = [self._by_key[system, measure] for measure in self.measures]
        rows = [
            (
                label_cell(system),
                label_cell(effects[0].collection),
                label_cell(count_range(e.difference.n for e in effects)),
                *(
                    cell
                    for effect, measure in zip(effects, self.measures, strict=True)
                    for cell in self._effect_cells(effect, places, measure)
                ),
            )
            for effects in zip(*(s.effects for s in by_measure), strict=True)
        ]
        if all(s.why_not() for s in by_measure):
            return rows
        below: dict[str, Callable[[SystemEffects], tuple[Cell, ...]]] = {
            "summary": lambda s: self._summary_cells(s, places),
            "one more collection": lambda s: _prediction_cells(s, places),
            "DerSimonian-Laird": lambda s: self._summary_cells(s, places, "dl"),
            "variation": _variation_cells,
        }
        return rows + [
            (
                label_cell(system),
                label_cell(name),
                label_cell(""),
                *(cell for s in by_measure for cell in cells_of(s)),
            )
            for name, cells_of in below.items()
        ]

    def _effect_cells(self, effect: Effect, places: int, measure: Measure) -> tuple[Cell, ...]:
        """The difference with its interval, the p-values of both, and g."""
        d = effect.difference
        adjusted = self.interval_p(effect, measure)
        cell = p_value_cell(d.p, adjusted, self.correction)
        held = p_value_cell(effect.p, effect.p_adjusted)
        if self.test != "t" or d.systems_error > 0:
            name = "factors held"
            values = {name: effect.p, f"{name} adjusted": effect.p_adjusted}
            cell = replace(cell, text=f"{cell.text} ({held.text})", extra={**cell.extra, **values})
        return (
            interval_cell(d.mean, *d.interval, places, {"topics": d.topics, "systems": d.systems}),
            cell,
            signed_cell(effect.size, 2, {"error": effect.size_error}),
        )

    def interval_p(self, effect: Effect, measure: Measure) -> float:
        """The p-value of one interval, adjusted for the number of systems on its collection."""
        correct, _ = get_correction(self.correction or "holm")
        peers = [
            e
            for s in self.by_system
            if s.measure == measure
            for e in s.effects
            if e.collection == effect.collection
        ]
        adjusted = correct([e.difference.p for e in peers])
        return float(adjusted[next(i for i, e in enumerate(peers) if e is effect)])

    def _summary_cells(
        self, effects: SystemEffects, places: int, method: str = "pm"
    ) -> tuple[Cell, Cell, Cell]:
        """The summary with its interval, p, and that of the sizes."""
        s, g = effects.summary(False, method), effects.summary(True, method)
        return (
            interval_cell(s.effect, s.low, s.high, places) if s else label_cell("-"),
            p_value_cell(s.p if s else nan, self.summary_p(effects, method), self.correction),
            signed_cell(g.effect if g else nan, 2, {"error": g.error} if g else {}),
        )

    def summary_p(self, effects: SystemEffects, method: str = "pm") -> float:
        """The p-value of one summary, adjusted for the number of systems; NaN without a summary."""
        correct, _ = get_correction(self.correction or "holm")
        summaries = [self.of(effects.measure, s).summary(False, method) for s in self.systems]
        adjusted = correct([s.p if s else nan for s in summaries])
        return float(adjusted[self.systems.index(effects.system)])

    def _table_notes(self) -> tuple[str, ...]:
        notes = [
            f"Differences from {self.baseline}, the mean over the topics that both have, with "
            f"95 percent intervals: over topics, and for standardized ones over the "
            f"standardizing systems too, which both share. p: {self._test_method()}. g: the "
            f"difference in units of its deviation over topics (Hedges)."
        ]
        if any(not s.why_not() for s in self.by_system):
            notes.append(
                "Summary: random effects, Paule and Mandel's variance between collections "
                "with Hartung and Knapp's interval, but not narrower than the normal one, and "
                f"beside it DerSimonian and Laird's{self._summary_adjustment()}. "
                "One more collection: where the true difference on another such "
                "collection may lie (Student's t with one degree of freedom less than there "
                "are collections). Variation: the number of collections, Cochran's Q "
                "and its p, the share I2 of the variance that is between collections (Higgins "
                "and Thompson's, of Q), and tau, its deviation."
            )
        notes += [
            f"By {s.measure} the summary of {s.system} is without {', '.join(left_out)}: the "
            "differences there have no spread."
            for s in self.by_system
            if not s.why_not() and (left_out := s.left_out())
        ]
        notes += [
            f"{s.system} has no summary by {s.measure}: {s.why_not()}."
            for s in self.by_system
            if s.why_not() and not s.overlap and sum(s.known) > 1
        ]
        return (*notes, *self.notes)

    def _test_method(self) -> str:
        """What the p-values are of, and for how many comparisons they are adjusted."""
        n_systems = Counter(
            e.collection for s in self.by_system if s.measure == self.measures[0] for e in s.effects
        )
        interval = self._adjustment("t", n_systems)
        test = f"two-sided {get_test(self.test)[1]} over topics"
        held = f"{test}{self._adjustment(self.test, n_systems)}, factors held"
        if set(n_systems.values()) == {1}:
            return f"that of the interval; in brackets {held}"
        return (
            f"that of the interval{interval}, each collection and measure by itself; in "
            f"brackets {held}; intervals are not adjusted"
        )

    def _adjustment(self, test: str, n_systems: Mapping[str, int]) -> str:
        return " or".join(
            dict.fromkeys(describe_correction(test, self.correction, n) for n in n_systems.values())
        )

    def _summary_adjustment(self) -> str:
        n_systems = len({s.system for s in self.by_system if not s.why_not()})
        adjustment = describe_correction("t", self.correction, n_systems)
        return f", p{adjustment}" if adjustment else ""


def count_range(counts: Iterable[int]) -> str:
    """The least and the largest of some counts of topics that are not 0."""
    known = sorted({n for n in counts if n})
    return f"{known[0]} to {known[-1]}" if len(known) > 1 else "".join(map(str, known))


def _prediction_cells(effects: SystemEffects, places: int) -> tuple[Cell, ...]:
    """The prediction interval."""
    s = effects.summary()
    low, high = s.predicted if s else (nan, nan)
    return interval_cell(nan, low, high, places), label_cell(""), label_cell("")


def _variation_cells(effects: SystemEffects) -> tuple[Cell, ...]:
    """How much the differences vary between collections: Q, I2, tau; the p-value of Q."""
    s = effects.summary()
    if s is None:
        return label_cell("-"), label_cell("-"), label_cell("")
    text = f"{s.n}: Q {s.q:.1f}, I2 {100 * s.i2:.0f}%, tau {sqrt(s.tau2):.3f}"
    values = {"q": s.q, "i2": s.i2, "tau2": s.tau2}
    return Cell(text, text, values), p_value_cell(s.q_p), label_cell("")
