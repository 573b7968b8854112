"""One self-contained HTML page of results: it needs no network, and reads on phone and paper."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from typing import IO, Any

from ir_std._system.files import check_output, write_atomically
from ir_std._system.text import escape_controls
from ir_std._version import __version__
from ir_std.analysis.paired import describe_test
from ir_std.errors import MissingLibraryError, pluralize
from ir_std.factors.catalog import data_version
from ir_std.measures import Standardized
from ir_std.reporting.figure_data import over_systems, read_look
from ir_std.reporting.html.across import across_of, tables_of
from ir_std.reporting.html.method import known_weaknesses, licences, method, references
from ir_std.reporting.html.record import collection_record, packed
from ir_std.reporting.html.standing import RunStanding, subject_of, views_of
from ir_std.reporting.model import Results
from ir_std.reporting.sentences.page import count_runs, recognized_by, systems_word
from ir_std.reporting.sentences.tables import power_notes
from ir_std.schemes import SCHEMES
from ir_std.trec.inputs import read_texts

OUR_MARK = b'<meta name="generator" content="ir_std '
"""By this a page that ir_std wrote is recognized, and may be replaced."""
PLACES = 4
"""Decimals of the table that is shown without JavaScript."""
READING = {
    "N": "0.5 is as good as the average reference system on the same topics, 0.84 one standard "
    "deviation better, 0.16 one worse",
    "U": "0.5 is as good as the average reference system on the same topics; each standard "
    "deviation adds or takes 0.15 unless A says otherwise, cut to between 0 and 1",
    "E": "the share of the reference systems that score no better on the same topic: 0.9 means at "
    "least as good as nine in ten",
    "z": "0 is as good as the average reference system on the same topics, 1 one standard "
    "deviation better; scores have no limits",
}
"""How to read the schemes' scores."""
OF_ALL = {"method": method, "references": references, "licences": licences}
"""What the page says of all collections together."""


