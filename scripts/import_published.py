#!/usr/bin/env python3
"""The factors of the 17 TREC tracks that Webber, Moffat and Zobel published, as factor sets."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from tracks import PUBLISHED, TRACKS, judged_topics

from ir_std.factors.factor_set import FactorSet
from ir_std.factors.formats import imported, read_webber

# In the Terabyte files these come from whole runs, the others from the first 1000 documents.
WHOLE_RUNS = ("SP", "DCG(dcg='jk',rel=1)", "nDCG(dcg='jk',rel=1)", "DCG(rel=1)", "nDCG(rel=1)")


def published(name: str, data: Path) -> FactorSet:
    """One published set as a factor set."""
    track = TRACKS[name]
    info = track.info(name) | {
        "depth": PUBLISHED.depth, "source": PUBLISHED.source, "licence": PUBLISHED.licence,
        "built": "by ir_std from the published means and deviations"}
    if ".tb" in track.stem:
        info["measures"] = {measure: {"depth": 10000} for measure in WHOLE_RUNS}
    return imported(read_webber(data / "published" / track.stem), info, track.systems,
                    judged_topics(name, data))


def main() -> None:
    """Write the published sets by themselves; ``build_shipped.py`` joins them with the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--data", type=Path,
                        default=os.environ.get("IR_STD_DATA") or root.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, required=True, help="the folder for the 17 sets")
    args = parser.parse_args()
    for name, track in TRACKS.items():
        if track.stem:
            published(name, args.data).save(args.out / name)


if __name__ == "__main__":
    main()
