"""Place runs among the reference systems of their collection."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np

from ir_std._arrays import EXACT, Floats, pick_rows
from ir_std.errors import NoFactorsError, UsageError, pluralize, warn_caller
from ir_std.evaluation import plans
from ir_std.evaluation.evaluation import message_texts
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.inputs import resolve, resolve_qrels
from ir_std.evaluation.uncertainty import team_tags
from ir_std.factors import estimates
from ir_std.factors.catalog import Factors, load_factors
from ir_std.factors.factor_set import FactorSet
from ir_std.measures import Measure, Measures, Standardized, as_measures, measure_record, sign_of
from ir_std.schemes import scheme_names
from ir_std.scores.run_scores import QrelsFromCounts, RunScores


@dataclass(frozen=True)
class Placement:
    """A run's place among the reference systems according to one measure.

    ``str(placement)`` describes the place, as in ``sAP 0.6930: 13th of 129``.  The run itself is
    included in the ranking.  Systems with the same mean share the best of their ranks, and the text
    says that these systems are tied.

    Attributes
    ----------
    measure : Measure
        Raw or standardized measure.
    value : float
        The run's mean over the compared topics; NaN if no topic is compared.
    factors : str
        ID of the factor set.
    n_topics : int
        Number of topics compared.
    n_set_topics : int
        Number of topics with factors in the set.
    n_better : int
        Number of reference systems with a better mean.
    n_systems : int
        Number of reference systems.
    is_own_system : bool
        True if the run is a reference system.  ir_std assumes this if one system has the same
        scores as the run on all compared topics, for every measure with scores per system.
    n_tied : int
        Number of (other) reference systems with the same mean.
    unavailable_reason : str or None
        Reason why the run cannot be placed; None if it can be placed.  If the run cannot be placed,
        the counts are 0.
    means : tuple of float
        Sorted means of the systems with which the run was compared.
    names : tuple of str
        Names of the systems in the order of ``means``; empty if the set has no system names.
    unit : {'topic', 'dataset'}
        Name of the set's unit.
    n_evaluated : int
        Number of topics in the run's mean for the measure.  The mean is not ``value`` if some of
        these topics have no factors.

    Examples
    --------
    >>> raw, standardized = ir_std.place("bm25.run", "qrels.txt", "AP")
    >>> print(standardized)
    sAP 0.7650: would have been 7th of 130
    >>> standardized.rank, standardized.n_systems, standardized.is_own_system
    (7, 129, False)
    """

    measure: Measure
    value: float
    factors: str = ""
    n_topics: int = 0
    n_set_topics: int = 0
    n_better: int = 0
    n_systems: int = 0
    is_own_system: bool = False
    n_tied: int = 0
    unavailable_reason: str | None = None
    means: tuple[float, ...] = field(default=(), repr=False)
    names: tuple[str, ...] = field(default=(), repr=False)
    unit: str = field(default="topic", repr=False)
    n_evaluated: int = field(default=0, repr=False)

    @property
    def rank(self) -> int | None:
        """Rank of the run, from 1; None if the run cannot be placed."""
        return None if self.unavailable_reason else self.n_better + 1

    @property
    def n_ranked(self) -> int:
        """Number of ranked systems, including the run itself."""
        return self.n_systems + (not self.is_own_system)

    @property
    def summary(self) -> str:
        """Description of the place, such as ``13th of 129``."""
        if self.unavailable_reason:
            return f"not placed, {self.unavailable_reason}"
        would = "" if self.is_own_system else "would have been "
        place = f"{would}{_ordinal_with_ties(self.n_better + 1, self.n_tied)} of {self.n_ranked}"
        if self.n_topics < self.n_evaluated:
            of = pluralize(self.n_evaluated, self.unit)
            return f"{place} with {self.value:.4f} on {self.n_topics} of {of}"
        part = f" on {self.n_topics} of the {pluralize(self.n_set_topics, self.unit)}"
        return place + part * (self.n_topics < self.n_set_topics)

    @property
    def neighbours(self) -> str:
        """The nearest systems, such as ``between p_bert, 6th, and TUW19-p3-f, 8th``.

        The run itself is included in the ranking.  If the run is new to the set, each system below
        the run moves down by one rank.  A system with the same mean as the run is not a neighbour.
        The text is empty if the set has no system names.
        """
        if not self.names:
            return ""
        sign = sign_of(self.measure)  # Put the best system first, also if lower is better.
        means = zip((sign * mean for mean in self.means), self.names, strict=True)
        ranked = sorted(means, reverse=True)
        next_below = self.n_better + self.n_tied + self.is_own_system
        above = _named(ranked, self.n_better - 1) if self.n_better else ""
        is_new = not self.is_own_system
        below = _named(ranked, next_below, is_new) if next_below < len(ranked) else ""
        if above and below:
            return f"between {above}, and {below}"
        return f"below {above}" if above else f"above {below}" if below else ""

    def __str__(self) -> str:
        return f"{self.measure} {self.value:.4f}: {self.summary}"


def _named(ranked: Sequence[tuple[float, str]], i: int, n_new: int = 0) -> str:
    """Return the name and the rank of a system that has ``n_new`` new runs above it."""
    mean, name = ranked[i]
    n_better = sum(other > mean + EXACT for other, _ in ranked)
    n_tied = sum(mean - EXACT <= other <= mean + EXACT for other, _ in ranked) - 1
    return f"{name}, {_ordinal_with_ties(n_better + n_new + 1, n_tied)}"


def _ordinal_with_ties(rank: int, n_tied: int) -> str:
    return f"{ordinal(rank)} (tied with {n_tied})" if n_tied else ordinal(rank)


class Placements(list[Placement]):
    """Places of one run; ``print`` shows them in the format of ``ir_std --place``."""

    def __repr__(self) -> str:
        return "\n".join(
            "\t".join([f"{p.measure}", f"{p.value:.4f}", p.summary, *filter(None, [p.neighbours])])
            for p in self
        )


def ordinal(n: int) -> str:
    """Return ``1st``, ``2nd``, ``3rd``, ``4th``, ``11th`` and so on."""
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
    """Place a run among the reference systems of its collection.

    Parameters
    ----------
    run, qrels
        Any form that ir_std reads.  If you pass no qrels, ``run`` can be scores that another
        program computed.  If you pass ``factors`` and a raw measure, ``run`` can also be a
        published mean, such as 0.55.
    measures : Measure, str or iterable of them, optional
        Measures by which to place the run; by default, the default measures of the set.  For each
        raw measure, the run is also placed by the standardized versions of this measure.
    schemes, factors, residual
        See :func:`ir_std.evaluator`.

    Returns
    -------
    list of Placement
        One place per raw and standardized measure; the list prints like the output of
        ``ir_std --place``.

    Raises
    ------
    NoFactorsError
        If no factor set matches the qrels.

    Examples
    --------
    >>> ir_std.place("bm25.run", "qrels.txt", "AP")
    AP	0.4527	would have been 2nd of 130	between READWARE2, 1st, and orcl99man, 3rd
    sAP	0.7650	would have been 7th of 130	...
    """
    if isinstance(run, (int, float)) and not isinstance(run, bool):
        return _place_mean(float(run), measures, factors)
    read = resolve(run)
    judgments = resolve_qrels([read], qrels)
    match = plans.match_factors(judgments, factors)
    if match.factors is None:
        raise NoFactorsError(str(match))
    scores = [read] if isinstance(read, RunScores) else []
    evaluator = StdEvaluator(
        measures, judgments, scheme_names(schemes), match, residual, scores=scores
    )
    return Placements(Placer(evaluator).place(read))


class Placer:
    """Place any number of runs according to the measures of one evaluator.

    Examples
    --------
    >>> placer = ir_std.Placer(ir_std.StdEvaluator("sAP", "qrels.txt"))
    >>> [str(placement) for run in ("bm25.run", "mono.run") for placement in placer.place(run)]
    ['sAP 0.7650: would have been 7th of 130', 'sAP ...']
    """

    def __init__(self, evaluator: StdEvaluator) -> None:
        self.evaluator = evaluator
        self._plans = {plan.measure: plan for plan in evaluator.plans}
        match = evaluator.match
        if match and match.factors:
            for raw in evaluator.measures:
                if raw not in self._plans and (name := plans.name_in_set(raw, match.factors)):
                    self._plans[raw] = plans.raw_plan(raw, name, match, evaluator.qrels)
        # These results are the same for every run, so they are computed once.
        self._columns = cache(estimates.scores_by_system)
        self._means = cache(peer_means)

    def place(self, run: Any) -> list[Placement]:
        """Place a run according to each measure, in the evaluator's order.

        Raw scores are rounded to the resolution of the systems' scores before they are compared.
        A topic is left out, for the run and the systems alike, if the topic has no factors or if a
        standardized score on the topic is undefined.
        """
        evaluation = self.evaluator.evaluate(run)
        warn_caller(message_texts(self.evaluator.messages + evaluation.messages, True))
        return self.place_values(evaluation.values)

    def place_values(self, values: Mapping[Measure, Floats]) -> list[Placement]:
        """Place a run in the same way as :meth:`place`, from its values per topic.

        Parameters
        ----------
        values : mapping of Measure to ndarray, shape (n_topics,)
            Values of the evaluator's raw measures, and of the raw measures that it standardizes.
        """
        own = self._sets_with_run(values)
        return [self._place_mean(m, values, own) for m in self.evaluator.measures]

    def place_topics(self, values: Mapping[Measure, Floats]) -> dict[Measure, dict[str, Placement]]:
        """Place a run on each topic, for each measure.

        The parameters are the same as for :meth:`place_values`.  Topics are left out if they have
        no factors, or if the set has no scores per system.
        """
        own = self._sets_with_run(values)
        return {m: dict(self._on_topics(m, values, own)) for m in self.evaluator.measures}

    def _sets_with_run(self, values: Mapping[Measure, Floats]) -> set[str]:
        """Return the sets in which a system has the same scores as the run for every measure."""
        same: dict[str, list[bool]] = {}
        for plan in {(p.factors, p.name, p.raw): p for p in self._plans.values()}.values():
            if plan.name not in plan.factors.scores:
                continue
            raw = plans.scores_per_set_topic(plan.topics, values[plan.raw])
            usable = plan.has_factors & ~np.isnan(raw)
            _, scores = self._columns(plan.factors, plan.name)
            mine = estimates.round_to_resolution(plan.factors, plan.name, raw)[usable, None]
            is_equal = np.abs(scores[plan.rows[usable]] - mine) <= EXACT
            is_one = bool(usable.any() and is_equal.all(axis=0).any())
            same.setdefault(plan.factors.id, []).append(is_one)
        return {set_id for set_id, by_measure in same.items() if all(by_measure)}

    def _place_mean(
        self, measure: Measure, values: Mapping[Measure, Floats], own: set[str]
    ) -> Placement:
        plan = self._plans.get(measure)
        if plan is None:
            factors = self.evaluator.match.factors if self.evaluator.match else None
            reason = f"{factors.id} has no factors for it" if factors else "no factor set is known"
            mean, set_id = float(values[measure].mean()), factors.id if factors else ""
            return Placement(measure, mean, set_id, unavailable_reason=reason)
        factors, name = plan.factors, plan.name
        raw = plans.scores_per_set_topic(plan.topics, values[plan.raw])
        compared = plan.apply(estimates.round_to_resolution(factors, name, raw))
        usable = plan.has_factors & ~np.isnan(compared)
        n = int(usable.sum())
        total = int((~np.isnan(factors.mean[name])).sum())
        value = float(plan.apply(raw)[usable].mean()) if n else float("nan")
        averaged = usable if isinstance(measure, Standardized) else ~np.isnan(raw)
        placement = partial(Placement, measure, value, factors.id, n, total, unit=factors.unit)
        placement = partial(placement, n_evaluated=int(averaged.sum()))
        if not n:
            reason = f"{factors.id} has no factors for {name} on these {factors.unit}s"
            return placement(unavailable_reason=reason)
        if name not in factors.scores:
            reason = f"{factors.id} has no scores per system for {name}"
            return placement(unavailable_reason=reason)
        is_own = factors.id in own
        means, names = self._means(factors, measure, name, tuple(plan.rows[usable].tolist()))
        if len(means) <= is_own:
            reason = f"no other system has scores on all {pluralize(n, factors.unit)}"
            return placement(unavailable_reason=reason)
        mine = compared[usable].mean(keepdims=True)
        ((n_better, n_tied, n_systems),) = _count_systems(plan, means[None], mine, is_own)
        listed = tuple(means.tolist())
        return placement(n_better, n_systems, is_own, n_tied, means=listed, names=names)

    def _on_topics(
        self, measure: Measure, values: Mapping[Measure, Floats], own: set[str]
    ) -> Iterator[tuple[str, Placement]]:
        plan = self._plans.get(measure)
        if plan is None or plan.name not in plan.factors.scores:
            return
        factors, name = plan.factors, plan.name
        raw = plans.scores_per_set_topic(plan.topics, values[plan.raw])
        mine = plan.apply(estimates.round_to_resolution(factors, name, raw))
        shown = values[measure] if isinstance(measure, Standardized) else raw
        scored = np.flatnonzero(plan.has_factors & ~np.isnan(mine))
        scheme, params = scheme_of(measure)
        theirs = estimates.scores_of_systems(factors, name, scheme, plan.rows[scored], **params)
        is_own = factors.id in own
        counts = _count_systems(plan, theirs, mine[scored], is_own)
        for i, (n_better, n_tied, n) in zip(scored.tolist(), counts, strict=True):
            value = float(shown[i])
            placed = Placement(measure, value, factors.id, 1, 1, n_better, n, is_own, n_tied)
            yield plan.topics[i], placed


def _count_systems(plan: plans.Plan, theirs: Floats, mine: Floats, is_own: bool) -> list[list[int]]:
    """Return, for each row, the numbers of better systems, of tied systems and of all systems.

    Parameters
    ----------
    plan : plans.Plan
    theirs : ndarray, shape (n_rows, n_systems)
        Values of the systems; NaN where a system has no score.
    mine : ndarray, shape (n_rows,)
        Values of the run.
    is_own : bool
        True if the run is one of the systems; the run is then not tied with itself.
    """
    above = sign_of(plan.measure) * (theirs - mine[:, None])
    n_tied = np.maximum((np.abs(above) <= EXACT).sum(axis=1) - is_own, 0)
    n_systems = (~np.isnan(theirs)).sum(axis=1)
    counts: list[list[int]] = np.stack(
        [(above > EXACT).sum(axis=1), n_tied, n_systems], axis=1
    ).tolist()
    return counts


def _place_mean(value: float, measures: Measures | None, factors: Factors | None) -> Placements:
    """Place a published mean among the means of a set's systems over all topics of the set."""
    if measures is None or factors is None:
        raise UsageError("to place a mean, pass its measure and a factor set (measures=, factors=)")
    asked = as_measures(measures)
    if any(isinstance(measure, Standardized) for measure in asked):
        raise UsageError("means of standardized measures cannot be placed; pass the raw measure")
    for measure in asked:
        low, high = measure_record(measure).low, measure_record(measure).high
        if not (np.isfinite(value) and low <= value <= high):
            raise UsageError(f"{value:g} is not a mean of {measure}; expected {low:g} to {high:g}")
    found = factors if isinstance(factors, FactorSet) else load_factors(factors)
    if found.of_datasets:
        raise UsageError(f"{found.id} has per-dataset factors; place results per dataset instead")
    topics = QrelsFromCounts({topic: n or 0 for topic, n in found.n_rel.items()}, found.id)
    evaluator = StdEvaluator(asked, plans.TopicsOfSet(topics, found), factors=found)
    values = {measure: np.full(len(evaluator.qrels.topics), value) for measure in asked}
    return Placements(Placer(evaluator).place_values(values))


