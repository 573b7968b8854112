#!/usr/bin/env python3
"""Build ``mteb-retrieval``: the results of all models on all retrieval tasks of MTEB.

    python scripts/build_mteb.py --data ../shared/data

reads ``mteb/`` and ``qrels/beir/`` below the data folder, and writes three files into ``factors/``.
``mteb-retrieval.npz`` is the factor set. ``mteb-benchmarks.json`` has the rows of each benchmark.
``mteb-left-out.csv.gz`` lists every result that is left out or does not count, with the reason. The
same input gives files with the same bytes.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from experiment import ROOT, add_data_option

from ir_std._version import __version__
from ir_std.factors.collection import as_one_topic
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import Judgments, judgments_of
from ir_std.factors.schema import FEWEST, MAIN, MISSING, NOT_TRAINED, STEPS, TRAINED, UNKNOWN, Cells
from ir_std.scores.mteb import CQADUPSTACK, aliases_of_rows, row_name
from ir_std.trec.files import read_qrels

MEASURES = {
    "main_score": MAIN,
    "ndcg_at_10": "nDCG@10",
    "map_at_100": "AP@100",
    "mrr_at_10": "RR@10",
    "recall_at_100": "R@100",
    "precision_at_10": "P@10",
}
"""Columns of the table, and the names of their measures in ir_std."""
_FILE = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
NOT_MODELS: dict[str, str] = _FILE["not_models"]
"""Entries in MTEB's list of models that are not models, with the reason."""
SAME = 1e-4
"""Largest difference between scores that count as equal."""
SAME_ROWS = 0.5
"""Share of equal scores on common rows from which two models count as one model."""
FEWEST_ROWS = 5
"""Smallest number of common rows on which equal scores prove that two models are the same model."""
VARIANTS: dict[str, str] = _FILE["variants"]
"""Quantized, shortened and LoRA variants, each with its original model."""
MACROLANGUAGES = {
    member: macro
    for macro, members in _FILE["macrolanguages"].items()
    for member in members.split()
}
"""Macrolanguages of ISO 639-3, because a task can name one language and a model its
macrolanguage.
"""
ENGLISH = frozenset(["eng"])
PARTS = tuple(f"CQADupstack{part.capitalize()}Retrieval" for part in CQADUPSTACK)
WHOLE = "CQADupstackRetrieval"
MOST_QUERIES = 4000
"""Largest number of queries that the script can infer from scores with five decimals."""
ROUNDED = 5.1e-6
"""Largest rounding error of scores with five decimals."""
BY_CHANCE = 1e-6
"""Largest allowed probability that scores fit a number of queries by chance."""
NEGLIGIBLE_SHARE = 0.05
"""Share of a row's median; a score below it is a broken result if the model is usually good."""
MIN_MEDIAN = 0.05
"""Smallest median of a row on which low scores are unusual."""
LOW_SHARE = 0.5
"""Share of a row's median below which a score counts as low."""
MAX_LOW_ROWS = 0.1
"""Largest share of rows on which a good model can be low; a model that is low on more rows is weak,
and its low scores are not an accident.
"""
MAX_LOW_MODELS = 0.15
"""Largest share of low models on a normal row; if more models are low, the row is hard, or it
separates two kinds of models.
"""
MIN_BEST = 0.05
"""Score that at least one model must reach on a row, or the row has no factors."""
TOLERANCE = 1e-4
"""Largest difference between related measures that rounding can cause."""
BROKEN = {(one["row"], one["model"]): one["reason"] for one in _FILE["broken"]}
"""Results that are clearly broken, although no rule finds them, each with the reason."""
NOTES: dict[str, str] = _FILE["row_notes"]
"""Notes for readers of a dataset's scores."""
TASK_NOTES: dict[str, str] = _FILE["task_notes"]
"""Notes that apply to all rows of a task."""


class Result(NamedTuple):
    """Scores of a model on a row, from one line of the table; NaN if a score is missing."""

    model: str
    task: str
    row: str
    scores: dict[str, float]
    subset: str = "default"


