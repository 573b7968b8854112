"""Several collections on one page: the pooled table, and what the forest plot draws."""

from __future__ import annotations

from math import isnan
from typing import Any

from ir_measures.measures import Measure

from ir_std.measures import Standardized, sign_of
from ir_std.reporting.comparison import POOLED, Comparison
from ir_std.reporting.effects import Effects
from ir_std.reporting.html.phrases import join_with_and
from ir_std.reporting.links import pairs_table
from ir_std.reporting.relabelled import (
    label_agreements,
    label_differences,
    label_differences_table,
)
from ir_std.reporting.system_effects import SystemEffects
from ir_std.reporting.tables import Table

Json = dict[str, Any]


class AcrossCollections:
    """What the template shows of several collections."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.effects = next(
            (
                comparison.effects(results.baseline, results.test, results.correction)
                for results in (part.results for part in comparison.parts)
                if results.baseline is not None
            ),
            None,
        )
        self.measures = [m for m in comparison.measures if self.effects or _comparable(m)]
        if not self.measures:
            self.measures = list(comparison.measures)
        self.key = self.name(next(filter(_comparable, self.measures), self.measures[0]))

    def name(self, measure: Measure) -> str:
        """What the page calls a measure: of linked scores with what links them."""
        return self.comparison.label(measure)

    @property
    def tables(self) -> list[Table]:
        """The pooled table, and behind it the differences from the baseline."""
        relabelled = label_differences(self.comparison)
        return [
            self.comparison.table(),
            *([pairs_table(pairs)] if (pairs := self.comparison.linked_pairs) else []),
            *([label_differences_table(relabelled)] if relabelled else []),
            *(
                one.table(name)
                for one in label_agreements(self.comparison)
                for name in ("labels", "confusion", *["order"] * (len(one.systems) > 1))
            ),
            *([self.effects.table()] if self.effects else []),
        ]

    @property
    def data(self) -> Json:
        """What the page's script needs."""
        return {
            "measures": [
                {
                    "name": self.name(m),
                    "comparable": _comparable(m),
                    "words": self.words(m),
                    "sign": sign_of(m),
                    "zero": 0.0 if self.effects else _average(m),
                    "rows": self._rows(m),
                }
                for m in self.measures
            ],
            "baseline": self.effects and self.effects.baseline,
        }

    def words(self, measure: Measure) -> list[str]:
        """Sentences of one measure."""
        return self._differences(measure) if self.effects else self._means(measure)

    def _means(self, measure: Measure) -> list[str]:
        known = {
            s: e
            for s in self.comparison.systems
            if (e := self.comparison.pooled(s, measure)) is not None
        }
        names = self.comparison.collections
        judged_again = self.comparison.overlaps.of_labels(names)
        where = (
            f"under {len(names)} judgments of the same topics"
            if judged_again
            else f"on {len(names)} collections"
        )
        texts = [f"{len(self.comparison.systems)} systems {where}: {', '.join(names)}."]
        if known:
            sign = sign_of(measure)
            best = max(known, key=lambda s: sign * known[s].mean)
            low, high = known[best].interval
            texts.append(
                f"{best} has the {'highest' if sign > 0 else 'lowest'} mean {self.name(measure)} "
                "over its collections: "
                f"{known[best].mean:.3f} (95% interval {low:.3f} to {high:.3f})."
            )
        texts.append(
            "Raw means say as much about the judges as about the systems; differences of each "
            "system, paired by topic, are in a table of their own."
            if judged_again
            else f"{self._comparable_means()}; a baseline would show differences, collection by "
            "collection."
        )
        return texts

    def _comparable_means(self) -> str:
        if self.comparison.links:
            return "Only linked means can be compared across collections"
        if self.comparison.systems_alike:
            return "Standardized means can be compared across collections: by the same systems"
        return (
            "Raw means cannot be compared across collections; standardized ones can where the "
            "standardizing systems are alike, or linked (--anchor)"
        )

    def _differences(self, measure: Measure) -> list[str]:
        assert self.effects is not None
        return [_sentence(self.effects.of(measure, system)) for system in self.effects.systems]

    def _rows(self, measure: Measure) -> list[Json]:
        if self.effects is None:
            return [row for s in self.comparison.systems for row in self._row_of_means(s, measure)]
        return [
            row
            for system in self.effects.systems
            for row in _rows_of_effects(self.effects, measure, system)
        ]

    def _row_of_means(self, system: str, measure: Measure) -> list[Json]:
        rows = [
            _row(system, p.collection, e.mean, *e.interval, e.n)
            for p in self.comparison.parts
            if p.system == system
            for e in [p.estimate(measure)]
        ]
        pooled = self.comparison.pooled(system, measure)
        if pooled is not None:
            rows.append(_row(system, POOLED, pooled.mean, *pooled.interval, pooled.n, "summary"))
        return rows


