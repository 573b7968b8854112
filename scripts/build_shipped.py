#!/usr/bin/env python3
"""Rebuild every factor set that ir_std ships.

    python scripts/build_shipped.py --data ../shared/data [SET ...]

reads ``published/``, ``scores/``, ``more-scores/``, ``runs/``, ``qrels/`` and ``topics/`` below the
data folder, and writes ``factors/SET.npz``.  The same input gives files with the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import import_published
import numpy as np
from experiment import ROOT, add_data_option
from tracks import (
    PUBLISHED,
    TRACKS,
    Origin,
    anonymous_systems,
    earlier_documents,
    earlier_files,
    judged_topics,
    kinds_file,
    names_file,
    qrels_files,
    system_names,
    topic_kinds,
    topics_file,
)

from ir_std._version import __version__
from ir_std.builders.from_runs import BUILD_MEASURES, build_factors
from ir_std.builders.from_scores import build_from_scores
from ir_std.factors.collection import pack_earlier
from ir_std.factors.estimates import factors_from_scores, scores_by_system
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import Judgments
from ir_std.factors.quality import has_coarse_deviation
from ir_std.measures import parse_measure

DEEP_MEASURES = (
    "nDCG@1",
    "nDCG@3",
    "AP(rel=2)",
    "AP(rel=2)@100",
    "RR(rel=2)",
    "RR(rel=2)@10",
    "P(rel=2)@5",
    "P(rel=2)@10",
    "P(rel=2)@20",
    "Rprec(rel=2)",
    "R(rel=2)@100",
    "R(rel=2)@1000",
)
"""Default measures of the Deep Learning track, where passages are relevant from level 2."""

OF_MEASURE = ("source", "licence", "depth", "resolution")
"""Fields that a measure has of its own, if they differ from the fields of the set."""


def main() -> None:
    """Parse the arguments and write the sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(TRACKS))
    add_data_option(parser)
    parser.add_argument("--out", type=Path, default=ROOT / "factors")
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    for name in args.sets or TRACKS:
        shipped(name, args.data, args.jobs).save(args.out / f"{name}.npz")
        print(name)


def shipped(name: str, data: Path, jobs: int = 1) -> FactorSet:
    """Build a set from all sources; runs come before tables, and tables before figures."""
    track = TRACKS[name]
    parts: list[tuple[Origin, FactorSet]] = []
    known = (topics_file(name, data), kinds_file(name, data), names_file(name, data))
    used = [*qrels_files(name, data), *filter(Path.is_file, known)]
    if track.runs:
        origin = of(name, track.runs)
        parts.append((origin, from_runs(name, data, origin, jobs)))
        used.append(runs_file(name, data))
    for origin, tables in tables_by_origin(name, data).items():
        parts.append((origin, from_tables(name, data, origin, tables)))
        used += tables
    if track.stem:
        published = import_published.published(name, data)
        if set(published.measures) - {m for _, part in parts for m in part.measures}:
            parts.append((PUBLISHED, published))
            used += import_published.inputs(name, data)
    used += earlier_files(name, data)
    topics = judged_topics(name, data)
    names = system_names(name, data) | anonymous_systems(name, data)
    kinds = topic_kinds(name, data)
    return combined(
        name,
        {"topic_kinds": {topic: kinds[topic] for topic in topics}} if kinds else {},
        names,
        topics,
        parts,
        hashes(used, data),
        pack_earlier(topics, earlier_documents(name, data)) if track.earlier else None,
    )


def of(name: str, origin: Origin) -> Origin:
    """Return an origin; fill in the year of the track if the date needs it."""
    return replace(origin, date=origin.date.format(year=TRACKS[name].year))


def runs_file(name: str, data: Path) -> Path:
    """Return the archive of a set's runs."""
    return data / "runs" / f"{TRACKS[name].same_topics_as or name}.tar.xz"


def from_runs(name: str, data: Path, origin: Origin, jobs: int) -> FactorSet:
    """Build the set of a track whose runs are known."""
    track = TRACKS[name]
    return build_factors(
        qrels_files(name, data)[0],
        runs_file(name, data),
        measures_from_runs(name),
        id=name,
        source=origin.source,
        licence=origin.licence,
        depth=track.depth,
        jobs=jobs,
    )


def measures_from_runs(name: str) -> list[str]:
    """Return the measures to compute from runs; none needs more documents than runs have."""
    track = TRACKS[name]
    names = BUILD_MEASURES + (DEEP_MEASURES if name.startswith("dl") else ())
    return [
        m
        for m in names
        if not track.depth or parse_measure(m).params.get("cutoff", 0) <= track.depth
    ]


