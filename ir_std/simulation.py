"""Made-up qrels and runs with the shape of a real collection, for a demonstration."""

from __future__ import annotations

import numpy as np

from ir_std.factors import FactorSet
from ir_std.runs import Qrels, Run

_JUDGED_NOT_RELEVANT = 1000


def simulated_qrels(factors: FactorSet) -> Qrels:
    """Qrels with the topics of a set and their numbers of relevant documents.

    Documents are made up: on each topic the relevant ones, then as many others as a run is deep.
    """
    return Qrels({topic: {f"FT{topic}-{i}": int(i < (n_rel or 0))
                          for i in range((n_rel or 0) + _JUDGED_NOT_RELEVANT)}
                  for topic, n_rel in factors.n_rel.items()}, "simulated qrels")


def simulated_run(qrels: Qrels, seed: int, depth: int = 1000) -> Run:
    """A run whose scores are noise plus, for relevant documents, a bonus that varies by topic.

    Parameters
    ----------
    qrels : Qrels
    seed : int
        Of the random generator; the same seed gives the same run.
    depth : int
        Documents per topic.
    """
    random = np.random.default_rng(seed)
    scored = {}
    for topic, judged in qrels.judged.items():
        relevant = np.fromiter(judged.values(), float, len(judged))
        bonus = random.uniform(0.5, 2.5)
        scores = np.round(random.normal(size=len(judged)) + bonus * relevant, 6)
        top = np.argsort(-scores, kind="stable")[:depth]
        docs = list(judged)
        scored[topic] = {docs[i]: float(scores[i]) for i in top}
    return Run(scored, "simulated run")
