#!/usr/bin/env python3
"""Compare the speed of ir_std with ir_measures, pytrec_eval and ranx.

    python scripts/benchmark.py --data ../shared/data --trec-eval PATH

For each comparison, the two programs run in turn in this process, and the script compares the
medians of ``--rounds`` rounds. It uses one run of each of three collections, whole tracks, and
made-up runs with many lines, many topics, long IDs or unsorted lines. ir_std computes raw and
standardized (N) scores of all eleven published measures. The other programs compute only raw scores
of AP, nDCG, P@10, RR and Rprec. The script prints ratios (below 1 if ir_std is faster), reports the
ratios that are above their limit, and writes ``benchmark.json``. ``--trec-eval`` is the path of the
program trec_eval. Without this option, the script leaves out the rows for trec_eval.
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
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
from experiment import add_data_option
from ir_measures import AP, RR, P, Rprec, nDCG
from ir_measures.providers import FallbackProvider

import ir_std
from ir_std.builders.from_runs import build_factors
from ir_std.errors import pluralize
from ir_std.evaluation.api import StdProvider

FIVE = [AP, nDCG, P @ 10, RR, Rprec]
ELEVEN = [
    ir_std.parse_measure(name)
    for name in (
        "SP",
        "AP",
        "DCG(dcg='jk',rel=1)",
        "nDCG(dcg='jk',rel=1)",
        "DCG(rel=1)",
        "nDCG(rel=1)",
        "P@10",
        "RR",
        "RBP(p=0.8,rel=1)",
        "RBP(p=0.95,rel=1)",
        "Rprec",
    )
]
RUNS = {"trec8-adhoc": "ok8alx", "covid-round5": "BioInfo-run3", "dl19-passage": "TUW19-p3-f"}
"""Collections, each with one run; the runs differ in ties and in the number of digits."""
TREC_EVAL = [
    "-q",
    *(word for name in ("map", "ndcg", "P.10", "recip_rank", "Rprec") for word in ("-m", name)),
]
IR_MEASURES = FallbackProvider(
    [p for p in ir_measures.DefaultPipeline.providers if not isinstance(p, StdProvider)]
)
"""Providers that ir_measures has if ir_std is not imported."""

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
        """Time of ir_std divided by the time of the other program."""
        return self.ours / self.theirs


def alternate(ours: Work, theirs: Work, rounds: int) -> tuple[float, float]:
    """Time both functions in turn, after a warm-up; return their median milliseconds."""
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
    """Collect rows, and print each as soon as it is measured."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.rows: list[Row] = []

    def compare(
        self,
        work: str,
        against: str,
        ours: Work,
        theirs: Work,
        at_most: float | None = None,
        rounds: int | None = None,
    ) -> None:
        """Time both and keep the row."""
        self.add(Row(work, against, *alternate(ours, theirs, rounds or self.rounds), at_most))

    def add(self, row: Row) -> None:
        """Keep and print a row."""
        self.rows.append(row)
        limit = f"{row.at_most:.2f}" if row.at_most else ""
        print(
            f"| {row.work} | {row.against} | {row.ours:.1f} {row.unit} | {row.theirs:.1f} "
            f"{row.unit} | {row.ratio:.2f} | {limit} |",
            flush=True,
        )


