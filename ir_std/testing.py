"""Simulate qrels, runs and nuggets, for examples and tests."""

from collections.abc import Mapping

import numpy as np

_JUDGED_NOT_RELEVANT = 1000


def simulated_qrels(
    n_rel: Mapping[str, int | Mapping[int, int] | None],
) -> dict[str, dict[str, int]]:
    """Simulate qrels with a given number of relevant documents per topic or per level.

    Document IDs are made up and do not occur in any collection.  For each topic, the qrels list the
    relevant documents and then 1,000 documents that are not relevant, because runs have 1,000
    documents per topic.
    """
    qrels = {}
    for topic, given in n_rel.items():
        counts = given if isinstance(given, Mapping) else {1: given or 0}
        levels = [level for level, n in counts.items() if level > 0 for _ in range(n)]
        qrels[topic] = {
            f"sim{topic}-{i}": level for i, level in enumerate(levels + [0] * _JUDGED_NOT_RELEVANT)
        }
    return qrels


def simulated_run(
    qrels: Mapping[str, Mapping[str, int]], seed: int, depth: int = 1000
) -> dict[str, dict[str, float]]:
    """Simulate a run whose scores are noise, with a bonus for relevant documents.

    The bonus has a random size for each topic and is multiplied by the relevance level.

    Parameters
    ----------
    qrels : mapping of str to mapping of str to int
    seed : int
        Seed of the random generator; the same seed gives the same run.
    depth : int
        Number of documents per topic.
    """
    random = np.random.default_rng(seed)
    scored = {}
    for topic, judged in qrels.items():
        relevant = np.fromiter(judged.values(), float, len(judged))
        bonus = random.uniform(0.5, 2.5)
        scores = np.round(random.normal(size=len(judged)) + bonus * relevant, 6)
        top = np.argsort(-scores, kind="stable")[:depth]
        docs = list(judged)
        scored[topic] = {docs[i]: float(scores[i]) for i in top}
    return scored


def simulated_nuggets(systems: int = 10, topics: int = 30, seed: int = 0) -> str:
    """Simulate scores of RAG systems in the way AutoNuggetizer computes them.

    See Pradeep et al. 2024.  On each topic, an answer should contain 4 to 8 vital nuggets of
    information and the same number of okay nuggets.  A system supports each nugget fully, partly or
    not at all, and better systems support more nuggets.

    Parameters
    ----------
    systems, topics, seed : int

    Returns
    -------
    str
        CSV with columns run, topic, ``strict_vital_score`` (the share of the vital nuggets that are
        fully supported), ``all score`` (the share of all nuggets that are supported) and
        ``latency`` (in seconds).  In ``all score``, a partly supported nugget counts half.
    """
    random = np.random.default_rng(seed)
    lines = ["run,topic,strict_vital_score,all score,latency"]
    hardness = random.random(topics)
    for system in range(1, systems + 1):
        for topic, hard in enumerate(hardness.tolist(), 1):
            n_vital = 4 + topic % 5
            luck = random.random(2 * n_vital) - 0.3 * (1 - hard) - 0.04 * system
            supported, partly = luck < 0.1, luck < 0.25
            vital = float(np.mean(supported[:n_vital]))
            every = float(np.mean((supported.astype(float) + partly) / 2))
            latency = 2 + 0.4 * system + 3 * hard + random.random()
            lines.append(f"rag{system},{topic},{vital:.4f},{every:.4f},{latency:.2f}")
    return "\n".join(lines)
