"""Plan each standardized measure: choose the raw measure and the factors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats, Ints, Mask, pick_rows
from ir_std.errors import NoFactorsError, abbreviate, pluralize
from ir_std.evaluation.evaluation import Message
from ir_std.factors.catalog import Factors, load_factors
from ir_std.factors.collection import Collection
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import ALL_JUDGED
from ir_std.factors.match import Fit, Match
from ir_std.factors.recognition import match_by_name, match_by_systems, recognize_collection
from ir_std.factors.schema import parse_set_measure
from ir_std.measures import ExternalMeasure, Standardized, canonical, has_standardized, standardized
from ir_std.measures.records import equivalents, gains_are_shares, has_graded_gains, measure_record
from ir_std.scores.run_scores import QrelsFromCounts
from ir_std.trec import Qrels


class TopicsOfSet(QrelsFromCounts):
    """Topics that replace the qrels if the scores of a set's own systems are evaluated.

    Parameters
    ----------
    counted : QrelsFromCounts
        Topics of all scores, including the scores of the set's systems.
    factors : FactorSet
        The set whose judgments were used to compute the scores of its systems.
    """

    def __init__(self, counted: QrelsFromCounts, factors: FactorSet) -> None:
        super().__init__(counted.n_rel, counted.name)
        self.factors = factors


# --- the factor set -------------------------------------------------------------------------------


def collection_of(qrels: Qrels) -> Collection:
    """Return the qrels in the form that recognition uses; the result is cached."""
    if isinstance(qrels, QrelsFromCounts):
        return Collection(qrels.n_rel.items(), external=qrels.external)
    return qrels.cached(
        "collection",
        lambda: Collection(
            zip(qrels.topics, qrels.count().tolist(), strict=True),
            qrels.first_documents[:50],
            qrels.dataset,
            qrels,
        ),
    )


def match_factors(qrels: Qrels, factors: Factors | Match | None = None) -> Match:
    """Match qrels with the given factors, or if none are given, recognize the set.

    Raises
    ------
    UnknownSetError
        If no set has the given name.
    NoFactorsError
        If the given set holds none of the topics.
    """
    if isinstance(factors, Match):
        return factors
    collection = collection_of(qrels)
    of_systems = qrels.factors if isinstance(qrels, TopicsOfSet) else None
    if factors is None:
        if of_systems:
            return match_by_systems(of_systems, collection)
        return recognize_collection(collection)
    named = factors if isinstance(factors, FactorSet) else load_factors(factors)
    if of_systems and of_systems.judgments == named.judgments:
        return match_by_systems(named, collection)
    return match_by_name(named, collection)


# --- the plan -------------------------------------------------------------------------------------


class Plan(NamedTuple):
    """Recipe for a standardized measure, which combines a raw measure and its factors.

    Attributes
    ----------
    measure : Standardized
        Standardized measure; in the plan of a raw measure, the raw measure itself.
    raw : Measure
        Raw measure to standardize.
    factors : FactorSet
    name : str
        Name of the raw measure in the factor set.
    apply : callable
        Function that standardizes raw values on ``topics``.
    topics : tuple of str
        Topics of the qrels.  If the set has per-dataset factors, the only topic is the dataset of
        the qrels.
    rows : ndarray, shape (n_topics,)
        Row of each topic in the set; -1 if the set lacks the topic or the judgments differ.
    levels : tuple of int
        Relevance levels that the measure uses.
    differing : tuple of str
        Topics whose judgments differ between the set and the qrels at one of these levels.
    """

    measure: Standardized
    raw: Measure
    factors: FactorSet
    name: str
    apply: Callable[..., Floats]
    topics: tuple[str, ...]
    rows: Ints
    levels: tuple[int, ...] = ()
    differing: tuple[str, ...] = ()

    @property
    def has_factors(self) -> Mask:
        """True on the topics that have factors and whose judgments do not differ."""
        mean, sd = self.factors.mean[self.name], self.factors.sd[self.name]
        return np.asarray(~np.isnan(pick_rows(mean, self.rows) + pick_rows(sd, self.rows)))

    @property
    def same_raw(self) -> tuple[Measure, ...]:
        """Other raw measures with the same values as ``raw``, such as the base measure."""
        base = self.measure.base
        return (base,) if base.__name__ == self.raw.__name__ else ()

    def on(self, topics: tuple[str, ...]) -> Plan:
        """Return a copy of the plan that covers only the given topics.

        The other decisions of the plan stay the same.
        """
        rows = rows_excluding(self.factors, topics, self.differing)
        return self._replace(topics=topics, rows=rows).with_factors()

    def with_factors(self) -> Plan:
        """Return the plan with the function that standardizes raw values on the plan's rows."""
        scheme, params = self.measure["scheme"], self.measure.scheme_params
        return self._replace(
            apply=self.factors.standardizer(self.rows, self.name, scheme, **params)
        )

    def standardized(self, raw: Floats, step: float = 0.0) -> tuple[Floats, float]:
        """Standardize raw values by topic.

        Parameters
        ----------
        raw : ndarray, shape (n_topics,)
        step : float
            Step to which the raw values were rounded; the systems' scores are rounded to the same
            step before they are compared.

        Returns
        -------
        values : ndarray
            Standardized values on the plan's topics; NaN on topics without factors.
        mean : float
            Mean of the values that are not NaN.
        """
        values = self.apply(scores_per_set_topic(self.topics, raw), **self._rounding(step))
        return values, mean_of_values(values)

    def _rounding(self, step: float) -> dict[str, Any]:
        """Return arguments for :attr:`apply` if the values are coarser than the set's scores."""
        if step <= self.factors.about(self.name, "resolution", 0.0):
            return {}
        if self.measure["scheme"] != "E":
            return {"resolution": step}
        scores = self.factors.scores[self.name][self.rows]
        return {"resolution": step, "scores": _round_as_printed(scores, step)}


