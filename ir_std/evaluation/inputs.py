"""Read inputs: runs, scores from other programs, and named systems of a factor set."""

import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import pick_rows
from ir_std.errors import (
    InputError,
    NoFactorsError,
    UsageError,
    abbreviate,
    look_up,
    pluralize,
    suggestion,
    warn_caller,
)
from ir_std.evaluation import plans
from ir_std.factors.catalog import Factors, available_factors, known_sets, load_factors, version_of
from ir_std.factors.estimates import scores_by_system
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.match import Fit, Match
from ir_std.factors.schema import parse_set_measure
from ir_std.measures import Standardized, as_measures, canonical, standardized
from ir_std.measures.records import has_graded_gains
from ir_std.reading import FileSource, Source, files_below, is_archive, source_of
from ir_std.scores.files import holds_scores, read_scores
from ir_std.scores.inputs import name_runs, qrels_or_counts
from ir_std.scores.mteb import OtherTaskError, is_model_meta
from ir_std.scores.run_scores import QrelsFromCounts, RunScores
from ir_std.trec import DUPLICATES, Qrels, Run, as_run, is_file

_logger = logging.getLogger("ir_std")

Values = Mapping[Measure, Mapping[str, float]]
"""Scores by measure and topic."""
SEPARATOR = "/"
"""Character between the name of a set and the name of one of its systems."""
MAX_NAME_LENGTH = 4096
"""Largest number of characters in a name; paths have the same limit."""
BEST = "best"
"""Baseline name that means the best system of the set."""
SELF = "self"
"""In a list of systems to leave out of the factors, this word means the evaluated systems."""


@dataclass(eq=False, repr=False)
class ScoresOfSystem(RunScores):
    """Scores of one system of a factor set, for all measures of which the set holds scores.

    Attributes
    ----------
    factors : FactorSet or None
        Factor set of the system; None after the set's judgments have been compared with the qrels.
    tag : str
        Name of the system in the set.
    steps : mapping of str to float
        Resolution of the set's scores, by measure name; 0 for exact scores.
    """

    factors: FactorSet | None = None
    tag: str = ""
    steps: Mapping[str, float] = field(default_factory=dict)

    def step_of(self, measure: Measure) -> float:
        """Return the resolution of the set's scores for a measure; 0 if they are exact."""
        return self.steps[canonical(measure)]


def system(name: str) -> ScoresOfSystem:
    """Return the scores of a reference system of a factor set.

    You can use these scores, or just the name, wherever a run is expected and documents are not
    needed.

    Parameters
    ----------
    name : str
        ``SET/SYSTEM``, where SET is the ID or the file of a set and SYSTEM is the name of one of
        its systems.  ``ir_std factors systems SET`` lists the names.

    Raises
    ------
    UnknownSetError
        (a LookupError) if there is no such set.
    UsageError
        (a ValueError) if the set has no system with that name, or no scores per system.

    Examples
    --------
    >>> bm25 = ir_std.system("dl19-passage/bm25base_p")
    >>> bm25.topics[:2], round(bm25.values[ir_std.nDCG @ 10]["19335"], 4)
    (('19335', '47923'), 0.5756)
    """
    if not isinstance(name, str):
        raise UsageError(f"expected SET/SYSTEM, such as dl19-passage/p_bert, got {name!r}")
    found = _split(name)
    if found is None:
        load_factors(name.partition(SEPARATOR)[0])  # if unknown, names the nearest set
        raise UsageError(f"{name!r} is not a system; write SET/SYSTEM, as in {name}{SEPARATOR}NAME")
    return system_of(load_factors(found[0]), found[1])


def system_of(factors: FactorSet, tag: str) -> ScoresOfSystem:
    """Return the scores of the system named ``tag`` in a set.

    Raises
    ------
    UsageError
        If the set has no such system, or no scores per system.
    """
    return ScoresOfSystem(
        f"{factors.id}{SEPARATOR}{tag}",
        _values_of(factors, tag),
        {topic: n for topic, n in factors.n_rel.items() if n is not None},
        unit=factors.unit,
        factors=factors,
        tag=tag,
        steps={
            key: float(factors.about(name, "resolution") or 0.0)
            for key, name in plans.names_by_measure(factors.measures).items()
        },
    )


