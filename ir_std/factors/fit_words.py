"""Sentences about a fit: which set, what matched, what differs, and why a set does not fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ir_std.errors import abbreviate, join_with_and, pluralize
from ir_std.factors.judgments import ALL_JUDGED

if TYPE_CHECKING:
    from ir_std.factors.match import Fit

COUNTS = "counts of relevant documents"


def describe_fit(fit: Fit, warning: str = "") -> str:
    """Say which set, how many systems it has, and what matched; then a warning, if any."""
    factors = fit.factors
    if fit.dataset is None:
        systems, evidence = f"{factors.systems_text()} systems", _evidence(fit)
    else:
        row = factors.rows([fit.dataset])[0]
        n = max(int(np.isfinite(scores[row]).sum()) for scores in factors.scores.values())
        what = _what_is_identical(fit)[0] if fit.match_type == "judgments" else "names"
        systems = pluralize(n, "system")
        evidence = f"{what} match on the dataset {fit.dataset}; only means can be standardized"
    kinds = f"all topics are of kind {' or '.join(fit.kinds)}" if fit.kinds else ""
    text = "; ".join(filter(None, (evidence, kinds, warning)))
    return f"{factors.id} ({factors.title}, {systems}): {text}"


def _evidence(fit: Fit) -> str:
    """Say what matched, and on how many topics."""
    of = pluralize(len(fit.matched) + fit.n_missing, fit.factors.unit)
    every = f"{len(fit.matched)} of {of}"
    if fit.match_type == "systems":
        return f"judgments match on {every}"
    if fit.match_type == "counts":
        n = len(fit.matched) - len(fit.agreement.at_level(1).different)
        return f"{COUNTS} match on {n} of {of}"
    if fit.match_type == "names of measures":
        shared = [m for m in fit.collection.external if m in fit.factors.measures]
        return f"only topic IDs ({every}) and the name of {abbreviate(shared)} match"
    if fit.match_type and fit.identical_topics:
        what, topics = _what_is_identical(fit)
        left_out = {*fit.unverified_topics, *fit.count_mismatches}
        n = sum(topic not in left_out for topic in fit.count_only_topics)
        return f"{what} match on {len(topics)} of {of}" + (f", {COUNTS} on {n}" if n else "")
    if fit.match_type is None and not (fit.collection.qrels or fit.factors.of_datasets):
        return f"topic IDs match on {every}; whether the judgments do is unknown"
    return f"{'names' if fit.factors.of_datasets else 'topic IDs'} match on {every}"


def _what_is_identical(fit: Fit) -> tuple[str, list[str]]:
    """Return what is identical on topics with the same relevant documents, and these topics."""
    relevant = fit.agreement.identical([1])
    graded = fit.agreement.identical(fit.levels)
    judged = fit.agreement.identical([*fit.levels, 0, ALL_JUDGED])
    if len(judged) == len(relevant):
        return "judgments", judged
    if len(graded) == len(relevant) and len(fit.levels) > 1:
        return "relevant documents at every level", graded
    return "relevant documents", relevant


def caveat(fit: Fit) -> str | None:
    """Say what a reader should know of a fit that is not perfect; None if it is."""
    name, found = fit.factors.id, [describe_difference(fit, fit.levels)]
    if topics := fit.unverified_topics:
        found.append(
            f"{COUNTS} do not suffice to recognize {pluralize(len(topics), 'topic')} of {name} "
            f"({abbreviate(topics)})"
        )
    if fit.unfamiliar_id and not fit.identical_topics:
        found.append(f"document IDs such as {fit.unfamiliar_id!r} do not look like {name}'s")
    if fit.collection.qrels and 0 < len(fit.matched) == len(fit.agreement.at_level(1).unknown):
        found.append(f"{name} does not record its judgments, so nothing was compared")
    return "; ".join(filter(None, found)) or None


def describe_difference(fit: Fit, levels: Iterable[int]) -> str | None:
    """Describe on how many topics judgments differ from the set's; None if on none."""
    where = _where_different(fit, levels)
    return where and f"judgments differ from {fit.factors.id} {where}"


def _where_different(fit: Fit, levels: Iterable[int]) -> str | None:
    levels = [level for level in levels if fit.agreement.at_level(level).different]
    if not levels:
        return None
    relevant = [level for level in levels if level > 0]
    where = [f"at {levels_text(relevant)}"] if relevant else []
    if len(relevant) < len(levels):
        where.append("in the documents judged not relevant")
    n = f"{len(fit.agreement.differing(levels))} of {pluralize(len(fit.matched), 'topic')}"
    return f"{' and '.join(where)} on {n} ({_example(fit, levels[-1])})"


def _example(fit: Fit, level: int) -> str:
    """Describe a topic whose judgments differ at a level."""
    topic = fit.agreement.at_level(level).different[0]
    row = fit.matched.index(topic)
    there, here = (int(counts[row]) for counts in fit.agreement.counts(level))
    if there == here:
        return f"e.g. {topic}: {there} in both, but not the same documents"
    documents = pluralize(there, "document")
    return f"e.g. {topic}: {documents} in the set, {here} in your {_source(fit)}"


def _source(fit: Fit) -> str:
    return "qrels" if fit.collection.qrels else "scores"


def mismatch_reason(fit: Fit) -> str:
    """Say why a set does not fit, in a clause."""
    if not fit.matched:
        return "it holds none of the topics"
    if not fit.comparable_topics:
        if fit.collection.counts_known:
            return "it does not record its judgments, so it is used only if you name it"
        return "the scores have no num_rel to compare"
    n = len(fit.differing_topics)
    if n and not fit.identical_topics and not fit.count_only_topics:
        topics = f"{'all ' if n > 1 else ''}{pluralize(n, 'topic')}"
        return f"its relevant documents differ on {topics} ({_example(fit, 1)}){_about_ids(fit)}"
    if 2 * n <= len(fit.comparable_topics) and not fit.counts_suffice:
        return _why_counts_fail(fit)
    return f"its judgments differ {_where_different(fit, [1])}"


def _why_counts_fail(fit: Fit) -> str:
    """Say why topics of which only counts are known cannot be matched by them."""
    topics = pluralize(len(fit.count_only_topics), "topic")
    if fit.counts_disagree:
        differ = [topic for topic in fit.count_only_topics if topic in fit.count_mismatches]
        there, here = fit.count_mismatches[differ[0]]
        return (
            f"{COUNTS} differ on {len(differ)} of {topics} "
            f"(e.g. {differ[0]}: {there} in the set, {here} in your {_source(fit)})"
        )
    if fit.unfamiliar_id and fit.count_only_topics:
        return f"document IDs such as {fit.unfamiliar_id!r} do not look like the collection's"
    return (
        f"only {topics} can be compared, by {COUNTS}; this needs at least 10, with more than one "
        "document on some"
    )


def _about_ids(fit: Fit) -> str:
    """Say how document IDs differ, if they do."""
    if not fit.unfamiliar_id:
        return ""
    example, corpus = fit.factors.info["doc_id_example"], fit.factors.info.get("corpus")
    of = f" of {corpus}" if corpus else ""
    return f"; its document IDs look like {example!r}{of}, yours like {fit.unfamiliar_id!r}"


def levels_text(levels: Sequence[int]) -> str:
    """List relevance levels, such as ``level 1`` or ``levels 1 and 2``."""
    return f"level{'s' if len(levels) > 1 else ''} {join_with_and(map(str, levels))}"
