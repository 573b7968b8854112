"""Several collections on one page: the pooled table, and what the forest plot draws."""

from __future__ import annotations

from math import isnan
from typing import Any

from ir_measures.measures import Measure

from ir_std.measures import Standardized, sign_of
from ir_std.reporting.comparison import POOLED, Comparison
from ir_std.reporting.effects import Effects
from ir_std.reporting.headlines import limits_of
from ir_std.reporting.html.across_words import (
    effects_words,
    headline_mean,
    means_words,
)
from ir_std.reporting.links import pairs_table
from ir_std.reporting.relabelled import (
    label_agreements,
    label_differences,
    label_differences_table,
)
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
                    "limits": limits_of(m, of_differences=bool(self.effects)),
                    "zero": 0.0 if self.effects else _average(m),
                    "rows": self._rows(m),
                }
                for m in self.measures
            ],
            "baseline": self.effects and self.effects.baseline,
        }

    @property
    def has_headline(self) -> bool:
        """Whether a summary is drawn, by one measure or another."""
        return any(row["kind"] == "summary" for m in self.measures for row in self._rows(m))

    def words(self, measure: Measure) -> list[str]:
        """Sentences of one measure."""
        if self.effects is None:
            return means_words(self.comparison, measure)
        return effects_words(self.comparison, self.effects, measure)

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
        pooled = headline_mean(self.comparison, system, measure)
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


def _rows_of_effects(effects: Effects, measure: Measure, system: str) -> list[Json]:
    of_system = effects.of(measure, system)
    s = of_system.headline()
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