def _values_of(factors: FactorSet, tag: str) -> Values:
    """Return the scores of a system by measure and topic."""
    by_tag = _scores_by_tag(factors)
    if not by_tag:
        raise UsageError(f"{factors.id} has no scores of named systems")
    if tag not in by_tag:
        raise UsageError(
            f"unknown system {tag!r} of {factors.id}; choose from {abbreviate(by_tag)}, or list "
            f"them with `ir_std factors systems {factors.id}`{suggestion(tag, by_tag)}"
        )
    return by_tag[tag]


def unknown_system(name: str) -> UsageError | None:
    """Return an error if the name is SET/SYSTEM but SET lacks this system; otherwise, None."""
    try:
        if found := _split(name):
            _values_of(load_factors(found[0]), found[1])
    except UsageError as wrong:
        return wrong
    return None


def is_system_name(given: Any, is_file: bool = False) -> bool:
    """Check whether a string is the name of a system of a set.

    If ``is_file`` is True, there must also be a file with this name.  If ``is_file`` is False,
    there must not be a file with this name.
    """
    if not isinstance(given, str) or os.path.lexists(given) != is_file:
        return False
    return _split(given) is not None and unknown_system(given) is None


def reject_system_names(names: Iterable[str], what: str) -> None:
    """Reject names of systems, because the caller needs documents.

    Raises
    ------
    UsageError
        If one of the names is the name of a system.
    """
    for name in names:
        if is_system_name(name):
            raise UsageError(
                f"{name} is a system of a factor set, and the set holds only the system's scores, "
                f"not its documents; {what} needs the run"
            )


def systems_of(factors: FactorSet) -> tuple[str, ...]:
    """Return the names of the systems for which a set has scores; may be empty."""
    return tuple(_scores_by_tag(factors))


def _split(name: str) -> tuple[str, str] | None:
    """Split a name into set and system; return None if the name does not begin with a set."""
    set_id, separator, tag = name.partition(SEPARATOR)
    if not separator or len(name) > MAX_NAME_LENGTH:
        return None
    if set_id in (each.name for each in known_sets()):
        return set_id, tag
    for i, character in enumerate(name):
        if i and character == SEPARATOR:
            if version_of(name[:i]):
                return name[:i], name[i + 1 :]
            if not os.path.isdir(name[:i]):
                return None  # a set must be in an existing folder
    return None


@lru_cache(maxsize=64)
def _scores_by_tag(factors: FactorSet) -> Mapping[str, Values]:
    """Return the scores of each system by measure and topic, leaving out missing scores."""
    tags = factors.systems
    by_tag: dict[str, dict[Measure, Mapping[str, float]]] = {}
    for name in factors.scores if tags else ():
        measure = parse_set_measure(canonical(parse_set_measure(name)))
        numbers, columns = scores_by_system(factors, name)
        for number, column in zip(numbers.tolist(), columns.T.tolist(), strict=True):
            by_topic = {t: v for t, v in zip(factors.topics, column, strict=True) if v == v}
            by_tag.setdefault(tags[number], {})[measure] = by_topic
    return {tag: by_tag[tag] for tag in tags if tag in by_tag}


def resolve(given: Any) -> Run | RunScores:
    """Return a run, a run's scores or the scores of a set's system.

    Parameters
    ----------
    given
        Any form that :func:`ir_std.trec.inputs.as_run` or :func:`ir_std.read_scores` accepts, or
        ``SET/SYSTEM``.

    Raises
    ------
    InputError
        If the input cannot be read, or holds the scores of several runs.
    UsageError
        If a string names a set but not one of its systems.
    """
    if isinstance(given, RunScores):
        return given
    if _names_set(given):
        return system(given)
    source = source_of(given) if is_file(given) else given
    if not holds_scores(source):
        return as_run(source)
    read = read_scores(source)
    if len(read) > 1:
        raise InputError.at(
            source.name if isinstance(source, Source) else "scores",
            f"contains scores of {len(read)} runs ({abbreviate(read)})",
            "read them with read_scores, and pass one of them",
        )
    return next(iter(read.values())).check_listed()


