"""Use human labels of a few topics to correct scores from LLM labels.

The LLM labels cover all topics.
"""

from argparse import Namespace

from ir_std.cli.inputs import read_inputs
from ir_std.cli.options import call
from ir_std.cli.output import print_tables
from ir_std.cli.streams import note
from ir_std.errors import UsageError
from ir_std.reporting.correction import correct, draw_topics

HELP = """
usage: ir_std correct --human LABELS --llm LABELS [RUN ...] [MEASURE ...] [options]

Estimate the scores that human labels of all topics would give, from human labels of a few topics
and LLM labels of all topics.

  ir_std correct --llm umbrela.qrels --draw 15 --seed 1           print topics for people to judge
  ir_std correct --human few.qrels --llm umbrela.qrels runs/* AP  estimate scores of the runs
  ir_std correct --human dl20-passage --llm dl20-passage-umbrela nDCG@10 --draw 15 --seed 1

LABELS are qrels, per-topic scores that another program computed with these labels, or a factor set.
If you pass a factor set, its systems are the runs.  People must judge a random sample of the
topics, which you can draw with --draw.

options:
  --human LABELS        human labels for some topics
  --llm LABELS          labels by a language model for all topics
  --draw N              print N topics to judge, in random order; with --human, use only these
                        topics
  --seed N              seed of the draw (default 0)
  --baseline RUN        also estimate the differences from this run
  --scheme --places --output
"""


def run(args: Namespace) -> None:
    """Draw topics and print them, or estimate scores and print the tables."""
    if args.llm is None:
        raise UsageError("missing labels of a language model; pass --llm QRELS")
    drawn = None if args.draw is None else draw_topics(args.llm, args.draw, args.seed or 0)
    if args.human is None:
        if drawn is None:
            raise UsageError("missing labels of people; pass --human QRELS, or --draw N")
        print("\n".join(drawn))
        return
    given = read_inputs(args)
    if given.qrels:
        raise UsageError("unexpected qrels; pass them with --human and --llm")
    runs, measures = given.runs or None, given.measures or None
    corrected = call(correct, args, args.human, args.llm, runs, measures, topics=drawn, jobs=None)
    for text in corrected.notes:
        note(text)
    if corrected.baseline is None and len(corrected.runs) == 1 and args.output is None:
        for measure in corrected.measures:
            print(corrected.sentence(corrected.runs[0], measure))
            n = f"{corrected.equivalent_topics(measure):.0f}"
            print(f"Human labels alone would need about {n} topics for an interval this narrow.")
        return
    if args.output == "csv" and len(corrected.measures) > 1:
        raise UsageError("-o csv prints one table; name one measure, with one scheme (-s none)")
    tables = (call(corrected.table, args, measure) for measure in corrected.measures)
    print_tables(tables, args.output)
