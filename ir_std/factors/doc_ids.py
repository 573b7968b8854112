r"""What a collection's document ids look like: patterns that no id can keep busy for long.

A pattern is a regular expression without groups: characters, ``\d``, ``\w``, ``.`` and classes
such as ``[A-Z]``, each perhaps repeated by ``?``, ``*``, ``+``, ``{n}`` or ``{m,n}``; ``|`` between
alternatives.  It is matched by keeping all places where a match may have come to, so that time
grows with the lengths of id and pattern and not, as with backtracking, beyond all bounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

LONGEST = 200
"""A pattern has no more characters, and of an id no more are looked at."""

_ONE = r"""\\[dws.\\+*?(){}\[\]|/_-] | [^\\\[\](){}*+?|^$]"""
_CLASS = r"""\[ \^? (?: \\[dws\\\]\[^-] | (?!--|&&|~~|\|\|)[^\[\]\\] )+ \]"""
_TIMES_GIVEN = r"""[?*+] | \{ \d{1,3} (?:,\d{0,3})? \}"""
_PIECE = re.compile(rf"(?P<one> {_ONE} | {_CLASS} ) (?P<times> {_TIMES_GIVEN} )?", re.VERBOSE)
_TIMES = {"": (1, 1), "?": (0, 1), "*": (0, LONGEST), "+": (1, LONGEST)}


class Piece(NamedTuple):
    """Characters that are allowed next, and how many of them."""

    allows: Callable[[str], object]
    least: int
    most: int


@lru_cache(maxsize=256)
def parse_pattern(pattern: str) -> tuple[tuple[Piece, ...], ...]:
    """The alternatives of a pattern, each a sequence of pieces.

    Raises
    ------
    ValueError
        Saying what is not allowed.
    """
    if len(pattern) > LONGEST:
        raise ValueError(f"it has {len(pattern)} characters, {LONGEST} are allowed")
    alternatives: list[list[Piece]] = [[]]
    place = 0
    while place < len(pattern):
        if pattern[place] == "|":
            alternatives.append([])
            place += 1
            continue
        found = _PIECE.match(pattern, place)
        if found is None:
            raise ValueError(
                f"{pattern[place : place + 20]!r} is not allowed: characters, classes "
                f"and repetitions are, groups are not"
            )
        alternatives[-1].append(_piece(found["one"], found["times"] or ""))
        place = found.end()
    return tuple(map(tuple, alternatives))


def _piece(one: str, times: str) -> Piece:
    try:
        allows = re.compile(one).fullmatch  # one character: nothing to backtrack over
    except re.error as wrong:
        raise ValueError(f"{one!r} is no class of characters ({wrong})") from None
    if times in _TIMES:
        return Piece(allows, *_TIMES[times])
    least, _, most = times[1:-1].partition(",")
    bounds = int(least), int(most) if most else int(least) if "," not in times else LONGEST
    if bounds[0] > bounds[1]:
        raise ValueError(f"{times} allows nothing")
    return Piece(allows, *bounds)


@lru_cache(maxsize=1024)
def looks_like(pattern: str, doc_id: str) -> bool:
    r"""Whether a whole id matches.

    >>> looks_like(r"FT\d+-\d+", "FT911-3")
    True
    """
    text = doc_id[:LONGEST]
    return any(_ends(pieces, text) >> len(text) for pieces in parse_pattern(pattern))


def _ends(pieces: tuple[Piece, ...], text: str) -> int:
    """Where a match from the start may end, a bit a place."""
    places = 1
    for allows, least, most in pieces:
        allowed = sum(1 << i for i, letter in enumerate(text) if allows(letter))
        for _ in range(least):
            places = (places & allowed) << 1
        reached = places
        for _ in range(min(most, len(text)) - least):
            reached = (reached & allowed) << 1
            if not reached:
                break
            places |= reached
    return places