def resolve_runs(runs: Any, duplicates: str = "error") -> dict[str, Any]:
    """Return runs, scores and systems by name, without reading run files yet.

    A folder means all files in it and its subfolders; a file of scores may hold several runs.
    Systems have the same names as in their sets.  If a run has the same name as a system, the
    system is named SET/SYSTEM.

    Parameters
    ----------
    runs
        Any runs that :func:`ir_std.scores.inputs.name_runs` accepts.
    duplicates : {'error', 'first', 'last'}
        What to do if a run has the same document twice for a topic: reject the run, use the first
        line, or use the last line.

    Raises
    ------
    InputError
        If a file of scores cannot be used.
    UsageError
        If two runs have the same name.
    """
    look_up(duplicates, dict.fromkeys(DUPLICATES), "choice of duplicates")
    named: dict[str, Any] = {}
    other_tasks: dict[str, OtherTaskError] = {}
    for name, given in name_runs(_expanded(runs)).items():
        run = system(given) if _names_set(given) else given
        run = source_of(run) if is_file(run) else run
        if isinstance(given, ScoresOfSystem) and isinstance(runs, (list, tuple)):
            name = given.name if given.tag in named else given.tag
        if isinstance(run, ScoresOfSystem):
            # A model's name contains a slash, but a file name would lose the part before the slash.
            named[run.tag if run.tag.endswith(f"/{name}") else name] = run
        elif not holds_scores(run):
            named[name] = _keep_duplicates(run, duplicates)
        elif not (isinstance(run, Source) and is_model_meta(run)):
            try:
                _add_scores(named, name, read_scores(run))
            except OtherTaskError as other:
                other_tasks[name] = other
    if other_tasks and not named:
        raise next(iter(other_tasks.values()))
    if other_tasks:
        files = abbreviate(other_tasks)
        n = pluralize(len(other_tasks), "result")
        warn_caller([f"{n} left out because of tasks other than retrieval: {files}"])
    if not named:
        raise UsageError("no scores, because a model_meta.json contains only a model's name")
    return named


def _names_set(given: Any) -> bool:
    """Check whether a string begins with the name of a set and is not a file."""
    return isinstance(given, str) and not os.path.lexists(given) and _split(given) is not None


def _keep_duplicates(run: Any, duplicates: str) -> Any:
    """Apply ``duplicates`` to a run; for a file that is not read yet, only store the choice."""
    if isinstance(run, Source):
        run.duplicates = duplicates
    elif duplicates != "error" and not isinstance(run, (Run, RunScores, Mapping)):
        return as_run(run, duplicates)
    return run


def _add_scores(named: dict[str, Any], file: str, read: dict[str, RunScores]) -> None:
    for name, scores in read.items():
        scores.check_listed()
        given = name if len(read) > 1 or scores.unit == "dataset" else file
        earlier = named.get(given)
        if scores.unit == "dataset" and isinstance(earlier, RunScores):
            named[given] = earlier.joined(scores)  # MTEB: one file per dataset
        elif earlier is not None:
            raise UsageError(f"two runs have the name {given}; the second is in {file}")
        else:
            named[given] = scores


def expand(given: str) -> list[str | Source]:
    """Return the files of a folder or archive, or the systems of the set in ``SET/*``.

    If the name means none of these, return the name unchanged.  If a folder has the same name as
    the set, the folder takes precedence, and the log says so.
    """
    folder = given.removesuffix("/*")
    if os.path.isdir(folder):
        if folder != given:
            _logger.info("%s is a folder here; ir_std uses its files", folder)
        return [each for file in files_below(Path(folder)) for each in expand(str(file))]
    if is_archive(given):
        from ir_std.reading.archives import run_sources  # few users need zip and tar

        return list(run_sources([given]))
    if folder != given and folder in available_factors():
        factors = load_factors(folder)
        return [f"{folder}{SEPARATOR}{tag}" for tag in systems_of(factors)] or [given]
    return [given]


def _expanded(runs: Any) -> Any:
    """Replace folders among the runs with their files, and ``SET/*`` with the set's systems."""
    given = runs if isinstance(runs, (list, tuple)) else [runs]
    if not any(isinstance(run, (str, os.PathLike)) for run in given):
        return runs
    return [
        each
        for run in given
        for each in (expand(os.fspath(run)) if isinstance(run, (str, os.PathLike)) else [run])
    ]