def single(bench: Bench, name: str, run: Path, qrels: Path) -> None:
    """Time the evaluation of one run from each type of input, and in whole processes."""
    import pandas as pd

    judged = pd.DataFrame(ir_measures.read_trec_qrels(str(qrels)))
    theirs = IR_MEASURES.evaluator(FIVE, judged)
    ours = ir_std.evaluator(ELEVEN, qrels)
    rows = list(ir_measures.read_trec_run(str(run)))
    dicts = ir_measures.util.RunConverter(rows).as_dict_of_dict()
    frame = pd.DataFrame(rows)
    bench.compare(
        f"{name}: run file to results",
        "ir_measures",
        lambda: ours.calc_aggregate(run),
        lambda: theirs.calc_aggregate(ir_measures.read_trec_run(str(run))),
        0.22,
    )
    bench.compare(
        f"{name}: run file to results",
        "open(f,'rb').read().split()",
        lambda: ours.calc_aggregate(run),
        lambda: split(run),
        1.8,
    )
    for form, value, at_most in (
        ("dict of dicts", dicts, 0.50),
        ("DataFrame", frame, 0.16),
        ("named tuples", rows, None),
    ):
        bench.compare(
            f"{name}: {form} to results",
            "ir_measures",
            partial(ours.calc_aggregate, value),
            partial(theirs.calc_aggregate, value),
            at_most,
        )
    bench.compare(
        f"{name}: DataFrames of run and qrels to results",
        "ir_measures",
        lambda: ir_std.calc_aggregate(ELEVEN, judged, frame),
        lambda: IR_MEASURES.calc_aggregate(FIVE, judged, frame),
        0.16,
    )
    pytrec(bench, name, dicts, qrels, ours)
    ranx(bench, name, run, qrels, ours)
    processes(bench, name, run, qrels)


def split(run: Path) -> list[bytes]:
    """Read and split a file, which is the least work that a reader in Python can do."""
    with run.open("rb") as file:
        return file.read().split()


def pytrec(bench: Bench, name: str, dicts: Any, qrels: Path, ours: Any) -> None:
    """Time pytrec_eval without ir_measures, which is the fastest way to use it."""
    import pytrec_eval

    judged = ir_measures.util.QrelsConverter(
        ir_measures.read_trec_qrels(str(qrels))
    ).as_dict_of_dict()
    evaluator = pytrec_eval.RelevanceEvaluator(
        judged, {"map", "ndcg", "P.10", "recip_rank", "Rprec"}
    )
    bench.compare(
        f"{name}: dict of dicts to results",
        "pytrec_eval",
        lambda: ours.calc_aggregate(dicts),
        lambda: evaluator.evaluate(dicts),
    )


def ranx(bench: Bench, name: str, run: Path, qrels: Path, ours: Any) -> None:
    """Time ranx after it has compiled its functions."""
    try:
        import ranx as rx
    except ImportError:
        print("ranx is not installed, so its rows are left out", file=sys.stderr)
        return
    judged = rx.Qrels.from_file(str(qrels), kind="trec")
    names = ["map", "ndcg", "precision@10", "mrr", "r-precision"]

    def theirs() -> Any:
        return rx.evaluate(
            judged, rx.Run.from_file(str(run), kind="trec"), names, make_comparable=True
        )

    bench.compare(
        f"{name}: run file to results", "ranx, compiled", lambda: ours.calc_aggregate(run), theirs
    )


def processes(bench: Bench, name: str, run: Path, qrels: Path) -> None:
    """Time the commands of both programs, from start to end."""
    ours = spawn(sys.executable, "-m", "ir_std_program", run, qrels, *ELEVEN)
    theirs = spawn(sys.executable, "-m", "ir_measures", qrels, run, *FIVE)
    bench.compare(f"{name}: command line, whole process", "ir_measures", ours, theirs, 1.0)
    bench.compare(
        f"{name}: command line, whole process",
        "python -c 'import ir_measures, numpy'",
        ours,
        spawn(sys.executable, "-c", "import ir_measures, numpy"),
        1.35,
    )


def spawn(*command: object) -> Work:
    """Return a function that runs a program from start to end."""
    words = list(map(str, command))
    # Installed packages are compiled, but a checkout would be compiled again in each process.
    given = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return lambda: subprocess.run(words, check=True, capture_output=True, env=given)


