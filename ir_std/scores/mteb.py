"""MTEB's results: a task's scores in JSON, the task's dataset, and the model's name."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ir_std._system.files import read_bounded
from ir_std.errors import InputError, abbreviate
from ir_std.measures.external import MTEB_NAMES, translated
from ir_std.reading import FileSource, Source
from ir_std.scores.run_scores import RunScores

CQADUPSTACK = (
    *("android", "english", "gaming", "gis", "mathematica", "physics"),
    *("programmers", "stats", "tex", "unix", "webmasters", "wordpress"),
)
"""Parts of CQADupstack."""

MODEL_META = "model_meta.json"
"""File in which MTEB names the model; the file is next to the model's results."""
_LARGEST_META = 1 << 20


_BEIR = {
    "ArguAna": "beir/arguana",
    "ClimateFEVER": "beir/climate-fever",
    "CQADupstackRetrieval": "beir/cqadupstack",
    **{
        f"CQADupstack{part.capitalize()}Retrieval": f"beir/cqadupstack/{part}"
        for part in CQADUPSTACK
    },
    "DBPedia": "beir/dbpedia-entity/test",
    "FEVER": "beir/fever/test",
    "FiQA2018": "beir/fiqa/test",
    "HotpotQA": "beir/hotpotqa/test",
    "MSMARCO": "beir/msmarco/dev",
    "NFCorpus": "beir/nfcorpus/test",
    "NQ": "beir/nq",
    "QuoraRetrieval": "beir/quora/test",
    "SCIDOCS": "beir/scidocs",
    "SciFact": "beir/scifact/test",
    "TRECCOVID": "beir/trec-covid",
    "Touche2020": "beir/webis-touche2020",
    "Touche2020Retrieval.v3": "mteb/Touche2020Retrieval.v3",
}
"""ir_datasets' names of the BEIR datasets, by MTEB's names of the tasks."""
_MIRACL = (
    *("ar", "bn", "de", "en", "es", "fa", "fi", "fr", "hi"),
    *("id", "ja", "ko", "ru", "sw", "te", "th", "yo", "zh"),
)
_IN_ONE_LANGUAGE = {
    "MIRACLRetrieval": "miracl/{}/dev",
    "MIRACLRetrievalHardNegatives": "mteb/MIRACLRetrievalHardNegatives/{}",
}


_OTHER_REVISIONS = {
    ("MIRACLRetrievalHardNegatives", "d7d94fa4b946cec4a27c84653aa0cf6b33f74a3c"),
    ("MLQARetrieval", "5bef8b6e2601af974fb1a1cca03fd702229be4b6"),
    ("XPQARetrieval", "fc4624be978945a0ceebbc4b85737258fe26330b"),
    ("NLPJournalTitleAbsRetrieval", "6f4b0968eb87e010bb5c4afb9d826018ff7c0458"),
    ("VidoreDocVQARetrieval", "b1d89eda849e636676df6ead8002602fb1858600"),
    ("VidoreInfoVQARetrieval", "fec9c59496ddf4a34e01ca8080515722bd3cf970"),
}
"""Pairs of a task and a revision whose data differ from those of the usual revision.

There are fewer results for these revisions than for the usual ones.  The first three revisions
have the usual number of queries, but different documents or judgments, which scores do not show.
The last three revisions have different numbers of queries, and ``scripts/build_mteb.py`` finds such
revisions from the scores of all models.  No other revision is known to have different data.
"""


def row_name(task: str, split: str, subset: str = "default", revision: str = "") -> str:
    """Return the name that the factor set uses for a dataset of MTEB.

    >>> row_name("SciFact", "test"), row_name("MIRACLRetrieval", "dev", "sw")
    ('SciFact/test', 'MIRACLRetrieval/dev/sw')

    Parameters
    ----------
    task, split, subset : str
        Names in MTEB's results.
    revision : str
        Revision of the dataset.  The returned name contains the revision only if the data of this
        revision differ from the usual data.
    """
    part = "" if subset in ("", "default") else f"/{subset}"
    other = f"@{revision[:8]}" if (task, revision) in _OTHER_REVISIONS else ""
    return f"{task}/{split}{part}{other}"


def aliases_of_rows() -> dict[str, str]:
    """Map the names of datasets in ir_datasets and BEIR to the names in the factor set."""
    rows = {
        alias: row_name(task, "dev" if alias.endswith("/dev") else "test")
        for task, alias in _BEIR.items()
    }
    for task, alias in _IN_ONE_LANGUAGE.items():
        rows |= {alias.format(part): row_name(task, "dev", part) for part in _MIRACL}
    return rows


@lru_cache(maxsize=1)
def _rows_by_name() -> dict[str, str]:
    by_name: dict[str, str] = {}
    for alias, row in aliases_of_rows().items():
        for prefix in ("", "beir/", "mteb/"):
            for suffix in ("", "/test", "/dev"):
                by_name.setdefault(alias.removeprefix(prefix).removesuffix(suffix).lower(), row)
        if "/" not in row.partition("/")[2]:
            by_name[row.partition("/")[0].lower()] = row
    return by_name


