"""Estimate means under human labels from LLM labels and a few human labels."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_std._arrays import Floats, Mask
from ir_std.analysis.means import Estimate
from ir_std.analysis.paired import ALPHA, holm
from ir_std.analysis.prediction import Population, PredictionPowered, prediction_powered
from ir_std.errors import UsageError, look_up, pluralize, warn_caller
from ir_std.evaluation.inputs import SEPARATOR
from ir_std.evaluation.plans import match_factors
from ir_std.factors.catalog import available_factors, load_factors
from ir_std.measures import Measure, Measures, Standardized, parse_measure, sign_of
from ir_std.reporting import tables
from ir_std.reporting.agreement import measures_of_both, score_matrix
from ir_std.reporting.model import Results
from ir_std.reporting.results import evaluate
from ir_std.schemes import scheme_names
from ir_std.scores.files import holds_scores, read_scores
from ir_std.scores.run_scores import QrelsFromCounts
from ir_std.trec import as_qrels


@dataclass(frozen=True, eq=False)
class Correction:
    """Scores of runs under human labels, estimated with the help of a model's labels.

    Attributes
    ----------
    names : (str, str)
        Names of the human labels and of the model's labels.
    runs : tuple of str
        Names of the runs.
    topics, judged : tuple of str
        All topics, and the topics that people judged.
    estimates : mapping of Measure to PredictionPowered
        The estimates by measure, raw and standardized; arrays are in the order of `runs`.
    alone : mapping of Measure to PredictionPowered
        Estimates from only the topics that people judged, without the model.
    model_means : mapping of Measure to ndarray, shape (n_runs,)
        Means under the model's labels of all topics.
    baseline : str or None
        Run that the others are compared with.
    notes, warnings : tuple of str
        Facts about the estimates, and reasons to doubt the estimates.
    """

    names: tuple[str, str]
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    judged: tuple[str, ...]
    estimates: Mapping[Measure, PredictionPowered]
    alone: Mapping[Measure, PredictionPowered]
    model_means: Mapping[Measure, Floats]
    baseline: str | None
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Raw measures, each followed by its standardized versions."""
        return tuple(self.estimates)

    def estimate(self, run: str, measure: Measure | str) -> Estimate:
        """Return the estimated mean of a run, with its interval."""
        return self.estimates[parse_measure(measure)].contrast(self._weights(run))

    def difference(self, run: str, other: str, measure: Measure | str) -> Estimate:
        """Return the estimated difference of two runs (the first minus the second)."""
        weights = self._weights(run) - self._weights(other)
        return self.estimates[parse_measure(measure)].contrast(weights)

    def equivalent_topics(self, measure: Measure | str) -> float:
        """Return how many human-judged topics would give the same interval without the model."""
        return self.estimates[parse_measure(measure)].equivalent_topics

    def sentence(self, run: str, measure: Measure | str, places: int = 3) -> str:
        """Return a run's estimate as a sentence for a paper."""
        estimate = self.estimate(run, measure)
        value, half = (tables.format_number(x, places) for x in (estimate.mean, estimate.topics))
        n, total = len(self.judged), len(self.topics)
        return (
            f"{measure} of {run} under human labels of all {pluralize(total, 'topic')}: {value} "
            f"± {half} (95% t interval; people judged {pluralize(n, 'topic')}, drawn at random, "
            f"and {self.names[1]} judged all {total})"
        )

    def _weights(self, run: str) -> Floats:
        look_up(run, dict.fromkeys(self.runs), "run")
        return np.array([float(name == run) for name in self.runs])

    def table(self, measure: Measure | str, places: int = 4) -> tables.Table:
        """Return a table with one row per run, best first.

        The columns hold the estimate, the mean under the model's labels only, the mean under human
        labels only, and the difference from the baseline.

        Parameters
        ----------
        places : int
            Number of decimals; -1 for full precision.
        """
        measure = parse_measure(measure)
        differences = self._differences(measure, places)
        rows: list[list[tables.Value]] = []
        by_mean = np.argsort(-sign_of(measure) * self.estimates[measure].mean, kind="stable")
        for i in by_mean.tolist():
            run = self.runs[i]
            alone = self.alone[measure].contrast(self._weights(run))
            row: list[tables.Value] = [
                run,
                tables.estimate_cell(self.estimate(run, measure), places),
            ]
            row += [float(self.model_means[measure][i]), tables.estimate_cell(alone, places)]
            rows.append(row + [differences.get(run, "")] * bool(self.baseline))
        header = ["run", str(measure), f"{self.names[1]} only", "people only"]
        header += [f"minus {self.baseline}"] * bool(self.baseline)
        return tables.make_table(header, rows, notes=self._table_notes(measure), places=places)

    def _differences(self, measure: Measure, places: int) -> dict[str, tables.Cell]:
        """Make cells of the differences from the baseline, by run; empty without a baseline."""
        if self.baseline is None:
            return {}
        others = [run for run in self.runs if run != self.baseline]
        found = {run: self.difference(run, self.baseline, measure) for run in others}
        adjusted = holm([difference.p for difference in found.values()]).tolist()
        cells = {}
        for (run, difference), p in zip(found.items(), adjusted, strict=True):
            better = sign_of(measure) * difference.mean > 0
            mark = (tables.BETTER if better else tables.WORSE) if p < ALPHA else ""
            extra = {"p": difference.p, "holm": p}
            cells[run] = tables.estimate_cell(difference, places, "+", extra=extra, mark=mark)
        return cells

    def _table_notes(self, measure: Measure) -> Iterator[str]:
        n, total = len(self.judged), len(self.topics)
        topics = self.equivalent_topics(measure)
        yield (
            f"The estimates are of {measure} under human labels of all {total} topics, with 95% t "
            f"intervals. People judged {n} topics, and {self.names[1]} judged all {total}."
        )
        yield f"Human labels alone would need about {topics:.0f} topics for intervals this narrow."
        if self.baseline is not None:
            yield (
                f"{tables.BETTER} and {tables.WORSE} mark runs significantly better or worse than "
                f"{self.baseline} (p < {ALPHA}, Holm correction for "
                f"{pluralize(len(self.runs) - 1, 'run')})."
            )

    @property
    def tables(self) -> dict[Measure, tables.Table]:
        """Table of each measure."""
        return {measure: self.table(measure) for measure in self.measures}

    def __repr__(self) -> str:
        return "\n\n".join(table.text() for table in self.tables.values())

    def _repr_html_(self) -> str:
        *others, last = self.tables.values()
        html = "".join(table.html() for table in others)
        return html + tables.html_with_texts(last, (*self.notes, *self.warnings))


