"""Lines as trec_eval 10.0 prints them, for programs that read its output."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats
from ir_std._system.text import escape_line
from ir_std.cli.inputs import Inputs, read_measures
from ir_std.errors import UsageError
from ir_std.evaluation.evaluation import Evaluation
from ir_std.evaluation.inputs import resolve
from ir_std.measures import RIPrec, Standardized, canonical
from ir_std.measures.names import to_trec_eval
from ir_std.measures.translation import TREC_EVAL_NAMES
from ir_std.reading import Source, split_line
from ir_std.reporting.model import Results, evaluations_of
from ir_std.scores.run_scores import SUMMARY
from ir_std.trec.qrels import Qrels
from ir_std.trec.ranking import with_whole_scores
from ir_std.trec.runs import Run

TREC_EVAL_FORMAT = "trec_eval"
"""The name of the output format."""
COUNTS = ("NumQ", "NumRet", "NumRel")
"""Measures that trec_eval prints as whole numbers."""
OF_QRELS = ("NumQ", "NumRel")
"""Those of them that are known of the qrels, whatever the run."""
MEANS_ONLY = ("NumQ", "GMAP", "GMBpref")
"""Measures that trec_eval does not print by topic."""


def prepare(inputs: Inputs, args: Namespace) -> Inputs:
    """Return inputs that give what trec_eval 10 gives.

    One run, whose scores order documents as 64-bit floats; its default measures if none are named;
    interpolated precision as it rounds it.
    """
    if len(inputs.runs) > 1:
        raise UsageError(f"-o {TREC_EVAL_FORMAT} prints one run, got {len(inputs.runs)}")
    read = {name: resolve(run) for name, run in inputs.runs.items()}
    runs = {n: with_whole_scores(run) if isinstance(run, Run) else run for n, run in read.items()}
    measures = inputs.measures or read_measures(["official"], args.l)
    measures = [RIPrec(**m.params) if m.__name__ == "IPrec" else m for m in measures]
    return inputs._replace(runs=runs, measures=measures)


def tag_of(inputs: Inputs) -> str:
    """Return the tag in a run file, which trec_eval prints with its default measures."""
    (run,) = inputs.runs.values()
    if inputs.measures or not isinstance(run, Source) or not run.first_line:
        return ""
    return escape_line(split_line(run, *run.first_line)[-1])


def trec_eval_lines(results: Results, tag: str, args: Namespace) -> Iterator[str]:
    """Yield the lines of a run: per topic, in the order of their IDs, then the means."""
    evaluator, (evaluation,) = results.collection.evaluator, evaluations_of(results).values()
    names = {m: trec_eval_name(m, args.l) for m in evaluator.measures}
    order = sorted(evaluator.measures, key=lambda m: _position(names[m]))
    values = {m: _values(m, evaluator.qrels, evaluation) for m in order}
    rows = evaluator.qrels.positions

    def line(measure: Measure, topic: str, value: float) -> str:
        places = 4 if args.places is None else args.places
        whole = measure.__name__ in COUNTS and value == value
        number = f"{value:.0f}" if whole else f"{value}" if places < 0 else f"{value:6.{places}f}"
        return f"{escape_line(names[measure]):22}\t{escape_line(topic)}\t{number}"

    if args.by_query:
        for topic in sorted(rows, key=str.encode):
            for measure in order:
                if measure.__name__ not in MEANS_ONLY:
                    yield line(measure, topic, float(values[measure][rows[topic]]))
    if not args.no_summary:
        if tag:
            yield f"{'runid':22}\t{SUMMARY}\t{tag}"
        for measure in order:
            known = measure.__name__ in OF_QRELS
            mean = float(values[measure].sum()) if known else evaluation.means[measure]
            yield line(measure, SUMMARY, mean)


def _values(measure: Measure, qrels: Qrels, evaluation: Evaluation) -> Floats:
    """Return the values per topic; those known from qrels also on topics that the run lacks."""
    if measure.__name__ == "NumQ":
        return np.ones(len(qrels.topics))
    if measure.__name__ == "NumRel":
        return qrels.count(measure["rel"]).astype(float)
    return evaluation.values[measure]


def trec_eval_name(measure: Measure, level: int | None = None) -> str:
    """What trec_eval calls a measure at ``-l level``; standardized ones have ``s`` before it.

    The measure's own name where trec_eval has none.

    >>> from ir_std import parse_measure
    >>> trec_eval_name(parse_measure("nDCG@10")), trec_eval_name(parse_measure("sAP"))
    ('ndcg_cut_10', 'smap')
    """
    if isinstance(measure, Standardized):
        base = trec_eval_name(measure.base, level)
        return (
            f"s{base}"
            if measure["scheme"] == "N" and "factors" not in measure.params
            else (str(measure))
        )
    name = canonical(measure(rel=1) if level and measure.params.get("rel") == level else measure)
    name = re.sub(r"^RIPrec", "IPrec", name).replace("(nearest=False)", "")
    return to_trec_eval(name) or str(measure)


_ORDER = [
    (i, re.compile(theirs.replace("{}", r"(\d+(?:\.\d+)?)")))
    for i, theirs in enumerate(TREC_EVAL_NAMES)
]


def _position(name: str) -> tuple[int, float, str]:
    """Where trec_eval prints a measure; a standardized one behind the raw one, others last."""
    for standardized in ("", "s"):
        for i, theirs in _ORDER:
            if found := theirs.fullmatch(name.removeprefix(standardized)):
                return i, float("".join(found.groups()) or 0), standardized
    return len(_ORDER), 0.0, ""
