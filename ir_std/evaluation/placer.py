"""Places runs among the standardizing systems of their collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats, Ints
from ir_std.errors import NoFactorsError, UsageError, warn_caller
from ir_std.evaluation.api import evaluator_for
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.inputs import judgments_for, resolve
from ir_std.evaluation.messages import message_texts
from ir_std.evaluation.obstacles import rows_but, topics_without_value
from ir_std.evaluation.peers import peer_means, scheme_of
from ir_std.evaluation.placement import Placement, Placements
from ir_std.evaluation.plans import Plan, name_in_set, values_by_unit
from ir_std.evaluation.systems import TopicsOfSet
from ir_std.factors.catalog import Factors, load_factors
from ir_std.factors.estimates import as_recorded, scores_by_system, scores_of_systems
from ir_std.factors.factor_set import FactorSet
from ir_std.measures import Measures, Standardized, as_measures
from ir_std.schemes import EXACT, scheme_names
from ir_std.scores.run_scores import CountedTopics


def place(
    run: Any,
    qrels: Any = None,
    measures: Measures | None = None,
    *,
    schemes: str | Iterable[str] = "N",
    factors: Factors | None = None,
    residual: bool = False,
) -> Placements:
    """Place a run among the standardizing systems of its collection.

    Parameters
    ----------
    run, qrels
        Any form that ir_std reads; without qrels scores that were computed elsewhere, or a
        published mean, such as 0.55, of a raw measure with ``factors``.
    measures : Measure, str or iterable of them, optional
        For raw ones their standardized companions are placed too; the set's default measures
        if not given.
    schemes, factors, residual
        As for :func:`ir_std.evaluator`.

    Returns
    -------
    list of Placement
        Raw measures and standardized ones; printed, the lines of ``ir_std --place``.

    Raises
    ------
    NoFactorsError
        If no factor set fits the qrels.

    Examples
    --------
    >>> ir_std.place("bm25.run", "qrels.txt", "AP")
    AP	0.4527	would have been 2nd of 130	between READWARE2, 1st, and orcl99man, 2nd
    sAP	0.7650	would have been 7th of 130	...
    """
    if isinstance(run, (int, float)) and not isinstance(run, bool):
        return _place_mean(float(run), measures, factors)
    read = resolve(run)
    judgments = judgments_for([read], qrels)
    evaluator = evaluator_for(judgments, measures, scheme_names(schemes), factors, [read], residual)
    if evaluator.match is None or evaluator.match.factors is None:
        raise NoFactorsError(str(evaluator.match))
    return Placements(Placer(evaluator).place(read))


class Placer:
    """Places runs by the measures of an evaluator; built once, it serves many runs.

    Examples
    --------
    >>> placer = ir_std.Placer(ir_std.StdEvaluator("sAP", "qrels.txt"))
    >>> [str(placement) for run in ("bm25.run", "mono.run") for placement in placer.place(run)]
    ['sAP 0.7650: would have been 7th of 130', 'sAP ...']
    """

    def __init__(self, evaluator: StdEvaluator) -> None:
        self.evaluator = evaluator
        self._plans = {p.measure: p for p in evaluator.plans}
        # What is the same for every run.
        self._rows = cache(rows_but)
        self._columns = cache(scores_by_system)
        self._means = cache(peer_means)

    def place(self, run: Any) -> list[Placement]:
        """The run's placement by each measure, in the evaluator's order.

        Raw scores are rounded to the resolution of the systems' scores before they are compared.
        A topic without factors, or where a standardized score is undefined, is left out for the
        run and the systems alike.
        """
        evaluation = self.evaluator.evaluate(run)
        warn_caller(message_texts(self.evaluator.messages + evaluation.messages, True))
        return self.place_values(evaluation.values)

    def place_values(self, values: Mapping[Measure, Floats]) -> list[Placement]:
        """As :meth:`place`, of values by topic that are known already.

        Parameters
        ----------
        values : mapping of Measure to ndarray, shape (n_topics,)
            Of the evaluator's raw measures, and those that its standardized ones are made from.
        """
        placed = [
            self._standardized(self._plans[m], values)
            if m in self._plans
            else self._plain(m, values[m])
            for m in self.evaluator.measures
        ]
        own = self._sets_with_run(values)
        return [
            replace(p, among=True, tied=max(p.tied - 1, 0))
            if p.factors in own and not p.why_not
            else p
            for p in placed
        ]

    def place_topics(
        self, values: Mapping[Measure, Floats]
    ) -> dict[Measure, tuple[Placement | None, ...]]:
        """The run's place on each topic of the qrels, by measure.

        Parameters as for :meth:`place_values`.  None on topics without factors, and where scores of
        single systems are not known.
        """
        own = self._sets_with_run(values)
        return {m: tuple(self._on_topics(m, values, own)) for m in self.evaluator.measures}

    def _on_topics(
        self, measure: Measure, values: Mapping[Measure, Floats], own: set[str]
    ) -> list[Placement | None]:
        factors, name, raw = self._behind(measure)
        topics = self.evaluator.qrels.topics
        placed: list[Placement | None] = [None] * len(topics)
        fit = self.evaluator.match and self.evaluator.match.fit
        plan = self._plans.get(measure)
        of_mean = plan.of_mean if plan else bool(fit and fit.dataset)
        if factors is None or name not in factors.scores or of_mean:
            return placed
        rows = self._rows(factors, topics, self._differing(measure))
        mine = as_recorded(factors, name, values[raw])
        if plan:
            mine = plan.apply(mine)
        known = np.flatnonzero((rows >= 0) & ~np.isnan(factors.mean[name])[rows] & ~np.isnan(mine))
        scheme, params = scheme_of(measure)
        sign = 1.0 if plan else factors.sign(name)
        theirs = scores_of_systems(factors, name, scheme, rows[known], **params)
        above = sign * (theirs - mine[known, None])
        among = factors.id in own
        for i, better, tied, n in zip(
            known.tolist(),
            (above > EXACT).sum(axis=1).tolist(),
            (np.abs(above) <= EXACT).sum(axis=1).tolist(),
            (~np.isnan(theirs)).sum(axis=1).tolist(),
            strict=True,
        ):
            placed[i] = Placement(
                measure, float(values[measure][i]), factors.id, 1, 1, better, n, among, tied - among
            )
        return placed

    def _sets_with_run(self, values: Mapping[Measure, Floats]) -> set[str]:
        """The sets with a system that scores as the run does, on every topic by each measure."""
        same: dict[str, list[bool]] = {}
        behind = {self._behind(m): self._differing(m) for m in self.evaluator.measures}
        for (factors, name, raw), differing in behind.items():
            if factors and name in factors.scores:
                rows = self._rows(factors, self.evaluator.qrels.topics, differing)
                is_one = self._is_one(factors, name, rows, values[raw])
                same.setdefault(factors.id, []).append(is_one)
        return {set_id for set_id, by_measure in same.items() if all(by_measure)}

    def _is_one(self, factors: FactorSet, name: str, rows: Ints, raw: Floats) -> bool:
        usable = (rows >= 0) & ~np.isnan(factors.mean[name])[rows]
        _, scores = self._columns(factors, name)
        same = np.abs(scores[rows[usable]] - as_recorded(factors, name, raw)[usable, None]) <= EXACT
        return bool(usable.any() and same.all(axis=0).any())

    def _behind(self, measure: Measure) -> tuple[FactorSet | None, str, Measure]:
        """The set of a measure's factors, what it calls the raw measure, and that measure."""
        plan = self._plans.get(measure)
        if plan:
            return plan.factors, plan.name, plan.raw
        factors = self.evaluator.match.factors if self.evaluator.match else None
        name = name_in_set(measure, factors) if factors else None
        return factors, name or "", measure

    def _differing(self, measure: Measure) -> tuple[str, ...]:
        """The topics whose judgments are not those of the systems."""
        plan, match = self._plans.get(measure), self.evaluator.match
        if plan:
            return plan.differing
        return topics_without_value(measure, match) if match else ()

    def _plain(self, measure: Measure, values: Floats) -> Placement:
        factors, name, _ = self._behind(measure)
        match = self.evaluator.match
        if factors is None or not name or match is None or match.fit is None:
            why_not = f"{factors.id} has no factors for it" if factors else "no factor set is known"
            set_id = factors.id if factors else ""
            return Placement(measure, float(values.mean()), set_id, why_not=why_not)
        topics, units = values_by_unit(match.fit, self.evaluator.qrels, values)
        compared = as_recorded(factors, name, units)
        return self._compare(measure, factors, name, topics, units, compared)

    def _standardized(self, plan: Plan, values: Mapping[Measure, Floats]) -> Placement:
        raw = plan.units(values[plan.raw])
        standardized = plan.apply(raw)
        compared = plan.apply(as_recorded(plan.factors, plan.name, raw))
        return self._compare(
            plan.measure, plan.factors, plan.name, plan.topics, standardized, compared
        )

    def _compare(
        self,
        measure: Measure,
        factors: FactorSet,
        name: str,
        topics: tuple[str, ...],
        values: Floats,
        compared: Floats,
    ) -> Placement:
        """Place the mean of ``values``; ``compared`` are these, rounded as the systems' are."""
        rows = self._rows(factors, topics, self._differing(measure))
        known = ~np.isnan(factors.mean[name])
        usable = (rows >= 0) & known[rows] & ~np.isnan(compared)
        n = int(usable.sum())
        total = n if factors.of_datasets else int(known.sum())
        value = float(values[usable].mean()) if n else float("nan")
        placement = partial(Placement, measure, value, factors.id, n, total)
        known_means = (
            self._means(factors, measure, name, tuple(rows[usable].tolist())) if n else None
        )
        if known_means is None:
            return placement(why_not=_why_not_placed(factors, name, n))
        means, names = known_means
        sign = 1.0 if measure in self._plans else factors.sign(name)
        above = sign * (means - compared[usable].mean())
        return placement(
            better=int((above > EXACT).sum()),
            n_systems=len(means),
            tied=int((abs(above) <= EXACT).sum()),
            means=tuple(means.tolist()),
            names=names,
        )


def _place_mean(value: float, measures: Measures | None, factors: Factors | None) -> Placements:
    """Place a published mean among the systems of a set, on all topics of the set."""
    if measures is None or factors is None:
        raise UsageError("placing a mean needs its measure and a factor set (measures=, factors=)")
    asked = as_measures(measures)
    if any(isinstance(measure, Standardized) for measure in asked):
        raise UsageError("means of standardized measures cannot be placed; pass the raw measure")
    found = factors if isinstance(factors, FactorSet) else load_factors(factors)
    if found.of_datasets:
        raise UsageError(f"{found.id} holds whole datasets; place results by dataset instead")
    topics = CountedTopics({topic: n or 0 for topic, n in found.n_rel.items()}, found.id)
    evaluator = evaluator_for(TopicsOfSet(topics, found), asked, (), found)
    values = {measure: np.full(len(evaluator.qrels.topics), value) for measure in asked}
    return Placements(Placer(evaluator).place_values(values))


def _why_not_placed(factors: FactorSet, name: str, n: int) -> str:
    if not n:
        return f"{factors.id} has no factors for {name} on these topics"
    return f"{factors.id} holds no scores of single systems for {name}"
