"""Where runs rank, or would have ranked, among the reference systems of their collection."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from operator import itemgetter
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats, Ints
from ir_std.errors import NoFactorsError, UsageError, warn_caller
from ir_std.evaluation.evaluation import message_texts
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.inputs import resolve, resolve_qrels
from ir_std.evaluation.plans import (
    Plan,
    TopicsOfSet,
    match_factors,
    name_in_set,
    rows_excluding,
    topics_without_value,
    values_by_unit,
)
from ir_std.evaluation.uncertainty import team_tags
from ir_std.factors.catalog import Factors, load_factors
from ir_std.factors.estimates import (
    as_recorded,
    ranked_systems,
    scores_by_system,
    scores_of_systems,
)
from ir_std.factors.factor_set import FactorSet
from ir_std.measures import Measures, Standardized, as_measures, sign_of
from ir_std.schemes import EXACT, scheme_names
from ir_std.scores.run_scores import CountedTopics, RunScores


@dataclass(frozen=True)
class Placement:
    """A run's place among the standardizing systems by one measure.

    ``str(placement)`` says it: ``sAP 0.6930: 13th of 129``.

    Attributes
    ----------
    measure : Measure
        Raw or standardized.
    value : float
        The run's mean over the topics that were compared; NaN if there are none.
    factors : str
        The id of the factor set.
    n_topics, n_known : int
        The numbers of topics that were compared, and that the set has.
    better : int
        The number of standardizing systems with a better mean.
    n_systems : int
        The number of standardizing systems.
    among : bool
        Whether the run is one of them: it has that system's scores on all topics that were
        compared, by every measure that it is placed by and whose systems' scores are known.
    tied : int
        The number of (other) standardizing systems with the same mean.
    why_not : str or None
        Why the run cannot be placed; then the counts are 0.
    means : tuple of float
        What the run was compared with: the systems' means, sorted.
    names : tuple of str
        Whose means these are; empty where the set does not name its systems.

    Examples
    --------
    >>> raw, standardized = ir_std.place("bm25.run", "qrels.txt", "AP")
    >>> print(standardized)
    sAP 0.7650: would have been 7th of 130
    >>> standardized.rank, standardized.n_systems, standardized.among
    (7, 129, False)
    """

    measure: Measure
    value: float
    factors: str = ""
    n_topics: int = 0
    n_known: int = 0
    better: int = 0
    n_systems: int = 0
    among: bool = False
    tied: int = 0
    why_not: str | None = None
    means: tuple[float, ...] = field(default=(), repr=False)
    names: tuple[str, ...] = field(default=(), repr=False)

    @property
    def rank(self) -> int | None:
        """The place from 1; None if the run cannot be placed."""
        return None if self.why_not else self.better + 1

    @property
    def summary(self) -> str:
        """The place in words: ``13th of 129``."""
        if self.why_not:
            return f"not placed, {self.why_not}"
        part = f" on {self.n_topics} of the {self.n_known} topics"
        if self.among:
            place = f"{ordinal(self.better + 1)} of {self.n_systems}"
        else:
            tied = f" (tied with {self.tied})" if self.tied else ""
            place = f"would have been {ordinal(self.better + 1)}{tied} of {self.n_systems + 1}"
        return place + part * (self.n_topics < self.n_known)

    @property
    def neighbours(self) -> str:
        """The nearest systems by name: ``between p_bert, 6th, and TUW19-p3-f, 7th``.

        Empty where the set does not name its systems.  Systems with the run's own mean, itself
        among them, are none.
        """
        if not self.names:
            return ""
        ranked = self._ranked
        lowest_above = len(ranked) - self.better
        highest_below = lowest_above - self.tied - self.among - 1
        above = _named(ranked, lowest_above) if self.better else ""
        below = _named(ranked, highest_below) if highest_below >= 0 else ""
        if above and below:
            return f"between {above}, and {below}"
        return f"below {above}" if above else f"above {below}" if below else ""

    @property
    def _ranked(self) -> list[tuple[float, str]]:
        """The systems' means, of which more is better, and names; lowest first."""
        sign = sign_of(self.measure)
        return sorted(
            (sign * mean, name) for mean, name in zip(self.means, self.names, strict=True)
        )

    def __str__(self) -> str:
        return f"{self.measure} {self.value:.4f}: {self.summary}"


