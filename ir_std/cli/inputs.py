"""Sort command-line arguments into runs, qrels, measures, and systems on collections."""

import os
import re
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import ir_std.measures.names as measure_names
from ir_std import reading
from ir_std._system.files import path_may_exist
from ir_std.cli.options import COMMANDS
from ir_std.cli.streams import PROGRAM, note
from ir_std.errors import UsageError, abbreviate, did_you_mean, pluralize, suggest_names
from ir_std.evaluation.inputs import expand, is_system_name, resolve_runs, unknown_system
from ir_std.factors.catalog import available_factors
from ir_std.measures import ExternalMeasure, Measure, parse_measure, standardized
from ir_std.measures.records import by_name
from ir_std.scores.files import holds_scores, read_scores
from ir_std.scores.inputs import kind_of, short_name
from ir_std.scores.mteb import is_model_meta
from ir_std.scores.run_scores import RunScores
from ir_std.trec import is_dataset

ENTRY_SYNTAX = "write NAME=RUN:QRELS, or NAME=SCORES"


class Inputs(NamedTuple):
    """Inputs that the arguments name.

    Attributes
    ----------
    runs : dict of str to run
        Open run files, scores, and systems of factor sets, by name.
    qrels : list of Source or str
        Qrels files, and IDs of ir_datasets.
    measures : list of Measure
    sort : Measure or None
        The measure of ``--sort``.
    files : list of str
        Paths of all input files, which output must not overwrite.
    """

    runs: dict[str, Any]
    qrels: list[reading.Source | str]
    measures: list[Measure]
    sort: Measure | None
    files: list[str]

    @property
    def only_qrels(self) -> reading.Source | str | None:
        """The one qrels file of a command; None if all runs are scores, which need no qrels."""
        n_runs = sum(isinstance(run, reading.Source) for run in self.runs.values())
        if len(self.qrels) > 1:
            names = ", ".join(map(_name_of, self.qrels))
            raise UsageError(f"expected one qrels file, got {len(self.qrels)} ({names})")
        if not self.qrels and (n_runs or not self.runs):
            raise UsageError("missing qrels; pass one qrels file (4 columns) or an ir_datasets ID")
        if not self.runs:
            raise UsageError(
                f"missing runs; {_name_of(self.qrels[0])} is a qrels file, not a run "
                "(a run has 6 columns)"
            )
        return next(iter(self.qrels), None)


def read_inputs(args: Namespace) -> Inputs:
    """Find out which arguments of a command are runs, qrels and measures.

    The arguments can be in any order.  A folder or an archive means the files in it, ``SET/*``
    means all systems of a set, and ``-`` means standard input.
    """
    qrels: list[reading.Source | str] = []
    measures: list[str] = []
    runs: dict[str, reading.Source | str] = {}
    check_read_once(args.inputs)
    for given in (each for text in args.inputs for each in expand(text)):
        name, is_open = _name_of(given), isinstance(given, reading.Source)
        if is_open or name == reading.STANDARD_INPUT or path_may_exist(name):
            if name not in runs:
                source = open_input(given)
                if kind_of(source) == reading.QRELS.kind:
                    qrels.append(source)
                else:
                    runs[name] = source
        elif is_measure(name) or not (is_system_name(name) or is_dataset(name)):
            measures.append(name)
        elif is_system_name(name):
            runs[name] = name
        else:
            qrels.append(name)
    _note_hidden_names(runs, qrels)
    duplicates = getattr(args, "duplicates", None) or "error"
    by_run = resolve_runs([*runs.values()], duplicates=duplicates) if runs else {}
    custom = custom_measures(by_run.values())
    sort = getattr(args, "sort", None)
    return Inputs(
        by_run,
        qrels,
        requested_measures(args, measures, custom),
        None if sort is None else _sort_measure(sort, args, custom),
        [file.name for file in (*runs.values(), *qrels) if isinstance(file, reading.FileSource)]
        + list(filter(reading.is_archive, args.inputs)),
    )


def _note_hidden_names(
    runs: Mapping[str, reading.Source | str], qrels: list[reading.Source | str]
) -> None:
    """Print a note if a file has a measure's name or, without qrels, a system's name."""
    for file in [*runs, *map(_name_of, qrels)]:
        if file in by_name:
            note(f"{file} is the name of both a file and a measure, so ir_std uses the file")
    files = [run for run in runs.values() if isinstance(run, reading.Source)]
    if not qrels and any(kind_of(run) == reading.RUN.kind for run in files):
        hide = [name for name in runs if is_system_name(name, is_file=True)]
        if hide:
            text = "is the name of both a file and a system, so ir_std uses the file"
            note(f"{abbreviate(hide)} {text}")