class Decision(NamedTuple):
    """Decisions about a measure that are made once for all topics, and not for each batch.

    Attributes
    ----------
    column : str
        Name of the measure in the host program, such as PyTerrier.
    match : Match
    plan : Plan or None
        Recipe for a standardized measure; None for a raw measure.
    highest : int
        Highest relevance level of the collection; the gains of some measures are relative to this
        level.
    """

    column: str
    match: Match
    plan: Plan | None
    highest: int


def make_plan(measure: Standardized, match: Match, qrels: Qrels) -> Plan:
    """Decide how to compute a standardized measure with the factors of ``match``.

    Raises
    ------
    NoFactorsError
        If no set matches, if the set has no factors for the measure, or if its factors do not
        apply to these qrels.
    """
    scheme = measure["scheme"]
    obstacle = None
    plans = []
    if match.fit:
        factors = match.fit.factors
        table = factors.scores if scheme == "E" else factors.mean
        is_binary = highest_level_of_collection(match.fit, qrels) <= 1
        for raw in equivalents(measure.base, is_binary):
            name = name_in_set(raw, factors) or _name_without_cutoff(raw, factors)
            if name is None or name not in table:
                continue
            plan = raw_plan(raw, name, match, qrels)
            reason = next(_obstacles(plan, table[name], match.fit, match, qrels), None)
            obstacle = obstacle or reason
            if reason is None:
                plans.append(plan)
    if not plans:
        reason = _why_no_factors([str(measure.base)], scheme, obstacle, match)
        raise NoFactorsError(f"{measure}: {reason}", obstacle)
    plan = next((p for p in plans if has_values(table[p.name], p.rows)), plans[0])
    return plan._replace(measure=measure).with_factors()


def raw_plan(raw: Measure, name: str, match: Match, qrels: Qrels) -> Plan:
    """Return a plan to compare a run's raw scores with the raw scores of a set's systems."""
    fit = match.fit
    assert fit is not None
    factors, levels = fit.factors, levels_of(raw, fit)
    # If the user named the set, a warning reports the differences instead.
    differing = () if match.chosen_by == "name" else fit.without_value(levels)
    topics = qrels.topics if fit.dataset is None else (fit.dataset,)
    if isinstance(raw, ExternalMeasure):  # only the set knows the direction
        raw = ExternalMeasure(raw.name, factors.sign(name) < 0)
    rows = rows_excluding(factors, topics, differing)
    return Plan(raw, raw, factors, name, np.asarray, topics, rows, tuple(levels), differing)


def name_in_set(raw: Measure, factors: FactorSet) -> str | None:
    """Return a raw measure's name in a set, such as ``RBP(p=0.8)``; None if the set lacks it."""
    name = canonical(raw)
    # Most names in sets are canonical, so the set's other measures need not be parsed.
    return name if name in factors.measures else names_by_measure(factors.measures).get(name)


@lru_cache(maxsize=256)
def names_by_measure(names: tuple[str, ...]) -> dict[str, str]:
    """Map the canonical name of each measure to the measure's name in the set."""
    return {canonical(parse_set_measure(name)): name for name in names}


def _name_without_cutoff(raw: Measure, factors: FactorSet) -> str | None:
    """Return a measure's name without the cutoff, if the systems were evaluated to this cutoff.

    For example, ``AP@1000`` is ``AP`` for systems that were evaluated to depth 1000.
    """
    cutoff = raw.params.get("cutoff")
    if not measure_record(raw).ends_at_cutoff or cutoff is None:
        return None
    params = {key: value for key, value in raw.params.items() if key != "cutoff"}
    name = name_in_set(type(raw)(**params), factors)
    if name is None or factors.about(name, "depth") != cutoff:
        return None
    # A cutoff also shortens the ideal ranking, which matters if more documents are relevant.
    ideal = raw.__name__ == "nDCG" and any((n or 0) > cutoff for n in factors.n_rel.values())
    return None if ideal else name


