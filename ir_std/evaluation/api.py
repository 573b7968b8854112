"""Provide ir_measures' functions, and add ir_std's provider to ir_measures."""

import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar, cast

import ir_measures
from ir_measures import measures as irm, providers
from ir_measures.util import Metric

from ir_std.errors import InputError, NoFactorsError, UsageError, warn_caller
from ir_std.evaluation.evaluation import CalcResult, Message, Scores, message_texts
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.plans import match_factors
from ir_std.evaluation.raw_scores import has_formula, ir_measures_providers
from ir_std.factors.catalog import Factors, sibling_sets
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.match import Match
from ir_std.measures import DCG, SP, Measure, Measures, Q, Standardized, nDCG, nERR, standardized
from ir_std.schemes import get_scheme, scheme_names
from ir_std.scores.files import read_scores
from ir_std.scores.run_scores import RunScores, counted_topics
from ir_std.trec import Qrels, as_qrels

_logger = logging.getLogger("ir_std")

Shape = TypeVar("Shape")

SystemsSelection: TypeAlias = str | os.PathLike[str] | Iterable[str] | None
"""Kind of systems, such as ``"modern"``, or names of systems in a list or a file."""


def recognize(qrels: Any) -> Match:
    """Recognize the collection of qrels.

    Parameters
    ----------
    qrels
        A file, a dict of dicts, a DataFrame, named tuples or an ir_datasets id.

    Returns
    -------
    Match
        The matching set, the matched topics, the topics whose counts differ, and other sets that
        also match.  If no set matches, the result names the nearest sets and says why they do not
        match.

    Examples
    --------
    >>> match = ir_std.recognize("qrels.txt")
    >>> match.factors
    <FactorSet trec8-adhoc: 50 topics, 31 measures>
    >>> print(match)
    using trec8-adhoc (TREC-8 ad hoc, 129 systems): judgments match on 50 of 50 topics
    """
    return match_factors(as_qrels(qrels))


def evaluator(
    measures: Measures,
    qrels: Any,
    *,
    schemes: str | Iterable[str] = "N",
    factors: Factors | None = None,
    systems: SystemsSelection = None,
    without: str | Iterable[str] = (),
    residual: bool = False,
) -> StdEvaluator:
    """Create an evaluator that scores any number of runs against the same qrels.

    Parameters
    ----------
    measures : Measure, str or iterable of them, optional
        Measures to compute.  Each raw measure that has factors is followed by its standardized
        versions.
    qrels
        Relevance judgments: a dict of dicts, a DataFrame, named tuples, a file or an ir_datasets
        ID.
    schemes : str or iterable of str
        Standardization schemes: ``"N"``, ``"N,U"``, ``"all"`` or a list of names.
    factors : FactorSet, str or path, optional
        Factor set to use: the set itself, its ID or its file.  By default, the set is recognized
        from the qrels.
    systems : str, optional
        Alternative set of systems on the same topics, such as ``"modern"``; see
        :func:`select_factors`.
    without : str or iterable of str
        Systems to exclude from the factors.  By default, all systems are included.  If a run is one
        of the set's systems, the factors then also contain the run's own scores, as in Webber,
        Moffat and Zobel (2008).
    residual : bool
        If True, remove from each run the documents that were judged in earlier rounds.  Use this
        option only for residual collections, such as TREC-COVID from round 2 on.  The reference
        systems of these collections do not return documents that were judged in earlier rounds.

    Raises
    ------
    NoFactorsError
        If a standardized measure is requested by name but has no factors.
    UsageError
        If ``residual`` is True but the factor set does not belong to a residual collection.

    Examples
    --------
    >>> evaluator = ir_std.evaluator(["AP", "P@10"], "qrels.txt")
    >>> for run in ("bm25.run", "mono.run"):
    ...     scores = evaluator.calc_aggregate(run)
    ...     print(f"{run}: AP {scores['AP']:.4f}, standardized {scores['sAP']:.4f}")
    bm25.run: AP 0.4527, standardized 0.7650
    mono.run: AP 0.4376, standardized 0.7638
    """
    judgments = as_qrels(qrels)
    match = select_factors(judgments, factors, systems=systems, without=without)
    return StdEvaluator(measures, judgments, scheme_names(schemes), match, residual)


