#!/usr/bin/env python3
"""Rebuild every factor set that ir_std ships.

    python scripts/build_shipped.py --data ../shared/data [--more FOLDER] [SET ...]

reads ``published/``, ``scores/``, ``runs/``, ``qrels/`` and ``topics/`` below the data folder, and
``scores/`` below another (what ``import_syndl.py`` wrote), and writes ``factors/SET/``.  The same
input gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import import_published
import numpy as np
from tracks import PUBLISHED, TRACKS, Origin, judged_topics, qrels_files, topics_file

from ir_std._version import __version__
from ir_std.build.from_runs import BUILD_MEASURES, build_factors
from ir_std.build.from_scores import build_from_scores
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import Judgments
from ir_std.factors.quality import COARSE_STEPS
from ir_std.schemes import EXACT

DEEP_MEASURES = (
    "nDCG@1", "nDCG@3", "AP(rel=2)", "AP(rel=2)@100", "RR(rel=2)", "RR(rel=2)@10", "P(rel=2)@5",
    "P(rel=2)@10", "P(rel=2)@20", "Rprec(rel=2)", "R(rel=2)@100", "R(rel=2)@1000")
"""What the Deep Learning track and those who use it report: relevant is a passage from level 2."""

BEYOND = {"dl21-passage": 100, "dl19-passage-modern": 100, "dl20-passage-modern": 100}
"""Sets whose systems end at a depth before measures of the others: a cutoff beyond is left out."""

OF_MEASURE = ("source", "licence", "depth", "resolution")
"""The fields that a measure has of its own where they differ from the set's."""


def main() -> None:
    """Parse the arguments and write the sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(TRACKS))
    parser.add_argument("--data", type=Path,
                        default=os.environ.get("IR_STD_DATA", root.parent / "shared" / "data"))
    parser.add_argument("--more", type=Path, help="a folder with further score tables")
    parser.add_argument("--out", type=Path, default=root / "factors")
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    for name in args.sets or TRACKS:
        shipped(name, args.data, args.jobs, args.more).save(args.out / name)
        print(name)


def shipped(name: str, data: Path, jobs: int = 1, more: Path | None = None) -> FactorSet:
    """A set with all that is known: runs win over tables, and both over published figures."""
    track = TRACKS[name]
    parts = []
    used = [*qrels_files(name, data), *filter(Path.is_file, [topics_file(name, data)])]
    if track.runs:
        parts.append(from_runs(name, data, jobs))
        used.append(runs_file(name, data))
    if track.tables:
        tables = score_tables(name, data, more)
        parts.append(from_tables(name, data, tables))
        used += tables
    if track.stem:
        parts.append(import_published.published(name, data))
        used += import_published.inputs(name, data)
    return combined(name, judged_topics(name, data), parts,
                    hashes(used, [data, *([more] if more else [])]))


def runs_file(name: str, data: Path) -> Path:
    """The archive of a set's runs."""
    return data / "runs" / f"{name}.tar.xz"


def from_runs(name: str, data: Path, jobs: int) -> FactorSet:
    """The set of a track whose runs are known."""
    track, origin = TRACKS[name], of(name, TRACKS[name].runs)
    deepest = BEYOND.get(name, 1000)
    measures = [m for m in BUILD_MEASURES + (DEEP_MEASURES if name.startswith("dl") else ())
                if not m.startswith("R@1000" if deepest < 1000 else "!")
                and not (deepest < 1000 and m.endswith("@1000"))]
    return build_factors(qrels_files(name, data)[0], runs_file(name, data), measures, id=name,
                         source=origin.source, licence=origin.licence, depth=track.depth,
                         jobs=jobs)


def of(name: str, origin: Origin | None) -> Origin:
    """An origin, with the year of the set's track where it depends on it."""
    assert origin is not None
    from dataclasses import replace

    return replace(origin, date=origin.date.format(year=TRACKS[name].year))


def score_tables(name: str, data: Path, more: Path | None) -> list[Path]:
    """The score tables of a set."""
    folders = [root / "scores" / name for root in (data, more) if root]
    return sorted((file for folder in folders for file in folder.glob("*.csv")),
                  key=lambda file: file.name)
