#!/usr/bin/env python3
"""Write ``README.md``, ``LICENSES.md`` and ``topics.json`` of ``factors`` from the sets themselves.

    python scripts/catalogue.py

The same sets give the same bytes.
"""

from __future__ import annotations

import json

from ir_std.factors.catalog import TOPICS, load_factors, shipped_folder
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.quality import FEW_SYSTEMS, OLD, WORDS, findings, quality_summary

RR_TOPICS = 47
"""Of DL 2020, counted by a test."""
FROM_RUNS, FROM_TABLES, FROM_PUBLISHED = "runs", "score tables", "published"


def main() -> None:
    """Write all three files."""
    sets = shipped_sets()
    for name, text in (
        ("README.md", readme(sets)),
        ("LICENSES.md", licences(sets)),
        (TOPICS, topics(sets)),
    ):
        (shipped_folder() / name).write_text(text, encoding="utf-8")


def shipped_sets() -> list[FactorSet]:
    """The sets that come with ir_std, by id."""
    return [load_factors(path.parent) for path in sorted(shipped_folder().glob("*/set.json"))]


def topics(sets: list[FactorSet]) -> str:
    """The topics of each set and their numbers of relevant documents, a line a set.

    Whole data sets are known by their names: their numbers rule nothing out.
    """
    known = (
        (
            one.id,
            dict.fromkeys([*one.topics, *one.info.get("aliases", ())])
            if one.of_datasets
            else dict(one.n_rel),
        )
        for one in sets
    )
    lines = (
        f"{json.dumps(name)}: {json.dumps(n_rel, ensure_ascii=False)}" for name, n_rel in known
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
    words = "\n".join(f"- `{word}`: {meaning}." for word, meaning in WORDS.items())
    against = "\n\n".join(_known_against(factors) for factors in sets)
    return f"""\
# The factor sets that come with ir_std

Made by `scripts/catalogue.py` from the sets; do not edit.

{table_head()}
{rows}

## How to read a set

A folder is a set, of plain files:

- `set.json`: what the set is: title, ids, depth to which the systems were evaluated, resolution of
  their scores, how many there are, sources with URL and licence, the SHA-256 of every file it was
  made of, and `notes`.
  `topic_kinds` says of what kind each topic is, where there are several; `short_systems` are those
  whose runs have few documents.
- `topics.csv`: the topics, and what is known of their judgments: how many documents are at each
  level, and fingerprints of those at each level or above, those judged not relevant included.
- `mean.csv`, `sd.csv`: for each topic and measure the mean and the sample standard deviation (n-1)
  of the systems' scores; an empty cell where there are no factors.
- `scores.npz`: where known, the systems' scores, sorted within each topic; arrays of topics x
  systems, by measure.  Arrays that are the same are stored once, their names joined by `;`.
- `systems.npz`: whose scores these are: for each the system's number, the same in all measures;
  `tags` of `set.json` names the systems in the order of their numbers.
- `earlier.npz`: of residual collections (TREC-COVID's rounds from 2 on) the documents that were
  judged in earlier rounds, which are not in the systems' runs, by 40 bits of a hash each: how many
  on each topic (`size`), and the first 8 (`high`) and the next 32 bits (`low`), sorted within each.
  A run that holds such documents is warned of; `--residual` (`residual=True`) takes them out.

`ir_std factors show SET` says all of it, `ir_std factors export SET --format csv -o FILE` writes it
as one table for R and spreadsheets: a row a topic and measure, a column a system.

*Distributions* are the measures whose scores are known system by system: these have scheme E, tell
where a run ranks, and can be computed again without some systems
(`--without TAG`).  *Quality* is one word for each measure, the first of these that holds:

{words}

None of them makes a number wrong.  Fewer than {FEW_SYSTEMS} systems make a deviation unsure (by 11%
at {FEW_SYSTEMS}); a coarse measure leaves a good run nowhere to go; beside systems of before {OLD}
any run of today looks excellent; and low systems, as those of broken runs, lift all others:
`--without low` (`without="low"`) computes the factors without them.  A match carries these words
(`ir_std.recognize(qrels).qualities`); what is behind them is below, set by set, and in the HTML
report for the measures that it shows.

## How a collection is recognized

By its judgments, topic by topic and level by level.  `topics.csv` holds for each topic how many
documents are at each level, and a fingerprint of those at each level or above (the beginning of
SHA-256 of their sorted ids).  Equal fingerprints are proof, even of one topic, and different ones
are a difference: a topic's value is standardized only where the judgments agree at every level that
the measure looks at (binary measures at their own, graded ones at all from 1, Bpref at 0 too).
Topics that differ are named in a warning and have no value unless you name the set (`--factors`,
`factors=`); where most differ the set does not fit.  Where a set has no fingerprints, the numbers
of relevant documents must agree on ten topics or more, and the match says that it goes by numbers
alone.
Where several sets fit, the one is used whose judgments agree on the most topics; of these the one
whose topics are fewest: topics 401-450 are TREC-8's, not Robust 2004's.  Today's judgments of
Terabyte 2005 are those behind `terabyte04-06`; `terabyte05`, made with others on 29 of its 50
topics, is used where it is named.  No measure is standardized beyond the depth to which the systems
were evaluated.

## At the edges

- On a topic where all systems scored the same, `N` and `U` take their limits: 0 below that score,
  0.5 at it, 1 above.  `z` has no value there, for any run; `E` is 0 below, 1 at it or above.
- Ties count in full in `E`, so that its mean is 0.5 only where none are: over TREC-8's own
  systems it is 0.50 by AP, but 0.60 by P@10 and 0.68 by RR.
- The published AP of the Terabyte tracks comes from runs up to 10,000 documents deep, the other
  measures from their first 1,000; a deeper run is warned of.
- Ties: raw scores are those of ir_measures, and its providers order documents differently.
  Most measures have trec_eval's order: by score as 32-bit float, ties by document id, descending.
  `RR@k` and `Judged` compare 64-bit floats and take ties by id ascending, so that on DL 2020 the
  systems' means of `RR@10` are not those in trec_eval's order on {RR_TOPICS} of 54 topics;
  `ERR@k` and `nDCG(dcg='exp-log2')@k`, which gdeval computes, compare 64-bit floats, ties by id
  descending.
  cwl-eval takes the documents for RBP as they come: where rows tie or are unsorted its value
  differs.

## How to cite

Cite the paper or repository under `sources` in `set.json` (`ir_std factors show SET`), the track's
overview, and the version of ir_std, which `built` in `set.json` names.  Say which set, which
measures and which scheme, and how many systems are behind them: "standardized by the 129 systems of
TREC-8 (ir_std 0.1.0, set trec8-adhoc, scheme N)".  [LICENSES.md](LICENSES.md) has the licences, and
the attribution that each asks for.

## How to contribute a set

1. Build it: `ir_std build QRELS RUNS -o SET --source ... --licence ...` from runs, or
   `--from-scores` from tables with a row a topic and a column a system.
2. Check it: `ir_std factors check SET` says whether it is sound, and what is against it.  Compare
   means with figures that somebody else published.
3. Write what a reader must know, and no table tells, into `notes` of `set.json`.  Name the licence
   of the source; where it states none, write `not stated`, where you did not look `not checked`.
4. Share it: `ir_std factors pack SET -o SET.zip`.  Others take it by `ir_std factors add SET.zip`,
   or from a registry by `ir_std factors add URL#SET`: put packs beside an `index.json` that
   `ir_std factors index *.zip -o index.json` writes.  To have it come with ir_std, add its track to
   `scripts/tracks.py`.

Runs belong to their participants: share statistics, and scores where their source made them public.

## What is known against each set

{against}
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
