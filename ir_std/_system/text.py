r"""Text that cannot harm a terminal or break a row: control characters are written as escapes.

Names of files, runs and topics come from elsewhere and may hold anything.  The escapes are those of
JSON (``\u001b``), so that lines of JSON stay what they are.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable

_HARMFUL = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, less tab and newline
    "\u2028\u2029"  # separators of lines
    "\u200e\u200f\u202a-\u202e\u2066-\u2069"  # change the order in which others are shown
    "\ud800-\udfff]"
)  # bytes of a file's name that are no text


def escape_controls(text: str) -> str:
    """``text`` with its control characters escaped, less tabs and newlines."""
    if text.isprintable():  # as nearly all is: the expression takes long to compile
        return text
    return re.sub(_HARMFUL, lambda match: _escaped(match[0]), text)


def escape_line(text: str) -> str:
    """``text`` with its control characters escaped, tabs and newlines too."""
    return escape_controls(text).replace("\t", r"\u0009").replace("\n", r"\u000a")


def escape_unencodable(text: str, encoding: str, escape: Callable[[str], str] | None = None) -> str:
    r"""``text`` with the characters escaped that ``encoding`` lacks: as ``\u00e9`` by default."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(c if _fits(c, encoding) else (escape or _escaped)(c) for c in text)
    return text


def guard_cell(text: str) -> str:
    """Return a cell of CSV that no spreadsheet takes for a formula; :func:`unguard_cell` undoes it.

    >>> guard_cell("=1+1"), guard_cell("'=1+1"), guard_cell("it's")
    ("'=1+1", "''=1+1", "it's")
    """
    return f"'{text}" if _is_formula(text) else text


def unguard_cell(text: str) -> str:
    """Return what :func:`guard_cell` was given."""
    return text[1:] if text[:1] == "'" and _is_formula(text) else text


def _is_formula(text: str) -> bool:
    """Check for a formula's first characters, of single or full width, perhaps behind quotes."""
    return re.match("'*[=+@\uff1d\uff0b\uff0d\uff20-].", text) is not None


def path_text(path: str) -> str:
    """Return a path as text: file systems have UTF-8, whatever the locale says.

    In a C locale Python has bytes that are no ASCII as surrogates, which cannot be written.
    """
    return os.fsencode(path).decode("utf-8", "surrogateescape")


def latex_command(character: str) -> str:
    r"""A character as LaTeX writes it in ASCII.

    >>> print(latex_command("\u00e9"), latex_command("\u20ac"))
    \'{e} \symbol{"20AC}
    """
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[1] in _ACCENTS:
        return f"\\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    return "".join(f'\\symbol{{"{ord(part):X}}}' for part in character)


LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{c: f"\\{c}" for c in "&%$#_{}"},
    # A row that begins with one of these would be an argument of the row before.
    "[": "{[}",
    "*": "{*}",
}
"""How characters are written that LaTeX would read otherwise."""


def latex_escape(text: str) -> str:
    """``text`` in one line, with every character that LaTeX would read otherwise escaped."""
    return "".join(LATEX.get(c, c) for c in escape_line(text))


_ACCENTS = dict(zip("\u0300\u0301\u0302\u0303\u0308\u030a\u030c\u0327", "`'^~\"rvc", strict=True))


def _fits(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))
