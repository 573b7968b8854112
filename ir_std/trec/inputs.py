"""Runs and qrels in whatever form a user has them, as :mod:`ir_std.trec.ranking` wants them.

Dicts of dicts, DataFrames, iterables of named tuples (as ir_measures takes them), files, and
for qrels ids of ir_datasets.  Nothing that is given is modified.
"""

from __future__ import annotations

import logging
import operator
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise
from operator import attrgetter, ne
from pathlib import Path
from typing import Any

import numpy as np

from ir_std.errors import InputError, UsageError, few
from ir_std.trec._ids import from_strings
from ir_std.trec.files import read_qrels, read_run
from ir_std.trec.naming import name_runs
from ir_std.trec.runs import ArrayRun, Qrels, Run, as_scores
from ir_std.trec.score_files import holds_scores, is_model_meta, read_scores
from ir_std.trec.scores import RunScores, counted_topics


def as_run(run: Any) -> Run:
    """A run in any form, in memory.

    Parameters
    ----------
    run : Run, str, path, dict, DataFrame or iterable
        A file (``str`` or path); ``{topic: {document: score}}``; a DataFrame with columns
        query_id, doc_id, score; or an iterable of objects with these attributes.

    Raises
    ------
    InputError
        If it is none of these, an id is no string, a score is no finite number, or a document
        occurs twice in a topic.
    """
    if isinstance(run, Run):
        return run
    if isinstance(run, Iterator):
        run = _listed(run)
    if isinstance(run, (str, os.PathLike)):
        return read_run(run)
    if isinstance(run, Mapping):
        _check_ids(((topic, docs) for topic, docs in run.items()), "run")
        made = Run(run)
    else:
        made = _table_run(*_columns(run, ("query_id", "doc_id", "score"), "run"))
    made.given = run
    return made


def as_scored(run: Any) -> Run | RunScores:
    """A run in any form that :func:`as_run` takes, or scores of one that are known already.

    Raises
    ------
    InputError
        As :func:`as_run` and :func:`read_scores`; or if a file holds the scores of several runs.
    """
    if isinstance(run, RunScores):
        return run
    if not isinstance(run, (str, os.PathLike)) or not holds_scores(run):
        return as_run(run)
    read = read_scores(run)
    if len(read) > 1:
        raise InputError.at(run, None, f"scores of {len(read)} runs ({few(read)})",
                            "read them with read_scores, and give one")
    return next(iter(read.values()))


def runs_by_name(runs: Any, measure: str | None = None) -> dict[str, Any]:
    """:func:`name_runs`, with files of scores read: one may hold several runs, or a part of one.

    Parameters
    ----------
    runs
        As for :func:`name_runs`.
    measure : str, optional
        Of tables with a column a run, as for :func:`read_scores`.

    Raises
    ------
    InputError
        If a file of scores cannot be used.
    UsageError
        If two runs have the same name.
    """
    named: dict[str, Any] = {}
    for name, run in name_runs(runs).items():
        if not isinstance(run, (str, os.PathLike)) or not holds_scores(run):
            named[name] = run
        elif not is_model_meta(run):
            _add_scores(named, name, read_scores(run, measure))
    if not named:
        raise UsageError("no scores: a model_meta.json says only whose results are beside it")
    return named


def _add_scores(named: dict[str, Any], file: str, read: dict[str, RunScores]) -> None:
    for name, scores in read.items():
        known = named.get(name)
        if scores.unit == "collection" and isinstance(known, RunScores):
            named[name] = known.joined(scores)  # MTEB writes a file a data set
        elif known is not None:
            raise UsageError(f"two runs are called {name}: the second is in {file}")
        else:
            named[name if len(read) > 1 or scores.unit == "collection" else file] = scores


def judgments_behind(runs: Iterable[Any], qrels: Any) -> Qrels:
    """The qrels; where none are given, what scores tell of them.

    Raises
    ------
    UsageError
        If there are none and not all runs are scores.
    """
    if qrels is not None:
        return as_qrels(qrels)
    scores = [run for run in runs if isinstance(run, RunScores)]
    others = sum(1 for run in runs) - len(scores)
    if others or not scores:
        raise UsageError("no qrels: without them only scores that were computed elsewhere can be "
                         "used, no runs")
    return counted_topics(scores)


def _listed(rows: Iterator[Any]) -> Any:
    """Rows as a list, or a path that came letter by letter.

    ir_measures' pipeline, which the methods of its measures call, passes any input on as an
    iterator, a path too.
    """
    listed = list(rows)
    if listed and all(isinstance(row, str) for row in listed):
        return "".join(listed)
    return listed


def _table_run(topics: list[Any], docs: list[Any], scores: list[Any]) -> Run:
    cuts = _cuts(topics)
    _check_ids(((topics[a], docs[a:a + 1]) for a in cuts[:-1]), "run")
    try:
        ids = from_strings(docs)
    except (TypeError, ValueError) as wrong:
        raise InputError.at("run", None, f"a document id cannot be used ({wrong})",
                            "ids are strings of at least one character") from None
    segments = [(topics[a], b - a) for a, b in pairwise(cuts)]
    return ArrayRun(segments, ids, as_scores(scores, len(scores), "run"), "run")


def _cuts(topics: list[Any]) -> list[int]:
    """Where each stretch of the same topic starts, and the end."""
    if not topics:
        return [0]
    changes = np.fromiter(map(ne, topics, islice(topics, 1, None)), bool, len(topics) - 1)
    return [0, *(np.flatnonzero(changes) + 1).tolist(), len(topics)]


