"""Merge runs into one, their scores normalized: documents of several engines or shards.

    ir_std merge shard1.run shard2.run --normalize minmax -o merged.run.gz

Methods (of a list's scores s, topic by topic):

    minmax  (s-min)/(max-min)      most settings
    max     s/max                  the same, and often better; scores that start at 0
    mmstdv  sd*(s-min)/(max-min)   long lists of many sources, if one kind of engine scored them
    uv      s/sd                   short lists; scores that start at 0
    zscore  (s-mean)/sd            short lists
    sum     (s-min)/sum(s-min)     seldom
"""

from __future__ import annotations

import argparse

from ir_std.cli.inputs import files_of, opened
from ir_std.cli.streams import note
from ir_std.merging import COMBINE, METHODS, merge
from ir_std.trec.files import read_run, run_text, write_run


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("runs", nargs="+", metavar="RUN",
                        help="a run file, packed or not; a folder of them; - is standard input")
    parser.add_argument("--normalize", required=True, metavar="METHOD",
                        help=", ".join(METHODS))
    parser.add_argument("--combine", default="sum", metavar="HOW",
                        help=f"for a document in several runs: {', '.join(COMBINE)} "
                             "(default: %(default)s)")
    parser.add_argument("--depth", type=int, metavar="K", help="keep K documents a topic")
    parser.add_argument("--tag", help="run tag (default: METHOD)")
    parser.add_argument("-o", "--output", required=True, metavar="OUT",
                        help="the merged run; packed if it ends in .gz; - is standard output")


def run(args: argparse.Namespace) -> None:
    """Read, merge and write."""
    runs = list(files_of(args.runs))
    merged = merge(map(read_run, map(opened, runs)), args.normalize, args.combine, args.depth)
    tag = args.normalize if args.tag is None else args.tag
    if args.output == "-":
        print(run_text(merged, tag).decode(), end="")
    else:
        write_run(merged, args.output, tag, runs)
    note(f"{len(merged.scores)} documents on {len(merged.topics)} topics, merged from "
         f"{len(runs)} runs: {args.output}")
