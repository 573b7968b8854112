"""Method, references and licences of results, ready to paste into a paper."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ir_std._system.text import latex_escape
from ir_std._version import __version__
from ir_std.analysis.paired import describe_test
from ir_std.errors import join_with_and
from ir_std.factors.catalog import data_version
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.quality import findings
from ir_std.measures import Standardized
from ir_std.reporting.figure_data import over_systems
from ir_std.reporting.model import Results
from ir_std.reporting.result_tables import count_range
from ir_std.reporting.sentences.page import n_systems
from ir_std.reporting.sentences.tables import error_sources

REFERENCES = {
    "webber2008": """\
@inproceedings{webber2008,
  author = {Webber, William and Moffat, Alistair and Zobel, Justin},
  title = {Score Standardization for Inter-Collection Comparison of Retrieval Systems},
  booktitle = {Proceedings of SIGIR 2008}, pages = {51--58}, year = {2008},
  doi = {10.1145/1390334.1390346}}""",
    "sakai2016": """\
@inproceedings{sakai2016,
  author = {Sakai, Tetsuya},
  title = {A Simple and Effective Approach to Score Standardisation},
  booktitle = {Proceedings of ICTIR 2016}, pages = {95--104}, year = {2016},
  doi = {10.1145/2970398.2970399}}""",
    "urbano2019": """\
@inproceedings{urbano2019,
  author = {Urbano, Juli{\\'a}n and Lima, Harlley and Hanjalic, Alan},
  title = {A New Perspective on Score Standardization},
  booktitle = {Proceedings of SIGIR 2019}, pages = {1061--1064}, year = {2019},
  doi = {10.1145/3331184.3331315}}""",
    "macavaney2022": """\
@inproceedings{macavaney2022,
  author = {MacAvaney, Sean and Macdonald, Craig and Ounis, Iadh},
  title = {Streamlining Evaluation with ir-measures},
  booktitle = {Proceedings of ECIR 2022}, pages = {305--310}, year = {2022},
  doi = {10.1007/978-3-030-99739-7_38}}""",
}
"""What a paper that uses these numbers cites, in BibTeX."""

SCHEME_PAPER = {"z": "webber2008", "N": "webber2008", "U": "sakai2016", "E": "urbano2019"}
SCHEME_WORDS = {
    "z": "as z-scores",
    "N": "by the normal distribution function of z-scores",
    "U": "linearly",
    "E": "by the systems' empirical distribution",
}


@dataclass
class Licence:
    """Where the factors of some measures of a set come from."""

    set: str
    source: str
    url: str
    licence: str
    licence_uri: str
    measures: list[str] = field(default_factory=list)


def licences(several: Iterable[Results]) -> list[Licence]:
    """Return the sources and licences of all factors used, each with its raw measures."""
    by_source: dict[tuple[str, str], Licence] = {}
    for plan in (plan for results in several for plan in results.collection.plans.values()):
        source = plan.factors.about(plan.name, "source", plan.factors.source) or "not stated"
        row = by_source.setdefault(
            (plan.factors.id, source), _licence(plan.factors, plan.name, source)
        )
        if plan.name not in row.measures:
            row.measures.append(plan.name)
    return list(by_source.values())


def _licence(factors: FactorSet, measure: str, source: str) -> Licence:
    """Return what a set's list of sources says of one source, else what the set says of all."""
    records: list[dict[str, str]] = factors.info.get("sources", [])
    stated = next((record for record in records if record.get("source") == source), {})
    own = factors.info["measures"].get(measure, {}).get("licence")
    licence = own or stated.get("licence") or factors.info.get("licence") or "not stated"
    return Licence(
        factors.id, source, stated.get("url") or "", licence, stated.get("licence_uri") or ""
    )


def known_weaknesses(several: Iterable[Results]) -> dict[str, list[str]]:
    """Return the known limitations of each factor set for the measures used."""
    used: dict[str, tuple[FactorSet, dict[str, None]]] = {}
    for plan in (plan for results in several for plan in results.collection.plans.values()):
        used.setdefault(plan.factors.id, (plan.factors, {}))[1][plan.name] = None
    sentences = {id: list(findings(factors, names)) for id, (factors, names) in used.items()}
    return {id: texts for id, texts in sentences.items() if texts}


def method(several: Iterable[Results]) -> str:
    """Describe how the scores were computed, for a paper's section on evaluation."""
    several = list(several)
    schemes = _schemes(several)
    raw = dict.fromkeys(
        str(m.base if isinstance(m, Standardized) else m)
        for results in several
        for m in results.measures
    )
    texts = [
        f"We report {latex_escape(join_with_and(raw))}, computed with ir_std {__version__} "
        f"(factor sets {data_version()}) and "
        "ir_measures \\cite{macavaney2022}."
    ]
    if schemes:
        ways = [f"{SCHEME_WORDS[s]} ({s}) \\cite{{{SCHEME_PAPER[s]}}}" for s in schemes]
        units = dict.fromkeys(
            plan.factors.unit for results in several for plan in results.collection.plans.values()
        )
        texts.append(
            f"Scores are standardized by {join_with_and(units)} {join_with_and(ways)}, "
            f"with factors from {join_with_and(_sets(several))}."
        )
    texts += dict.fromkeys(_tests(results) for results in several if results.differences)
    over = dict.fromkeys(_intervals(results) for results in several)
    texts += [f"Intervals are 95\\% intervals of means: {text}." for text in over]
    return " ".join(texts)


def _intervals(results: Results) -> str:
    over_topics = "over topics (Student's t)"
    if not over_systems(results):
        return over_topics
    methods = error_sources(results)
    return (
        over_topics
        + ", and for standardized scores over the reference systems, " * bool(methods)
        + "; ".join(methods)
    )


def _tests(results: Results) -> str:
    test = describe_test(
        results.procedure.test, results.procedure.correction, len(results.differences)
    )
    return (
        f"Differences from {latex_escape(results.baseline or '')} are called significant by a "
        f"{test}, for each measure by itself."
    )


def references(several: Iterable[Results]) -> str:
    """Return the BibTeX of the papers that :func:`method` cites."""
    keys = dict.fromkeys([*(SCHEME_PAPER[s] for s in _schemes(several)), "macavaney2022"])
    return "\n".join(REFERENCES[key] for key in keys)


def _schemes(several: Iterable[Results]) -> list[str]:
    return list(dict.fromkeys(m["scheme"] for results in several for m in results.collection.plans))


def _sets(several: Iterable[Results]) -> list[str]:
    """Name the reference systems of each set, with their number on these topics."""
    counts: dict[FactorSet, list[int]] = {}
    for results in several:
        for plan in results.collection.plans.values():
            known = n_systems(plan)
            counts.setdefault(plan.factors, []).extend(known[known > 0].astype(int).tolist())
    return [
        f"the {count_range(n)} systems of {latex_escape(factors.title)}"
        for factors, n in counts.items()
    ]
