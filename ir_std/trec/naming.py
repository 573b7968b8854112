"""What runs are called where several are evaluated."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ir_std.errors import UsageError
from ir_std.reading.sources import BytesSource


def name_runs(runs: Any) -> dict[str, Any]:
    """Runs by name: the names given, or file names (paths where those are the same).

    Parameters
    ----------
    runs
        One run in any form, a list of runs, or a dict that names them.

    Raises
    ------
    UsageError
        If there is no run, or two have the same name.
    """
    if isinstance(runs, Mapping) and not _is_run(runs):
        named = {str(name): run for name, run in runs.items()}
    elif isinstance(runs, (list, tuple)) and not _is_table(runs):
        named = _named_by_file(runs)
    else:
        named = {os.path.basename(runs) if _is_file(runs) else "run": runs}
    if not named:
        raise UsageError("no runs: give a run, a list of runs, or a dict that names them")
    return named


def _named_by_file(runs: Sequence[Any]) -> dict[str, Any]:
    paths = dict.fromkeys(os.fspath(run) for run in runs if _is_file(run))
    count = Counter(map(os.path.basename, paths))
    named: dict[str, Any] = {}
    for number, run in enumerate(runs, 1):
        path = (
            os.fspath(run)
            if _is_file(run)
            else (run.name if isinstance(run, BytesSource) else f"run{number}")
        )
        name = os.path.basename(path) if count[os.path.basename(path)] == 1 else path
        if name in named and not (_is_file(run) and _is_file(named[name])):
            raise UsageError(f"two runs are called {name}: name them in a dict")
        named[name] = run
    return named


def _is_file(run: Any) -> bool:
    return isinstance(run, (str, os.PathLike))


def _is_run(given: Mapping[Any, Any]) -> bool:
    """Whether a dict is one run (numbers by topic and document), and not runs by name."""
    return bool(given) and all(
        isinstance(docs, Mapping) and not isinstance(next(iter(docs.values()), None), Mapping)
        for docs in given.values()
    )


def _is_table(given: Sequence[Any]) -> bool:
    """Whether a list is one run (objects or records of topic, document, score), and not runs."""
    return any(
        (hasattr(row, "query_id") and not hasattr(row, "itertuples"))
        or (isinstance(row, Mapping) and isinstance(row.get("query_id"), str))
        for row in given[:1]
    )
