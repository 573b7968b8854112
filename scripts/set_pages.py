#!/usr/bin/env python3
"""Write a page with pictures for each shipped factor set, as Markdown (MyST).

    python scripts/set_pages.py -o FOLDER [SET ...]

writes ``FOLDER/SET.md``, its pictures ``SET-topics.svg``, ``SET-systems.svg`` and
``SET-measures.svg``, and ``index.md``. The script computes everything from the sets, so the same
sets give the same text.
"""

from __future__ import annotations

import argparse
import html
from collections.abc import Iterator, Sequence
from pathlib import Path

import ir_datasets
import numpy as np
from catalogue import explain_quality, row as catalogue_row, shipped_sets, table_head
from set_pictures import correlated_measures, pictures, shown_measure, system_means
from tracks import TRACKS

from ir_std.errors import pluralize
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.quality import Quality, find_weak_systems, findings

NOISY = 5
"""Number of listed topics on which the order of systems differs most from other topics."""
MOST_NAMED = 5
"""Largest number of topics that a list names."""


def main() -> None:
    """Parse the arguments and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("-o", "--out", type=Path, required=True)
    args = parser.parse_args()
    write_pages(args.out, args.sets)


def write_pages(folder: Path, names: Sequence[str] = ()) -> None:
    """Write the pages of the named sets, or of all sets, and the index of all sets."""
    folder.mkdir(parents=True, exist_ok=True)
    sets = shipped_sets()
    for factors in sets:
        if not names or factors.id in names:
            for name, figure in pictures(factors):
                file = folder / f"{factors.id}-{name}.svg"
                figure.savefig(file, metadata={"Date": None})
            (folder / f"{factors.id}.md").write_text(page(factors, sets), encoding="utf-8")
    (folder / "index.md").write_text(index(sets), encoding="utf-8")


def index(sets: Sequence[FactorSet]) -> str:
    """Return the page with all sets; a script of the site sorts and searches the table."""
    rows = "\n".join(
        catalogue_row(one, f"[{one.id}]({one.id}.md)", _search_words(one, sets)) for one in sets
    )
    names = "\n".join(f"{one.id} <{one.id}>" for one in sets)  # The menu has short entries.
    return (
        f"# The factor sets\n\n:::{{container}} catalogue\n{table_head()}\n{rows}\n:::\n\n"
        f"{explain_quality()}\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )


def _search_words(factors: FactorSet, sets: Sequence[FactorSet]) -> str:
    """Return hidden search words for a set: its documents and the names of its datasets.

    The ID of a track's own set also finds the track's sets with other systems or judgments.
    """
    related = {factors.id, factors.info.get("main_set"), factors.info.get("same_topics_as")}
    words = [factors.info.get("corpus", ""), *factors.info.get("aliases", ())]
    words += [name for one in sets if one.id in related for name in one.info.get("ir_datasets", ())]
    words += factors.topics if factors.info.get("datasets") else ()
    text = html.escape(" ".join(dict.fromkeys(words))).replace("|", "&#124;").replace("_", "&#95;")
    return f"<span hidden> {text}</span>"


def page(factors: FactorSet, sets: Sequence[FactorSet]) -> str:
    """Return the page of a set."""
    measure = shown_measure(factors)
    parts = [
        f"# {factors.title}",
        _facts(factors, sets),
        f"## {_unit(factors).capitalize()} by difficulty\n\n{_topics_text(factors, measure)}",
        "## Systems\n\n" + _systems_text(factors, measure),
        "## Measures\n\n" + _measures_text(factors),
        "## Known limitations\n\n"
        + (
            "\n".join(f"- {_escaped(text)}" for text in findings(factors))
            or "No limitations are known."
        ),
        "## Sources, licences, and how to cite\n\n" + _sources_text(factors),
        "## How it was built\n\n" + _built_text(factors),
    ]
    return "\n\n".join(parts) + "\n"


def _facts(factors: FactorSet, sets: Sequence[FactorSet]) -> str:
    info = factors.info
    known = set(ir_datasets.registry)  # The other names of the datasets come from MTEB.
    of_datasets = [name for name in info.get("aliases", ()) if name in known]
    datasets = ", ".join(f"`{name}`" for name in info.get("ir_datasets") or of_datasets)
    reason = TRACKS[factors.id].no_dataset if factors.id in TRACKS else ""
    facts = {
        "id": f"`{factors.id}`",
        "systems": f"{factors.systems_text()}, of {info['year']}",
        _unit(factors): f"{len(factors.topics)}: {factors.topics[0]} ... {factors.topics[-1]}",
        "judgments": _judgments_text(factors),
        "labels": info["judge"]["name"] if "judge" in info else "",
        "depth": f"{info['depth']:,} documents" if info.get("depth") else "not known",
        "ir_datasets IDs": datasets or (f"none: {reason}" if reason else "none"),
        "other sets": _related_text(factors, sets),
    }
    lines = [f"| {name} | {_escaped(text)} |" for name, text in facts.items() if text]
    table = "\n".join(["| | |", "| --- | --- |", *lines])
    return f":::{{container}} facts\n{table}\n:::"


def _judgments_text(factors: FactorSet) -> str:
    known = factors.judgments.values()
    if all(one.fingerprints for one in known):
        return "known, with fingerprints"
    counts = sum(one.n_rel is not None for one in known)
    prints = sum(bool(one.fingerprints) for one in known)
    if not counts:
        return "not known, so you must choose the set by name"
    where = f", and fingerprints for {prints} topics" if prints else ""
    return f"numbers of relevant documents{where}"


def _related_text(factors: FactorSet, sets: Sequence[FactorSet]) -> str:
    own = set(factors.topics)
    related = []
    for other in sets:
        shared = len(own & set(other.topics))
        same_documents = factors.info.get("corpus") == other.info.get("corpus")
        if other.id == factors.id or not shared or not same_documents:
            continue
        kind = (
            "other systems"
            if factors.id == other.info.get("main_set") or other.id == factors.info.get("main_set")
            else "other labels"
            if "judge" in {**other.info, **factors.info}
            else "residual judgments"
            if "covid" in factors.id
            else "the same"
        )
        related.append(f"[{other.id}]({other.id}.md) ({shared} topics in common, {kind})")
    return "; ".join(related)


def _topics_text(factors: FactorSet, measure: str) -> str:
    quality = Quality(factors, measure)
    mean = factors.mean[measure]
    known = np.flatnonzero(~np.isnan(mean))
    order = known[np.argsort(mean[known], kind="stable")]
    hardest, easiest = (
        ", ".join(f"{factors.topics[i]} ({mean[i]:.3f})" for i in rows)
        for rows in (order[:3], order[::-1][:3])
    )
    lines = [
        f"![Means and deviations of {measure} by topic]({factors.id}-topics.svg)",
        f"The mean {measure} of all systems is {mean[known].mean():.3f}. It is lowest on {hardest} "
        f"and highest on {easiest}.",
    ]
    measures_of: dict[tuple[str, ...], list[str]] = {}
    for name in factors.measures:
        measures_of.setdefault(Quality(factors, name).constant_topics, []).append(name)
    flat = [
        f"for {', '.join(names)} on {_named(factors, topics)}"
        for topics, names in measures_of.items()
        if topics
    ]
    lines.append(
        f"All systems have the same score {'; '.join(flat)}."
        if flat
        else f"No measure gives all systems the same score on a {_unit(factors, 1)}."
    )
    if quality.capped_topics:
        lines.append(
            f"A perfect {measure} is less than one standard deviation above the mean on "
            f"{_named(factors, quality.capped_topics)}."
        )
    if means := system_means(factors, measure):
        least = np.argsort(means.agreement, kind="stable")[:NOISY]
        noisy = ", ".join(f"{means.topics[i]} ({means.agreement[i]:.2f})" for i in least)
        lines.append(
            "The next figures are correlations of the systems' scores on a topic with their means "
            f"over the other topics. The correlation is lowest on {noisy}. On the median topic, it "
            f"is {np.nanmedian(means.agreement):.2f}."
        )
    if kinds := factors.info.get("topic_kinds"):
        lines.append("Kinds of topics: " + "; ".join(_kinds(factors, measure, kinds)) + ".")
    return "\n\n".join(lines)


def _kinds(factors: FactorSet, measure: str, kinds: dict[str, str]) -> Iterator[str]:
    for kind in dict.fromkeys(kinds.values()):
        rows = factors.rows(topic for topic, own in kinds.items() if own == kind)
        mean = np.nanmean(factors.mean[measure][rows])
        yield f"{kind}: {pluralize(len(rows), 'topic')}, mean {mean:.3f}"


def _named(factors: FactorSet, topics: Sequence[str]) -> str:
    more = f" and {len(topics) - MOST_NAMED} more" * (len(topics) > MOST_NAMED)
    named = ", ".join(topics[:MOST_NAMED])
    return f"{len(topics)} {_unit(factors, len(topics))} ({named}{more})"


def _unit(factors: FactorSet, number: int = 2) -> str:
    return ("dataset" if factors.of_datasets else "topic") + "s" * (number > 1)


def _systems_text(factors: FactorSet, measure: str) -> str:
    means = system_means(factors, measure)
    if means is None:
        return (
            f"No {_unit(factors, 1)} has scores of all systems, so the systems' means are not "
            "comparable. `--benchmark` ranks the systems by the tasks that they have in common."
            if measure in factors.scores
            else "Only the means and standard deviations over all systems are known."
        )
    low = find_weak_systems(factors, measure)
    names = factors.systems
    teams = factors.info.get("teams", {})
    head = "| place | system |" + " team |" * bool(teams) + f" {measure} | mean of N | |"
    lines = [head, "| --- " * (head.count("|") - 1) + "|"]
    for place, number in enumerate(means.numbers.tolist()):
        name = names[number] if names else f"no. {number}"
        cells = [str(place + 1), f"`{name}`"] + [teams.get(name, "")] * bool(teams)
        cells += [f"{means.raw[place]:.4f}", f"{means.standardized[place]:.4f}"]
        cells.append("weak" if low and number in low.numbers else "")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n\n".join([f"![Systems by their means]({factors.id}-systems.svg)", "\n".join(lines)])


def _measures_text(factors: FactorSet) -> str:
    lines = [
        "| measure | systems | depth | step | distribution | quality |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name in factors.measures:
        cells = (
            f"`{name}`",
            str(factors.n_systems[name]),
            str(factors.about(name, "depth") or "not known"),
            f"{factors.about(name, 'resolution', 0):g}"
            if factors.about(name, "resolution")
            else "",
            "yes" if name in factors.scores else "",
            Quality(factors, name).label,
        )
        lines.append(f"| {' | '.join(cells)} |")
    picture = (
        f"![Kendall's tau-b of the systems' orders]({factors.id}-measures.svg)\n\n"
        if len(correlated_measures(factors)) > 1
        else ""
    )
    return picture + "\n".join(lines)


def _sources_text(factors: FactorSet) -> str:
    parts = []
    for record in factors.info["sources"]:
        own = [m for m in factors.measures if factors.about(m, "source") == record["source"]]
        whole = len(own) == len(factors.measures)
        parts.append(
            f"- {'All measures' if whole else ', '.join(f'`{m}`' for m in own)}: "
            f"{_escaped(record['source'])}, <{record['url']}>"
            + (f", {record['date']}" if "date" in record else "")
            + f". Licence: {record['licence']}"
            + (f" (<{record['licence_uri']}>)" if "licence_uri" in record else "")
            + (f". {_escaped(record['attribution'])}" if "attribution" in record else "")
            + "."
        )
    return "\n".join(parts) + (
        "\n\nCite these sources, the track's overview and the version of ir_std, such as "
        f"“standardized by the {factors.systems_text()} systems of {factors.title} "
        f"({factors.info['built'].partition(':')[0].removeprefix('by ')}, set {factors.id}, scheme "
        "N)”."
    )


def _built_text(factors: FactorSet) -> str:
    inputs = "\n".join(
        f"| `{record['file']}` | `{record['sha256']}` |" for record in factors.info["inputs"]
    )
    script = f"build_shipped.py {factors.id}" if factors.id in TRACKS else "build_mteb.py"
    return (
        f"This set was built {factors.info['built'].replace(': ', ' ', 1)}. "
        f"`python scripts/{script}` makes it again, byte for byte, from these files:\n\n"
        f"| file | SHA-256 |\n| --- | --- |\n{inputs}"
    )


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("_", "\\_").replace("*", "\\*")


if __name__ == "__main__":
    main()
