"""Sentences about the agreement and the differences between a set and qrels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ir_std.errors import abbreviate, join_with_and, pluralize
from ir_std.factors.judgments import ALL_JUDGED

if TYPE_CHECKING:
    from ir_std.factors.match import Fit, Match

COUNTS = "counts of relevant documents"


def describe_fit(fit: Fit, warning: str = "") -> str:
    """Describe the set, its number of systems, what matched, and any warning."""
    factors = fit.factors
    if fit.dataset is None:
        systems, evidence = f"{factors.systems_text()} systems", describe_evidence(fit)
    else:
        row = factors.rows([fit.dataset])[0]
        n = max(int(np.isfinite(scores[row]).sum()) for scores in factors.scores.values())
        what = _what_is_identical(fit)[0] if fit.match_type == "judgments" else "names"
        systems = pluralize(n, "system")
        evidence = f"{what} match on the dataset {fit.dataset}; only means can be standardized"
    text = "; ".join(filter(None, (evidence, _kinds(fit), warning)))
    return f"{factors.id} ({factors.title}, {systems}): {text}"


def _kinds(fit: Fit) -> str:
    """Name the kinds of the matched topics, but only if the set has further kinds of topics."""
    kind_of = fit.factors.info.get("topic_kinds", {})
    kinds = dict.fromkeys(kind_of[t] for t in fit.matched if t in kind_of)
    is_part = 0 < len(kinds) < len({*kind_of.values()})
    return f"all topics are of kind {' or '.join(kinds)}" if is_part else ""


def describe_evidence(fit: Fit) -> str:
    """Say what matched, and on how many topics."""
    of = pluralize(len(fit.matched) + fit.n_missing, fit.factors.unit)
    every = f"{len(fit.matched)} of {of}"
    if fit.match_type == "systems":
        return f"judgments match on {every}"
    if fit.match_type == "counts":
        n = len(fit.matched) - np.count_nonzero(fit.agreement.at_level(1).different)
        return f"{COUNTS} match on {n} of {of}"
    if fit.match_type == "names of measures":
        shared = [m for m in fit.collection.external if m in fit.factors.measures]
        return f"only topic IDs ({every}) and the name of {abbreviate(shared)} match"
    if fit.match_type and fit.identical_topics:
        what, n_identical = _what_is_identical(fit)
        left_out = {*fit.unverified_topics, *fit.count_mismatches}
        n = sum(topic not in left_out for topic in fit.count_only_topics)
        return f"{what} match on {n_identical} of {of}" + (
            f", and {COUNTS} match on {n}" if n else ""
        )
    if fit.match_type is None and not (fit.collection.qrels or fit.factors.of_datasets):
        return f"topic IDs match on {every}; it is unknown whether the judgments match"
    return f"{'names' if fit.factors.of_datasets else 'topic IDs'} match on {every}"


def _what_is_identical(fit: Fit) -> tuple[str, int]:
    """Say which judgments are identical, and count the topics on which they are identical."""
    levels = [1], fit.levels, [*fit.levels, 0, ALL_JUDGED]
    masks = map(fit.agreement.is_identical, levels)
    relevant, graded, judged = map(int, map(np.count_nonzero, masks))
    if judged == relevant:
        return "judgments", relevant
    is_graded = graded == relevant and len(fit.levels) > 1
    return f"relevant documents{' at every level' * is_graded}", relevant


def caveat(fit: Fit) -> str | None:
    """Describe reasons to doubt that the set matches; None if there are no such reasons."""
    name, found = fit.factors.id, [describe_difference(fit, fit.levels)]
    if topics := fit.unverified_topics:
        found.append(
            f"{COUNTS} are not enough to recognize {pluralize(len(topics), 'topic')} of {name} "
            f"({abbreviate(topics)})"
        )
    if fit.unfamiliar_id and not fit.identical_topics:
        found.append(f"document IDs such as {fit.unfamiliar_id!r} do not look like {name}'s")
    if fit.collection.qrels and fit.matched and fit.agreement.at_level(1).unknown.all():
        found.append(f"{name} does not record its judgments, so nothing was compared")
    return "; ".join(filter(None, found)) or None


def describe_difference(fit: Fit, levels: Iterable[int]) -> str | None:
    """Describe how judgments differ from the set's judgments; None if they are equal."""
    where = _where_different(fit, levels)
    return where and f"judgments differ from {fit.factors.id} {where}"


def _where_different(fit: Fit, levels: Iterable[int]) -> str | None:
    levels = [level for level in levels if fit.agreement.at_level(level).different.any()]
    if not levels:
        return None
    relevant = [level for level in levels if level > 0]
    where = [f"at {levels_text(relevant)}"] if relevant else []
    if len(relevant) < len(levels):
        where.append("in the documents judged not relevant")
    differs = np.count_nonzero(fit.agreement.differs(levels))
    n = f"{differs} of {pluralize(len(fit.matched), 'topic')}"
    return f"{' and '.join(where)} on {n} ({_example(fit, levels[-1])})"


