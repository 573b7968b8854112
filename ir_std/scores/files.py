"""Scores in files: trec_eval's and ir_measures' output, tables, and MTEB's results.

The form is told by the content.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import IO, Any, TypeAlias

from ir_std.errors import InputError, UsageError, abbreviate
from ir_std.measures.names import find_measure, from_mteb
from ir_std.reading.sources import FileSource, Source, lines_of, read_pieces, unopened
from ir_std.scores.run_scores import SUMMARY, RunScores, ScoreEntry, collect_scores

File: TypeAlias = str | os.PathLike[str] | IO[Any] | Source
"""A path, an open file, or a source."""

TOPIC = (
    "topic",
    "topic_id",
    "query_id",
    "qid",
    "query",
    "q_id",
    "dataset",
    "data set",
    "task",
    "task_name",
)
RUN = ("run", "run_id", "runid", "run_name", "system", "model", "model_name", "name", "tag")
MEASURE = ("measure", "metric", "measure_name")
VALUE = ("value", "score")
"""What the columns of long tables are usually called."""

FORMS = (
    "trec_eval -q (measure topic value), ir_measures -q (topic measure value), a table with "
    "a header (topic,run,run,... or run,topic,measure,value) or MTEB's JSON"
)


def read_scores(file: File, measure: str | None = None) -> dict[str, RunScores]:
    """Read scores that were computed elsewhere.

    Parameters
    ----------
    file : str, path, open file or Source
        Output of ``trec_eval -q`` or of ``ir_measures -q`` (or ``ir_std -q``), as text or JSON
        lines; a table, parted by commas, tabs or semicolons, with columns run, topic, measure and
        value, or with a row a topic and a column a run or a measure; or a result of MTEB (JSON).
        ``.gz`` is unpacked.
    measure : str, optional
        The measure of a table with a column a run.

    Returns
    -------
    dict of str to RunScores
        By run.

    Raises
    ------
    InputError
        Naming file and line of what cannot be used: a value that is no number or beyond what its
        measure can be, a topic that comes twice, a mean that is not that of the topics.
    UsageError
        If ``measure`` is none, or is needed and not given.

    Examples
    --------
    >>> read = ir_std.read_scores("scores.txt")
    >>> read
    {'scores.txt': <RunScores of scores.txt: 50 topics, AP>}
    >>> scores = ir_std.standardize(read["scores.txt"], factors="trec8-adhoc")
    >>> round(scores.values[ir_std.sAP]["404"], 4)
    0.6627
    """
    source = unopened(file)
    name = source.name
    if measure is not None and find_measure(measure) is None:
        raise UsageError(f"--measure {measure!r} is no measure: write it as AP, map or nDCG@10")
    text = _text(source)
    if text.lstrip()[:1] in ("{", "["):
        read = _read_json(text, source)
    else:
        read = collect_scores(_cells(text, name, measure), name)
    return {run or _called(source): scores for run, scores in read.items()}


def _called(source: Source) -> str:
    return source.path.name if isinstance(source, FileSource) else source.name


def is_score_file(file: File) -> bool:
    """Whether a file holds scores, by its first line, and not a run or qrels.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    texts = (line.decode(errors="replace") for line in lines_of(unopened(file)))
    line = next(filter(_is_content, texts), "").strip()
    fields = line.split()
    return (
        line[:1] in ("{", "[")
        or _is_header(line)
        or len(fields) in (2, 3)
        or (len(fields) == 4 and _is_scored(fields[2], fields[3]))
    )


def _is_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _text(source: Source) -> str:
    try:
        return b"".join(read_pieces(source)).decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = wrong.object[: wrong.start].count(b"\n") + 1
        raise InputError.at(
            source.name,
            line,
            f"byte 0x{wrong.object[wrong.start]:02x} is not UTF-8",
            "save the file as UTF-8",
        ) from None


def _cells(text: str, file: str, measure: str | None) -> Iterator[ScoreEntry]:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if _is_content(line)]
    if not lines:
        raise InputError.at(file, None, "no lines", f"expected is {FORMS}")
    if _is_header(lines[0][1]):
        return _table(text, file, measure)
    return _columns(lines, file)


# --- lines of three or four columns ---------------------------------------------------------------


