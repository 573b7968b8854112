#!/usr/bin/env python3
"""Make factor sets from the published factors of Webber, Moffat and Zobel (17 tracks)."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from experiment import add_data_option
from tracks import PUBLISHED, TRACKS, judged_topics

from ir_std._arrays import Floats
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.formats import ImportedTables, read_webber, set_from_tables, webber_files
from ir_std.factors.judgments import Judgments

OF_WHOLE_RUNS = ("AP",)
"""Measures that were computed from whole runs in the Terabyte files.

The other measures cover only the first 1000 documents.

On every topic of these files, AP is above SP / R. In 2004, the mean of SP / R over topics (0.1532)
agrees with NIST's mean AP of the same 70 runs (0.1533), but the mean of the published AP is 0.1657.
"""


IDEAL_DEPTH = 1000
"""Largest number of relevant documents in the ideal ranking of the published nDCG."""
DISCOUNTS: dict[str, Callable[[Floats], Floats]] = {
    "nDCG(dcg='jk',rel=1)": lambda rank: np.maximum(1, np.log2(rank)),
    "nDCG(rel=1)": lambda rank: np.log2(rank + 1),
}
"""Discounts by rank, for each published measure that is normalized."""


def with_whole_ideals(tables: ImportedTables, topics: Mapping[str, Judgments]) -> ImportedTables:
    """Rescale nDCG on topics with more relevant documents than the published ideal ranking.

    ir_measures divides by the ideal score of all relevant documents, so we multiply the published
    means and standard deviations by the ratio of the two ideal scores. Only topic 189 of TREC-3
    needs this, because it has 1,141 relevant documents.
    """
    for i, topic in enumerate(tables.topics):
        n = topics[topic].n_rel or 0
        for measure, discount in DISCOUNTS.items() if n > IDEAL_DEPTH else ():
            gains = np.cumsum(1 / discount(np.arange(1.0, n + 1)))
            for table in (tables.mean, tables.sd):
                table[measure][i] *= gains[IDEAL_DEPTH - 1] / gains[-1]
    return tables


def published(name: str, data: Path) -> FactorSet:
    """Make a factor set from one published set."""
    track = TRACKS[name]
    topics = judged_topics(name, data)
    info = track.info(name) | {
        "depth": PUBLISHED.depth,
        "source": PUBLISHED.source,
        "licence": PUBLISHED.licence,
        "built": "by ir_std from the published means and standard deviations",
    }
    if ".tb" in track.stem:
        info["measures"] = {measure: {"depth": 10000} for measure in OF_WHOLE_RUNS}
    tables = with_whole_ideals(read_webber(data / "published" / track.stem), topics)
    return set_from_tables(tables, info, track.systems, topics)


def inputs(name: str, data: Path) -> list[Path]:
    """Return the files of a published set."""
    return list(webber_files(data / "published" / TRACKS[name].stem))


def main() -> None:
    """Write only the published sets; ``build_shipped.py`` adds the other measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    parser.add_argument("--out", type=Path, required=True, help="the folder for the 17 sets")
    args = parser.parse_args()
    for name, track in TRACKS.items():
        if track.stem:
            published(name, args.data).save(args.out / f"{name}.npz")


if __name__ == "__main__":
    main()