def _example(fit: Fit, level: int) -> str:
    """Give an example of a topic whose judgments differ at a level."""
    row = int(np.argmax(fit.agreement.at_level(level).different))
    topic = fit.matched[row]
    in_set, in_qrels = (int(counts[row]) for counts in fit.agreement.counts(level))
    if in_set == in_qrels:
        return f"e.g. {topic}: {pluralize(in_set, 'document')} in both, but not the same ones"
    documents = pluralize(in_set, "document")
    return f"e.g. {topic}: {documents} in the set, {in_qrels} in your {_source(fit)}"


def _source(fit: Fit) -> str:
    return "qrels" if fit.collection.qrels else "scores"


def describe_no_match(match: Match) -> str:
    """Say why no set is used, and what to do."""
    if len(match.elsewhere) > 1:
        sets = " and ".join(f"{name} ({n})" for name, n in match.elsewhere.items())
        return (
            f"no factor set holds more than half of these topics, which belong to {sets}; "
            "evaluate each collection by itself with `ir_std compare`"
        )
    if not match.nearest:
        return "no factor set has these topics; build one with `ir_std build`"
    closest = match.nearest[0]
    name, of_datasets = closest.factors.id, closest.factors.of_datasets
    has_counts = bool(closest.collection.qrels or closest.collection.counts_known or of_datasets)
    advice = f"build a set with `ir_std build{'' if has_counts else ' --from-scores'}`"
    if not (
        closest.unfamiliar_id
        or (closest.n_missing > 0 and not closest.identical_topics)
        or (closest.is_subset and not has_counts)
    ):
        advice = f"pass --factors {name} (factors=) to use it anyway, or {advice}"
    return (
        f"no factor set matches these {'datasets' if of_datasets else _source(closest)}; closest "
        f"is {name}, but {closest.mismatch_reason}; {advice}"
    )


def mismatch_reason(fit: Fit) -> str:
    """Say in a clause why a set does not match, or why it is not used."""
    if not fit.matched:
        return "the set holds none of the topics"
    if fit.dataset is not None:
        n_topics = pluralize(fit.n_queries or 0, "topic")
        return (
            f"the set's dataset {fit.dataset} has {n_topics}, but your qrels have "
            f"{fit.collection.n_topics}"
        )
    if fit.match_type:
        total = len(fit.matched) + fit.n_missing
        return f"the set holds {len(fit.matched)} of {pluralize(total, fit.factors.unit)}"
    n_comparable = np.count_nonzero(fit.is_comparable)
    if not n_comparable:
        if fit.collection.counts_known:
            return "the set does not record its judgments, so ir_std uses it only if you name it"
        return "the scores have no num_rel to compare"
    n = len(fit.differing_topics)
    if n and not fit.identical_topics and not fit.count_only_topics:
        topics = f"{'all ' if n > 1 else ''}{pluralize(n, 'topic')}"
        return f"the relevant documents differ on {topics} ({_example(fit, 1)}){_about_ids(fit)}"
    if 2 * n <= n_comparable and not fit.counts_suffice:
        return _why_counts_fail(fit)
    return f"the judgments differ {_where_different(fit, [1])}"


def _why_counts_fail(fit: Fit) -> str:
    """Say why the numbers of relevant documents are not enough to match the topics."""
    topics = pluralize(len(fit.count_only_topics), "topic")
    if fit.counts_disagree:
        differ = [topic for topic in fit.count_only_topics if topic in fit.count_mismatches]
        in_set, in_qrels = fit.count_mismatches[differ[0]]
        return (
            f"{COUNTS} differ on {len(differ)} of {topics} "
            f"(e.g. {differ[0]}: {in_set} in the set, {in_qrels} in your {_source(fit)})"
        )
    if fit.unfamiliar_id and fit.count_only_topics:
        return f"document IDs such as {fit.unfamiliar_id!r} do not look like the collection's"
    return (
        f"only {topics} can be compared by {COUNTS}; recognition by counts needs at least 10 "
        "topics, some of them with more than one relevant document"
    )


def _about_ids(fit: Fit) -> str:
    """Say how document IDs differ between the set and the qrels; empty if they do not differ."""
    if not fit.unfamiliar_id:
        return ""
    example, corpus = fit.factors.info["doc_id_example"], fit.factors.info.get("corpus")
    of = f" of {corpus}" if corpus else ""
    yours = fit.unfamiliar_id
    return f"; the set's document IDs look like {example!r}{of}, and yours look like {yours!r}"


def levels_text(levels: Sequence[int]) -> str:
    """List relevance levels, such as ``level 1`` or ``levels 1 and 2``."""
    return f"level{'s' if len(levels) > 1 else ''} {join_with_and(map(str, levels))}"