def track(bench: Bench, name: str, runs: Path, qrels: Path, trec_eval: Path) -> None:
    """Time all runs of a track on one core; compare with one trec_eval process per run."""
    files = sorted(runs.iterdir())
    ours = spawn(sys.executable, "-m", "ir_std_program", *files, qrels, *ELEVEN, "--jobs", 1)
    theirs = [spawn(trec_eval, *TREC_EVAL, qrels, file) for file in files]
    bench.compare(
        f"{name}: command line, all {pluralize(len(files), 'run')}",
        "trec_eval -q, run after run",
        ours,
        lambda: [one() for one in theirs],
        0.35,
        rounds=3,
    )


def building(bench: Bench, runs: Path, qrels: Path) -> None:
    """Time the build of a factor set on one core; compare with a loop over ir_measures."""
    files = sorted(runs.iterdir())
    measures = ir_std.load_factors("covid-round5").measures
    theirs = IR_MEASURES.evaluator(FIVE, list(ir_measures.read_trec_qrels(str(qrels))))
    bench.compare(
        "covid-round5: build from "
        f"{pluralize(len(files), 'run')}, {pluralize(len(measures), 'measure')}",
        "ir_measures, five measures",
        lambda: build_factors(qrels, files, measures=measures, id="bench"),
        lambda: [theirs.calc_aggregate(ir_measures.read_trec_run(str(f))) for f in files],
        0.25,
        rounds=1,
    )


