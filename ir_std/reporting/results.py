"""The user's calls for one collection: :func:`evaluate`, and the :class:`Results` it returns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from typing import IO, Any

from ir_measures.measures import Measure

from ir_std._arrays import Axes, DataFrame
from ir_std.analysis.paired import correction_for
from ir_std.errors import MissingLibraryError, counted, warn_caller
from ir_std.evaluation.api import SystemsSelection, evaluator_for, select_factors
from ir_std.evaluation.inputs import add_baseline, inputs_by_name, judgments_for, left_out
from ir_std.evaluation.parallel import Progress, evaluate_runs
from ir_std.factors.catalog import Factors
from ir_std.measures import Measures, Standardized
from ir_std.reporting.evaluated_runs import EvaluatedRuns
from ir_std.reporting.result_tables import result_table
from ir_std.reporting.tables import Table, html_with_texts
from ir_std.schemes import scheme_names
from ir_std.scores.inputs import keep_duplicates


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
    correction: str | None = None,
    simultaneous: bool = False,
    jobs: int | None = 1,
    executor: Executor | None = None,
    depth: int | None = None,
    progress: Progress = iter,
    lower_is_better: Iterable[str] = (),
    duplicates: str = "error",
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
        Those of the recognized factor set if not given.
    schemes, factors, systems, without, residual
        As for :func:`ir_std.evaluator`; no scheme for raw scores alone; ``without="self"`` leaves
        out the systems of the set that are evaluated, as a system's own scores draw the factors to
        it (of 37, BM25 on DL 2019 has a mean snDCG@10 of .332 with itself, and .328 without).
    baseline : str, optional
        The name of the run that the others are tested against; or of a set's system, as
        ``"dl19-passage/p_bert"``, which is added to the runs; or ``"best"``, the one of the set's
        systems with the highest mean by the first measure.
    test : {'t', 'randomization', 'tukey'}
        See :mod:`ir_std.analysis.paired`.
    correction : {'holm', 'bonferroni', 'none'}, optional
        For the number of runs, each measure by itself; Holm's if not given, none for ``tukey``,
        which needs none.  See :func:`ir_std.analysis.paired.paired_tests`.
    simultaneous : bool
        Whether intervals of ranks, :attr:`Results.ranks`, hold for all runs at once: see
        :func:`ir_std.analysis.rank_intervals`.
    jobs : int, optional
        Number of processes; with None it is chosen automatically.
    executor : concurrent.futures.Executor, optional
        Evaluates the runs, a task each, in place of ``jobs``; such as ``Client.get_executor()`` of
        Dask.  Files given by their path must be readable by its workers.
    depth : int, optional
        Evaluate only the first ``depth`` documents of each topic, in trec_eval's order; its ``-M``.
    progress : callable
        Wraps the iterable of evaluations, as ``tqdm.tqdm`` does.
    lower_is_better : iterable of str
        Of the measures that ir_measures does not know those of which less is better, where no
        factor set says so.
    duplicates : {'error', 'first', 'last'}
        What counts where a run has a document twice in a topic: its first line, or its last.

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
    >>> print(results.to_text())
    run       AP      sAP
    ----------------------
    bm25  0.4527*  0.7650*
    mono  0.4376   0.7638
    ...
    """
    by_name = keep_duplicates(inputs_by_name(runs), duplicates)
    correction_for(test, correction)
    judgments = judgments_for(by_name.values(), qrels)
    without = left_out(without, by_name.values())
    selected = select_factors(judgments, factors, systems=systems, without=without)
    baseline = add_baseline(baseline, by_name, judgments, selected, measures)
    evaluator = evaluator_for(
        judgments,
        measures,
        schemes and scheme_names(schemes),
        selected,
        by_name.values(),
        residual,
        lower_is_better,
    )
    evaluations = progress(evaluate_runs(evaluator, by_name, jobs, executor, depth=depth))
    results = Results(
        evaluator,
        {evaluation.run: evaluation for evaluation in evaluations},
        baseline,
        test,
        correction,
        simultaneous,
        {name: run for name, run in by_name.items() if not isinstance(run, Iterator)},
        depth,
    )
    warn_caller(results.warnings)
    return results


