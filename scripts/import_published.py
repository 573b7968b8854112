#!/usr/bin/env python3
"""Write the factor sets of the 17 TREC tracks that Webber, Moffat and Zobel published.

    python scripts/import_published.py --data ../shared/data

reads ``published/`` and ``topics/`` below the data folder and writes ``factors/SET/``.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np

from ir_std.factors import FactorSet, Table

SOURCE = ("W. Webber, A. Moffat, J. Zobel, Score standardization for inter-collection comparison "
          "of retrieval systems, SIGIR 2008; Standardization Factors for IR Test Collections, "
          "University of Melbourne")

MEASURES = {
    "SP": "SP", "AP": "AP", "DCG": "DCG(dcg='jk',rel=1)", "nDCG": "nDCG(dcg='jk',rel=1)",
    "VDCG": "DCG(rel=1)", "nVDCG": "nDCG(rel=1)", "P@10": "P@10", "RR": "RR",
    "RBP.8": "RBP(p=0.8,rel=1)", "RBP.95": "RBP(p=0.95,rel=1)", "RP": "Rprec",
}
"""Published column names and the measures they are."""

DEFAULT_MEASURES = ["AP", "nDCG(rel=1)", "P@10", "RR", "Rprec"]

NEWSWIRE = r"[A-Z]{2,6}\d+[A-Z]?(-[\dA-Z]+)+"
WT10G = r"WTX\d{3}-B\d+-\d+"
GOV = r"G\d\d-\d\d-\d+"
GOV2 = r"GX\d{3}-\d\d-\d+"
AQUAINT = r"[A-Z]{3}\d{8}\.\d{4}"

# id: file stem, title, number of systems (the smallest n for which n * mean of P@10 is
# whole on every topic), pattern of document ids, ir_datasets ids
SETS: dict[str, tuple[str, str, int, str, list[str]]] = {
    "trec3-adhoc": ("trec3.adhoc", "TREC-3 ad hoc", 40, NEWSWIRE,
                    ["disks12/trec3"]),
    "trec4-adhoc": ("trec4.adhoc", "TREC-4 ad hoc", 33, NEWSWIRE, []),
    "trec5-adhoc": ("trec5.adhoc", "TREC-5 ad hoc", 61, NEWSWIRE, []),
    "trec6-adhoc": ("trec6.adhoc", "TREC-6 ad hoc", 74, NEWSWIRE, []),
    "trec7-adhoc": ("trec7.adhoc", "TREC-7 ad hoc", 103, NEWSWIRE,
                    ["disks45/nocr/trec7"]),
    "trec8-adhoc": ("trec8.adhoc", "TREC-8 ad hoc", 129, NEWSWIRE,
                    ["disks45/nocr/trec8"]),
    "trec9-web": ("trec9.web", "TREC-9 Web", 105, WT10G, []),
    "trec2001-web": ("trec2001.web", "TREC 2001 Web ad hoc", 97, WT10G, []),
    "trec2002-web": ("trec2002.web", "TREC 2002 Web topic distillation", 71, GOV,
                     ["gov/trec-web-2002"]),
    "trec2003-web": ("trec2003.web", "TREC 2003 Web topic distillation", 93, GOV,
                     ["gov/trec-web-2003"]),
    "trec2004-web": ("trec2004.web", "TREC 2004 Web mixed query", 74, GOV,
                     ["gov/trec-web-2004"]),
    "robust03": ("trec2003.rob", "TREC 2003 Robust", 78, NEWSWIRE, []),
    "robust04": ("trec2004.rob", "TREC 2004 Robust", 110, NEWSWIRE,
                 ["disks45/nocr/trec-robust-2004"]),
    "robust05": ("trec2005.rob", "TREC 2005 Robust", 74, AQUAINT,
                 ["aquaint/trec-robust-2005"]),
    "terabyte04": ("trec2004.tb", "TREC 2004 Terabyte ad hoc", 70, GOV2,
                   ["gov2/trec-tb-2004"]),
    "terabyte05": ("trec2005.tb", "TREC 2005 Terabyte ad hoc", 58, GOV2,
                   ["gov2/trec-tb-2005"]),
    "terabyte06": ("trec2006.tb.adhoc", "TREC 2006 Terabyte ad hoc", 80, GOV2,
                   ["gov2/trec-tb-2006"]),
}
# In the Terabyte files these come from whole runs, the others from the first 1000 documents.
DEEP = ("SP", "DCG(dcg='jk',rel=1)", "nDCG(dcg='jk',rel=1)", "DCG(rel=1)", "nDCG(rel=1)")


def main() -> None:
    """Parse the arguments and write every set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=root / "factors")
    args = parser.parse_args()
    for name in SETS:
        published(name, args.data).save(args.out / name)


def published(name: str, data: Path) -> FactorSet:
    """One published set as a factor set."""
    stem, title, systems, pattern, datasets = SETS[name]
    topics, mean = read_published(data / "published" / f"{stem}.mn.csv")
    _, sd = read_published(data / "published" / f"{stem}.sd.csv")
    with open(data / "topics" / f"{name}.csv", encoding="utf-8", newline="") as text:
        counts = {r["topic"]: int(r["n_rel"]) if r["n_rel"] else None
                  for r in csv.DictReader(text)}
    info: dict[str, Any] = {
        "id": name, "title": title, "track": title.split(" ad hoc")[0],
        "doc_id_pattern": pattern, "ir_datasets": datasets, "depth": 1000, "resolution": 0,
        "default_measures": DEFAULT_MEASURES,
        "measures": {m: {"systems": systems, **({"depth": 10000} if "tb" in stem and m in DEEP
                                                else {})} for m in mean},
        "source": SOURCE, "licence": "published for free use by the authors",
        "built": "scripts/import_published.py from the published means and deviations",
    }
    return FactorSet(info, {t: counts[t] for t in topics}, mean, sd)


def read_published(file: Path) -> tuple[list[str], Table]:
    """A published CSV: topics, and a column for each measure under its ir_measures name."""
    with open(file, encoding="utf-8", newline="") as text:
        header, *rows = csv.reader(text)
    columns = np.array([[float(cell) for cell in row[1:]] for row in rows])
    return [row[0] for row in rows], {MEASURES[c]: columns[:, i]
                                      for i, c in enumerate(header[1:])}


if __name__ == "__main__":
    main()