def select_factors(
    qrels: Qrels,
    factors: Factors | None = None,
    *,
    systems: SystemsSelection = None,
    without: str | Iterable[str] = (),
) -> Match:
    """Find the factor set for qrels, and keep only the requested systems.

    On topics whose judgments differ from the set's judgments, the factors are used only if you name
    the set in ``factors``.  If you pass ``systems`` without ``factors``, topics whose judgments
    differ have no factors.

    Parameters
    ----------
    qrels : Qrels
    factors : FactorSet, str or path, optional
        Factor set, its ID or its file; recognized from the qrels by default.
    systems : str, path or iterable of str, optional
        Kind of systems to use instead of the set's own systems, such as ``"modern"``.  Sets with
        per-dataset factors accept ``"zero-shot"`` (models that were not trained on the dataset)
        and ``"all"``.  You can also pass names of the set's systems, or a file with one name per
        line; the factors are then computed again from these systems only.
    without : str or iterable of str
        Systems to leave out; the factors are then computed again from the remaining systems.

    Raises
    ------
    NoFactorsError
        If no set matches, or the set has no such alternative systems.
    UsageError
        If a system to leave out is not in the set.
    """
    tags = (without,) if isinstance(without, str) else tuple(without)
    match = match_factors(qrels, factors)
    if systems is None and not tags:
        return match
    from ir_std.factors import derived  # rarely needed

    if match.factors is None:
        raise NoFactorsError(str(match))
    chosen = match.factors
    if isinstance(systems, str) and not os.path.isfile(systems):
        chosen = derived.select_kind(match.factors, systems) or _sibling_set(match.factors, systems)
    elif systems is not None:
        chosen = derived.select_systems(match.factors, systems)
    chosen = derived.leave_out_systems(chosen, tags) if tags else chosen
    return replace(
        match_factors(qrels, chosen), chosen_by=match.chosen_by, elsewhere=match.elsewhere
    )


def _sibling_set(factors: FactorSet, population: str) -> FactorSet:
    """Return the set that has the requested kind of systems on the same topics."""
    others = {other.info.get("population", ""): other for other in sibling_sets(factors)}
    sets = {**others, factors.info.get("population"): factors}
    if population not in sets:
        names = ", ".join(sorted(others)) or "none"
        raise NoFactorsError(f"{factors.id} has no {population!r} system set; available: {names}")
    return sets[population]


def calc_aggregate(
    measures: Measures,
    qrels: Any,
    run: Any,
    *,
    schemes: str | Iterable[str] = "N",
    factors: Factors | None = None,
    residual: bool = False,
) -> Scores:
    """Compute raw and standardized means over topics.

    The parameters are the same as for :func:`evaluator`.

    Examples
    --------
    >>> scores = ir_std.calc_aggregate(["AP", "P@10"], "qrels.txt", "bm25.run")
    >>> {str(measure): round(mean, 4) for measure, mean in scores.items()}
    {'AP': 0.4527, 'sAP': 0.765, 'P@10': 0.642, 'sP@10': 0.7037}
    """
    return evaluator(
        measures, qrels, schemes=schemes, factors=factors, residual=residual
    ).calc_aggregate(run)


def iter_calc(
    measures: Measures,
    qrels: Any,
    run: Any,
    *,
    schemes: str | Iterable[str] = "N",
    factors: Factors | None = None,
    residual: bool = False,
) -> Iterator[Metric]:
    """Yield raw and standardized values per topic.

    The parameters are the same as for :func:`evaluator`.

    Examples
    --------
    >>> for value in ir_std.iter_calc("AP", "qrels.txt", "bm25.run"):
    ...     if value.query_id == "401":
    ...         print(value.measure, round(value.value, 4))
    AP 0.7607
    sAP 1.0
    """
    return evaluator(
        measures, qrels, schemes=schemes, factors=factors, residual=residual
    ).iter_calc(run)


def calc(
    measures: Measures,
    qrels: Any,
    run: Any,
    *,
    schemes: str | Iterable[str] = "N",
    factors: Factors | None = None,
    residual: bool = False,
) -> CalcResult:
    """Compute means and values per topic.

    The parameters are the same as for :func:`evaluator`.

    Examples
    --------
    >>> means, values = ir_std.calc("AP", "qrels.txt", "bm25.run")
    >>> round(means["sAP"], 4), len(values)
    (0.765, 100)
    """
    return evaluator(measures, qrels, schemes=schemes, factors=factors, residual=residual).calc(run)


def standardize(
    scores: Shape,
    measure: str | Measure | None = None,
    *,
    factors: Factors | None = None,
    scheme: str = "N",
) -> Shape:
    """Standardize scores that were computed elsewhere.

    To standardize a table, pass it to :func:`ir_std.evaluate`, and call ``to_dataframe()`` on the
    result.

    Parameters
    ----------
    scores : dict of str to float, or RunScores
        A dict that maps each topic to its score for one measure, or the scores of one run that
        :func:`ir_std.read_scores` returned.
    measure : str or Measure, optional
        Measure of the scores in a dict, such as ``"AP"``; trec_eval names also work.
    factors : FactorSet, str or path, optional
        Factor set to use.  By default, the set is recognized from the numbers of relevant documents
        (``num_rel``).  If ``scores`` is a dict, you must pass ``factors``, because a dict does not
        contain the numbers of relevant documents.
    scheme : {'N', 'U', 'E', 'z'}
        Standardization scheme.

    Returns
    -------
    dict or RunScores
        Standardized scores in the same form as the input; NaN on topics without factors.

    Raises
    ------
    NoFactorsError
        If no set is recognized, or if the scores are a dict and the set has no factors for their
        measure.
    InputError
        If the scores are invalid, as described in :func:`ir_std.read_scores`.
    UsageError
        If ``scores`` is a dict and ``measure`` is missing, or if ``scores`` is a :class:`RunScores`
        object and ``measure`` is given.

    Examples
    --------
    >>> values = ir_std.standardize({"401": 0.05, "402": 0.2}, "AP", factors="trec8-adhoc")
    >>> {topic: round(value, 4) for topic, value in values.items()}
    {'401': 0.5094, '402': 0.4844}
    """
    get_scheme(scheme)
    if isinstance(scores, RunScores):
        if measure is not None:
            raise UsageError("measure= requires a dict; these scores name their own measures")
        return cast(Shape, _standardize_run(scores, factors, scheme))
    if not isinstance(scores, Mapping):
        raise InputError.at(
            "scores",
            f"cannot use {type(scores).__name__}",
            "pass a dict of scores per topic or the result of read_scores, or use evaluate for "
            "tables",
        )
    if measure is None:
        raise UsageError("a dict of scores needs a measure, such as measure='AP'")
    (read,) = read_scores(scores, str(measure)).values()
    wanted = standardized(*read.values, **({} if scheme == "N" else {"scheme": scheme}))
    values = StdEvaluator([wanted], counted_topics([read]), (), factors).evaluate(read).values
    return cast(Shape, dict(zip(scores, values[wanted].tolist(), strict=True)))


