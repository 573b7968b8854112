"""Measure and show how well two sets of judgments of the same topics agree."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ir_std._arrays import Floats, Ints
from ir_std.analysis import agreement as statistics
from ir_std.analysis.means import Estimate
from ir_std.analysis.paired import ALPHA
from ir_std.errors import UsageError, look_up, pluralize
from ir_std.evaluation.inputs import ScoresOfSystem, system_of, systems_of
from ir_std.evaluation.plans import match_factors
from ir_std.factors.catalog import Factors
from ir_std.factors.match import Match
from ir_std.measures import Measure, Measures, as_measures, named_measure, parse_measure, sign_of
from ir_std.reporting.model import Results
from ir_std.reporting.results import evaluate
from ir_std.reporting.tables import Cell, Table, Value, interval_cell, make_table, number_cell
from ir_std.scores.files import holds_scores, read_scores
from ir_std.trec import Qrels, as_qrels, is_file

MEASURES = ("nDCG@10", "AP", "P@10")
"""Measures for comparing runs if no factor set has default measures."""
BEST = 10
"""Number of best systems whose pairs are also counted separately."""
MOST_LEVELS = 100
"""Largest supported number of relevance levels."""
NO_INTERVAL = (
    f"Intervals are left out if there are fewer than {statistics.FEWEST_TOPICS} topics, or if two "
    "systems have the same score on more than two thirds of the topics (average over pairs of "
    "systems). The interval of tau is also left out if the order under one of the judges would be "
    "very different on other topics."
)
"""Note for tables that lack an interval because it would not be reliable."""


def agreement(
    first: Any,
    second: Any,
    runs: Any = None,
    measures: Measures | None = None,
    schemes: str | Iterable[str] = "N",
    *,
    factors: Sequence[Factors | None] = (None, None),
    jobs: int | None = 1,
) -> JudgeAgreement:
    """Compare two sets of judgments by their labels and by the scores of systems.

    Parameters
    ----------
    first, second
        Qrels in any form that :func:`ir_std.evaluate` accepts.  Levels below 0 count as 0.  Instead
        of both qrels, you can pass per-topic scores that another program computed under the two
        sets of judgments.
    runs : optional
        Runs of any type that :func:`ir_std.evaluate` accepts.  By default, the runs are the
        reference systems whose names are in both factor sets.
    measures : Measure, str or iterable of them, optional
        Measures to compare.  By default, the default measures of both factor sets.
    schemes : str or iterable of str
        Schemes of the standardized scores; each score uses the factors of its own judgments.
    factors : (set, set)
        Factor sets of the two sets of judgments.  By default, ir_std recognizes the factor sets.
    jobs : int, optional
        See :func:`ir_std.evaluate`.

    Raises
    ------
    UsageError
        If the judges have no judged document in common, or if both inputs are scores that have no
        topic, run or measure in common.
    InputError
        If a run or qrels cannot be used.

    Examples
    --------
    >>> agreement = ir_std.agreement({"1": {"a": 2, "b": 0, "c": 1}},
    ...                              {"1": {"a": 3, "b": 0, "c": 1}})
    >>> round(agreement.kappa("quadratic").value, 4)
    0.8571
    """
    if holds_scores(first) and holds_scores(second):
        return _agreement_of_scores(first, second, measures)
    pair = as_qrels(first), as_qrels(second)
    names = _names([q.name for q in pair])
    matches = [match_factors(q, f) for q, f in zip(pair, factors, strict=True)]
    highest = min(q.max_level for q in pair)
    asked = as_measures(measures or ()) or _default_measures(matches)
    wanted = [m for m in asked if (m.params.get("rel") or 0) <= highest]
    labels = _agreement_of_labels(names, pair)
    if not labels.confusion.any():
        raise UsageError(
            f"no topic has a document that both {names[0]} and {names[1]} judged; pass two sets of "
            "judgments of the same topics"
        )
    each = []
    for match, q, f in zip(matches, pair, factors, strict=True):
        own, usable = _systems_of(match, wanted) if runs is None else (runs, wanted)
        if usable:
            each.append(evaluate(own, q, usable, schemes, factors=f, jobs=jobs))
    left_out = [
        f"{m} left out, because one of the judges gave no document the relevance level that the "
        "measure requires"
        for m in asked
        if m not in wanted
    ]
    notes = (*dict.fromkeys(map(str, matches)), *left_out, *_notes(labels, pair))
    return replace(_with_scores(labels, each), notes=notes)


def _names(files: Sequence[str]) -> tuple[str, str]:
    """Return the names of both files.

    If a file has no name, or both files have the same name, return ``first`` and ``second``.
    """
    one, other = (os.path.basename(file).removesuffix(".txt") for file in files)
    return (one, other) if one != other and one and other else ("first", "second")


def _agreement_of_scores(first: Any, second: Any, measures: Measures | None) -> JudgeAgreement:
    """Compare two sets of judgments that are known only by the scores of runs."""
    names = _names([str(given) if is_file(given) else "" for given in (first, second)])
    each = [evaluate(read_scores(given), None, measures, "none") for given in (first, second)]
    found = _agreement_of_results(names, each)
    if not found.topics or not found.scores:
        raise UsageError("the two inputs have no topic, run or measure in common")
    return found


def _default_measures(matches: Sequence[Match]) -> list[Measure]:
    """Return the default measures that both sets have, or else :data:`MEASURES`."""
    defaults = [match.factors.default_measures for match in matches if match.factors]
    names = [m for m in defaults[0] if m in defaults[-1]] if defaults else []
    return [parse_measure(name) for name in names or MEASURES]


def _systems_of(
    match: Match, measures: Iterable[Measure]
) -> tuple[dict[str, ScoresOfSystem], list[Measure]]:
    """Return the reference systems' scores, and the measures that have such scores."""
    factors = match.factors
    if factors is None or factors.of_datasets:
        return {}, []
    systems = {tag: system_of(factors, tag) for tag in systems_of(factors)}
    return systems, [m for m in measures if any(m in one.values for one in systems.values())]


