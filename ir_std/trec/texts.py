"""Texts of documents and queries by their ids: from a file, a dict, or ir_datasets."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ir_std.errors import InputError, abbreviate
from ir_std.reading import Source, content_lines, source_of
from ir_std.trec.inputs import ir_dataset, is_dataset

IDS = ("_id", "id", "doc_id", "docid", "docno", "query_id", "qid")
"""What a record of JSON may call its id."""
TEXTS = ("title", "text", "contents", "body", "query", "segment")
"""What it may call its texts, in the order in which they are joined."""


def read_texts(given: Any, wanted: Collection[str], what: str) -> dict[str, str]:
    """The texts of some documents or queries, each in one line.

    Parameters
    ----------
    given : mapping, str, path, open file or Source
        ``{id: text}``; the id of an ir_datasets dataset, which may download what is not there yet;
        or a file of lines: an id, a tab and the text, or further columns, a title and the text; or
        of JSON records with an ``_id`` and ``text``, as BEIR has them.
    wanted : collection of str
        The ids; nothing else is kept in memory.
    what : {'docs', 'queries'}

    Raises
    ------
    InputError
        If ``given`` cannot be read, or has none of the ids.
    """
    wanted = set(wanted)
    if isinstance(given, Mapping):
        name, pairs = what, iter(given.items())
    elif isinstance(given, str) and not os.path.exists(given) and is_dataset(given):
        name, pairs = given, _of_dataset(given, wanted, what)
    else:
        source = source_of(given)
        name, pairs = source.name, _of_lines(source)
    texts: dict[str, str] = {}
    first = ""
    for number, (key, text) in enumerate(pairs):
        first = first if number else str(key)
        if key in wanted:
            texts[key] = " ".join(str(text).split())
            if len(texts) == len(wanted):
                break
    if wanted and not texts:
        raise InputError.at(
            name,
            f"no text of any of {len(wanted)} {what} ({abbreviate(sorted(wanted))}); "
            + (f"ids here such as {first}" if first else "it is empty"),
            f"give the {what} of the same collection: lines of an id, a tab and a text",
        )
    return texts


def _of_lines(source: Source) -> Iterator[tuple[str, str]]:
    for number, line in content_lines(source):
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise InputError.at(
                source.name, "bytes that are not UTF-8", "write it in UTF-8", line=number
            ) from None
        yield (
            _of_record(source, number, text)
            if text.startswith("{")
            else _of_columns(source, number, text)
        )


def _of_columns(source: Source, number: int, line: str) -> tuple[str, str]:
    key, tab, text = line.partition("\t")
    if not tab:
        raise InputError.at(
            source.name,
            f"no tab in {line[:40]!r}",
            "a line is an id, a tab and a text, or a JSON record with _id and text",
            line=number,
        )
    return key.strip(), text.replace("\t", " | ")


def _of_record(source: Source, number: int, line: str) -> tuple[str, str]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError.at(
            source.name, "no JSON record", "a line is one record with _id and text", line=number
        ) from None
    key = next((str(record[name]) for name in IDS if name in record), None)
    if key is None:
        raise InputError.at(
            source.name, "a record without an id", f"its id is one of {', '.join(IDS)}", line=number
        )
    return key, " | ".join(str(record[name]) for name in TEXTS if record.get(name))


def _of_dataset(name: str, wanted: Collection[str], what: str) -> Iterator[tuple[str, str]]:
    """What ir_datasets has: of documents only those asked for are looked up."""
    with ir_dataset(name, what) as dataset:
        entries = (
            dataset.docs_store().get_many(wanted).values()
            if what == "docs"
            else dataset.queries_iter()
        )
        for entry in entries:
            yield entry[0], entry.default_text()  # the id is the first field of all of them
