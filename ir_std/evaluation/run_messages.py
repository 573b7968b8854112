"""Messages about one run: signs of faults, missing topics, short lists and rounded scores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice

import numpy as np
from ir_measures import measures as irm

from ir_std._arrays import Floats, Ints, Mask
from ir_std.errors import UsageError, abbreviate, join_with_and, pluralize
from ir_std.evaluation.evaluation import Message, listed_counts
from ir_std.evaluation.plans import Plan
from ir_std.evaluation.raw_scores import RawScores
from ir_std.factors.catalog import sibling_sets
from ir_std.factors.collection import find_earlier, look_alike
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.match import Match
from ir_std.factors.quality import NEAR_THE_END, saturates
from ir_std.measures import Measure, measure_record
from ir_std.measures.records import TREC_EVAL
from ir_std.scores.inputs import match_in_other_form
from ir_std.scores.run_scores import QrelsFromCounts, RunScores
from ir_std.trec import Qrels, Ranker, Run

FAULT_SHARE = 0.5
"""A run is broken if more than this share of its topics has a problem.

A run is also broken if at least this share of the topics is missing."""
MANY_MISSING = 0.1
"""Share of missing topics above which ir_std warns about a run."""
MIN_LIST_LENGTH = 10
"""In a list with fewer documents than this, equal or reversed scores may be due to chance."""
ENDS = 5
"""Number of documents to compare at the top and at the bottom of a ranking.

If the order is random, the probability that all lowest-scored documents precede all highest-scored
documents is 1/252."""
SOME_LISTS = 10
ID_SAMPLE_SIZE = 1000
"""Number of IDs to sample when comparing the form of IDs."""
MIN_DEPTH_RATIO = 0.9
"""A list is deep enough if it reaches at least this share of the systems' depth."""
CUT_TOPICS = 3
"""A run was probably cut if at least this number of short lists have the same length.

In addition, at least half of the short lists must have this length.  No run of TREC-8 (129 runs),
DL 2020 (59 runs) or TREC-COVID round 5 (126 runs) meets both conditions."""
USUAL_DEPTH = 1000
"""Number of documents per topic that the systems of most tracks return."""


def document_messages(
    plans: Sequence[Plan], run: Run, cut: Run, qrels: Qrels, n_relevant: int
) -> Iterator[Message]:
    """Report notes and warnings about the documents of a run.

    Parameters
    ----------
    plans : sequence of Plan
    run : Run
        The run as the user passed it.
    cut : Run
        The part of the run that is evaluated.
    qrels : Qrels
    n_relevant : int
        Number of relevant documents in the run.
    """
    if run.repeated:
        yield Message(repeated_text(run.repeated), is_warning=True)
    sizes = run.sizes_on(qrels)
    yield from _fault_messages(run, sizes, qrels, n_relevant)
    yield from _depth_messages(plans, sizes if cut is run else cut.sizes_on(qrels), qrels)


def repeated_text(count: int) -> str:
    """Return a text that says how many lines were left out because they repeat a document."""
    return (
        f"{pluralize(count, 'line')} left out because another line has the same topic and document"
    )


def order_messages(measures: Iterable[Measure], ranker: Ranker) -> Iterator[Message]:
    """Report why RBP with `rel` may differ from the value that ir_measures gets from cwl-eval."""
    if not any(type(m) is type(irm.RBP) and "rel" in m.params for m in measures):
        return
    tied, not_sorted = ranker.tied_topics(TREC_EVAL), ranker.unsorted_topics(TREC_EVAL)
    parts = [f"topics with tied scores: {tied}"] * (tied > 0)
    parts += [f"topics that are not sorted by score: {not_sorted}"] * (not_sorted > 0)
    if parts:
        yield Message(
            f"{', '.join(parts)}; for RBP, ir_std ranks by score and ID, but cwl-eval ranks by "
            "file order"
        )


# --- faults of the run itself ---------------------------------------------------------------------


def _fault_messages(run: Run, sizes: Ints, qrels: Qrels, n_relevant: int) -> Iterator[Message]:
    """Report signs that a run is broken.

    The scores of a broken run say nothing about the system.

    ``sizes`` has the number of documents on each topic of the qrels.
    """
    missing = [topic for topic, size in zip(qrels.topics, sizes.tolist(), strict=True) if not size]
    yield from _missing_topics(missing, run.topics, qrels)
    faults: list[str] = []
    if sizes.any() and not n_relevant and not len(run.find(qrels.targets(True)).score):
        faults.append(f"none of the run's documents is judged{_cause_of_unknown_ids(run, qrels)}")
    if _holds_for_most(_has_constant_scores(run)):
        faults.append(
            "all documents of a topic have the same score, so they are ordered by ID; write scores "
            "that decrease with rank"
        )
    elif run.has_ranks and _holds_for_most(_has_reversed_scores(run)):
        faults.append(
            "scores increase with rank, and ir_std sorts by score, so the ranking is reversed; "
            "negate the scores if they are distances"
        )
    for text in faults:
        yield Message(text, is_warning=True, is_fault=True)


