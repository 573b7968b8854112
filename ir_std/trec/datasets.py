"""What data sets are called: MTEB's tasks by their ir_datasets ids."""

from __future__ import annotations

from typing import NamedTuple

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


class Task(NamedTuple):
    """The data set that an MTEB task is, and the split that is reported."""

    dataset: str
    split: str = "test"


_BEIR = {
    "ArguAna": Task("beir/arguana"),
    "ClimateFEVER": Task("beir/climate-fever"),
    "CQADupstackRetrieval": Task("beir/cqadupstack"),
    **{
        f"CQADupstack{part.capitalize()}Retrieval": Task(f"beir/cqadupstack/{part}")
        for part in CQADUPSTACK
    },
    "DBPedia": Task("beir/dbpedia-entity/test"),
    "FEVER": Task("beir/fever/test"),
    "FiQA2018": Task("beir/fiqa/test"),
    "HotpotQA": Task("beir/hotpotqa/test"),
    "MSMARCO": Task("beir/msmarco/dev", "dev"),
    "NFCorpus": Task("beir/nfcorpus/test"),
    "NQ": Task("beir/nq"),
    "QuoraRetrieval": Task("beir/quora/test"),
    "SCIDOCS": Task("beir/scidocs"),
    "SciFact": Task("beir/scifact/test"),
    "TRECCOVID": Task("beir/trec-covid"),
    "Touche2020": Task("beir/webis-touche2020"),
    "Touche2020Retrieval.v3": Task("mteb/Touche2020Retrieval.v3"),
}
_MIRACL = {
    "MIRACLRetrieval": "miracl/{}/dev",
    "MIRACLRetrievalHardNegatives": "mteb/MIRACLRetrievalHardNegatives/{}",
}


def dataset_of(task: str, split: str, subset: str = "default") -> str | None:
    """The data set of a result of MTEB; None if it is not one of BEIR or MIRACL.

    Named as ir_datasets names it, if it does.

    >>> dataset_of("SciFact", "test")
    'beir/scifact/test'
    >>> dataset_of("MIRACLRetrieval", "dev", "sw")
    'miracl/sw/dev'

    Parameters
    ----------
    task, split, subset : str
        As MTEB calls them: ``"MIRACLRetrieval"``, ``"dev"``, ``"sw"``.
    """
    if task in _MIRACL:
        known = split == "dev" and subset not in ("", "default")
        return _MIRACL[task].format(subset) if known else None
    found = _BEIR.get(task)
    return found.dataset if found and split == found.split and subset == "default" else None
