"""Arguments that name runs, qrels and measures, sorted by what they are."""

from __future__ import annotations

import os
import re
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from ir_std._system.files import may_be_there
from ir_std.cli.options import COMMANDS
from ir_std.cli.streams import PROGRAM, note
from ir_std.errors import (
    UnknownMeasureError,
    UsageError,
    abbreviate,
    did_you_mean,
    nearest_names,
)
from ir_std.evaluation.inputs import expand, inputs_by_name
from ir_std.evaluation.systems import find_system, may_be_system, names_system
from ir_std.factors.catalog import available_factors
from ir_std.measures import ExternalMeasure, parse_measure, standardized, suggest_measures
from ir_std.measures.names import (
    is_quoted,
    missing_from_group,
    only_in_trec_eval,
    translate_name,
)
from ir_std.measures.records import by_name
from ir_std.reading import QRELS, RUN, STANDARD_INPUT, FileSource, Source, is_archive, source_of
from ir_std.scores.inputs import keep_duplicates, kind_of, name_runs
from ir_std.scores.run_scores import RunScores
from ir_std.trec.inputs import is_dataset


class Inputs(NamedTuple):
    """What the arguments name.

    Attributes
    ----------
    runs : dict of str to run
        Open files of runs, scores and systems of factor sets, by name.
    qrels : list of Source or str
        Files, and IDs of ir_datasets.
    measures : list of Measure
    sort : Measure or None
        The measure of ``--sort``.
    files : list of str
        The paths of all files, which must not be replaced.
    """

    runs: dict[str, Any]
    qrels: list[Source | str]
    measures: list[Measure]
    sort: Measure | None
    files: list[str]

    @property
    def only_qrels(self) -> Source | str | None:
        """The qrels of a command that needs one file of them, or none where scores need none."""
        n_runs = sum(isinstance(run, Source) for run in self.runs.values())
        if len(self.qrels) > 1:
            names = ", ".join(map(_name_of, self.qrels))
            raise UsageError(f"expected one qrels file, got {len(self.qrels)} ({names})")
        if not self.qrels and (n_runs or not self.runs):
            raise UsageError("missing qrels; pass one qrels file (4 columns) or an ir_datasets ID")
        if not self.runs:
            raise UsageError(
                f"missing runs; {_name_of(self.qrels[0])} is a qrels file, a run has 6 columns"
            )
        return next(iter(self.qrels), None)


def read_inputs(args: Namespace) -> Inputs:
    """Sort the arguments of a command into runs, qrels and measures, in any order.

    A folder or an archive means the files in it, ``SET/*`` all systems of a set, and ``-``
    standard input.
    """
    qrels: list[Source | str] = []
    measures: list[str] = []
    runs: dict[str, Source | str] = {}
    check_read_once(args.inputs)
    for given in (each for text in args.inputs for each in expand(text)):
        if isinstance(given, Source) or given == STANDARD_INPUT or may_be_there(given):
            name = given.name if isinstance(given, Source) else given
            if name not in runs:
                source = open_input(given)
                if kind_of(source) == QRELS.kind:
                    qrels.append(source)
                else:
                    runs[name] = source
        elif is_measure(given) or not (names_system(given) or is_dataset(given)):
            measures.append(given)
        elif names_system(given):
            runs[given] = given
        else:
            qrels.append(given)
    _note_hidden_names([*runs, *map(_name_of, qrels)], not qrels and _has_run_file(runs.values()))
    named = name_runs(list(runs.values())) if runs else {}
    if (duplicates := getattr(args, "duplicates", None)) is not None:
        named = keep_duplicates(named, duplicates)
    by_run = inputs_by_name(named) if named else {}
    custom = custom_measures(by_run.values())
    sort = getattr(args, "sort", None)
    return Inputs(
        by_run,
        qrels,
        requested_measures(args, measures, custom),
        None if sort is None else _sort_measure(sort, args, custom),
        [file.name for file in (*runs.values(), *qrels) if isinstance(file, FileSource)]
        + list(filter(is_archive, args.inputs)),
    )


def _has_run_file(runs: Iterable[Source | str]) -> bool:
    return any(isinstance(run, Source) and kind_of(run) == RUN.kind for run in runs)


def _note_hidden_names(files: list[str], qrels_missing: bool) -> None:
    """Say which files hide measures; where qrels are missing, and so what was meant, systems."""
    for file in files:
        if file in by_name:
            note(f"{file} is a file here and a measure; ir_std uses the file")
    hide = [f for f in files if qrels_missing and os.path.lexists(f) and may_be_system(f)]
    if hide:
        note(f"{abbreviate(hide)}: a file here and a system of a factor set; ir_std uses the file")


def check_read_once(names: Iterable[str | None]) -> None:
    """Check that standard input is one file at most."""
    if list(names).count(STANDARD_INPUT) > 1:
        raise UsageError("- (standard input) can be read only once; name the other file")


def open_input(name: str | Source) -> Source:
    """Return a file; of standard input and pipes what they gave."""
    if name == STANDARD_INPUT and sys.stdin is not None and sys.stdin.isatty():
        note("waiting for lines on standard input; Ctrl-D ends them")
    return source_of(name)


