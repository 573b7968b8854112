"""Recognize and read scores that other programs computed."""

import os
import re
from collections.abc import Mapping
from typing import IO, Any, TypeAlias

from ir_std.errors import UsageError, did_you_mean
from ir_std.measures.names import find_measure, only_in_trec_eval, suggest_measures
from ir_std.reading import Source, source_of
from ir_std.scores.run_scores import RunScores
from ir_std.trec import is_file
from ir_std.trec.frames import is_frame

File: TypeAlias = str | os.PathLike[str] | IO[Any] | Source
"""A path, an open file, or a source."""
JSON_STARTS = ("{", "[")


def read_scores(scores: Any, measure: str | None = None) -> dict[str, RunScores]:
    """Read scores that another program computed.

    Parameters
    ----------
    scores : str, path, open file, Source, DataFrame, list or dict
        A file, which may be packed, with the output of ``trec_eval -q`` or of ``ir_measures -q``
        (text or JSON lines), the output of ``ir_std`` (text, JSON lines or CSV), a result of MTEB
        (JSON), or a table.

        The cells of a table are separated by commas, tabs or semicolons.  A table either has one
        row per score, with columns run, topic, measure and value, or it has one column per measure,
        with one row per topic or one row per run and topic.  If you pass ``measure``, a table may
        also have one row per topic and one column per run, or be a leaderboard with one row per run
        and one column per dataset.  Instead of a file, you can pass such a table as a DataFrame of
        pandas or polars, as a list of records, or as a list of ir_measures' metrics.

        A dict, in Python or in a JSON file, holds scores by measure and topic, or by topic and
        measure as in pytrec_eval.  If a dict has one more level of keys, its outermost keys are the
        names of runs.  If you pass ``measure``, a dict holds scores by topic, or by run and topic.
    measure : str, optional
        Measure of the scores, if the file or object does not name the measure.

    Returns
    -------
    dict of str to RunScores
        Scores by run.  A name that ir_measures does not know becomes a custom measure of that name;
        see :class:`ir_std.ExternalMeasure`.

    Raises
    ------
    InputError
        If a value is not a number or impossible for its measure, a topic occurs twice, or a mean
        differs from the mean of the topics.  The error names the file and line.
    UsageError
        If ``measure`` is not the name of a measure, or if neither ``measure`` nor the scores name
        the measure.

    Examples
    --------
    >>> read = ir_std.read_scores("scores.txt")
    >>> read
    {'scores.txt': <RunScores of scores.txt: 50 topics, AP>}
    >>> scores = ir_std.standardize(read["scores.txt"], factors="trec8-adhoc")
    >>> round(scores.values[ir_std.sAP]["404"], 4)
    0.6627
    """
    if measure is not None:
        check_name_of_measure(measure)
    from ir_std.scores.contents import parse_scores  # Most commands read no scores.

    return parse_scores(scores, measure)


def check_name_of_measure(name: str) -> None:
    """Check that a name is a known measure, is in quotes, or is unlike all known measures."""
    if not isinstance(name, str):
        raise UsageError(f"expected the name of a measure, got {name!r}")
    if find_measure(name) is not None:
        return
    near = suggest_measures(name)
    if near or not name.strip():
        raise UsageError(
            f"unknown measure {name!r}; put the name of a custom measure in extra quotes"
            f"{did_you_mean(near)}"
        )


def holds_scores(given: Any) -> bool:
    """Check whether an input holds scores instead of documents; of a file, read one line."""
    if is_file(given):
        line = first_line(source_of(given))
        return line.startswith(JSON_STARTS) or is_header(line) or _is_score_line(line)
    if is_frame(given):
        names = {str(name).lower() for name in given.columns}
        return not names & {"doc_id", "docno", "docid"}
    if isinstance(given, Mapping):
        outer, inner = next(iter(given.items()), ("", None))
        pairs = inner.items() if isinstance(inner, Mapping) else ()
        first, value = next(iter(pairs), ("", None))
        has_runs = isinstance(value, Mapping)  # The outer keys are the names of runs.
        return has_runs or any(find_measure(str(name)) for name in (outer, first))
    first = given[0] if isinstance(given, (list, tuple)) and given else None
    if isinstance(first, Mapping):
        return "measure" in first
    return hasattr(first, "measure") and hasattr(first, "value")


# --- files ----------------------------------------------------------------------------------------


def first_line(source: Source) -> str:
    """Return the first line of a file, without blanks around it."""
    line = source.first_line[1].decode(errors="replace") if source.first_line else ""
    return line.strip("\ufeff\r\n ")


def is_header(line: str) -> bool:
    """Check whether a line is the header of a table of scores."""
    cells = [cell.strip() for cell in line.split(max("\t;,", key=line.count))]
    numbers = any(re.fullmatch(r"-?[\d.]+(?:e-?\d+)?|nan|all|Q0", cell) for cell in cells[1:])
    if len(cells) < 2 or (numbers and "\t" in line and len(cells) <= 6):
        return False  # lines of scores, of a run or of qrels, separated by tabs
    from ir_std.scores.tables import ScoreTable, split_header  # Most commands read no table.

    return ScoreTable("", split_header(line)).names_rows


# --- lines ----------------------------------------------------------------------------------------

_DECIMAL = r"-?(?:\d*\.\d+|\d+(?=e))(?:[eE][-+]?\d+)?|nan"
_NUMBER = _DECIMAL + r"|-?\d+"
_PLACE = r"(?:would have been )?\d+(?:st|nd|rd|th)\b.* of \d+|not placed, |(?:between|below|above) "
"""Text that ``--place`` adds after a value."""


def _is_score_line(line: str) -> bool:
    """Check whether a line holds a score; unlike scores, relevance levels have no decimals."""
    fields = split_fields(line)
    if len(fields) == 4 and not _is_iteration(fields[1]) and re.fullmatch(_NUMBER, fields[3]):
        return True
    if len(fields) == 4 and re.fullmatch(_DECIMAL, fields[3]):
        return "\t" in line or find_measure(fields[2]) is not None
    return len(fields) in (2, 3) and not _is_ranked(fields)


def _is_iteration(text: str) -> bool:
    """Check whether a text looks like the iteration in qrels, and not like a measure's name."""
    named = text.lower() in ("q0", "iter", "iteration")
    return named or re.match("[A-Za-z]{2}", text) is None


def _is_ranked(fields: list[str]) -> bool:
    """Check whether three columns are topic, document and rank, as in runs of MS MARCO."""
    return (
        len(fields) == 3
        and re.fullmatch("[1-9][0-9]*", fields[2]) is not None
        and not any(map(is_name_of_measure, fields[:2]))
        and "all" not in fields
    )


def is_name_of_measure(name: str) -> bool:
    """Check whether a name is one that lines of scores have where the measure is."""
    return find_measure(name) is not None or is_not_topic_score(name)


def split_fields(line: str) -> list[str]:
    """Split a line into columns: at tabs if the line contains tabs, otherwise at blanks."""
    if "\t" in line.strip():
        fields = [field.strip() for field in line.strip("\r\n").split("\t")]
        while len(fields) > 2 and re.match(_PLACE, fields[-1]):
            fields.pop()
        return fields
    return line.split()


def is_not_topic_score(name: str) -> bool:
    """Check whether a name is blank, or is one that only trec_eval uses, such as ``runid``."""
    return not name.strip() or name in ("runid", "relstring") or only_in_trec_eval(name)
