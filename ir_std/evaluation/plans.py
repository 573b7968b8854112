"""How a standardized measure is computed: from which raw one, with the factors of which set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats, Ints
from ir_std.errors import NoFactorsError, abbreviate
from ir_std.evaluation.obstacles import (
    highest_level_of_collection,
    levels_of,
    obstacle_to,
    rows_but,
    topics_without_value,
)
from ir_std.evaluation.systems import TopicsOfSet
from ir_std.factors.catalog import Factors, load_factors
from ir_std.factors.collection import Collection
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.fit import Fit
from ir_std.factors.match import Match
from ir_std.factors.recognition import match_by_name, match_by_systems, recognize_collection
from ir_std.factors.schema import parse_set_measure
from ir_std.measures import ExternalMeasure, Standardized, canonical, equivalents, measure_record
from ir_std.scores.run_scores import CountedTopics
from ir_std.trec.qrels import Qrels


def collection_of(qrels: Qrels) -> Collection:
    """The qrels as recognition compares them, made once."""
    if isinstance(qrels, CountedTopics):
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
    """The match of qrels with the named factors, or with the set that is recognized.

    Raises
    ------
    UnknownSetError
        If there is no set of that name.
    NoFactorsError
        If the named set holds none of the topics.
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


class Plan(NamedTuple):
    """How a standardized measure is computed: from which raw one, with which factors.

    ``name`` is what the factor set calls the raw measure; ``apply`` standardizes the raw values
    on ``topics``, those of the qrels, which are at ``rows`` of the set, -1 where it lacks them, or
    where the judgments differ (``differing``) at the ``levels`` that the measure looks at.
    With factors of whole data sets these are one, the data set, and its value is the run's mean.
    """

    measure: Standardized
    raw: Measure
    factors: FactorSet
    name: str
    apply: Callable[..., Floats]
    topics: tuple[str, ...]
    rows: Ints
    of_mean: bool = False
    levels: tuple[int, ...] = ()
    differing: tuple[str, ...] = ()

    @property
    def same_raw(self) -> tuple[Measure, ...]:
        """Other raw measures that have the values of ``raw``: with binary gains, the base."""
        base = self.measure.base
        return (base,) if base.__name__ == self.raw.__name__ else ()

    def on(self, topics: tuple[str, ...]) -> Plan:
        """The plan on some of the topics, with what was decided on all of them."""
        rows = rows_but(self.factors, topics, self.differing)
        scheme = self.measure["scheme"]
        apply = self.factors.at(rows, self.name, scheme, **self.measure.scheme_params)
        return self._replace(apply=apply, topics=topics, rows=rows)

    def units(self, raw: Floats) -> Floats:
        """A run's raw values on :attr:`topics`: as they are, or their mean on the data set."""
        return np.array([mean_of_values(raw)]) if self.of_mean else raw

    def standardized(self, raw: Floats, step: float = 0.0) -> tuple[Floats, float]:
        """Raw values by topic, standardized.

        Parameters
        ----------
        raw : ndarray, shape (n_topics,)
        step : float
            The step in which the values were written; they are compared with the systems' scores
            as these would have been written so.

        Returns
        -------
        values : ndarray, shape (n_topics,)
            NaN on topics without factors, and on all with factors of whole data sets.
        mean : float
            Over what has a value.
        """
        values = self.apply(self.units(raw), **self._rounding(step))
        mean = mean_of_values(values)
        return (np.full(len(raw), np.nan) if self.of_mean else values), mean

    def uncertainty(self, raw: Floats, step: float) -> float:
        """How much the mean can change by rounding raw values to steps.

        Parameters
        ----------
        raw : ndarray, shape (n_topics,)
        step : float
        """
        values = self.units(raw)
        mean, *ends = (
            mean_of_values(self.apply(v)) for v in (values, values - step / 2, values + step / 2)
        )
        return max(abs(end - mean) for end in ends)

    def _rounding(self, step: float) -> dict[str, Any]:
        """What :attr:`apply` takes for values in such steps, if those of the set are finer."""
        if step <= self.factors.about(self.name, "resolution", 0.0):
            return {}
        if self.measure["scheme"] != "E":
            return {"resolution": step}
        scores = self.factors.scores[self.name][self.rows]
        return {"resolution": step, "scores": _round_as_printed(scores, step)}


def name_in_set(raw: Measure, factors: FactorSet) -> str | None:
    """What a set calls a raw measure that it has factors for: its ``RBP`` is ``RBP(p=0.8)``."""
    return _names_by_measure(factors.measures).get(canonical(raw))


@lru_cache(maxsize=256)
def _names_by_measure(names: tuple[str, ...]) -> dict[str, str]:
    return {canonical(parse_set_measure(name)): name for name in names}


