"""Why two runs differ: on which topics, and by which documents.

  ir_std diff mono.run bm25.run qrels nDCG@10                 the topics that differ most
  ir_std diff mono.run bm25.run qrels nDCG@10 --topic 405717  what both ranked there

Topics are in the order of the standardized difference; beside it the raw one and its place.  Of a
topic both rankings, and what each document adds to the measure, where that is a sum over them.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from ir_std.cli.inputs import classify_arguments, input_name, note_datasets
from ir_std.cli.options import FACTORS, add_options, add_table_options, check_places
from ir_std.cli.output import print_factors_used, print_tables
from ir_std.cli.trec_eval import read_measures
from ir_std.errors import UsageError
from ir_std.reporting.diff import diff
from ir_std.reporting.topic_diff import TABLES_OF_TOPIC

OF_TOPICS = "topics"
"""The table that is printed unless a topic is asked for."""


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "%(prog)s A B QRELS [MEASURE] [--topic T] [options]"
    parser.add_argument(
        "inputs",
        nargs="+",
        metavar="A|B|QRELS|MEASURE",
        help="two runs, one qrels file or ir_datasets id, one measure (default: the set's first)",
    )
    parser.add_argument(
        "--topic",
        metavar="T",
        action="append",
        default=[],
        help="what both ranked on this topic (once for each)",
    )
    parser.add_argument("--docs", metavar="ID|FILE", help="texts of the documents, as --queries")
    add_options(parser, "--queries")
    parser.add_argument(
        "--top", type=int, default=10, metavar="N", help="so many topics (default 10; 0 for all)"
    )
    parser.add_argument(
        "--ranks",
        type=int,
        default=10,
        metavar="N",
        help="of a topic the first N ranks, and documents that add most (default 10; 0 for all)",
    )
    add_options(parser, *FACTORS, "--duplicates")
    parser.add_argument(
        "-M", "--depth", type=int, metavar="N", help="the first N documents of each topic alone"
    )
    parser.add_argument(
        "--table",
        choices=(OF_TOPICS, *TABLES_OF_TOPIC),
        help="one table alone (default: topics; with --topic rankings and documents)",
    )
    add_table_options(parser, "json")


def run(args: Namespace) -> None:
    """Compare and print."""
    check_places(args.places)
    for option in ("top", "ranks"):
        if getattr(args, option) < 0:
            raise UsageError(f"--{option} is {getattr(args, option)}: give a number, 0 for all")
    names = table_names(args)
    if args.docs is not None and not args.topic:
        raise UsageError("--docs shows the documents of a topic: add --topic T")
    note_datasets(args.docs, args.queries)
    given = classify_arguments(args.inputs)
    if len(given.runs) != 2:
        listed = ", ".join(map(input_name, given.runs))
        raise UsageError(f"differences are of two runs, found {len(given.runs)}: {listed}")
    a, b = given.runs
    pair = diff(
        a,
        b,
        given.qrels,
        read_measures(*given.measures) or None,
        args.scheme,
        factors=args.factors,
        systems=args.systems,
        without=args.without,
        residual=args.residual,
        depth=args.depth,
        docs=args.docs,
        queries=args.queries,
        duplicates=args.duplicates,
    )
    print_factors_used(pair.results.evaluator, True, args.verbose)
    topics = list(dict.fromkeys(args.topic))
    pair.load(topics)  # before the first is printed
    if args.output_format == "json":
        rankings = [pair.on(topic).as_dict(args.ranks or None) for topic in topics]
        differences = {**pair.as_dict(args.top or None), "rankings": rankings}
        print(json.dumps(differences, ensure_ascii=False, indent=1))
        return
    tables = (
        [pair.table(args.places, args.top or None)]
        if OF_TOPICS in names
        else [
            pair.on(topic).table(name, args.places, args.ranks or None)
            for topic in topics
            for name in names
        ]
    )
    print_tables(tables, args.output_format)


def table_names(args: Namespace) -> list[str]:
    """The tables that are asked for."""
    if args.table and (args.table == OF_TOPICS) == bool(args.topic):
        raise UsageError(
            f"--table {args.table} is of "
            f"{'all topics: leave out --topic' if args.topic else 'one topic: add --topic T'}"
        )
    names = [args.table] if args.table else list(TABLES_OF_TOPIC) if args.topic else [OF_TOPICS]
    if args.output_format == "csv" and len(names) * max(1, len(args.topic)) > 1:
        raise UsageError(
            f"CSV is one table: give one --topic, and --table {'|'.join(TABLES_OF_TOPIC)}"
        )
    return names