class LeftOut(NamedTuple):
    """A result that is left out, or does not count, and why."""

    model: str
    row: str
    reason: str


@dataclass
class Known:
    """MTEB's metadata about models, tasks and benchmarks, by name."""

    models: Mapping[str, Mapping[str, Any]]
    tasks: Mapping[str, Mapping[str, Any]]
    benchmarks: Mapping[str, Sequence[tuple[str, str, list[str], list[str]]]]
    _trained: dict[str, frozenset[str] | None] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Known:
        """Read the JSON files of a folder."""
        models, tasks, benchmarks = (
            json.loads((folder / f"{name}.json").read_text("utf-8"))
            for name in ("models", "tasks", "benchmarks")
        )
        return cls({m["name"]: m for m in models}, {t["name"]: t for t in tasks}, benchmarks)

    def trained(self, model: str, task: str) -> int:
        """Check whether a model was trained on a task or on a similar one."""
        if model not in self._trained:  # An empty list means that the authors stated nothing.
            listed = self.models[model]["training_with_similar"]
            self._trained[model] = frozenset(listed) if listed else None
        tasks = self._trained[model]
        return UNKNOWN if tasks is None else TRAINED if task in tasks else NOT_TRAINED

    def speaks(self, model: str, task: str, subset: str) -> bool:
        """Check whether a model states all languages of a row; without any, assume English."""
        theirs = plain_languages(self.models[model]["languages"]) or ENGLISH
        return plain_languages(self.tasks.get(task, {}).get("by_subset", {}).get(subset)) <= theirs


def plain_languages(stated: Iterable[str] | None) -> frozenset[str]:
    """Return languages without their scripts; leave out programming languages.

    >>> sorted(plain_languages(["cmn-Hans", "python-Code", "swa-Latn"]))
    ['swa', 'zho']
    """
    split = (each.partition("-") for each in stated or ())
    return frozenset(
        MACROLANGUAGES.get(language, language)
        for language, _, script in split
        if script not in ("Code", "Zxxx")
    )