def _agreement_of_labels(names: tuple[str, str], pair: Sequence[Qrels]) -> JudgeAgreement:
    one, other = pair
    topics = tuple(t for t in one.topics if t in other.positions)
    return JudgeAgreement(names, topics, *compare_labels((one, other), topics))


def _agreement_of_results(names: tuple[str, str], each: Sequence[Results]) -> JudgeAgreement:
    """Compare two sets of judgments by the results of the same runs under each set."""
    pair = [results.collection.evaluator.qrels for results in each]
    return _with_scores(_agreement_of_labels(names, pair), each)


def _with_scores(labels: JudgeAgreement, each: Sequence[Results]) -> JudgeAgreement:
    """Add both judges' scores of the common systems on the common topics."""
    if len(each) < 2:
        return labels
    one, other = each
    systems = tuple(run for run in one.runs if run in other.runs)
    scores = {
        m: (
            score_matrix(one, systems, m, labels.topics),
            score_matrix(other, systems, m, labels.topics),
        )
        for m in (measures_of_both(one, other) if systems else ())
    }
    return replace(labels, systems=systems, scores=scores)


def measures_of_both(one: Results, other: Results) -> list[Measure]:
    """Return the measures with values in both results.

    One of the results can lack a measure, for example if no document has the measure's relevance
    level.
    """
    theirs = other.collection.topic_measures
    return [m for m in one.collection.topic_measures if m in theirs]


def score_matrix(
    results: Results, runs: Iterable[str], measure: Measure, topics: Iterable[str]
) -> Floats:
    """Return scores as a matrix with a row per topic and a column per run."""
    positions = results.collection.evaluator.qrels.positions
    rows = [positions[topic] for topic in topics]
    return np.stack([results.values[run][measure][rows] for run in runs], axis=1)


