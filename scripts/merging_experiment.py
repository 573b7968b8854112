#!/usr/bin/env python3
"""Merge the lists of many sources by each method, and compare the results.

The experiment of Markov, Arampatzis and Crestani, "Unsupervised linear score normalization
revisited" (SIGIR 2012):

    python scripts/merging_experiment.py                # two minutes on one core

deals the documents of TREC-8 and of the Deep Learning track 2019 (passages) to 30 and to 1,000
sources by a hash of the documents' IDs. One of ten real runs, the (i mod 10)th, ranks source i. The
list of a source is the first 10 or 1,000 of its documents in this run. Each method merges the
lists. The script computes raw and standardized scores of the result (scheme N, with factors from
all of the track's runs). With ``--engines 1``, the first of the ten runs ranks all sources, so the
sources are shards of one engine. A + or - marks a mean that is significantly above or below the
mean of minmax (paired t-test over topics, p < 0.05 after Holm's correction for all tests of a
table).

The runs have 1,000 documents from the whole collection, so the list of each of n sources has about
1000/n documents: 33 documents with 30 sources, and one document with 1,000 sources. The paper uses
GOV2, which has 25 million documents, so its sources have longer lists.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from math import nan
from pathlib import Path

import numpy as np
from experiment import add_data_option
from ir_measures import AP, P
from ir_measures.measures import Measure
from scipy.stats import ttest_rel

import ir_std
from ir_std._arrays import Floats
from ir_std.analysis import holm
from ir_std.errors import pluralize
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.plans import collection_of
from ir_std.factors.estimates import factors_from_scores
from ir_std.factors.factor_set import FactorSet
from ir_std.measures import Standardized, canonical
from ir_std.merging import METHODS, merge
from ir_std.reading.archives import run_sources
from ir_std.trec.files import read_qrels, read_run
from ir_std.trec.inputs import as_run
from ir_std.trec.qrels import Qrels
from ir_std.trec.ranking import sort_run
from ir_std.trec.runs import Run

ALPHA = 0.05
DEPTH = 1000
"""Number of documents of a merged list that the script evaluates."""


@dataclass(frozen=True)
class Collection:
    """A collection, its lowest relevant level, and the ten runs that rank its sources.

    The ten engines are automatic runs, from different groups or models if possible. All their
    scores are above 0, because ``max`` rejects other scores.
    """

    name: str
    rel: int
    engines: tuple[str, ...]

    @property
    def measures(self) -> list[Measure]:
        """Measures of the experiment."""
        return [AP(rel=self.rel), P(rel=self.rel) @ 10, P(rel=self.rel) @ 100]


COLLECTIONS = (
    Collection(
        "trec8-adhoc",
        1,
        (
            "pir9Aatd",
            "ok8alx",
            "Flab8atdn",
            "att99atde",
            "apl8c221",
            "UniNET8Lg",
            "fub99tt",
            "ibms99a",
            "acsys8alo",
            "nttd8ale",
        ),
    ),
    Collection(
        "dl19-passage",
        2,
        (
            "idst_bert_p3",
            "idst_bert_pr1",
            "TUA1-1",
            "test1",
            "bm25base_ax_p",
            "bm25tuned_prf_p",
            "bm25base_rm3_p",
            "bm25tuned_p",
            "UNH_bm25",
            "runid5",
        ),
    ),
)


def read_runs(archive: Path) -> Iterator[tuple[str, Run]]:
    """Yield the tag and the run of each file in an archive."""
    for source in run_sources([archive]):
        yield Path(source.name).name, read_run(source)


def factors_of(runs: dict[str, Run], measures: list[Measure], qrels: Qrels, name: str) -> FactorSet:
    """Compute factors from all runs, for exactly these measures."""
    evaluator = StdEvaluator(measures, qrels)
    values = [evaluator.values(run) for run in runs.values()]
    scores = {canonical(m): np.column_stack([v[m] for v in values]) for m in measures}
    return factors_from_scores(scores, dict(collection_of(qrels).counts), {"id": name})


@cache
def hashed(document: str, deal: int) -> int:
    """Return a number that decides which source gets a document."""
    return int.from_bytes(
        blake2b(document.encode(), digest_size=8, salt=bytes([deal])).digest(), "big"
    )


def deal_out(engines: list[Run], n_sources: int, kept: int, deal: int) -> list[Run]:
    """Return the list of each source: its first documents in its engine's run."""
    sources: list[dict[str, dict[str, float]]] = [{} for _ in range(n_sources)]
    for e, engine in enumerate(engines):
        for topic, (docs, scores) in sort_run(engine).lists.items():
            for doc, score in zip(docs, scores.tolist(), strict=True):
                i = hashed(doc, deal) % n_sources
                if i % len(engines) == e:
                    listed = sources[i].setdefault(topic, {})
                    if len(listed) < kept:
                        listed[doc] = score
    return [as_run(source) for source in sources]


@dataclass(frozen=True)
class Setting:
    """Number of sources, and largest number of documents in the list of a source."""

    n_sources: int
    kept: int

    def __str__(self) -> str:
        return f"{self.n_sources} x top {self.kept}"


