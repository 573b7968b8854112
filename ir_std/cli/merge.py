"""Merge runs into one, by normalized scores or by ranks: documents of several engines or shards.

    ir_std merge shard1.run shard2.run --normalize minmax -o merged.run.gz
    ir_std merge bm25.run dense.run --combine rrf -o fused.run

Methods (of a list's scores s, topic by topic):

    minmax  (s-min)/(max-min)      most settings
    max     s/max                  the same, and often better; scores that start at 0
    mmstdv  sd*(s-min)/(max-min)   long lists of many sources, if one kind of engine scored them
    uv      s/sd                   short lists; scores that start at 0
    zscore  (s-mean)/sd            short lists
    sum     (s-min)/sum(s-min)     seldom

Of ranks, without a method: rrf, the sum of 1/(60+rank); borda and condorcet, as in an election.
"""

from __future__ import annotations

import argparse

from ir_std._system.files import check_output
from ir_std.cli.inputs import expand_folders, open_input
from ir_std.cli.streams import note, warn
from ir_std.errors import abbreviate, counted
from ir_std.evaluation.systems import refuse_systems
from ir_std.merging import BY_RANK, COMBINE, METHODS, merge, runs_without_common_topics
from ir_std.trec.files import read_run, run_text, write_run

STANDARD_OUTPUT = "-"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="a run file, packed or not; a folder of them; - is standard input",
    )
    parser.add_argument(
        "--normalize", metavar="METHOD", help=f"{', '.join(METHODS)}; not where ranks are combined"
    )
    parser.add_argument(
        "--combine",
        default="sum",
        metavar="HOW",
        help=f"for a document in several runs: {', '.join(COMBINE)} of "
        f"scores (default: %(default)s); {', '.join(BY_RANK)} of ranks",
    )
    parser.add_argument("--depth", type=int, metavar="K", help="keep K documents a topic")
    parser.add_argument("--tag", help="run tag (default: METHOD, or HOW of ranks)")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="OUT",
        help="the merged run; packed if it ends in .gz; - is standard output",
    )
    parser.add_argument("--force", action="store_true", help="replace OUT if it is there")


def run(args: argparse.Namespace) -> None:
    """Read, merge and write."""
    files = list(expand_folders(args.runs))
    refuse_systems(files, "merging")
    if args.output != STANDARD_OUTPUT:
        check_output(args.output, files, new=not args.force)  # before the work
    runs = [read_run(open_input(file)) for file in files]
    if alone := runs_without_common_topics(runs):
        warn(f"{abbreviate(alone)}: no topic in common with another run, nothing is merged there")
    merged = merge(runs, args.normalize, args.combine, args.depth)
    tag = args.tag if args.tag is not None else args.normalize or args.combine
    where = args.output
    if where == STANDARD_OUTPUT:
        print(run_text(merged, tag).decode(), end="")
        where = "standard output"
    else:
        write_run(merged, where, tag, files)
    note(
        f"{counted(len(merged.scores), 'document')} on {counted(len(merged.topics), 'topic')}, "
        f"merged from {counted(len(runs), 'run')}: {where}"
    )
