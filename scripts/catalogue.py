#!/usr/bin/env python3
"""Write ``README.md``, ``LICENSES.md`` and ``index.json`` of ``factors`` from the sets themselves.

    python scripts/catalogue.py

The same sets give the same bytes.
"""

from __future__ import annotations

import json
import math

from ir_std.factors.catalog import INDEX, index_entry, shipped_folder
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.quality import (
    FEW_MODELS,
    FEW_SYSTEMS,
    OLD,
    QUALITY_LABELS,
    findings,
    quality_summary,
)

FROM_RUNS, FROM_TABLES, FROM_PUBLISHED = "runs", "score tables", "published"


def main() -> None:
    """Write all three files."""
    sets = shipped_sets()
    for name, text in (
        ("README.md", readme(sets)),
        ("LICENSES.md", licences(sets)),
        (INDEX, index(sets)),
    ):
        (shipped_folder() / name).write_text(text, encoding="utf-8")


def shipped_sets() -> list[FactorSet]:
    """The sets that come with ir_std, by id."""
    paths = sorted(shipped_folder().glob("*.npz"), key=lambda path: path.stem)
    return [FactorSet.load(path) for path in paths]


def index(sets: list[FactorSet]) -> str:
    """Return the index of the sets, a line a set."""
    entries = {one.id: index_entry(one.path) for one in sets if one.path}
    lines = (
        f"{json.dumps(name)}: {json.dumps(entry, ensure_ascii=False)}"
        for name, entry in entries.items()
    )
    return "{" + ",\n".join(lines) + "}\n"


def origins(factors: FactorSet) -> str:
    """Where a set's measures come from, in words."""
    built = factors.info["built"]
    words = ((FROM_RUNS, " runs"), (FROM_TABLES, "tables of scores"), (FROM_PUBLISHED, "published"))
    return ", ".join(word for word, sign in words if sign in built)


def table_head() -> str:
    """The head of the table of sets."""
    columns = (
        *("set", "collection", "systems of", "topics", "systems"),
        *("measures", "distributions", "from", "quality"),
    )
    return f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}"


def row(factors: FactorSet) -> str:
    """A set's line in the table."""
    known = [m for m in factors.measures if m in factors.scores]
    distributions = (
        "all"
        if len(known) == len(factors.measures)
        else ", ".join(f"`{m}`" for m in known) or "none"
    )
    cells = (
        f"`{factors.id}`",
        factors.title,
        str(factors.info["year"]),
        str(len(factors.topics)),
        factors.systems_text(),
        str(len(factors.measures)),
        distributions,
        origins(factors),
        quality_summary(factors),
    )
    return f"| {' | '.join(cells)} |"


def readme(sets: list[FactorSet]) -> str:
    """The catalogue as a page."""
    rows = "\n".join(map(row, sets))
    against = "\n\n".join(_known_against(factors) for factors in sets)
    return f"""\
# The factor sets that come with ir_std

Made by `scripts/catalogue.py` from the sets; do not edit.  A folder is a set, of [plain
files](../docs/reference/file-formats.md); the documentation has a page for each.
[How a collection is recognized](../docs/explanation/recognition.md),
[how to cite a set](../docs/catalogue/how-to-cite.md),
[how to contribute one](../docs/how-to/own-collection.md#contribute-a-set), [licences](LICENSES.md).

{table_head()}
{rows}

{quality_words()}
## What is known against each set

{against}
"""


def quality_words() -> str:
    """What the table's words mean."""
    words = "\n".join(f"- `{word}`: {meaning}." for word, meaning in QUALITY_LABELS.items())
    unsure = 1 / math.sqrt(2 * (FEW_SYSTEMS - 1))
    return f"""\
## Quality

*Distributions* are the measures whose scores are known system by system: these have scheme E, tell
where a run ranks, and can be computed again without some systems
(`--without TAG`).  *Quality* is one label for each measure, the first of these that holds:

{words}

None of them makes a number wrong.  Fewer than {FEW_SYSTEMS} systems make a deviation unsure (of
normally distributed scores by {unsure:.0%} at {FEW_SYSTEMS}; of a whole data set, whose models are
of many teams, fewer than {FEW_MODELS}); a coarse measure leaves a good run
nowhere to go; compared with systems from before {OLD} any run of today looks excellent; and weak
systems, such as those of broken runs, lift all others: `--without weak` (`without="weak"`) computes
the factors without them.  A match has these labels (`ir_std.recognize(qrels).qualities`); the
details are listed set by set, and in the HTML report for the measures that it shows.
"""


def _known_against(factors: FactorSet) -> str:
    lines = "\n".join(f"- {sentence}" for sentence in findings(factors))
    return f"### {factors.id}\n\n{lines or '- Nothing.'}"


INTRODUCTION = """\
# Licences of the factor sets

Made by `scripts/catalogue.py` from the sets; do not edit.

ir_std's code is under the MIT licence, whose text is in `LICENSE`; where a source below is under
it too, its copyright notice stands beside.  The factor sets are statistics of scores from several
sources: each measure of a set is under the licence of its source, named here and in the set's
`set.json`.  Data whose source states no licence, or of which that was not checked, have none that
could be passed on: they are reproduced as facts with their source, and `LicenseRef-not-stated`
stands for them in the package's licence expression.  Where a source is under a share-alike licence,
what was computed from it is under the same one.  All of it comes without warranty.
"""

WITHOUT_LICENCE = {
    "not stated": "The source states no licence.",
    "not checked": "Whether the source states a licence was not checked.",
}


def licences(sets: list[FactorSet]) -> str:
    """The licences as a page: source by source, with what each asks for."""
    records: dict[tuple[tuple[str, str], ...], dict[str, list[str]]] = {}
    for factors in sets:
        for record in factors.info["sources"]:
            own = [m for m in factors.measures if factors.about(m, "source") == record["source"]]
            undated = {
                key: value
                for key, value in record.items()
                if key != "date" or record["url"] != "https://trec.nist.gov"
            }
            records.setdefault(tuple(undated.items()), {})[factors.id] = own
    by_licence: dict[str, list[str]] = {}
    for facts, used in records.items():
        record = dict(facts)
        by_licence.setdefault(record["licence"], []).append(_source(record, used, sets))
    parts = [INTRODUCTION]
    for licence, sources in sorted(by_licence.items()):
        parts += [f"## {licence}\n", *sources]
    return "\n".join(parts)


def _source(record: dict[str, str], used: dict[str, list[str]], sets: list[FactorSet]) -> str:
    whole = {factors.id: len(factors.measures) for factors in sets}
    where = "\n".join(
        f"  - `{name}`: "
        + (
            "all measures"
            if len(measures) == whole[name]
            else ", ".join(f"`{m}`" for m in measures)
        )
        for name, measures in used.items()
    )
    lines = [
        f"- {record['source']}.",
        f"  <{record['url']}>" + (f", {record['date']}." if "date" in record else "."),
    ]
    lines.append(
        f"  Licence: {record['licence']}, <{record['licence_uri']}>."
        if "licence_uri" in record
        else f"  {WITHOUT_LICENCE[record['licence']]}"
    )
    if "attribution" in record:
        lines.append(f"  {record['attribution']}.")
    return "\n".join([*lines, "", "  Used in", "", where, ""])


if __name__ == "__main__":
    main()