@dataclass(frozen=True, eq=False)
class Peers:
    """Summary of the reference systems' raw or standardized scores for a measure, by topic.

    Attributes
    ----------
    mean, low, high : ndarray, shape (n_topics,)
        Mean of the scores, and the points one standard deviation below and above the mean.  For a
        standardized measure, these are the standardized values of the mean and of the two points.
        NaN on topics without factors.
    least, most : ndarray, shape (n_topics,)
        Lowest and highest score of any system; NaN where only means are known.
    n_systems : int
        Number of reference systems.
    """

    mean: Floats
    low: Floats
    high: Floats
    least: Floats
    most: Floats
    n_systems: int

    def mapped(self, standardize: Callable[[Floats], Floats]) -> Peers:
        """Return this summary with standardized scores in place of raw scores."""
        # If lower is better, standardizing swaps the low and the high point.
        low, high = np.sort([standardize(self.low), standardize(self.high)], axis=0)
        least, most = np.sort([standardize(self.least), standardize(self.most)], axis=0)
        return Peers(standardize(self.mean), low, high, least, most, self.n_systems)


def peers_of(plan: plans.Plan, topics: Iterable[str]) -> Peers:
    """Summarize the reference systems' raw scores for the measure of ``plan``."""
    name, factors = plan.name, plan.factors
    rows = plans.rows_excluding(factors, topics, plan.differing)
    mean, sd = pick_rows(factors.mean[name], rows), pick_rows(factors.sd[name], rows)
    least = most = np.full(len(rows), np.nan)
    if name in factors.scores:
        scores = pick_rows(factors.scores[name], rows)
        least, most = np.fmin.reduce(scores, axis=1), np.fmax.reduce(scores, axis=1)
    return Peers(mean, mean - sd, mean + sd, least, most, factors.n_systems[name])


def peer_means(
    factors: FactorSet, measure: Measure, name: str, rows: tuple[int, ...]
) -> tuple[Floats, tuple[str, ...]]:
    """Return the systems' means over the topics in ``rows``, and the systems' names.

    The means are in ascending order, and the names are in the order of the means.  If the set does
    not name its systems, the tuple of names is empty.
    """
    scheme, params = scheme_of(measure)
    means, numbers = estimates.ranked_systems(factors, name, scheme, np.array(rows), **params)
    tags = team_tags(factors.systems)
    return means, tuple(tags[number] for number in numbers.tolist()) if tags else ()


def scheme_of(measure: Measure) -> tuple[str | None, dict[str, float]]:
    """Return a measure's scheme and the scheme's parameters; None if the measure is raw."""
    if isinstance(measure, Standardized):
        return measure["scheme"], measure.scheme_params
    return None, {}
