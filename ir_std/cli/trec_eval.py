"""What users of trec_eval write: names of measures, and the options -m, -l, -c and -M."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable

from ir_measures.measures import Measure

from ir_std.cli.streams import note
from ir_std.errors import UnknownMeasureError, UsageError
from ir_std.measures import parse_measure
from ir_std.measures.names import missing_from_group, only_in_trec_eval, translate_name
from ir_std.measures.registry import names_external


def add_trec_eval_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "-m",
        dest="measures",
        action="append",
        default=[],
        metavar="MEASURE",
        help="a measure (once for each); trec_eval's names serve in any case: map "
        "is AP, P.5,10 is P@5 and P@10, P all of trec_eval's cutoffs, "
        "ndcg_cut_10 nDCG@10, recip_rank RR, recall_100 R@100, smap sAP; "
        "official is what trec_eval prints by itself",
    )
    parser.add_argument(
        "-l",
        dest="level",
        type=int,
        metavar="N",
        help="binary measures take documents of level N and above as relevant: "
        "AP is AP(rel=N); a level that a measure's own name states stays",
    )
    parser.add_argument(
        "-c",
        action="store_true",
        help="as in trec_eval, and always so: a topic of the qrels that a run lacks counts 0",
    )
    parser.add_argument(
        "-M",
        "--depth",
        type=int,
        metavar="K",
        help="of each topic the first K documents of a run count, in the order of their scores",
    )


def requested_measures(args: Namespace, texts: Iterable[str]) -> list[Measure]:
    """The measures of some arguments and of ``-m``, at the level of ``-l``."""
    if args.level is not None and args.level < 1:
        raise UsageError(f"-l is {args.level}: give a level of at least 1")
    if args.depth is not None and args.depth < 1:
        raise UsageError(f"-M is {args.depth}: give a number of documents of at least 1")
    measures = read_measures(*texts, *args.measures, level=args.level)
    if args.level is not None and not measures:
        raise UsageError("-l is the level of measures that are named, and none is: add -m AP")
    return list(dict.fromkeys(measures))


def read_measures(*texts: str, level: int | None = None) -> list[Measure]:
    """The measures of arguments, under the names of ir_measures or trec_eval in any case."""
    return [measure for text in texts for measure in _measures_of(text, level)]


def _measures_of(text: str, level: int | None) -> list[Measure]:
    if names_external(text):
        return [parse_measure(text)]
    measures = []
    for part in [text] if "(" in text else text.split():
        if only_in_trec_eval(part):
            raise UnknownMeasureError(f"ir_measures has no measure such as trec_eval's {part}")
        if others := missing_from_group(part):
            note(f"{part} is here without {', '.join(others)}: ir_measures has no such measures")
        for name in translate_name(part):
            measures += [
                with_level(m, level) if level and "rel=" not in part else m
                for m in _parse_all(name)
            ]
    return measures


def with_level(measure: Measure, level: int) -> Measure:
    """A binary measure with documents relevant from ``level`` on; others as they are."""
    rel = measure.SUPPORTED_PARAMS.get("rel")
    if rel is None or (rel.default != 1 and "rel" not in measure.params):
        return measure
    leveled: Measure = measure(rel=level)
    return leveled


def _parse_all(text: str) -> list[Measure]:
    """One measure, or as in ir_measures several in one argument."""
    try:
        return [parse_measure(text)]
    except UsageError:
        if " " not in text:
            raise
        return [parse_measure(part) for part in text.split()]
