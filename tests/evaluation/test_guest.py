"""If a program imports ir_std, results of ir_measures and PyTerrier stay the same."""

import logging
import math
import os
import pickle
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from ir_measures import AP, RBP, Accuracy, P, SetP, nDCG
from ir_measures.measures import Measure
from processes import run_process

import ir_std
from ir_std.evaluation.raw_scores import has_formula

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

for seed in range({seeds}):
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
    done = run_process(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": "7"},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return re.sub(r"/tmp\w+", "/tmp", done.stdout).splitlines()


SEEDS = 24


# With the NaN of seed 44, pytrec_eval never stops sorting, even without ir_std.
@pytest.mark.slow
def test_calls_of_ir_measures_give_the_same_values_errors_and_order(tmp_path: Path) -> None:
    plain, beside = (
        said(CALLS.format(imports=imports, seeds=SEEDS), tmp_path)
        for imports in ("", "import ir_std")
    )
    assert len(plain) > SEEDS * 7 * 5
    assert beside == plain


WITHOUT_PLUG_IN = """
import importlib.metadata
found = importlib.metadata.entry_points
importlib.metadata.entry_points = lambda **asked: tuple(
    entry for entry in found(**asked) if not entry.value.startswith("ir_std"))
"""

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
        said(EXPERIMENT.format(imports=imports), tmp_path)
        for imports in (WITHOUT_PLUG_IN, "import ir_std")
    )
    assert beside == plain


def test_own_providers_answer_what_they_can_and_never_by_name() -> None:
    class Own(Measure):
        __name__ = NAME = "SP"

    class Precision(Measure):
        __name__ = NAME = "AP"
        SUPPORTED_PARAMS = AP.SUPPORTED_PARAMS

        def __repr__(self) -> str:
            return "my AP"

    for measure in (AP, P @ 5, nDCG @ 10, SetP, Accuracy, RBP(rel=1), RBP, Own()):
        assert not ir_std.StdProvider().supports(measure)
    for measure in (ir_std.SP, ir_std.DCG, ir_std.nDCG(rel=1), ir_std.nDCG(dcg="jk"), ir_std.sAP):
        assert ir_std.StdProvider().supports(measure)
    assert not has_formula(Precision())
    for measure in (AP, nDCG @ 10, ir_std.nDCG(rel=1)):
        assert has_formula(measure)


def test_pickles_of_ir_measures_load_where_ir_std_is_not_installed(tmp_path: Path) -> None:
    measure = ir_measures.measures.registry["nDCG"] @ 10
    (tmp_path / "measure.pickle").write_bytes(pickle.dumps([measure, ir_measures.nDCG @ 5]))
    lines = said(
        "import pickle, sys; sys.modules['ir_std'] = None\n"
        "print(pickle.load(open('measure.pickle', 'rb')))",
        tmp_path,
    )
    assert lines == ["[nDCG@10, nDCG@5]"]


USERS_OWN = """
import logging, sys
import ir_measures
from ir_measures import measures
from ir_measures.measures import register

logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(levelname)s %(message)s")
{before}
class Own(measures.Measure):
    SUPPORTED_PARAMS = {{"cutoff": measures.ParamInfo(dtype=int, required=False)}}

class Provider(ir_measures.Provider):
    NAME = "own"

    def supports(self, measure):
        return isinstance(measure, Own)

    def _evaluator(self, measures, qrels):
        return Evaluator(list(measures), ["q"])

class Evaluator(ir_measures.Evaluator):
    def _iter_calc(self, run):
        for measure in self.measures:
            yield ir_measures.Metric("q", measure, 0.125)

ir_measures.DefaultPipeline.providers.insert(0, Provider())
for name in ("SP", "DCG", "sAP", "snDCG"):
    Own.__name__ = Own.NAME = name
    register(type(name, (Own,), dict(__name__=name, NAME=name))())
measures.registry["nDCG"] = type("nDCG", (Own,), dict(__name__="nDCG", NAME="nDCG"))()
{after}
for name in ("SP", "DCG", "sAP", "snDCG", "nDCG"):
    theirs = ir_measures.parse_measure(name)
    scores = ir_measures.calc_aggregate([theirs], {{"q": {{"d": 1}}}}, {{"q": {{"d": 1.0}}}})
    ours = ir_std.parse_measure(name)
    print(name, isinstance(theirs, Own), scores[theirs], isinstance(ours, Own))
    print(type(getattr(ir_std, name)).__module__.partition(".")[0])
print(ir_std.calc_aggregate([ir_std.SP], {{"q": {{"d": 1}}}}, {{"q": {{"d": 1.0}}}}))
"""


