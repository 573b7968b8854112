"""The tracks whose factor sets are shipped: one table that the scripts share."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ir_std.factors.judgments import Judgments, judgments_of
from ir_std.trec.files import read_qrels
from ir_std.trec.qrels import DictQrels

NEWSWIRE = r"[A-Z]{2,6}\d+[A-Z]?-[-\dA-Z]+"
WT10G = r"WTX\d{3}-B\d+-\d+"
GOV = r"G\d\d-\d\d-\d+"
GOV2 = r"GX\d{3}-\d\d-\d+"
AQUAINT = r"[A-Z]{3}\d{8}\.\d{4}"
CLUEWEB09 = r"clueweb09-\w+-\d\d-\d{5}"
CLUEWEB12 = r"clueweb12-\w+-\d\d-\d{5}"
MSMARCO = r"\d{1,7}"
MSMARCO2 = r"msmarco_passage_\d\d_\d+"
CORD19 = r"[a-z0-9]{8}"

# What each track reports, as far as there are factors: the published nDCG has binary gains.
ADHOC = ("AP", "nDCG", "P@10", "RR", "Rprec")
BINARY = ("AP", "nDCG(rel=1)", "P@10", "RR", "Rprec")
WEB = ("ERR@20", "nDCG(dcg='exp-log2')@20", "P@20", "AP")
DEEP = ("nDCG@10", "nDCG@100", "AP(rel=2)", "RR(rel=2)", "P(rel=2)@10", "R(rel=2)@100")
DEEP_LEVEL1 = ("nDCG@10", "nDCG@100", "AP", "RR", "P@10")
COVID1 = ("nDCG@10", "P@5", "AP", "Bpref", "RBP(p=0.5)")
COVID5 = ("nDCG@20", "P@20", "AP", "Bpref", "RBP(p=0.5)")


@dataclass(frozen=True)
class Origin:
    """Where scores come from: their source, its licence, and the depth of the runs if known."""

    source: str
    licence: str
    depth: int | None = None


PUBLISHED = Origin(
    "W. Webber, A. Moffat, J. Zobel, Score standardization for inter-collection comparison of "
    "retrieval systems, SIGIR 2008; Standardization Factors for IR Test Collections, University "
    "of Melbourne", "not stated", 1000)
RUNS = Origin("the runs that were submitted to the track, evaluated by ir_std with NIST's "
              "relevance judgments", "MIT")
GT4IREVAL = Origin("J. Urbano, gt4ireval", "MIT", 1000)
SIGIR2019 = Origin(
    "J. Urbano, H. Lima, A. Hanjalic, Statistical significance testing in information retrieval: "
    "an empirical analysis of type I, type II and type III errors, SIGIR 2019",
    "CC BY-SA 4.0", 1000)
IRJ2016 = Origin(
    "J. Urbano, Test collection reliability: a study of the effects of sample size and "
    "statistical assumptions, Information Retrieval Journal 2016", "CC BY-SA 4.0", 1000)
ROBUST04 = Origin(
    "J. Urbano, T. Nagler, Stochastic simulation of test collections: evaluation scores, SIGIR "
    "2018; J. Urbano, H. Lima, A. Hanjalic, SIGIR 2019", "CC BY-SA 4.0", 1000)
SOBOROFF = Origin("I. Soboroff, per-topic trec_eval output of the submitted runs", "not stated",
                  1000)
TERABYTE = Origin(
    "J. Urbano, H. Lima, A. Hanjalic, A new perspective on score standardization, SIGIR 2019: "
    "the automatic runs of 2006", "CC BY-SA 4.0")
SIGIR2018 = Origin(
    "J. Urbano, T. Nagler, Stochastic simulation of test collections: evaluation scores, SIGIR "
    "2018", "CC BY-SA 4.0")
SYNDL = Origin("SynDL: per-topic trec_eval output of all submitted runs", "MIT", 100)


@dataclass(frozen=True)
class Track:
    """One collection: how it is called and recognized, and what is known of its systems.

    Attributes
    ----------
    stem : str
        The published files' name, if there are any, and ``systems`` their number of systems: the
        smallest n for which n * mean of P@10 is whole on every topic.
    tables : Origin or None
        Of the score tables, if there are any.
    runs : bool
        Whether the runs themselves are known.
    max_level : int or None
        The highest relevance level of the judgments, where a measure has graded gains.
    """

    title: str
    doc_id_pattern: str
    datasets: tuple[str, ...]
    default_measures: tuple[str, ...]
    stem: str = ""
    systems: int = 0
    tables: Origin | None = None
    runs: bool = False
    max_level: int | None = None

    def info(self, name: str) -> dict[str, Any]:
        """The fields of ``set.json`` that describe the collection."""
        return {"id": name, "title": self.title, "track": self.title.split(" ad hoc")[0],
                "doc_id_pattern": self.doc_id_pattern, "ir_datasets": list(self.datasets),
                "default_measures": list(self.default_measures), "max_level": self.max_level}


TRACKS: dict[str, Track] = {
    "trec3-adhoc": Track("TREC-3 ad hoc", NEWSWIRE, (), BINARY, "trec3.adhoc", 40, GT4IREVAL),
    "trec4-adhoc": Track("TREC-4 ad hoc", NEWSWIRE, (), BINARY, "trec4.adhoc", 33),
    "trec5-adhoc": Track("TREC-5 ad hoc", NEWSWIRE, (), BINARY, "trec5.adhoc", 61, SIGIR2019),
    "trec6-adhoc": Track("TREC-6 ad hoc", NEWSWIRE, (), BINARY, "trec6.adhoc", 74, SIGIR2019),
    "trec7-adhoc": Track("TREC-7 ad hoc", NEWSWIRE, ("disks45/nocr/trec7",), BINARY,
                         "trec7.adhoc", 103, SIGIR2019),
    "trec8-adhoc": Track("TREC-8 ad hoc", NEWSWIRE, ("disks45/nocr/trec8",), ADHOC,
                         "trec8.adhoc", 129, runs=True, max_level=1),
    "trec9-web": Track("TREC-9 Web", WT10G, (), BINARY, "trec9.web", 105),
    "trec2001-web": Track("TREC 2001 Web ad hoc", WT10G, (), BINARY, "trec2001.web", 97),
    "trec2002-web": Track("TREC 2002 Web topic distillation", GOV, ("gov/trec-web-2002",), BINARY,
                          "trec2002.web", 71),
    "trec2003-web": Track("TREC 2003 Web topic distillation", GOV, ("gov/trec-web-2003",), BINARY,
                          "trec2003.web", 93),
    "trec2004-web": Track("TREC 2004 Web mixed query", GOV, ("gov/trec-web-2004",), BINARY,
                          "trec2004.web", 74),
    "robust03": Track("TREC 2003 Robust", NEWSWIRE, (), BINARY, "trec2003.rob", 78, IRJ2016),
    "robust04": Track("TREC 2004 Robust", NEWSWIRE,
                      ("disks45/nocr/trec-robust-2004", "trec-robust04"), BINARY,
                      "trec2004.rob", 110, ROBUST04, max_level=2),
    "robust05": Track("TREC 2005 Robust", AQUAINT, ("aquaint/trec-robust-2005",), BINARY,
                      "trec2005.rob", 74, SOBOROFF),
    "terabyte04": Track("TREC 2004 Terabyte ad hoc", GOV2, ("gov2/trec-tb-2004",), BINARY,
                        "trec2004.tb", 70),
    "terabyte05": Track("TREC 2005 Terabyte ad hoc", GOV2, ("gov2/trec-tb-2005",), BINARY,
                        "trec2005.tb", 58),
    "terabyte06": Track("TREC 2006 Terabyte ad hoc", GOV2, ("gov2/trec-tb-2006",), BINARY,
                        "trec2006.tb.adhoc", 80),
    "terabyte04-06": Track("TREC 2004 to 2006 Terabyte ad hoc", GOV2, (), ("AP", "nDCG"),
                           tables=TERABYTE, max_level=2),
    "web10": Track("TREC 2010 Web ad hoc", CLUEWEB09, ("clueweb09/en/trec-web-2010",), WEB,
                   tables=SIGIR2018, max_level=3),
    "web11": Track("TREC 2011 Web ad hoc", CLUEWEB09, ("clueweb09/en/trec-web-2011",), WEB,
                   tables=SIGIR2018, max_level=3),
    "web12": Track("TREC 2012 Web ad hoc", CLUEWEB09, ("clueweb09/en/trec-web-2012",), WEB,
                   tables=SIGIR2018, max_level=4),
    "web13": Track("TREC 2013 Web ad hoc", CLUEWEB12, ("clueweb12/trec-web-2013",), WEB,
                   tables=SIGIR2018, max_level=4),
    "web14": Track("TREC 2014 Web ad hoc", CLUEWEB12, ("clueweb12/trec-web-2014",), WEB,
                   tables=SIGIR2018, max_level=4),
    "dl19-passage": Track("TREC 2019 Deep Learning passage ranking", MSMARCO,
                          ("msmarco-passage/trec-dl-2019", "msmarco-passage/trec-dl-2019/judged"),
                          DEEP, runs=True, max_level=3),
    "dl20-passage": Track("TREC 2020 Deep Learning passage ranking", MSMARCO,
                          ("msmarco-passage/trec-dl-2020", "msmarco-passage/trec-dl-2020/judged"),
                          DEEP, runs=True, max_level=3),
    "dl21-passage": Track("TREC 2021 Deep Learning passage ranking", MSMARCO2,
                          ("msmarco-passage-v2/trec-dl-2021",
                           "msmarco-passage-v2/trec-dl-2021/judged"), DEEP, runs=True, max_level=3),
    "dl22-passage": Track("TREC 2022 Deep Learning passage ranking", MSMARCO2,
                          ("msmarco-passage-v2/trec-dl-2022",
                           "msmarco-passage-v2/trec-dl-2022/judged"), DEEP_LEVEL1, tables=SYNDL,
                          max_level=3),
    "dl23-passage": Track("TREC 2023 Deep Learning passage ranking", MSMARCO2,
                          ("msmarco-passage-v2/trec-dl-2023",
                           "msmarco-passage-v2/trec-dl-2023/judged"), DEEP_LEVEL1, tables=SYNDL,
                          max_level=3),
    "covid-round1": Track("TREC-COVID round 1", CORD19, ("cord19/trec-covid/round1",), COVID1,
                          runs=True, max_level=2),
    "covid-round5": Track("TREC-COVID round 5, residual", CORD19, ("cord19/trec-covid/round5",),
                          COVID5, runs=True, max_level=2),
}


FIRST_OF_ROBUST = ("trec6-adhoc", "trec7-adhoc", "trec8-adhoc")
QRELS = {"trec9-web": ("wt10g",), "trec2001-web": ("wt10g",), "robust03": FIRST_OF_ROBUST,
         "robust04": FIRST_OF_ROBUST,
         "terabyte04-06": ("terabyte04", "terabyte05", "terabyte06")}
"""The files of a set's judgments, where they are not called as the set is."""

