"""Build factor sets from the runs of real systems."""

from __future__ import annotations

import os
import pickle
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePath
from typing import Any

import numpy as np

from ir_std._arrays import Executor, Floats
from ir_std._system.processes import map_in_order
from ir_std._system.text import path_text
from ir_std.errors import InputError, UsageError, abbreviate, look_up, pluralize, warn_caller
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.run_messages import repeated_text
from ir_std.factors.estimates import factors_from_scores
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import judgments_of
from ir_std.factors.schema import field_problem
from ir_std.factors.store import read_text
from ir_std.measures import Measure, Measures, canonical, has_standardized, parse_measure
from ir_std.reading import FileSource, Source
from ir_std.reading.archives import run_sources
from ir_std.trec import DUPLICATES, Run, as_qrels, as_run, sort_run

BUILD_MEASURES = (
    *("SP", "AP", "DCG", "nDCG", "DCG(rel=1)", "nDCG(rel=1)"),
    *("DCG(dcg='jk')", "nDCG(dcg='jk')", "DCG(dcg='jk',rel=1)", "nDCG(dcg='jk',rel=1)"),
    *(f"nDCG@{k}" for k in (5, 10, 20, 100)),
    *(f"P@{k}" for k in (1, 5, 10, 20)),
    *("RR", "RR@10", "Rprec"),
    *(f"RBP(p={p}{level})" for level in ("", ",rel=1") for p in (0.5, 0.8, 0.95)),
    *("R@100", "R@1000", "ERR@20", "Bpref"),
)
"""Default measures of a set that is built from runs."""
DEFAULT_MEASURES = ("AP", "nDCG", "P@10", "Rprec")
"""Measures that an evaluation reports by default with a set that is built from runs."""
SHORT = 0.1
"""A run is short if it returns too few documents on the median topic: less than this share of the
depth of the deepest run."""
Teams = Mapping[str, str] | str | os.PathLike[str] | None
"""Teams by system, or a file of lines ``SYSTEM TEAM``; None to infer the teams from the names of
the systems."""


Progress = Callable[[Iterable["SystemScores | InputError"]], Iterable["SystemScores | InputError"]]


