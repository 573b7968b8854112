"""Importing ir_std changes nothing of what ir_measures and PyTerrier give by themselves."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import ir_measures
import pytest
from ir_measures import AP, RBP, Accuracy, P, SetP, nDCG

import ir_std

CALLS = """
import random, sys, warnings
import pandas as pd
{imports}
import ir_measures
from ir_measures import *

warnings.simplefilter("ignore")
MEASURES = [AP, AP@5, AP(rel=2), nDCG, nDCG@3, nDCG(dcg="exp-log2")@5,
            P@2, P(rel=2)@5, P(judged_only=True)@5, RR, RR@3, RR(rel=2), Rprec, R@5, Bpref, infAP,
            Judged@5, Success@3, ERR@5, SetP, SetR, SetF, SetAP, NumRet, NumRel, NumQ, NumRelRet,
            IPrec@0.1, Accuracy, Compat(p=0.8), RBP(rel=1), RBP(rel=1, p=0.5), RBP, RBP(rel=1)@5,
            SDCG(max_rel=3)@5, alpha_nDCG@5, StRecall@5]

def made_up(rng):
    topics = [f"q{{i}}" for i in range(rng.randrange(1, 5))]
    docs = [f"d{{i}}" for i in range(12)]
    qrels = {{t: {{d: rng.randrange(-1, 4) for d in rng.sample(docs, rng.randrange(1, 9))}}
             for t in topics}}
    run = {{t: {{d: rng.choice([0.5, 1.0, rng.random()]) for d in
                rng.sample(docs, rng.randrange(1, 10))}} for t in [*topics, "other"][1:]}}
    return qrels, run

def forms(qrels, run, rng):
    rows = ([Qrel(t, d, r) for t, docs in qrels.items() for d, r in docs.items()],
            [ScoredDoc(t, d, s) for t, docs in run.items() for d, s in docs.items()])
    yield qrels, run
    yield rows
    yield tuple(map(pd.DataFrame, rows))
    yield rows[0], pd.DataFrame([*rows[1], *rows[1][:1]])
    # More of them on a topic, and pytrec_eval may sort them for ever.
    yield rows[0], pd.DataFrame([ScoredDoc("q0", "d1", float("nan"))])
    yield "qrels.txt", "run.txt"
    yield qrels, 7

def told(call):
    try:
        return repr(call())
    except Exception as error:
        return f"{{type(error).__name__}}: {{error}}"

for seed in range({first}, {last}):
    rng = random.Random(seed)
    for qrels, run in forms(*made_up(rng), rng):
        measures = rng.sample(MEASURES, rng.randrange(1, 5))
        for function in (calc_aggregate, lambda *a: list(iter_calc(*a)), calc,
                         lambda m, q, r: evaluator(m, q).calc_aggregate(r),
                         lambda m, q, r: m[0].calc_aggregate(q, r)):
            print(seed, told(lambda: function(measures, qrels, run)))
print(ir_measures.AP, sorted(ir_measures.run_inputs([AP, nDCG@3])), nDCG is NDCG)
"""


def said(code: str, folder: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": "7"},
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return re.sub(r"/tmp\w+", "/tmp", done.stdout).splitlines()


@pytest.mark.parametrize(("first", "last"), [(0, 4), pytest.param(4, 60, marks=pytest.mark.slow)])
def test_calls_of_ir_measures_give_the_same_values_errors_and_order(
    first: int, last: int, tmp_path: Path
) -> None:
    plain, beside = (
        said(CALLS.format(imports=imports, first=first, last=last), tmp_path)
        for imports in ("", "import ir_std")
    )
    assert len(plain) > (last - first) * 7 * 5
    assert beside == plain


EXPERIMENT = """
{imports}
import numpy as np, pandas as pd, pyterrier as pt
from pyterrier.measures import *

rng = np.random.default_rng(3)
topics = [f"q{{i}}" for i in range(5)]
qrels = pd.DataFrame([(t, f"d{{i}}", int(rng.integers(0, 3))) for t in topics for i in range(10)],
                     columns=["qid", "docno", "label"])
runs = [pd.DataFrame([(t, f"d{{i}}", float(rng.random()), i) for t in topics[1:]
                      for i in range(8)], columns=["qid", "docno", "score", "rank"])
        for _ in range(2)]
queries = pd.DataFrame([(t, t) for t in topics], columns=["qid", "query"])
for options in (dict(), dict(perquery=True), dict(baseline=0), dict(round=3)):
    print(pt.Experiment(runs, queries, qrels, [AP, P@5, nDCG@10, RR, Bpref, Judged@5, "map"],
                        names=["a", "b"], **options).to_csv())
"""


@pytest.mark.slow
def test_an_experiment_of_pyterrier_is_the_same(tmp_path: Path) -> None:
    pytest.importorskip("pyterrier")
    plain, beside = (
        said(EXPERIMENT.format(imports=imports), tmp_path) for imports in ("", "import ir_std")
    )
    assert beside == plain


def test_own_providers_answer_what_they_can() -> None:
    for measure in (AP, P @ 5, nDCG @ 10, SetP, Accuracy, RBP(rel=1), RBP):
        assert not ir_std.StdProvider().supports(measure)
    for measure in (ir_std.SP, ir_std.DCG, ir_std.nDCG(rel=1), ir_std.nDCG(dcg="jk"), ir_std.sAP):
        assert ir_std.StdProvider().supports(measure)


@pytest.mark.parametrize("module", ["", "measures", "providers", "util", "lazylibs"])
def test_a_drop_in_has_all_names_of_each_public_module(module: str) -> None:
    theirs = getattr(ir_measures, module) if module else ir_measures
    ours = getattr(ir_std, module) if module else ir_std
    assert [name for name in dir(theirs) if not hasattr(ours, name)] == []


def test_the_listing_of_ir_std_holds_all_that_is_public_and_nothing_else() -> None:
    assert set(ir_std.__all__) <= set(dir(ir_std))
    assert [name for name in dir(ir_std) if name.startswith("_") and not name.endswith("__")] == []
    assert len(ir_std.__all__) == len(set(ir_std.__all__))
    assert all(hasattr(ir_std, name) for name in ir_std.__all__)