class Results(EvaluatedRuns):
    """Scores of one or many runs on the topics of one collection, to be read and written.

    The data and what follows from them are :class:`EvaluatedRuns`'; here are the views.

    Examples
    --------
    >>> results = ir_std.evaluate("bm25.run", "qrels.txt", "AP")
    >>> results
    <Results of 1 run on 50 topics with trec8-adhoc: AP, sAP>
    >>> round(results.means["bm25.run"]["sAP"], 4)
    0.765
    >>> print(results.placements["bm25.run"]["sAP"])
    sAP 0.7650: would have been 7th of 130
    >>> print(results.ranks["bm25.run"]["sAP"])
    1 (1 to 1)
    >>> results.report("report.html")
    """

    def table(
        self,
        places: int = 4,
        *,
        sort: Measure | str | None = None,
        by_topic: bool = False,
        means: bool = True,
        place: bool = False,
    ) -> Table:
        """A row for each run; the best of each measure, and what differs from the baseline, marked.

        Parameters and errors as for ``ir_std.reporting.result_tables.result_table``.
        """
        return result_table(self, places, sort=sort, by_topic=by_topic, means=means, place=place)

    def to_text(self, places: int = 4) -> str:
        """:meth:`table` as aligned text of at most 100 columns."""
        return self.table(places).text()

    def to_markdown(self, places: int = 4) -> str:
        """:meth:`table` in Markdown."""
        return self.table(places).markdown()

    def to_latex(self, places: int = 4) -> str:
        """:meth:`table` in LaTeX, for ``booktabs`` and, with notes, ``threeparttable``."""
        return self.table(places).latex()

    def to_csv(self) -> str:
        """:meth:`table` as comma-separated values at full precision, with p-values."""
        return self.table().csv()

    def report(
        self,
        file: str | os.PathLike[str] | IO[Any],
        title: str | None = None,
        *,
        force: bool = False,
        queries: Any = None,
    ) -> None:
        """Write one HTML page; as :func:`ir_std.report.write_report`, which has the details."""
        from ir_std.reporting.html import write_report

        write_report(self, file, title, force=force, queries=queries)

    def plot(self, measure: Measure | str | None = None, ax: Axes | None = None) -> Axes:
        """Draw all runs among the standardizing systems; as :func:`ir_std.plots.ranking`.

        Parameters
        ----------
        measure : Measure or str, optional
            The first standardized one if not given; the first of all where there is none.
        ax : matplotlib.axes.Axes, optional
            The current axes if not given.
        """
        from ir_std.reporting.result_plots import ranking

        return ranking(self, measure or next(iter(self.plans), self.measures[0]), ax)

    def to_dataframe(self) -> DataFrame:
        """Tidy scores, one to a row.

        Returns
        -------
        DataFrame
            Columns run, query_id, measure (its name, as ``sAP``), base (the raw measure's
            name), scheme (``raw``, ``N``, ...) and value (NaN where there is none).

        Raises
        ------
        MissingLibraryError
            If pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingLibraryError.of("a DataFrame", "pandas") from None
        n = len(self.topics)
        frames = [
            pd.DataFrame(
                {
                    "run": [run] * n,
                    "query_id": self.topics,
                    "measure": str(m),
                    "base": str(base),
                    "scheme": scheme,
                    "value": self.values[run][m],
                }
            )
            for run in self.runs
            for m in self.measures
            for base, scheme in [_base_of(m)]
        ]
        return pd.concat(frames, ignore_index=True)

    def _repr_html_(self) -> str:
        quality = self.quality and f"Quality of the factors: {self.quality}"
        said = (str(self.match or ""), quality, *self.notes, *self.warnings)
        return html_with_texts(self.table(), filter(None, said))

    def __repr__(self) -> str:
        used = self.match.factors.id if self.match and self.match.factors else "no factors"
        return (
            f"<Results of {counted(len(self.runs), 'run')} on {counted(len(self.topics), 'topic')} "
            f"with {used}: {', '.join(map(str, self.measures))}>"
        )


def _base_of(measure: Measure) -> tuple[Measure, str]:
    if isinstance(measure, Standardized):
        return measure.base, str(measure["scheme"])
    return measure, "raw"
