"""Where a run ranks, or would have ranked, among the standardizing systems of its collection."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from ir_measures.measures import Measure

from ir_std.measures import sign_of
from ir_std.schemes import EXACT


@dataclass(frozen=True)
class Placement:
    """A run's place among the standardizing systems by one measure.

    ``str(placement)`` says it: ``sAP 0.6930: 13th of 129``.

    Attributes
    ----------
    measure : Measure
        Raw or standardized.
    value : float
        The run's mean over the topics that were compared; NaN if there are none.
    factors : str
        The id of the factor set.
    n_topics, n_known : int
        The numbers of topics that were compared, and that the set has.
    better : int
        The number of standardizing systems with a better mean.
    n_systems : int
        The number of standardizing systems.
    among : bool
        Whether the run is one of them: it has that system's scores on all topics that were
        compared, by every measure that it is placed by and whose systems' scores are known.
    tied : int
        The number of (other) standardizing systems with the same mean.
    why_not : str or None
        Why the run cannot be placed; then the counts are 0.
    means : tuple of float
        What the run was compared with: the systems' means, sorted.
    names : tuple of str
        Whose means these are; empty where the set does not name its systems.

    Examples
    --------
    >>> raw, standardized = ir_std.place("bm25.run", "qrels.txt", "AP")
    >>> print(standardized)
    sAP 0.7650: would have been 7th of 130
    >>> standardized.rank, standardized.n_systems, standardized.among
    (7, 129, False)
    """

    measure: Measure
    value: float
    factors: str = ""
    n_topics: int = 0
    n_known: int = 0
    better: int = 0
    n_systems: int = 0
    among: bool = False
    tied: int = 0
    why_not: str | None = None
    means: tuple[float, ...] = field(default=(), repr=False)
    names: tuple[str, ...] = field(default=(), repr=False)

    @property
    def rank(self) -> int | None:
        """The place from 1; None if the run cannot be placed."""
        return None if self.why_not else self.better + 1

    @property
    def summary(self) -> str:
        """The place in words: ``13th of 129``."""
        if self.why_not:
            return f"not placed, {self.why_not}"
        part = f" on {self.n_topics} of the {self.n_known} topics"
        if self.among:
            place = f"{ordinal(self.better + 1)} of {self.n_systems}"
        else:
            tied = f" (tied with {self.tied})" if self.tied else ""
            place = f"would have been {ordinal(self.better + 1)}{tied} of {self.n_systems + 1}"
        return place + part * (self.n_topics < self.n_known)

    @property
    def neighbours(self) -> str:
        """The nearest systems by name: ``between p_bert, 6th, and TUW19-p3-f, 7th``.

        Empty where the set does not name its systems.  Systems with the run's own mean, itself
        among them, are none.
        """
        if not self.names:
            return ""
        ranked = self._ranked
        lowest_above = len(ranked) - self.better
        highest_below = lowest_above - self.tied - self.among - 1
        above = _named(ranked, lowest_above) if self.better else ""
        below = _named(ranked, highest_below) if highest_below >= 0 else ""
        if above and below:
            return f"between {above}, and {below}"
        return f"below {above}" if above else f"above {below}" if below else ""

    @property
    def _ranked(self) -> list[tuple[float, str]]:
        """The systems' means, of which more is better, and names; lowest first."""
        sign = sign_of(self.measure)
        return sorted(
            (sign * mean, name) for mean, name in zip(self.means, self.names, strict=True)
        )

    def __str__(self) -> str:
        return f"{self.measure} {self.value:.4f}: {self.summary}"


def _named(ranked: Sequence[tuple[float, str]], i: int) -> str:
    """A system and its rank among the systems, equal means sharing one."""
    height, name = ranked[i]
    better = len(ranked) - bisect_right(ranked, height + EXACT, key=itemgetter(0))
    return f"{name}, {ordinal(better + 1)}"


class Placements(list[Placement]):
    """A run's places, printed as ``ir_std --place`` prints them."""

    def __repr__(self) -> str:
        return "\n".join(
            "\t".join([f"{p.measure}", f"{p.value:.4f}", p.summary, *filter(None, [p.neighbours])])
            for p in self
        )


def ordinal(n: int) -> str:
    """``1st``, ``2nd``, ``3rd``, ``4th``, ``11th`` and so on."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}th" if n % 100 in (11, 12, 13) else f"{n}{ending}"
