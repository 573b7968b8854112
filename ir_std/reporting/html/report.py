"""Write results as a self-contained HTML page for browsers, phones and paper."""

import os
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import IO, Any

from ir_std._system.files import check_output, write_atomically
from ir_std._system.text import escape_controls
from ir_std._version import __version__
from ir_std.errors import pluralize
from ir_std.evaluation.plans import Plan
from ir_std.factors.catalog import data_version
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.quality import findings
from ir_std.measures import Standardized
from ir_std.reporting.agreement import judgment_agreements
from ir_std.reporting.html.across import across_of
from ir_std.reporting.html.record import collection_record, packed
from ir_std.reporting.html.standing import n_systems, standings_of, subject_of
from ir_std.reporting.html.words import environment, say
from ir_std.reporting.model import Results
from ir_std.reporting.plots import read_look
from ir_std.reporting.result_tables import collection_tables, count_range
from ir_std.reporting.sentences import baseline_test, describe_error_sources, power_notes
from ir_std.reporting.tables import Table
from ir_std.schemes import SCHEMES
from ir_std.scores.run_scores import QrelsFromCounts
from ir_std.trec import read_texts

GENERATOR_TAG = b'<meta name="generator" content="ir_std '
"""Text that marks a page as written by ir_std, which may replace the page."""

SCHEME_PAPER = {"z": "webber2008", "N": "webber2008", "U": "sakai2016", "E": "urbano2019"}
"""Key of each scheme's paper in ``references.bib``."""


def write_report(
    results: Results,
    file: str | os.PathLike[str] | IO[Any],
    title: str | None = None,
    inputs: Iterable[str | os.PathLike[str]] = (),
    *,
    force: bool = False,
    queries: Any = None,
) -> None:
    """Write results as one HTML file; if that fails, leave no partial file.

    Parameters
    ----------
    results : Results
    file : str, path or open file
    title : str, optional
        Title in the browser window and in the first line of the page.
    inputs : iterable of str or path
        Files that must not be replaced.
    force : bool
        True to replace a file even if ir_std did not write it.
    queries : mapping, str, path or file, optional
        Query texts of the topics, as for :func:`ir_std.diff`.

    Raises
    ------
    InputError
        If the file cannot be written, is an input, or exists and was not written by ir_std.
    MissingLibraryError
        If jinja2 is not installed.

    Examples
    --------
    >>> results = ir_std.evaluate({"bm25": "bm25.run", "mono": "mono.run"}, "qrels.txt")
    >>> write_report(results, "report.html", "Two runs on TREC-8")
    """
    check_output(file, inputs, b"" if force else GENERATOR_TAG)
    write_atomically(
        file, render(results, title, queries).encode(errors="backslashreplace"), inputs
    )


def render(results: Results, title: str | None = None, queries: Any = None) -> str:
    """Return the page as text; :func:`write_report` lists parameters and errors."""
    each = {name: results.on(name) for name in results.collections}
    topics = dict.fromkeys(topic for one in each.values() for topic in one.topics)
    texts = {} if queries is None else read_texts(queries, topics, "queries")
    parts = [_part(one, name, texts) for name, one in each.items()]
    first, are_several = parts[0]["record"], len(parts) > 1
    across = across_of(results) if are_several else None
    heading = title or (f"{len(parts)} collections" if are_several else _title(results))
    data = {"collections": [part["record"] for part in parts], "across": across}
    of_parts = {text for one in each.values() for text in one.warnings}
    used = schemes_used(results)
    page = environment().get_template("report.html")
    text: str = page.render(
        title=title or f"{first['runs'][first['subject']]}: {heading}",
        heading=heading,
        parts=parts,
        across=across,
        tables=tables_of(results) if are_several else [],
        warnings=[text for text in results.warnings if text not in of_parts],
        data=packed(_visible(data)),
        schemes=[(name, used[name], SCHEMES[name].source) for name in SCHEMES if name in used],
        tests=dict.fromkeys(filter(None, map(baseline_test, each.values()))),
        method=method(results),
        references=references(results),
        licences=licences(results),
        version=__version__,
        sets=data_version(),
        look=read_look(),
    )
    return escape_controls(text)


def tables_of(results: Results) -> list[Table]:
    """Return the tables of means, of differences and of the agreement of judgments."""
    tables = collection_tables(results)
    for one in judgment_agreements(results):
        names = ["labels", "confusion", *["order"] * (len(one.systems) > 1)]
        tables += [one.table(name) for name in names]
    return tables