def build_factors(
    qrels: Any,
    runs: Any,
    measures: Measures | None = None,
    *,
    id: str,
    title: str = "",
    source: str = "",
    licence: str = "",
    depth: int | None = None,
    judge: str | Mapping[str, str] = "",
    teams: Teams = None,
    skip_bad: bool = False,
    max_member: int | None = None,
    duplicates: str = "error",
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress = iter,
) -> FactorSet:
    """Build a factor set from the runs of a collection's systems.

    Parameters
    ----------
    qrels
        Qrels in any form that :func:`ir_std.trec.inputs.as_qrels` accepts.
    runs
        The path of a run file, a folder or an archive (see
        :func:`ir_std.reading.archives.run_sources`), or an iterable of such paths and of runs in
        any form that :func:`ir_std.trec.inputs.as_run` accepts.  In a dict, each run that is not a
        path is named by its key.
    measures : Measure, str or iterable of them, optional
        Raw measures; by default :data:`BUILD_MEASURES`.
    id, title, source, licence : str
        Fields of ``set.json``.
    depth : int, optional
        Maximum number of documents per topic; longer runs are cut before they are evaluated.
    judge : str or mapping, optional
        Language model that made the judgments.  Give its name, or its fields in ``set.json``
        (``name``, ``model``, ``prompt``, ``source``).
    teams : mapping of str to str, or path, optional
        Team of each system, or a file with lines ``SYSTEM TEAM``.  Each system that is not listed
        counts as a separate team.  To compute confidence intervals, ir_std resamples whole teams.
        By default, systems whose names begin in the same way count as one team.
    skip_bad : bool
        If True, leave out broken runs and unreadable folders, with a warning for each.  If False,
        raise an error for the first broken run or unreadable folder.
    max_member : int, optional
        Maximum size in bytes of an unpacked run or archive member, as for
        :func:`ir_std.reading.archives.run_sources`.
    duplicates : {'error', 'first', 'last'}
        What to do if a run has the same document twice for a topic: reject the run, use the first
        line, or use the last line.  A warning says how many lines were ignored.
    jobs : int
        Number of processes.
    executor : concurrent.futures.Executor, optional
        Executor that evaluates the runs with one task per run, such as the executor that Dask's
        ``Client.get_executor()`` returns.  The executor's workers must be able to read the files
        whose paths you give.
    progress : callable
        Function that wraps the iterable of results to show progress, such as ``tqdm.tqdm``.

    Returns
    -------
    FactorSet
        The new set, which does not depend on the order of the runs, the executor or the number of
        processes.

    Raises
    ------
    InputError
        If a run is broken; the message names file and line.
    UsageError
        If there are fewer than two runs, or a run or a measure is given twice.

    Notes
    -----
    For each topic, the mean and the sample standard deviation (n-1) are computed over the systems.
    If a topic is absent from a run, the run's score on the topic is 0.  If no two scores differ by
    more than 1e-9, the standard deviation is 0.

    Examples
    --------
    >>> factors = ir_std.build_factors("qrels.txt", ["bm25.run", "mono.run"], "AP", id="mine")
    >>> factors
    <FactorSet mine: 50 topics, 1 measure>
    >>> factors.save("mine.npz")
    >>> list(ir_std.calc_aggregate("AP", "qrels.txt", "bm25.run", factors="mine.npz"))
    [AP, sAP]
    """
    if depth is not None and depth < 1:
        raise UsageError(f"expected a depth of at least 1, got {depth}")
    look_up(duplicates, dict.fromkeys(DUPLICATES), "choice of duplicates")
    judgments = as_qrels(qrels)
    # ERR is not defined for levels above 4.
    usual = [m for m in BUILD_MEASURES if judgments.max_level <= 4 or not m.startswith("ERR")]
    names = check_measure_names(usual if measures is None else measures)
    task = pickle.dumps((judgments, names, depth, duplicates))
    items = _runs_with_tags(runs, max_member, _warn_left_out if skip_bad else None)
    results = progress(map_in_order(score_system, task, items, jobs, executor))
    systems = _name_apart(_check_results(results, skip_bad))
    _warn_of_copies(systems)
    _warn_of_repeated(systems)
    deepest = max(min(system.depth, depth or system.depth) for system in systems)
    info = {
        "id": id,
        "title": title or id,
        "depth": deepest,
        "max_level": judgments.max_level,
        "resolution": 0,
        "source": source,
        "licence": licence,
        "default_measures": list(DEFAULT_MEASURES if measures is None else names),
        # The shipped sets contain this text, so a different text would change the bytes of a
        # rebuilt set.
        "built": f"by ir_std from {pluralize(len(systems), 'run')}"
        + (f", cut to {depth} documents per topic" if depth else ""),
    } | judge_fields(judge)
    tags = [system.tag for system in systems]
    info |= team_fields(teams, tags)
    tell_systems = len(set(tags)) == len(tags)
    short = {s.tag: s.length for s in systems if s.length < SHORT * deepest}
    if tell_systems and short:
        info["short_systems"] = dict(sorted(short.items()))
    scores = np.stack([system.values for system in systems], axis=-1)
    return factors_from_scores(
        dict(zip(names, scores, strict=True)),
        judgments_of(judgments),
        info,
        dict.fromkeys(names, tags) if tell_systems else None,
    )


def _check_results(
    results: Iterable[SystemScores | InputError], skip_bad: bool
) -> list[SystemScores]:
    """Return the scores of usable runs; raise or warn if a run is broken."""
    systems: list[SystemScores] = []
    for result in results:
        if isinstance(result, SystemScores):
            systems.append(result)
        elif skip_bad:
            _warn_left_out(result)
        else:
            raise result
    if len(systems) < 2:
        raise UsageError(
            f"need at least 2 usable runs, got {len(systems)}; factors are means and standard "
            "deviations over runs"
        )
    return systems


