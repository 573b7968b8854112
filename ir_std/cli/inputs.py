"""Arguments that name runs, qrels and measures: told apart; what can be read once is kept."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

from ir_measures import measures as irm

from ir_std.cli.main import COMMANDS
from ir_std.cli.streams import PROGRAM, note
from ir_std.errors import InputError, UsageError, did_you_mean, nearest_names, suggestion
from ir_std.measures import near_measures
from ir_std.measures.names import only_in_trec_eval, translate_name
from ir_std.reading.line_formats import QRELS, RUN
from ir_std.reading.sources import STANDARD_INPUT, Source, files_below, source_of, unopened
from ir_std.scores.files import is_score_file
from ir_std.trec.files import columns_of
from ir_std.trec.inputs import is_dataset
from ir_std.trec.naming import name_runs

Input: TypeAlias = str | Source
"""The path of a file, or what a pipe or standard input gave."""


class Inputs(NamedTuple):
    """What the arguments name.

    Attributes
    ----------
    runs : list
        Runs, or scores of runs.
    qrels : str, Source or None
        Also the id of an ir_datasets dataset; None where scores alone are given.
    measures : list of str
        As they were written.
    scores : set of str
        The names of the files among the runs that hold scores.
    """

    runs: list[Input]
    qrels: Input | None
    measures: list[str]
    scores: set[str]

    @property
    def files(self) -> list[str]:
        """The names of the files, which must not be replaced."""
        return [name for name in (*self.runs, self.qrels) if isinstance(name, str)]

    @property
    def named(self) -> dict[str, Input]:
        """Runs and scores by name; a file that is a run as a source: nobody looks at it again."""
        return {
            name: file if input_name(file) in self.scores else unopened(file)
            for name, file in name_runs(self.runs).items()
        }


def classify_arguments(arguments: Iterable[str]) -> Inputs:
    """Sort arguments into runs or scores, the qrels, and measures.

    The qrels are a file or an ir_datasets id; scores alone need none.  A folder stands for the
    files below it, ``-`` for standard input.

    Raises
    ------
    InputError
        If a file is neither a run nor qrels, or a folder holds no files.
    UsageError
        If an argument is none of these, or there is not at least one run and just one qrels.
    """
    runs: dict[str, Input] = {}
    scores: set[str] = set()
    qrels: list[Input] = []
    measures: list[str] = []
    for given in expand_folders(arguments):
        if given == STANDARD_INPUT or os.path.lexists(given):
            file = open_input(given)
            kind = _kind(file)
            if kind == QRELS.kind:
                qrels.append(file)
            else:
                runs[given] = file
                if kind != RUN.kind:
                    scores.add(given)
            if given in irm.registry:
                note(f"{given} is the name of a file here and of a measure: taken for the file")
        elif is_measure(given):
            measures.append(given)
        elif is_dataset(given):
            qrels.append(given)
        else:
            raise UsageError(_unknown(given))
    if not qrels and runs and len(scores) == len(runs):
        return Inputs(list(runs.values()), None, measures, scores)
    if len(qrels) != 1:
        what = f"{len(qrels)} qrels ({', '.join(map(input_name, qrels))})" if qrels else "no qrels"
        n = len(runs) - len(scores)
        raise UsageError(
            f"found {what} and {n} run{'s' if n != 1 else ''}: give "
            f"one qrels file (4 columns) or ir_datasets id"
        )
    if not runs:
        raise UsageError(
            f"found qrels ({input_name(qrels[0])}) but no run: give a file of 6 columns"
        )
    return Inputs(list(runs.values()), qrels[0], measures, scores)


def _kind(file: Input) -> str:
    """Whether a file holds scores, or is a run or qrels."""
    source = unopened(file)
    if is_score_file(source):
        return "scores"
    width = columns_of(source)
    for form in (RUN, QRELS):
        if width == form.width:
            return form.kind
    raise InputError.at(
        input_name(file),
        None,
        f"{width} columns in its first line",
        f"{RUN.layout}; {QRELS.layout}",
    )


def expand_folders(arguments: Iterable[str]) -> Iterator[str]:
    """The arguments, with the files below each folder in its place.

    Raises
    ------
    InputError
        If there are none.
    UsageError
        If standard input is named more than once.
    """
    arguments = list(arguments)
    check_read_once(arguments)
    for given in arguments:
        if os.path.isdir(given):
            yield from map(str, files_below(Path(given)))
        else:
            yield given


def check_read_once(names: Iterable[str | None]) -> None:
    """Check that standard input is one file at most.

    Raises
    ------
    UsageError
        If it is named more than once.
    """
    if list(names).count(STANDARD_INPUT) > 1:
        raise UsageError(
            "- stands for standard input, which can be read only once: name one of them as a file"
        )


def open_input(name: str) -> Input:
    """A file's name, or a dataset's; of standard input and pipes, which end, what they gave.

    Raises
    ------
    InputError
        If standard input or a pipe cannot be read.
    """
    if name == STANDARD_INPUT:
        if sys.stdin is not None and sys.stdin.isatty():
            note("waiting for lines on standard input; Ctrl-D ends them")
        return source_of(name)
    return source_of(name) if is_pipe(name) else name


def is_pipe(name: str) -> bool:
    """Whether a name is that of a pipe, as ``<(zcat run.gz)`` is, or of a device."""
    return os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name)


def input_name(file: Input) -> str:
    """What messages call a file."""
    return file if isinstance(file, str) else file.name


def _unknown(given: str) -> str:
    """What is wrong with an argument that is nothing known."""
    if os.path.dirname(given) or re.search(r"\.[A-Za-z]\w*$", given):
        what = " and no ir_datasets id of that name" if "/" in given else ""
        here = os.path.dirname(given) or "."
        files = [file.name for file in Path(here).iterdir()] if os.path.isdir(here) else []
        return f"{given}: no such file{what}{suggestion(os.path.basename(given), files)}"
    commands = [f"{PROGRAM} {name}" for name in nearest_names(given, COMMANDS)]
    return (
        f"{given!r} is neither a file nor a measure nor an ir_datasets id"
        f"{did_you_mean(commands or near_measures(given))}"
    )


def is_measure(text: str) -> bool:
    """Whether a text names a measure, of ir_measures or of trec_eval."""
    name = re.match(r"\w+(?=[(@ ]|$)", translate_name(next(iter(text.split()), ""))[0])
    return only_in_trec_eval(text) or (name is not None and name[0] in irm.registry)