def write_report(
    results: Results,
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
    results : Results
    file : str, path or open file
    title : str, optional
        Title of the browser's window and of the page's first line.
    inputs : iterable of str or path
        Files that must not be replaced.
    force : bool
        Whether to replace a file even if ir_std did not write it.
    queries : mapping, str, path or file, optional
        Texts of the topics, as for :func:`ir_std.diff`.

    Raises
    ------
    InputError
        If the file cannot be written, is one of the inputs, or exists and is not by ir_std.
    MissingLibraryError
        If jinja2 is not installed.

    Examples
    --------
    >>> results = ir_std.evaluate({"bm25": "bm25.run", "mono": "mono.run"}, "qrels.txt")
    >>> write_report(results, "report.html", "Two runs on TREC-8")
    """
    check_output(file, inputs, b"" if force else OUR_MARK)
    write_atomically(
        file, render(results, title, queries).encode(errors="backslashreplace"), inputs
    )


def render(results: Results, title: str | None = None, queries: Any = None) -> str:
    """Return the page as text; parameters and errors as for :func:`write_report`."""
    page = Page(results, title, queries)
    facts = {name: make(page.results) for name, make in OF_ALL.items()}
    versions = {"version": __version__, "sets": data_version()}
    return escape_controls(_template().render(page=page, look=_look(), **versions, **facts))


@cache
def _look() -> dict[str, Any]:
    """Return the colors, and what the script shares with Python's plots."""
    look = read_look()
    shared = {name: value for name, value in look.items() if name not in ("light", "dark")}
    return look | {"shared": shared}


@cache
def _template() -> Any:
    """Return the template, compiled once: that takes jinja2 as long as filling it."""
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
    return environment.get_template("report.html")


class Part:
    """One collection on the page.

    Parameters
    ----------
    results : Results
    name : str
    queries : mapping of str to str
        Texts of topics.
    """

    def __init__(self, results: Results, name: str, queries: Mapping[str, str]) -> None:
        self.results = results
        self.name = name
        self.record = collection_record(results, name, subject_of(results), queries)
        self.is_pair = self.record["rival"] is not None or len(results.runs) == 1
        self.several = len(results.runs) > 2
        self.warnings = results.warnings
        facts = [RunStanding(results, view, subject_of(results)) for view in views_of(results)]
        found = [d for each in facts for run in results.runs if (d := each.difference(run))]
        self.power = " ".join(power_notes(found))
        self.weaknesses = [t for texts in known_weaknesses([results]).values() for t in texts]

    @property
    def about(self) -> str:
        """``12 runs · 43 topics · 37 systems``."""
        n_systems = max((len(m["systems"]) for m in self.record["measures"]), default=0)
        n_runs, n_topics = len(self.results.runs), len(self.results.topics)
        return " · ".join(
            [count_runs(self.results, n_runs)] * self.several
            + [pluralize(n_topics, self.results.collection.unit)]
            + [f"{n_systems} {systems_word(self.results)}"] * (0 < n_systems != n_runs)
        )

    @property
    def title(self) -> str:
        """Name of the collection."""
        match = self.results.match
        if match is None or match.fit is None:
            return pluralize(len(self.results.topics), self.results.collection.unit)
        return match.fit.dataset or match.fit.factors.title

    @property
    def factors(self) -> str:
        """The reference systems, and how they were found."""
        match = self.results.match
        factors = match and match.factors
        return f"{factors.title} ({factors.id}): {recognized_by(self.results)}." if factors else ""

    @property
    def test(self) -> str:
        """The test of differences, in words."""
        n = max(len(self.results.differences), 1)
        return describe_test(self.results.procedure.test, self.results.procedure.correction, n)

    @property
    def table(self) -> str:
        """The means, for readers without JavaScript."""
        return self.results.table(PLACES).html()


class Page:
    """What the template shows.

    Parameters
    ----------
    results : Results
    title : str, optional
    queries : mapping, str, path or file, optional
    """

    def __init__(self, results: Results, title: str | None, queries: Any) -> None:
        by_name = {name: results.on(name) for name in results.collections}
        self.results = list(by_name.values())
        topics = dict.fromkeys(t for each in self.results for t in each.topics)
        texts = {} if queries is None else read_texts(queries, topics, "queries")
        self.parts = [Part(each, name, texts) for name, each in by_name.items()]
        n = len(self.parts)
        self.across = across_of(results) if n > 1 else None
        self.tables = [table.html() for table in tables_of(results)] if n > 1 else []
        of_parts = {text for each in self.results for text in each.warnings}
        self.warnings = [text for text in results.warnings if text not in of_parts]
        self.heading = title or (self.parts[0].title if n == 1 else f"{n} collections")
        subject = self.parts[0].record
        self.title = title or f"{subject['runs'][subject['subject']]}: {self.heading}"

    @property
    def about(self) -> str:
        """The text next to the heading."""
        if len(self.parts) == 1:
            return self.parts[0].about
        return ", ".join(part.name for part in self.parts)

    @property
    def measures(self) -> list[str]:
        """Names of the measures to choose from."""
        return list(dict.fromkeys(v.name for each in self.results for v in views_of(each)))

    @cached_property
    def packed(self) -> str:
        """The data of the script."""
        return packed(
            _visible({"collections": [p.record for p in self.parts], "across": self.across})
        )

    @property
    def over_systems(self) -> bool:
        """True if intervals are over topics and reference systems."""
        return any(each.collection.plans and over_systems(each) for each in self.results)

    @property
    def tests(self) -> str:
        """Meaning of “clear”, with the correction of p-values."""
        texts = dict.fromkeys(
            f"“Clear” means a {describe_test(how.test, how.correction, len(each.differences))}."
            for each in self.results
            for how in [each.procedure]
            if each.differences
        )
        return " ".join(texts)

    @property
    def schemes(self) -> list[tuple[str, str, str, str]]:
        """Name, example measure, meaning and source of each scheme used."""
        used: dict[str, Standardized] = {}
        for results in self.results:
            for measure in results.collection.plans:
                used.setdefault(measure["scheme"], measure)
        return [
            (name, str(used[name]), READING[name], SCHEMES[name].source)
            for name in SCHEMES
            if name in used
        ]


def _visible(data: Any) -> Any:
    """Escape the control characters in all texts of the data, as in the page itself."""
    if isinstance(data, str):
        return escape_controls(data)
    if isinstance(data, dict):
        return {key: _visible(value) for key, value in data.items()}
    return [_visible(each) for each in data] if isinstance(data, (list, tuple)) else data