def _name_apart(systems: list[SystemScores]) -> list[SystemScores]:
    """Name files of the same name by their paths below the folder that these files share.

    For example, ``teamA/run1`` and ``teamB/run1`` stand for two systems called ``run1``.
    """
    count = Counter(system.tag for system in systems)
    shared = os.path.commonprefix([s.name for s in systems if count[s.tag] > 1])  # noqa: RUF071
    start = max(map(shared.rfind, f"/!{os.sep}")) + 1
    return [replace(s, tag=_tag(s.name[start:])) if count[s.tag] > 1 else s for s in systems]


def _warn_left_out(broken: InputError) -> None:
    warn_caller([f"left out: {broken}"])


def _warn_of_copies(runs: Iterable[SystemScores]) -> None:
    """Warn of runs that have the same scores on every topic."""
    names_by_scores: dict[bytes, list[str]] = {}
    for run in runs:
        # Runs with only scores of 0 and 1 often agree by chance.
        if ((run.values != 0) & (run.values != 1)).any():
            names_by_scores.setdefault(run.values.tobytes(), []).append(run.name)
    copies = [" and ".join(names) for names in names_by_scores.values() if len(names) > 1]
    if copies:
        text = f"{abbreviate(copies)} have identical scores on every topic"
        warn_caller([f"{text}; if they are the same system, keep only one"])


def _warn_of_repeated(runs: Iterable[SystemScores]) -> None:
    """Warn of runs that contain a document twice for a topic."""
    repeated = [f"{run.name}: {repeated_text(run.repeated)}" for run in runs if run.repeated]
    warn_caller(
        [
            *repeated[:3],
            *([f"{len(repeated) - 3} more runs repeat documents"] * (len(repeated) > 3)),
        ]
    )


def _runs_with_tags(
    runs: Any, max_member: int | None, skip: Callable[[InputError], None] | None
) -> Iterator[tuple[str, Any]]:
    """Yield run files and other runs; reject a run file that is given twice.

    Runs that are not files are yielded unchanged.  If ``runs`` is a dict, a run that is not a file
    is named by its key in the dict.  All other runs get an empty name.
    """
    if isinstance(runs, (str, os.PathLike, Run)):
        runs = [runs]
    seen: dict[object, str] = {}
    for tag, run in runs.items() if isinstance(runs, Mapping) else (("", r) for r in runs):
        if not isinstance(run, (str, os.PathLike)):
            yield str(tag), run
            continue
        for source in run_sources([run], max_member, skip):
            same = _identity(source)
            if same in seen:
                raise UsageError(
                    f"{source.name} is given twice (as {seen[same]}); count each run once"
                )
            seen[same] = source.name
            yield "", source


def _identity(source: Source) -> object:
    """Return a key that is equal for all names of the same file."""
    if isinstance(source, FileSource):
        stat = source.path.stat()
        return stat.st_dev, stat.st_ino
    archive, _, member = source.name.partition("!")
    return os.path.realpath(archive), member


@dataclass(frozen=True)
class SystemScores:
    """The scores of one system's run.

    Attributes
    ----------
    name : str
        Name of the run in messages, such as its file.
    tag : str
        Name of the system in the set.
    values : ndarray, shape (n_measures, n_topics)
    depth : int
        Number of documents on the topic with the most documents, before the run is cut.
    length : int
        Number of documents on the median topic.
    repeated : int
        Number of lines that were ignored because another line has the same document and topic.
    """

    name: str
    tag: str
    values: Floats
    depth: int
    length: int
    repeated: int = 0


