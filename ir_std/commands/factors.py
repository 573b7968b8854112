"""The factor sets: list them, show one, or say where it is.

  ir_std factors              all sets: id, topics, systems, measures, title
  ir_std factors show ID      one set in detail
  ir_std factors path ID      the folder of a set
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ir_std.catalog import available_factors, load_factors
from ir_std.factors import FactorSet


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(dest="action", metavar="{show,path}")
    for name, text in (("show", "one set in detail"), ("path", "the folder of a set")):
        actions.add_parser(name, help=text).add_argument("set", metavar="ID|PATH")


def run(args: Namespace) -> None:
    """Print what was asked for."""
    if args.action == "show":
        print("\n".join(describe(load_factors(args.set))))
    elif args.action == "path":
        print(load_factors(args.set).path)
    else:
        for name in available_factors():
            s = load_factors(name)
            print(f"{s.id}\t{len(s.topics)} topics\t{s.systems_text()} systems\t"
                  f"{len(s.measures)} measures\t{s.title}")


def describe(factors: FactorSet) -> list[str]:
    """A set in detail, a line a fact."""
    info = factors.info
    lines = [f"{key}\t{info[key]}" for key in ("id", "title", "track", "source", "licence",
                                                "built", "doc_id_pattern") if info.get(key)]
    lines += [f"ir_datasets\t{name}" for name in info.get("ir_datasets", ())]
    lines.append(f"topics\t{len(factors.topics)}: {factors.topics[0]} ... {factors.topics[-1]}")
    for name in factors.measures:
        facts = [f"{factors.n_systems[name]} systems"]
        if factors.about(name, "depth"):
            facts.append(f"depth {factors.about(name, 'depth')}")
        if factors.about(name, "resolution"):
            facts.append(f"in steps of {factors.about(name, 'resolution')}")
        lines.append(f"measure\t{name}\t{', '.join(facts)}")
    return lines