def check_read_once(names: Iterable[object]) -> None:
    """Check that standard input is named at most once."""
    if list(names).count(reading.STANDARD_INPUT) > 1:
        raise UsageError("- (standard input) can be read only once; name the other file")


def open_input(name: str | reading.Source) -> reading.Source:
    """Open a file; buffer the contents of standard input or a pipe."""
    if name == reading.STANDARD_INPUT and sys.stdin is not None and sys.stdin.isatty():
        note("waiting for lines on standard input; Ctrl-D ends them")
    return reading.source_of(name)


def note_datasets(*texts: str | None) -> None:
    """Print a note about each ir_datasets ID, because using the ID may start a download."""
    for given in dict.fromkeys(texts):
        if given is not None and not path_may_exist(given) and is_dataset(given):
            note(f"ir_datasets provides the texts of {given} and may download them")


def _name_of(file: reading.Source | str) -> str:
    return file if isinstance(file, str) else file.name


# --- measures -------------------------------------------------------------------------------------


def custom_measures(runs: Iterable[Any]) -> dict[str, Measure]:
    """Return the custom measures of score files and their standardized versions, by name."""
    scores = [run for run in runs if isinstance(run, RunScores)]
    custom = {m for each in scores for m in each.values if isinstance(m, ExternalMeasure)}
    return {f"s{m.name}": standardized(m) for m in custom} | {m.name: m for m in custom}


def requested_measures(
    args: Namespace, texts: Iterable[str], custom: Mapping[str, Measure]
) -> list[Measure]:
    """Return the measures that the arguments and ``-m`` name, with the level from ``-l``."""
    level = getattr(args, "l", None)
    if level is not None and level < 1:
        raise UsageError(f"-l is {level}; expected a level of at least 1")
    for text in texts:
        if text not in custom and not is_measure(text):
            raise unknown_argument(text, custom)
    measures = read_measures([*texts, *(getattr(args, "m", None) or ())], level, custom)
    if level is not None and not measures:
        raise UsageError("-l sets the level of the measures you name; add a measure, such as AP")
    return measures


def _sort_measure(text: str, args: Namespace, custom: Mapping[str, Measure]) -> Measure:
    measures = read_measures([text], args.l, custom)
    if len(measures) != 1:
        raise UsageError(f"--sort {text} names {pluralize(len(measures), 'measure')}; expected one")
    return measures[0]


def read_measures(
    texts: Iterable[str], level: int | None = None, custom: Mapping[str, Measure] = {}
) -> list[Measure]:
    """Parse names of ir_measures or trec_eval, ignoring case; return each measure once."""
    found = [
        measure
        for text in texts
        for measure in ([custom[text]] if text in custom else _measures_of(text, level))
    ]
    return list(dict.fromkeys(found))


def _measures_of(text: str, level: int | None) -> Iterator[Measure]:
    if measure_names.is_quoted(text):
        yield parse_measure(text)
        return
    for part in [text] if "(" in text else text.split():
        if others := measure_names.missing_from_group(part):
            note(f"{part} leaves out {', '.join(others)}, which ir_measures does not have")
        for name in measure_names.translate_name(part):
            for measure in _parse_all(name):
                yield _at_level(measure, level) if level and "rel=" not in part else measure


def _at_level(measure: Measure, level: int) -> Measure:
    """Set the lowest relevant level of a binary measure; leave other measures unchanged."""
    rel = measure.SUPPORTED_PARAMS.get("rel")
    if rel is None or (rel.default != 1 and "rel" not in measure.params):
        return measure
    leveled: Measure = measure(rel=level)
    return leveled


def _parse_all(text: str) -> list[Measure]:
    """Return the measures in an argument; several are allowed, as in ir_measures."""
    try:
        return [parse_measure(text)]
    except UsageError:
        if " " not in text:
            raise
        return [parse_measure(part) for part in text.split()]


def is_measure(text: str) -> bool:
    """Check whether a text names a measure of ir_measures or trec_eval."""
    if measure_names.is_quoted(text) or measure_names.only_in_trec_eval(text):
        return True
    first = next(iter(text.split()), "")
    name = re.match(r"\w+(?=[(@ ]|$)", measure_names.translate_name(first)[0])
    return name is not None and name[0] in by_name


