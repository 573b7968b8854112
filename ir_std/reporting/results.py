"""The user's call for one collection, :func:`evaluate`."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_std.analysis.paired import Procedure
from ir_std.errors import UsageError, warn_caller
from ir_std.evaluation.api import SystemsSelection, select_factors
from ir_std.evaluation.evaluation import Evaluation
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.factor_messages import factors_used
from ir_std.evaluation.inputs import (
    ScoresOfSystem,
    add_baseline,
    resolve_excluded,
    resolve_qrels,
    resolve_runs,
)
from ir_std.evaluation.parallel import Progress, evaluate_runs
from ir_std.factors.catalog import Factors
from ir_std.measures import Measures, main_score
from ir_std.reporting.evaluated_collection import EvaluatedCollection, collection_names
from ir_std.reporting.model import Results
from ir_std.schemes import EXACT, scheme_names
from ir_std.scores.run_scores import RunScores

if TYPE_CHECKING:
    from concurrent.futures import Executor
else:
    Executor = Any  # for typing.get_type_hints

_logger = logging.getLogger("ir_std")


def evaluate(
    runs: Any,
    qrels: Any = None,
    measures: Measures | None = None,
    schemes: str | Iterable[str] = "N",
    *,
    factors: Factors | None = None,
    systems: SystemsSelection = None,
    without: str | Iterable[str] = (),
    residual: bool = False,
    baseline: str | None = None,
    test: str = "t",
    correction: str = "holm",
    equivalent: float | None = None,
    jobs: int | None = 1,
    executor: Executor | None = None,
    depth: int | None = None,
    progress: Progress = iter,
    lower_is_better: Iterable[str] = (),
    duplicates: str = "error",
    benchmark: str | None = None,
) -> Results:
    """Evaluate one or many runs, raw and standardized.

    Parameters
    ----------
    runs
        A run in any form that :func:`ir_std.trec.inputs.as_run` takes; a folder; a list; or a dict
        that names them, ``{"bm25": "bm25.run", "mono": {"401": {"d1": 2.5}}}``.  Instead of runs
        also scores that another program computed, see :func:`ir_std.read_scores`, and names of
        sets' systems, ``"dl19-passage/p_bert"``, see :func:`ir_std.system`.
    qrels : optional
        Any form that :func:`ir_std.trec.inputs.as_qrels` takes; not needed for scores.
    measures : Measure, str or iterable of them, optional
        Measures to compute; by default, the default measures of the recognized factor set.
    schemes, factors, systems, without, residual
        As for :func:`ir_std.evaluator`; no scheme for only raw scores; ``without="self"`` leaves
        out the systems of the set that are evaluated, as a system's own scores draw the factors to
        it (of 37, BM25 on DL 2019 has a mean snDCG@10 of .332 with itself, and .328 without).
    baseline : str, optional
        The name of the run that the others are tested against; or of a set's system, as
        ``"dl19-passage/p_bert"``, which is added to the runs; or ``"best"``, the one of the set's
        systems with the highest mean by the first measure.
    test : {'t', 'randomization'}
        See :mod:`ir_std.analysis.paired`.
    correction : {'holm', 'bonferroni', 'none'}
        For the number of runs, each measure separately.  See
        :func:`ir_std.analysis.paired.paired_tests`.
    equivalent : float, optional
        Difference from the baseline that would not matter: two one-sided t-tests find out which
        runs differ by less.
    jobs : int, optional
        Number of processes; with None it is chosen automatically.
    executor : concurrent.futures.Executor, optional
        Executor that evaluates each run as one task, instead of ``jobs``; for example Dask's
        ``Client.get_executor()``.  Files given by their path must be readable by its workers.
    depth : int, optional
        Evaluate only the first ``depth`` documents of each topic, in trec_eval's order; its ``-M``.
    progress : callable
        Wraps the iterable of evaluations, like ``tqdm.tqdm``.
    lower_is_better : iterable of str
        Custom measures for which lower is better, unless a factor set already says so.
    duplicates : {'error', 'first', 'last'}
        Line that counts if a run has a document twice for a topic.

    benchmark : str, optional
        MTEB's name of a benchmark, as ``"MTEB(eng, v2)"``: runs are models, ``"mteb-retrieval/*"``
        all that have half of its tasks, and topics are its tasks; ``systems="zero-shot"`` takes
        results of tasks that a model was trained on out.

    Returns
    -------
    Results
        Scores, means with intervals, ranks, places and tests; tables, pictures and the report.

    Raises
    ------
    InputError
        If a run or the qrels cannot be used, or they have no topic in common.
    UsageError
        If there is no run of the baseline's name, or no such test, correction or scheme.
    NoFactorsError
        If a standardized measure was asked for by name and has no factors.

    Examples
    --------
    >>> results = ir_std.evaluate({"bm25": "bm25.run", "mono": "mono.run"}, "qrels.txt", "AP",
    ...                           baseline="bm25")
    >>> print(results)
    run       AP      sAP
    ----------------------
    bm25  0.4527*  0.7650*
    mono  0.4376   0.7638
    ...
    """
    schemes = schemes and scheme_names(schemes)
    by_name = resolve_runs(runs, duplicates=duplicates)
    procedure = Procedure(test, correction, equivalent)
    board = None
    if benchmark is not None:
        if measures or qrels is not None:
            raise UsageError("a benchmark has main scores: give MTEB results, no qrels or measures")
        from ir_std.reporting.benchmark import Benchmark

        board = Benchmark.of(by_name, benchmark, systems)
        by_name, measures, factors, systems = board.runs(by_name), main_score, board.factors, None
    judgments = resolve_qrels(by_name.values(), qrels)
    without = resolve_excluded(without, by_name.values())
    selected = select_factors(judgments, factors, systems=systems, without=without)
    named = tuple(by_name)
    baseline = add_baseline(baseline, by_name, judgments, selected, measures)
    evaluator = StdEvaluator(
        measures,
        judgments,
        schemes,
        selected,
        residual,
        scores=[run for run in by_name.values() if isinstance(run, RunScores)],
        lower_is_better=lower_is_better,
    )
    if schemes or evaluator.plans:
        for match in evaluator.matches:
            _logger.info("%s", factors_used(match, evaluator.plans))
    evaluations = progress(evaluate_runs(evaluator, by_name, jobs, executor, depth=depth))
    by_run = {evaluation.run: evaluation for evaluation in evaluations}
    if board is not None:  # the set's models are what they are
        by_run = {r: e if r in board.own else replace(e, messages=()) for r, e in by_run.items()}
    if baseline is not None and baseline not in named:
        # The user's own file of that system, under whatever name, is the baseline then.
        copy = _same_run(by_run, baseline, by_name[baseline])
        if copy is not None:
            del by_run[baseline], by_name[baseline]
            baseline = copy
    readable = {name: run for name, run in by_name.items() if not isinstance(run, Iterator)}
    name = benchmark or collection_names({"": judgments}, {"": evaluator.match})[""]
    results = Results(
        {name: EvaluatedCollection(name, evaluator, readable, depth, benchmark=board)},
        {name: by_run},
        baseline,
        procedure,
    )
    warn_caller(results.warnings)
    return results


def _same_run(
    evaluations: Mapping[str, Evaluation], name: str, system: ScoresOfSystem
) -> str | None:
    """Return the run that has a system's raw scores on all topics, to the set's resolution."""
    own = evaluations[name].values
    steps = {m: system.step_of(m) / 2 + EXACT for m in own if m in system.values}
    for run, evaluation in evaluations.items():
        values = evaluation.values
        if (
            run != name
            and steps
            and all(
                np.allclose(values[m], own[m], rtol=0, atol=step, equal_nan=True)
                for m, step in steps.items()
            )
        ):
            return run
    return None
