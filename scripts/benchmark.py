#!/usr/bin/env python3
"""How fast, side by side: ir_std against ir_measures, pytrec_eval and ranx.

    python scripts/benchmark.py --data ../shared/data

Every pair of ways to do the same work runs alternately in this process; medians of ``--rounds``
runs are compared.  ir_std gives all eleven published measures raw and standardized (N), the
others only AP, nDCG, P@10, RR and Rprec raw.  Prints ratios (below 1: ir_std is faster) and
writes ``benchmark.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
from ir_measures import AP, RR, P, Rprec, nDCG
from ir_measures.providers import FallbackProvider

import ir_std
from ir_std.build.from_runs import build_factors
from ir_std.evaluation.provider import StdProvider

FIVE = [AP, nDCG, P @ 10, RR, Rprec]
ELEVEN = [ir_std.parse_measure(name) for name in (
    "SP", "AP", "DCG(dcg='jk',rel=1)", "nDCG(dcg='jk',rel=1)", "DCG(rel=1)", "nDCG(rel=1)", "P@10",
    "RR", "RBP(p=0.8,rel=1)", "RBP(p=0.95,rel=1)", "Rprec")]
IR_MEASURES = FallbackProvider(
    [p for p in ir_measures.DefaultPipeline.providers if not isinstance(p, StdProvider)])
"""ir_measures' pipeline without ir_std."""

Work = Callable[[], Any]


@dataclass(frozen=True)
class Row:
    """One comparison, in milliseconds (or megabytes)."""

    work: str
    against: str
    ours: float
    theirs: float
    at_most: float | None = None
    unit: str = "ms"

    @property
    def ratio(self) -> float:
        """Ours divided by theirs."""
        return self.ours / self.theirs


def alternate(ours: Work, theirs: Work, rounds: int) -> tuple[float, float]:
    """Median milliseconds of both, run in turn after one run each to warm up."""
    times: tuple[list[float], list[float]] = ([], [])
    for work in (ours, theirs):
        work()
    for _ in range(rounds):
        for work, kept in zip((ours, theirs), times, strict=True):
            start = time.perf_counter()
            work()
            kept.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times[0]), statistics.median(times[1])


