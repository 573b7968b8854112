#!/usr/bin/env python3
"""Build ``mteb-retrieval``: factors of whole data sets, from embedding models' results on MTEB.

    python scripts/build_mteb.py --data ../shared/data

reads ``mteb/model_by_dataset.csv`` and ``qrels/beir/`` below the data folder, writes
``factors/mteb-retrieval/`` and prints what was left out.  The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ir_std._version import __version__
from ir_std.factors.collection import judgments_of_dataset
from ir_std.factors.estimates import factors_from_scores
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import Judgments
from ir_std.scores.mteb import mteb_dataset
from ir_std.trec.files import read_qrels

MEASURES = {
    "ndcg_at_10": "nDCG@10",
    "map_at_100": "AP@100",
    "mrr_at_10": "RR@10",
    "recall_at_100": "R@100",
    "precision_at_10": "P@10",
}
FLOOR = 0.001
"""A model whose nDCG@10 is lower on a data set ranks at random there, or failed: left out."""
RANDOM = "mteb/baseline-random-encoder"
"""A baseline that ranks at random: it is no system, and sets the scale of :data:`FLOOR`."""
PLACES = 5
"""The decimals that MTEB records."""

CQADUPSTACK = "the mean over its twelve parts, each of which is a data set here too"
IDENTICAL = (
    "MTEB leaves documents out whose id is the query's own: take them out of a run before "
    "it is compared"
)
TRAPS = {
    "beir/arguana": IDENTICAL,
    "beir/quora/test": IDENTICAL,
    "beir/cqadupstack": CQADUPSTACK,
    "beir/webis-touche2020": "the first version of the judgments and corpus, with short passages "
    "of arguments; MTEB's Touche2020Retrieval.v3 is another data set",
    "mteb/Touche2020Retrieval.v3": "the cleaned version; BEIR's webis-touche2020 is another data "
    "set",
    "beir/msmarco/dev": "the development queries, as BEIR has it; its test part is TREC 2019 Deep "
    "Learning",
}
"""What a reader of a data set's scores should know."""


class Result(NamedTuple):
    """A line of the table: one model's scores on one data set, NaN where there is none."""

    model: str
    revision: str
    version: tuple[int, ...]
    dataset: str
    scores: dict[str, float]


class LeftOut(NamedTuple):
    """A result that was left out, and why."""

    model: str
    dataset: str
    reason: str


