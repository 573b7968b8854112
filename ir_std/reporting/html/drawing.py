"""The report's pictures, in the coordinates of their SVG.

The page's script moves only what belongs to the run; all else is drawn here, once.
"""

from __future__ import annotations

from math import isnan

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_std.reporting.panels import LABELS, Panel
from ir_std.reporting.results import Results

PLACES = 4
"""Decimals of scores on the page, and in the data it carries."""

_WIDTH = 620
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 612, 10, 250
_LABEL, _LETTER = 16, 6
"""Letters of a topic's label at most, and the room that one takes."""


def score(value: float) -> str:
    """A score as people read it; a dash where there is none."""
    return "–" if isnan(value) else f"{value:.{PLACES}f}"  # noqa: RUF001


def _shortened(topic: str) -> str:
    return topic if len(topic) <= _LABEL else f"{topic[:_LABEL - 1]}…"


class Strip:
    """The means of all standardizing systems on a line, and the run's among them.

    The scale holds every run, so that the page's script moves only the run's mark.
    """

    width, height = _WIDTH, 34
    left, right = 8, _RIGHT

    def __init__(self, results: Results, measure: Measure) -> None:
        self.results = results
        self.measure = measure
        placed = [by_measure[measure] for by_measure in results.placements.values()
                  if measure in by_measure]
        self.systems = next((p.means for p in placed if p.means), ())
        known = [*self.systems, *(p.value for p in placed if not isnan(p.value))]
        self.low, self.high = min(known, default=0.0), max(known, default=1.0)

    def x(self, value: float) -> float:
        span = self.high - self.low or 1.0
        return round(self.left + (value - self.low) / span * (self.right - self.left), 2)

    @property
    def ticks(self) -> str:
        return "".join(f"M{self.x(mean)} 10V24" for mean in self.systems)

    def mark(self, run: str) -> float | None:
        """Where the run stands; None if it has no mean."""
        value = self.results.placements[run][self.measure].value
        return None if isnan(value) else self.x(value)

    def summary(self, run: str) -> str:
        return str(self.results.placements[run][self.measure])


class Drawing:
    """A panel in the coordinates of its SVG; the page's script moves only the run's points."""

    width = _WIDTH
    left, right, top, bottom = _LEFT, _RIGHT, _TOP, _BOTTOM

    def __init__(self, results: Results, panel: Panel) -> None:
        self.results = results
        self.panel = panel
        self.measure = panel.measure
        self.low, self.high = panel.low, panel.high
        self.step = (_RIGHT - _LEFT) / len(panel.order)
        self.height = _BOTTOM + 12 + _LETTER * max(len(text) for _, text in self.labels)
        self.bar = round(min(self.step * 0.6, 9), 2)

    def x(self, place: int) -> float:
        return round(_LEFT + (place + 0.5) * self.step, 2)

    def y(self, value: float) -> float:
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(_BOTTOM - share * (_BOTTOM - _TOP), 2)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        return [(self.y(v), f"{v:g}") for v in self.panel.ticks]

    @property
    def labels(self) -> list[tuple[float, str]]:
        every = -(-len(self.panel.order) // LABELS)
        return [(self.x(place), _shortened(self.results.topics[i]))
                for place, i in enumerate(self.panel.order.tolist()) if place % every == 0]

    def _strokes(self, low: npt.NDArray[np.float64], high: npt.NDArray[np.float64]) -> str:
        return "".join(f"M{self.x(place)} {self.y(low[i])}V{self.y(high[i])}"
                       for place, i in enumerate(self.panel.order.tolist())
                       if low[i] == low[i] and high[i] == high[i])

    @property
    def bands(self) -> str:
        peers = self.panel.peers
        return self._strokes(peers.low, peers.high) if peers else ""

    @property
    def ranges(self) -> str:
        peers = self.panel.peers
        return self._strokes(peers.least, peers.most) if peers else ""

    @property
    def means(self) -> str:
        peers = self.panel.peers
        half = self.bar / 2 + 1
        return "" if peers is None else "".join(
            f"M{self.x(place) - half:.2f} {self.y(peers.mean[i])}h{2 * half:.2f}"
            for place, i in enumerate(self.panel.order.tolist()) if peers.mean[i] == peers.mean[i])

    def points(self, run: str) -> list[tuple[int, float, float, str]]:
        """Topic's index, x, y and tooltip of the run's points, also where it has no score."""
        values = self.results.values[run][self.measure]
        return [(i, self.x(place), self.y(values[i]) if values[i] == values[i] else _BOTTOM,
                 f"topic {self.results.topics[i]}: {score(float(values[i]))}")
                for place, i in enumerate(self.panel.order.tolist())]

    def known(self, run: str, index: int) -> bool:
        return not isnan(float(self.results.values[run][self.measure][index]))
