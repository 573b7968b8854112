"""A made-up collection: qrels and the runs of several systems, from a fixed seed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import ir_std
from ir_std.testing import simulated_qrels, simulated_run

Qrels = dict[str, dict[str, int]]
Runs = dict[str, dict[str, dict[str, float]]]

TOPICS = [f"t{i}" for i in range(6)]


def collection(systems: int = 7, seed: int = 1, documents: int = 40) -> tuple[Qrels, Runs]:
    """Make graded qrels on six topics, and runs with ties; the last run lacks a topic."""
    random = np.random.default_rng(seed)
    names = [f"d{i}" for i in range(documents)]
    qrels = {t: {d: int(random.integers(-1, 3)) for d in names[::2]} for t in TOPICS}
    runs: Runs = {}
    for s in range(systems):
        runs[f"sys{s}"] = {
            t: {
                d: float(round(random.normal() + s * max(qrels[t].get(d, 0), 0) / systems, 1))
                for d in random.permutation(names)[: documents - 5 * (s % 3)].tolist()
            }
            for t in TOPICS
        }
    del runs[f"sys{systems - 1}"]["t5"]
    return qrels, runs


def write_qrels(qrels: Qrels, file: Path) -> Path:
    """Write a qrels file."""
    file.write_text(
        "".join(f"{t} 0 {d} {level}\n" for t, docs in qrels.items() for d, level in docs.items())
    )
    return file


def write_runs(runs: Runs, folder: Path) -> Path:
    """Write a run file for each system."""
    folder.mkdir()
    for tag, topics in runs.items():
        (folder / tag).write_text(
            "".join(
                f"{t} Q0 {d} 1 {score} {tag}\n"
                for t, docs in topics.items()
                for d, score in docs.items()
            )
        )
    return folder


def write_scores(n_rel: Mapping[str, int | None], ap: Mapping[str, float], file: Path) -> Path:
    """Write AP and the numbers of relevant documents in the format of ``trec_eval -q``."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = (f"num_rel\t{t}\t{n_rel[t]}\nmap\t{t}\t{value:.4f}\n" for t, value in ap.items())
    file.write_text("".join(lines))
    return file


def by_topic(results: ir_std.Results, run: str, measure: Any) -> dict[str, float]:
    """Return scores by topic ID, without topics that have none."""
    values = zip(results.topics, results.values[run][measure].tolist(), strict=True)
    return {topic: value for topic, value in values if value == value}


def qrels_like(name: str) -> Qrels:
    """Simulate qrels with the topics of a set, and its numbers of relevant documents."""
    return simulated_qrels(ir_std.load_factors(name).n_rel)


def entries_on(
    names: Sequence[str], systems: Sequence[str] = "ab", depth: int = 60
) -> list[tuple[str, Any, Qrels]]:
    """Simulate runs of systems on collections like these sets, as entries of ``compare``."""
    return [
        (system, simulated_run(qrels, 10 * number + i, depth), qrels)
        for number, qrels in enumerate(map(qrels_like, names))
        for i, system in enumerate(systems)
    ]