# --- unknown arguments ----------------------------------------------------------------------------


def unknown_argument(given: str, custom: Iterable[str] = ()) -> UsageError:
    """Return the error for an argument that is not a known input or measure."""
    if (wrong := unknown_system(given)) is not None:
        return wrong
    if meant := _near_systems(given):
        return UsageError(
            f"{given}: no such file, and no such system of a factor set{did_you_mean(meant)}"
        )
    if os.path.dirname(given) or re.search(r"\.[A-Za-z]\w*$", given):
        what = " or ir_datasets ID" if "/" in given else ""
        return UsageError(f"{given}: no such file{what}{did_you_mean(_near_files(given))}")
    if given in available_factors():
        return UsageError(
            f"{given} is a factor set; pass its systems, such as '{given}/*', or runs and qrels"
        )
    commands = [f"{PROGRAM} {name}" for name in suggest_names(given, [*COMMANDS, "--help"])]
    near = commands or measure_names.suggest_measures(given) or suggest_names(given, custom)
    return UsageError(
        f"{given!r} is not a file, a measure or an ir_datasets ID{did_you_mean(near)}"
    )


def _near_systems(given: str) -> list[str]:
    """Suggest systems for an unknown name SET/SYSTEM.

    The suggested systems are named SYSTEM, and belong to sets whose names are similar to SET.
    """
    set_id, separator, tag = given.partition("/")
    near = suggest_names(set_id, available_factors()) if separator else []
    return [system for name in near if is_system_name(system := f"{name}/{tag}")]


def _near_files(given: str) -> list[str]:
    """Return files that are named like an unknown file, from the same folder."""
    folder = os.path.dirname(given) or "."
    files = [file.name for file in Path(folder).iterdir()] if os.path.isdir(folder) else []
    return suggest_names(os.path.basename(given), files)


# --- systems on collections: NAME=RUN:QRELS, files of scores, folders of these -------------------


class Entry(NamedTuple):
    """Entry of :func:`ir_std.compare`: a system on a collection.

    Attributes
    ----------
    system : str
        Name of the system.
    run : str, Source or RunScores
        Open file, file name, name of a factor set's system, or scores.
    qrels : str, Source or None
        Qrels; None for scores, which need no qrels.
    label : str or None
        Name of the collection in tables and plots.
    """

    system: str
    run: Any
    qrels: reading.Source | str | None
    label: str | None = None


class Entries(NamedTuple):
    """Inputs of a comparison; the input files are open.

    Attributes
    ----------
    entries : list of Entry
    measures : list of Measure
    files : list of str
        Paths that output must not overwrite.
    """

    entries: list[Entry]
    measures: list[Measure]
    files: list[str]


class SourceCache(dict[str, reading.Source]):
    """Cache of files by name, which opens each file on its first use."""

    def __missing__(self, name: str) -> reading.Source:
        source = self[name] = open_input(name)
        return source


def read_entries(args: Namespace) -> Entries:
    """Find out which arguments are entries and which are measures.

    A file or folder of scores needs no name.  The systems keep the names that the scores state.  If
    the scores state no name, the name of the file is used.  Scores of the same model on several
    datasets form one entry.  If the baseline is a system of a set, it becomes an entry too.
    """
    sources = SourceCache()
    entries: list[Entry] = []
    texts: list[str] = []
    for text in args.inputs:
        if is_entry(text):
            entries += named_entries(text, sources)
        elif path_may_exist(text):
            entries += _entries_of_scores(text, None, None, sources)
        elif systems := [e for e in expand(text) if isinstance(e, str) and is_system_name(e)]:
            entries += map(_system_entry, systems)
        elif not is_measure(text) and (cut := _cut_behind_run(text)):
            entries.append(Entry(short_name(cut[0]), *cut))
        else:
            texts.append(text)
    entries = list(_one_a_model(entries))
    if args.baseline is not None and is_system_name(args.baseline):
        baseline = next((e for e in entries if e.run == args.baseline), None)
        if baseline is None:
            entries.append(baseline := _system_entry(args.baseline))
        args.baseline = baseline.system  # the baseline's name among the entries
    files = [name for e in entries for name in (e.run, e.qrels) if isinstance(name, str)]
    files += [*sources, *(text.rpartition("=")[2] for text in args.inputs)]  # archives too
    check_read_once([*(entry.run for entry in entries), *{entry.qrels for entry in entries}])

    def opened(name: Any) -> Any:
        """Open an existing file; return an ID or an unknown name unchanged."""
        exists = isinstance(name, str) and (name == reading.STANDARD_INPUT or path_may_exist(name))
        return sources[name] if exists else name

    entries = [e._replace(run=opened(e.run), qrels=opened(e.qrels)) for e in entries]
    custom = custom_measures(entry.run for entry in entries)
    return Entries(entries, requested_measures(args, texts, custom), files)


