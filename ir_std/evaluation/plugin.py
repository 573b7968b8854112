"""The guest in ir_measures: it answers what nobody else there can."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import ir_measures
from ir_measures import measures as irm
from ir_measures import providers
from ir_measures.measures import Measure

from ir_std.errors import NoFactorsError
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.factor_messages import topics_without_factors
from ir_std.evaluation.messages import Message
from ir_std.evaluation.other_providers import has_formula, ir_measures_providers
from ir_std.factors.fit import MIN_COUNTED_TOPICS
from ir_std.measures import DCG, SP, Q, Standardized, nDCG, nERR

_logger = logging.getLogger("ir_std")


class StdProvider(providers.Provider):
    """Provides the standardized family, SP, DCG, Q, nERR and the widened parameters of nDCG.

    Everything else that ir_measures is asked for goes to its own providers, as if ir_std had
    never been imported.

    Examples
    --------
    >>> provider = ir_std.StdProvider()
    >>> [provider.supports(measure) for measure in (ir_std.sAP, ir_std.AP)]
    [True, False]
    """

    NAME = "ir_std"

    def supports(self, measure: Measure) -> bool:
        """Whether only ir_std computes a measure."""
        if isinstance(measure, Standardized):
            measure.validate_params()
            base = measure.base
            return has_formula(base) or any(
                p.is_available() and p.supports(base) for p in ir_measures_providers()
            )
        # By class: users may have measures of their own by these names.
        widened = type(measure) is type(nDCG) and measure.NAME != irm.nDCG.NAME
        return widened or type(measure) in (type(SP), type(DCG), type(Q), type(nERR))

    def _evaluator(self, measures: Iterable[Measure], qrels: Any) -> StdEvaluator:
        # FallbackProvider passes a set, whose order would change from run to run.
        measures = sorted(measures, key=str)
        try:
            evaluator = StdEvaluator(measures, qrels)
        except NoFactorsError as missing:
            if "--factors" not in str(missing):
                raise
            example = next(m for m in measures if isinstance(m, Standardized))(factors="SET")
            raise NoFactorsError(
                f"{missing}; here, name it in the measure, such as {example}"
            ) from None
        for p in evaluator.plans:
            if p.of_mean:
                raise NoFactorsError(
                    f"{p.measure}: {p.factors.id} has factors of whole data sets, so only a run's "
                    "mean can be standardized, and ir_measures asks for values by topic: use "
                    "ir_std.calc_aggregate or ir_std.evaluate"
                )
        if "pyterrier" in sys.modules:
            evaluator.messages += tuple(_about_pyterrier(evaluator))
        for match in evaluator.matches:
            _logger.info("%s", match.summary)
        return evaluator


def _about_pyterrier(evaluator: StdEvaluator) -> Iterator[Message]:
    """What its Experiment, which sums values up by itself, makes of topics without factors."""
    without = [str(p.measure) for p in evaluator.plans if topics_without_factors(p)]
    if without:
        yield Message(
            "where topics have no factors the mean that pt.Experiment makes itself is NaN "
            f"({', '.join(without)}): average what it gives with perquery=True",
            warns=True,
        )
    for match in evaluator.matches:
        fit = match.fit
        # Of a whole set there is no other batch.
        if fit and fit.match_type == "counts" and fit.is_subset and match.chosen_by == "qrels":
            named = evaluator.plans[0].measure(factors=fit.factors.id)
            yield Message(
                f"{fit.factors.id} was recognized by counts of relevant documents, which needs "
                f"{MIN_COUNTED_TOPICS} topics; if pt.Experiment evaluates in batches of fewer, "
                f"name the set, as in {named}",
                warns=True,
            )


def install_provider() -> None:
    """Put the provider at the end of ``ir_measures.DefaultPipeline``.

    Others answer what they can, first: importing ir_std changes none of their values.
    """
    pipeline = ir_measures.DefaultPipeline.providers
    if not any(isinstance(p, StdProvider) for p in pipeline):
        pipeline.append(providers.register(StdProvider()))