def rows_excluding(factors: FactorSet, topics: Iterable[str], differing: Iterable[str]) -> Ints:
    """Return topics' rows in a set; -1 if the set lacks a topic or the judgments differ."""
    differing = set(differing)
    topics = tuple(topics)
    rows = factors.rows(topics)
    return np.where([topic in differing for topic in topics], -1, rows) if differing else rows


def scores_per_set_topic(topics: Sequence[str], raw: Floats) -> Floats:
    """Return one raw score of a run for each of a set's topics.

    In a set with per-dataset factors, each dataset is one topic of the set.  On a dataset, a run's
    score is the mean of its scores over the topics of the qrels.  So callers can treat all sets in
    the same way.
    """
    return raw if len(raw) == len(topics) else np.array([mean_of_values(raw)])


def mean_of_values(values: Floats) -> float:
    """Return the mean of the values that are not NaN; NaN if there are none."""
    total = float(values.sum())
    if total == total and len(values):
        return total / len(values)
    present = values[~np.isnan(values)]
    return float(present.mean()) if len(present) else float("nan")


def _round_as_printed(scores: Floats, step: float) -> Floats:
    """Round scores in the same way as printing does; numpy's rounding is less exact."""
    places = round(-np.log10(step))
    rounded = [round(score, places) for score in scores.ravel().tolist()]
    return np.array(rounded).reshape(scores.shape)


def has_values(table: Floats, rows: Ints) -> bool:
    """Check whether a table has a value in one of ``rows``; ignore row -1."""
    return not np.isnan(pick_rows(table, rows)).all()


# --- standardized versions of raw measures --------------------------------------------------------


class Additions(NamedTuple):
    """Measures with their standardized versions added.

    Attributes
    ----------
    measures : list of Measure
        Each given measure, followed by its standardized versions.
    plans : list of Plan
        Plans for the added versions.
    messages : tuple of Message
        Messages that list the measures without factors, and the measures that the set has.
    """

    measures: list[Measure]
    plans: list[Plan]
    messages: tuple[Message, ...]


def add_standardized(
    measures: Iterable[Measure], match: Match, qrels: Qrels, schemes: Iterable[str]
) -> Additions:
    """Add the standardized versions of raw measures, if factors exist for them."""
    schemes = list(schemes)
    wanted: list[Measure] = []
    plans: list[Plan] = []
    without: dict[tuple[str | None, str], dict[str, None]] = {}
    for measure in measures:
        wanted.append(measure)
        if isinstance(measure, Standardized) or not has_standardized(measure):
            continue
        for scheme in schemes:
            added = standardized(measure, **({} if scheme == "N" else {"scheme": scheme}))
            try:
                plan = make_plan(added, match, qrels)
            except NoFactorsError as missing:
                group = (missing.obstacle, "" if missing.obstacle or not match.fit else scheme)
                without.setdefault(group, {})[str(measure)] = None
            else:
                if has_values(plan.factors.mean[plan.name], plan.rows):
                    wanted.append(added)
                    plans.append(plan)
    messages = [
        Message(_why_no_factors(list(names), scheme, obstacle, match))
        for (obstacle, scheme), names in sorted(without.items(), key=lambda group: not group[0][0])
    ]
    return Additions(wanted, plans, tuple(messages))


def _why_no_factors(names: Sequence[str], scheme: str, obstacle: str | None, match: Match) -> str:
    """Say why measures have no factors, and name other sets that have factors for them."""
    factors = match.factors
    if factors is None:
        return str(match)
    if obstacle:
        return f"{factors.id}'s factors for {', '.join(names)} do not apply: {obstacle}"
    what, table = ("scores", factors.scores) if scheme == "E" else ("factors", factors.measures)
    wanted = {canonical(parse_set_measure(name)) for name in names}
    others = ", ".join(
        set_id
        for set_id in match.alternatives
        if wanted & names_by_measure(load_factors(set_id).measures).keys()
    )
    advice = f"; to use {others}, pass --factors (factors=)" if others else ""
    return (
        f"{factors.id} has no {what} for {', '.join(names)} (scheme {scheme}); it has "
        f"{similar_measures(table, names)}{advice}"
    )


def similar_measures(names: Iterable[str], asked: Iterable[str]) -> str:
    """List the known measures of the requested kinds, or else all known measures.

    >>> similar_measures(["AP", "P@5", "P@10", "RR"], ["P@15"])
    'P@5, P@10'
    >>> similar_measures(["AP", "P@5", "P@10", "RR"], ["Judged@10"])
    'AP, P@5, P@10, ... (4 in all)'
    """
    names, kinds = list(names), {_kind(name) for name in asked}
    return ", ".join(name for name in names if _kind(name) in kinds) or abbreviate(names) or "none"