@dataclass(frozen=True)
class Outcome:
    """Results of one setting: per-topic scores by method and measure, averaged over deals.

    ``length`` is the mean number of documents in a list. ``single`` is the share of lists with only
    one document.
    """

    values: dict[str, dict[Measure, Floats]]
    length: float
    single: float


def run_setting(
    setting: Setting, engines: list[Run], evaluator: StdEvaluator, n_deals: int
) -> Outcome:
    """Deal the documents, make the lists, merge them by each method, and evaluate."""
    by_method: dict[str, list[dict[Measure, Floats]]] = {name: [] for name in METHODS}
    lengths: list[int] = []
    for deal in range(n_deals):
        lists = deal_out(engines, setting.n_sources, setting.kept, deal)
        lengths += [b - a for source in lists for a, b in source.bounds.values()]
        for name, values in by_method.items():
            values.append(evaluator.values(merge(lists, name, depth=DEPTH)))
    means = {
        name: {m: np.mean([v[m] for v in values], axis=0) for m in evaluator.measures}
        for name, values in by_method.items()
    }
    return Outcome(means, float(np.mean(lengths)), float(np.mean(np.array(lengths) == 1)))


def p_value(values: Floats, baseline: Floats) -> float:
    """Test paired differences over topics; NaN if all differences are 0."""
    return float(ttest_rel(values, baseline).pvalue) if (values != baseline).any() else nan


def cell(values: Floats, baseline: Floats, p: float) -> str:
    """Format a mean, with a sign if it differs significantly from the baseline's mean."""
    mark = "" if not p < ALPHA else "+" if values.mean() > baseline.mean() else "-"
    return f"{values.mean():.3f}{mark:1}"


def table(outcomes: dict[Setting, Outcome], measures: list[Measure]) -> str:
    """Format a table with methods in rows and measures of each setting in columns."""
    names = [f"{str(m).replace('(rel=2)', ''):7}" for m in measures]
    lines = [
        " " * 8 + "".join(f"{setting!s:{7 * len(names)}}" for setting in outcomes),
        " " * 8 + "".join(names) * len(outcomes),
    ]
    pairs = [
        (outcome.values[method][m], outcome.values["minmax"][m])
        for method in METHODS
        for outcome in outcomes.values()
        for m in measures
    ]
    adjusted = holm([p_value(*pair) for pair in pairs]).tolist()
    cells = [cell(*pair, p) for pair, p in zip(pairs, adjusted, strict=True)]
    n = len(outcomes) * len(measures)
    for row, method in enumerate(METHODS):
        lines.append(f"{method:8}" + " ".join(cells[row * n : (row + 1) * n]))
    return "\n".join(line.rstrip() for line in lines)


def report(
    collection: Collection, data: Path, settings: list[Setting], n_engines: int, n_deals: int
) -> None:
    """Print the experiment on one collection."""
    qrels = read_qrels(data / "qrels" / f"{collection.name}.txt")
    runs = dict(read_runs(data / "runs" / f"{collection.name}.tar.xz"))
    factors = factors_of(runs, collection.measures, qrels, collection.name)
    engines = [runs[tag] for tag in collection.engines[:n_engines]]
    evaluator = ir_std.evaluator(collection.measures, qrels, factors=factors)
    outcomes = {s: run_setting(s, engines, evaluator, n_deals) for s in settings}
    whole = [evaluator.calc_aggregate(run) for run in engines]
    print(
        f"{collection.name}: {pluralize(len(qrels.topics), 'topic')}, "
        f"engines {len(engines)}, deals {n_deals}, relevant from level {collection.rel}"
    )
    print(
        "an engine on the whole collection: "
        + ", ".join(f"{m} {np.mean([w[m] for w in whole]):.3f}" for m in evaluator.measures)
    )
    for setting, outcome in outcomes.items():
        print(
            f"{setting}: {outcome.length:.1f} documents per list, {outcome.single:.0%} of the "
            "lists have only one"
        )
    for kind in (False, True):
        print()
        print(
            table(outcomes, [m for m in evaluator.measures if isinstance(m, Standardized) is kind])
        )
    print()


def main() -> None:
    """Read the arguments and report on every collection."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--sources", type=int, nargs="+", default=[30, 1000], metavar="N")
    parser.add_argument("--kept", type=int, nargs="+", default=[10, 1000], metavar="K")
    parser.add_argument(
        "--engines",
        type=int,
        default=10,
        choices=range(1, 11),
        metavar="N",
        help="number of the ten runs to use",
    )
    parser.add_argument("--deals", type=int, default=5, help="number of deals to average over")
    args = parser.parse_args()
    if not (args.data / "runs").is_dir():
        parser.error(f"no runs/ in {args.data}; name the folder with --data or IR_STD_DATA")
    for collection in COLLECTIONS:
        report(
            collection,
            args.data,
            [Setting(n, kept) for n in args.sources for kept in args.kept],
            args.engines,
            args.deals,
        )


if __name__ == "__main__":
    main()