def tables_by_origin(name: str, data: Path) -> dict[Origin, list[Path]]:
    """Return the first score table of each measure, grouped by origin."""
    track = TRACKS[name]
    files_of: dict[Origin, dict[str, Path]] = {}
    folders = [(track.tables, data / "scores"), (track.more, data / "more-scores")]
    for origin, folder in folders:
        for file in (folder / name).glob("*.csv") if origin else ():
            if file.stem != "systems" and not any(file.stem in f for f in files_of.values()):
                own = track.others.get(file.stem, origin)
                assert own
                files_of.setdefault(own, {})[file.stem] = file
    return {
        origin: sorted(files.values(), key=lambda file: file.name)
        for origin, files in files_of.items()
    }


def from_tables(name: str, data: Path, origin: Origin, tables: list[Path]) -> FactorSet:
    """Build the set of a track whose scores are known.

    If the scores of a measure on a topic differ by only a few steps of their resolution, the topic
    has no factors for the measure.
    """
    topics = judged_topics(name, data)
    whole = build_from_scores(
        tables, topics, id=name, source=origin.source, licence=origin.licence, depth=origin.depth
    )
    scores, tags = {}, {}
    for measure in whole.measures:
        numbers, columns = scores_by_system(whole, measure)
        unusable = has_coarse_deviation(
            whole.sd[measure], measure, whole.about(measure, "resolution")
        )
        scores[measure] = np.where(unusable[:, None], np.nan, columns)
        tags[measure] = [whole.systems[n] for n in numbers]
    return factors_from_scores(scores, topics, whole.info, tags)


def combined(
    name: str,
    fields: dict[str, Any],
    names: dict[str, str],
    topics: dict[str, Judgments],
    parts: list[tuple[Origin, FactorSet]],
    inputs: list[dict[str, str]],
    earlier: np.ndarray | None = None,
) -> FactorSet:
    """Combine several sets into one; each measure comes from the first set that has it.

    Raises
    ------
    ValueError
        If the judgments of a part differ from ``judgments``.
    """
    first = parts[0][1]
    measures: dict[str, Any] = {}
    owner: dict[str, FactorSet] = {}
    used: dict[str, Origin] = {}
    for origin, part in parts:
        if part.judgments != topics:
            raise ValueError(f"{name}: topics or their judgments differ")
        for measure in part.measures:
            if measure not in owner:
                own = {f: part.about(measure, f) for f in OF_MEASURE}
                measures[measure] = {"systems": part.n_systems[measure]} | {
                    f: v for f, v in own.items() if v != first.info[f]
                }
                owner[measure] = part
                used[origin.source] = origin
    tags_of = {id(part): tags(name, part, names) for part in owner.values()}
    all_tags = sorted({tag for each in tags_of.values() for tag in each})
    short = {k: v for part in owner.values() for k, v in part.info.get("short_systems", {}).items()}
    info = (
        TRACKS[name].info(name)
        | fields
        | ({"short_systems": short} if short else {})
        | {f: first.info[f] for f in OF_MEASURE}
        | {
            "sources": [origin.record() for origin in used.values()],
            "inputs": inputs,
            "built": f"by ir_std {__version__}: "
            + "; ".join(
                dict.fromkeys(
                    part.info["built"].removeprefix("by ir_std ") for part in owner.values()
                )
            ),
            "measures": measures,
        }
    )

    mean, sd, scores = {}, {}, {}
    for measure, part in owner.items():
        rows = part.rows(topics)
        if measure in part.scores:
            scores[measure] = np.full((len(rows), len(all_tags)), np.nan)
            columns = [all_tags.index(tag) for tag in tags_of[id(part)]]
            scores[measure][:, columns] = part.scores[measure][rows]
        else:
            mean[measure], sd[measure] = part.mean[measure][rows], part.sd[measure][rows]
    return FactorSet(info, topics, mean, sd, scores, all_tags, earlier)


def tags(name: str, part: FactorSet, names: dict[str, str]) -> list[str]:
    """Return the names of a part's systems; if a name is unknown, return the column's name.

    The nDCG of Robust 2004 comes from a different repository than its AP. In that repository, the
    columns are called ``run1`` ... instead of ``sys1`` .... Its AP equals the other AP, column by
    column, to its last decimal.
    """
    columns = [
        re.sub(r"^run(?=\d+$)", "sys", tag) if name == "robust04" else tag for tag in part.systems
    ]
    return [names.get(column, column) for column in columns]


def hashes(files: Iterable[Path], data: Path) -> list[dict[str, str]]:
    """Return the input files, with their paths in the data folder and their SHA-256."""
    hashes = {}
    for file in files:
        hashes[file.relative_to(data).as_posix()] = hashlib.sha256(file.read_bytes()).hexdigest()
    return [{"file": file, "sha256": hashes[file]} for file in sorted(hashes)]


if __name__ == "__main__":
    main()