def main() -> None:
    """Parse the arguments, write the set, say what was left out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = Path(__file__).resolve().parent.parent
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("IR_STD_DATA") or root.parent / "shared" / "data",
    )
    parser.add_argument("--out", type=Path, default=root / "factors")
    args = parser.parse_args()
    results, left_out = cleaned(read_results(args.data / "mteb" / "model_by_dataset.csv"))
    built = mteb(results, left_out, judgments(args.data / "qrels" / "beir"), inputs_of(args.data))
    built.save(args.out / built.id)
    for one in left_out:
        print(f"left out: {one.model} on {one.dataset}: {one.reason}")
    for line in overview(built):
        print(line)


def inputs_of(data: Path) -> list[dict[str, str]]:
    """The files that are read, with their SHA-256."""
    files = [data / "mteb" / "model_by_dataset.csv", *sorted((data / "qrels" / "beir").glob("*"))]
    return [
        {
            "file": file.relative_to(data).as_posix(),
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        }
        for file in files
    ]


def read_results(file: Path) -> list[Result]:
    """The results of the data sets and splits that BEIR and MIRACL report."""
    with file.open(encoding="utf-8", newline="") as lines:
        return [
            Result(
                row["model"].replace("__", "/"),
                row["revision"],
                tuple(int(n) for n in row["mteb_version"].split(".") if n.isdigit()),
                dataset,
                {
                    ours: round(float(row[theirs] or "nan"), PLACES)
                    for theirs, ours in MEASURES.items()
                },
            )
            for row in csv.DictReader(lines)
            if (dataset := mteb_dataset(row["task"], row["split"], row["subset"]))
        ]


def cleaned(results: Iterable[Result]) -> tuple[list[Result], list[LeftOut]]:
    """One result a model and data set, without those that are plainly broken."""
    kept, left_out = [], []
    for one in one_each(results):
        ndcg = one.scores["nDCG@10"]
        if one.model == RANDOM:
            left_out.append(LeftOut(one.model, one.dataset, "ranks at random"))
        elif not ndcg >= FLOOR:
            left_out.append(LeftOut(one.model, one.dataset, f"nDCG@10 {ndcg:g}"))
        else:
            # A list that has relevant documents in its first ten has a first one.
            broken = [m for m, score in one.scores.items() if score == 0]
            left_out += [
                LeftOut(one.model, one.dataset, f"{m} 0 beside nDCG@10 {ndcg:g}") for m in broken
            ]
            kept.append(one._replace(scores=one.scores | dict.fromkeys(broken, float("nan"))))
    return kept, left_out


def one_each(results: Iterable[Result]) -> list[Result]:
    """One result a model and data set: that of the revision of the model with most data sets.

    Of several such the one that was evaluated last, by its version of MTEB.  Revisions
    complete each other: authors report some data sets, MTEB's maintainers the others.
    """
    by_model: dict[str, dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
    for one in results:
        by_model[one.model][one.revision].append(one)
    chosen: list[Result] = []
    for model in sorted(by_model):
        by_dataset: dict[str, Result] = {}
        for revision in sorted(
            by_model[model].values(),
            reverse=True,
            key=lambda several: (
                len(several),
                max(r.version for r in several),
                several[0].revision,
            ),
        ):
            for one in revision:
                by_dataset.setdefault(one.dataset, one)
        chosen += by_dataset.values()
    return chosen


def judgments(folder: Path) -> dict[str, tuple[int, Judgments]]:
    """By data set the number of queries, and what is known of its judgments."""
    by_dataset = {}
    for file in sorted(folder.glob("*.txt")):
        qrels = read_qrels(file)
        name = f"beir/{file.stem.replace('cqadupstack-', 'cqadupstack/')}"
        for split in ("", "/test", "/dev"):
            by_dataset[name + split] = len(qrels.topics), judgments_of_dataset(qrels)
    return by_dataset


def mteb(
    results: Sequence[Result],
    left_out: Sequence[LeftOut],
    judged: Mapping[str, tuple[int, Judgments]],
    inputs: Sequence[Mapping[str, str]],
) -> FactorSet:
    """The factor set: rows are data sets, systems are models."""
    datasets = sorted({one.dataset for one in results})
    models = sorted({one.model for one in results})
    scores = {m: np.full((len(datasets), len(models)), np.nan) for m in MEASURES.values()}
    for one in results:
        for measure, score in one.scores.items():
            scores[measure][datasets.index(one.dataset), models.index(one.model)] = score
    info = {
        "id": "mteb-retrieval",
        "title": "MTEB retrieval, models of 2026",
        "track": "MTEB",
        "unit": "collection",
        "doc_id_pattern": None,
        "ir_datasets": [],
        "max_level": None,
        # As in the other sets RR is no default: too many tie at the top.
        "default_measures": [m for m in MEASURES.values() if m != "RR@10"],
        "depth": None,
        "resolution": 10.0**-PLACES,
        "population": POPULATION,
        "year": 2026,
        "source": SOURCE,
        "licence": "CC0-1.0",
        "sources": [
            {
                "source": SOURCE,
                "url": "https://github.com/embeddings-benchmark/results",
                "date": "2026",
                "licence": "CC0-1.0",
                "licence_uri": "https://spdx.org/licenses/CC0-1.0.html",
            }
        ],
        "built": f"by ir_std {__version__}: from tables of scores, means on whole data sets",
        "inputs": list(inputs),
        "notes": [
            f"Left out: {len(left_out)} results that are plainly broken, below nDCG@10 "
            f"{FLOOR} or 0 where others of the same model are not."
        ],
        "datasets": {name: _about(name, judged) for name in datasets},
    }
    known = {name: judged[name][1] if name in judged else None for name in datasets}
    return factors_from_scores(scores, known, info, dict.fromkeys(scores, models))


SOURCE = (
    "results that models' authors and MTEB's maintainers submitted to the repository of "
    "MTEB's results, state of 2026"
)
POPULATION = (
    "embedding models of MTEB and its keyword baseline, each once: where a model has several "
    "revisions with a data set, that with most data sets, the last evaluated of several. Many "
    "were never trained for retrieval, or not for the language. Which were trained on a data "
    "set's training part is not known here"
)


def _about(name: str, judged: Mapping[str, tuple[int, Judgments]]) -> dict[str, str | int]:
    about: dict[str, str | int] = {"split": "dev" if "/dev" in name or "MIRACL" in name else "test"}
    if name in judged:
        about["queries"] = judged[name][0]
    if name in TRAPS:
        about["note"] = TRAPS[name]
    return about


def overview(factors: FactorSet) -> list[str]:
    """A line a data set: models, mean, median and deviation of nDCG@10."""
    lines = ["data set\tmodels\tmean\tmedian\tsd\tbelow 0.02"]
    for name, row, sd in zip(
        factors.topics, factors.scores["nDCG@10"], factors.sd["nDCG@10"], strict=True
    ):
        known = row[~np.isnan(row)].tolist()
        lines.append(
            f"{name}\t{len(known)}\t{statistics.fmean(known):.4f}\t"
            f"{statistics.median(known):.4f}\t{sd:.4f}\t{sum(s < 0.02 for s in known)}"
        )
    return lines


if __name__ == "__main__":
    main()