def as_qrels(qrels: Any) -> Qrels:
    """Qrels in any form, in memory.

    Parameters
    ----------
    qrels : Qrels, str, path, dict, DataFrame or iterable
        A file; the id of an ir_datasets dataset; ``{topic: {document: level}}``; a DataFrame
        with columns query_id, doc_id, relevance; or an iterable of objects with these.

    Raises
    ------
    InputError
        If it is none of these, an id is no string, or a level is no whole number.
    """
    if isinstance(qrels, Qrels):
        return qrels
    if isinstance(qrels, Iterator):
        qrels = _listed(qrels)
    if isinstance(qrels, str) and not os.path.exists(qrels) and not _looks_like_file(qrels):
        return dataset_qrels(qrels)
    if isinstance(qrels, (str, os.PathLike)):
        return read_qrels(qrels)
    if isinstance(qrels, Mapping):
        _check_ids(qrels.items(), "qrels")
        judged = {topic: _levels(topic, docs, docs.values())
                  for topic, docs in qrels.items()}
    else:
        judged = {}
        columns = _columns(qrels, ("query_id", "doc_id", "relevance"), "qrels")
        for topic, docs, levels in _by_topic(columns, "qrels"):
            judged.setdefault(topic, {}).update(_levels(topic, docs, levels))
    made = Qrels(judged)
    made.given = qrels
    return made


def dataset_qrels(name: str) -> Qrels:
    """The qrels of an ir_datasets dataset.

    Raises
    ------
    InputError
        If there is no such dataset, it has no qrels, or they cannot be downloaded.
    """
    import ir_datasets

    if not is_dataset(name):
        raise InputError.at(name, None, "neither a file nor an ir_datasets id",
                            "name a qrels file, or an id such as disks45/nocr/trec8")
    dataset = ir_datasets.load(name)
    if not dataset.has_qrels():
        raise InputError.at(name, None, "this ir_datasets dataset has no qrels",
                            "name one of its parts that has")
    log = logging.getLogger("ir_datasets")
    log.addFilter(_no_download_error)
    try:
        rows = list(dataset.qrels_iter())
    except (OSError, RuntimeError) as failed:
        reason = failed.args[0] if failed.args else type(failed).__name__
        raise InputError.at(name, None, f"ir_datasets cannot get the qrels ({reason})",
                            "check the network, or name a qrels file") from None
    finally:
        log.removeFilter(_no_download_error)
    found = as_qrels(rows)
    found.name = found.dataset = name
    return found


def _no_download_error(record: logging.LogRecord) -> bool:
    """Keep ir_datasets from logging each attempt: the error says it once."""
    return "download" not in record.getMessage().lower()


def is_dataset(name: str) -> bool:
    """Whether ir_datasets knows a dataset of that id; nothing is downloaded."""
    import ir_datasets

    try:
        ir_datasets.load(name)
    except KeyError:
        return False
    return True


def _looks_like_file(name: str) -> bool:
    return Path(name).suffix in {".txt", ".gz", ".qrels", ".qrel", ".tsv"} or name.startswith(
        (".", "/", "~"))


def _columns(table: Any, names: tuple[str, ...], kind: str) -> list[list[Any]]:
    """The named columns of a DataFrame or of an iterable of objects, as lists."""
    if hasattr(table, "itertuples"):
        missing = [n for n in names if n not in table.columns]
        if missing:
            raise InputError.at(kind, None, f"DataFrame without {', '.join(missing)}",
                                f"columns {', '.join(names)} are expected, found are "
                                f"{', '.join(map(str, table.columns))}")
        return [table[n].tolist() for n in names]
    if not isinstance(table, Iterable):
        raise _unsupported(table, names, kind)
    rows = list(table)
    if not rows:
        return [[] for _ in names]
    try:
        return [list(map(attrgetter(n), rows)) for n in names]
    except AttributeError:
        raise _unsupported(rows[0], names, kind) from None


def _unsupported(found: object, names: tuple[str, ...], kind: str) -> InputError:
    return InputError.at(
        kind, None, f"cannot use {type(found).__name__}",
        f"give a dict of dicts, a DataFrame or named tuples with {', '.join(names)}, or a file")


def _by_topic(columns: list[list[Any]],
              kind: str) -> Iterator[tuple[str, list[str], list[Any]]]:
    """Split columns (topic, document, value) where the topic changes."""
    topics, docs, values = columns
    cuts = _cuts(topics)
    _check_ids(((topics[a], docs[a:a + 1]) for a in cuts[:-1]), kind)
    for a, b in pairwise(cuts):
        yield topics[a], docs[a:b], values[a:b]


def _check_ids(topics: Iterable[tuple[Any, Iterable[Any]]], kind: str) -> None:
    """Ids must be strings; of each topic the first document is looked at."""
    for topic, docs in topics:
        if not isinstance(topic, str):
            raise _not_a_string(kind, "topic id", topic)
        for doc in islice(docs, 1):
            if not isinstance(doc, str):
                raise _not_a_string(kind, f"document id of topic {topic}", doc)


def _not_a_string(kind: str, what: str, found: object) -> InputError:
    return InputError.at(kind, None, f"{what} is {found!r} ({type(found).__name__})",
                         "ids are strings; of a DataFrame use df.astype({'query_id': str, "
                         "'doc_id': str})")


def _levels(topic: str, docs: Iterable[str], levels: Iterable[Any]) -> dict[str, int]:
    """Level by document.

    Raises
    ------
    InputError
        If one is no whole number.
    """
    judged: dict[str, int] = {}
    for doc, level in zip(docs, levels, strict=True):
        try:
            judged[doc] = operator.index(level)
        except TypeError:
            if not isinstance(level, float) or not level.is_integer():
                raise InputError.at(
                    "qrels", None, f"topic {topic}, document {doc!r} has relevance {level!r}",
                    "a whole number is expected") from None
            judged[doc] = int(level)
    return judged