WITHOUT = {"robust03": "CR", "robust04": "CR"}
"""What the ids of documents begin with that the track left out: the Congressional Record."""

DEEPEST = 1000
"""Numbers of relevant documents that were recovered from ideal scores end here."""


def judged_topics(name: str, data: Path) -> dict[str, Judgments]:
    """A set's topics and what is known of their judgments.

    Levels and fingerprints are those of the qrels at hand, on the topics whose number of relevant
    documents is the one behind the factors.
    """
    found: dict[str, Judgments] = {}
    for file in QRELS.get(name, (name,)):
        if (data / "qrels" / f"{file}.txt").is_file():
            judged = read_qrels(data / "qrels" / f"{file}.txt").judged
            found |= judgments_of(DictQrels({topic: {
                doc: level for doc, level in docs.items()
                if name not in WITHOUT or not doc.startswith(WITHOUT[name])}
                for topic, docs in judged.items()}))
    with open(data / "topics" / f"{name}.csv", encoding="utf-8", newline="") as text:
        counts = {r["topic"]: int(r["n_rel"]) if r["n_rel"] else None
                  for r in csv.DictReader(text)}
    return {topic: found[topic] if topic in found and _same(n, found[topic].n_rel)
            else Judgments(n) for topic, n in counts.items()}


def _same(recovered: int | None, judged: int | None) -> bool:
    return recovered == judged or (recovered == DEEPEST and (judged or 0) > DEEPEST)
