#!/usr/bin/env python3
"""Rebuild every factor set that ir_std ships.

    python scripts/build_shipped.py --data ../shared/data [SET ...]

reads ``published/``, ``scores/``, ``runs/``, ``qrels/`` and ``topics/`` below the data folder and
writes ``factors/SET/``.  The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from import_published import published
from tracks import RUNS, TRACKS, judged_topics

from ir_std.build.from_runs import BUILD_MEASURES, build_factors
from ir_std.build.from_scores import build_from_scores
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import Judgments

LEVEL2 = ("AP(rel=2)", "RR(rel=2)", "P(rel=2)@10", "Rprec(rel=2)", "R(rel=2)@100",
          "R(rel=2)@1000")
"""What the Deep Learning track reports: a passage counts as relevant from level 2."""

OF_MEASURE = ("source", "licence", "depth", "resolution")
"""The fields that a measure has of its own where they differ from the set's."""


def main() -> None:
    """Parse the arguments and write the sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(TRACKS))
    parser.add_argument("--data", type=Path,
                        default=os.environ.get("IR_STD_DATA") or root.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=root / "factors")
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    for name in args.sets or TRACKS:
        shipped(name, args.data, args.jobs).save(args.out / name)
        print(name)


def shipped(name: str, data: Path, jobs: int = 1) -> FactorSet:
    """A set with all that is known: runs win over tables, and both over published figures."""
    track = TRACKS[name]
    parts = []
    if track.runs:
        parts.append(from_runs(name, data, jobs))
    if track.tables:
        parts.append(from_tables(name, data))
    if track.stem:
        parts.append(published(name, data))
    return combined(name, judged_topics(name, data), parts)


def from_runs(name: str, data: Path, jobs: int) -> FactorSet:
    """The set of a track whose runs are known."""
    measures = BUILD_MEASURES + (LEVEL2 if name.startswith("dl") else ())
    return build_factors(data / "qrels" / f"{name}.txt", data / "runs" / f"{name}.tar.xz",
                         measures, id=name, source=RUNS.source, licence=RUNS.licence, jobs=jobs)


def from_tables(name: str, data: Path) -> FactorSet:
    """The set of a track whose scores are known."""
    origin = TRACKS[name].tables
    return build_from_scores(sorted((data / "scores" / name).glob("*.csv")),
                             judged_topics(name, data), id=name, source=origin.source,
                             licence=origin.licence, depth=origin.depth)


def combined(name: str, topics: dict[str, Judgments], parts: list[FactorSet]) -> FactorSet:
    """One set of several: each measure from the first that has it.

    Raises
    ------
    ValueError
        If a part has other judgments than these.
    """
    first = parts[0]
    measures, origin = {}, {}
    for part in parts:
        if part.judgments != topics:
            raise ValueError(f"{name}: topics or their judgments differ")
        for measure in part.measures:
            if measure not in measures:
                own = {f: part.about(measure, f) for f in OF_MEASURE}
                measures[measure] = {"systems": part.n_systems[measure]} | {
                    f: v for f, v in own.items() if v != first.info[f]}
                origin[measure] = part
    info = TRACKS[name].info(name) | {f: first.info[f] for f in OF_MEASURE} | {
        "built": "; ".join(part.info["built"] for part in parts if part in origin.values()),
        "measures": measures}

    def rows(field: str) -> dict[str, np.ndarray]:
        return {m: table[m][part.rows(topics)] for m, part in origin.items()
                if m in (table := getattr(part, field))}

    return FactorSet(info, topics, rows("mean"), rows("sd"), rows("scores"), rows("systems"))


if __name__ == "__main__":
    main()
