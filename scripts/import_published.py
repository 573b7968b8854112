#!/usr/bin/env python3
"""The factors of the 17 TREC tracks that Webber, Moffat and Zobel published, as factor sets."""

from __future__ import annotations

import argparse
from pathlib import Path

from data_folder import add_data_option
from tracks import PUBLISHED, TRACKS, judged_topics

from ir_std.factors.factor_set import FactorSet
from ir_std.factors.formats import read_webber, set_from_tables, webber_files

OF_WHOLE_RUNS = ("AP",)
"""In the Terabyte files these come from whole runs, the others from the first 1000 documents.

AP is above SP / R on every topic there, and the mean of SP / R over topics (0.1532 in 2004) is
NIST's mean AP of the same 70 runs (0.1533), that of the published AP 0.1657.
"""


def published(name: str, data: Path) -> FactorSet:
    """One published set as a factor set."""
    track = TRACKS[name]
    info = track.info(name) | {
        "depth": PUBLISHED.depth,
        "source": PUBLISHED.source,
        "licence": PUBLISHED.licence,
        "built": "by ir_std from the published means and deviations",
    }
    if ".tb" in track.stem:
        info["measures"] = {measure: {"depth": 10000} for measure in OF_WHOLE_RUNS}
    return set_from_tables(
        read_webber(data / "published" / track.stem), info, track.systems, judged_topics(name, data)
    )


def inputs(name: str, data: Path) -> list[Path]:
    """The files of a published set."""
    return list(webber_files(data / "published" / TRACKS[name].stem))


def main() -> None:
    """Write the published sets alone; ``build_shipped.py`` joins them with the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    parser.add_argument("--out", type=Path, required=True, help="the folder for the 17 sets")
    args = parser.parse_args()
    for name, track in TRACKS.items():
        if track.stem:
            published(name, args.data).save(args.out / name)


if __name__ == "__main__":
    main()