def _kind(name: str) -> str:
    return name.partition("@")[0].partition("(")[0]


# --- where factors do not apply -------------------------------------------------------------------


def levels_of(raw: Measure, fit: Fit) -> list[int]:
    """Return the relevance levels that a measure uses.

    For each of these levels, the measure uses the documents at this level or above.
    """
    record = measure_record(raw)
    if record.judged and not record.relevance:
        return [ALL_JUDGED]
    graded = has_graded_gains(raw) or "rel" not in raw.SUPPORTED_PARAMS
    levels = set(fit.levels if graded else [raw.params.get("rel", 1)])
    if record.nonrelevant:
        levels.add(0)
    looks_at_all = {"judged_only", "gains"} & {k for k, v in raw.params.items() if v}
    if looks_at_all or record.judged:
        levels.add(ALL_JUDGED)
    return sorted(levels)


def _obstacles(plan: Plan, table: Floats, fit: Fit, match: Match, qrels: Qrels) -> Iterator[str]:
    """Yield the reasons why a set's factors for a raw measure cannot be used with the qrels.

    Parameters
    ----------
    plan : Plan
        Plan of the raw measure.
    table : ndarray
        Values of the set that the scheme needs, by row: the systems' scores for scheme E, and the
        means for the other schemes.
    fit : Fit
    match : Match
    qrels : Qrels
    """
    depth = fit.factors.about(plan.name, "depth")
    if depth and plan.raw.params.get("cutoff", 0) > depth:
        yield f"the set's systems were evaluated to depth {depth}"
    yield from _level_obstacles(plan.raw, fit, qrels)
    if match.chosen_by == "name":
        return  # If the user named the set, a warning reports the differences instead.
    if 2 * len(plan.differing) > len(fit.matched):
        yield _difference(plan, fit)
    own = highest_level_of_collection(fit, qrels)
    theirs = fit.factors.info.get("max_level")
    if gains_are_shares(plan.raw) and theirs not in (None, own):
        yield (
            f"gains are relative to level {own} in these qrels, but to level {theirs} in the set's "
            "judgments"
        )
    rows = fit.factors.rows(plan.topics)
    if plan.differing and has_values(table, rows) and not has_values(table, plan.rows):
        yield "the judgments differ on all topics that have factors"


def _level_obstacles(raw: Measure, fit: Fit, qrels: Qrels) -> Iterator[str]:
    """Yield the reasons why the relevance levels of these qrels rule out a measure."""
    own, theirs = _highest_level(fit, qrels), fit.factors.info.get("max_level")
    if has_graded_gains(raw) and theirs is not None and not fit.agreement.is_graded.any():
        if own > 1 >= theirs:
            yield f"these qrels have levels up to {own}, but the set's judgments have one level"
        if theirs > 1 >= own and not fit.is_subset:
            yield f"these qrels have one level, but the set's judgments have levels up to {theirs}"
    level = raw.params.get("rel", 1)
    if level > highest_level_of_collection(fit, qrels):
        yield f"no document of these qrels is judged at level {level} or above"
    if measure_record(raw).nonrelevant and fit.collection.qrels is not None:
        _, n_nonrelevant = fit.agreement.counts(0)
        if not (n_nonrelevant > 0).any():
            yield "these qrels do not contain the documents judged not relevant"


def _difference(plan: Plan, fit: Fit) -> str:
    """Describe how the judgments differ at the levels that a measure uses."""
    raw, n, unit = plan.raw, len(plan.differing), fit.factors.unit
    levels = [level for level in plan.levels if fit.agreement.at_level(level).different.any()]
    if levels and levels[-1] < 1:
        return f"the documents that are judged not relevant differ on {pluralize(n, unit)}"
    where = "" if has_graded_gains(raw) else f" at level {raw.params.get('rel', 1)} or above"
    on = f"{n} of {pluralize(len(fit.matched), unit)}"
    return f"the judgments{where} differ from the set's judgments on {on}"


def _highest_level(fit: Fit, qrels: Qrels) -> int:
    """Return the qrels' highest level, or the set's highest level if only scores are known."""
    if isinstance(qrels, QrelsFromCounts):
        return fit.factors.info.get("max_level") or 1
    return qrels.max_level


def highest_level_of_collection(fit: Fit, qrels: Qrels) -> int:
    """Return the highest relevance level of the whole collection.

    Qrels that are part of a graded collection count as graded, even if the highest level in the
    qrels is 1.
    """
    highest = fit.factors.info.get("max_level") or 0
    return max(_highest_level(fit, qrels), highest if fit.is_subset else 0)
