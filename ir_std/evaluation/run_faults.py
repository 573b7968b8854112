"""Runs that look broken: what speaks for it, and what to do.

The scores of such a run say nothing of its system, nor does it help to standardize them otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice

import numpy as np

from ir_std._arrays import Mask
from ir_std.evaluation.messages import Message
from ir_std.trec.qrels import Qrels
from ir_std.trec.runs import Run

MANY = 0.5
"""It is a fault to lack this share of the topics; another is of the run if more of them have it."""
LIST = 10
"""Shorter lists may have equal scores, or be in any order, by chance."""
ENDS = 5
"""By chance the documents at one end of a list precede those at the other once in 252 times."""
SOME_LISTS = 10
LOOKED_AT = 1000
"""So many ids show what ids look like."""


def fault_messages(name: str, run: Run, qrels: Qrels, n_relevant: int) -> Iterator[Message]:
    """What speaks for a broken run, of which ``n_relevant`` documents are relevant."""
    sizes = np.append(run.sizes, 0)[run.numbers(qrels)]
    yield from missing_topics(name, int((sizes == 0).sum()), len(qrels.topics))
    if sizes.any() and not n_relevant and not len(run.find(qrels.targets(True)).score):
        yield _fault(name, f"none of its documents is judged{_ids_unlike(run, qrels)}")
    if _is_share(_are_constant(run)):
        yield _fault(
            name,
            "all documents of a topic have the same score, so that their ids alone order them: "
            "write scores that fall with the rank",
        )
    elif run.has_ranks and _is_share(_contradict_ranks(run)):
        yield _fault(
            name,
            "its scores contradict its ranks: the last ranks have the highest scores; scores "
            "count, so that rankings are read from their ends: negate scores that are distances",
        )


def missing_topics(name: str, missing: int, total: int) -> Iterator[Message]:
    """How many topics of the qrels a run, or scores, lack."""
    text = f"{missing} of the {total} topics are not in it: they count as 0"
    lacks_many = MANY * total <= missing < total
    if lacks_many:
        text += "; complete a run that was cut short, or give the qrels of its topics alone"
    if missing:  # no warning: batches and folds hold a part of the topics
        yield Message(text, run=name, is_fault=lacks_many)


def _fault(name: str, text: str) -> Message:
    return Message(text, warns=True, run=name, is_fault=True)


def _is_share(holds: Mask) -> bool:
    """Whether something holds on most of the topics of a run that has more than one."""
    return len(holds) > 1 and float(np.mean(holds)) > MANY


def _are_constant(run: Run) -> Mask:
    """Of each topic with a list of documents whether all scores are one.

    They are 32-bit floats, as trec_eval has them.
    """
    sizes = run.sizes[run.sizes > 0]
    if not len(sizes):
        return np.empty(0, bool)
    starts, is_list = np.cumsum(sizes) - sizes, sizes >= LIST
    with np.errstate(over="ignore"):
        scores = run.scores.astype(np.float32)
    least, most = (of.reduceat(scores, starts) for of in (np.minimum, np.maximum))
    same: Mask = (least == most)[is_list]
    return same


def _contradict_ranks(run: Run) -> Mask:
    """Of some topics whether the documents with the highest scores have the last ranks.

    At each end of a list so many are looked at that ranks which have nothing to do with scores,
    as those of an earlier ranking, are no contradiction; wherever in the file their lines are.
    """
    lists = np.flatnonzero(run.sizes >= LIST)
    contradict = []
    for topic in lists[:: max(1, len(lists) // SOME_LISTS)].tolist():
        start, size = run.starts[topic], run.sizes[topic]
        lines = start + np.argpartition(run.scores[start : start + size], (ENDS, size - ENDS))
        lowest, highest = (run.stated_ranks(end) for end in (lines[:ENDS], lines[-ENDS:]))
        first, last = ([r for r in ranks if r is not None] for ranks in (lowest, highest))
        contradict.append(len(first) == len(last) == ENDS and max(first) < min(last))
    return np.array(contradict, bool)


def _ids_unlike(run: Run, qrels: Qrels) -> str:
    """That a run's ids have another form than the judged documents', if they do."""
    first = run.ids(np.arange(min(LOOKED_AT, len(run.scores))))
    here = [id_ if isinstance(id_, str) else id_.decode() for id_ in first]
    judged = chain.from_iterable(qrels.judged.values())
    there = list(islice(judged, LOOKED_AT))
    if not here or not there or {*map(_form, here)} & {*map(_form, there)}:
        return ": is it of this collection, and of these topics?"
    return (
        f": its ids have another form, such as {here[0]!r}, the qrels' such as {there[0]!r}; write "
        "them as the qrels do"
    )


def _form(document: str) -> str:
    """What an id looks like: runs of digits and of letters count as one each."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", document))
