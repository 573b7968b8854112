"""Arguments that name systems on collections: NAME=RUN:QRELS, files of scores, folders of these."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from ir_std._system.files import may_be_there
from ir_std.cli.inputs import (
    check_read_once,
    custom_measures,
    is_measure,
    open_input,
    requested_measures,
)
from ir_std.errors import UsageError
from ir_std.evaluation.inputs import expand
from ir_std.evaluation.systems import find_system, names_system
from ir_std.reading import STANDARD_INPUT, Source, files_below, is_pipe
from ir_std.scores.files import is_score_file, read_scores
from ir_std.scores.inputs import short_name
from ir_std.scores.mteb import is_model_meta
from ir_std.scores.run_scores import RunScores

ENTRY_SYNTAX = "write NAME=RUN:QRELS, or NAME=SCORES"


class Entry(NamedTuple):
    """A system on a collection, as :func:`ir_std.compare` takes it.

    Attributes
    ----------
    system : str
    run : str, Source or RunScores
        A file, opened or by its name, the name of a set's system, or scores.
    qrels : str, Source or None
        None where scores need none.
    label : str or None
        The name of the collection.
    """

    system: str
    run: Any
    qrels: Source | str | None
    label: str | None = None


class Entries(NamedTuple):
    """What the arguments of a comparison name, with files opened.

    Attributes
    ----------
    entries : list of Entry
    measures : list of Measure
    files : list of str
        Paths that must not be replaced.
    """

    entries: list[Entry]
    measures: list[Measure]
    files: list[str]


class SourceCache(dict[str, Source]):
    """Files by name, opened when they are first asked for."""

    def __missing__(self, name: str) -> Source:
        source = self[name] = open_input(name)
        return source


def read_entries(args: Namespace) -> Entries:
    """Sort arguments into entries and measures.

    A file of scores, or a folder of such, needs no name: systems are called as the scores call
    them, else as the file.  Scores of the same model on several data sets are one entry.
    """
    sources = SourceCache()
    entries: list[Entry] = []
    texts: list[str] = []
    for text in args.inputs:
        if is_entry(text):
            entries += named_entries(text, sources)
        elif may_be_there(text):
            entries += _entries_of_scores(text, None, None, sources)
        elif systems := [e for e in expand(text) if isinstance(e, str) and names_system(e)]:
            entries += map(system_entry, systems)
        elif not is_measure(text) and (cut := _cut_behind_run(text)):
            entries.append(Entry(short_name(cut[0]), *cut))
        else:
            texts.append(text)
    entries = list(_one_a_model(entries))
    files = [name for e in entries for name in (e.run, e.qrels) if isinstance(name, str)]
    files += sources
    opened = list(_opened(entries, sources))
    custom = custom_measures(entry.run for entry in opened)
    return Entries(opened, requested_measures(args, texts, custom), files)


def system_entry(name: str) -> Entry:
    """Return a system of a set as an entry, called as the set calls it."""
    return Entry(name.rpartition("/")[2], name, None)


def is_entry(text: str) -> bool:
    """Check whether an argument is NAME=...; a measure has ``=`` only inside parentheses."""
    return "=" in text.partition("(")[0] and not os.path.exists(text)


def named_entries(text: str, sources: SourceCache) -> list[Entry]:
    """Return the entries of NAME=RUN:QRELS, or of NAME=SCORES.

    SCORES is a file, which is opened to see that and kept in ``sources``, a folder of such, or a
    system of a set.  NAME@LABEL says what the collection is to be called.
    """
    name, label, given = _name_and_label(text)
    if given == STANDARD_INPUT or is_pipe(given) or names_system(given):
        return [Entry(name, given, None, label)]
    cuts = _cuts(given)
    # What cannot be RUN:QRELS is opened if it may be there, which says why it cannot be read.
    is_file = os.path.isfile(given) or (not cuts and may_be_there(given))
    if os.path.isdir(given) or (is_file and is_score_file(sources[given])):
        return list(_entries_of_scores(given, name, label, sources))
    if not cuts:
        find_system(given)  # says which systems there are, if it names a set
        missing = given and not may_be_there(given)
        wrong = f"{given}: no such file" if missing else f"cannot read {text!r}"
        raise UsageError(f"{wrong}; {ENTRY_SYNTAX}")
    return [Entry(name, *(_cut_behind_run(given) or cuts[0]), label)]


def _name_and_label(text: str) -> tuple[str, str | None, str]:
    """Return the parts of NAME=... or NAME@LABEL=..., and what stands behind."""
    named, _, given = text.partition("=")
    name, at, label = named.rpartition("@") if "@" in named else (named, "", None)
    if at and not label:
        raise UsageError(f"cannot read {text!r}; NAME@LABEL=... names the collection")
    if not name:
        raise UsageError(f"cannot read {text!r}; {ENTRY_SYNTAX}")
    return name, label, given


def _cuts(text: str) -> list[tuple[str, str]]:
    """Return what RUN:QRELS may be: its files may have colons in their names too."""
    colons = [i for i, c in enumerate(text) if c == ":" and 0 < i < len(text) - 1]
    return [(text[:i], text[i + 1 :]) for i in colons]


def _cut_behind_run(text: str) -> tuple[str, str] | None:
    """Return RUN and QRELS, cut at the first colon behind a file or a system that exists."""
    existing = (cut for cut in _cuts(text) if os.path.exists(cut[0]) or names_system(cut[0]))
    return next(existing, None)


def _entries_of_scores(
    place: str, name: str | None, label: str | None, sources: SourceCache
) -> Iterator[Entry]:
    """Yield the entries of a file of scores, or of all files below a folder."""
    files = map(str, files_below(Path(place))) if os.path.isdir(place) else [place]
    for file in files:
        source = sources[file]
        if not is_score_file(source):
            raise UsageError(f"{file} is not a score file; {ENTRY_SYNTAX}")
        read = {} if is_model_meta(source) else read_scores(source)
        if name is not None and len(read) > 1:
            raise UsageError(f"{file} has {len(read)} systems, which cannot all be named {name}")
        for system, scores in read.items():
            is_named = len(read) > 1 or scores.unit == "collection"
            yield Entry(name or (system if is_named else short_name(file)), scores, None, label)


def _one_a_model(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the entries, with a model's scores on several data sets as one."""
    whole: dict[tuple[str, str | None], Entry] = {}
    for entry in entries:
        if not (isinstance(entry.run, RunScores) and entry.run.unit == "collection"):
            yield entry
            continue
        key = entry.system, entry.label
        known = whole.get(key)
        whole[key] = entry._replace(run=known.run.joined(entry.run)) if known else entry
    yield from whole.values()


def _opened(entries: list[Entry], sources: SourceCache) -> Iterator[Entry]:
    """Yield the entries with their files opened; IDs, and what does not exist, as they are."""
    names = [entry.run for entry in entries if isinstance(entry.run, str)]
    check_read_once([*names, *{entry.qrels for entry in entries if isinstance(entry.qrels, str)}])

    def opened(name: Any) -> Any:
        exists = isinstance(name, str) and (name == STANDARD_INPUT or may_be_there(name))
        return sources[name] if exists else name

    for entry in entries:
        yield entry._replace(run=opened(entry.run), qrels=opened(entry.qrels))
