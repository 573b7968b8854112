"""One factor set compared with a collection: by judged documents, by counts, by document ids."""

from __future__ import annotations

from dataclasses import replace

from ir_std.factors.collection import Collection, differ_widely
from ir_std.factors.doc_ids import looks_like
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.fit import Fit

ENOUGH_AT_ONE_LEVEL = 30
"""The fewest to compare for a renaming where all relevant documents are at one level."""


def fit_set(factors: FactorSet, collection: Collection) -> Fit:
    """Compare one set with a collection."""
    fit = Fit(factors, collection)
    if fit.same and fit.exact and not fit.counted:
        return replace(fit, basis="judgments")
    if factors.of_datasets and fit.matched:
        return replace(fit, basis="judgments" if fit.same else "names of data sets")
    strange_ids = _strange_ids(factors, collection)
    fit = replace(fit, strange_id=next(iter(strange_ids), None))
    all_strange = len(strange_ids) == len(collection.doc_ids)
    if fit.refuted and all_strange and _documents_renamed(fit):
        return replace(fit, basis="names")
    why_not = _why_not(fit)
    if why_not:
        return replace(fit, why_not=why_not)
    if fit.same:
        return replace(fit, basis="judgments", strange_id=None)
    return replace(fit, basis="counts" if fit.exact else "nearly")


def _strange_ids(factors: FactorSet, collection: Collection) -> list[str]:
    """The document ids that do not look like those of the set's collection."""
    pattern = factors.info.get("doc_id_pattern")
    return [d for d in collection.doc_ids if not looks_like(pattern, d)] if pattern else []


def _documents_renamed(fit: Fit) -> bool:
    """Whether these may be the same judgments under other document ids."""
    return (
        not fit.same
        and fit.numbers_suffice(fit.comparable)
        and (len(fit.levels) > 1 or len(fit.comparable) >= ENOUGH_AT_ONE_LEVEL)
        and all(
            fit.collection.at_least(topic, at) == fit.factors.judgments[topic].at_least(at)
            for topic in fit.comparable
            for at in fit.levels
        )
    )


def _why_not(fit: Fit) -> str | None:
    """Why a set does not fit; None if it does."""
    if not fit.comparable:
        return _why_not_comparable(fit)
    n_refuted, n_known = len(fit.refuted), len(fit.refuted) + len(fit.same)
    wide = [t for t in fit.counted if t in fit.differ and differ_widely(*fit.differ[t])]
    if 2 * (n_refuted + len(wide)) > len(fit.comparable):
        if n_refuted and not fit.same:
            return f"on none of {n_known} topics are the same documents relevant ({fit.example(1)})"
        return fit.difference([1])
    return None if fit.same else fit.why_not_by_numbers


def _why_not_comparable(fit: Fit) -> str:
    if not fit.matched:
        return "holds none of the topics"
    where = "there" if fit.collection.counts_known else "here (no num_rel)"
    return f"how many documents are relevant is not known {where}: it is used by name only"
