"""The factors of the 17 TREC tracks that Webber, Moffat and Zobel published, as factor sets."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from tracks import PUBLISHED, TRACKS, topic_counts

from ir_std.factors import FactorSet, Table

MEASURES = {
    "SP": "SP", "AP": "AP", "DCG": "DCG(dcg='jk',rel=1)", "nDCG": "nDCG(dcg='jk',rel=1)",
    "VDCG": "DCG(rel=1)", "nVDCG": "nDCG(rel=1)", "P@10": "P@10", "RR": "RR",
    "RBP.8": "RBP(p=0.8,rel=1)", "RBP.95": "RBP(p=0.95,rel=1)", "RP": "Rprec",
}
"""Published column names and the measures they are."""

# In the Terabyte files these come from whole runs, the others from the first 1000 documents.
WHOLE_RUNS = ("SP", "DCG(dcg='jk',rel=1)", "nDCG(dcg='jk',rel=1)", "DCG(rel=1)", "nDCG(rel=1)")


def published(name: str, data: Path) -> FactorSet:
    """One published set as a factor set."""
    track = TRACKS[name]
    topics, mean = read_published(data / "published" / f"{track.stem}.mn.csv")
    _, sd = read_published(data / "published" / f"{track.stem}.sd.csv")
    counts = topic_counts(name, data)
    deep = {m: {"depth": 10000} for m in WHOLE_RUNS} if ".tb" in track.stem else {}
    info = track.info(name) | {
        "depth": PUBLISHED.depth, "resolution": 0,
        "measures": {m: {"systems": track.systems} | deep.get(m, {}) for m in mean},
        "source": PUBLISHED.source, "licence": PUBLISHED.licence,
        "built": "scripts/build_shipped.py from the published means and deviations",
    }
    return FactorSet(info, {t: counts[t] for t in topics}, mean, sd)


def read_published(file: Path) -> tuple[list[str], Table]:
    """A published CSV: topics, and a column for each measure under its ir_measures name."""
    with open(file, encoding="utf-8", newline="") as text:
        header, *rows = csv.reader(text)
    columns = np.array([[float(cell) for cell in row[1:]] for row in rows])
    return [row[0] for row in rows], {MEASURES[c]: columns[:, i]
                                      for i, c in enumerate(header[1:])}
