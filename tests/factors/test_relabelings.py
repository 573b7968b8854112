"""Altered judgments give the same values as the original ones, or a message says why not."""

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from relabel import ALTERATIONS, KINDS, Qrels, Run, Truth, outcome, random_run, relabel

import ir_std
from ir_std.trec.files import read_qrels

pytestmark = pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")

MEASURE_NAMES = """
AP AP(rel=2) nDCG nDCG@10 P@10 P(rel=2)@10 RR Rprec Bpref RBP(p=0.8) RBP(p=0.8,rel=1) ERR@20
nDCG(dcg='exp-log2')@20
"""
MEASURES = MEASURE_NAMES.split()
FEW = len(KINDS)

NAMES = """
blog06 covid-round1 covid-round2 covid-round3 covid-round4 covid-round5 dl19-passage dl20-passage
dl21-passage dl23-passage ntcir13-www-english robust05 terabyte04 terabyte05 terabyte06 trec3-adhoc
trec6-adhoc trec7-adhoc trec8-adhoc wt10g web10 web11 web12 web13 web14
"""
"""Files of judgments."""
OTHERS = ("dl19-passage", "trec8-adhoc", "web14", "covid-round5")


@cache
def collection(file: Path) -> tuple[Qrels, Run]:
    """Return the judgments of a file, and a run."""
    qrels = {t: dict(docs) for t, docs in read_qrels(file).judged.items()}
    return qrels, random_run(qrels, np.random.default_rng(1))


@cache
def truth(file: Path, other: Path) -> Truth:
    """Return raw scores on both files' judgments; on shared topics, the first file counts."""
    return Truth([collection(file), collection(other)])


@cache
def served(file: Path) -> tuple[str, ...]:
    """Return the measures that are standardized on the original judgments."""
    evaluator = ir_std.evaluator(MEASURES, file)
    return tuple(str(plan.measure.base) for plan in evaluator.plans)


def tried(name: str, seeds: range, data: Path) -> dict[str, Counter[str]]:
    """Count how many values were right, said or wrong, for each kind of relabeling."""
    file = data / "qrels" / f"{name}.txt"
    other = data / "qrels" / f"{next(o for o in OTHERS if o != name)}.txt"
    table: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for seed in seeds:
        kind = KINDS[seed % len(KINDS)]
        made = relabel(kind, *collection(file), collection(other), np.random.default_rng(seed))
        counts = outcome(made, served(file), truth(file, other))
        table[kind]["wrong" if counts["wrong"] else "said" if counts["said"] else "right"] += 1
        table[kind]["values"] += counts["right"]
        table[kind]["refused"] += counts["said"]
        table[kind]["wrong values"] += counts["wrong"]
    return table


def tried_on_data_sets(names: list[str], n: int, folder: Path) -> Counter[str]:
    """Count how many means of whole datasets on altered judgments were right, said or wrong."""
    counts: Counter[str] = Counter()
    for seed in range(n):
        name, kind = names[seed % len(names)], [*ALTERATIONS, "cut"][seed % 6]
        random = np.random.default_rng(seed)
        qrels, run = collection(folder / f"{name}.txt")
        share = random.choice([0.01, 1.0])
        made = {t: docs for t, docs in qrels.items() if kind != "cut" or random.random() < 0.9}
        if kind != "cut":
            alter = ALTERATIONS[kind]
            made = {t: alter(d, random) if random.random() < share else d for t, d in made.items()}
        means = [
            ir_std.evaluator(["nDCG@10", "R@100"], judged).evaluate(run).means
            for judged in (qrels, made)
        ]
        for measure in map(ir_std.parse_measure, ("snDCG@10", "sR@100")):
            value = means[1].get(measure)
            same = value is not None and abs(value - means[0][measure]) < 1e-9
            counts["right" if same else "said" if value is None else "wrong"] += 1
    return counts


DATASETS = """
nfcorpus scifact arguana fiqa scidocs trec-covid webis-touche2020 dbpedia-entity cqadupstack-unix
cqadupstack-tex
"""


@pytest.mark.parametrize(
    ("names", "n"),
    [
        ("nfcorpus scifact", 6),
        pytest.param("arguana fiqa scidocs trec-covid", 24, marks=pytest.mark.slow),
        pytest.param(DATASETS, 100, marks=pytest.mark.exhaustive),
    ],
)
def test_altered_datasets_are_not_standardized(names: str, n: int, data: Path) -> None:
    counts = tried_on_data_sets(names.split(), n, data / "qrels" / "beir")
    assert counts["wrong"] == 0


@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("dl19-passage", FEW),
        *(pytest.param(name, 3 * FEW, marks=pytest.mark.slow) for name in NAMES.split()),
        *(pytest.param(name, 13 * FEW, marks=pytest.mark.exhaustive) for name in NAMES.split()),
    ],
)
def test_altered_judgments_give_the_untouched_value_or_say_why_not(
    name: str, n: int, data: Path, record_property: Any
) -> None:
    table = tried(name, range(n), data)
    record_property("table", {kind: dict(counts) for kind, counts in table.items()})
    assert {kind: counts["wrong"] for kind, counts in table.items() if counts["wrong"]} == {}
    # If two sets share topics, ir_std uses the 2005 set if it verifies half of the topics.
    if name != "terabyte05":
        cut = table["cut"]
        assert cut["right"] == sum(cut[word] for word in ("right", "said", "wrong"))
