"""Load the templates of the page, and the templates of sentences about facts."""

from functools import cache
from math import isnan
from typing import Any

from ir_std._system.text import latex_escape
from ir_std.analysis.paired import describe_correction, describe_test, get_test
from ir_std.errors import MissingLibraryError, join_with_and, pluralize
from ir_std.evaluation.placement import ordinal
from ir_std.factors.fit_words import describe_evidence
from ir_std.factors.quality import FEW_SYSTEMS
from ir_std.reporting.difference import MIN_COLLECTIONS
from ir_std.reporting.sentences import describe_missing, why_no_summary
from ir_std.reporting.tables import p_text

NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
"""Words for numbers; larger numbers are written in digits."""


@cache
def environment() -> Any:
    """Return jinja2's environment with the templates, the filters and the functions.

    Raises
    ------
    MissingLibraryError
        If jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise MissingLibraryError.of("a report", "jinja2", "report") from None

    class Unknown(StrictUndefined):
        """Undefined name in a template; any use is an error, even the test ``is none``."""

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            str(self)

    made = Environment(
        loader=PackageLoader("ir_std.reporting.html"),
        undefined=Unknown,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.tests["nan"] = isnan
    made.filters |= {
        "number": three_decimals,
        "number_word": lambda n: NUMBERS[n] if n < len(NUMBERS) else str(n),
        "percent": whole_percent,
        "counted": pluralize,
        "on_so_many": on_so_many,
        "ordinal": ordinal,
        "join_with_and": join_with_and,
        "latex": latex_escape,
        "capital": lambda text: text[0].upper() + text[1:] if text.split()[0].islower() else text,
    }
    made.globals |= {
        "FEW_SYSTEMS": FEW_SYSTEMS,
        "MIN_COLLECTIONS": MIN_COLLECTIONS,
        "describe_correction": describe_correction,
        "describe_evidence": describe_evidence,
        "describe_missing": describe_missing,
        "describe_test": describe_test,
        "p_text": p_text,
        "test_name": lambda test: get_test(test)[1],
        "why_no_summary": why_no_summary,
    }
    return made


def say(sentence: str, *facts: Any) -> str:
    """Return a sentence of ``sentences.j2`` as one line of HTML."""
    words = getattr(environment().get_template("sentences.j2").module, sentence)(*facts)
    line: str = type(words)(" ".join(words.split()))
    return line


def three_decimals(value: float, sign: str = "") -> str:
    """Format a number with three decimals and a typographic minus sign."""
    return f"{value:{sign}.3f}".replace("-", "\N{MINUS SIGN}")


def whole_percent(share: float) -> str:
    """Format a share in whole percent; 0% and 100% appear only if they are exact."""
    return f"{min(max(round(100 * share), 1 if share else 0), 100 if share == 1 else 99)}%"


def on_so_many(n: int, total: int, what: str) -> str:
    """Return ``on 38 of 43 topics``, ``on both collections`` or ``on all 5 collections``."""
    if n < total or total == 1:
        return f"on {n} of {pluralize(total, what)}"
    return f"on {'both' if total == 2 else f'all {total}'} {what}s"
