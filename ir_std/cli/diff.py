"""Show on which topics, and by which documents, two runs differ."""

import json
from argparse import Namespace

from ir_std.cli.inputs import note_datasets, read_inputs
from ir_std.cli.options import call
from ir_std.cli.output import print_tables, show_notes
from ir_std.errors import UsageError
from ir_std.reporting.diff import TABLES as TABLES_OF_TOPIC, diff

OF_TOPICS = "topics"
"""Table to print unless the user chooses a topic."""
HELP = """
usage: ir_std diff A B QRELS [MEASURE] [options]

Show on which topics, and by which documents, two runs differ.

  ir_std diff mono.run bm25.run qrels nDCG@10                 the topics that differ most
  ir_std diff mono.run bm25.run qrels nDCG@10 --topic 405717  both rankings of this topic

ir_std orders the topics by standardized difference.  For each topic, it also shows the raw
difference and the topic's rank by raw difference.  With --topic, ir_std shows both rankings of the
topic.  If the measure is a sum over documents, ir_std also shows how much each document adds.  The
default measure is the first default measure of the factor set.

options:
  --topic T             show both rankings of this topic (repeatable)
  --docs ID|FILE        document texts, in the same forms as for --queries
  --queries
  --top N               list N topics (default 10; 0 lists all topics)
  --ranks N             show the first N ranks, and the N documents with the largest contributions
                        (default 10; 0 shows all)
  -M --scheme --factors
  --table {topics,rankings,documents}
                        print this table only (default topics; with --topic, the other two)
  -o, --output {table,markdown,latex,csv,html,json}
                        output format (default table)
"""


def run(args: Namespace) -> None:
    """Compare the runs and print the tables."""
    for option in ("top", "ranks"):
        if (getattr(args, option) or 0) < 0:
            raise UsageError(f"--{option} is {getattr(args, option)}; expected 0 (all) or more")
    topics = list(dict.fromkeys(args.topic or ()))
    names = _table_names(args, topics)
    note_datasets(args.docs, args.queries)
    given = read_inputs(args)
    if len(given.runs) != 2:
        raise UsageError(f"expected two runs, got {len(given.runs)} ({', '.join(given.runs)})")
    pair = call(diff, args, *given.runs.values(), given.only_qrels, given.measures or None)
    show_notes(pair.results)
    pair.load(topics)  # A missing topic is reported before anything is printed.
    top, ranks = (10 if n is None else n or None for n in (args.top, args.ranks))
    if args.output == "json":
        rankings = [pair.on(topic).as_dict(ranks) for topic in topics]
        differences = {**pair.as_dict(top), "rankings": rankings}
        print(json.dumps(differences, ensure_ascii=False, indent=1))
    elif OF_TOPICS in names:
        print_tables([pair.table(top=top)], args.output)
    else:
        tables = (pair.on(topic).table(n, ranks=ranks) for topic in topics for n in names)
        print_tables(tables, args.output)


def _table_names(args: Namespace, topics: list[str]) -> list[str]:
    """Return the names of the requested tables."""
    if args.table and (args.table == OF_TOPICS) == bool(topics):
        advice = "cannot be combined with --topic" if topics else "requires --topic T"
        raise UsageError(f"--table {args.table} {advice}")
    names = [args.table] if args.table else list(TABLES_OF_TOPIC) if topics else [OF_TOPICS]
    if args.output == "csv" and len(names) * max(1, len(topics)) > 1:
        raise UsageError(
            f"-o csv prints one table; give one --topic and --table {'|'.join(TABLES_OF_TOPIC)}"
        )
    return names
