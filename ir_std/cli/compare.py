"""Compare systems over collections: raw and standardized means, with intervals."""

from argparse import Namespace
from io import BytesIO
from pathlib import Path

from ir_std._system.files import check_output, write_atomically
from ir_std.cli.evaluate import results_of
from ir_std.cli.inputs import read_entries
from ir_std.cli.output import print_tables
from ir_std.cli.streams import note
from ir_std.errors import UsageError
from ir_std.reporting.compare import compare
from ir_std.reporting.model import Results
from ir_std.reporting.result_tables import collection_tables, differences_table, means_with_pairs

PICTURES = (".png", ".svg", ".pdf")
"""File name suffixes that ``--plot`` accepts."""
HELP = """
usage: ir_std compare NAME=RUN:QRELS [NAME=RUN:QRELS ...] [MEASURE ...] [options]

Compare systems over collections by raw and standardized means, with intervals.

  ir_std compare bm25=t7.run:t7.qrels bm25=t8.run:t8.qrels mono=t8b.run:t8.qrels AP
  ir_std compare dl19-passage/p_bert dl20-passage/pash_r3 nDCG@10

Each NAME=RUN:QRELS is a system on a collection.  The same NAME with other qrels is the same system
on another collection.  QRELS is a file or an ir_datasets ID.  Per-topic scores from another program
need no qrels: write NAME=SCORES, or only the file or folder of the scores.  Systems of factor sets
(SET/SYSTEM) need neither qrels nor a name.  In NAME@LABEL=..., LABEL is the collection's name in
tables and plots.  If you name no measures, ir_std reports the default measures for which all
collections have factors.

measures:
  -m -l -c -M

standardization:
  --scheme --systems --residual --anchor --reference --same-systems

output:
  --output --places
  --plot FILE           also plot the means or, with --baseline, the differences (.png, .svg, .pdf)
  --force --verbose

comparison:
  --baseline NAME|SET/SYSTEM|best
                        compare the other systems with this one (best is the best system of each
                        collection's factor set according to the first measure)
  --test --correction --equivalent
"""


def run(args: Namespace) -> None:
    """Evaluate the systems, print the tables and draw the plot."""
    given = read_entries(args)
    if args.plot:  # Fail before the evaluation.
        if Path(args.plot).suffix.lower() not in PICTURES:
            raise UsageError(f"--plot {args.plot}: the name must end in {', '.join(PICTURES)}")
        check_output(args.plot, given.files, new=not args.force)
    results = results_of(compare, args, given.entries, given.measures)
    if args.baseline is not None:
        tables = [differences_table(results, args.places)]
    elif args.output == "csv":
        tables = [means_with_pairs(results)]
    else:
        tables = collection_tables(results, args.places)
    if args.plot:
        _draw_picture(results, args.plot)
    print_tables(tables, args.output)


def _draw_picture(results: Results, file: str) -> None:
    """Plot the means, or the differences from a baseline, and write the plot to a file."""
    from ir_std.reporting.plots import comparison_figure, forest_figure

    figure = comparison_figure(results) if results.baseline is None else forest_figure(results)
    picture = BytesIO()
    figure.savefig(picture, format=Path(file).suffix[1:].lower(), dpi=150)
    write_atomically(file, picture.getvalue())
    note(f"wrote {file}")