def make_plan(measure: Standardized, match: Match, qrels: Qrels) -> Plan:
    """Decide how a standardized measure is computed with the factors of ``match``.

    Raises
    ------
    NoFactorsError
        If no set fits, or the set has no factors for the measure, or only such as do not apply
        to these qrels.
    """
    if match.fit is None:
        raise NoFactorsError(f"{measure}: {match}")
    factors, scheme, dataset = match.fit.factors, measure["scheme"], match.fit.dataset
    table = factors.scores if scheme == "E" else factors.mean
    applicable = _applicable(measure, match, match.fit, qrels, table)
    topics = qrels.topics if dataset is None else (dataset,)
    rows = factors.rows(topics)
    raw, name = next((m for m in applicable if has_values(table[m[1]], rows)), applicable[0])
    if isinstance(raw, ExternalMeasure):  # whose direction the set alone knows
        raw = ExternalMeasure(raw.name, factors.sign(name) < 0)
    differing = topics_without_value(raw, match)
    usable = rows_but(factors, topics, differing)
    if differing and has_values(table[name], rows) and not has_values(table[name], usable):
        obstacle = "the judgments differ on all topics that have factors"
        raise NoFactorsError(f"{measure}: {_what_is_missing(measure, factors, obstacle)}", obstacle)
    return Plan(
        measure,
        raw,
        factors,
        name,
        factors.at(usable, name, scheme, **measure.scheme_params),
        topics,
        usable,
        of_mean=dataset is not None,
        levels=tuple(levels_of(raw, match.fit)),
        differing=differing,
    )


def _applicable(
    measure: Standardized, match: Match, fit: Fit, qrels: Qrels, table: Mapping[str, Floats]
) -> list[tuple[Measure, str]]:
    """The raw measures that may stand behind one, and what the set calls them; an error if none."""
    applicable: list[tuple[Measure, str]] = []
    obstacles: list[str] = []
    is_binary = highest_level_of_collection(fit, qrels) <= 1
    for raw in equivalents(measure.base, is_binary):
        name = name_in_set(raw, fit.factors) or _name_without_cutoff(raw, fit.factors)
        if name is None or name not in table:
            continue
        if obstacle := obstacle_to(raw, name, match, qrels):
            obstacles.append(obstacle)
        else:
            applicable.append((raw, name))
    if applicable:
        return applicable
    obstacle = obstacles[0] if obstacles else ""
    what = _what_is_missing(measure, fit.factors, obstacle)
    others = "" if obstacle else other_sets_with([str(measure.base)], match)
    raise NoFactorsError(f"{measure}: {what}{others}", obstacle)


def _name_without_cutoff(raw: Measure, factors: FactorSet) -> str | None:
    """What a set has for a cutoff at which its systems end: their ``AP@1000`` is their ``AP``."""
    cutoff = raw.params.get("cutoff")
    if not measure_record(raw).ends_at_cutoff or cutoff is None:
        return None
    params = {key: value for key, value in raw.params.items() if key != "cutoff"}
    name = name_in_set(type(raw)(**params), factors)
    if name is None or factors.about(name, "depth") != cutoff:
        return None
    # The ideal ranking ends at the cutoff, too: that is the same where no more are relevant.
    ideal = raw.__name__ == "nDCG" and any((n or 0) > cutoff for n in factors.n_rel.values())
    return None if ideal else name


def _what_is_missing(measure: Standardized, factors: FactorSet, obstacle: str) -> str:
    if obstacle:
        return f"{factors.id}'s factors for {measure.base} do not apply: {obstacle}"
    what, table = (
        ("distributions", factors.scores) if measure["scheme"] == "E" else ("factors", factors.mean)
    )
    return (
        f"{factors.id} has no {what} for {measure.base}; it has "
        f"{similar_measures(table, [str(measure.base)])}"
    )


def other_sets_with(measures: Iterable[str], match: Match) -> str:
    """Of the other sets that fit those that have one of the measures, in words; empty if none."""
    wanted = {canonical(parse_set_measure(name)) for name in measures}
    known = (
        set_id
        for set_id in match.alternatives
        if wanted & _names_by_measure(load_factors(set_id).measures).keys()
    )
    sets = ", ".join(known)
    return f"; {sets} has it: name it with factors= or --factors" if sets else ""


def similar_measures(known: Iterable[str], asked: Iterable[str]) -> str:
    """Of the measures that a set has, those of the kinds that were asked for.

    >>> similar_measures(["AP", "P@5", "P@10", "RR"], ["P@15"])
    'P@5, P@10'
    >>> similar_measures(["AP", "P@5", "P@10", "RR"], ["Judged@10"])
    'AP, P@5, P@10, ... (4 in all)'
    """
    known, kinds = list(known), {_kind(name) for name in asked}
    return ", ".join(name for name in known if _kind(name) in kinds) or abbreviate(known) or "none"


def _kind(name: str) -> str:
    return name.partition("@")[0].partition("(")[0]


def values_by_unit(fit: Fit, qrels: Qrels, raw: Floats) -> tuple[tuple[str, ...], Floats]:
    """What a set has rows of, topics or the data set, and a run's raw values on these."""
    if fit.dataset is None:
        return qrels.topics, raw
    return (fit.dataset,), np.array([mean_of_values(raw)])


def mean_of_values(values: Floats) -> float:
    """The mean of what is not NaN; NaN where nothing is."""
    total = float(values.sum())
    if total == total and len(values):
        return total / len(values)
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _round_as_printed(scores: Floats, step: float) -> Floats:
    """Scores rounded as programs print them, by all their digits, which numpy does not do."""
    places = round(-np.log10(step))
    rounded = [round(score, places) for score in scores.ravel().tolist()]
    return np.array(rounded).reshape(scores.shape)


def has_values(table: Floats, rows: Ints) -> bool:
    """Whether a table has a value on one of the rows that are not -1."""
    return not np.isnan(table[rows[rows >= 0]]).all()