def _missing_topics(
    missing: Sequence[str], given: Iterable[str], qrels: Qrels
) -> Iterator[Message]:
    """Report how many topics of the qrels the run lacks, and the likely reason."""
    n, total = len(missing), len(qrels.topics)
    if not n:
        return
    lacks_many = FAULT_SHARE * total <= n < total
    verbs = "is missing and counts" if n == 1 else "are missing and count"
    text = f"{n} of {pluralize(total, 'topic')} {verbs} as 0"
    if same := match_in_other_form(missing, given, qrels):
        text += f", because the run has {same[1]!r} where the qrels have {same[0]!r}"
        text += "; write topic IDs alike"
    elif n > MANY_MISSING * total:
        text += "; complete the run, or pass qrels for its topics only"
    yield Message(text, n > MANY_MISSING * total, is_fault=lacks_many)


def _holds_for_most(holds: Mask) -> bool:
    """Check whether a condition is true on most topics; for a single topic, return False."""
    return len(holds) > 1 and float(np.mean(holds)) > FAULT_SHARE


def _has_constant_scores(run: Run) -> Mask:
    """Check, for each topic with enough documents, whether all documents have the same score.

    Scores are compared as 32-bit floats, as in trec_eval.
    """
    sizes = run.sizes[run.sizes > 0]
    if not len(sizes):
        return np.empty(0, bool)
    starts, is_list = np.cumsum(sizes) - sizes, sizes >= MIN_LIST_LENGTH
    with np.errstate(over="ignore"):
        scores = run.scores.astype(np.float32)
    least, most = (of.reduceat(scores, starts) for of in (np.minimum, np.maximum))
    same: Mask = (least == most)[is_list]
    return same