def resolve_qrels(runs: Iterable[Any], qrels: Any) -> Qrels:
    """Return the qrels, or if none are given, qrels derived from the scores.

    Raises
    ------
    UsageError
        If no qrels are given and some runs are not scores.
    """
    runs = list(runs)
    judgments = qrels_or_counts(runs, qrels)
    of_sets = [run.factors for run in runs if isinstance(run, ScoresOfSystem) and run.factors]
    if qrels is None and of_sets and isinstance(judgments, QrelsFromCounts):
        return plans.TopicsOfSet(judgments, of_sets[0])
    return judgments


def restrict_scores(scores: ScoresOfSystem, qrels: Qrels) -> RunScores:
    """Return a system's scores on topics for which its set has the same judgments as the qrels.

    A measure has no value on a topic if the judgments differ at a level that the measure uses.

    Raises
    ------
    InputError
        If the set lacks some of the topics, or the set's judgments differ from the qrels.
    """
    factors = scores.factors
    if factors is None:
        return scores
    if isinstance(qrels, plans.TopicsOfSet) and qrels.factors is factors:
        return replace(scores, factors=None)
    fit = Fit(factors, plans.collection_of(qrels))
    if fit.missing:
        raise InputError.at(
            scores.name,
            f"no scores for {len(fit.missing)} of {len(fit.missing) + len(fit.matched)} "
            f"{factors.unit}s ({abbreviate(fit.missing)}), because {factors.id} does not contain "
            "them",
            f"pass qrels with only the set's {factors.unit}s",
        )
    if fit.match_type is None and (fit.count_mismatches or fit.differing_topics):
        raise InputError.at(
            scores.name,
            f"the scores use the judgments of {factors.id}, but {fit.mismatch_reason}",
            "compare systems with the same judgments",
        )
    values: dict[Measure, Mapping[str, float]] = {}
    for measure, by_topic in scores.values.items():
        differs = fit.agreement.differs(plans.levels_of(measure, fit))
        differing = set(fit.agreement.topics_where(differs))
        values[measure] = {t: v for t, v in by_topic.items() if t not in differing}
    return replace(scores, values=values, factors=None)


def scores_at_level(scores: RunScores, qrels: Qrels) -> RunScores:
    """Find the relevance level of a score file: compare the file's ``num_rel`` with the qrels.

    For example, the ``map`` that trec_eval prints with ``-l 2`` is ``AP(rel=2)``.

    Raises
    ------
    InputError
        If ``num_rel`` differs from the qrels at every level, which means that the scores were
        computed with other judgments.
    """
    topics = [topic for topic in qrels.topics if topic in scores.n_rel]
    if isinstance(qrels, QrelsFromCounts) or not topics:
        return scores
    n_rel = np.array([scores.n_rel[topic] for topic in topics])
    rows = np.array([qrels.positions[topic] for topic in topics])
    level = next((n for n in (1, *qrels.levels) if (qrels.count(n)[rows] == n_rel).all()), None)
    if level == 1:
        return scores
    if level is None:
        differing = qrels.count()[rows] != n_rel
        first = int(np.flatnonzero(differing)[0])
        raise InputError.at(
            scores.name,
            f"num_rel differs from the qrels on {differing.sum()} of "
            f"{pluralize(len(topics), 'topic')} (e.g. {topics[first]}: {n_rel[first]} in the "
            f"file, {qrels.count()[rows[first]]} in the qrels)",
            "pass the qrels with which the scores were computed",
        )
    values = {measure_at_level(measure, level): column for measure, column in scores.values.items()}
    return replace(scores, values=values, level=level)


def measure_at_level(measure: Measure, level: int) -> Measure:
    """Return a binary measure at the given relevance level.

    A graded measure uses all levels, so the function returns it unchanged.
    """
    if "rel" not in measure.SUPPORTED_PARAMS or has_graded_gains(measure):
        return measure
    return type(measure)(**{**measure.params, "rel": level})


