"""Whole data sets: where factors are of a run's mean, not of its topics."""

from __future__ import annotations

import numpy as np

from ir_std.factors.factor_set import FactorSet
from ir_std.factors.fit import Collection
from ir_std.factors.judgments import Judgments, fingerprint
from ir_std.trec.runs import Qrels

COLLECTION = "collection"
"""The ``unit`` of a factor set whose rows are data sets."""


def is_of_datasets(factors: FactorSet) -> bool:
    """Whether a set's rows are whole data sets."""
    return bool(factors.info.get("unit") == COLLECTION)


def judgments_of_dataset(qrels: Qrels) -> Judgments:
    """What is known of the judgments of a data set as one.

    The fingerprints are those of its pairs of topic and document, with a tabulator between.
    """
    counts = {int(level): int(n) for level, n in zip(
        *np.unique(np.maximum(qrels.flat_levels, 0), return_counts=True), strict=True)}
    relevant = {level: n for level, n in counts.items() if level}
    return Judgments(sum(relevant.values()), {0: counts.get(0, 0), **relevant},
                     {level: _fingerprint(qrels, level) for level in relevant})


def _fingerprint(qrels: Qrels, level: int) -> str:
    return fingerprint(topic.encode(errors="surrogatepass") + b"\t" + document
                       for topic in qrels.topics for document in qrels.relevant(topic, level))


class Dataset(Collection):
    """A data set as one row of a factor set: what recognition looks at.

    Parameters
    ----------
    name : str
        What the factor sets call it.
    qrels : Qrels
    """

    def __init__(self, name: str, qrels: Qrels) -> None:
        super().__init__([(name, int(qrels.count().sum()))], qrels=qrels)
        self.name = name

    def at_least(self, topic: str, level: int) -> int:
        """The number of pairs of topic and document at ``level`` or above."""
        assert self.qrels is not None
        return int(self.qrels.count(level).sum())

    def fingerprint(self, topic: str, level: int) -> str:
        """That of the pairs at ``level`` or above."""
        assert self.qrels is not None
        key = "fingerprint of the data set", level
        return str(self.qrels.remembered(key, lambda: _fingerprint(self._judged, level)))

    @property
    def _judged(self) -> Qrels:
        assert self.qrels is not None
        return self.qrels

    def not_relevant(self, topic: str) -> int:
        """The number of pairs that are judged not relevant."""
        return int(self._judged.sizes.sum()) - self.at_least(topic, 1)


def rows_like(factors: FactorSet, collection: Collection) -> list[Dataset]:
    """The data sets of a set that qrels may be: that of their ir_datasets id, or of as many pairs.

    Whether the documents are the same, :func:`ir_std.factors.fit.fit` says.
    """
    qrels = collection.qrels
    if qrels is None:
        return []
    if collection.dataset in factors.judgments:
        return [Dataset(str(collection.dataset), qrels)]
    pairs = int(qrels.count().sum())
    return [Dataset(name, qrels) for name, known in factors.judgments.items()
            if known.n_rel == pairs]