def _has_reversed_scores(run: Run) -> Mask:
    """Check, on a sample of topics, whether the best-scored documents have the worst ranks.

    The function compares the stated ranks of the `ENDS` documents with the highest scores and of
    the `ENDS` documents with the lowest scores.  Ranks that are unrelated to the scores, such as
    those of an earlier ranking, are unlikely to trigger this check.  The order of the lines in the
    file does not matter.
    """
    lists = np.flatnonzero(run.sizes >= MIN_LIST_LENGTH)
    reversed_: list[bool] = []
    for topic in lists[:: max(1, len(lists) // SOME_LISTS)].tolist():
        start, size = run.starts[topic], run.sizes[topic]
        lines = start + np.argpartition(run.scores[start : start + size], (ENDS, size - ENDS))
        lowest, highest = (run.stated_ranks(end) for end in (lines[:ENDS], lines[-ENDS:]))
        first, last = ([r for r in ranks if r is not None] for ranks in (lowest, highest))
        reversed_.append(len(first) == len(last) == ENDS and max(first) < min(last))
    return np.array(reversed_, bool)


def _cause_of_unknown_ids(run: Run, qrels: Qrels) -> str:
    """Return a possible reason, such as differing IDs, why no document of a run is judged."""
    first = run.ids(np.arange(min(ID_SAMPLE_SIZE, len(run.scores))))
    run_ids = [name.decode(errors="surrogatepass") for name in first]
    judged = chain.from_iterable(qrels.judged.values())
    judged_ids = list(islice(judged, ID_SAMPLE_SIZE))
    if not run_ids or not judged_ids or look_alike(run_ids, judged_ids):
        return "; check that the run and the qrels belong to the same collection and topics"
    return (
        f", because the run's IDs ({run_ids[0]!r}) do not look like the IDs in the qrels "
        f"({judged_ids[0]!r}); convert them"
    )


# --- depth ----------------------------------------------------------------------------------------


def _depth_messages(plans: Iterable[Plan], lengths: Ints, qrels: Qrels) -> Iterator[Message]:
    """Report measures for which a run has too many or too few documents per topic.

    Parameters
    ----------
    plans : iterable of Plan
    lengths : ndarray, shape (n_topics,)
        Number of documents on each topic; topics that the run lacks are reported elsewhere.
    qrels : Qrels
    """
    present = lengths > 0
    sizes = lengths[present]
    if not len(sizes):
        return
    cutoffs: dict[Measure, int] = {}
    measures_by_text: dict[tuple[str, bool], list[Measure]] = {}
    for plan in plans:
        raw = plan.raw
        relevant = qrels.count(raw.params.get("rel", 1))
        last = measure_record(raw).last_ranks(raw.params, relevant)[present]
        if "cutoff" in raw.params:
            cutoff = int(min(raw.params["cutoff"], last.max()))
            if sizes.min() < cutoff:
                cutoffs[plan.measure] = cutoff
        elif found := _depth_text(plan, sizes, last):
            measures_by_text.setdefault(found, []).append(plan.measure)
    if cutoffs:
        text, least = _short_lists(sizes, sizes < max(cutoffs.values())), min(cutoffs.values())
        text += f", fewer than the cutoff of {', '.join(map(str, cutoffs))}; "
        if (sizes == least - 1).all():
            text += f"was the run cut with rank < {least} instead of rank <= {least}?"
        else:
            text += "scores are too low unless the engine found nothing else"
        yield Message(text, is_warning=True, measures=tuple(cutoffs))
    for (text, is_warning), measures in measures_by_text.items():
        listed = ", ".join(map(str, measures))
        yield Message(f"{text} ({listed})", is_warning, measures=tuple(measures))


def _depth_text(plan: Plan, sizes: Ints, last: Floats) -> tuple[str, bool] | None:
    """Find a problem with the lengths of lists; None if there is no such problem.

    The problem is returned as a text and a flag; the flag is True for a warning and False for a
    note.  Short lists cause a warning in two cases.  In the first case, at least `CUT_TOPICS` short
    lists, and at least half of all short lists, have the same length, which suggests truncation.
    In the second case, most lists have less than half of the documents that the measure uses and
    the set's depth allows.  In all other cases, short lists cause only a note, because the engine
    may have found no other documents.  If at most a tenth of the topics have short lists, there is
    no note.

    Parameters
    ----------
    plan : Plan
    sizes : ndarray, shape (n_topics,)
        Number of documents on each topic.
    last : ndarray, shape (n_topics,)
        For each topic, the last rank that affects the value of the measure; infinity if all ranks
        affect it.
    """
    set_id, depth = plan.factors.id, plan.factors.about(plan.name, "depth")
    deepest = int(sizes.max())
    documents = pluralize(deepest, "document")
    needed = np.minimum(last, depth or np.inf)
    if np.isinf(needed).any():
        if deepest >= USUAL_DEPTH:
            return None
        text = (
            f"no topic has more than {documents}, and {set_id} does not record the evaluation depth"
        )
        return f"{text}; scores are too low if the set's systems returned more documents", True
    if depth and deepest > depth and last.max() > depth:
        text = f"topics have up to {documents}, but {set_id} was computed at depth {depth}"
        return f"{text}; pass -M {depth} for a fair comparison", True
    if depth and deepest < MIN_DEPTH_RATIO * depth <= MIN_DEPTH_RATIO * needed.max():
        text = f"no topic has more than {documents}, but {set_id} was computed at depth {depth}"
        return f"{text}; scores are too low", True
    is_short = sizes < MIN_DEPTH_RATIO * needed
    if not is_short.any():
        return None
    short = sizes[is_short]
    was_cut = np.bincount(short).max() >= max(CUT_TOPICS, len(short) / 2)
    is_warning = bool(was_cut or np.count_nonzero(sizes < needed / 2) > len(sizes) / 2)
    text = (
        f"{_short_lists(sizes, is_short)} (up to {deepest} on other topics), but "
        f"{int(needed.max())} are needed; scores are too low unless the engine found nothing else"
    )
    return (text, is_warning) if is_warning or len(short) > len(sizes) / 10 else None


def _short_lists(sizes: Ints, is_short: Mask) -> str:
    """Describe short lists, such as ``only 3 to 9 documents on 2 of 12 topics``."""
    lowest, highest = int(sizes[is_short].min()), int(sizes[is_short].max())
    documents = f"{lowest} to {highest} documents"
    if lowest == highest:
        documents = pluralize(highest, "document")
    return f"only {documents} on {is_short.sum()} of {pluralize(len(sizes), 'topic')}"


# --- scores of other programs ---------------------------------------------------------------------


def score_messages(
    plans: Sequence[Plan], scores: RunScores, qrels: Qrels, raw: Mapping[str, RawScores]
) -> Iterator[Message]:
    """Report problems of scores that were computed by another program.

    Parameters
    ----------
    plans : iterable of Plan
    scores : RunScores
    qrels : Qrels
    raw : mapping of str to RawScores
        Raw scores by measure name.
    """
    present = set(scores.topics)
    missing = [
        topic
        for topic, row in qrels.positions.items()
        if topic not in present and any(column.values[row] == 0 for column in raw.values())
    ]
    yield from _missing_topics(missing, scores.topics, qrels)
    if scores.unlisted:
        yield Message(
            f"means include {pluralize(scores.unlisted, 'topic')} that the file does not list; "
            "ir_std averages the listed topics only, so pass the qrels to count the others as 0",
            is_warning=isinstance(qrels, QrelsFromCounts),
        )
    without = {m: n for m, column in raw.items() if (n := int(np.isnan(column.values).sum()))}
    if without:
        units = f"{scores.unit}s"
        text = (
            f"no value on some {units} ({listed_counts(without)}), so means leave out these {units}"
        )
        yield Message(text, is_warning=True)
    if scores.skipped:
        yield Message(f"skipped columns that are not raw measures: {abbreviate(scores.skipped)}")
    by_step: dict[float, dict[str, None]] = {}
    for name in (str(plan.raw) for plan in plans):
        if step := raw[name].step:
            by_step.setdefault(step, {})[name] = None
    for step, names in by_step.items():
        text = f"scores are rounded to {step:g}, which can change raw means by at most {step / 2:g}"
        yield Message(f"{text} ({', '.join(names)})")
    if scores.n_ret:
        lengths = np.array([scores.n_ret.get(topic, 0) for topic in qrels.topics], np.int64)
        yield from _depth_messages(plans, lengths, qrels)


# --- saturation -----------------------------------------------------------------------------------


def saturation_messages(
    standardized: Iterable[tuple[Plan, Floats]], reported: Iterable[Message]
) -> Iterator[Message]:
    """Report a run that saturates the factors, and name alternatives that still separate runs.

    Parameters
    ----------
    standardized : iterable of (Plan, ndarray)
        The run's standardized scores for each plan, shape (n_topics,).
    reported : iterable of Message
        Other messages about the run.  If one of these messages is a warning, this function reports
        nothing, because the warning explains unusual scores better.
    """
    if any(message.is_warning for message in reported):
        return
    low: dict[FactorSet, dict[str, int]] = {}
    extreme: dict[FactorSet, list[str]] = {}
    for plan, values in standardized:
        if saturates(values, plan.measure["scheme"]):
            n_low = int((values < NEAR_THE_END).sum())
            if n_low > np.count_nonzero(~np.isnan(values)) / 2:
                low.setdefault(plan.factors, {})[str(plan.measure)] = n_low
            else:
                extreme.setdefault(plan.factors, []).append(str(plan.measure))
    for factors, counts in low.items():
        yield Message(
            f"scores are below nearly all systems of {factors.id} on most {factors.unit}s "
            f"({listed_counts(counts)}), so the run's standardized scores there are close to 0"
        )
    for factors, measures in extreme.items():
        others = [f" or --factors {sibling.id}" for sibling in _siblings(factors)]
        yield Message(
            f"scores are near 0 or 1 on many {factors.unit}s ({', '.join(measures)}), where very "
            f"good runs look alike, as do very weak runs; use scheme z{''.join(others)}"
        )


_siblings = lru_cache(maxsize=16)(sibling_sets)


# --- documents of earlier rounds ------------------------------------------------------------------


class EarlierDocuments:
    """Find a run's documents that were judged in earlier rounds of a collection.

    Parameters
    ----------
    matches : iterable of Match
    take_out : bool
        True if documents that were judged in earlier rounds are removed from runs before ranking.

    Raises
    ------
    UsageError
        If ``take_out`` is True and no set records documents judged in earlier rounds.
    """

    def __init__(self, matches: Iterable[Match], take_out: bool) -> None:
        sets = [match.factors for match in matches if match.factors]
        self._sets = {factors.id: factors for factors in sets if factors.earlier is not None}
        self._take_out = take_out
        if take_out and not self._sets:
            why = "no factor set matches these qrels"
            if sets:
                names = join_with_and(factors.id for factors in sets)
                why = f"{names} records no documents judged in earlier rounds"
            raise UsageError(f"--residual (residual=True) does not apply: {why}")

    def check(self, run: Run) -> tuple[Run, list[Message]]:
        """Remove or report the run's documents that were judged in earlier rounds."""
        messages = []
        for factors in self._sets.values():
            earlier = find_earlier(run, factors)
            if not earlier.any():
                continue
            documents = int(earlier.sum())
            topics = int((np.add.reduceat(earlier, run.starts[run.sizes > 0]) > 0).sum())
            those = (
                f"{pluralize(documents, 'document')} on {pluralize(topics, 'topic')} "
                "were judged in an earlier round"
            )
            if self._take_out:
                run = run.lines(~earlier)
                text = f"{those} and are removed ({factors.id})"
                messages.append(Message(text))
            else:
                text = (
                    f"{those} and count as not relevant in {factors.id}; remove them with "
                    "--residual (residual=True)"
                )
                messages.append(Message(text, is_warning=True))
        return run, messages
