"""Show what standardization does, without any file: TREC-8's topics and a simulated run."""

from __future__ import annotations

import warnings
from argparse import ArgumentParser, Namespace
from itertools import combinations

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats
from ir_std.evaluation.api import evaluator
from ir_std.factors.catalog import load_factors
from ir_std.measures import parse_measure
from ir_std.testing import simulated_qrels, simulated_run

SEED = 8


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments: there are none."""


def run(_: Namespace) -> None:
    """Simulate, evaluate and print."""
    factors = load_factors("trec8-adhoc")
    qrels = simulated_qrels(factors.n_rel)
    measures = [parse_measure(name) for name in ("AP", "P@10", "RR")]
    with warnings.catch_warnings():
        # The documents are made up: that their names are not the collection's is no news here.
        warnings.filterwarnings("ignore", ".*the documents have other names")
        values = evaluator(measures, qrels).values(simulated_run(qrels, SEED))
    print(
        f"A SIMULATED run (seed {SEED}) on the 50 topics of TREC-8, beside the "
        f"{factors.systems_text()} real systems of 1999:\n"
    )
    for measure, column in values.items():
        print(f"  {measure!s:6} {np.nanmean(column):.4f}")
    print("\nA standardized score of 0.5 is near what the average system reached on the topic.")
    print("\n".join(_two_topics(values, tuple(qrels), factors.mean["AP"])))
    print("""
With your own files:

  ir_std run.txt qrels.txt                 the collection is recognized
  ir_std run.txt qrels.txt AP P@10 -q      by topic
  ir_std factors                           the collections there are""")


def _two_topics(values: dict[Measure, Floats], topics: tuple[str, ...], means: Floats) -> list[str]:
    """The two topics whose raw AP is nearly the same and whose sAP differs most."""
    raw, standardized = (values[parse_measure(name)] for name in ("AP", "sAP"))
    pairs = [(i, j) for i, j in combinations(range(len(topics)), 2) if abs(raw[i] - raw[j]) < 0.01]
    pair = max(pairs, key=lambda p: abs(standardized[p[0]] - standardized[p[1]]))
    return [
        "Two topics with nearly the same AP, which standardization tells apart:",
        *(
            f"  topic {topics[i]}: AP {raw[i]:.4f}, all systems' mean {means[i]:.4f}, "
            f"sAP {standardized[i]:.4f}"
            for i in pair
        ),
    ]