def main() -> None:
    """Parse the arguments, write the files, and print what was left out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--out", type=Path, default=ROOT / "factors")
    args = parser.parse_args()
    known = Known.read(args.data / "mteb")
    table = args.data / "mteb" / "all_retrieval.csv"
    for (task, revision), queries in other_revisions(table).items():
        if row_name(task, "test", revision=revision) == row_name(task, "test"):
            raise SystemExit(f"{task}, revision {revision}, is not a row of its own: {queries}")
    results, left_out = clean(read_results(table), known)
    built, not_counted = mteb(
        results, known, judgments(args.data / "qrels" / "beir"), inputs_of(args.data)
    )
    built.save(args.out / f"{built.id}.npz")
    rows = {*built.topics}
    write_json(args.out / "mteb-benchmarks.json", benchmark_rows(known, rows))
    left_out += not_counted
    write_left_out(args.out / "mteb-left-out.csv.gz", left_out)
    for reason, n in Counter(one.reason.partition(":")[0] for one in left_out).items():
        print(f"{n} results left out ({reason})")
    for line in overview(built):
        print(line)


def inputs_of(data: Path) -> list[dict[str, str]]:
    """Return the input files, with their SHA-256."""
    mteb_files = ("all_retrieval.csv", "models.json", "tasks.json", "benchmarks.json")
    files = [
        *(data / "mteb" / name for name in mteb_files),
        *sorted((data / "qrels" / "beir").glob("*")),
    ]
    return [
        {
            "file": file.relative_to(data).as_posix(),
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        }
        for file in files
    ]


def mtebs_name(model: str) -> str:
    """Return MTEB's name for a model in the table.

    >>> mtebs_name("voyageai__voyage-4-large_(embed_dim=2048,_evolved_prompts=True)")
    'mongodb/voyage-4-large (embed_dim=2048, evolved_prompts=True)'
    """
    name = model.replace("__", "/", 1).replace("_(", " (").replace(",_", ", ")
    return f"mongodb/{name.removeprefix('voyageai/')}" if name.startswith("voyageai/") else name


def read_results(file: Path) -> list[Result]:
    """Return the lines of the table."""
    with file.open(encoding="utf-8", newline="") as text:
        return [
            Result(
                mtebs_name(line["model"]),
                line["task"],
                row_name(line["task"], line["split"], line["subset"], line["dataset_revision"]),
                {ours: float(line[theirs] or "nan") for theirs, ours in MEASURES.items()},
                line["subset"],
            )
            for line in csv.DictReader(text)
        ]


def other_revisions(file: Path) -> dict[tuple[str, str], str]:
    """Return the task revisions that have an unusual number of queries.

    The sum of P@10 over queries is a whole number of tenths, so the scores of several models reveal
    the number of queries. The usual number of a row is the number that most models have. A revision
    has different queries if its number of queries is unusual on most of its rows.

    Parameters
    ----------
    file : Path
        The table of results, which names the revision of each result.

    Returns
    -------
    dict of (str, str) to str
        A description of the difference, by task and revision.
    """
    with file.open(encoding="utf-8", newline="") as text:
        rows: dict[tuple[str, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for line in csv.DictReader(text):
            if line["dataset_revision"] and line["precision_at_10"]:
                row = rows[line["task"], line["split"], line["subset"]]
                row[line["dataset_revision"]].append(float(line["precision_at_10"]))
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    n_rows = Counter((task, revision) for (task, *_), each in rows.items() for revision in each)
    for (task, *_), by_revision in rows.items():
        numbers = {r: number_of_queries(scores) for r, scores in by_revision.items()}
        models: Counter[int] = Counter()
        for revision, number in numbers.items():
            if number:
                models[number] += len(by_revision[revision])
        usual = models.most_common(1)[0][0] if models else 0
        for revision, number in numbers.items():
            if number and not shares_of_whole(by_revision[revision])[usual - 1] >= 0.5:
                found[task, revision].append(f"{number} queries, not {usual}")
    return {each: texts[0] for each, texts in found.items() if 2 * len(texts) > n_rows[each]}


def number_of_queries(scores: Iterable[float]) -> int | None:
    """Infer the number of queries from several models' mean P@10; None if impossible.

    >>> number_of_queries(round(hits / 70, 5) for hits in (3, 5, 8, 11, 24, 29, 33))
    7
    """
    scores = {score for score in scores if score}
    expected = np.minimum(1, 20 * ROUNDED * np.arange(1, MOST_QUERIES + 1)) ** len(scores)
    fits = (shares_of_whole(scores) >= 0.9) & (expected <= BY_CHANCE)
    return int(fits.argmax()) + 1 if fits.any() else None


def shares_of_whole(scores: Iterable[float]) -> np.ndarray:
    """Return the share of scores that can be P@10, for each number of queries from 1."""
    hits = 10 * np.arange(1, MOST_QUERIES + 1)[:, None] * np.array(sorted({*scores} - {0.0}))
    allowed = 10 * ROUNDED * np.arange(1, MOST_QUERIES + 1)[:, None]
    shares: np.ndarray = (np.abs(hits - np.rint(hits)) <= allowed).mean(axis=1)
    return shares


def clean(results: Iterable[Result], known: Known) -> tuple[list[Result], list[LeftOut]]:
    """Leave out entries that are not models, and keep only one entry for each model."""
    left_out = []
    kept = []
    for one in results:
        if reason := NOT_MODELS.get(one.model):
            left_out.append(LeftOut(one.model, one.row, reason))
        else:
            kept.append(one)
    kept = with_computed_means(kept)
    same = {**variants(kept), **twins(kept, known)}
    left_out += [
        LeftOut(one.model, one.row, f"counts once: as {same[one.model]}")
        for one in kept
        if one.model in same
    ]
    return [one for one in kept if one.model not in same], left_out


def with_computed_means(results: Sequence[Result]) -> list[Result]:
    """Add the mean over the parts of CQADupstack for models that have all parts."""
    parts: dict[str, dict[str, Result]] = defaultdict(dict)
    for one in results:
        if one.task in PARTS:
            parts[one.model][one.task] = one
    means = {
        model: {
            m: round(float(np.mean([one.scores[m] for one in each.values()])), 6)
            for m in MEASURES.values()
        }
        for model, each in parts.items()
        if len(each) == len(PARTS)
    }
    whole = [one for one in results if one.task == WHOLE]
    computed = {one.model for one in whole if one.model in means}
    row = row_name(WHOLE, "test")
    return [
        *(one for one in results if one.task != WHOLE or one.model not in computed),
        *(Result(model, WHOLE, row, means[model]) for model in sorted(means)),
    ]


def variants(results: Iterable[Result]) -> dict[str, str]:
    """Return the listed variants whose original models have results."""
    models = {one.model for one in results}
    return {v: of for v, of in VARIANTS.items() if v in models and of in models}


def twins(results: Iterable[Result], known: Known) -> dict[str, str]:
    """Return models that have the same scores as another model.

    The other model has more rows, or was released earlier. Scores of 0 and 1 are ignored,
    because many models have them on some rows.
    """
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    for one in results:
        if 0 < one.scores[MAIN] < 1:
            scores[one.model][one.row] = one.scores[MAIN]
    models = sorted(scores, key=lambda m: (-len(scores[m]), known.models[m]["released"] or "9", m))
    rows = {row: i for i, row in enumerate(sorted({r for each in scores.values() for r in each}))}
    table = np.full((len(models), len(rows)), np.nan)
    for i, model in enumerate(models):
        table[i, [rows[row] for row in scores[model]]] = list(scores[model].values())
    same: dict[str, str] = {}
    for i, model in enumerate(models):
        difference = np.abs(table[i + 1 :] - table[i])
        shared = np.count_nonzero(~np.isnan(difference), axis=1)
        alike = np.count_nonzero(difference <= SAME + 1e-12, axis=1)
        for j in np.flatnonzero((shared >= FEWEST_ROWS) & (alike >= SAME_ROWS * shared)):
            same.setdefault(models[i + 1 + j], same.get(model, model))
    return same


def judgments(folder: Path) -> dict[str, tuple[int, Judgments]]:
    """Return each row's number of queries, and the row's known judgments."""
    rows = aliases_of_rows()
    by_row = {}
    for file in sorted(folder.glob("*.txt")):
        qrels = read_qrels(file)
        name = f"beir/{file.stem.replace('cqadupstack-', 'cqadupstack/')}"
        for split in ("", "/test", "/dev"):
            if name + split in rows:
                known = judgments_of(as_one_topic(qrels, name))[name]
                by_row[rows[name + split]] = len(qrels.topics), known
    return by_row


def mteb(
    results: Iterable[Result],
    known: Known,
    judged: Mapping[str, tuple[int, Judgments]],
    inputs: Sequence[Mapping[str, str]],
) -> tuple[FactorSet, list[LeftOut]]:
    """Build the factor set, one row per dataset, and list the results that do not count."""
    by_row: dict[str, dict[str, Result]] = defaultdict(dict)
    for one in results:
        by_row[one.row][one.model] = one
    counted = {row: speakers(each, known) for row, each in by_row.items()}
    doubted = implausible(by_row, counted)
    left_out, rows = [], []
    for row in sorted(by_row):
        sound = counted[row] - doubted[row].keys()
        if reason := no_scale([by_row[row][model].scores[MAIN] for model in sound]):
            left_out += [LeftOut(model, row, reason) for model in sorted(by_row[row])]
            continue
        rows.append(row)
        foreign = "does not state all languages of the row, does not count there"
        reasons = doubted[row] | dict.fromkeys({*by_row[row]} - counted[row], foreign)
        left_out += [LeftOut(model, row, reason) for model, reason in sorted(reasons.items())]
        counted[row] = sound
    models = sorted({model for row in rows for model in by_row[row]})
    cells = make_cells([by_row[row] for row in rows], [counted[r] for r in rows], models, known)
    description, known_judgments = described(cells, rows, judged, inputs)
    none = [m for m in MEASURES.values() if m not in (MAIN, *description["measures"])]
    kept = {name: array for name, array in cells.items() if name not in none}
    return FactorSet(description, known_judgments, systems=models, cells=kept), left_out


def speakers(results: Mapping[str, Result], known: Known) -> set[str]:
    """Return the models that state all languages of a row."""
    return {model for model, r in results.items() if known.speaks(model, r.task, r.subset)}


def no_scale(scores: Sequence[float]) -> str:
    """Return the reason why a row has no factors, or an empty text if it has factors."""
    if len(scores) < FEWEST:
        return f"fewer than {FEWEST} models count on the row"
    return "" if max(scores) >= MIN_BEST else f"no model reaches {MIN_BEST} on the row"


def implausible(
    by_row: Mapping[str, Mapping[str, Result]], counted: Mapping[str, set[str]]
) -> dict[str, dict[str, str]]:
    """Return, by row and model, the reasons why results cannot be right.

    A result is impossible if RR@10 exceeds 10 P@10, because a query whose reciprocal rank is above
    0 has a relevant document among the first ten. A result is broken if it is below
    `NEGLIGIBLE_SHARE` of the row's median, the model is low on at most `MAX_LOW_ROWS` of its rows,
    and at most `MAX_LOW_MODELS` of the row's models are low.
    """
    doubted: dict[str, dict[str, str]] = {row: {} for row in by_row}
    for row, models in counted.items():
        for model in models:
            scores = by_row[row][model].scores
            if scores["RR@10"] > 10 * scores["P@10"] + TOLERANCE:
                doubted[row][model] = "impossible: RR@10 is above 10 P@10, does not count there"
            elif reason := BROKEN.get((row, model)):
                doubted[row][model] = f"broken: {reason}, does not count there"
    medians = {
        row: float(np.median([by_row[row][model].scores[MAIN] for model in models]))
        for row, models in counted.items()
        if len(models) >= FEWEST
    }
    low: dict[str, list[bool]] = defaultdict(list)
    low_models: dict[str, list[bool]] = defaultdict(list)
    for row, median in medians.items():
        for model in sorted(counted[row]) if median >= MIN_MEDIAN else ():
            is_low = by_row[row][model].scores[MAIN] < LOW_SHARE * median
            low[model].append(is_low)
            low_models[row].append(is_low)
    for row, each in low_models.items():
        if np.mean(each) <= MAX_LOW_MODELS:
            doubted[row] |= {
                model: "broken: near zero, where the model is usually good, does not count there"
                for model in counted[row] - doubted[row].keys()
                if by_row[row][model].scores[MAIN] < NEGLIGIBLE_SHARE * medians[row]
                and np.mean(low[model]) <= MAX_LOW_ROWS
            }
    return doubted


def make_cells(
    rows: Sequence[Mapping[str, Result]],
    counted: Sequence[set[str]],
    models: Sequence[str],
    known: Known,
) -> dict[str, np.ndarray]:
    """Make the arrays of :class:`Cells`."""
    number = {model: i for i, model in enumerate(models)}
    shape = len(rows), len(models)
    cells = {m: np.full(shape, MISSING, np.int32) for m in MEASURES.values()}
    cells["counted"] = np.zeros(shape, np.uint8)
    cells["trained"] = np.full(shape, UNKNOWN, np.uint8)
    for i, (results, there) in enumerate(zip(rows, counted, strict=True)):
        for model, each in results.items():
            place = i, number[model]
            cells["counted"][place] = model in there
            cells["trained"][place] = known.trained(model, each.task)
            for measure, score in each.scores.items():
                if (model in there or measure == MAIN) and score == score:
                    cells[measure][place] = round(score * STEPS)
    return cells


def described(
    cells: Mapping[str, np.ndarray],
    rows: Sequence[str],
    judged: Mapping[str, tuple[int, Judgments]],
    inputs: Sequence[Mapping[str, str]],
) -> tuple[dict[str, Any], dict[str, Judgments | None]]:
    """Describe the set and its known judgments."""
    n_systems = {
        m: int((~np.isnan(Cells(cells).scores(m))).any(axis=0).sum()) for m in MEASURES.values()
    }
    measures = {m: {"systems": n} for m, n in n_systems.items() if n}
    there = {*rows}
    info = {
        "id": "mteb-retrieval",
        "title": "MTEB retrieval and reranking, models of 2026",
        "track": "MTEB",
        "unit": "collection",
        "ir_datasets": [],
        "max_level": None,
        # As in the other sets, RR is not a default measure, because too many models tie at the top.
        "default_measures": [m for m in MEASURES.values() if m not in (MAIN, "RR@10")],
        "depth": None,
        "resolution": 1 / STEPS,
        "population": POPULATION,
        "year": 2026,
        "source": SOURCE,
        "licence": "CC0-1.0",
        "sources": [
            {
                "source": SOURCE,
                "url": "https://github.com/embeddings-benchmark/results",
                "date": "2026",
                "licence": "CC0-1.0",
                "licence_uri": "https://spdx.org/licenses/CC0-1.0.html",
            }
        ],
        "built": f"by ir_std {__version__}: from tables of mean scores per dataset",
        "inputs": list(inputs),
        "datasets": {row: about for row in rows if (about := _about(row, judged))},
        "aliases": {a: row for a, row in sorted(aliases_of_rows().items()) if row in there},
        "measures": measures,
    }
    return (
        info,
        {row: judged[row][1] if row in judged else None for row in rows},
    )


SOURCE = (
    "results that models' authors and MTEB's maintainers submitted to the repository of "
    "MTEB's results, state of 2026"
)
POPULATION = (
    "models in MTEB's results whose metadata name all languages of the dataset (English, if they "
    "name none); each model counts once, broken results are left out, and the models' authors "
    "state the training data"
)


def _about(row: str, judged: Mapping[str, tuple[int, Judgments]]) -> dict[str, str | int]:
    about: dict[str, str | int] = {}
    if row in judged:
        about["queries"] = judged[row][0]
    if note := NOTES.get(row) or TASK_NOTES.get(row.partition("/")[0]):
        about["note"] = note
    return about


def benchmark_rows(known: Known, rows: set[str]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return, by benchmark and task, the set's rows and the number of the task's parts.

    A part is a split and subset that the benchmark uses. The set has no rows for parts with few
    results.
    """
    return {
        name: {
            task: {
                "rows": [
                    row
                    for split in splits
                    for subset in subsets
                    if (row := row_name(task, split, subset)) in rows
                ],
                "parts": len(splits) * len(subsets),
            }
            for task, _, subsets, splits in tasks
        }
        for name, tasks in known.benchmarks.items()
        if tasks
    }


