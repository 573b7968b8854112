"""Lines as trec_eval 10.0 prints them, for programs that read its output."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats
from ir_std._system.text import escape_line
from ir_std.cli.streams import note
from ir_std.errors import UsageError
from ir_std.evaluation.evaluation import Evaluation
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.inputs import read_input
from ir_std.measures import IPrec11, RIPrec, Standardized, canonical
from ir_std.measures.names import to_trec_eval
from ir_std.measures.translation import TREC_EVAL_NAMES
from ir_std.reading import Source, split_line
from ir_std.scores.inputs import check_common_topics
from ir_std.scores.run_scores import SUMMARY, CountedTopics, RunScores
from ir_std.trec.qrels import DictQrels, Qrels
from ir_std.trec.ranking import with_whole_scores
from ir_std.trec.runs import Run

FORM = "trec_eval"
"""The name of the output format."""
VERSIONS = (9, 10)
"""The versions of trec_eval that differ: in interpolated precision, and in how scores compare."""
INTERPOLATED = ("IPrec", "RIPrec", "IPrec11")
"""Measures of interpolated precision."""
COUNTS = ("NumQ", "NumRet", "NumRel")
"""Measures that trec_eval prints as whole numbers."""
OF_QRELS = ("NumQ", "NumRel")
"""Those of them that are known of the qrels, whatever the run."""
MEANS_ONLY = ("NumQ", "GMAP", "GMBpref")
"""Measures that trec_eval does not print by topic."""
OF_RUN = "run"
"""The topics of ``--topics`` that trec_eval looks at without its option ``-c``."""


def add_form_options(parser: ArgumentParser) -> None:
    """Declare the options of this form of output."""
    parser.add_argument(
        "--trec-eval",
        type=int,
        choices=VERSIONS,
        default=VERSIONS[-1],
        metavar="9|10",
        help="with -o trec_eval: the version that is followed: from 10 on (default) scores are "
        "compared as 64-bit floats, not 32-bit ones, and iprec_at_recall and 11pt_avg round the "
        "number of relevant documents, not up",
    )
    parser.add_argument(
        "--topics",
        choices=("qrels", OF_RUN),
        help="with -o trec_eval: the topics that count: all of the qrels, one that the run lacks "
        "with 0, as in trec_eval -c (default); or those of the run, as in trec_eval without -c",
    )


def check_form(args: Namespace) -> None:
    """Check that an option of this form of output comes with it."""
    if args.topics and args.output_format != FORM:
        raise UsageError(f"--topics is of -o {FORM}: elsewhere all topics of the qrels count")


def judgments_of_run(qrels: Qrels, runs: Mapping[str, Any]) -> Qrels:
    """The judgments of the topics that the run has, which was read, for ``--topics run``."""
    run = _one_run(runs)
    check_common_topics(run, qrels)
    if isinstance(qrels, CountedTopics):
        return qrels  # the topics of the scores themselves
    common = set(run.topics).intersection(qrels.topics)
    made = DictQrels({t: docs for t, docs in qrels.judged.items() if t in common}, qrels.name)
    made.dataset = qrels.dataset
    return made


def run_in_version(runs: Mapping[str, Any], version: int) -> dict[str, Run | RunScores]:
    """The run, read, with scores that order its documents as a version of trec_eval does."""
    read = read_input(_one_run(runs))
    if version >= 10 and isinstance(read, Run):
        read = with_whole_scores(read)
    return dict.fromkeys(runs, read)


def _one_run(runs: Mapping[str, Any]) -> Any:
    """The only run."""
    if len(runs) > 1:
        raise UsageError(f"-o {FORM} is of one run, as trec_eval's lines name none: give one")
    return next(iter(runs.values()))


def as_in_version(measures: Iterable[Measure], version: int) -> list[Measure]:
    """Measures with the interpolated precision of a version of trec_eval."""
    made = []
    for measure in measures:
        if version >= 10 and measure.__name__ == "IPrec":
            made.append(RIPrec(**measure.params))
        elif version < 10 and measure.__name__ == "IPrec11":
            made.append(IPrec11(**{**measure.params, "nearest": False}))
        else:
            made.append(measure)
    return made


class TrecEvalLines:
    """The lines of evaluated runs; made once.

    Parameters
    ----------
    evaluator : StdEvaluator
    runs : mapping of str to run
    args : argparse.Namespace
        The options of ``ir_std``.
    """

    def __init__(self, evaluator: StdEvaluator, runs: Mapping[str, Any], args: Namespace) -> None:
        self.evaluator, self.run, self.args = evaluator, _one_run(runs), args
        self.names = {m: trec_eval_name(m, args.level) for m in evaluator.measures}
        self.order = sorted(evaluator.measures, key=lambda m: _place(self.names[m]))
        if any(m.__name__ in INTERPOLATED for m in evaluator.measures):
            note(
                f"iprec_at_recall and 11pt_avg are those of trec_eval {args.trec_eval}: version 10 "
                "changed how they round a number of relevant documents (--trec-eval 9|10)"
            )

    def text(self, evaluation: Evaluation) -> str:
        """The lines of a run: by topic, in the order of their ids, then the means."""
        return "\n".join(self._lines(evaluation))

    def _lines(self, evaluation: Evaluation) -> Iterator[str]:
        rows = self.evaluator.qrels.positions
        values = {m: self._values(m, evaluation) for m in self.order}
        if self.args.by_query:
            for topic in sorted(rows, key=str.encode):
                for measure in self.order:
                    if measure.__name__ not in MEANS_ONLY:
                        yield self._line(measure, topic, float(values[measure][rows[topic]]))
        if not self.args.no_summary:
            if tag := self._tag():
                yield f"{'runid':22}\t{SUMMARY}\t{tag}"
            for measure in self.order:
                known = measure.__name__ in OF_QRELS
                mean = float(values[measure].sum()) if known else evaluation.means[measure]
                yield self._line(measure, SUMMARY, mean)

    def _values(self, measure: Measure, evaluation: Evaluation) -> Floats:
        """By topic; what is known of the qrels alone also on topics that the run lacks."""
        qrels = self.evaluator.qrels
        if measure.__name__ == "NumQ":
            return np.ones(len(qrels.topics))
        if measure.__name__ == "NumRel":
            return qrels.count(measure["rel"]).astype(float)
        return evaluation.values[measure]

    def _line(self, measure: Measure, topic: str, value: float) -> str:
        whole = measure.__name__ in COUNTS and value == value
        places = self.args.places
        number = f"{value:.0f}" if whole else f"{value}" if places < 0 else f"{value:6.{places}f}"
        return f"{escape_line(self.names[measure]):22}\t{escape_line(topic)}\t{number}"

    def _tag(self) -> str:
        """The tag of a run file, where trec_eval prints it: with its official measures."""
        run = self.run
        if not self.args.official or not isinstance(run, Source) or not run.first_line:
            return ""
        return escape_line(split_line(run, *run.first_line)[-1])


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


def _place(name: str) -> tuple[int, float, str]:
    """Where trec_eval prints a measure; a standardized one behind the raw one, others last."""
    for standardized in ("", "s"):
        for i, theirs in _ORDER:
            if found := theirs.fullmatch(name.removeprefix(standardized)):
                return i, float("".join(found.groups()) or 0), standardized
    return len(_ORDER), 0.0, ""