class Bench:
    """Collects rows and prints them as they come."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.rows: list[Row] = []

    def compare(self, work: str, against: str, ours: Work, theirs: Work,
                at_most: float | None = None, rounds: int | None = None) -> None:
        """Time both and keep the row."""
        self.add(Row(work, against, *alternate(ours, theirs, rounds or self.rounds), at_most))

    def add(self, row: Row) -> None:
        """Keep and print a row."""
        self.rows.append(row)
        limit = f"{row.at_most:.2f}" if row.at_most else ""
        print(f"| {row.work} | {row.against} | {row.ours:.1f} {row.unit} | {row.theirs:.1f} "
              f"{row.unit} | {row.ratio:.2f} | {limit} |", flush=True)


def covid(bench: Bench, run: Path, qrels: Path) -> None:
    """One TREC-COVID run in every form, and as whole processes."""
    import pandas as pd

    theirs = IR_MEASURES.evaluator(FIVE, list(ir_measures.read_trec_qrels(str(qrels))))
    ours = ir_std.evaluator(ELEVEN, qrels)
    rows = list(ir_measures.read_trec_run(str(run)))
    dicts = ir_measures.util.RunConverter(rows).as_dict_of_dict()
    frame = pd.DataFrame(rows)
    bench.compare("run file to results, qrels loaded", "ir_measures",
                  lambda: ours.calc_aggregate(run),
                  lambda: theirs.calc_aggregate(ir_measures.read_trec_run(str(run))), 0.25)
    bench.compare("run file to results, qrels loaded", "open(f,'rb').read().split()",
                  lambda: ours.calc_aggregate(run), lambda: run.read_bytes().split(), 2.0)
    for form, value, at_most in (("dict of dicts", dicts, 0.60), ("DataFrame", frame, 0.12),
                                 ("named tuples", rows, None)):
        bench.compare(f"{form} to results", "ir_measures",
                      lambda value=value: ours.calc_aggregate(value),
                      lambda value=value: theirs.calc_aggregate(value), at_most)
    pytrec(bench, dicts, qrels, ours)
    ranx(bench, run, qrels, ours)
    processes(bench, run, qrels)


def pytrec(bench: Bench, dicts: Any, qrels: Path, ours: Any) -> None:
    """pytrec_eval called directly, its fastest form."""
    import pytrec_eval

    judged = ir_measures.util.QrelsConverter(
        ir_measures.read_trec_qrels(str(qrels))).as_dict_of_dict()
    evaluator = pytrec_eval.RelevanceEvaluator(
        judged, {"map", "ndcg", "P.10", "recip_rank", "Rprec"})
    bench.compare("dict of dicts to results", "pytrec_eval", lambda: ours.calc_aggregate(dicts),
                  lambda: evaluator.evaluate(dicts))


def ranx(bench: Bench, run: Path, qrels: Path, ours: Any) -> None:
    """ranx, after it has compiled."""
    try:
        import ranx as rx
    except ImportError:
        print("ranx is not installed: left out", file=sys.stderr)
        return
    judged = rx.Qrels.from_file(str(qrels), kind="trec")
    names = ["map", "ndcg", "precision@10", "mrr", "r-precision"]

    def theirs() -> Any:
        return rx.evaluate(judged, rx.Run.from_file(str(run), kind="trec"), names,
                           make_comparable=True)

    bench.compare("run file to results, qrels loaded", "ranx, compiled",
                  lambda: ours.calc_aggregate(run), theirs)


def processes(bench: Bench, run: Path, qrels: Path) -> None:
    """The command lines, from start to end."""
    def spawn(*command: str) -> Work:
        return lambda: subprocess.run([sys.executable, "-m", *command], check=True,
                                      capture_output=True)

    ours = spawn("ir_std", str(run), str(qrels), *map(str, ELEVEN))
    theirs = spawn("ir_measures", str(qrels), str(run), *map(str, FIVE))
    bench.compare("command line, whole process", "ir_measures", ours, theirs, 0.65)
    bench.compare("command line, whole process", "python -c 'import ir_measures, numpy'", ours,
                  lambda: subprocess.run([sys.executable, "-c", "import ir_measures, numpy"],
                                         check=True))


def building(bench: Bench, runs: Path, qrels: Path) -> None:
    """A factor set from plain files on one core, against a loop of ir_measures."""
    files = sorted(runs.iterdir())
    measures = ir_std.load_factors("covid-round5").measures
    theirs = IR_MEASURES.evaluator(FIVE, list(ir_measures.read_trec_qrels(str(qrels))))
    bench.compare(
        f"build from {len(files)} runs, {len(measures)} measures", "ir_measures, five measures",
        lambda: build_factors(qrels, files, measures=measures, id="bench"),
        lambda: [theirs.calc_aggregate(ir_measures.read_trec_run(str(f))) for f in files],
        0.30, rounds=1)


def scaling(bench: Bench, folder: Path, largest: int) -> None:
    """Made-up runs of growing length: time, and memory at the peak."""
    lines = 10_000
    while lines <= largest:
        run, qrels = made_up(folder, lines)
        rounds = 7 if lines <= 10**6 else 1
        work = f"made-up run of {lines:,} lines to results"
        theirs = IR_MEASURES.evaluator(FIVE, list(ir_measures.read_trec_qrels(str(qrels))))
        ours = ir_std.StdEvaluator(ELEVEN, qrels)
        bench.compare(work, "ir_measures", lambda ours=ours, run=run: ours.calc_aggregate(run),
                      lambda theirs=theirs, run=run: theirs.calc_aggregate(
                          ir_measures.read_trec_run(str(run))), rounds=rounds)
        bench.add(Row(f"memory at the peak, {lines:,} lines", "ir_measures",
                      peak("ir_std", run, qrels), peak("ir_measures", run, qrels), 1.0, "MB"))
        lines *= 10


def made_up(folder: Path, lines: int) -> tuple[Path, Path]:
    """A run of ``lines`` lines, 1000 a topic, and qrels with 50 judgments a topic."""
    random = np.random.default_rng(lines)
    run, qrels = folder / f"run{lines}", folder / f"qrels{lines}"
    with open(run, "w", encoding="utf-8") as out, open(qrels, "w", encoding="utf-8") as judged:
        for topic in range(1, lines // 1000 + 1):
            docs = random.choice(8_841_823, 1000, replace=False).tolist()
            scores = np.sort(random.gamma(2.0, 5.0, 1000))[::-1].tolist()
            out.writelines(f"{topic} Q0 {doc} {rank} {score:.6f} made-up\n" for rank, (doc, score)
                           in enumerate(zip(docs, scores, strict=True), 1))
            judged.writelines(f"{topic} 0 {doc} {level}\n" for doc, level in zip(
                random.permutation(docs)[:50], random.integers(0, 4, 50), strict=True))
    return run, qrels


PEAK = {
    "ir_std": "import ir_std; ir_std.StdEvaluator([ir_std.parse_measure(m) for m in {measures}], "
              "{qrels!r}).calc_aggregate({run!r})",
    "ir_measures": "import ir_measures as irm; irm.calc_aggregate([irm.parse_measure(m) for m in "
                   "{measures}], irm.read_trec_qrels({qrels!r}), irm.read_trec_run({run!r}))",
}


def peak(library: str, run: Path, qrels: Path) -> float:
    """Megabytes that a fresh process needs at the most."""
    measures = [str(m) for m in (ELEVEN if library == "ir_std" else FIVE)]
    code = PEAK[library].format(measures=measures, qrels=str(qrels), run=str(run))
    # Not ru_maxrss, which counts this process too: a child starts in its parent's memory.
    code += "; print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True,
                          capture_output=True, text=True)
    return int(done.stdout) / 1024


def versions() -> dict[str, str]:
    """What was measured, and on what."""
    found = {"date": date.today().isoformat(), "python": platform.python_version(),
             "machine": f"{platform.machine()}, {os.cpu_count()} cores"}
    for name in ("ir-std", "ir-measures", "pytrec-eval-terrier", "ranx", "numpy", "pandas",
                 "pyarrow"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ir_std.__version__ if name == "ir-std" else "not installed"
    return found


def main() -> None:
    """Parse the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--data", type=Path,
                        default=os.environ.get("IR_STD_DATA") or root.parent / "shared" / "data")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--largest", type=int, default=10**7, help="lines of the largest run")
    parser.add_argument("--out", type=Path, default=Path("benchmark.json"))
    args = parser.parse_args()
    bench = Bench(args.rounds)
    about = versions()
    print(", ".join(f"{k} {v}" for k, v in about.items()))
    print("| work | against | ir_std | other | ratio | at most |\n|" + " --- |" * 6)
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(args.data / "runs" / "covid-round5.tar.xz") as archive:
            archive.extractall(scratch, filter="data")
        runs = Path(scratch) / "covid-round5"
        qrels = args.data / "qrels" / "covid-round5.txt"
        # The run of middle length that is not cut: 49,900 lines.
        run = sorted(runs.iterdir(), key=lambda f: (f.stat().st_size, f.name))[len(
            list(runs.iterdir())) // 2]
        covid(bench, run, qrels)
        building(bench, runs, qrels)
        scaling(bench, Path(scratch), args.largest)
    args.out.write_text(json.dumps({"about": about, "rows": [
        asdict(row) | {"ratio": row.ratio} for row in bench.rows]}, indent=2) + "\n")


if __name__ == "__main__":
    main()
