"""Is B better than A everywhere?  Differences by collection, their summaries, and their table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan, sqrt

from ir_measures.measures import Measure

from ir_std.analysis.effects import METHODS
from ir_std.analysis.paired import describe_correction, get_correction, get_test
from ir_std.errors import UsageError, abbreviate
from ir_std.measures import parse_measure
from ir_std.reporting.system_effects import Effect, SystemEffects
from ir_std.reporting.tables import (
    Cell,
    Table,
    interval_cell,
    label_cell,
    p_value_cell,
    signed_cell,
)


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

    @property
    def random_effects(self) -> str:
        """How summaries estimate the variance between collections."""
        return self.by_system[0].random_effects

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
        return _effects_table(self, places)

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

    def summary_p(self, effects: SystemEffects, method: str | None = None) -> float:
        """The p-value of one summary, adjusted for the number of systems; NaN without a summary."""
        correct, _ = get_correction(self.correction or "holm")
        summaries = [self.of(effects.measure, s).summary(False, method) for s in self.systems]
        adjusted = correct([s.p if s else nan for s in summaries])
        return float(adjusted[self.systems.index(effects.system)])


# The table


def _effects_table(effects: Effects, places: int) -> Table:
    """A row for each system and collection, and below each system's rows its summary."""
    header = ["system", "collection", "topics"]
    for measure in effects.measures:
        header += [effects.of(measure).label, f"{measure} p", f"{measure} g"]
    rows = [row for system in effects.systems for row in _rows(effects, system, places)]
    columns = (3,) * len(effects.measures)
    return Table(tuple(header), tuple(rows), 3, tuple(_notes(effects)), columns)


def count_range(counts: Iterable[int]) -> str:
    """The least and the largest of some counts of topics that are not 0."""
    known = sorted({n for n in counts if n})
    return f"{known[0]} to {known[-1]}" if len(known) > 1 else "".join(map(str, known))


def _rows(effects: Effects, system: str, places: int) -> list[tuple[Cell, ...]]:
    by_measure = [effects.of(measure, system) for measure in effects.measures]
    rows = [
        (
            label_cell(system),
            label_cell(on_collection[0].collection),
            label_cell(count_range(e.difference.n for e in on_collection)),
            *(
                cell
                for effect, measure in zip(on_collection, effects.measures, strict=True)
                for cell in _effect_cells(effects, effect, places, measure)
            ),
        )
        for on_collection in zip(*(s.effects for s in by_measure), strict=True)
    ]
    if all(s.why_not() for s in by_measure):
        return rows
    below: dict[str, Callable[[SystemEffects], tuple[Cell, ...]]] = {
        "summary": lambda s: _summary_cells(effects, s, places),
        "one more collection": lambda s: _prediction_cells(s, places),
        "DerSimonian-Laird": lambda s: _summary_cells(effects, s, places, "dl"),
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


def _effect_cells(
    effects: Effects, effect: Effect, places: int, measure: Measure
) -> tuple[Cell, ...]:
    """The difference with its interval, the p-values of both, and g."""
    d = effect.difference
    adjusted = effects.interval_p(effect, measure)
    cell = p_value_cell(d.p, adjusted, effects.correction)
    held = p_value_cell(effect.p, effect.p_adjusted)
    if effects.test != "t" or d.systems_error > 0:
        name = "factors held"
        values = {name: effect.p, f"{name} adjusted": effect.p_adjusted}
        cell = replace(cell, text=f"{cell.text} ({held.text})", extra={**cell.extra, **values})
    return (
        interval_cell(d.mean, *d.interval, places, {"topics": d.topics, "systems": d.systems}),
        cell,
        signed_cell(effect.size, 2, {"error": effect.size_error}),
    )


def _summary_cells(
    effects: Effects, of_system: SystemEffects, places: int, method: str | None = None
) -> tuple[Cell, Cell, Cell]:
    """The summary with its interval, p, and that of the sizes."""
    s, g = of_system.summary(False, method), of_system.summary(True, method)
    adjusted = effects.summary_p(of_system, method)
    return (
        interval_cell(s.effect, s.low, s.high, places) if s else label_cell("-"),
        p_value_cell(s.p if s else nan, adjusted, effects.correction),
        signed_cell(g.effect if g else nan, 2, {"error": g.error} if g else {}),
    )


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


# Notes


def _notes(effects: Effects) -> Iterator[str]:
    yield (
        f"Differences from {effects.baseline}, the mean over the topics that both have, with "
        f"95 percent intervals: over topics, and for standardized ones over the "
        f"standardizing systems too, which both share{_link_error(effects)}. "
        f"p: {_test_method(effects)}. g: the "
        f"difference in units of its deviation over topics (Hedges)."
    )
    if any(not s.why_not() for s in effects.by_system):
        yield (
            f"Summary: random effects, {METHODS[effects.random_effects][1]} variance between "
            "collections with Hartung and Knapp's interval, but not narrower than the normal one, "
            f"and beside it DerSimonian and Laird's{_summary_adjustment(effects)}. "
            "One more collection: where the true difference on another such "
            "collection may lie (Student's t with one degree of freedom less than there "
            "are collections). Variation: the number of collections, Cochran's Q "
            "and its p, the share I2 of the variance that is between collections (Higgins "
            "and Thompson's, of Q), and tau, its deviation."
        )
    for s in effects.by_system:
        if not s.why_not() and (left_out := s.left_out()):
            yield (
                f"By {s.measure} the summary of {s.system} is without {', '.join(left_out)}: the "
                "differences there have no spread."
            )
    yield from _without_summary(effects)
    yield from effects.notes


def _link_error(effects: Effects) -> str:
    linked = any(s.label != str(s.measure) for s in effects.by_system)
    return ", and over anchors, of the link" * linked


def _without_summary(effects: Effects) -> Iterator[str]:
    """Which systems have no summary, each reason once."""
    measures: dict[tuple[str, str], list[str]] = {}
    for s in effects.by_system:
        if s.why_not() and not s.overlap and sum(s.known) > 1:
            measures.setdefault((s.system, s.why_not()), []).append(str(s.measure))
    systems: dict[tuple[str, str], list[str]] = {}
    for (system, reason), names in measures.items():
        systems.setdefault((", ".join(names), reason), []).append(system)
    for (by, reason), names in systems.items():
        verb = "has" if len(names) == 1 else "have"
        yield f"{abbreviate(names)} {verb} no summary by {by}: {reason}."


def _test_method(effects: Effects) -> str:
    """What the p-values are of, and for how many comparisons they are adjusted."""
    first = [s for s in effects.by_system if s.measure == effects.measures[0]]
    n_systems = Counter(e.collection for s in first for e in s.effects)
    interval = _adjustment(effects, "t", n_systems)
    test = f"two-sided {get_test(effects.test)[1]} over topics"
    held = f"{test}{_adjustment(effects, effects.test, n_systems)}, factors held"
    if set(n_systems.values()) == {1}:
        return f"that of the interval; in brackets {held}"
    return (
        f"that of the interval{interval}, each collection and measure by itself; in "
        f"brackets {held}; intervals are not adjusted"
    )


def _adjustment(effects: Effects, test: str, n_systems: Mapping[str, int]) -> str:
    return " or".join(
        dict.fromkeys(describe_correction(test, effects.correction, n) for n in n_systems.values())
    )


def _summary_adjustment(effects: Effects) -> str:
    n_systems = len({s.system for s in effects.by_system if not s.why_not()})
    adjustment = describe_correction("t", effects.correction, n_systems)
    return f", p{adjustment}" if adjustment else ""