def _notes(labels: JudgeAgreement, pair: Sequence[Qrels]) -> Iterator[str]:
    for name, q in zip(labels.names, pair, strict=True):
        if alone := len(q.topics) - len(labels.topics):
            yield f"left out {pluralize(alone, 'topic')} that only {name} has"
    if sum(labels.judged_once) > labels.confusion.sum():
        yield (
            "more than half of the documents were judged by only one of the judges; agreement "
            "is computed on the other documents"
        )
    highest = [q.max_level for q in pair]
    if highest[0] != highest[1]:
        yield (
            f"the scales differ (levels up to {highest[0]} and up to {highest[1]}), but kappa "
            "treats equal numbers as equal judgments; use the kappa at single levels"
        )


def judgment_agreements(results: Results) -> list[JudgeAgreement]:
    """Compare all pairs of judgment sets with the same topics, and the runs under both sets."""
    return [
        one
        for pair in results.overlaps.topics
        if results.overlaps.is_relabelled(*pair)
        for one in [_agreement_of_results(pair, [results.on(name) for name in pair])]
        if one.confusion.any()  # If only scores are known, this matrix is empty.
    ]


@dataclass(frozen=True, eq=False)
class JudgeAgreement:
    """Agreement of two judges on documents and on systems.

    Attributes
    ----------
    names : (str, str)
        Names of the two sets of judgments.
    topics : tuple of str
        Topics with judgments of both judges, in the order of the first judge's qrels.
    confusion : ndarray of int, shape (n_topics, n_levels, n_levels)
        Number of documents for each topic and pair of levels; rows are the first judge's levels.
    judged_once : (int, int)
        Number of documents of these topics that only the first judge judged, and number of
        documents that only the second judge judged.
    systems : tuple of str
        Systems whose scores are compared; empty without runs.
    scores : mapping of Measure to (ndarray, ndarray)
        Scores under both judges, shape (n_topics, n_systems); NaN for missing scores.
    notes : tuple of str
        Notes for the reader.
    """

    names: tuple[str, str]
    topics: tuple[str, ...]
    confusion: Ints
    judged_once: tuple[int, int]
    systems: tuple[str, ...] = ()
    scores: Mapping[Measure, tuple[Floats, Floats]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        sizes = (
            pluralize(len(self.topics), "topic"),
            pluralize(int(self.confusion.sum()), "document"),
            pluralize(len(self.systems), "system"),
        )
        return f"<JudgeAgreement of {' and '.join(self.names)}: {', '.join(sizes)}>"

    def kappa(self, weights: str = "none") -> statistics.Interval:
        """Compute Cohen's kappa over the documents of all topics.

        Parameters
        ----------
        weights : {'none', 'linear', 'quadratic'}
            Weights of the disagreements.
        """
        return statistics.kappa_interval(self.confusion, weights)

    def kappa_at(self, level: int) -> float:
        """Compute Cohen's kappa, counting documents from ``level`` upwards as relevant.

        Return NaN if one of the judges has no document at this level or above.
        """
        whole = self.confusion.sum(axis=0)
        if not whole[level:].any() or not whole[:, level:].any():
            return float("nan")
        halves = [slice(0, level), slice(level, None)]
        return float(statistics.cohen_kappa([[whole[a, b].sum() for b in halves] for a in halves]))

    @cached_property
    def order(self) -> dict[Measure, statistics.OrderAgreement]:
        """Agreement of the systems' orders and scores under the two judges, by measure."""
        return {
            m: statistics.order_agreement(*scores)
            for m, scores in self.scores.items()
            if not np.isnan(scores[0] + scores[1]).any(axis=1).all()
        }

    def difference(self, system: str, measure: Measure | str) -> Estimate:
        """Estimate a system's mean under the second judge minus the mean under the first judge."""
        column = self.systems.index(system)
        first, second = self.scores[named_measure(measure, self.scores)]
        return Estimate.of(second[:, column] - first[:, column])

    @property
    def tables(self) -> dict[str, Table]:
        """Tables that are not empty, by name."""
        return {name: self.table(name) for name in TABLES if not self.lacks(name)}

    def lacks(self, table: str) -> str:
        """Describe what a table needs and lacks; empty if it lacks nothing."""
        if table in OF_SYSTEMS:
            return "" if self.systems else "needs scores of systems; pass runs"
        return "" if self.confusion.any() else "needs qrels; only scores are known"

    def table(self, name: str = "labels", places: int = 4) -> Table:
        """Return one of the tables.

        Parameters
        ----------
        name : {'labels', 'confusion', 'topics', 'order', 'pairs', 'means'}
        places : int
            Decimals; -1 for all.

        Raises
        ------
        UsageError
            If no table has this name, or if the table needs scores or qrels that are not known.
        """
        make = look_up(name, TABLES, "table")
        if lacking := self.lacks(name):
            raise UsageError(f"the table {name} {lacking}")
        return make(self, places)


def compare_labels(
    pair: tuple[Qrels, Qrels], topics: Sequence[str]
) -> tuple[Ints, tuple[int, int]]:
    """Compute a confusion matrix per topic, and count documents that only one judge judged."""
    n_levels = max(2, 1 + max(q.max_level for q in pair))
    if n_levels > MOST_LEVELS:
        raise UsageError(
            f"found levels up to {n_levels - 1}; at most {MOST_LEVELS} levels are supported"
        )
    matrices = np.zeros((len(topics), n_levels, n_levels), np.int64)
    for i, topic in enumerate(topics):
        one, other = (q.judged[topic] for q in pair)
        both = [d for d in one if d in other]
        matrices[i] = statistics.confusion_matrix(
            [max(0, one[d]) for d in both], [max(0, other[d]) for d in both], n_levels
        )
    n_both = int(matrices.sum())
    first, second = (sum(len(q.judged[topic]) for topic in topics) - n_both for q in pair)
    return matrices, (first, second)


def _labels(agreement: JudgeAgreement, places: int) -> Table:
    whole = agreement.confusion.sum(axis=0)
    n, names = int(whole.sum()), agreement.names
    kappas = []
    for weights in statistics.WEIGHTS:
        name = "kappa" if weights == "none" else f"kappa, {weights} weights"
        kappas.append((name, _with_interval(agreement.kappa(weights), places)))
    return make_table(
        ("labels", f"{names[0]} and {names[1]}"),
        [
            ("documents judged by both", n),
            *zip((f"judged only by {name}" for name in names), agreement.judged_once, strict=True),
            ("same level", float(np.trace(whole)) / n if n else None),
            *kappas,
            *((f"kappa at level {i}", agreement.kappa_at(i)) for i in range(1, len(whole))),
        ],
        notes=[
            "Cohen's kappa, with 95% intervals by a bootstrap over topics. Linear weights are the "
            "distance between two levels; quadratic weights are the square of this distance. For "
            "kappa at a level, documents at this level or above are relevant, and the others are "
            "not.",
            *([NO_INTERVAL] if len(agreement.topics) < statistics.FEWEST_TOPICS else []),
        ],
        places=places,
    )


def _confusion(agreement: JudgeAgreement, _: int) -> Table:
    first, second = agreement.names
    whole = agreement.confusion.sum(axis=0).tolist()
    rows = [(str(level), *row) for level, row in enumerate(whole)]
    return make_table([first, *(f"{second}: {level}" for level in range(len(whole)))], rows)


def _topics(agreement: JudgeAgreement, places: int) -> Table:
    counts = agreement.confusion
    levels = np.arange(counts.shape[1])
    documents = counts.sum(axis=(1, 2))
    same = np.trace(counts, axis1=1, axis2=2) / np.maximum(documents, 1)
    kappas = [statistics.cohen_kappa(counts, weights) for weights in ("none", "quadratic")]
    means = [counts.sum(axis=axis) @ levels / np.maximum(documents, 1) for axis in (2, 1)]
    order = np.argsort(np.nan_to_num(kappas[1], nan=2.0), kind="stable").tolist()
    columns = [column.tolist() for column in (documents, same, *kappas, *means)]
    of_names = [f"mean level {name}" for name in agreement.names]
    return make_table(
        ("topic", "documents", "same level", "kappa", "quadratic", *of_names),
        ((agreement.topics[i], *(column[i] for column in columns)) for i in order),
        notes=["Topics are sorted by kappa with quadratic weights, lowest first."],
        places=places,
    )


def _order(agreement: JudgeAgreement, places: int) -> Table:
    rows: list[tuple[Value, ...]] = []
    for measure, order in agreement.order.items():
        means = (float(np.nanmean(x)) for x in agreement.scores[measure])
        cells = [_with_interval(one, places) for one in (order.gap, order.tau, order.tau_ap)]
        r = {"low": order.r.low, "high": order.r.high}
        rows.append((str(measure), *means, *cells, number_cell(order.r.value, places, extra=r)))
    of_names = [f"mean {name}" for name in agreement.names]
    taus = [order.tau for order in agreement.order.values() if not np.isnan(order.tau.value)]
    lacking = any(np.isnan(tau.low) for tau in taus)
    return make_table(
        ("measure", *of_names, "gap", "tau", "tau_AP", "r"),
        rows,
        notes=[
            f"The table compares {pluralize(len(agreement.systems), 'system')}. gap is the average "
            "absolute difference between a system's two means, and tau is Kendall's tau-b of the "
            "two orders. tau_AP is the AP correlation with the first order as the reference, and r "
            "is Pearson's correlation over topics and systems. Brackets hold 95% intervals by a "
            "bootstrap over topics.",
            *([NO_INTERVAL] if lacking else []),
        ],
        places=places,
    )


def _pairs(agreement: JudgeAgreement, _: int) -> Table:
    rows = []
    for measure, (first, second) in agreement.scores.items():
        both = ~np.isnan(first + second).any(axis=1)
        if both.sum() < 2 or len(agreement.systems) < 2:
            continue
        order = np.argsort(-sign_of(measure) * first[both].mean(axis=0), kind="stable")
        parts = {"all": order}
        if len(order) > BEST:
            parts[f"{BEST} best"] = order[:BEST]
        for title, columns in parts.items():
            counts = statistics.pair_agreement(first[both][:, columns], second[both][:, columns])
            rows.append((str(measure), title, *counts))
    one, other = agreement.names
    return make_table(
        ("measure", "systems", "pairs", "differ under both", f"only {one}", f"only {other}",
         "in opposite directions", "biased"),
        rows,
        2,
        [
            f"The table counts pairs of systems that differ significantly (paired t-test, p < "
            f"{ALPHA}, no correction for the number of pairs). A pair is biased if its difference "
            f"changes significantly from {one} to {other}. The best systems are chosen by "
            f"their means under {one}."
        ],
    )  # fmt: skip


def _means(agreement: JudgeAgreement, places: int) -> Table:
    rows: list[tuple[Value, ...]] = []
    for column, system in enumerate(agreement.systems):
        for measure, scores in agreement.scores.items():
            first, second = (by[:, column] for by in scores)
            both = ~np.isnan(first + second)
            if both.any():
                difference = agreement.difference(system, measure)
                cell = interval_cell(difference.mean, difference.interval, places)
                means = (float(x[both].mean()) for x in (first, second))
                rows.append((system, str(measure), *means, cell))
    return make_table(
        ("system", "measure", *agreement.names, "difference"),
        rows,
        2,
        [
            "The difference is the second mean minus the first, paired by topic, with a 95% t "
            "interval over topics."
        ],
        places=places,
    )


TABLES: dict[str, Callable[[JudgeAgreement, int], Table]] = {
    "labels": _labels,
    "confusion": _confusion,
    "topics": _topics,
    "order": _order,
    "pairs": _pairs,
    "means": _means,
}
"""Functions that make the tables, by name."""
OF_SYSTEMS = ("order", "pairs", "means")
"""Tables that need scores of systems.  All other tables need qrels."""


def _with_interval(figure: statistics.Interval, places: int) -> Cell:
    return interval_cell(figure.value, (figure.low, figure.high), places, sign="")