def scaling(bench: Bench, folder: Path, largest: int) -> None:
    """Compare time and peak memory on made-up runs of growing length."""
    shapes = [(lines // 1000, 1000) for lines in (10**5, 10**6, 10**7)]
    shapes += [(6_980, 1000), (100_000, 10), (1, 5_000_000)]
    for topics, depth in shapes:
        if topics * depth <= largest:
            run, qrels = made_up(folder, f"{topics}x{depth}", topics, depth)
            beside(bench, f"{topics:,} topics x {depth:,}", run, qrels)


def awkward(bench: Bench, folder: Path) -> None:
    """Compare time and peak memory for long IDs and for unsorted lines."""
    run, qrels = made_up(folder, "plain", 1000, 1000)
    lines = run.read_text().splitlines(keepends=True)
    beside(bench, "1,000,000 lines in order", run, qrels)
    long_id = folder / "one-long-id"
    long_id.write_text("".join([f"1 Q0 {'x' * 5000} 0 0.5 made-up\n", *lines]))
    ours, plain = (min(peak("ir_std", file, qrels) for _ in range(3)) for file in (long_id, run))
    bench.add(
        Row("one id of 5,000 characters", "the same file without it", ours[0], plain[0], 1.2, "s")
    )
    bench.add(
        Row(
            "one id of 5,000 characters, memory",
            "the same file without it",
            ours[1],
            plain[1],
            1.2,
            "MB",
        )
    )
    shuffled, interleaved = folder / "shuffled", folder / "interleaved"
    shuffled.write_text("".join(np.random.default_rng(1).permutation(lines).tolist()))
    beside(bench, "1,000,000 lines shuffled across topics", shuffled, qrels)
    interleaved.write_text("".join(line for rank in range(1000) for line in lines[rank::1000]))
    beside(bench, "1,000,000 lines interleaved by rank", interleaved, qrels)
    beside(
        bench,
        "200,000 lines with ids of 500 characters",
        *made_up(folder, "long", 200, 1000, "u" * 493),
    )


def beside(bench: Bench, work: str, run: Path, qrels: Path) -> None:
    """Compare the time and memory of a new process that uses ir_std or ir_measures."""
    ours, theirs = (peak(library, run, qrels) for library in ("ir_std", "ir_measures"))
    bench.add(Row(work, "ir_measures", ours[0], theirs[0], 1.0, "s"))
    bench.add(Row(f"{work}, memory at the peak", "ir_measures", ours[1], theirs[1], 1.0, "MB"))


def made_up(
    folder: Path, name: str, topics: int, depth: int, behind: str = ""
) -> tuple[Path, Path]:
    """Write a run and qrels with up to 50 judgments per topic; IDs end with ``behind``."""
    random = np.random.default_rng(topics)
    run, qrels = folder / f"run-{name}", folder / f"qrels-{name}"
    with run.open("w", encoding="utf-8") as out, qrels.open("w", encoding="utf-8") as judged:
        for topic in range(1, topics + 1):
            docs = random.integers(0, 8_841_823 // depth, depth) + np.arange(depth) * (
                8_841_823 // depth
            )
            random.shuffle(docs)
            scores = np.sort(random.gamma(2.0, 5.0, depth))[::-1].tolist()
            out.writelines(
                f"{topic} Q0 {doc}{behind} {rank} {score:.6f} made-up\n"
                for rank, (doc, score) in enumerate(zip(docs.tolist(), scores, strict=True), 1)
            )
            few = min(50, depth)
            judged.writelines(
                f"{topic} 0 {doc}{behind} {level}\n"
                for doc, level in zip(
                    random.permutation(docs)[:few].tolist(),
                    random.integers(0, 4, few).tolist(),
                    strict=True,
                )
            )
    return run, qrels


PEAK = {
    "ir_std": "import ir_std; ir_std.StdEvaluator([ir_std.parse_measure(m) for m in {measures}], "
    "{qrels!r}).calc_aggregate({run!r})",
    "ir_measures": "import ir_measures as irm; irm.calc_aggregate([irm.parse_measure(m) for m in "
    "{measures}], irm.read_trec_qrels({qrels!r}), irm.read_trec_run({run!r}))",
}


def peak(library: str, run: Path, qrels: Path) -> tuple[float, float]:
    """Return the processor seconds and the peak megabytes of a new process."""
    measures = [str(m) for m in (ELEVEN if library == "ir_std" else FIVE)]
    code = PEAK[library].format(measures=measures, qrels=str(qrels), run=str(run))
    # ru_maxrss would count this process too, because a child starts in its parent's memory.
    code += (
        "; import time; print(time.process_time(), "
        "open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, text=True
    )
    seconds, kilobytes = done.stdout.split()
    return float(seconds), int(kilobytes) / 1024


def versions() -> dict[str, str]:
    """Return the versions of the programs and of the machine."""
    found = {
        "date": date.today().isoformat(),
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
    }
    for name in (
        "ir-std",
        "ir-measures",
        "pytrec-eval-terrier",
        "ranx",
        "numpy",
        "pandas",
        "pyarrow",
    ):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ir_std.__version__ if name == "ir-std" else "not installed"
    return found


def main() -> None:
    """Parse the arguments and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--largest", type=int, default=10**7, help="lines in the largest run")
    parser.add_argument("--trec-eval", type=Path, metavar="PATH", help="the trec_eval program")
    parser.add_argument("--out", type=Path, default=Path("benchmark.json"))
    args = parser.parse_args()
    bench = Bench(args.rounds)
    about = versions()
    print(", ".join(f"{k} {v}" for k, v in about.items()))
    print("| work | against | ir_std | other | ratio | at most |\n|" + " --- |" * 6)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, run in RUNS.items():
            with tarfile.open(args.data / "runs" / f"{name}.tar.xz") as archive:
                archive.extractall(folder, filter="data")
            qrels = args.data / "qrels" / f"{name}.txt"
            single(bench, name, folder / name / run, qrels)
            if args.trec_eval:
                track(bench, name, folder / name, qrels, args.trec_eval)
        building(bench, folder / "covid-round5", args.data / "qrels" / "covid-round5.txt")
        if args.largest >= 10**6:
            awkward(bench, folder)
        scaling(bench, folder, args.largest)
    slow = [row for row in bench.rows if row.at_most and row.ratio > row.at_most]
    print(
        f"{len(slow)} of {sum(row.at_most is not None for row in bench.rows)} ratios are above "
        "their limit",
        *(f"  {row.work} / {row.against}: {row.ratio:.2f}" for row in slow),
        sep="\n",
    )
    args.out.write_text(
        json.dumps(
            {"about": about, "rows": [asdict(row) | {"ratio": row.ratio} for row in bench.rows]},
            indent=2,
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
