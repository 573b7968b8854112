"""One self-contained HTML page of results: it needs no network, and reads on phone and paper."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std._files import check_target, write_whole
from ir_std._version import __version__
from ir_std.errors import IrStdError
from ir_std.evaluation.placement import peers_of
from ir_std.factors.factor_set import FactorSet
from ir_std.measures import Standardized
from ir_std.reporting.html.drawing import PLACES, Drawing, Strip, score
from ir_std.reporting.panels import Panel, figures, summary
from ir_std.reporting.results import Results, deviation
from ir_std.schemes import SCHEMES

FARTHEST = 5
"""Topics listed above and below the standardizing systems."""
OUR_MARK = b'<meta name="generator" content="ir_std '
"""What tells a page of ir_std's from a file of other origin."""
ON_PAPER = 10
"""Columns of measures that fit on paper beside each other."""

READING = {
    "N": "0.5 is as good as the average standardizing system on the same topics, 0.84 one "
         "standard deviation better, 0.16 one worse",
    "U": "0.5 is as good as the average standardizing system on the same topics; each standard "
         "deviation adds or takes 0.15 unless A says otherwise, cut to between 0 and 1",
    "E": "the share of the standardizing systems that score no better on the same topic: 0.9 "
         "means at least as good as nine in ten",
    "z": "0 is as good as the average standardizing system on the same topics; 1 is one standard "
         "deviation better; there is no upper or lower limit",
}
"""How to read the schemes' scores."""


def write_report(results: Results, file: str | os.PathLike[str], title: str | None = None,
                 inputs: Iterable[str | os.PathLike[str]] = (), *, force: bool = False) -> None:
    """Write results as one HTML file, whole or not at all.

    Parameters
    ----------
    results : Results
    file : str or path
    title : str, optional
    inputs : iterable of str or path
        Files that must not be replaced.
    force : bool
        Replace a file that is no page of ir_std's.

    Raises
    ------
    InputError
        If the file cannot be written, is one of the inputs, or is there and no page of ir_std's.
    IrStdError
        If jinja2 is not installed.
    """
    check_target(file, inputs, b"" if force else OUR_MARK)
    write_whole(file, render(results, title).encode(errors="backslashreplace"), inputs)


def render(results: Results, title: str | None = None) -> str:
    """The page as text; parameters and errors as for :func:`write_report`."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise IrStdError("a report needs jinja2: pip install 'ir-std[report]'") from None
    environment = Environment(loader=PackageLoader("ir_std.reporting.html"),
                              undefined=StrictUndefined, autoescape=True, trim_blocks=True,
                              lstrip_blocks=True)
    environment.filters["score"] = score
    environment.filters["signed"] = _signed
    page = _Page(results)
    return environment.get_template("report.html").render(
        title=title or page.title, page=page, results=results, version=__version__)


def _signed(value: float) -> str:
    return "–" if isnan(value) else f"{round(value, 2) + 0.0:+.2f}"  # noqa: RUF001


@dataclass(frozen=True)
class _TopicRow:
    """One topic in the table beside a picture."""

    index: int
    topic: str
    peers_mean: float
    peers_sd: float
    scores: tuple[float, ...]
    z: float


class _Page:
    """What the template asks for."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.measures = results.measures
        self.figures = [_Figure(results, number, panels)
                        for number, panels in enumerate(figures(results))]
        self.key = next((m for m in self.measures if isinstance(m, Standardized)),
                        self.measures[0])
        self.table = results.table(PLACES)
        rows = dict(zip(results.runs, self.table.rows, strict=True))
        self.ranked = sorted(results.runs, key=lambda run: -self._known(run))
        self.rows = [(run, rows[run][1:]) for run in self.ranked]
        self.first = self.ranked[0]

    def _known(self, run: str) -> float:
        mean = self.results.means[run][self.key]
        return float("-inf") if isnan(mean) else mean

    @property
    def sheets(self) -> list[list[int]]:
        """The columns of measures that fit on paper, a list for each table to be printed."""
        groups, start = [], 0
        for size in self.table.groups:
            groups.append(list(range(start, start + size)))
            start += size
        sheets: list[list[int]] = [[]]
        for group in groups:
            if sheets[-1] and len(sheets[-1]) + len(group) > ON_PAPER:
                sheets.append([])
            sheets[-1] += group
        return sheets

    @property
    def title(self) -> str:
        factors = self.results.match and self.results.match.factors
        n = len(self.results.runs)
        what = self.results.runs[0] if n == 1 else f"{n} runs"
        return f"{what} on {factors.title if factors else f'{len(self.results.topics)} topics'}"

    @property
    def raw(self) -> list[str]:
        """The raw measures behind all that is shown."""
        return list(dict.fromkeys(str(m.base if isinstance(m, Standardized) else m)
                                  for m in self.measures))

    @property
    def other_factors(self) -> list[tuple[Standardized, FactorSet]]:
        """Measures that name a factor set other than the one that was matched."""
        match = self.results.match
        return [(m, plan.factors) for m, plan in self.results.plans.items()
                if match is None or plan.factors is not match.factors]

    @property
    def sources(self) -> dict[str, list[str]]:
        """Where the factors come from, each with the raw measures that it gives factors for."""
        found: dict[str, dict[str, None]] = {}
        for plan in self.results.plans.values():
            source = plan.factors.about(plan.name, "source", plan.factors.source)
            if source:
                found.setdefault(source, {})[str(plan.measure.base)] = None
        return {source: list(measures) for source, measures in found.items()}

    @property
    def schemes(self) -> list[tuple[str, str, str, str]]:
        """For each scheme used: name, an example measure, how to read it, its source."""
        used: dict[str, Standardized] = {}
        for measure in self.measures:
            if isinstance(measure, Standardized):
                used.setdefault(measure["scheme"], measure)
        return [(name, str(used[name]), READING[name], SCHEMES[name].source)
                for name in SCHEMES if name in used]

    @property
    def data(self) -> dict[str, Any]:
        """What the page's script needs: scores as whole numbers of ten-thousandths."""
        results = self.results
        return {
            "runs": self.ranked,
            "decimals": PLACES,
            "farthest": FARTHEST,
            "values": [{str(m): _whole(results.values[run][m], PLACES) for m in self.measures}
                       for run in self.ranked],
            "z": [{str(deviation(m)): _whole(results.deviations(run, m), 2) for m in results.plans}
                  for run in self.ranked],
            "placements": [[[(strip.mark(run), strip.summary(run)) for strip in figure.strips]
                            for figure in self.figures] for run in self.ranked],
            "captions": [[figure.caption(run) for figure in self.figures]
                         for run in self.ranked],
        }