def _columns(lines: list[tuple[int, str]], file: str) -> Iterator[ScoreEntry]:
    """``measure topic value`` of trec_eval, ``[run] topic measure value`` of ir_measures."""
    split = [(number, line.split()) for number, line in lines]
    width = len(split[0][1])
    if width == 2 and find_measure(split[0][1][0]):
        raise InputError.at(file, split[0][0], "means alone", "list the topics with -q")
    if width not in (3, 4):
        raise InputError.at(file, split[0][0], f"{width} columns", f"expected is {FORMS}")
    theirs = width == 3 and _measures_in(split, 0) >= _measures_in(split, 1)
    for number, fields in split:
        if len(fields) != width:
            raise InputError.at(
                file, number, f"{len(fields)} columns", f"the first line has {width}"
            )
        run, (a, b, value) = ("" if width == 3 else fields[0]), fields[-3:]
        yield ScoreEntry(number, run, *((b, a) if theirs else (a, b)), value)


def _measures_in(split: Iterable[tuple[int, list[str]]], column: int) -> int:
    return sum(len(fields) == 3 and find_measure(fields[column]) is not None for _, fields in split)


def _is_scored(measure: str, value: str) -> bool:
    """Whether these are a measure and a score: a level in qrels has no point."""
    return bool(re.fullmatch(r"\d*\.\d+(?:[eE]-?\d+)?|nan", value)) and (
        find_measure(measure) is not None
    )


# --- tables with a header -------------------------------------------------------------------------


def _delimiter(line: str) -> str:
    return max("\t;,", key=line.count)


def _is_header(line: str) -> bool:
    names = [cell.strip().strip('"').lower() for cell in line.split(_delimiter(line))]
    return len(names) > 1 and (
        names[0] in TOPIC
        or (any(n in TOPIC for n in names) and any(n in (*MEASURE, *VALUE) for n in names))
    )


def _table(text: str, file: str, measure: str | None) -> Iterator[ScoreEntry]:
    delimiter = _delimiter(text.lstrip().split("\n", 1)[0])
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[int, list[str]]] = []
    try:
        rows.extend(
            (reader.line_num, [cell.strip() for cell in row])
            for row in reader
            if any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#")
        )
    except csv.Error as broken:
        raise InputError.at(
            file, reader.line_num, f"no table ({broken})", "quote cells that hold the delimiter"
        ) from None
    header = rows[0][1]
    for line, row in rows[1:]:
        if len(row) != len(header):
            comma = delimiter == "," and len(row) > len(header)
            raise InputError.at(
                file,
                line,
                f"{len(row)} columns",
                f"the header has {len(header)}" + "; write decimals with a point: 0.1234" * comma,
            )
    names = [name.lower() for name in header]
    if any(name in MEASURE for name in names):
        return _long(rows, names, file)
    return _wide(rows, header, names, file, measure)


def _long(rows: list[tuple[int, list[str]]], names: list[str], file: str) -> Iterator[ScoreEntry]:
    topic, measure, value = (
        _one(names, wanted, rows[0][0], file) for wanted in (TOPIC, MEASURE, VALUE)
    )
    run = next((i for i, name in enumerate(names) if name in RUN), None)
    _one_collection(rows, names, topic, file)
    for line, row in rows[1:]:
        yield ScoreEntry(
            line, row[run] if run is not None else "", row[topic], row[measure], row[value]
        )


def _one(names: list[str], wanted: tuple[str, ...], line: int, file: str) -> int:
    found = next((i for name in wanted for i, n in enumerate(names) if n == name), None)
    if found is None:
        raise InputError.at(
            file,
            line,
            f"columns {', '.join(names)}",
            f"one called {' or '.join(wanted[:3])} is expected",
        )
    return found


def _one_collection(
    rows: list[tuple[int, list[str]]], names: list[str], topic: int, file: str
) -> None:
    """A table of several collections would mix topics that have the same numbers."""
    for i, name in enumerate(names):
        if name in ("collection", "dataset", "data set") and i != topic:
            several = dict.fromkeys(row[i] for _, row in rows[1:])
            if len(several) > 1:
                raise InputError.at(
                    file,
                    None,
                    f"{len(several)} collections ({abbreviate(several)})",
                    "give each collection a file of its own",
                )


def _wide(
    rows: list[tuple[int, list[str]]],
    header: list[str],
    names: list[str],
    file: str,
    measure: str | None,
) -> Iterator[ScoreEntry]:
    topic = _one(names, TOPIC, rows[0][0], file)
    others = [i for i in range(len(header)) if i != topic]
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise InputError.at(file, rows[0][0], f"column {twice[0]!r} again", "one column each")
    are_measures = all(find_measure(header[i]) for i in others)
    if are_measures == (measure is not None):
        raise UsageError(
            f"{file}: its columns are measures: leave out --measure"
            if are_measures
            else f"{file}: its columns are runs ({abbreviate(header[i] for i in others)}): "
            "name the measure with --measure"
        )
    for line, row in rows[1:]:
        for i in others:
            run, what = ("", header[i]) if are_measures else (header[i], str(measure))
            yield ScoreEntry(line, run, row[topic], what, row[i])