def _named(ranked: Sequence[tuple[float, str]], i: int) -> str:
    """A system and its rank among the systems, equal means sharing one."""
    height, name = ranked[i]
    better = len(ranked) - bisect_right(ranked, height + EXACT, key=itemgetter(0))
    return f"{name}, {ordinal(better + 1)}"


class Placements(list[Placement]):
    """A run's places, printed as ``ir_std --place`` prints them."""

    def __repr__(self) -> str:
        return "\n".join(
            "\t".join([f"{p.measure}", f"{p.value:.4f}", p.summary, *filter(None, [p.neighbours])])
            for p in self
        )


def ordinal(n: int) -> str:
    """``1st``, ``2nd``, ``3rd``, ``4th``, ``11th`` and so on."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}th" if n % 100 in (11, 12, 13) else f"{n}{ending}"


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
    judgments = resolve_qrels([read], qrels)
    match = match_factors(judgments, factors)
    if match.factors is None:
        raise NoFactorsError(str(match))
    scores = [read] if isinstance(read, RunScores) else []
    evaluator = StdEvaluator(
        measures, judgments, scheme_names(schemes), match, residual, scores=scores
    )
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
        self._rows = cache(rows_excluding)
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
    evaluator = StdEvaluator(asked, TopicsOfSet(topics, found), factors=found)
    values = {measure: np.full(len(evaluator.qrels.topics), value) for measure in asked}
    return Placements(Placer(evaluator).place_values(values))


def _why_not_placed(factors: FactorSet, name: str, n: int) -> str:
    if not n:
        return f"{factors.id} has no factors for {name} on these topics"
    return f"{factors.id} holds no scores of single systems for {name}"


@dataclass(frozen=True, eq=False)
class Peers:
    """How the standardizing systems did on each topic, in the unit of one measure.

    Attributes
    ----------
    mean, low, high : ndarray, shape (n_topics,)
        Their mean, and one standard deviation below and above it; for a standardized measure
        these points standardized.  NaN on topics without factors.
    least, most : ndarray, shape (n_topics,)
        The lowest and highest score of one of them; NaN where only means are known.
    n_systems : int
    """

    mean: Floats
    low: Floats
    high: Floats
    least: Floats
    most: Floats
    n_systems: int

    def mapped(self, standardize: Callable[[Floats], Floats]) -> Peers:
        """The same points on another scale."""
        low, high = standardize(self.low), standardize(self.high)
        least, most = standardize(self.least), standardize(self.most)
        return Peers(
            standardize(self.mean),
            np.fmin(low, high),  # where less is better the other is the low one
            np.fmax(low, high),
            np.fmin(least, most),
            np.fmax(least, most),
            self.n_systems,
        )


def peers_of(plan: Plan, topics: Iterable[str]) -> Peers:
    """How the standardizing systems did, in the unit of the raw measure of ``plan``."""
    name, factors = plan.name, plan.factors
    rows = rows_excluding(factors, topics, plan.differing)
    known = np.where(rows >= 0, 1.0, np.nan)
    mean, sd = factors.mean[name][rows] * known, factors.sd[name][rows] * known
    scores = factors.scores.get(name)
    least = most = np.full(len(rows), np.nan)
    if scores is not None:
        least = np.fmin.reduce(scores[rows], axis=1) * known
        most = np.fmax.reduce(scores[rows], axis=1) * known
    return Peers(mean, mean - sd, mean + sd, least, most, factors.n_systems[name])


def peer_means(
    factors: FactorSet, measure: Measure, name: str, rows: tuple[int, ...]
) -> tuple[Floats, tuple[str, ...]] | None:
    """The systems' means on the set's rows, ascending, and their names; None if unknown.

    There are no names where the set's systems are anonymous.
    """
    scheme, params = scheme_of(measure)
    if name in factors.scores:
        means, numbers = ranked_systems(factors, name, scheme, np.array(rows), **params)
        tags = team_tags(factors.systems)
        return means, tuple(tags[number] for number in numbers.tolist()) if tags else ()
    return None


def scheme_of(measure: Measure) -> tuple[str | None, dict[str, float]]:
    """A measure's scheme, None if it is raw, and the scheme's parameters."""
    if isinstance(measure, Standardized):
        return measure["scheme"], measure.scheme_params
    return None, {}
