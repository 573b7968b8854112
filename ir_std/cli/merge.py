"""Merge runs of several engines or shards into one, by normalized scores or by ranks."""

from argparse import Namespace

from ir_std._system.files import check_output
from ir_std.cli.inputs import check_read_once, open_input
from ir_std.cli.streams import note, warn
from ir_std.errors import UsageError, abbreviate, pluralize
from ir_std.evaluation.inputs import expand, reject_system_names
from ir_std.merging.fusion import merge, runs_without_common_topics
from ir_std.reading import is_archive
from ir_std.trec import read_run, run_text, write_run

STANDARD_OUTPUT = "-"
HELP = """
usage: ir_std merge RUN [RUN ...] [--normalize METHOD | --combine HOW] -o OUT [options]

Merge runs of several engines or shards into one, by normalized scores or by ranks.

  ir_std merge shard1.run shard2.run --normalize minmax -o merged.run.gz
  ir_std merge bm25.run dense.run --combine rrf -o fused.run

RUN is a file (compressed or not), a folder, or - (standard input).  Each METHOD normalizes the
scores s of one topic, and suits different runs:

    minmax  (s-min)/(max-min)      most settings
    max     s/max                  scores that start at 0; often better than minmax
    mmstdv  sd*(s-min)/(max-min)   long lists of many sources, if one kind of engine scored them
    uv      s/sd                   short lists of scores that start at 0
    zscore  (s-mean)/sd            short lists
    sum     (s-min)/sum(s-min)     rarely the best choice

If several runs have a document, sum adds its normalized scores, max uses the highest score, mnz
(CombMNZ) multiplies the sum by the number of these runs, and first uses the first run's score.

Merging by ranks needs no METHOD.  rrf is the sum of 1/(60+rank).  borda and condorcet are the
voting methods of these names.

options:
  --normalize METHOD    minmax, max, mmstdv, uv, zscore or sum (not with ranks)
  --combine HOW         sum (default), max, mnz or first of a document's scores, or rrf, borda or
                        condorcet of its ranks
  --depth N             keep N documents per topic
  --tag TAG             run tag (default METHOD, or HOW if ranks are combined)
  -o, --output OUT      merged run, compressed if it ends in .gz (- for standard output)
  --force
"""


def run(args: Namespace) -> None:
    """Read the runs, merge them and write the merged run."""
    if not args.inputs or args.output is None:
        raise UsageError("merge needs runs and -o OUT; see ir_std merge --help")
    check_read_once(args.inputs)
    inputs = [each for given in args.inputs for each in expand(given)]
    files = [*filter(is_archive, args.inputs), *(each for each in inputs if isinstance(each, str))]
    reject_system_names(files, "merging")
    if args.output != STANDARD_OUTPUT:
        check_output(args.output, files, new=not args.force)  # Fail before the merging.
    runs = [read_run(open_input(file)) for file in inputs]
    if alone := runs_without_common_topics(runs):
        warn(f"no other run shares topics with {abbreviate(alone)}, so these topics are not merged")
    merged = merge(runs, args.normalize, args.combine or "sum", args.depth)
    tag = args.tag if args.tag is not None else args.normalize or args.combine or "sum"
    where = args.output
    if where == STANDARD_OUTPUT:
        print(run_text(merged, tag).decode(), end="")
        where = "standard output"
    else:
        write_run(merged, where, tag, files)
    note(
        f"merged {pluralize(len(runs), 'run')} into {where} "
        f"({pluralize(len(merged.scores), 'document')} on {pluralize(len(merged.topics), 'topic')})"
    )
