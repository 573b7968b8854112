"""What says enough to stand in a sentence and be drawn, of one collection and of several.

Of two collections nothing is summarized; of three and four a summary stands in tables alone, said
to be of few; of five and more sentences and pictures have it, unless its interval is too wide.
"""

from __future__ import annotations

from ir_measures.measures import Measure

from ir_std.measures import ExternalMeasure, Standardized
from ir_std.measures.names import SIGNED, UNBOUNDED

MIN_SUMMARIZED = 3
"""With fewer collections there is no summary."""
MIN_COLLECTIONS = 5
"""With fewer collections than this the summary is said to be of few, and is no headline."""
SCALE = 1.0
"""The width of what bounded scores can be: an interval that is wider says nothing."""


def is_headline(n_collections: int, measure: Measure, low: float, high: float) -> bool:
    """Whether a summary, with its interval, says enough to be told first, and drawn."""
    return n_collections >= MIN_COLLECTIONS and not is_wide(measure, low, high)


def is_wide(measure: Measure, low: float, high: float) -> bool:
    """Whether an interval is wider than the scale, and says nothing."""
    return is_bounded(measure) and high - low > SCALE


def limits_of(measure: Measure, *, of_differences: bool = False) -> tuple[float, float] | None:
    """Between which scores, or differences of two, can be; pictures cut intervals to it."""
    return (-SCALE if of_differences else 0.0, SCALE) if is_bounded(measure) else None


def is_bounded(measure: Measure) -> bool:
    """Whether a measure's scores are from 0 to 1."""
    if isinstance(measure, Standardized):
        return bool(measure["scheme"] != "z")
    name = measure.__name__
    return not isinstance(measure, ExternalMeasure) and name not in (*UNBOUNDED, *SIGNED)
