r"""Escape control characters, so that text cannot harm a terminal or break a row.

Names of files, runs and topics come from users and may contain any character.  The escapes are the
same as in JSON (``\u001b``), so that lines of JSON keep their meaning.
"""

import os
import re
from collections.abc import Callable

_HARMFUL = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, except tab and newline
    "\u2028\u2029"  # line separators
    "\u200e\u200f\u202a-\u202e\u2066-\u2069"  # change the order of characters on screen
    "\ud800-\udfff]"
)  # surrogates: in a file name, they represent bytes that are not text


def escape_controls(text: str) -> str:
    """Escape the control characters of a text, except tabs and newlines."""
    # Nearly all texts are returned here, so the slow expression is rarely compiled.
    if text.replace("\t", "").replace("\n", "").isprintable():
        return text
    return re.sub(_HARMFUL, lambda match: _escaped(match[0]), text)


def escape_line(text: str) -> str:
    """Escape the control characters of a text, including tabs and newlines."""
    return escape_controls(text).replace("\t", r"\u0009").replace("\n", r"\u000a")


def escape_unencodable(text: str, encoding: str, escape: Callable[[str], str] | None = None) -> str:
    r"""Escape the characters that ``encoding`` lacks; by default, write them like ``\u00e9``."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(c if _fits(c, encoding) else (escape or _escaped)(c) for c in text)
    return text


def guard_cell(text: str) -> str:
    """Add an apostrophe to a cell of CSV that a spreadsheet would take for a formula.

    >>> guard_cell("=1+1"), guard_cell("'=1+1"), guard_cell("it's")
    ("'=1+1", "''=1+1", "it's")
    """
    return f"'{text}" if _is_formula(text) else text


def unguard_cell(text: str) -> str:
    """Undo :func:`guard_cell`."""
    return text[1:] if text[:1] == "'" and _is_formula(text) else text


def _is_formula(text: str) -> bool:
    """Check whether a text begins like a formula, perhaps after apostrophes."""
    return re.match("'*[=+@\uff1d\uff0b\uff0d\uff20-].", text) is not None


def path_text(path: str) -> str:
    """Return a path as text in UTF-8, whatever the locale is.

    File systems use UTF-8.  In a C locale, Python represents bytes that are not ASCII as
    surrogates, which cannot be written.
    """
    return os.fsencode(path).decode("utf-8", "surrogateescape")


def latex_command(character: str) -> str:
    r"""Return the LaTeX code of a character, in ASCII only.

    >>> print(latex_command("\u00e9"), latex_command("\u20ac"))
    \'{e} \symbol{"20AC}
    """
    from unicodedata import normalize  # only LaTeX needs it

    parts = normalize("NFD", character)
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
    # If a row began with one of these characters, LaTeX would read the character as an argument of
    # the end of the previous row.
    "[": "{[}",
    "*": "{*}",
}
"""LaTeX code of the characters that have a special meaning in LaTeX."""


def latex_escape(text: str) -> str:
    """Return a text on one line, with the special characters of LaTeX escaped."""
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
