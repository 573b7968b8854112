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
        known = split == "dev" and subset not in ("", "default")
        return _MIRACL[task].format(subset) if known else None
    found = _BEIR.get(task)
    return found.dataset if found and split == found.split and subset == "default" else None
