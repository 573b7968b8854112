"""Write one self-contained HTML page about runs, with tables, plots and explanations."""

from argparse import Namespace
from functools import partial
from pathlib import Path

from ir_std._system.files import check_output
from ir_std.cli.evaluate import evaluate_inputs, results_of
from ir_std.cli.inputs import is_entry, note_datasets, read_entries, read_inputs
from ir_std.cli.options import call
from ir_std.cli.streams import note
from ir_std.errors import UsageError
from ir_std.reporting.compare import compare
from ir_std.reporting.html.report import GENERATOR_TAG, write_report

HELP = """
usage: ir_std report RUN [RUN ...] QRELS [MEASURE ...] [options]
       ir_std report NAME=RUN:QRELS [NAME=RUN:QRELS ...] [MEASURE ...] [options]

Write one self-contained HTML page about runs.  The page needs no network.

  ir_std report bm25.run mono.run dl19.qrels --baseline bm25
  ir_std report a@DL19=a19.run:dl19.qrels a@DL20=a20.run:dl20.qrels -o two.html

Pass runs, qrels and measures as for ir_std, or, for several collections, as for ir_std compare.

output:
  -o, --output FILE     page to write (default report.html)
  --force
  --title TEXT          heading of the page
  --queries

measures:
  -m -l -c -M

standardization:
  --scheme --factors --systems --without --residual --benchmark --anchor --reference

comparison:
  --baseline RUN|SET/SYSTEM|best
                        test differences from this run (best is the best system of the factor set
                        according to the first measure)
  --test --correction
"""


def run(args: Namespace) -> None:
    """Evaluate the runs and write the page."""
    note_datasets(args.queries)
    file = args.output or "report.html"
    if any(map(is_entry, args.inputs)):
        if args.factors or args.without:
            raise UsageError(
                "--factors and --without apply to one collection; name sets in the measures, such "
                "as sAP(factors='trec8-adhoc')"
            )
        entries, measures, files = read_entries(args)
        evaluation = partial(results_of, compare, args, entries, measures)
    else:
        if args.anchor or args.reference:
            raise UsageError(
                "--anchor and --reference link several collections; pass NAME=RUN:QRELS for each"
            )
        given = read_inputs(args)
        files, evaluation = given.files, partial(evaluate_inputs, given, args)
    check_output(file, files, b"" if args.force else GENERATOR_TAG)  # Fail before the evaluation.
    call(write_report, args, evaluation(), file, inputs=files)
    note(f"wrote {file}, {Path(file).stat().st_size / 1e6:.2f} MB")
