"""Whole data sets: where factors are of a run's mean, not of its topics."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ir_std.factors.factor_set import FactorSet
from ir_std.factors.fit import Collection, Fit, fit_set
from ir_std.factors.judgments import Judgments, documents_in, fingerprint
from ir_std.trec.qrels import Qrels


def judgments_of_dataset(qrels: Qrels) -> Judgments:
    """What is known of the judgments of a data set as one.

    The fingerprints are those of its pairs of topic and document, with a tabulator between.
    """
    counts = {
        int(level): int(n)
        for level, n in zip(
            *np.unique(np.maximum(qrels.flat_levels, 0), return_counts=True), strict=True
        )
    }
    relevant = {level: n for level, n in counts.items() if level}
    return Judgments(
        sum(relevant.values()),
        {0: counts.get(0, 0), **relevant},
        {level: _fingerprint(qrels, level) for level in relevant},
    )


def _fingerprint(qrels: Qrels, level: int) -> str:
    return fingerprint(
        topic.encode(errors="surrogatepass") + b"\t" + document
        for topic, lines in zip(qrels.topics, qrels.relevant(level), strict=True)
        for document in documents_in(lines)
    )


class DatasetCollection(Collection):
    """A data set as one row of a factor set: what recognition looks at.

    Parameters
    ----------
    name : str
        What the factor sets call it.
    qrels : Qrels
    """

    def __init__(self, name: str, qrels: Qrels) -> None:
        super().__init__([(name, int(qrels.count().sum()))], qrels=qrels)
        self._judged = qrels

    def at_least(self, topic: str, level: int) -> int:
        """The number of pairs of topic and document at ``level`` or above."""
        return int(self._judged.count(level).sum())

    def fingerprint(self, topic: str, level: int) -> str:
        """That of the pairs at ``level`` or above, computed once."""
        found: str = self._judged.cached(
            ("whole", level), lambda: _fingerprint(self._judged, level)
        )
        return found

    def not_relevant(self, topic: str) -> int:
        """The number of pairs that are judged not relevant."""
        return int(self._judged.sizes.sum()) - self.at_least(topic, 1)


def match_datasets(factors: FactorSet, collection: Collection) -> Iterator[Fit]:
    """Where qrels are one of a set's data sets: by their ir_datasets id, or by the judgments."""
    qrels = collection.qrels
    if qrels is None:
        return
    pairs = int(qrels.count().sum())
    for name, known in factors.judgments.items():
        if name == collection.dataset or known.n_rel == pairs:
            found = fit_set(factors, DatasetCollection(name, qrels))
            if name == collection.dataset or found.basis == "judgments":
                yield found
