"""Arguments that name systems on collections: NAME=RUN:QRELS, files of scores, folders of these."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from ir_std._system.files import may_be_there
from ir_std.cli.inputs import OpenedOnce, as_parsed, check_read_once, is_measure, unknown_argument
from ir_std.cli.trec_eval import requested_measures
from ir_std.errors import UsageError
from ir_std.evaluation.systems import find_system, names_system
from ir_std.reading import STANDARD_INPUT, Source, files_below, is_pipe
from ir_std.scores.files import is_score_file, read_scores
from ir_std.scores.mteb import is_model_meta
from ir_std.scores.run_scores import RunScores

HOW = "NAME=RUN:QRELS, or NAME=SCORES"
"""How an entry is written."""


class Entry(NamedTuple):
    """A system on a collection.

    Attributes
    ----------
    system : str
    run : str, Source or RunScores
        A file, opened or by its name, the name of a set's system, or scores.
    qrels : str, Source or None
        None where scores need none.
    label : str or None
        What the collection is to be called.
    """

    system: str
    run: Any
    qrels: Source | str | None
    label: str | None = None

    @property
    def files(self) -> list[str]:
        """What it names, for checks that nothing of it is replaced."""
        return [each for each in (self.run, self.qrels) if isinstance(each, str)]


class EntryArguments(NamedTuple):
    """What the arguments of a comparison name: entries, and texts of measures."""

    entries: list[Entry]
    measures: list[str]


def sort_entries(arguments: Iterable[str], sources: OpenedOnce) -> EntryArguments:
    """Sort arguments into entries and measures.

    A file of scores, or a folder of such, needs no name: systems are called as the scores call
    them, else as the file.  Scores of the same model on several data sets are one entry.
    """
    entries: list[Entry] = []
    measures: list[str] = []
    for text in arguments:
        if is_entry(text):
            entries += named_entries(text, sources)
        elif may_be_there(text):
            entries += entries_of_scores(text, None, None, sources)
        elif names_system(text):
            entries.append(system_entry(text))
        elif cut := _cut_behind_run(text):
            entries.append(Entry(os.path.basename(cut[0]), *cut))
        else:
            find_system(text)  # says which systems there are, if it names a set
            measures.append(text)
    return EntryArguments(list(_one_a_model(entries)), measures)


def system_entry(name: str) -> Entry:
    """A system of a set, called as the set calls it."""
    return Entry(name.rpartition("/")[2], name, None)


def is_entry(text: str) -> bool:
    """Whether an argument is NAME=RUN:QRELS; a measure has ``=`` only inside parentheses."""
    return "=" in text.partition("(")[0] and not os.path.exists(text)


def named_entries(text: str, sources: OpenedOnce) -> list[Entry]:
    """The entries of NAME=RUN:QRELS, or of NAME=SCORES.

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
        return entries_of_scores(given, name, label, sources)
    if not cuts:
        raise _unreadable(text, given)
    return [Entry(name, *(_cut_behind_run(given) or cuts[0]), label)]


def _name_and_label(text: str) -> tuple[str, str | None, str]:
    """The parts of NAME=... or NAME@LABEL=..., and what stands behind."""
    named, _, given = text.partition("=")
    name, at, label = named.rpartition("@") if "@" in named else (named, "", None)
    if at and not label:
        raise UsageError(f"cannot read {text!r}: NAME@LABEL=... names the collection")
    if not name:
        raise UsageError(f"cannot read {text!r}: write {HOW}")
    return name, label, given


def _cuts(text: str) -> list[tuple[str, str]]:
    """What RUN:QRELS may be: its files may have colons in their names too."""
    colons = [i for i, c in enumerate(text) if c == ":" and 0 < i < len(text) - 1]
    return [(text[:i], text[i + 1 :]) for i in colons]


def _cut_behind_run(text: str) -> tuple[str, str] | None:
    """RUN and QRELS, cut at the first colon behind a file, or a system, that is there."""
    there = (cut for cut in _cuts(text) if os.path.exists(cut[0]) or names_system(cut[0]))
    return next(there, None)


def _unreadable(text: str, given: str) -> UsageError:
    """What is wrong with NAME=..., which names neither scores nor a run with qrels."""
    find_system(given)  # says which systems there are, if it names a set
    missing = given and ":" not in given and not may_be_there(given)
    wrong = f"{given}: no such file" if missing else f"cannot read {text!r}"
    return UsageError(f"{wrong}: write {HOW}")


def entries_of_scores(
    place: str, name: str | None, label: str | None, sources: OpenedOnce
) -> list[Entry]:
    """The entries of a file of scores, or of all files below a folder."""
    files = map(str, files_below(Path(place))) if os.path.isdir(place) else [place]
    return [
        Entry(system, scores, None, label)
        for file in files
        for system, scores in _read(file, name, sources[file])
    ]


def _read(file: str, name: str | None, source: Source) -> Iterator[tuple[str, RunScores]]:
    if not is_score_file(source):
        raise UsageError(f"{file} holds no scores: write {HOW}")
    if is_model_meta(source):
        return
    read = read_scores(source)
    if name is not None and len(read) > 1:
        raise UsageError(f"{file} has {len(read)} systems, which cannot all be called {name}")
    for system, scores in read.items():
        is_named = len(read) > 1 or scores.unit == "collection"
        yield name or (system if is_named else os.path.basename(file)), scores


def _one_a_model(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The entries, with a model's scores on several data sets as one."""
    whole: dict[tuple[str, str | None], Entry] = {}
    for entry in entries:
        if not (isinstance(entry.run, RunScores) and entry.run.unit == "collection"):
            yield entry
            continue
        key = entry.system, entry.label
        known = whole.get(key)
        whole[key] = entry._replace(run=known.run.joined(entry.run)) if known else entry
    yield from whole.values()


def open_entries(entries: list[Entry], sources: OpenedOnce) -> list[Entry]:
    """The entries with their files opened; ir_datasets ids, and what is not there, as they are."""
    names = [run for _, run, *_ in entries if isinstance(run, str)]
    check_read_once([*names, *{entry.qrels for entry in entries if isinstance(entry.qrels, str)}])

    def opened(name: Any) -> Any:
        there = isinstance(name, str) and (name == STANDARD_INPUT or may_be_there(name))
        return sources[name] if there else name

    return [entry._replace(run=opened(entry.run), qrels=opened(entry.qrels)) for entry in entries]


def measures_of_entries(args: Namespace, texts: list[str], entries: list[Entry]) -> list[Measure]:
    """The measures that are asked for, those that scores alone have among them."""
    runs = [entry.run for entry in entries]
    args.measures = as_parsed(args.measures, runs)
    parsed = as_parsed(texts, runs)
    for text in parsed:
        if not is_measure(text):
            raise unknown_argument(text)
    return requested_measures(args, parsed)
