"""Build a factor set from the runs of a collection's systems, or from tables of their scores."""

import os
from argparse import Namespace
from pathlib import Path
from typing import Any

from ir_std.builders.from_runs import build_factors
from ir_std.builders.from_scores import build_from_scores
from ir_std.cli.inputs import read_measures
from ir_std.cli.options import call
from ir_std.cli.streams import note, progress
from ir_std.errors import UsageError, pluralize
from ir_std.evaluation.inputs import reject_system_names
from ir_std.factors.catalog import check_new_set
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.store import SUFFIX

HELP = """
usage: ir_std build QRELS RUN [RUN ...] -o FILE.npz [options]
       ir_std build [QRELS] --from-scores TABLE... -o FILE.npz [options]

Build a factor set from the runs of a collection's systems, or from tables of their scores.

  ir_std build my.qrels runs/ -o factors/mine.npz
  ir_std build --from-scores scores.csv -o factors/mine.npz

RUN is a file, a folder or an archive (.tar, .tar.gz, .tar.xz, .zip).  Archives are read in memory.
A TABLE has the columns run, topic, measure and value, or run, topic and one column per measure.  If
its file is named after a measure, such as P@10.csv, the table can also have the column topic and
one column per run.  Measures that ir_measures does not know keep their names.

options:
  -o, --output FILE.npz  file of the new set (never left incomplete)
  --force
  --from-scores TABLE...
                        build from tables of scores instead of runs
  --measures MEASURE...
                        raw measures to compute (default about thirty common ones)
  --lower-is-better --duplicates
  --depth N             cut runs to N documents per topic; with --from-scores, state the depth of
                        the runs that were scored
  --title TEXT          title of the collection
  --judge NAME          language model that made the judgments
  --teams FILE          file with a SYSTEM and its TEAM on each line; a system not in FILE is its
                        own team (default inferred from the first three letters of system names)
  --jobs N              number of processes (default 1)
  --skip-bad            leave out broken runs and unreadable folders, and list them
"""


def run(args: Namespace) -> None:
    """Build the set and write it."""
    if args.output is None:
        raise UsageError("build needs -o FILE.npz, the file of the new set")
    qrels, *runs = args.inputs or [None]
    reject_system_names(runs, "a factor set")
    output = Path(args.output)
    read = [qrels, *runs, *(args.from_scores or ()), args.teams]
    check_new_set(output, filter(None, read), args.force)
    set_id = output.name.removesuffix(SUFFIX)
    build = _from_scores if args.from_scores else _from_runs
    factors = build(args, qrels, runs, set_id)
    factors.save(output)
    print(
        f"{output}\t{pluralize(len(factors.topics), 'topic')}\t{factors.systems_text()} systems\t"
        f"{pluralize(len(factors.measures), 'measure')}"
    )
    note(
        f"to use it, pass --factors {output}, or set IR_STD_FACTORS={output.parent} so that "
        "ir_std recognizes it"
    )


def _from_runs(args: Namespace, qrels: str | None, runs: list[str], set_id: str) -> FactorSet:
    if args.lower_is_better:
        raise UsageError("--lower-is-better requires --from-scores")
    if qrels and os.path.isdir(qrels):
        raise UsageError(f"expected the qrels first, got the folder {qrels!r}; write QRELS RUN ...")
    if not qrels or not runs:
        raise UsageError("build needs QRELS and at least two RUNs, or --from-scores TABLE...")
    measures = read_measures(args.measures) if args.measures else None
    with progress() as count:
        return call(build_factors, args, qrels, runs, measures, id=set_id, progress=count)


def _from_scores(args: Namespace, qrels: str | None, runs: list[str], set_id: str) -> FactorSet:
    given: dict[str, Any] = {"RUN": runs, "--measures": args.measures, "--skip-bad": args.skip_bad}
    for name, value in given.items():
        if value:
            raise UsageError(f"{name} cannot be combined with --from-scores")
    built = call(build_from_scores, args, args.from_scores, qrels, id=set_id)
    for name in built.measures:
        if "better" in built.info["measures"][name]:
            order = "lower" if built.sign(name) < 0 else "higher"
            note(f"{name} is a custom measure, so its scores are kept unchanged; {order} is better")
    return built