def write_json(file: Path, content: Any) -> None:
    """Write a JSON file with one line per entry."""
    entries = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in content.items())
    file.write_text(f"{{\n{entries}\n}}\n", encoding="utf-8")


def write_left_out(file: Path, left_out: Iterable[LeftOut]) -> None:
    """Write a packed table with one line per model, reason and task."""
    rows: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for one in left_out:
        rows[one.model, one.reason, one.row.partition("/")[0]].append(one.row)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["model", "reason", "results", "rows"])
    for (model, reason, _), each in sorted(rows.items()):
        writer.writerow([model, reason, len(each), " ".join(sorted(each))])
    file.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


def overview(factors: FactorSet) -> Iterator[str]:
    """Yield lines with the numbers of models, rows, results and other contents of the set."""
    assert factors.cells
    counted = factors.cells.counted.sum(axis=1)
    n_results = int((factors.cells.arrays[MAIN] != MISSING).sum())
    yield f"rows\t{len(factors.topics)}"
    yield f"tasks\t{len({row.partition('/')[0] for row in factors.topics})}"
    yield f"models\t{len(factors.systems)}"
    yield f"results\t{n_results}, of which {counted.sum()} count"
    yield f"models per row\t{counted.min()} to {counted.max()}, median {np.median(counted):g}"
    yield f"rows with fewer than 30 models\t{int((counted < 30).sum())}"


if __name__ == "__main__":
    main()
