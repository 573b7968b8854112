r"""What a collection's document ids look like: patterns that no id can keep busy for long.

A pattern is a regular expression without groups: characters, ``\d``, ``\w``, ``.`` and classes
such as ``[A-Z]``, each perhaps repeated by ``?``, ``*``, ``+``, ``{n}`` or ``{m,n}``; ``|`` between
alternatives.  Python's ``re`` backtracks: it may try every combination of the repetitions' lengths.
Factor sets come from anywhere, so the number of these combinations is bounded.
"""

from __future__ import annotations

import re
from functools import lru_cache

LONGEST = 200
"""The most characters of a pattern; of an id no more are looked at."""
MOST_COMBINATIONS = LONGEST**3
"""The most combinations of lengths in one alternative: three unbounded repetitions have as many."""

_CHARACTER = r"""\\[dws.\\+*?(){}\[\]|/_-] | [^\\\[\](){}*+?|^$]"""
_CLASS = r"""\[ \^? (?: \\[dws\\\]\[^-] | (?!--|&&|~~|\|\|)[^\[\]\\] )+ \]"""
_REPETITION = r"""[?*+] | \{ \d{1,3} (?:,\d{0,3})? \}"""
_PIECE = re.compile(rf"\| | (?: {_CHARACTER} | {_CLASS} ) ({_REPETITION})?", re.VERBOSE)


@lru_cache(maxsize=256)
def parse_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern.

    Raises
    ------
    ValueError
        Saying what is not allowed.
    """
    if len(pattern) > LONGEST:
        raise ValueError(f"it has {len(pattern)} characters, {LONGEST} are allowed")
    combinations = [1]  # by alternative
    place = 0
    while place < len(pattern):
        piece = _PIECE.match(pattern, place)
        if piece is None:
            raise ValueError(
                f"{pattern[place : place + 20]!r} is not allowed: characters, classes "
                f"and repetitions are, groups are not"
            )
        if piece[0] == "|":
            combinations.append(1)
        combinations[-1] *= _lengths(piece[1] or "{1}")
        place = piece.end()
    if max(combinations) > MOST_COMBINATIONS:
        raise ValueError(
            "its repetitions can be combined in too many ways: three unbounded ones are allowed"
        )
    try:
        return re.compile(pattern)
    except re.error as wrong:
        raise ValueError(f"it is no regular expression ({wrong})") from None


def _lengths(repetition: str) -> int:
    """The number of lengths that a repetition may have."""
    if repetition == "?":
        return 2
    least, comma, most = repetition.strip("{}").partition(",")
    if repetition in "*+" or (comma and not most):
        return LONGEST
    return min(int(most) - int(least) + 1, LONGEST) if comma else 1


@lru_cache(maxsize=1024)
def looks_like(pattern: str, doc_id: str) -> bool:
    r"""Whether a whole id matches.

    >>> looks_like(r"FT\d+-\d+", "FT911-3")
    True

    Raises
    ------
    ValueError
        As :func:`parse_pattern`.
    """
    return parse_pattern(pattern).fullmatch(doc_id[:LONGEST]) is not None