def _whole(values: npt.NDArray[np.float64], places: int) -> list[int | None]:
    """Values at ``places`` decimals as whole numbers, so that data stays small."""
    return [None if v != v else int(f"{v:.{places}f}".replace(".", "")) for v in values.tolist()]


class _Figure:
    """The picture of a raw measure beside a standardized one, and the topics in it by name."""

    def __init__(self, results: Results, number: int, panels: Sequence[Panel]) -> None:
        self.results = results
        self.id = f"figure-{number}"
        self.panels = [Drawing(results, panel) for panel in panels]
        self.measures = [panel.measure for panel in panels]
        self.strips = [Strip(results, m) for m in self.measures if results.placements]
        self.order = panels[-1].order.tolist()
        self.title = " and ".join(map(str, self.measures))
        last = panels[-1].measure
        self.standardized = last if isinstance(last, Standardized) else None
        self.deviation = deviation(self.standardized) if self.standardized else None
        plan = results.plans[self.standardized] if self.standardized else None
        self.peers = peers_of(plan, results.topics) if plan else None
        self.peers_name = f"the {self.peers.n_systems} systems of {plan.factors.id}" if (
            plan and self.peers) else ""
        self.peers_measure = str(plan.raw) if plan else ""

    def caption(self, run: str) -> str:
        return summary(self.results, run, self.measures[-1])

    def topics(self, run: str) -> list[_TopicRow]:
        """All topics, that where the run is farthest above the standardizing systems first."""
        values = [self.results.values[run][m] for m in self.measures]
        nothing = np.full(len(self.results.topics), np.nan)
        z = (self.results.deviations(run, self.standardized) if self.standardized else nothing)
        mean = self.peers.mean if self.peers else nothing
        sd = self.peers.high - self.peers.mean if self.peers else nothing
        rows = [_TopicRow(i, self.results.topics[i], float(mean[i]), float(sd[i]),
                          tuple(float(v[i]) for v in values), float(z[i])) for i in self.order]
        return sorted(rows, key=lambda row: (isnan(row.z), -row.z))

    def above(self, run: str) -> list[_TopicRow]:
        return [row for row in self.topics(run) if row.z > 0][:FARTHEST]

    def below(self, run: str) -> list[_TopicRow]:
        return [row for row in self.topics(run) if row.z < 0][:-FARTHEST - 1:-1]
