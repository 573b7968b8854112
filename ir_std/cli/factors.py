"""The factor sets: list them, show, check, export, import or share one.

  ir_std factors [list]                              all sets: id, topics, systems, measures, title
  ir_std factors show ID                             one set in detail, and what is against it
  ir_std factors systems ID [MEASURE ...]            its systems by name, and their means
  ir_std factors path ID                             the folder of a set
  ir_std factors check [ID|PATH ...]                 is a set sound, and what is against it?
  ir_std factors export ID --format FORMAT -o FILE   a set in another format
  ir_std factors import FILE --format FORMAT -o DIR  the reverse
  ir_std factors pack ID|PATH -o FILE.zip            a set as one file, with hashes
  ir_std factors index FILE.zip ... -o index.json    a registry of packs that lie beside it
  ir_std factors add FILE.zip|URL|REGISTRY#ID        verify a pack, and keep its set
  ir_std factors remove ID                           remove a set that was added
  ir_std factors where                               the folder that sets are added to

--format is csv (for R and spreadsheets), trec_eval (for trec_eval -Z) or webber (as the published
CSV files; FILE is a stem: STEM.mn.csv and STEM.sd.csv).  Sets are added to the first folder of
IR_STD_FACTORS, or else to the user's data folder; both are looked in, in this order.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_std._system.files import check_output
from ir_std._system.text import escape_line
from ir_std.cli.streams import note
from ir_std.cli.trec_eval import read_measures
from ir_std.errors import InputError, UsageError
from ir_std.evaluation.plans import mean_of_values, name_in_set, similar_measures
from ir_std.evaluation.systems import systems_of
from ir_std.evaluation.uncertainty import is_anonymous, teams_of
from ir_std.factors import packs
from ir_std.factors.catalog import available_factors, check_set, load_factors, writable_folder
from ir_std.factors.estimates import scores_by_system
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.files import check_set_target
from ir_std.factors.formats import FORMATS, set_from_tables, webber_files
from ir_std.factors.judgments import judgments_of
from ir_std.factors.quality import Quality, findings
from ir_std.measures.names import to_trec_eval
from ir_std.trec.inputs import as_qrels


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(dest="action", metavar=f"{{{','.join(ACTIONS)}}}")
    actions.add_parser("list", help="all sets, as without an action")
    for name, text in (("show", "one set in detail"), ("path", "the folder of a set")):
        actions.add_parser(name, help=text).add_argument("set", metavar="ID|PATH")
    systems = actions.add_parser("systems", help="the systems of a set, with their means")
    systems.add_argument("set", metavar="ID|PATH")
    systems.add_argument(
        "measures", nargs="*", metavar="MEASURE", help="default: the set's usual ones"
    )
    packing = actions.add_parser("pack", help="write a set as one file")
    packing.add_argument("set", metavar="ID|PATH")
    packing.add_argument("-o", "--output", required=True, metavar="FILE.zip")
    indexes = actions.add_parser("index", help="write a registry of packs")
    indexes.add_argument("packs", nargs="+", metavar="FILE.zip")
    indexes.add_argument("-o", "--output", required=True, metavar="index.json")
    adds = actions.add_parser("add", help="verify a pack, and keep its set")
    adds.add_argument("source", metavar="FILE.zip|URL|REGISTRY#ID")
    actions.add_parser("remove", help="remove a set that was added").add_argument(
        "set", metavar="ID"
    )
    actions.add_parser("where", help="the folder that sets are added to")
    checks = actions.add_parser("check", help="whether sets are sound")
    checks.add_argument("sets", nargs="*", metavar="ID|PATH")
    exports = actions.add_parser("export", help="write a set in another format")
    exports.add_argument("set", metavar="ID|PATH")
    imports = actions.add_parser("import", help="make a set of another format")
    imports.add_argument("file", metavar="FILE")
    for each, output in ((packing, "FILE.zip"), (indexes, "index.json"), (exports, "FILE")):
        each.add_argument("--force", action="store_true", help=f"replace {output} if it is there")
    for each, output in ((exports, "FILE"), (imports, "DIR")):
        each.add_argument("--format", required=True, choices=FORMATS)
        each.add_argument("-o", "--output", required=True, metavar=output)
    imports.add_argument(
        "--force", action="store_true", help="replace the set that is already in DIR"
    )
    imports.add_argument("--id", help="the set's id (default: the folder's name)")
    imports.add_argument("--title", default="", help="what the collection is called")
    imports.add_argument("--source", default="", help="where the factors come from")
    imports.add_argument("--licence", default="", help="under which licence they are")
    imports.add_argument(
        "--systems", type=int, default=0, metavar="N", help="the number of systems behind them"
    )
    imports.add_argument(
        "--qrels",
        metavar="QRELS",
        help="tells the numbers of relevant documents, so that the collection is "
        "recognized by them too",
    )


def run(args: Namespace) -> None:
    """Do what was asked for."""
    ACTIONS[args.action or "list"](args)


def _list(_: Namespace) -> None:
    for name in available_factors():
        s = load_factors(name)
        print(
            f"{s.id}\t{len(s.topics)} topics\t{s.systems_text()} systems\t"
            f"{len(s.measures)} measures\t{s.title}"
        )


def _show(args: Namespace) -> None:
    print("\n".join(describe(load_factors(args.set))))


def _systems(args: Namespace) -> None:
    factors = load_factors(args.set)
    names = names_with_scores(factors, read_measures(*args.measures))
    tags = factors.info["tags"]
    if anonymous := sum(map(is_anonymous, tags)):
        note(
            f"{anonymous} of {len(tags)} systems of {factors.id} are anonymous: these are numbers, "
            "and no names"
        )
    teams = teams_of(factors)
    if teams and not factors.of_datasets and "teams" not in factors.info:
        note("teams are told by the first three characters of a system's name")
    unit = "data sets" if factors.of_datasets else "topics"
    columns = (column for name in names for column in (name, f"s{name}"))
    print("\t".join(["system", *["team"] * bool(teams), unit, *columns]))
    by_system = means_by_system(factors, names)
    if len({n for n, *_ in by_system.values()}) > 1:
        note(f"systems have scores on different {unit}: their means here do not compare")
    for tag, (n, *means) in by_system.items():
        fields = [tag, *[teams.get(tag, "")] * bool(teams), f"{n:.0f}"]
        fields += [f"{mean:.4f}" for mean in means]
        print("\t".join(map(escape_line, fields)))


def _path(args: Namespace) -> None:
    print(load_factors(args.set).path)


def _check(args: Namespace) -> None:
    unsound = []
    for name in args.sets or available_factors():
        # A path is checked even if it cannot be loaded.
        folder = Path(name) if os.path.isdir(name) else load_factors(name).path
        problems = check_set(folder or name)
        print("\n".join(problems) or f"{name}\tsound")
        unsound += [name] * bool(problems)
        for sentence in () if problems else findings(load_factors(folder or name)):
            print(f"{name}\tnote\t{sentence}")
    if unsound:
        raise InputError(f"not sound: {', '.join(unsound)}; the problems are listed above")


def _check_files(args: Namespace, *files: str | Path) -> None:
    """Refuse to replace a file that is there, unless that is wanted."""
    for file in files:
        check_output(file, new=not args.force)


def _export(args: Namespace) -> None:
    _check_files(args, *(webber_files(args.output) if args.format == "webber" else [args.output]))
    factors = load_factors(args.set)
    FORMATS[args.format].write(factors, args.output)
    unnamed = [m for m in factors.measures if to_trec_eval(m) is None]
    if args.format == "trec_eval" and unnamed:
        note(
            f"trec_eval has no name for {', '.join(unnamed)}: written under these names, which it "
            f"passes over"
        )


def _import(args: Namespace) -> None:
    if args.systems < 0:
        raise UsageError(f"--systems is {args.systems}: give the number of systems")
    judged = judgments_of(as_qrels(args.qrels)) if args.qrels else None
    read = (args.file, *webber_files(args.file), *([args.qrels] if args.qrels else ()))
    check_set_target(args.output, read, args.force)
    name = args.id or Path(os.path.realpath(args.output)).name
    info = {
        "id": name,
        "title": args.title or name,
        "source": args.source,
        "licence": args.licence,
        "built": f"by ir_std from the {args.format} format",
    }
    tables = FORMATS[args.format].read(args.file)
    set_from_tables(tables, info, args.systems, judged).save(args.output)


def _pack(args: Namespace) -> None:
    _check_files(args, args.output)
    packs.pack(load_factors(args.set), args.output)


def _index(args: Namespace) -> None:
    _check_files(args, args.output)
    packs.index(args.packs, args.output)


def _add(args: Namespace) -> None:
    added = packs.add(args.source)
    print(f"{added.id}\t{added.path}")


def _remove(args: Namespace) -> None:
    print(f"{args.set}\t{packs.remove(args.set)}")


def _where(_: Namespace) -> None:
    print(writable_folder())


ACTIONS = {
    "list": _list,
    "show": _show,
    "systems": _systems,
    "path": _path,
    "check": _check,
    "export": _export,
    "import": _import,
    "pack": _pack,
    "index": _index,
    "add": _add,
    "remove": _remove,
    "where": _where,
}

_FACTS = (
    "id",
    "title",
    "track",
    "year",
    "beside",
    "same_topics_as",
    "source",
    "licence",
    "built",
    "doc_id_pattern",
)
_FACTS_OF_SOURCE = ("source", "url", "date", "licence", "licence_uri", "attribution")


def names_with_scores(factors: FactorSet, measures: Iterable[Measure]) -> list[str]:
    """What a set calls these measures, by which it knows the scores of single systems.

    Its usual ones if there are none.
    """
    if not systems_of(factors):
        raise UsageError(f"{factors.id} does not know the scores of its single systems by name")
    known = [name for name in factors.default_measures if name in factors.systems]
    names = []
    for measure in measures:
        name = name_in_set(measure, factors)
        if name is None or name not in factors.systems:
            has = similar_measures(factors.systems, [str(measure)])
            raise UsageError(
                f"{factors.id} has no scores of its systems by {measure}: it has {has}"
            )
        names.append(name)
    return names or known or list(factors.systems)


def means_by_system(factors: FactorSet, names: Sequence[str]) -> dict[str, list[float]]:
    """Each system's number of topics by the first measure, and its means by each, raw and by N.

    The best by the first measure comes first; of a set of data sets these are in place of topics.
    """
    means: dict[str, list[float]] = {tag: [] for tag in systems_of(factors)}
    sign = factors.sign(names[0])
    for name in names:
        numbers, scores = scores_by_system(factors, name)
        column = {factors.info["tags"][n]: i for i, n in enumerate(numbers.tolist())}
        rows = factors.rows(factors.topics)
        apply = factors.at(rows, name)
        for tag, of_system in means.items():
            raw = scores[:, column[tag]] if tag in column else np.full(len(rows), np.nan)
            of_system += [] if of_system else [float((~np.isnan(raw)).sum())]
            of_system += [mean_of_values(raw), mean_of_values(apply(raw))]
    heights = {tag: sign * of_system[1] for tag, of_system in means.items()}
    return {
        tag: means[tag]
        for tag in sorted(means, key=lambda t: -np.nan_to_num(heights[t], nan=-np.inf))
    }


def describe(factors: FactorSet) -> list[str]:
    """A set in detail, a line a fact."""
    info = factors.info
    return [
        *(f"{key}\t{info[key]}" for key in _FACTS if info.get(key)),
        *(f"judge\t{key}\t{text}" for key, text in info.get("judge", {}).items()),
        *(f"ir_datasets\t{name}" for name in info.get("ir_datasets", ())),
        f"topics\t{len(factors.topics)}: {factors.topics[0]} ... {factors.topics[-1]}",
        *(_measure_line(factors, name) for name in factors.measures),
        *map(_source_line, info.get("sources", ())),
        *(f"input\t{record['file']}\t{record['sha256']}" for record in info.get("inputs", ())),
        *(f"note\t{sentence}" for sentence in findings(factors)),
    ]


def _measure_line(factors: FactorSet, name: str) -> str:
    """A measure's quality, and what its factors come from."""
    source = factors.about(name, "source", "")
    facts = {
        f"{factors.n_systems[name]} systems": True,
        f"depth {factors.about(name, 'depth')}": factors.about(name, "depth"),
        f"in steps of {factors.about(name, 'resolution')}": factors.about(name, "resolution"),
        "less is better": factors.sign(name) < 0,
        "with distribution": name in factors.scores,
        f"from {source} ({factors.about(name, 'licence', '')})": source != factors.source,
    }
    said = ", ".join(fact for fact, holds in facts.items() if holds)
    return f"measure\t{name}\t{Quality(factors, name).word}\t{said}"


def _source_line(record: Mapping[str, Any]) -> str:
    return "\t".join(["source", *(f"{record[key]}" for key in _FACTS_OF_SOURCE if key in record)])