def correct(
    human: Any,
    llm: Any,
    runs: Any = None,
    measures: Measures | None = None,
    schemes: str | Iterable[str] = "N",
    *,
    topics: Iterable[str] | None = None,
    baseline: str | None = None,
    population: Population = "finite",
    jobs: int | None = 1,
) -> Correction:
    """Estimate scores under human labels from LLM labels and a few human labels.

    Parameters
    ----------
    human, llm
        Human labels for a random sample of the topics, and labels by a language model for all
        topics.  Each input can be qrels in any form that :func:`ir_std.evaluate` accepts, per-topic
        scores that another program computed under these labels, or the ID of a factor set.  If you
        pass a factor set, its systems are the runs.
    runs : optional
        Runs in any form that :func:`ir_std.evaluate` accepts.  By default, the systems with known
        scores under both sets of labels.
    measures : Measure, str or iterable of them, optional
        Measures to estimate.  By default, the measures of the recognized factor set or of the
        scores.
    schemes : str or iterable of str
        Schemes of standardized scores.  Scores under human labels are standardized with factors
        from human labels, and scores under the model's labels with factors from the model's labels.
        If one of the two factor sets is missing, only raw scores are estimated.
    topics : iterable of str, optional
        Use the human labels of these topics only.
    baseline : str, optional
        Name of the run that the others are compared with.
    population : {'finite', 'topics'}
        ``'finite'`` estimates means over the topics of `llm`.  ``'topics'`` estimates means over
        all possible topics of the same kind.
    jobs : int, optional
        Number of processes.

    Raises
    ------
    UsageError
        If the labels have no run or fewer than 5 topics in common, or if no run has the baseline's
        name.
    InputError
        If a run, labels or scores cannot be used.

    Examples
    --------
    >>> corrected = ir_std.correct("dl20-passage", "dl20-passage-umbrela", measures="nDCG@10",
    ...     topics=ir_std.draw_topics("dl20-passage-umbrela", 15, seed=1), baseline="p_bm25")
    >>> round(float(corrected.equivalent_topics("nDCG@10")))
    20
    """
    people = _evaluate(human, runs, measures, schemes, jobs)
    model = _evaluate(llm, runs, measures, schemes, jobs)
    names = _name(human, "people"), _name(llm, "the model")
    common = [run for run in people.runs if run in model.runs]
    if not common:
        raise UsageError(f"{names[0]} and {names[1]} have no run in common")
    if baseline is not None:
        look_up(baseline, dict.fromkeys(common), "baseline")
    wanted = set(people.topics if topics is None else topics)
    chosen = [t for t in people.topics if t in wanted]
    positions = model.collection.evaluator.qrels.positions
    judged = [t for t in chosen if t in positions]
    notes: list[str] = []
    if left := len(chosen) - len(judged):
        notes.append(
            f"left out {pluralize(left, 'topic')} of {names[0]} that {names[1]} did not judge"
        )
    rows = np.array([positions[t] for t in judged], np.int64)
    estimates: dict[Measure, PredictionPowered] = {}
    alone: dict[Measure, PredictionPowered] = {}
    means: dict[Measure, Floats] = {}
    warnings: list[str] = []
    for measure in measures_of_both(people, model):
        y = score_matrix(people, common, measure, judged)
        y[~_has_relevant(people, measure, judged)] = np.nan
        x = score_matrix(model, common, measure, model.topics)
        if np.isnan(x).any():
            notes.append(f"left out {measure}; {names[1]} has no value for some topic and run")
            continue
        try:
            estimates[measure] = prediction_powered(y, x, rows, population)
            alone[measure] = prediction_powered(y, np.zeros_like(x), rows, population)
        except ValueError as wrong:
            raise UsageError(f"{measure}: {wrong}") from None
        means[measure] = x.mean(axis=0)
        warnings += [f"{measure}: {text}" for text in estimates[measure].warnings]
    if not estimates:
        raise UsageError(f"{names[0]} and {names[1]} have no measure in common")
    is_raw = not any(isinstance(m, Standardized) for m in estimates)
    if is_raw and schemes and scheme_names(schemes):
        notes.append(
            "left out standardized scores, because they need factor sets for both sets of labels"
        )
    warn_caller(dict.fromkeys(warnings))
    return Correction(
        names,
        tuple(common),
        tuple(model.topics),
        tuple(judged),
        estimates,
        alone,
        means,
        baseline,
        tuple(dict.fromkeys(notes)),
        tuple(dict.fromkeys(warnings)),
    )