@pytest.mark.parametrize(
    ("before", "after"), [("", "import ir_std"), ("import ir_std", "")], ids=["before", "after"]
)
def test_a_users_measure_of_the_same_name_stays_theirs(
    before: str, after: str, tmp_path: Path
) -> None:
    lines = said(USERS_OWN.format(before=before, after=after), tmp_path)
    logged = [line for line in lines if line.startswith("WARNING")]
    assert len(logged) == 5
    for name in ("SP", "DCG", "sAP", "snDCG", "nDCG"):
        assert f"{name} True 0.125 False" in lines
        assert any(f"registered a measure {name} with ir_measures" in line for line in logged)
    assert lines.count("ir_std") == 5
    assert lines[-1] == "{SP: 1.0}"


def test_an_evaluator_logs_once_which_set_is_used(
    data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    qrels = list(ir_measures.read_trec_qrels(str(data / "qrels" / "trec8-adhoc.txt")))
    run = [ir_measures.ScoredDoc(q.query_id, q.doc_id, 1.0) for q in qrels[:900]]
    with caplog.at_level(logging.INFO, "ir_std"):
        evaluator = ir_measures.evaluator([ir_std.sAP, ir_std.sP @ 10], qrels)
        for _ in range(2):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ir_std.StandardizationWarning)
                evaluator.calc_aggregate(run)
    assert [(r.levelname, r.name) for r in caplog.records] == [("INFO", "ir_std")]
    assert caplog.messages[0] == evaluator.match.describe()
    assert caplog.messages[0].startswith("using trec8-adhoc (TREC-8 ad hoc, 129 systems)")


QRELS = {"1": {"d1": 1, "d2": 0}, "2": {"d1": 2, "d3": 1}}
RUN = {"1": {"d1": 1.0, "d2": 2.0}, "2": {"d1": 0.5, "d5": 2.0}}
ASKED = """
RR@10|ERR@20|nDCG(dcg='exp-log2')@10|RBP(rel=1)|AP|nDCG|Judged@5|RR@10 ERR@20|RR@10 AP
RBP(rel=1) Judged@5|RR@10 Judged@5|Accuracy ERR@20|Judged nDCG(dcg='exp-log2')@5
"""


@pytest.mark.parametrize("asked", re.split(r"[|\n]", ASKED.strip()))
@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ({**QRELS, "3": {}}, RUN),
        ({**QRELS, "3": {}}, {**RUN, "3": {"d1": 1.0}}),
        ({**QRELS, "3": {}}, {**RUN, "3": {}}),
        (QRELS, {**RUN, "3": {}}),
        (QRELS, {t: dict.fromkeys(["d3", "d2", "d1", "d0"], -math.inf) for t in QRELS}),
    ],
    ids=["qrels", "qrels alone", "both", "run", "-inf"],
)
def test_empty_topics_and_infinitely_low_scores_count_as_in_ir_measures(
    qrels: Any, run: Any, asked: str
) -> None:
    measures = list(map(ir_measures.parse_measure, asked.split()))
    if RBP(rel=1) in measures:  # cwl-eval keeps the order of documents
        ranked = {t: sorted(d, key=lambda doc: (d[doc], doc), reverse=True) for t, d in run.items()}
        run = {t: {doc: run[t][doc] for doc in docs} for t, docs in ranked.items()}
    theirs, ours = (m.calc(measures, qrels, run) for m in (ir_measures, ir_std))
    assert {m: ours[0][m] for m in measures} == pytest.approx(theirs[0], abs=1e-9)
    values = [{(m.query_id, m.measure): m.value for m in part[1]} for part in (theirs, ours)]
    assert values[1] == pytest.approx(values[0], abs=1e-9)


@pytest.mark.parametrize("module", ["", "measures", "providers", "util", "lazylibs"])
def test_a_drop_in_has_all_names_of_each_public_module(module: str) -> None:
    theirs = getattr(ir_measures, module) if module else ir_measures
    ours = getattr(ir_std, module) if module else ir_std
    assert [name for name in dir(theirs) if not hasattr(ours, name)] == []


def test_the_listing_of_ir_std_holds_nothing_but_public_names() -> None:
    listed = {name for name in dir(ir_std) if not (name.startswith("__") and name.endswith("__"))}
    assert listed <= set(ir_std.__all__)


def test_calls_of_ir_std_tell_where_rbp_is_not_cwl_evals() -> None:
    qrels = {"1": {"a": 1, "b": 0}, "2": {"c": 1}}
    sorted_run = {"1": {"a": 2.0, "b": 1.0}, "2": {"c": 1.0}}
    tied = {"1": {"a": 1.0, "b": 1.0}, "2": {"d": 1.0, "c": 2.0}}
    (note,) = ir_std.calc_aggregate([RBP(rel=1), AP], qrels, tied).notes[-1:]
    assert note == (
        "run: topics with tied scores: 1, topics that are not sorted by score: 1; "
        "for RBP, ir_std ranks by score and ID, but cwl-eval ranks by file order"
    )
    for measure, run in ((RBP(rel=1), sorted_run), (RBP, tied), (AP, tied)):
        notes = ir_std.calc_aggregate(measure, qrels, run).notes
        assert not any("cwl-eval" in note for note in notes)
