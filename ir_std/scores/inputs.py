"""Runs, or scores computed by another program, in any form that users pass."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ir_std._system.text import path_text
from ir_std.errors import InputError, UsageError, abbreviate, pluralize
from ir_std.reading import QRELS, RANKED_RUN, RUN, Source
from ir_std.scores.files import holds_scores
from ir_std.scores.mteb import scores_of_objects
from ir_std.scores.run_scores import RunScores, counted_topics
from ir_std.trec import Qrels, Run, as_qrels
from ir_std.trec.files import count_columns

SCORES = "score file"
"""Kind of a file that holds scores; :attr:`LineFormat.kind` is the kind of any other file."""
SUFFIXES = (".run", ".res", ".txt", ".trec", ".gz", ".bz2", ".xz", ".zst")
"""Suffixes that are not part of a system's name, unless two names would be the same."""


def kind_of(source: Source) -> str:
    """Return the kind of a file: scores, a run or qrels."""
    if holds_scores(source):
        return SCORES
    width = count_columns(source)
    for line_format in (RUN, RANKED_RUN, QRELS):
        if width == line_format.width:
            return line_format.kind
    assert source.first_line is not None
    line = source.first_line[1].decode(errors="replace").strip()
    from ir_std.scores.tables import split_header  # Only this error needs it.

    cells = split_header(line)
    columns = f"{pluralize(width, 'column')} in its first line ({line[:80]!r})"
    raise InputError.at(
        source.name,
        f"columns {abbreviate(cells, 8)} in its first line" if len(cells) > 1 else columns,
        f"{RUN.layout}, {QRELS.layout}, and a table of scores has a column topic, run or dataset",
    )


def qrels_or_counts(runs: Iterable[Any], qrels: Any) -> Qrels:
    """Return the qrels; if there are none, make them from the topics and counts in score files."""
    if qrels is not None:
        return as_qrels(qrels)
    scores = [run for run in runs if isinstance(run, RunScores)]
    others = sum(1 for run in runs) - len(scores)
    if others or not scores:
        raise UsageError("missing qrels; pass them, because only score files work without qrels")
    return counted_topics(scores)


def short_name(path: str) -> str:
    """Return a system's name from the path of its file, without suffixes such as .run.gz.

    >>> short_name("runs/bm25.v2.run.gz")
    'bm25.v2'
    """
    name = Path(path)
    while name.suffix in SUFFIXES:
        name = name.with_suffix("")
    return path_text(name.name)


def name_runs(runs: Any) -> dict[str, Any]:
    """Return runs by their given names or file names (paths if file names are the same).

    Parameters
    ----------
    runs
        One run in any form, a list of runs, or a dict that names them.

    Raises
    ------
    UsageError
        If there is no run, or two runs have the same name.
    """
    if (of_mteb := scores_of_objects(runs)) is not None:
        named: dict[str, Any] = dict(of_mteb)
    elif isinstance(runs, Mapping) and not _is_run(runs):
        named = {str(name): run for name, run in runs.items()}
    elif isinstance(runs, (list, tuple)) and not _is_table(runs):
        named = _named_by_file(runs)
    else:
        path = _path(runs)
        named = {"run" if path is None else short_name(path): runs}
    if not named:
        raise UsageError("missing runs; pass a run, a list of runs, or a dict that names them")
    return named


def _named_by_file(runs: Sequence[Any]) -> dict[str, Any]:
    paths = [_path(run) for run in runs]
    names = _names_of_files(list(dict.fromkeys(path for path in paths if path is not None)))
    named: dict[str, Any] = {}
    for number, (run, path) in enumerate(zip(runs, paths, strict=True), 1):
        name = run.name if isinstance(run, Source) else f"run{number}"
        if path is not None:
            name = names[path]
        if name in named and (path is None or _path(named[name]) is None):
            raise UsageError(
                f"two runs are named {name}; pass a dict that gives each run its own name"
            )
        named[name] = run
    return named


def _names_of_files(paths: Sequence[str]) -> dict[str, str]:
    """Return each path's shortest distinct name: the short name, the file name or the path."""
    names: dict[str, str] = {}
    for shortened in (short_name, os.path.basename, str):
        left = [path for path in paths if path not in names]
        count = Counter(map(shortened, left)) + Counter(names.values())
        names |= {path: name for path in left if count[name := shortened(path)] == 1}
    return names


def _path(run: Any) -> str | None:
    """Return the path of a run's file, or None if the run has no path."""
    if isinstance(run, Source):
        return None if run.path is None else str(run.path)
    return os.fspath(run) if isinstance(run, (str, os.PathLike)) else None


def _is_run(given: Mapping[Any, Any]) -> bool:
    """Check whether a dict is one run (numbers by topic and document) instead of named runs."""
    return bool(given) and all(
        isinstance(docs, Mapping) and not isinstance(next(iter(docs.values()), None), Mapping)
        for docs in given.values()
    )


def _is_table(given: Sequence[Any]) -> bool:
    """Check whether a list is one run (one object or record per document) instead of runs."""
    return any(
        (hasattr(row, "query_id") and not hasattr(row, "itertuples"))
        or (isinstance(row, Mapping) and isinstance(row.get("query_id", row.get("qid")), str))
        for row in given[:1]
    )


def check_common_topics(run: Run | RunScores, qrels: Qrels) -> None:
    """Check that a run and qrels have a topic in common."""
    if set(qrels.topics).isdisjoint(run.topics):
        same = match_in_other_form(qrels.topics, run.topics, qrels)
        firsts = next(iter(qrels.topics), "none"), next(iter(run.topics), "none")
        theirs, own = same or firsts
        raise InputError.at(
            run.name,
            f"no topic in common with {qrels.name} (topics such as {own} instead of {theirs})",
            "write topic IDs alike" if same else "pass qrels with the run's own topics",
        )


def match_in_other_form(
    missing: Iterable[str], given: Iterable[str], qrels: Qrels
) -> tuple[str, str] | None:
    """Return a topic that the run lacks, and an ID in the run that probably means this topic.

    Return None unless the run has a likely ID for most of the missing topics.
    """
    others = {_number_of(topic): topic for topic in given if topic not in qrels.positions}
    if not others:
        return None
    pairs = [(topic, others.get(_number_of(topic))) for topic in missing]
    found = [(topic, other) for topic, other in pairs if other is not None]
    return found[0] if 2 * len(found) > len(pairs) else None


def _number_of(topic: str) -> str:
    """Return a topic ID's last number without leading zeros, or the ID if it has no number."""
    numbers = re.findall(r"\d+", topic)
    return numbers[-1].lstrip("0") if numbers else topic.strip().casefold()