def draw_topics(labels: Any, n: int, seed: int = 0) -> list[str]:
    """Draw topics for people to judge, in random order.

    For any ``k``, the first ``k`` topics of the list are also a random sample.

    Parameters
    ----------
    labels
        A model's labels, as for :func:`correct`.
    n : int
        Number of topics.
    seed : int
        Seed of the draw; the same seed gives the same topics.

    Raises
    ------
    UsageError
        If there are fewer than `n` topics.
    """
    topics = sorted(_topics(labels))
    if not 1 <= n <= len(topics):
        raise UsageError(f"cannot draw {n} of {pluralize(len(topics), 'topic')}")
    drawn = np.random.default_rng(seed).permutation(len(topics))[:n]
    return [topics[i] for i in drawn.tolist()]


def _evaluate(
    labels: Any,
    runs: Any,
    measures: Measures | None,
    schemes: str | Iterable[str],
    jobs: int | None,
) -> Results:
    """Evaluate runs under the given labels; for a factor set, evaluate the set's systems."""
    qrels = None
    if isinstance(labels, str) and labels in available_factors():
        runs = f"{labels}{SEPARATOR}*"
    elif holds_scores(labels):
        runs = read_scores(labels)
    else:
        qrels = as_qrels(labels)
        if runs is None:
            factors = match_factors(qrels).factors
            if factors is None:
                raise UsageError(f"missing runs; no factor set with systems matches {qrels.name}")
            runs = f"{factors.id}{SEPARATOR}*"
    return evaluate(runs, qrels, measures, schemes, jobs=jobs)


def _topics(labels: Any) -> tuple[str, ...]:
    """Return the topics that have labels."""
    if isinstance(labels, str) and labels in available_factors():
        return load_factors(labels).topics
    if holds_scores(labels):
        return tuple(dict.fromkeys(t for run in read_scores(labels).values() for t in run.topics))
    return as_qrels(labels).topics


def _name(labels: Any, fallback: str) -> str:
    """Return the name of labels: a file name without folder and suffix, or a set's ID."""
    if isinstance(labels, (str, os.PathLike)):
        return os.path.basename(labels).removesuffix(".txt")
    return fallback


def _has_relevant(results: Results, measure: Measure, topics: Iterable[str]) -> Mask:
    """Check which topics have a relevant document; without qrels, assume that all have one."""
    qrels = results.collection.evaluator.qrels
    raw = measure.base if isinstance(measure, Standardized) else measure
    n_relevant = qrels.count(raw.params.get("rel") or 1)
    is_unknown = isinstance(qrels, QrelsFromCounts)
    return np.array([is_unknown or n_relevant[qrels.positions[t]] > 0 for t in topics], bool)