def _part(results: Results, name: str, queries: Mapping[str, str]) -> dict[str, Any]:
    """Return the values that the template shows for one collection."""
    standings = standings_of(results, subject_of(results))
    found = [d for facts in standings for d in facts.differences.values()]
    is_of_scores = isinstance(results.collection.evaluator.qrels, QrelsFromCounts)
    return {
        "results": results,
        "name": name,
        "record": collection_record(name, standings, queries),
        "factors": say("factor_set", results, is_of_scores),
        "power": " ".join(power_notes(found)),
        "weaknesses": quality_issues(results),
    }


def _title(results: Results) -> str:
    """Return the title of a page about one collection."""
    fit = results.match and results.match.fit
    if fit:
        return fit.dataset or fit.factors.title
    return pluralize(len(results.topics), results.collection.unit)


def _visible(data: Any) -> Any:
    """Escape control characters in the data's texts, as is done in the page's texts."""
    if isinstance(data, str):
        return escape_controls(data)
    if isinstance(data, dict):
        return {key: _visible(value) for key, value in data.items()}
    return [_visible(each) for each in data] if isinstance(data, (list, tuple)) else data


# Texts to paste into a paper: the method, the references and the licences


@cache
def read_references() -> dict[str, str]:
    """Read the BibTeX entries of ``references.bib``, by key."""
    text = (files(__package__) / "templates" / "references.bib").read_text("utf-8")
    entries = [f"@{entry}" for entry in text.strip().removeprefix("@").split("\n@")]
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in entries}


def licences(results: Results) -> list[dict[str, Any]]:
    """Return the sources and licences of the factors used, each source with its raw measures.

    The licence is stated for the measure, for the source, or for the whole set.
    """
    by_source: dict[tuple[str, str], dict[str, Any]] = {}
    for plan in _plans(results):
        factors, name = plan.factors, plan.name
        info, records = factors.info, factors.info.get("sources", [])
        source = factors.about(name, "source", factors.source) or "not stated"
        stated: dict[str, str] = next((r for r in records if r.get("source") == source), {})
        own = info["measures"].get(name, {}).get("licence")
        row: dict[str, Any] = {
            "set": factors.id,
            "source": source,
            "url": stated.get("url"),
            "licence": own or stated.get("licence") or info.get("licence") or "not stated",
            "licence_uri": stated.get("licence_uri"),
            "measures": {},
        }
        by_source.setdefault((factors.id, source), row)["measures"][name] = None
    return list(by_source.values())


def quality_issues(results: Results) -> list[str]:
    """Return the known limitations of the factor sets, for the measures that are used."""
    used: dict[str, tuple[FactorSet, dict[str, None]]] = {}
    for plan in _plans(results):
        used.setdefault(plan.factors.id, (plan.factors, {}))[1][plan.name] = None
    return [text for factors, names in used.values() for text in findings(factors, names)]


def _plans(results: Results) -> list[Plan]:
    """List the plans of all standardized measures on all collections."""
    return [plan for each in results.collections.values() for plan in each.plans.values()]


def method(results: Results) -> str:
    """Describe in HTML how scores were computed, for the evaluation section of a paper."""
    each = [results.on(name) for name in results.collections]
    counts: dict[FactorSet, list[int]] = {}
    for plan in _plans(results):
        n_by_topic = n_systems(plan)
        counts.setdefault(plan.factors, []).extend(n_by_topic[n_by_topic > 0].astype(int).tolist())
    facts = {
        "version": __version__,
        "sets": data_version(),
        "measures": dict.fromkeys(
            str(m.base if isinstance(m, Standardized) else m) for one in each for m in one.measures
        ),
        "papers": {scheme: SCHEME_PAPER[scheme] for scheme in schemes_used(results)},
        "units": dict.fromkeys(factors.unit for factors in counts),
        "systems": [(factors.title, count_range(n)) for factors, n in counts.items()],
        "links": dict.fromkeys(one.origin for one in results.links.values()),
        "tests": dict.fromkeys(
            (one.baseline, test) for one in each if (test := baseline_test(one))
        ),
        "sources": dict.fromkeys(
            (one.collection.unit, describe_error_sources(results if results.links else one))
            for one in each
        ),
    }
    return say("method", facts)


def references(results: Results) -> str:
    """Return the BibTeX of the papers that :func:`method` cites."""
    keys = [*(SCHEME_PAPER[scheme] for scheme in schemes_used(results)), "macavaney2022"]
    return "\n".join(read_references()[key] for key in dict.fromkeys(keys))


def schemes_used(results: Results) -> dict[str, Standardized]:
    """Return the schemes that are used, each scheme with its first measure."""
    used: dict[str, Standardized] = {}
    for plan in _plans(results):
        used.setdefault(plan.measure["scheme"], plan.measure)
    return used
