"""One self-contained HTML page of results: it needs no network, and reads on phone and paper."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from math import isnan
from typing import IO, Any

from ir_std._system.files import check_output, write_atomically
from ir_std._system.text import escape_controls
from ir_std._version import __version__
from ir_std.errors import MissingLibraryError, UsageError, counted
from ir_std.factors.catalog import data_version
from ir_std.factors.factor_set import FactorSet
from ir_std.measures import Standardized
from ir_std.reporting.comparison import Comparison
from ir_std.reporting.evaluated_runs import EvaluatedRuns
from ir_std.reporting.figure_data import runs_by_mean
from ir_std.reporting.html.across import AcrossCollections
from ir_std.reporting.html.board import BoardPage
from ir_std.reporting.html.data import data_of
from ir_std.reporting.html.method import (
    Licence,
    known_weaknesses,
    licences,
    method,
    references,
)
from ir_std.reporting.html.packing import PLACES
from ir_std.reporting.html.phrases import recognized_by
from ir_std.reporting.html.sentences import describe_results, sets_of, trust
from ir_std.reporting.leaderboard import Leaderboard
from ir_std.reporting.result_tables import result_table
from ir_std.schemes import SCHEMES
from ir_std.trec.texts import read_texts

OUR_MARK = b'<meta name="generator" content="ir_std '
"""By this a page that ir_std wrote is recognized, and may be replaced."""

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


def write_report(
    results: EvaluatedRuns | Comparison | Leaderboard,
    file: str | os.PathLike[str] | IO[Any],
    title: str | None = None,
    inputs: Iterable[str | os.PathLike[str]] = (),
    *,
    force: bool = False,
    queries: Any = None,
) -> None:
    """Write results as one HTML file, whole or not at all.

    Parameters
    ----------
    results : EvaluatedRuns, Comparison or Leaderboard
        Of one collection, or of several; or models on a benchmark.
    file : str, path or open file
    title : str, optional
    inputs : iterable of str or path
        Files that must not be replaced.
    force : bool
        Replace a file even if ir_std did not write it.
    queries : mapping, str, path or file, optional
        Texts of the topics, as for :func:`ir_std.diff`.

    Raises
    ------
    InputError
        If the file cannot be written, is one of the inputs, or exists and is not by ir_std.
    MissingLibraryError
        If jinja2 is not installed.
    UsageError
        If queries are given for a leaderboard, which has no topics.

    Examples
    --------
    >>> results = ir_std.evaluate({"bm25": "bm25.run", "mono": "mono.run"}, "qrels.txt")
    >>> write_report(results, "report.html", "Two runs on TREC-8")
    """
    check_output(file, inputs, b"" if force else OUR_MARK)
    write_atomically(
        file, render(results, title, queries).encode(errors="backslashreplace"), inputs
    )


def render(
    results: EvaluatedRuns | Comparison | Leaderboard, title: str | None = None, queries: Any = None
) -> str:
    """The page as text; parameters and errors as for :func:`write_report`."""
    if isinstance(results, Leaderboard) and queries is not None:
        raise UsageError("queries are texts of topics, and a leaderboard has tasks: leave them out")
    page = BoardPage(results) if isinstance(results, Leaderboard) else _Page(results, queries)
    return escape_controls(
        _template().render(
            title=title or page.title, page=page, version=__version__, sets=data_version()
        )
    )


@cache
def _template() -> Any:
    """The page's template, which takes jinja2 as long to compile as to fill."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise MissingLibraryError.of("a report", "jinja2", "report") from None
    environment = Environment(
        loader=PackageLoader("ir_std.reporting.html"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["score"] = _score
    environment.filters["visible"] = _visible
    return environment.get_template("report.html")


def _visible(data: Any) -> Any:
    """Data with the control characters in its texts escaped, as those of the page are."""
    if isinstance(data, str):
        return escape_controls(data)
    if isinstance(data, dict):
        return {key: _visible(value) for key, value in data.items()}
    return [_visible(each) for each in data] if isinstance(data, (list, tuple)) else data


def _score(value: float) -> str:
    return "–" if isnan(value) else f"{value:.{PLACES}f}"  # noqa: RUF001


class _Page:
    """What the template shows."""

    board = None

    def __init__(self, results: EvaluatedRuns | Comparison, queries: Any) -> None:
        if isinstance(results, Comparison):
            by_name = {part.collection: part.results for part in results.parts}
            self.across: AcrossCollections | None = AcrossCollections(results)
        else:
            by_name = {_collection(results): results}
            self.across = None
        self.results = list(by_name.values())
        topics = dict.fromkeys(t for each in self.results for t in each.topics)
        texts = {} if queries is None else read_texts(queries, topics, "queries")
        self.parts = [
            _Part(of_collection, name, number, texts)
            for number, (name, of_collection) in enumerate(by_name.items())
        ]

    @property
    def across_words(self) -> list[str]:
        assert self.across is not None
        key = next(m for m in self.across.measures if self.across.name(m) == self.across.key)
        return self.across.words(key)

    @property
    def title(self) -> str:
        runs = dict.fromkeys(run for results in self.results for run in results.runs)
        kind = "systems" if self.across else "runs"
        what = next(iter(runs)) if len(runs) == 1 else f"{len(runs)} {kind}"
        if len(self.results) > 1:
            return f"{what} on {len(self.results)} collections"
        factors = self.results[0].match and self.results[0].match.factors
        topics = len(self.results[0].topics)
        fit = self.results[0].match and self.results[0].match.fit
        if fit and fit.dataset is not None:
            return f"{what} on {fit.dataset}"
        return f"{what} on {factors.title if factors else counted(topics, 'topic')}"

    @property
    def lead(self) -> str:
        raw = dict.fromkeys(
            str(m.base if isinstance(m, Standardized) else m)
            for results in self.results
            for m in results.measures
        )
        topics = sum(len(results.topics) for results in self.results)
        names = [name for name, *_ in self.schemes]
        how = (
            f" and standardized by scheme{'s' * (len(names) > 1)} {', '.join(names)}"
            if names
            else ""
        )
        units = {part.unit for part in self.parts}
        unit = units.pop() if len(units) == 1 else "topic"
        return f"{', '.join(raw)} on {counted(topics, unit)}, raw{how}."

    @property
    def both(self) -> bool:
        return any(part.both for part in self.parts)

    @property
    def units(self) -> set[bool]:
        """Whether whole data sets, and whether topics, are standardized."""
        return {plan.of_mean for results in self.results for plan in results.plans.values()}

    @property
    def tested(self) -> bool:
        return any(results.tests for results in self.results)

    @property
    def schemes(self) -> list[tuple[str, str, str, str]]:
        """For each scheme used: name, an example measure, how to read it, its source."""
        used: dict[str, Standardized] = {}
        for results in self.results:
            for measure in results.plans:
                used.setdefault(measure["scheme"], measure)
        return [
            (name, str(used[name]), READING[name], SCHEMES[name].source)
            for name in SCHEMES
            if name in used
        ]

    @property
    def method(self) -> str:
        return method(self.results)

    @property
    def references(self) -> str:
        return references(self.results)

    @property
    def licences(self) -> list[Licence]:
        return licences(self.results)

    @property
    def known_weaknesses(self) -> dict[str, list[str]]:
        return known_weaknesses(self.results)


def _collection(results: EvaluatedRuns) -> str:
    factors = results.match and results.match.factors
    return factors.id if factors else "topics"


class _Part:
    """One collection."""

    def __init__(
        self, results: EvaluatedRuns, name: str, number: int, queries: Mapping[str, str]
    ) -> None:
        self.results = results
        self.name = name
        self.id = f"part-{number}"
        self.measures = results.measures
        key = next((m for m in self.measures if isinstance(m, Standardized)), self.measures[0])
        self.key = str(key)
        self.words = describe_results(results, key)
        self.trust = trust(results, key)
        self.unit = results.unit
        self.ranked = runs_by_mean(results, key)
        self.table = result_table(results, PLACES)
        rows = dict(zip(results.runs, self.table.rows, strict=True))
        self.rows = [(run, rows[run][1:]) for run in self.ranked]
        self.data = data_of(results, self.ranked, queries)
        self.systems_means = [
            float("nan") if m["systemsMean"] is None else m["systemsMean"]
            for m in self.data["measures"]
        ]

    @property
    def systems_known(self) -> bool:
        return bool(self.results.plans)

    @property
    def both(self) -> bool:
        """Whether intervals are over topics and standardizing systems."""
        return any(m["overSystems"] and any(m["overSystems"]) for m in self.data["measures"])

    @cached_property
    def systems(self) -> str:  # which the template asks for in each row
        """How many standardizing systems the runs are ranked with; empty if none is ranked."""
        counts = sorted(
            {
                p.n_systems
                for placed in self.results.placements.values()
                for p in placed.values()
                if not p.why_not
            }
        )
        return " to ".join(str(n) for n in dict.fromkeys(counts[:: max(1, len(counts) - 1)]))

    @property
    def recognized_by(self) -> str:
        """How the factors were found."""
        return recognized_by(self.results)

    @property
    def factor_sets(self) -> list[FactorSet]:
        """The sets behind the factors: several where the topics are of several tracks."""
        fit = self.results.match and self.results.match.fit
        return sets_of(fit) if fit else []

    @property
    def other_factors(self) -> list[tuple[Standardized, FactorSet]]:
        """Measures that name a factor set other than the one that was matched."""
        match = self.results.match
        return [
            (m, plan.factors)
            for m, plan in self.results.plans.items()
            if match is None or plan.factors is not match.factors
        ]