def note_datasets(*texts: str | None) -> None:
    """Say from which ids of ir_datasets texts come, and that these may be downloaded."""
    for given in dict.fromkeys(texts):
        if given is not None and not may_be_there(given) and is_dataset(given):
            note(f"ir_datasets provides the texts of {given} and may download them")


def _name_of(file: Source | str) -> str:
    return file if isinstance(file, str) else file.name


# --- measures -------------------------------------------------------------------------------------


def custom_measures(runs: Iterable[Any]) -> dict[str, Measure]:
    """Return the measures that only score files have, by name, with their standardized versions."""
    scores = [run for run in runs if isinstance(run, RunScores)]
    custom = {m for each in scores for m in each.values if isinstance(m, ExternalMeasure)}
    raw: dict[str, Measure] = {m.name: m for m in custom}
    return {f"s{name}": standardized(measure) for name, measure in raw.items()} | raw


def requested_measures(
    args: Namespace, texts: Iterable[str], custom: Mapping[str, Measure]
) -> list[Measure]:
    """Return the measures of some arguments and of ``-m``, at the level of ``-l``."""
    level, depth = getattr(args, "l", None), getattr(args, "depth", None)
    if level is not None and level < 1:
        raise UsageError(f"-l is {level}; expected a level of at least 1")
    if depth is not None and depth < 1:
        raise UsageError(f"-M is {depth}; expected at least 1 document")
    for text in texts:
        if text not in custom and not is_measure(text):
            raise unknown_argument(text, custom)
    measures = read_measures([*texts, *(getattr(args, "m", None) or ())], level, custom)
    if level is not None and not measures:
        raise UsageError("-l is the level of the measures you name; add a measure, such as AP")
    return measures


def _sort_measure(text: str, args: Namespace, custom: Mapping[str, Measure]) -> Measure:
    measures = read_measures([text], args.l, custom)
    if len(measures) != 1:
        raise UsageError(f"--sort {text} names {len(measures)} measures; expected one")
    return measures[0]


def read_measures(
    texts: Iterable[str], level: int | None = None, custom: Mapping[str, Measure] = {}
) -> list[Measure]:
    """Return measures, each once, by the names of ir_measures or trec_eval in any case."""
    found = [
        measure
        for text in texts
        for measure in ([custom[text]] if text in custom else _measures_of(text, level))
    ]
    return list(dict.fromkeys(found))


def _measures_of(text: str, level: int | None) -> Iterator[Measure]:
    if is_quoted(text):
        yield parse_measure(text)
        return
    for part in [text] if "(" in text else text.split():
        if only_in_trec_eval(part):
            raise UnknownMeasureError(f"ir_measures has no measure such as trec_eval's {part}")
        if others := missing_from_group(part):
            note(f"{part} leaves out {', '.join(others)}, which ir_measures does not have")
        for name in translate_name(part):
            for measure in _parse_all(name):
                yield _at_level(measure, level) if level and "rel=" not in part else measure


def _at_level(measure: Measure, level: int) -> Measure:
    """Return a binary measure with documents relevant from ``level`` on; others as they are."""
    rel = measure.SUPPORTED_PARAMS.get("rel")
    if rel is None or (rel.default != 1 and "rel" not in measure.params):
        return measure
    leveled: Measure = measure(rel=level)
    return leveled


def _parse_all(text: str) -> list[Measure]:
    """Return one measure, or as in ir_measures several in one argument."""
    try:
        return [parse_measure(text)]
    except UsageError:
        if " " not in text:
            raise
        return [parse_measure(part) for part in text.split()]


def is_measure(text: str) -> bool:
    """Check whether a text names a measure, of ir_measures or of trec_eval."""
    if is_quoted(text):
        return True
    name = re.match(r"\w+(?=[(@ ]|$)", translate_name(next(iter(text.split()), ""))[0])
    return only_in_trec_eval(text) or (name is not None and name[0] in by_name)


# --- what is none of these ------------------------------------------------------------------------


def unknown_argument(given: str, custom: Iterable[str] = ()) -> UsageError:
    """Return what is wrong with an argument that is nothing known."""
    find_system(given)  # says which systems a set has, if it names one
    if meant := _near_systems(given):
        return UsageError(f"{given}: no such file or system of a set{did_you_mean(meant)}")
    if os.path.dirname(given) or re.search(r"\.[A-Za-z]\w*$", given):
        what = " or ir_datasets ID" if "/" in given else ""
        return UsageError(f"{given}: no such file{what}{did_you_mean(_near_files(given))}")
    commands = [f"{PROGRAM} {name}" for name in nearest_names(given, COMMANDS)]
    near = commands or suggest_measures(given) or nearest_names(given, custom)
    return UsageError(
        f"{given!r} is not a file, a measure or an ir_datasets ID{did_you_mean(near)}"
    )


def _near_systems(given: str) -> list[str]:
    """Return the systems of that name in sets whose names are near."""
    set_id, separator, tag = given.partition("/")
    near = nearest_names(set_id, available_factors()) if separator else []
    return [system for name in near if names_system(system := f"{name}/{tag}")]


def _near_files(given: str) -> list[str]:
    """Return the files in the same folder whose names are near."""
    folder = os.path.dirname(given) or "."
    files = [file.name for file in Path(folder).iterdir()] if os.path.isdir(folder) else []
    return nearest_names(os.path.basename(given), files)