def _comparable(measure: Measure) -> bool:
    return isinstance(measure, Standardized)


def _average(measure: Measure) -> float | None:
    """The score of an average system; None where there is none, as for scheme E."""
    if not isinstance(measure, Standardized):
        return None
    average: dict[str, float | None] = {
        "N": 0.5,
        "U": measure.scheme_params.get("B", 0.5),
        "z": 0.0,
    }
    return average.get(measure["scheme"])


def _sentence(effects: SystemEffects) -> str:
    known = [e for e in effects.effects if not isnan(e.difference.mean)]
    above = [e.collection for e in known if e.difference.interval[0] > 0]
    below = [e.collection for e in known if e.difference.interval[1] < 0]
    where = [
        f"{word} {effects.baseline} on {join_with_and(names)}"
        for word, names in (("above", above), ("below", below))
        if names
    ]
    by = f"By {effects.label} {effects.system} is"
    text = f"{by} {' and '.join(where) or 'neither above nor below'}"
    if not where:
        text += f" {effects.baseline} on any of the {len(known)} collections"
    elif len(above) + len(below) < len(known):
        rest = len(known) - len(above) - len(below)
        text += f", with no clear difference on the other {'one' if rest == 1 else rest}"
    s = effects.summary()
    if s is None:
        return f"{text}. There is no summary: {effects.why_not()}."
    few = f", of {s.n} collections, few" * effects.is_few
    left_out = f", without {join_with_and(names)}" if (names := effects.left_out()) else ""
    return (
        f"{text}. In summary the difference is {s.effect:+.3f} (95% interval {s.low:+.3f} to "
        f"{s.high:+.3f}{few}{left_out}); on one more such collection it may lie from "
        f"{s.predicted[0]:+.3f} to {s.predicted[1]:+.3f}."
    )


def _rows_of_effects(effects: Effects, measure: Measure, system: str) -> list[Json]:
    of_system = effects.of(measure, system)
    s = of_system.summary()
    weights = iter(s.weights if s else ())
    rows = [
        _row(
            system,
            e.collection,
            e.difference.mean,
            *e.difference.interval,
            e.difference.n,
            weight=next(weights, None) if used else None,
        )
        for e, used in zip(of_system.effects, of_system.summarized(), strict=True)
    ]
    if s:
        rows += [
            _row(system, "summary", s.effect, s.low, s.high, None, "summary"),
            _row(system, "one more collection", None, *s.predicted, None, "predicted"),
        ]
    return rows


def _row(
    system: str,
    name: str,
    mean: float | None,
    low: float,
    high: float,
    n: int | None,
    kind: str = "collection",
    weight: float | None = None,
) -> Json:
    return {
        "system": system,
        "name": name,
        "kind": kind,
        "topics": n,
        "weight": weight,
        "mean": _known(mean),
        "low": _known(low),
        "high": _known(high),
    }


def _known(value: float | None) -> float | None:
    return None if value is None or isnan(value) else float(value)
