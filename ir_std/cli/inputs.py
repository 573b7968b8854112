"""Arguments that name runs, qrels and measures, sorted by what they are."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from ir_std._system.files import may_be_there
from ir_std.cli.parser import COMMANDS
from ir_std.cli.streams import PROGRAM, note
from ir_std.errors import UsageError, abbreviate, counted, did_you_mean, nearest_names
from ir_std.evaluation.systems import find_system, may_be_system, names_system
from ir_std.factors.catalog import available_factors
from ir_std.measures import ExternalMeasure, near_measures, standardized
from ir_std.measures.names import only_in_trec_eval, translate_name
from ir_std.measures.registry import by_name, external_names, names_external
from ir_std.reading import QRELS, RUN, STANDARD_INPUT, FileSource, Source, files_below, source_of
from ir_std.scores.files import read_scores
from ir_std.scores.inputs import SCORES, kind_of, name_runs
from ir_std.scores.run_scores import RunScores
from ir_std.trec.inputs import is_dataset


class Inputs(NamedTuple):
    """What the arguments name.

    Attributes
    ----------
    runs : list of Source or str
        Runs, scores of runs, or names of sets' systems.
    n_run_files : int
        How many of them are runs.
    all_qrels : list of Source or str
        Files, and ids of ir_datasets.
    measures : list of str
        As they were written.
    """

    runs: list[Source | str]
    n_run_files: int
    all_qrels: list[Source | str]
    measures: list[str]

    @property
    def qrels(self) -> Source | str | None:
        """The first qrels; None where scores alone are given."""
        return next(iter(self.all_qrels), None)

    @property
    def files(self) -> list[str]:
        """The paths of the files, which must not be replaced."""
        return [file.name for file in (*self.runs, *self.all_qrels) if isinstance(file, FileSource)]

    @property
    def named(self) -> dict[str, Source | str]:
        """Runs and scores by name."""
        return name_runs(self.runs)


def classify_arguments(arguments: Iterable[str], measure: str | None = None) -> Inputs:
    """Sort arguments into runs or scores, the qrels, and measures.

    The qrels are a file or an ir_datasets id; scores alone need none.  A folder stands for the
    files below it, ``-`` for standard input.  ``measure`` is that of tables of scores which name
    none.
    """
    given = sort_arguments(arguments, measure)
    if given.all_qrels or not given.runs or given.n_run_files:
        _check_counts(given)
    return given


def sort_arguments(arguments: Iterable[str], measure: str | None = None) -> Inputs:
    """Arguments by what they are, each kind in the order given and of any number.

    See :func:`classify_arguments`.
    """
    qrels: list[Source | str] = []
    measures: list[str] = []
    runs: dict[str, Source | str] = {}
    n_run_files = 0
    unknown: dict[int, str] = {}
    for given in expand_folders(arguments):
        if given == STANDARD_INPUT or may_be_there(given):
            if given in runs:
                continue
            source = open_input(given)
            kind = kind_of(source)
            n_run_files += kind == RUN.kind
            if kind == QRELS.kind:
                qrels.append(source)
            else:
                runs[given] = source
        elif is_measure(given):
            measures.append(given)
        elif names_system(given):
            runs[given] = given
        elif is_dataset(given):
            qrels.append(given)
        else:
            unknown[len(measures)] = given
            measures.append(given)
    # When all scores are there that may have them.
    known = external_measures(runs.values(), measure) if unknown else {}
    for place, given in unknown.items():
        external = _external_named(given, known)
        if external is None:
            raise unknown_argument(given)
        measures[place] = str(external)
    _note_hidden_names([*runs, *map(input_name, qrels)], n_run_files > 0 and not qrels)
    return Inputs(list(runs.values()), n_run_files, qrels, measures)


def _note_hidden_names(files: list[str], qrels_missing: bool) -> None:
    """Say which files hide measures; where qrels are missing, and so what was meant, systems."""
    for file in files:
        if file in by_name:
            note(f"{file} is the name of a file here and of a measure: taken for the file")
    hide = [f for f in files if qrels_missing and os.path.lexists(f) and may_be_system(f)]
    if hide:
        note(f"{abbreviate(hide)}: taken for a file here, not for the system of that name")


def external_measures(runs: Iterable[Any], measure: str | None) -> dict[str, ExternalMeasure]:
    """The external measures that scores have, by name; from then on their plain names are known."""
    given = [find_system(run) for run in runs]
    files = [run for run in given if isinstance(run, Source) and kind_of(run) == SCORES]
    read = [scores for file in files for scores in read_scores(file, measure).values()]
    read += [run for run in given if isinstance(run, RunScores)]
    return {m.name: m for scores in read for m in scores.values if isinstance(m, ExternalMeasure)}


def _external_named(text: str, known: Mapping[str, ExternalMeasure]) -> Measure | None:
    """The external measure, or its standardized one, that a text names, if any."""
    if text in known:
        return known[text]
    base = known.get(text.removeprefix("s"))
    return base and standardized(base)


def as_parsed(texts: Iterable[str], runs: Iterable[Any], measure: str | None = None) -> list[str]:
    """Names of measures; those that scores alone have as they print, so that they can be parsed."""
    given = list(texts)
    known = {} if all(map(is_measure, given)) else external_measures(runs, measure)
    return [
        text if is_measure(text) else str(_external_named(text, known) or text) for text in given
    ]


def _check_counts(given: Inputs) -> None:
    """There must be one qrels file, and a run or scores."""
    n_runs, qrels = given.n_run_files, given.all_qrels
    if len(qrels) != 1:
        what = f"{len(qrels)} qrels ({', '.join(map(input_name, qrels))})" if qrels else "no qrels"
        raise UsageError(
            f"found {what} and {counted(n_runs, 'run')}: give "
            f"one qrels file (4 columns) or ir_datasets id"
        )
    if not given.runs:
        raise UsageError(
            f"found qrels ({input_name(qrels[0])}) but no run: give a file of 6 columns"
        )


def expand_folders(arguments: Iterable[str]) -> Iterator[str]:
    """The arguments, with the files below each folder in its place."""
    arguments = list(arguments)
    check_read_once(arguments)
    for given in arguments:
        if os.path.isdir(given):
            yield from map(str, files_below(Path(given)))
        else:
            yield given


def check_read_once(names: Iterable[str | None]) -> None:
    """Check that standard input is one file at most."""
    if list(names).count(STANDARD_INPUT) > 1:
        raise UsageError(
            "- stands for standard input, which can be read only once: name one of them as a file"
        )


def open_input(name: str) -> Source:
    """A file; of standard input and pipes what they gave."""
    if name == STANDARD_INPUT and sys.stdin is not None and sys.stdin.isatty():
        note("waiting for lines on standard input; Ctrl-D ends them")
    return source_of(name)


class OpenedOnce(dict[str, Source]):
    """Files by name, opened when they are first asked for."""

    def __missing__(self, name: str) -> Source:
        source = self[name] = open_input(name)
        return source


def note_datasets(*texts: str | None) -> None:
    """Say from which ids of ir_datasets texts come, and that these may be downloaded."""
    for given in dict.fromkeys(texts):
        if given is not None and not may_be_there(given) and is_dataset(given):
            note(f"texts of {given} from ir_datasets, which downloads what is not here yet")


def input_name(file: Source | str) -> str:
    """What messages call a file or a dataset."""
    return file if isinstance(file, str) else file.name


def unknown_argument(given: str) -> UsageError:
    """What is wrong with an argument that is nothing known."""
    find_system(given)  # says which systems a set has, if it names one
    if meant := _near_systems(given):
        return UsageError(f"{given}: no such file, and no system of a set{did_you_mean(meant)}")
    if os.path.dirname(given) or re.search(r"\.[A-Za-z]\w*$", given):
        what = " and no ir_datasets id of that name" if "/" in given else ""
        return UsageError(f"{given}: no such file{what}{did_you_mean(_near_files(given))}")
    return UsageError(
        f"{given!r} is neither a file nor a measure nor an ir_datasets id"
        f"{did_you_mean(_near_words(given))}"
    )


def _near_systems(given: str) -> list[str]:
    """The systems of that name in sets whose names are near."""
    set_id, separator, tag = given.partition("/")
    near = nearest_names(set_id, available_factors()) if separator else []
    return [system for name in near if names_system(system := f"{name}/{tag}")]


def _near_files(given: str) -> list[str]:
    """The files in the same folder whose names are near."""
    folder = os.path.dirname(given) or "."
    files = [file.name for file in Path(folder).iterdir()] if os.path.isdir(folder) else []
    return nearest_names(os.path.basename(given), files)


def _near_words(given: str) -> list[str]:
    """Commands whose names are near; else measures, else what scores have."""
    commands = [f"{PROGRAM} {name}" for name in nearest_names(given, COMMANDS)]
    return commands or near_measures(given) or nearest_names(given, external_names)


def is_measure(text: str) -> bool:
    """Whether a text names a measure, of ir_measures or of trec_eval."""
    if names_external(text):
        return True
    name = re.match(r"\w+(?=[(@ ]|$)", translate_name(next(iter(text.split()), ""))[0])
    return only_in_trec_eval(text) or (name is not None and name[0] in by_name)
