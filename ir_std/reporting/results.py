"""Evaluate runs on one collection."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ir_std._arrays import EXACT, Executor
from ir_std.analysis.paired import Procedure
from ir_std.errors import UsageError, warn_caller
from ir_std.evaluation import inputs
from ir_std.evaluation.api import SystemsSelection, select_factors
from ir_std.evaluation.evaluation import Evaluation
from ir_std.evaluation.evaluator import Progress, StdEvaluator, evaluate_runs
from ir_std.evaluation.factor_messages import factors_used
from ir_std.factors.catalog import Factors
from ir_std.measures import Measures, main_score
from ir_std.reporting.evaluated_collection import EvaluatedCollection, collection_names
from ir_std.reporting.model import Results
from ir_std.schemes import scheme_names
from ir_std.scores.run_scores import RunScores

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
        A run in any form that :func:`ir_std.trec.inputs.as_run` accepts, a folder or list of runs,
        or a dict of runs by name, such as ``{"bm25": "bm25.run", "mono": {"401": {"d1": 2.5}}}``.
        Instead of runs, you can pass scores that another program computed (see
        :func:`ir_std.read_scores`) or names of systems of factor sets, such as
        ``"dl19-passage/p_bert"`` (see :func:`ir_std.system`).
    qrels : optional
        Qrels in any form that :func:`ir_std.trec.inputs.as_qrels` accepts.  Scores need no qrels.
    measures : Measure, str or iterable of them, optional
        Measures to compute; by default, the default measures of the recognized factor set.
    schemes, factors, systems, without, residual
        As for :func:`ir_std.evaluator`.  Without a scheme, only raw scores are computed.
        ``without="self"`` leaves out each reference system that is also evaluated, because the
        system's own scores would pull the factors towards the system.  For example, BM25 is one of
        the 37 systems of DL 2019.  The mean snDCG@10 of BM25 is .332 if BM25 is among the reference
        systems, and .328 if BM25 is left out.
    baseline : str, optional
        Name of the run that the others are tested against.  A system of a factor set, such as
        ``"dl19-passage/p_bert"``, can also be the baseline; it is then added to the runs.
        ``"best"`` stands for the reference system with the highest mean for the first measure.
    test : {'t', 'randomization'}
        See :mod:`ir_std.analysis.paired`.
    correction : {'holm', 'bonferroni', 'none'}
        Correction of p-values for the number of runs, separately for each measure.  See
        :func:`ir_std.analysis.paired.paired_tests`.
    equivalent : float, optional
        Smallest difference from the baseline that would matter.  Two one-sided t-tests find the
        runs that differ from the baseline by less than this difference.
    jobs : int, optional
        Number of processes; if None, ir_std chooses the number.
    executor : concurrent.futures.Executor, optional
        Executor to use instead of ``jobs``, such as Dask's ``Client.get_executor()``.  The executor
        evaluates each run as a separate task.  The executor's workers must be able to read files
        that are given by their path.
    depth : int, optional
        Evaluate only the first ``depth`` documents of each topic, in trec_eval's order.  This
        is the same as trec_eval's ``-M``.
    progress : callable
        Function that wraps the iterable of evaluations, as ``tqdm.tqdm`` does.
    lower_is_better : iterable of str
        Custom measures for which lower is better, unless a factor set already says so.
    duplicates : {'error', 'first', 'last'}
        What to do if a run has a document twice for a topic: raise an error, or use the first or
        the last line.
    benchmark : str, optional
        MTEB's name of a benchmark, such as ``"MTEB(eng, v2)"``.  The runs are then models, and the
        topics are the benchmark's tasks.  ``"mteb-retrieval/*"`` stands for all models with results
        on at least half of the tasks.  ``systems="zero-shot"`` excludes each model's results on
        tasks that it was trained on.

    Returns
    -------
    Results
        Scores, means with intervals, ranks, placements and tests, with methods for tables, plots
        and the report.

    Raises
    ------
    InputError
        If a run or the qrels cannot be used, or if a run and the qrels have no topic in common.
    UsageError
        If no run has the baseline's name, or the test, correction or scheme is unknown.
    NoFactorsError
        If you name a standardized measure that has no factors.

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
    by_name = inputs.resolve_runs(runs, duplicates=duplicates)
    procedure = Procedure(test, correction, equivalent)
    board = None
    if benchmark is not None:
        if measures or qrels is not None:
            raise UsageError("a benchmark uses MTEB's main scores; leave out qrels and measures")
        from ir_std.reporting.benchmark import Benchmark

        board = Benchmark.of(by_name, benchmark, systems)
        by_name, measures, factors, systems = board.runs(by_name), main_score, board.factors, None
    judgments = inputs.resolve_qrels(by_name.values(), qrels)
    without = inputs.resolve_excluded(without, by_name.values())
    selected = select_factors(judgments, factors, systems=systems, without=without)
    named, asked = tuple(by_name), baseline
    baseline = inputs.add_baseline(baseline, by_name, judgments, selected, measures)
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
    if board is not None:  # Users cannot act on messages about the set's models.
        by_run = {r: e if r in board.own else replace(e, messages=()) for r, e in by_run.items()}
    if baseline is not None and baseline not in named:
        # If one of the user's runs is a copy of that system, that run becomes the baseline.
        copy = _same_run(by_run, baseline, by_name[baseline])
        if copy is not None:
            del by_run[baseline], by_name[baseline]
            baseline = copy
    if [*by_run] == [baseline] != [asked]:
        raise UsageError(f"{baseline} is itself the baseline; add a run to compare with it")
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
    evaluations: Mapping[str, Evaluation], name: str, system: inputs.ScoresOfSystem
) -> str | None:
    """Find a run with the same raw scores as a system on all topics, up to rounding."""
    own = evaluations[name].values
    steps = {m: system.step_of(m) / 2 + EXACT for m in own if m in system.values}

    def has_same_scores(run: str) -> bool:
        values = evaluations[run].values
        each = ((values[m], own[m], step) for m, step in steps.items())
        return all(np.allclose(x, y, rtol=0, atol=step, equal_nan=True) for x, y, step in each)

    others = [run for run in evaluations if run != name] if steps else []
    return next(filter(has_same_scores, others), None)
