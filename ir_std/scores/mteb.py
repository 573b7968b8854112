"""MTEB's results: a task's scores in JSON, the data set that the task is, the model's name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from ir_std._system.files import read_bounded
from ir_std.errors import InputError, abbreviate
from ir_std.measures.names import from_mteb
from ir_std.reading import FileSource, Source
from ir_std.scores.collect import ScoreEntry, collect_scores
from ir_std.scores.run_scores import RunScores

CQADUPSTACK = (
    "android",
    "english",
    "gaming",
    "gis",
    "mathematica",
    "physics",
    "programmers",
    "stats",
    "tex",
    "unix",
    "webmasters",
    "wordpress",
)
"""The parts of CQADupstack."""

_LARGEST_META = 1 << 20


class MtebTask(NamedTuple):
    """The data set that an MTEB task is, and the split that is reported."""

    dataset: str
    split: str = "test"


_BEIR = {
    "ArguAna": MtebTask("beir/arguana"),
    "ClimateFEVER": MtebTask("beir/climate-fever"),
    "CQADupstackRetrieval": MtebTask("beir/cqadupstack"),
    **{
        f"CQADupstack{part.capitalize()}Retrieval": MtebTask(f"beir/cqadupstack/{part}")
        for part in CQADUPSTACK
    },
    "DBPedia": MtebTask("beir/dbpedia-entity/test"),
    "FEVER": MtebTask("beir/fever/test"),
    "FiQA2018": MtebTask("beir/fiqa/test"),
    "HotpotQA": MtebTask("beir/hotpotqa/test"),
    "MSMARCO": MtebTask("beir/msmarco/dev", "dev"),
    "NFCorpus": MtebTask("beir/nfcorpus/test"),
    "NQ": MtebTask("beir/nq"),
    "QuoraRetrieval": MtebTask("beir/quora/test"),
    "SCIDOCS": MtebTask("beir/scidocs"),
    "SciFact": MtebTask("beir/scifact/test"),
    "TRECCOVID": MtebTask("beir/trec-covid"),
    "Touche2020": MtebTask("beir/webis-touche2020"),
    "Touche2020Retrieval.v3": MtebTask("mteb/Touche2020Retrieval.v3"),
}
_MIRACL = {
    "MIRACLRetrieval": "miracl/{}/dev",
    "MIRACLRetrievalHardNegatives": "mteb/MIRACLRetrievalHardNegatives/{}",
}


def mteb_dataset(task: str, split: str, subset: str = "default") -> str | None:
    """The data set of a result of MTEB; None if it is not one of BEIR or MIRACL.

    Named as ir_datasets names it, if it does.

    >>> mteb_dataset("SciFact", "test")
    'beir/scifact/test'
    >>> mteb_dataset("MIRACLRetrieval", "dev", "sw")
    'miracl/sw/dev'

    Parameters
    ----------
    task, split, subset : str
        As MTEB calls them: ``"MIRACLRetrieval"``, ``"dev"``, ``"sw"``.
    """
    if task in _MIRACL:
        is_part = split == "dev" and subset not in ("", "default")
        return _MIRACL[task].format(subset) if is_part else None
    known_task = _BEIR.get(task)
    if known_task is None or split != known_task.split or subset != "default":
        return None
    return known_task.dataset


@lru_cache(maxsize=1)
def _datasets_by_name() -> dict[str, str]:
    by_name: dict[str, str] = {}
    for task, (dataset, _) in _BEIR.items():
        for prefix in ("", "beir/", "mteb/"):
            for suffix in ("", "/test", "/dev"):
                short = dataset.removeprefix(prefix).removesuffix(suffix)
                by_name.setdefault(short.lower(), dataset)
        by_name[task.lower()] = dataset
    return by_name


def find_dataset(name: str) -> str | None:
    """The data set that is called so by MTEB, BEIR or ir_datasets, in any case; None if none is.

    >>> find_dataset("ArguAna"), find_dataset("fiqa"), find_dataset("beir/nq")
    ('beir/arguana', 'beir/fiqa/test', 'beir/nq')
    """
    if re.fullmatch(r"miracl/\w+/dev|mteb/MIRACLRetrievalHardNegatives/\w+", name):
        return name
    return _datasets_by_name().get(name.strip().lower())


def is_model_meta(source: Source) -> bool:
    """Whether a file is what MTEB writes beside a model's results."""
    return isinstance(source, FileSource) and source.path.name == "model_meta.json"


def is_mteb_result(content: Any) -> bool:
    """Whether parsed JSON is a task's result."""
    return isinstance(content, dict) and (
        ("task_name" in content and isinstance(content.get("scores"), dict))
        or "mteb_dataset_name" in content
    )


def read_mteb_result(content: dict[str, Any], source: Source) -> dict[str, RunScores]:
    """The scores of one task by model: of the split and the subsets that are data sets here.

    Raises
    ------
    InputError
        If there are none of BEIR or MIRACL.
    """
    task = str(content.get("task_name") or content.get("mteb_dataset_name"))
    entries: list[ScoreEntry] = []
    subsets = []
    for split, subset, scores in _splits(content):
        subsets.append(f"{split} {subset}".removesuffix(" default"))
        dataset = mteb_dataset(task, split, subset)
        if dataset:
            entries += [
                ScoreEntry(None, "", dataset, name, str(value))
                for name, value in scores.items()
                if from_mteb(name)
            ]
    if not entries:
        raise InputError.at(
            source.name,
            None,
            f"task {task} ({abbreviate(subsets) or 'no split'})",
            "the retrieval tasks of BEIR (test, of MSMARCO dev) and MIRACL (dev) "
            "have factors: leave out others",
        )
    return {_model_name(source): collect_scores(entries, source.name, "collection")[""]}


def _splits(content: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Splits and subsets with their scores; versions before 1.11 had them side by side."""
    if isinstance(content.get("scores"), dict):
        for split, subsets in content["scores"].items():
            for scores in subsets if isinstance(subsets, list) else ():
                if isinstance(scores, dict):
                    yield split, str(scores.get("hf_subset", "default")), scores
        return
    for split, scores in content.items():
        if isinstance(scores, dict):
            yield split, "default", scores


def _model_name(source: Source) -> str:
    """The model whose results a folder holds: MTEB writes ``MODEL/REVISION/TASK.json``."""
    if not isinstance(source, FileSource):
        return source.name
    folder = source.path.absolute().parent
    try:
        meta = json.loads(read_bounded(folder / "model_meta.json", _LARGEST_META).decode())
        name = meta.get("name")
    except (ValueError, RecursionError, AttributeError):
        name = None
    if name:
        return str(name)
    revision = re.fullmatch(r"[0-9a-f]{40}|no_revision_available|external|\d", folder.name)
    return (folder.parent if revision else folder).name.replace("__", "/")
