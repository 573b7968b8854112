"""The factors of the 17 TREC tracks that Webber, Moffat and Zobel published, as factor sets."""

from __future__ import annotations

from pathlib import Path

from tracks import PUBLISHED, TRACKS, topic_counts

from ir_std.exchange import imported, read_webber
from ir_std.factors import FactorSet

# In the Terabyte files these come from whole runs, the others from the first 1000 documents.
WHOLE_RUNS = ("SP", "DCG(dcg='jk',rel=1)", "nDCG(dcg='jk',rel=1)", "DCG(rel=1)", "nDCG(rel=1)")


def published(name: str, data: Path) -> FactorSet:
    """One published set as a factor set."""
    track = TRACKS[name]
    info = track.info(name) | {
        "depth": PUBLISHED.depth, "source": PUBLISHED.source, "licence": PUBLISHED.licence,
        "built": "by ir_std from the published means and deviations"}
    factors = imported(read_webber(data / "published" / track.stem), info, track.systems,
                       topic_counts(name, data))
    if ".tb" in track.stem:
        for measure in WHOLE_RUNS:
            factors.info["measures"][measure]["depth"] = 10000
    return factors