def _standardize_run(read: RunScores, factors: Factors | None, scheme: str) -> RunScores:
    evaluator = StdEvaluator(list(read.values), counted_topics([read]), scheme, factors)
    evaluation = evaluator.evaluate(read)
    warn_caller(message_texts(evaluator.messages + evaluation.messages, True))
    values = {
        m: dict(zip(evaluator.qrels.topics, evaluation.values[m].tolist(), strict=True))
        for m in evaluator.measures
        if isinstance(m, Standardized)
    }
    return RunScores(read.name, values, read.n_rel, read.n_ret, unit=read.unit)


# --- the provider in ir_measures ------------------------------------------------------------------


class StdProvider(providers.Provider):
    """Provide standardized measures, SP, DCG, Q, nERR, and nDCG with ir_std's own parameters.

    ir_measures computes all other measures with its own providers, as if ir_std had never been
    imported.

    Examples
    --------
    >>> provider = ir_std.StdProvider()
    >>> [provider.supports(measure) for measure in (ir_std.sAP, ir_std.AP)]
    [True, False]
    """

    NAME = "ir_std"

    def supports(self, measure: Measure) -> bool:
        """Check whether this provider computes a measure that ir_measures cannot compute."""
        if isinstance(measure, Standardized):
            measure.validate_params()
            base = measure.base
            return has_formula(base) or any(
                p.is_available() and p.supports(base) for p in ir_measures_providers()
            )
        # Compare classes, because users may have their own measures with these names.
        widened = type(measure) is type(nDCG) and measure.NAME != irm.nDCG.NAME
        return widened or type(measure) in (type(SP), type(DCG), type(Q), type(nERR))

    def _evaluator(self, measures: Iterable[Measure], qrels: Any) -> StdEvaluator:
        # FallbackProvider passes a set, and the order of a set can differ between processes.
        asked = sorted(measures, key=str)
        try:
            evaluator = StdEvaluator(asked, qrels)
        except NoFactorsError as missing:
            if "--factors" not in str(missing):
                raise
            example = next(m for m in asked if isinstance(m, Standardized))(factors="SET")
            raise NoFactorsError(
                f"{missing}; in ir_measures, name the set in the measure, such as {example}"
            ) from None
        for plan in evaluator.plans:
            if plan.factors.of_datasets:
                raise NoFactorsError(
                    f"{plan.measure}: {plan.factors.id} has per-dataset factors, but ir_measures "
                    "asks for values per topic; use ir_std.calc_aggregate or ir_std.evaluate"
                )
        if "pyterrier" in sys.modules:
            evaluator.messages += tuple(_about_pyterrier(evaluator))
        for match in evaluator.matches:
            _logger.info("%s", match.describe())
        return evaluator


def _about_pyterrier(evaluator: StdEvaluator) -> Iterator[Message]:
    """Yield warnings for pt.Experiment, which computes its own means and works in batches."""
    without = [str(p.measure) for p in evaluator.plans if not p.has_factors.all()]
    if without:
        yield Message(
            "some topics have no factors, so the means of pt.Experiment are NaN "
            f"({', '.join(without)}); average the values of perquery=True instead",
            is_warning=True,
        )
    shares = [str(m) for m in evaluator.measures if type(m) is type(nERR) and not m.decided]
    if shares and match_factors(evaluator.qrels).fit is None:
        yield Message(
            f"gains depend on the highest level in each batch of pt.Experiment "
            f"({', '.join(shares)}); use pt.std.Experiment, which uses the level of all qrels",
            is_warning=True,
        )


def install_provider() -> None:
    """Put the provider at the end of ``ir_measures.DefaultPipeline``.

    The other providers are asked first, so importing ir_std changes none of their values.
    """
    pipeline = ir_measures.DefaultPipeline.providers
    if not any(isinstance(p, StdProvider) for p in pipeline):
        pipeline.append(providers.register(StdProvider()))