def find_dataset(name: str) -> str | None:
    """Find a dataset by its name in MTEB, BEIR or ir_datasets; None if the name is unknown.

    Upper and lower case do not matter.

    >>> find_dataset("ArguAna"), find_dataset("fiqa"), find_dataset("beir/nq")
    ('ArguAna/test', 'FiQA2018/test', 'NQ/test')
    """
    if re.fullmatch(r"[\w.-]+/(test|dev|train|validation)(/[\w.-]+)?(@[0-9a-f]{8})?", name):
        return name
    return _rows_by_name().get(name.strip().lower())


def is_model_meta(source: Source) -> bool:
    """Check whether a file is the model description that MTEB writes next to results."""
    return source.path is not None and source.path.name == MODEL_META


def is_mteb_result(content: Any) -> bool:
    """Check whether parsed JSON is a task's result from MTEB."""
    return isinstance(content, dict) and (
        ("task_name" in content and isinstance(content.get("scores"), dict))
        or "mteb_dataset_name" in content
    )


class OtherTaskError(InputError):
    """A result of a task that is neither retrieval nor reranking."""


def scores_of_objects(given: Any) -> dict[str, RunScores] | None:
    """Return scores by model from mteb's ``ModelResult`` or ``BenchmarkResults``.

    Return None for any other object.  Tasks that are neither retrieval nor reranking are left out.

    Raises
    ------
    OtherTaskError
        If no task of a model remains.
    """
    if hasattr(given, "model_results"):
        each = [scores_of_objects(model) or {} for model in given.model_results]
        return {name: scores for models in each for name, scores in models.items()}
    if not hasattr(given, "task_results"):
        return None
    from ir_std.scores.collect import collect_scores
    from ir_std.scores.tables import cells_of_table, table_of_rows

    name, rows, others = str(given.model_name), [], None
    for result in given.task_results:
        content = {field: getattr(result, field) for field in ("task_name", "scores")}
        content["dataset_revision"] = getattr(result, "dataset_revision", None)
        try:
            rows += rows_of_mteb(content, name, name)
        except OtherTaskError as other:
            others = other
    if not rows:
        raise others or OtherTaskError.at(name, "no results", "evaluate it on a task first")
    return collect_scores(cells_of_table(table_of_rows(rows, name, HEADER)))


HEADER = ("model", "dataset", "measure", "value")
"""Names of the columns of :func:`rows_of_mteb`."""


def rows_of_mteb(content: dict[str, Any], where: str, model: str) -> list[tuple[Any, ...]]:
    """Return one task's scores of a model; the task must be retrieval or reranking."""
    task = str(content.get("task_name") or content.get("mteb_dataset_name"))
    revision = str(content.get("dataset_revision") or "")
    results = list(_splits(content))
    rows: list[tuple[Any, ...]] = [
        (model, row_name(task, split, subset, revision), name, value)
        for split, subset, scores in results
        if any(map(_is_of_rankings, scores))
        for name, value in _with_main_score(scores).items()
        if translated(name, MTEB_NAMES)
    ]
    if not rows:
        splits = [row_name(task, split, subset) for split, subset, _ in results]
        raise OtherTaskError.at(
            where,
            f"task {task} ({abbreviate(splits) or 'no split'}) is neither retrieval nor reranking",
            "leave this task out (retrieval scores include ndcg_at_10, or map and mrr)",
        )
    return rows


def _with_main_score(scores: dict[str, Any]) -> dict[str, Any]:
    """Return the scores and the main score, which is AP or nDCG@10 if the result states none."""
    main = next((scores[name] for name in _MAIN if name in scores), None)
    return scores if main is None else {**scores, "main_score": main}


_MAIN = ("main_score", "map", "ndcg_at_10")


def _is_of_rankings(name: str) -> bool:
    """Check whether scores with this name exist only for retrieval and reranking tasks."""
    return name in ("map", "mrr", "p-MRR") or (
        name != "main_score" and bool(translated(name, MTEB_NAMES))
    )


def _splits(content: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield splits and subsets with their scores; MTEB before 1.11 had no subsets."""
    splits = content.get("scores")
    if not isinstance(splits, dict):
        splits = {split: [each] for split, each in content.items() if isinstance(each, dict)}
    for split, subsets in splits.items():
        for scores in subsets if isinstance(subsets, list) else ():
            if isinstance(scores, dict):
                yield split, str(scores.get("hf_subset", "default")), scores


def model_name(source: Source) -> str:
    """Return the model's name from a path, which MTEB writes as ``MODEL/REVISION/TASK.json``."""
    if not isinstance(source, FileSource):
        return source.name
    folder = source.path.absolute().parent
    try:
        meta = json.loads(read_bounded(folder / MODEL_META, _LARGEST_META).decode())
        name = meta.get("name")
    except (ValueError, RecursionError, AttributeError):
        name = None
    if name:
        return str(name)
    revision = re.fullmatch(r"[0-9a-f]{40}|no_revision_available|external|\d", folder.name)
    return (folder.parent if revision else folder).name.replace("__", "/")