def resolve_excluded(without: str | Iterable[str], runs: Iterable[Any]) -> tuple[str, ...]:
    """Return the systems to leave out, replacing ``self`` with the evaluated systems.

    Raises
    ------
    UsageError
        If ``without`` contains ``self`` and no run is a system of a set.
    """
    tags = (without,) if isinstance(without, str) else tuple(without)
    if SELF not in tags:
        return tags
    own = [run.tag for run in runs if isinstance(run, ScoresOfSystem)]
    if not own:
        raise UsageError(
            f"none of the runs is named as SET/SYSTEM, so {SELF!r} leaves out nothing; name the "
            "systems to leave out"
        )
    return tuple(dict.fromkeys(each for tag in tags for each in (own if tag == SELF else [tag])))


def add_baseline(
    baseline: str | None,
    runs: dict[str, Any],
    qrels: Qrels,
    factors: Factors | Match | None,
    measures: Any,
) -> str | None:
    """Return the baseline's name; if the baseline is a system of a set, add it to the runs.

    Parameters
    ----------
    baseline : str, optional
        Name of a run or a system, or ``best``, which means the set's system with the best mean
        for the first measure.
    runs : dict of str to run
        Runs by name.
    qrels : Qrels
    factors : FactorSet, str or path, optional
    measures : Measure, str or iterable of them, optional

    Raises
    ------
    UsageError
        If no run or system has that name, or the set has no scores for the measure.
    """
    if baseline is None or baseline in runs:
        return baseline
    if (named := _run_of_file(baseline, runs)) is not None:
        return named
    if is_system_name(baseline):
        chosen = system(baseline)
    elif baseline == BEST:
        chosen = best_system(qrels, factors, measures)
    elif os.path.lexists(baseline):
        raise UsageError(f"the baseline {baseline} is not among the runs; pass it as a run, too")
    else:
        raise unknown_system(baseline) or UsageError(
            f"unknown baseline {baseline!r}; choose from {abbreviate([*runs, BEST], 6)}"
            f"{suggestion(baseline, (*runs, BEST))}"
        )
    for name, run in runs.items():
        if isinstance(run, ScoresOfSystem) and run.name == chosen.name:
            return name
    name = chosen.name if chosen.tag in runs else chosen.tag
    runs[name] = chosen
    return name


def _run_of_file(file: str, runs: Mapping[str, Any]) -> str | None:
    """Return the name of a run, given the path or the name of the run's file."""
    paths = {n: run.name for n, run in runs.items() if isinstance(run, FileSource)}
    real_path = os.path.realpath(file)
    same = [name for name, path in paths.items() if os.path.realpath(path) == real_path]
    same = same or [name for name, path in paths.items() if os.path.basename(path) == file]
    return same[0] if len(same) == 1 else None


def best_system(qrels: Qrels, factors: Factors | Match | None, measures: Any) -> ScoresOfSystem:
    """Return the system of the factor set with the best mean for the first measure.

    Parameters
    ----------
    qrels : Qrels
        Qrels that define the topics for the means.
    factors : FactorSet, str or path, optional
        Factor set; by default, recognized from the qrels.
    measures : Measure, str or iterable of them, optional
        Only the first measure is used; by default, the set's first default measure.

    Raises
    ------
    NoFactorsError
        If no set matches, or the set has no factors for the measure.
    UsageError
        If the set has no scores per system for the measure.
    """
    match = plans.match_factors(qrels, factors)
    if match.factors is None:
        raise NoFactorsError(f"the baseline {BEST!r} needs a factor set, but {match}")
    asked = as_measures(measures or ()) or [parse_set_measure(match.factors.default_measures[0])]
    measure = asked[0]
    plan = plans.make_plan(
        measure if isinstance(measure, Standardized) else standardized(measure), match, qrels
    )
    if plan.name not in plan.factors.scores or not plan.factors.systems:
        raise UsageError(
            f"{plan.factors.id} has no scores of named systems for {plan.raw}; name a baseline"
        )
    numbers, columns = scores_by_system(plan.factors, plan.name)
    apply = plan.apply if isinstance(measure, Standardized) else np.asarray
    means = [plans.mean_of_values(apply(raw)) for raw in pick_rows(columns, plan.rows).T]
    sign = 1.0 if isinstance(measure, Standardized) else plan.factors.sign(plan.name)
    best = int(np.nanargmax(sign * np.array(means)))
    return system_of(plan.factors, plan.factors.systems[numbers[best]])
