"""Provide the options, readers and tables that all experiments share."""

from __future__ import annotations

import argparse
import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import ir_std
from ir_std.reading.archives import run_sources
from ir_std.trec.files import read_qrels, read_run

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Scores:
    """Raw scores, ``values`` of shape (n_topics, n_systems)."""

    topics: tuple[str, ...]
    systems: tuple[str, ...]
    values: np.ndarray

    def at(self, topics: Iterable[int | str]) -> np.ndarray:
        """Return the rows of these topics, in this order."""
        row = {topic: i for i, topic in enumerate(self.topics)}
        return self.values[[row[str(topic)] for topic in topics]]


@dataclass(frozen=True)
class Compared:
    """A computed figure and the corresponding figure of a paper."""

    what: str
    computed: float
    published: float
    places: int
    tolerance: float = 0.0
    """Allowed difference in addition to rounding: three standard errors if the figure is
    simulated.
    """

    @property
    def difference(self) -> float:
        """Computed figure minus published figure."""
        return self.computed - self.published

    @property
    def agrees(self) -> bool:
        """True if the figures are equal at every printed digit, or within the tolerance."""
        if self.tolerance:
            return abs(self.difference) <= self.tolerance + 10.0**-self.places
        return f"{self.computed:.{self.places}f}" == f"{self.published:.{self.places}f}"


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Declare ``--data``, whose default is the folder in IR_STD_DATA or ``../shared/data``."""
    parser.add_argument(
        "--data",
        type=Path,
        help="folder with scores/, published/, runs/, qrels/ and others",
        default=os.environ.get("IR_STD_DATA") or ROOT.parent / "shared" / "data",
    )


def arguments(description: str, argv: Sequence[str] | None, trials: int) -> argparse.Namespace:
    """Parse the options that all scripts have."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--seed", type=int, default=0, help="seed of all random draws")
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count(),
        help="number of processes; results do not depend on it",
    )
    parser.add_argument("--trials", type=int, default=trials, help="random trials")
    args = parser.parse_args(argv)
    if not (args.data / "scores").is_dir():
        parser.error(f"no scores/ in {args.data}; name the folder with --data or IR_STD_DATA")
    return args


def read_table(path: Path) -> Scores:
    """Read a CSV with topics in rows and systems (or metrics) in columns."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return Scores(
        tuple(row[0] for row in rows),
        tuple(header[1:]),
        np.array([[float(cell) for cell in row[1:]] for row in rows]),
    )


def table(data: Path, collection: str, measure: str) -> Scores:
    """Return the raw scores of a track's systems for one measure."""
    return read_table(data / "scores" / collection / f"{measure}.csv")


def published_factors(
    data: Path, stem: str, metric: str, topics: Iterable[int | str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the published mean and standard deviation, shape (n_topics, 1) each."""
    both = (read_table(data / "published" / f"{stem}.{kind}.csv") for kind in ("mn", "sd"))
    mean, sd = (each.at(topics)[:, [each.systems.index(metric)]] for each in both)
    return mean, sd


def published_figures(paper: str) -> Any:
    """Read a paper's figures from ``published_figures.json``."""
    file = Path(__file__).with_name("published_figures.json")
    return json.loads(file.read_text(encoding="utf-8"))[paper]


def score_runs(
    data: Path,
    collection: str,
    measures: Sequence[str],
    jobs: int = 1,
    only: Iterable[str] | None = None,
) -> dict[str, Scores]:
    """Compute the scores of a collection's runs, by measure; ``only`` limits the runs."""
    chosen = None if only is None else frozenset(only)
    task = partial(_score_share, data, collection, tuple(measures), chosen, jobs)
    scored: dict[str, np.ndarray] = {}
    for share in spread(task, range(jobs), jobs):
        scored.update(share)
    tags = sorted(scored)
    cube = np.stack([scored[tag] for tag in tags], axis=-1)
    topics = read_qrels(data / "qrels" / f"{collection}.txt").topics
    order = sorted(range(len(topics)), key=lambda i: int(topics[i]))
    ordered = tuple(topics[i] for i in order)
    return {m: Scores(ordered, tuple(tags), x[order]) for m, x in zip(measures, cube, strict=True)}


def _score_share(
    data: Path,
    collection: str,
    measures: Sequence[str],
    only: frozenset[str] | None,
    jobs: int,
    share: int,
) -> dict[str, np.ndarray]:
    """Compute the scores of every ``jobs``-th run, each of shape (n_measures, n_topics).

    It takes less time to unpack the archive in each process than to pass runs between processes.
    """
    evaluator = ir_std.StdEvaluator(
        [ir_std.parse_measure(m) for m in measures], data / "qrels" / f"{collection}.txt"
    )
    scored = {}
    sources = run_sources([data / "runs" / f"{collection}.tar.xz"])
    for source in islice(sources, share, None, jobs):
        tag = Path(source.name).name
        if only is None or tag in only:
            values = evaluator.values(read_run(source))
            scored[tag] = np.stack(list(values.values()))
    return scored


def spread(task: Callable[[Any], Any], items: Iterable[Any], jobs: int) -> Iterator[Any]:
    """Compute ``map(task, items)`` in ``jobs`` processes; return the results in order."""
    if jobs <= 1:
        yield from map(task, items)
        return
    # Spawn on every system, because forking a process with threads, such as BLAS's, is not safe.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(task, items)


def report(title: str, rows: Sequence[Compared]) -> bool:
    """Print computed figures next to published ones, and return whether all agree."""
    width = max(len(row.what) for row in rows)
    simulated = any(row.tolerance for row in rows)
    print(
        f"\n{title}\n{'':{width}}  computed  published  difference"
        + "  3 standard errors" * simulated
    )
    for row in rows:
        error = f"  {row.tolerance:17.{row.places + 1}f}" if simulated else ""
        print(
            f"{row.what:{width}}  {row.computed:8.{row.places}f}  "
            f"{row.published:9.{row.places}f}  {row.difference:+10.{row.places + 1}f}{error}"
            f"{'' if row.agrees else '  differs'}"
        )
    return all(row.agrees for row in rows)
