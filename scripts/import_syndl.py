#!/usr/bin/env python3
"""R@100 of the Deep Learning tracks 2022 and 2023, from SynDL's per-topic trec_eval output.

    python scripts/import_syndl.py CHECKOUT -o FOLDER

reads ``TREC-DLs-results/dl2022/treceval/RUN.treceval`` and the same of 2023 below a checkout of
github.com/rahmanidashti/SynDL (commit 78a3ffe), and writes ``scores/dl22-passage/R@100.csv`` and
``scores/dl23-passage/R@100.csv`` below FOLDER: the retrieved relevant of the relevant passages, the
runs being 100 deep.  ``build_shipped.py --more FOLDER`` adds them to the sets.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

DEPTH = 100
SETS = {"dl22-passage": "dl2022", "dl23-passage": "dl2023"}


def recalls(file: Path) -> dict[str, float]:
    """R@100 by topic of one run.

    Raises
    ------
    ValueError
        If the run is deeper, so that what it retrieved is not what its first 100 hold.
    """
    counts: dict[str, dict[str, int]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        name, topic, value = line.split()
        if name in ("num_ret", "num_rel", "num_rel_ret") and topic != "all":
            counts.setdefault(topic, {})[name] = int(value)
    if deeper := [topic for topic, n in counts.items() if n["num_ret"] > DEPTH]:
        raise ValueError(f"{file}: more than {DEPTH} passages for topic {deeper[0]}")
    return {topic: n["num_rel_ret"] / n["num_rel"] for topic, n in counts.items()}


def main() -> None:
    """Parse the arguments and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("-o", "--out", type=Path, required=True)
    args = parser.parse_args()
    for name, year in SETS.items():
        # runs of 2022 are there twice, once with "input." before their name
        files = sorted(
            file
            for file in (args.checkout / "TREC-DLs-results" / year / "treceval").glob("*.treceval")
            if not file.name.startswith("input.")
        )
        runs = {file.name.removesuffix(".treceval"): recalls(file) for file in files}
        target = args.out / "scores" / name / f"R@{DEPTH}.csv"
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("w", encoding="utf-8", newline="") as text:
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(["topic", *runs])
            for topic in sorted({topic for run in runs.values() for topic in run}, key=int):
                writer.writerow([topic, *(run.get(topic, 0.0) for run in runs.values())])
        print(f"{target}: {len(runs)} runs")


if __name__ == "__main__":
    main()
