"""Texts to paste into a paper: the method, the references and the licences of results."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from ir_std._version import __version__
from ir_std.analysis.paired import describe_test
from ir_std.factors.catalog import data_version
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.quality import findings
from ir_std.measures import Standardized
from ir_std.reporting.html.standing import n_systems
from ir_std.reporting.html.words import say
from ir_std.reporting.model import Results
from ir_std.reporting.result_tables import count_range
from ir_std.reporting.sentences import error_sources

SCHEME_PAPER = {"z": "webber2008", "N": "webber2008", "U": "sakai2016", "E": "urbano2019"}
"""Key of each scheme's paper in ``references.bib``."""


@cache
def read_references() -> dict[str, str]:
    """Read the BibTeX entries of ``references.bib``, by key."""
    text = (files(__package__) / "templates" / "references.bib").read_text("utf-8")
    entries = [f"@{entry}" for entry in text.strip().removeprefix("@").split("\n@")]
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in entries}


@dataclass
class Licence:
    """Source and licence of a set's factors for some measures."""

    set: str
    source: str
    url: str
    licence: str
    licence_uri: str
    measures: list[str] = field(default_factory=list)


def licences(results: Results) -> list[Licence]:
    """Return the sources and licences of the factors used, each with its raw measures."""
    by_source: dict[tuple[str, str], Licence] = {}
    for factors, name in _factors_used(results):
        source = factors.about(name, "source", factors.source) or "not stated"
        row = by_source.setdefault((factors.id, source), _licence(factors, name, source))
        if name not in row.measures:
            row.measures.append(name)
    return list(by_source.values())


def _licence(factors: FactorSet, measure: str, source: str) -> Licence:
    """Return the source and licence of a measure, as stated by its source or its set."""
    records: list[dict[str, str]] = factors.info.get("sources", [])
    stated = next((record for record in records if record.get("source") == source), {})
    own = factors.info["measures"].get(measure, {}).get("licence")
    licence = own or stated.get("licence") or factors.info.get("licence") or "not stated"
    return Licence(
        factors.id, source, stated.get("url") or "", licence, stated.get("licence_uri") or ""
    )


def known_weaknesses(results: Results) -> list[str]:
    """Return the known limitations of the factor sets for the measures used."""
    used: dict[str, tuple[FactorSet, dict[str, None]]] = {}
    for factors, name in _factors_used(results):
        used.setdefault(factors.id, (factors, {}))[1][name] = None
    return [text for factors, names in used.values() for text in findings(factors, names)]


def _factors_used(results: Results) -> list[tuple[FactorSet, str]]:
    """List each standardized measure's factor set and its measure in that set."""
    collections = results.collections.values()
    return [(plan.factors, plan.name) for each in collections for plan in each.plans.values()]


def method(results: Results) -> str:
    """Describe how scores were computed, as HTML, for the evaluation section of a paper."""
    each = [results.on(name) for name in results.collections]
    counts: dict[FactorSet, list[int]] = {}
    for plan in (plan for one in each for plan in one.collection.plans.values()):
        known = n_systems(plan)
        counts.setdefault(plan.factors, []).extend(known[known > 0].astype(int).tolist())
    tested = [(one, one.procedure) for one in each if one.differences]
    facts = {
        "version": __version__,
        "sets": data_version(),
        "measures": dict.fromkeys(
            str(m.base if isinstance(m, Standardized) else m) for one in each for m in one.measures
        ),
        "papers": {scheme: SCHEME_PAPER[scheme] for scheme in schemes_used(results)},
        "units": dict.fromkeys(factors.unit for factors in counts),
        "systems": [(factors.title, count_range(n)) for factors, n in counts.items()],
        "tests": dict.fromkeys(
            (
                one.baseline,
                describe_test(how.test, how.correction, len(one.differences), one.collection.unit),
            )
            for one, how in tested
        ),
        "sources": dict.fromkeys((one.collection.unit, tuple(error_sources(one))) for one in each),
    }
    return say("method", facts)


def references(results: Results) -> str:
    """Return the BibTeX of the papers that :func:`method` cites."""
    keys = [*(SCHEME_PAPER[scheme] for scheme in schemes_used(results)), "macavaney2022"]
    return "\n".join(read_references()[key] for key in dict.fromkeys(keys))


def schemes_used(results: Results) -> dict[str, Standardized]:
    """Return the schemes used, each with its first measure."""
    used: dict[str, Standardized] = {}
    for measure in (m for each in results.collections.values() for m in each.plans):
        used.setdefault(measure["scheme"], measure)
    return used