def score_system(task: bytes, item: tuple[str, Any]) -> SystemScores | InputError:
    """Evaluate one run in a worker process.

    Parameters
    ----------
    task : bytes
        Pickled qrels, measures, depth and treatment of duplicates.  Bytes are cheap to send, and
        the worker unpickles them only once.
    item : tuple of str and a source, path, Run, dict, DataFrame or iterable
        The system's tag and the run.  If the tag is empty, the name of the run is used as the tag.

    Returns
    -------
    SystemScores or InputError
        The system's scores.  If the run is broken, the error is returned and not raised.
    """
    tag, source = item
    evaluator, depth, duplicates = _unpickle_evaluator(task)
    try:
        if isinstance(source, Source):
            source.duplicates = duplicates
        run = as_run(source, duplicates)
        sizes = [b - a for t in evaluator.qrels.topics for a, b in [run.bounds.get(t, (0, 0))]]
        if not any(sizes):
            expected = f"expected topics such as {evaluator.qrels.topics[0]}"
            raise InputError.at(run.name, "has no topic of the qrels", expected)
    except InputError as broken:
        return broken
    repeated = run.repeated
    if depth is not None and max(sizes) > depth:
        run = sort_run(run, depth)
    values = np.stack(list(evaluator.values(run).values()))
    length = int(np.median(sizes))
    return SystemScores(run.name, tag or run_tag(run.name), values, max(sizes), length, repeated)


@lru_cache(maxsize=1)
def _unpickle_evaluator(pickled: bytes) -> tuple[StdEvaluator, int | None, str]:
    qrels, measures, depth, duplicates = pickle.loads(pickled)
    return StdEvaluator(measures, qrels), depth, duplicates


def run_tag(name: str) -> str:
    """Return the name of a system: the file name of its run without folders and ``.gz``.

    >>> run_tag("runs/trec8.tar.xz!trec8/Flab8atdn.gz")
    'Flab8atdn'
    """
    return _tag(PurePath(name.rpartition("!")[2]).name)


def _tag(path: str) -> str:
    return re.sub(r"\.(gz|bz2|xz)$", "", path_text(path))


def judge_fields(judge: str | Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of ``set.json`` that describe a language model as judge."""
    if not judge:
        return {}
    fields = {"name": judge} if isinstance(judge, str) else dict(judge)
    if problem := field_problem("judge", fields):
        raise UsageError(problem)
    return {"kind": "judge", "judge": fields}


def team_fields(teams: Teams, systems: Collection[str]) -> dict[str, Any]:
    """Return the field of ``set.json`` that lists teams; an empty dict if there are no teams."""
    if teams is None:
        return {}
    if not isinstance(teams, Mapping):
        teams = _teams_in(teams)
    if len(set(systems)) < len(systems):
        raise UsageError("teams need unique system names; give each run its own file name")
    if unknown := [system for system in teams if system not in systems]:
        raise UsageError(f"teams lists systems that have no scores ({abbreviate(unknown)})")
    if problem := field_problem("teams", teams):
        raise UsageError(problem)
    return {"teams": dict(sorted(teams.items()))}


def _teams_in(file: str | os.PathLike[str]) -> dict[str, str]:
    teams: dict[str, str] = {}
    expected = "expected a system and its team on each line"
    text = read_text(file, "name a readable file of teams")
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if fields and (len(fields) != 2 or fields[0] in teams):
            wrong = f"repeats {fields[0]}" if fields[0] in teams else repr(line)
            raise InputError.at(file, wrong, expected, line=number)
        teams |= dict([fields]) if fields else {}
    if not teams:
        raise InputError.at(file, "no line has a system", expected)
    return teams


def check_measure_names(measures: Measures) -> tuple[str, ...]:
    """Check that measures can be standardized, and return their names.

    If a measure is given as a string, the returned name is that string.
    """
    names: dict[str, str] = {}
    for given in [measures] if isinstance(measures, (str, Measure)) else measures:
        measure = parse_measure(given)
        if not has_standardized(measure):
            raise UsageError(f"{measure} cannot be standardized; name raw measures")
        name = canonical(measure)
        if name in names:
            raise UsageError(f"{given} is given twice")
        names[name] = given if isinstance(given, str) else name
    if not names:
        raise UsageError("no measure is given")
    return tuple(names.values())
