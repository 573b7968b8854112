#!/usr/bin/env python3
"""Write ``README.md``, ``LICENSES.md`` and ``index.json`` of ``factors`` from the sets.

    python scripts/catalogue.py

The same sets give files with the same bytes.
"""

from __future__ import annotations

import json
import math

from ir_std.factors.catalog import INDEX, file_hash, index_entry, shipped_folder
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.quality import (
    FEW_MODELS,
    FEW_SYSTEMS,
    OLD,
    QUALITY_LABELS,
    findings,
    summarize_quality,
)


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
    """Return the sets that come with ir_std, by ID."""
    paths = sorted(shipped_folder().glob("*.npz"), key=lambda path: path.stem)
    return [FactorSet.load(path) for path in paths]


def index(sets: list[FactorSet]) -> str:
    """Return the index of the sets, which has one line per set."""
    entries = {
        one.id: {"sha256": file_hash(one.path), **index_entry(one)} for one in sets if one.path
    }
    lines = (
        f"{json.dumps(name)}: {json.dumps(entry, ensure_ascii=False)}"
        for name, entry in entries.items()
    )
    return "{" + ",\n".join(lines) + "}\n"


def table_head() -> str:
    """Return the head of the table of sets."""
    columns = ("set", "collection", "quality", "systems of", "topics", "systems", "measures")
    return f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}"


def row(factors: FactorSet, name: str = "", search_words: str = "") -> str:
    """Return a set's line in the table; hidden HTML has the search words."""
    cells = (
        name or f"`{factors.id}`",
        factors.title,
        summarize_quality(factors) + search_words,
        str(factors.info["year"]),
        str(len(factors.topics)),
        factors.systems_text(),
        str(len(factors.measures)),
    )
    return f"| {' | '.join(cells)} |"


def readme(sets: list[FactorSet]) -> str:
    """Return the page with the catalogue."""
    rows = "\n".join(map(row, sets))
    against = "\n\n".join(_limitations(factors) for factors in sets)
    return f"""\
# The factor sets that come with ir_std

`scripts/catalogue.py` writes this page from the sets; do not edit it.  [Each set is one
file](../docs/reference/file-formats.md), `SET.npz`, and has a page in the documentation.
[How a collection is recognized](../docs/explanation/recognition.md),
[how to cite a set](../docs/catalogue/how-to-cite.md),
[how to contribute one](../docs/how-to/own-collection.md#contribute-a-set), [licences](LICENSES.md).

{table_head()}
{rows}

{explain_quality()}
## Known limitations of each set

{against}
"""


def explain_quality() -> str:
    """Explain the phrases in the table, and the quality labels that they stand for."""
    labels = "\n".join(f"- `{label}`: {meaning}." for label, meaning in QUALITY_LABELS.items())
    imprecision = 1 / math.sqrt(2 * (FEW_SYSTEMS - 1))
    return f"""\
## Quality

The table has one phrase per set.  *Fine for ranking* means that the set has the scores of single
systems for some measures.  These measures have ranks and scheme E, and you can leave out systems
(`--without TAG`).  The phrase then names the limitations of the set:

- *Few systems* means fewer than {FEW_SYSTEMS}.  With {FEW_SYSTEMS} systems, the standard deviation
  of normally distributed scores is imprecise by {imprecision:.0%}, and by more with fewer.  The
  limit is {FEW_MODELS} for a whole dataset, whose models come from many teams.
- *Systems predate {OLD}*: compared with them, any modern run looks excellent.
- *Weak systems*, such as those of broken runs, raise the scores of all others; `--without weak`
  (`without="weak"`) computes the factors without them.
- *Too coarse* for a measure means that its scores barely separate the systems, or leave no
  room for a run that is better than all systems.

These limitations make no number wrong.  Each measure of a set has one label
(`ir_std.recognize(qrels).qualities`), which is the first of these that applies:

{labels}

The sections below list the details of each set, and the HTML report lists those of its measures.
"""


def _limitations(factors: FactorSet) -> str:
    lines = "\n".join(f"- {sentence}" for sentence in findings(factors))
    return f"### {factors.id}\n\n{lines or '- Nothing.'}"


INTRODUCTION = """\
# Licences of the factor sets

`scripts/catalogue.py` writes this page from the sets; do not edit it.

ir_std's code is under the MIT licence, whose text is in `LICENSE`.  If a source below is also
under the MIT licence, its copyright notice is next to it.

The factor sets are statistics of scores from several sources.  Each measure of a set is under the
licence of its source.  This page and the set's `set.json` name that licence.  If a source states
no licence, or if nobody checked whether it does, there is no licence to pass on.  ir_std reproduces
such data as facts, with their source; the package's licence expression then has
`LicenseRef-not-stated`.  If a source is under a share-alike licence, the factors that come from it
are under the same licence.  All sets come without warranty.
"""

WITHOUT_LICENCE = {
    "not stated": "The source states no licence.",
    "not checked": "Nobody checked whether the source states a licence.",
}


def licences(sets: list[FactorSet]) -> str:
    """Return a page with each source's licence and the attribution that the source requires."""
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