# --- JSON ---------------------------------------------------------------------------------------


def _read_json(text: str, source: Source) -> dict[str, RunScores]:
    """MTEB's result of one task, or lines of ``ir_measures -o jsonl``."""
    file = source.name
    try:
        found = json.loads(text, parse_float=str, parse_int=str)
    except json.JSONDecodeError as broken:
        if text.count("\n") and _first_is_object(text):
            return collect_scores(_json_lines(text, file), file)
        raise InputError.at(
            file, broken.lineno, f"no JSON ({broken.msg})", "a result of MTEB is one JSON object"
        ) from None
    except RecursionError:
        raise InputError.at(
            file, None, "nested too deeply", "a result of MTEB is one JSON object"
        ) from None
    if isinstance(found, dict) and "measure" in found:
        return collect_scores(_json_lines(text, file), file)
    if not isinstance(found, dict) or not _is_mteb(found):
        raise InputError.at(
            file, None, "no task_name with scores", "a result of MTEB has both, by split"
        )
    return {_model(source): _mteb(found, file)}


def _first_is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text.lstrip().split("\n", 1)[0]), dict)
    except json.JSONDecodeError:
        return False


def _json_lines(text: str, file: str) -> Iterator[ScoreEntry]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, parse_float=str, parse_int=str)
            run, topic, measure = (row.get("run", ""), row.get("query_id", SUMMARY), row["measure"])
            value = row["value"]
        except (json.JSONDecodeError, RecursionError, AttributeError, KeyError):
            raise InputError.at(
                file,
                number,
                "no score",
                'a line is {"query_id": ..., "measure": ..., "value": ...}',
            ) from None
        yield ScoreEntry(number, str(run), str(topic), str(measure), str(value))


def is_model_meta(file: File) -> bool:
    """Whether a file is what MTEB writes beside a model's results."""
    return _called(unopened(file)) == "model_meta.json"


def _is_mteb(found: dict[str, Any]) -> bool:
    return ("task_name" in found and isinstance(found.get("scores"), dict)) or (
        "mteb_dataset_name" in found
    )


def _mteb(found: dict[str, Any], file: str) -> RunScores:
    """The scores of one task: of the split and the subsets that are data sets here."""
    from ir_std.scores.mteb import mteb_dataset  # only such files need it

    task = str(found.get("task_name") or found.get("mteb_dataset_name"))
    cells: list[ScoreEntry] = []
    seen = []
    for split, subset, scores in _splits(found):
        seen.append(f"{split} {subset}".removesuffix(" default"))
        dataset = mteb_dataset(task, split, subset)
        if dataset:
            cells += [
                ScoreEntry(None, "", dataset, name, str(value))
                for name, value in scores.items()
                if from_mteb(name)
            ]
    if not cells:
        raise InputError.at(
            file,
            None,
            f"task {task} ({abbreviate(seen) or 'no split'})",
            "the retrieval tasks of BEIR (test, of MSMARCO dev) and MIRACL (dev) "
            "have factors: leave out others",
        )
    return collect_scores(cells, file, "collection")[""]


def _splits(found: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Splits and subsets with their scores; versions before 1.11 had them side by side."""
    if isinstance(found.get("scores"), dict):
        for split, subsets in found["scores"].items():
            for scores in subsets if isinstance(subsets, list) else ():
                if isinstance(scores, dict):
                    yield split, str(scores.get("hf_subset", "default")), scores
        return
    for split, scores in found.items():
        if isinstance(scores, dict):
            yield split, "default", scores


def _model(source: Source) -> str:
    """The model whose results a folder holds: MTEB writes ``MODEL/REVISION/TASK.json``."""
    if not isinstance(source, FileSource):
        return source.name
    folder = source.path.absolute().parent
    try:
        meta = json.loads((folder / "model_meta.json").read_text(encoding="utf-8"))
        name = meta.get("name")
    except (OSError, ValueError, RecursionError, AttributeError):
        name = None
    if name:
        return str(name)
    revision = re.fullmatch(r"[0-9a-f]{40}|no_revision_available|external|\d", folder.name)
    return (folder.parent if revision else folder).name.replace("__", "/")
