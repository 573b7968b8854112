"""Errors for users; each message says what is wrong and what to do."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")

_LINE_BREAKS = r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]"


class IrStdError(Exception):
    """Base class of all errors in the input, after which the program exits with status 2.

    The text of the error is always one line, because line breaks in quoted names are escaped.
    """

    def __init__(self, text: object = "") -> None:
        super().__init__(re.sub(_LINE_BREAKS, lambda c: repr(c[0])[1:-1], str(text)))


class InputError(IrStdError, ValueError):
    """Error for a file or an object that ir_std cannot use."""

    @classmethod
    def at(cls, file: object, found: str, expected: str, *, line: int | None = None) -> InputError:
        """Build an error from the place, the problem, and the expected input."""
        where = f"{file}:{line}" if line is not None else f"{file}"
        if len(found) > 1000:  # the text quotes a long line or name
            found = f"{found[:400]}... ({len(found)} characters)"
        return cls(f"{where}: {found}; {expected}")


class UsageError(IrStdError, ValueError):
    """Error for unknown or conflicting options, measures or schemes."""


class UnknownMeasureError(IrStdError, NameError):
    """Error for the name of a measure that does not exist."""


class NoFactorsError(IrStdError, ValueError):
    """Error for a standardized measure that has no factors.

    Attributes
    ----------
    obstacle : str or None
        Reason why the set's factors for the measure do not apply to these qrels.  None if the set
        has no factors for the measure.
    """

    def __init__(self, message: str, obstacle: str | None = None) -> None:
        super().__init__(message)
        self.obstacle = obstacle


class MissingMeasureError(IrStdError, KeyError):
    """Error for a measure that has no value."""

    __str__ = Exception.__str__  # KeyError would put the message in quotes


class UnknownSetError(IrStdError, LookupError):
    """Error for the name of a factor set that does not exist."""


class MissingLibraryError(IrStdError, ImportError):
    """Error for an optional library that is not installed."""

    @classmethod
    def of(cls, what: str, library: str, extra: str | None = None) -> MissingLibraryError:
        """Build the error for a feature, ``what``, that needs a library.

        The error says whether to install the library or an extra of ir_std.
        """
        return cls(
            f"{what} needs {library}: pip install " + (f"'ir-std[{extra}]'" if extra else library)
        )


class StandardizationWarning(UserWarning):
    """Warning that scores can mislead because of the factors or the runs."""


def warn_caller(texts: Iterable[str]) -> None:
    """Warn, and name the line of the user's program that called ir_std."""
    libraries = ("ir_std", "ir_measures", "pyterrier")
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in libraries:
        level, frame = level + 1, frame.f_back
    for text in texts:
        warnings.warn(text, StandardizationWarning, stacklevel=level)


def suggest_names(name: str, allowed: Iterable[str]) -> list[str]:
    """Suggest up to three allowed names that the user may have meant by ``name``.

    The rules are tried in this order, and the first rule that finds a name is used:

    1. The letters are the same, except for upper and lower case.
    2. The parts are the same, but in another order.
    3. The allowed name begins with ``name``.
    4. The allowed name contains all parts of ``name`` (``adhoc`` finds ``trec8-adhoc``).
    5. The allowed name is the nearest one (``difflib.get_close_matches``, at least 0.66).
    6. The allowed name contains the letters of ``name`` in order (``covid5`` finds
       ``covid-round5``).
    """
    from difflib import get_close_matches  # slow to import, and only wrong names need it

    by_folded: dict[str, str] = {}
    for one in allowed:
        by_folded.setdefault(one.lower(), one)
    folded = name.lower()
    if folded in by_folded:
        return [by_folded[folded]]
    parts = _parts(folded)
    for near in (
        [key for key in by_folded if len(parts) > 1 and sorted(_parts(key)) == sorted(parts)],
        [key for key in by_folded if len(folded) > 2 and key.startswith(folded)],
        [key for key in by_folded if len(folded) > 2 and parts and {*parts} <= {*_parts(key)}],
        get_close_matches(folded[:100], by_folded, 1, 0.66),
        [key for key in by_folded if len(folded) > 3 and _in_order("".join(parts), key)],
    ):
        if near:
            return [by_folded[key] for key in near[:3]]
    return []


def _parts(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", name)


def _in_order(letters: str, name: str) -> bool:
    rest = iter(name)
    return all(letter in rest for letter in letters)


def look_up(name: str, names: Mapping[str, T], what: str) -> T:
    """Look up the value of a name, or raise an error that suggests another name.

    >>> look_up("hollm", {"holm": 1, "none": 2}, "method")
    Traceback (most recent call last):
    ir_std.errors.UsageError: unknown method 'hollm'; choose from holm, none; did you mean 'holm'?

    Raises
    ------
    UsageError
        If the name is unknown; the message lists the allowed names.
    """
    if name not in names:
        raise UsageError(
            f"unknown {what} {name!r}; choose from {', '.join(names)}{suggestion(str(name), names)}"
        )
    return names[name]


def suggestion(name: str, allowed: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` with the nearest names, or an empty string."""
    return did_you_mean(suggest_names(name, allowed))


def did_you_mean(names: Iterable[str]) -> str:
    """Return ``"; did you mean 'x' or 'y'?"``, or an empty string if there are no names."""
    quoted = [repr(name) for name in names]
    asked = " or ".join([", ".join(quoted[:-1]), *quoted[-1:]] if quoted[1:] else quoted)
    return f"; did you mean {asked}?" if asked else ""


def abbreviate(names: Iterable[str], most: int = 3) -> str:
    """List up to ``most`` names; if there are more names, add the number of all names."""
    listed = list(names)
    if len(listed) <= most:
        return ", ".join(listed)
    return f"{', '.join(listed[:most])}, ... ({len(listed)} in all)"


def join_with_and(parts: Iterable[str]) -> str:
    """Join names for a sentence, such as ``a, b and c``."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def pluralize(n: int, what: str) -> str:
    """Return ``1 topic``, ``2 topics`` and so on."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"