def _system_entry(name: str) -> Entry:
    """Make an entry for a system of a factor set, under its name in the set."""
    return Entry(name.partition("/")[2], name, None)


def is_entry(text: str) -> bool:
    """Check whether an argument is NAME=... and not a measure with ``=`` in parentheses."""
    return "=" in text.partition("(")[0] and not os.path.exists(text)


def named_entries(text: str, sources: SourceCache) -> list[Entry]:
    """Return the entries of NAME=RUN:QRELS, or of NAME=SCORES.

    SCORES is a score file, a folder or archive of score files, or a system of a factor set.  The
    function opens a file to find out whether it holds scores, and then keeps the open file in
    ``sources``.  In NAME@LABEL, LABEL is the collection's name.
    """
    named, _, given = text.partition("=")
    name, _, label = named.rpartition("@") if "@" in named else (named, "", None)
    if not name or label == "":
        advice = "in NAME@LABEL=..., LABEL names the collection" if label == "" else ENTRY_SYNTAX
        raise UsageError(f"cannot read {text!r}; {advice}")
    if given == reading.STANDARD_INPUT or reading.is_pipe(given) or is_system_name(given):
        return [Entry(name, given, None, label)]
    cuts = _cuts(given)
    # If the text cannot be RUN:QRELS but may be a path, open the path.  If that fails, the error
    # gives the reason.
    is_file = os.path.isfile(given) or (not cuts and path_may_exist(given))
    is_whole = os.path.isdir(given) or reading.is_archive(given)
    if is_whole or (is_file and holds_scores(sources[given])):
        return list(_entries_of_scores(given, name, label, sources))
    if not cuts:
        missing = given and not path_may_exist(given)
        no_qrels = f"missing qrels in {text!r}" if given else f"cannot read {text!r}"
        wrong = f"{given}: no such file" if missing else no_qrels
        raise unknown_system(given) or UsageError(f"{wrong}; {ENTRY_SYNTAX}")
    return [Entry(name, *(_cut_behind_run(given) or cuts[0]), label)]


def _cuts(text: str) -> list[tuple[str, str]]:
    """Return all ways to split RUN:QRELS, because file names can also contain colons."""
    colons = [i for i, c in enumerate(text) if c == ":" and 0 < i < len(text) - 1]
    return [(text[:i], text[i + 1 :]) for i in colons]


def _cut_behind_run(text: str) -> tuple[str, str] | None:
    """Split RUN:QRELS at the first colon that follows an existing file or system."""
    existing = (cut for cut in _cuts(text) if os.path.exists(cut[0]) or is_system_name(cut[0]))
    return next(existing, None)


def _entries_of_scores(
    place: str, name: str | None, label: str | None, sources: SourceCache
) -> Iterator[Entry]:
    """Yield the entries of a score file, or of all score files in a folder or an archive."""
    for file in expand(place):
        source = sources[file] if isinstance(file, str) else file
        if not holds_scores(source):
            raise UsageError(f"{source.name} is not a score file; {ENTRY_SYNTAX}")
        read = {} if is_model_meta(source) else read_scores(source)
        if name is not None and len(read) > 1:
            n = pluralize(len(read), "system")
            raise UsageError(f"{source.name} has {n}, which cannot all be named {name}")
        for system, scores in read.items():
            is_named = len(read) > 1 or scores.unit == "dataset"
            own_name = system if is_named else short_name(source.name)
            yield Entry(name or own_name, scores, None, label)


def _one_a_model(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the entries, with one entry for all scores of the same model on several datasets."""
    whole: dict[tuple[str, str | None], Entry] = {}
    for entry in entries:
        if not (isinstance(entry.run, RunScores) and entry.run.unit == "dataset"):
            yield entry
            continue
        key = entry.system, entry.label
        earlier = whole.get(key)
        whole[key] = entry._replace(run=earlier.run.joined(entry.run)) if earlier else entry
    yield from whole.values()
