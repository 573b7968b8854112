"""The tracks whose factor sets are shipped: one table that the scripts share."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ir_std.factors.judgments import Judgments, judgments_of
from ir_std.trec.files import read_qrels
from ir_std.trec.qrels import DictQrels

NEWSWIRE = r"[A-Z]{2,6}\d+[A-Z]?-[-\dA-Z]+"
WT10G = r"WTX\d{3}-B\d+-\d+"
GOV = r"G\d\d-\d\d-\d+"
GOV2 = r"GX\d{3}-\d\d-\d+"
BLOG = r"BLOG06-\d{8}-\d{3}-\d{10}"
AQUAINT = r"[A-Z]{3}\d{8}\.\d{4}"
CLUEWEB09 = r"clueweb09-\w+-\d\d-\d{5}"
CLUEWEB12 = r"clueweb12-\w+-\d\d-\d{5}"
MSMARCO = r"\d{1,7}"
MSMARCO2 = r"msmarco_passage_\d\d_\d+"
CORD19 = r"[a-z0-9]{8}"

# What each track reports, as far as there are factors: the published nDCG has binary gains.  RR is
# in none: wherever scores are known, a third of the systems or more tie at the top of a topic.
ADHOC = ("AP", "nDCG", "P@10", "Rprec")
BINARY = ("AP", "nDCG(rel=1)", "P@10", "Rprec")
WEB = ("ERR@20", "nDCG(dcg='exp-log2')@20", "P@20", "AP")
DEEP = ("nDCG@10", "nDCG@100", "AP(rel=2)", "P(rel=2)@10", "R(rel=2)@100")
# Without AP: on about half of the topics more passages are relevant than the systems gave.
DEEP_SHALLOW = ("nDCG@10", "nDCG@100", "P(rel=2)@10", "R(rel=2)@100")
# Nor with recall: half of these systems find all that is relevant in their first hundred.
DEEP_MODERN = ("nDCG@10", "nDCG@100", "P(rel=2)@10")
DEEP_LEVEL1 = ("nDCG@10", "nDCG@100", "P@10", "R@100")
DEEP_TABLES = ("nDCG@10", "nDCG@100", "P@10")
COVID = ("nDCG@10", "P@5", "AP", "Bpref", "RBP(p=0.5)")
COVID_LATE = ("nDCG@20", "P@20", "AP", "Bpref", "RBP(p=0.5)")


@dataclass(frozen=True)
class Origin:
    """Where scores come from.

    Attributes
    ----------
    source : str
        The citation.
    url, date : str
        Where it is, and the date of what was taken from there.
    licence, licence_uri : str
        SPDX's name where there is one; ``not stated`` where the source states none, and
        ``not checked`` where nobody looked.
    attribution : str
        What the licence asks for beside the source.
    depth : int or None
        The depth of the runs behind the scores, if known.
    """

    source: str
    url: str
    date: str
    licence: str
    licence_uri: str = ""
    attribution: str = ""
    depth: int | None = None

    def record(self) -> dict[str, str]:
        """Its entry under ``sources`` in ``set.json``."""
        return {
            field: value
            for field in ("source", "url", "date", "licence", "licence_uri", "attribution")
            if (value := getattr(self, field))
        }


NOT_STATED, NOT_CHECKED = "not stated", "not checked"
MIT_URI = "https://spdx.org/licenses/MIT.html"
BY_SA_URI = "https://creativecommons.org/licenses/by-sa/4.0/"
ANONYMIZED = (
    'J. Urbano: "The TREC results in `data/` are anonymized and posted here with '
    "permission from the organizers. Databases and their contents are distributed under "
    "the terms of the Creative Commons Attribution-ShareAlike 4.0 International "
    'License." Changed by ir_std: means and deviations were computed, and scores sorted'
)


def urbano(source: str, repository: str, date: str, depth: int | None = 1000) -> Origin:
    """A repository of J. Urbano's; they all have the same licence."""
    return Origin(
        source,
        f"https://github.com/julian-urbano/{repository}",
        date,
        "CC-BY-SA-4.0",
        BY_SA_URI,
        ANONYMIZED,
        depth,
    )


PUBLISHED = Origin(
    "W. Webber, A. Moffat, J. Zobel, Score standardization for inter-collection comparison of "
    "retrieval systems, SIGIR 2008, 51-58; Standardization Factors for IR Test Collections, "
    "University of Melbourne",
    "https://people.eng.unimelb.edu.au/ammoffat/ir_eval/",
    "2008",
    NOT_CHECKED,
    depth=1000,
)
OWN_STATISTICS = (
    "Statistics computed by ir_std; the runs belong to their participants and are not included"
)
RUNS = Origin(
    "the runs that were submitted to the track, evaluated by ir_std with NIST's "
    "relevance judgments",
    "https://trec.nist.gov",
    "{year}",
    "MIT",
    MIT_URI,
    OWN_STATISTICS,
)
MODERN_RUNS = Origin(
    "the runs of A. Parry, M. Fröbe, H. Scells, F. Schlatt, G. Faggioli, S. Zerhoudi, "
    "S. MacAvaney, E. Yang, Variations in relevance judgments and the shelf life of test "
    "collections, SIGIR "
    "2025 (arXiv 2502.20937), evaluated by ir_std with NIST's relevance judgments",
    "https://github.com/Parry-Parry/sigir25-annotation",
    "2025",
    "MIT",
    MIT_URI,
    f"{OWN_STATISTICS}, and their repository states no licence",
)
GT4IREVAL = Origin(
    "J. Urbano, gt4ireval, data set adhoc3; J. Urbano, M. Marrero, D. Martín, On the measurement "
    "of test collection reliability, SIGIR 2013, 393-402",
    "https://github.com/julian-urbano/gt4ireval",
    "2017-08-27",
    "MIT",
    MIT_URI,
    "Copyright (c) 2017 Julián Urbano",
    1000,
)
SIGIR2019 = urbano(
    "J. Urbano, H. Lima, A. Hanjalic, Statistical significance testing in information retrieval: "
    "an empirical analysis of type I, type II and type III errors, SIGIR 2019, 505-514",
    "sigir2019-statistical",
    "2019-08-06",
)
IRJ2016 = urbano(
    "J. Urbano, Test collection reliability: a study of the effects of sample size and "
    "statistical assumptions, Information Retrieval Journal 19(3), 313-350, 2016",
    "irj2015-reliability",
    "2019-05-20",
)
SIGIR2018 = urbano(
    "J. Urbano, T. Nagler, Stochastic simulation of test collections: evaluation scores, SIGIR "
    "2018, 695-704",
    "sigir2018-simulation",
    "2018-08-24",
    None,
)
ROBUST04 = replace(SIGIR2018, depth=1000)
DEEP_TERABYTE = 10_000
"""What the Terabyte track's guidelines ask for; most runs have as many documents."""
STANDARDIZATION = urbano(
    "J. Urbano, H. Lima, A. Hanjalic, A new perspective on score standardization, SIGIR 2019, "
    "1061-1064",
    "sigir2019-standardization",
    "2019-07-25",
)
CONFINT = Origin(
    "I. Soboroff, Computing confidence intervals for common IR measures, EVIA 2014: per-topic "
    "trec_eval output of the submitted runs",
    "https://github.com/isoboroff/confint",
    "2014",
    NOT_STATED,
    depth=1000,
)
BLOGS = Origin(
    "I. Soboroff, Meta-analysis for retrieval experiments involving multiple test collections, "
    "CIKM 2018: per-topic AP of the submitted runs",
    "https://github.com/isoboroff/meta-analysis",
    "2018-10-17",
    NOT_STATED,
    depth=1000,
)
NTCIR = Origin(
    "the official per-topic tables of NTCIR-13 We Want Web (MSnDCG@0010, Q@0010, nERR@0010), in "
    "the repository of L. Gallagher, J. Mackenzie, R. Benham, R.-C. Chen, F. Scholer, J. S. "
    "Culpepper, RMIT at the NTCIR-13 We Want Web task, 2017",
    "https://github.com/rmit-ir/ntcir13-www",
    "2017-12-27",
    NOT_STATED,
)
SYNDL = Origin(
    "H. A. Rahmani, X. Wang, E. Yilmaz, N. Craswell, B. Mitra, P. Thomas, SynDL: a large-scale "
    "synthetic test collection for passage retrieval, arXiv 2408.16312, 2024: per-topic trec_eval "
    "output of all submitted runs with NIST's relevance judgments",
    "https://github.com/rahmanidashti/SynDL",
    "2025-01-25",
    "MIT",
    MIT_URI,
    "MIT by a badge of the repository's README and the licence file of its website (docs/LICENSE: "
    "Copyright (c) 2023 LLMJudge-Benchmark); none beside the data",
    100,
)
UMBRELA = {
    "name": "UMBRELA",
    "model": "GPT-4",
    "prompt": "UMBRELA, zero-shot, levels 0 to 3 (S. Upadhyay, R. Pradeep, N. Thakur, N. Craswell, "
    "J. Lin, arXiv 2406.06519, 2024)",
    "source": "N. Arabzadeh, C. L. A. Clarke, Benchmarking LLM-based relevance judgment methods, "
    "SIGIR 2025: labels of all documents that NIST judged",
}
UMBRELA_RUNS = Origin(
    "the runs that were submitted to the track, evaluated by ir_std with GPT-4's labels by "
    f"UMBRELA's prompt: {UMBRELA['source']}",
    "https://github.com/Narabzad/llm-relevance-judgement-comparison",
    "2025",
    NOT_STATED,
    attribution=OWN_STATISTICS,
)
BIAS = Origin(
    "H. A. Rahmani, V. Ramineni, E. Yilmaz, N. Craswell, B. Mitra, Towards understanding bias in "
    "synthetic data for evaluation, arXiv 2506.10301, 2025: per-topic trec_eval output of all "
    "submitted runs with GPT-4's labels",
    "https://github.com/rahmanidashti/BiasSyntheticData",
    "2025",
    NOT_STATED,
    depth=100,
)
GPT4 = {
    "name": "GPT-4",
    "model": "GPT-4",
    "prompt": "levels 0 to 3, as described in arXiv 2506.10301",
    "source": BIAS.source.partition(": per-topic")[0],
}


@dataclass(frozen=True)
class Track:
    """One collection: how it is called and recognized, and what is known of its systems.

    Attributes
    ----------
    year : int
        When the systems ran.
    notes : tuple of str
        What is known against the set, beside what :mod:`ir_std.factors.quality` computes.
    stem : str
        The published files' name, if there are any, and ``systems`` their number of systems: the
        smallest n for which n * mean of P@10 is whole on every topic.
    tables, more : Origin or None
        Of the tables in ``scores`` and in ``more-scores``, if there are any, which are read for
        measures that the former lack; ``others`` has the measures from elsewhere.
    runs : Origin or None
        Of the runs, if they are known.
    max_level : int or None
        The highest relevance level of the judgments, where a measure has graded gains.
    depth : int or None
        Runs are cut there, where most of them end.
    beside : str
        The track whose collection this is, if these are not its own systems but ``population``.
    earlier : tuple of str
        The sets of earlier rounds, whose judged documents are not in the runs.
    judge : mapping of str to str
        The language model whose labels these are; people's if empty.
    same_topics_as : str
        The track whose topics and systems these are, if its labels are others.
    no_dataset : str
        Why no id of ir_datasets is the set's, if none is.
    """

    title: str
    year: int
    doc_id_pattern: str
    datasets: tuple[str, ...]
    default_measures: tuple[str, ...]
    stem: str = ""
    systems: int = 0
    tables: Origin | None = None
    others: Mapping[str, Origin] = field(default_factory=dict)
    runs: Origin | None = None
    more: Origin | None = None
    max_level: int | None = None
    depth: int | None = None
    notes: tuple[str, ...] = ()
    beside: str = ""
    population: str = ""
    earlier: tuple[str, ...] = ()
    judge: Mapping[str, str] = field(default_factory=dict)
    same_topics_as: str = ""
    no_dataset: str = ""

    def info(self, name: str) -> dict[str, Any]:
        """The fields of ``set.json`` that describe the collection."""
        info = {
            "id": name,
            "title": self.title,
            "track": self.title.split(" ad hoc")[0],
            "year": self.year,
            "doc_id_pattern": self.doc_id_pattern,
            "ir_datasets": list(self.datasets),
            "beside": self.beside,
            "population": self.population,
            "kind": "judge" if self.judge else "",
            "judge": dict(self.judge),
            "same_topics_as": self.same_topics_as,
            "default_measures": list(self.default_measures),
            "max_level": self.max_level,
            "notes": [*self.notes, *PUBLISHED_NOTES * bool(self.stem and not self.runs)],
        }
        return {key: value for key, value in info.items() if value not in ("", {})}


PUBLISHED_NOTES = (
    "The published RBP(p=0.8,rel=1) follows the order of lines in the run files, not the scores: "
    "on TREC-8, where all runs are at hand, the mean z of a run is off by up to 0.06, on a single "
    "topic by up to 0.46.",
    "The published AP was rounded to 4 decimals before it was averaged.",
)
NAMED = (
    "{named} of the {systems} systems are named: those whose AP on {topics} topics is that of "
    "exactly one run in I. Soboroff's github.com/isoboroff/confint."
)
NO_BLOG06 = "ir_datasets does not have the BLOG06 collection"
NO_WT10G = "ir_datasets does not have the WT10g collection"
NO_ADHOC = "of the ad hoc tracks on these disks ir_datasets has TREC-7, TREC-8 and Robust 2004"
OTHER_LABELS = "ids of ir_datasets stand for the labels of people"
TERABYTE_DEPTH = (
    "the track's guidelines (trec.nist.gov/data/terabyte/04/04.guidelines.html) ask for 10,000 "
    "documents a topic"
)
TERABYTE_NOTE = (
    "The published AP comes from deeper runs than the other measures: it is above SP divided by "
    f"the number of relevant documents on every topic. For AP, {TERABYTE_DEPTH}; the others are "
    "taken to end at 1,000."
)
WEB_NOTE = (
    "Runs of the ad hoc and of the diversity task together: {pairs} pairs of them have identical "
    "scores in all measures. With one of each, the sd of AP changes by up to {change}% on a topic."
)
RESIDUAL = (
    "Residual: the judgments are those of this round alone, and documents judged in earlier rounds "
    "are not in the runs. Evaluate runs without these (--residual), with this round's judgments."
)
COVID_ROUNDS = tuple(f"covid-round{number}" for number in range(1, 6))
FEEDBACK = (
    "From round 2 on systems could learn from the judgments of earlier rounds on the same topics."
)
LEVEL1 = (
    "Binary measures take level 1 as relevant, as the source evaluated; the track itself takes "
    "level 2. On level 1 they are comparable with those of dl19-passage to dl21-passage."
)
JUDGED_BY_GPT4 = (
    "Labels of GPT-4 on the documents that people judged: on {same}% of them they are the "
    "people's, and {lenient} documents are at level 1 or above for {people}. A score of 0.5 is "
    "near that of the track's average system under these labels.",
    "Only these very labels are recognized: those of another run of the model differ. For them "
    "name this set, or build one from your labels (ir_std build --judge).",
)
MODERN = (
    "Not systems that were submitted to the track, nor a sample of such, but 24 runs of one study "
    "(github.com/Parry-Parry/sigir25-annotation, no licence stated) on two lists: fifteen order "
    "the {pool} documents a topic of what its README calls the initial BM25 run of TIREx, six of "
    "them all (colbert, splade, mono-t5-base, mono-t5-3b, rank-zephyr, tirex_rankzephyr), nine "
    "about a hundred; the other nine, whose names begin with colbert_, another list of a hundred, "
    "on {same} of {topics} topics the same documents. By nDCG@10 their mean is {modern}, that of "
    "the track's own systems {own}; and they are alike: on the median topic they spread by "
    "{narrow} instead of {wide}.",
    "All runs were cut to 100 documents a topic, where most of them end.",
)


KINDS = (
    "31 of the 82 topics are synthetic queries, 13 by T5 and 18 by GPT-4 (topic_kinds says which): "
    "the systems' mean {measure} is {people} on the topics of people, {t5} on T5's and {gpt4} on "
    "GPT-4's. Factors are a topic's own, so that those of one kind are there for qrels of that "
    "kind alone."
)


def modern(year: int, beside: str, **figures: str) -> Track:
    """A passage task of ``year`` by the systems of later years, with what is known against it."""
    return Track(
        f"TREC {year} Deep Learning passage ranking, systems of 2020 to 2024",
        2024,
        MSMARCO,
        (),
        DEEP_MODERN,
        runs=MODERN_RUNS,
        max_level=3,
        depth=100,
        beside=beside,
        population="modern",
        no_dataset="ids of ir_datasets stand for the set of the track's own systems",
        notes=tuple(sentence.format(**figures) for sentence in MODERN),
    )


def judged_by_gpt4(same: int, lenient: str, people: str) -> tuple[str, ...]:
    """What is known against a set of labels of GPT-4."""
    return tuple(
        sentence.format(same=same, lenient=lenient, people=people) for sentence in JUDGED_BY_GPT4
    )


TRACKS: dict[str, Track] = {
    "trec3-adhoc": Track(
        "TREC-3 ad hoc",
        1994,
        NEWSWIRE,
        (),
        BINARY,
        "trec3.adhoc",
        40,
        GT4IREVAL,
        no_dataset=NO_ADHOC,
    ),
    "trec4-adhoc": Track(
        "TREC-4 ad hoc", 1995, NEWSWIRE, (), BINARY, "trec4.adhoc", 33, no_dataset=NO_ADHOC
    ),
    "trec5-adhoc": Track(
        "TREC-5 ad hoc",
        1996,
        NEWSWIRE,
        (),
        BINARY,
        "trec5.adhoc",
        61,
        SIGIR2019,
        no_dataset=NO_ADHOC,
    ),
    "trec6-adhoc": Track(
        "TREC-6 ad hoc",
        1997,
        NEWSWIRE,
        (),
        BINARY,
        "trec6.adhoc",
        74,
        SIGIR2019,
        no_dataset=NO_ADHOC,
    ),
    "trec7-adhoc": Track(
        "TREC-7 ad hoc",
        1998,
        NEWSWIRE,
        ("disks45/nocr/trec7",),
        BINARY,
        "trec7.adhoc",
        103,
        SIGIR2019,
    ),
    "trec8-adhoc": Track(
        "TREC-8 ad hoc",
        1999,
        NEWSWIRE,
        ("disks45/nocr/trec8",),
        ADHOC,
        "trec8.adhoc",
        129,
        runs=RUNS,
        max_level=1,
    ),
    "trec9-web": Track(
        "TREC-9 Web", 2000, WT10G, (), BINARY, "trec9.web", 105, no_dataset=NO_WT10G
    ),
    "trec2001-web": Track(
        "TREC 2001 Web ad hoc", 2001, WT10G, (), BINARY, "trec2001.web", 97, no_dataset=NO_WT10G
    ),
    "trec2002-web": Track(
        "TREC 2002 Web topic distillation",
        2002,
        GOV,
        ("gov/trec-web-2002",),
        BINARY,
        "trec2002.web",
        71,
    ),
    "trec2003-web": Track(
        "TREC 2003 Web topic distillation",
        2003,
        GOV,
        ("gov/trec-web-2003",),
        BINARY,
        "trec2003.web",
        93,
    ),
    "trec2004-web": Track(
        "TREC 2004 Web mixed query", 2004, GOV, ("gov/trec-web-2004",), BINARY, "trec2004.web", 74
    ),
    "robust03": Track(
        "TREC 2003 Robust",
        2003,
        NEWSWIRE,
        (),
        BINARY,
        "trec2003.rob",
        78,
        IRJ2016,
        no_dataset="its topics are among those of disks45/nocr/trec-robust-2004",
        notes=(
            "Fifty of the hundred topics had been used in TREC-6 to 8: their "
            "judgments were there to train on.",
        ),
    ),
    "robust04": Track(
        "TREC 2004 Robust",
        2004,
        NEWSWIRE,
        ("disks45/nocr/trec-robust-2004", "trec-robust04"),
        BINARY,
        "trec2004.rob",
        110,
        ROBUST04,
        {"nDCG": replace(STANDARDIZATION, depth=1000)},  # as deep as the track allowed
        max_level=2,
        notes=(
            "nDCG (graded) is known on 99 of the 249 topics: 601 to 700.",
            "Topics before 651 had been used in TREC-6 to 8 and Robust 2003: "
            "their judgments were there to train on.",
            NAMED.format(named=81, systems=110, topics=100),
        ),
    ),
    "robust05": Track(
        "TREC 2005 Robust",
        2005,
        AQUAINT,
        ("aquaint/trec-robust-2005",),
        BINARY,
        "trec2005.rob",
        74,
        CONFINT,
        notes=(
            "The topics are old ones, on other documents: judgments of the same "
            "topics on disks 4 and 5 were there to train on.",
        ),
    ),
    "terabyte04": Track(
        "TREC 2004 Terabyte ad hoc",
        2004,
        GOV2,
        ("gov2/trec-tb-2004",),
        BINARY,
        "trec2004.tb",
        70,
        notes=(TERABYTE_NOTE,),
    ),
    "terabyte05": Track(
        "TREC 2005 Terabyte ad hoc",
        2005,
        GOV2,
        ("gov2/trec-tb-2005",),
        BINARY,
        "trec2005.tb",
        58,
        notes=(
            TERABYTE_NOTE,
            "Today's judgments differ from those behind the factors on 29 of the 50 topics.",
        ),
    ),
    "terabyte06": Track(
        "TREC 2006 Terabyte ad hoc",
        2006,
        GOV2,
        ("gov2/trec-tb-2006",),
        BINARY,
        "trec2006.tb.adhoc",
        80,
        notes=(TERABYTE_NOTE,),
    ),
    "terabyte04-06": Track(
        "TREC 2004 to 2006 Terabyte ad hoc",
        2006,
        GOV2,
        (),
        ADHOC,
        tables=replace(STANDARDIZATION, depth=DEEP_TERABYTE),
        more=replace(CONFINT, depth=DEEP_TERABYTE),
        max_level=2,
        notes=(
            "The automatic runs of 2006 on the topics of all three years: "
            "those of 2004 and 2005 had been judged and were there to "
            "train on.",
            "Runs were evaluated as deep as they were submitted: 56 of the 61 go beyond 1,000 "
            "documents a topic, 50 of these to 10,000 (num_ret in I. Soboroff's "
            "github.com/isoboroff/confint). Of nDCG, whose AP beside it is the same, this is taken "
            "to hold, too.",
        ),
        no_dataset="gov2/trec-tb-2004, -2005 and -2006 have its topics, a year each",
    ),
    "blog06": Track(
        "TREC 2006 Blog opinion retrieval, topic relevance",
        2006,
        BLOG,
        (),
        ("AP",),
        tables=BLOGS,
        notes=("Runs of the opinion task, scored by whether a post is about the topic.",),
        no_dataset=NO_BLOG06,
    ),
    "blog08": Track(
        "TREC 2008 Blog opinion retrieval, topic relevance",
        2008,
        BLOG,
        (),
        ("AP", "P@10", "Bpref", "Rprec"),
        tables=BLOGS,
        more=CONFINT,
        no_dataset=NO_BLOG06,
        notes=(
            "Runs of the opinion and the baseline task, scored by whether a post is "
            "about the topic. Topics 851 to 950 had been judged in 2006 and "
            "2007.",
        ),
    ),
    "web10": Track(
        "TREC 2010 Web ad hoc",
        2010,
        CLUEWEB09,
        ("clueweb09/en/trec-web-2010",),
        WEB,
        tables=SIGIR2018,
        max_level=3,
        notes=(WEB_NOTE.format(pairs=10, change=18),),
    ),
    "web11": Track(
        "TREC 2011 Web ad hoc",
        2011,
        CLUEWEB09,
        ("clueweb09/en/trec-web-2011",),
        WEB,
        tables=SIGIR2018,
        max_level=3,
        notes=(WEB_NOTE.format(pairs=4, change=6),),
    ),
    "web12": Track(
        "TREC 2012 Web ad hoc",
        2012,
        CLUEWEB09,
        ("clueweb09/en/trec-web-2012",),
        WEB,
        tables=SIGIR2018,
        more=CONFINT,
        max_level=4,
        notes=(
            WEB_NOTE.format(pairs=2, change=26),
            NAMED.format(named=44, systems=48, topics=50)
            + " The other four are two pairs of the same scores.",
        ),
    ),
    "web13": Track(
        "TREC 2013 Web ad hoc",
        2013,
        CLUEWEB12,
        ("clueweb12/trec-web-2013",),
        WEB,
        tables=SIGIR2018,
        max_level=4,
    ),
    "web14": Track(
        "TREC 2014 Web ad hoc",
        2014,
        CLUEWEB12,
        ("clueweb12/trec-web-2014",),
        WEB,
        tables=SIGIR2018,
        max_level=4,
    ),
    "ntcir13-www-english": Track(
        "NTCIR-13 We Want Web, English",
        2017,
        CLUEWEB12,
        (),
        ("nDCG@10", "Q@10", "nERR@10"),
        tables=NTCIR,
        more=NTCIR,
        max_level=4,
        notes=("13 systems of 3 groups: deviations are themselves uncertain.",),
        no_dataset="clueweb12/b13/ntcir-www-1 has the topics with more judgments: 25,465 instead "
        "of 22,912, those of NTCIR-14's CENTRE task among them",
    ),
    "ntcir13-www-chinese": Track(
        "NTCIR-13 We Want Web, Chinese",
        2017,
        "",
        (),
        ("nDCG@10", "Q@10", "nERR@10"),
        more=NTCIR,
        max_level=4,
        notes=(
            "19 systems of 4 groups: deviations are themselves uncertain.",
            "Its judgments are not known here: name the set to use it.",
        ),
        no_dataset="ir_datasets has the English part alone",
    ),
    "dl19-passage": Track(
        "TREC 2019 Deep Learning passage ranking",
        2019,
        MSMARCO,
        ("msmarco-passage/trec-dl-2019", "msmarco-passage/trec-dl-2019/judged"),
        DEEP,
        runs=RUNS,
        max_level=3,
    ),
    "dl20-passage": Track(
        "TREC 2020 Deep Learning passage ranking",
        2020,
        MSMARCO,
        ("msmarco-passage/trec-dl-2020", "msmarco-passage/trec-dl-2020/judged"),
        DEEP,
        runs=RUNS,
        max_level=3,
    ),
    "dl21-passage": Track(
        "TREC 2021 Deep Learning passage ranking",
        2021,
        MSMARCO2,
        ("msmarco-passage-v2/trec-dl-2021", "msmarco-passage-v2/trec-dl-2021/judged"),
        DEEP_SHALLOW,
        runs=RUNS,
        max_level=3,
        depth=100,
    ),
    "dl22-passage": Track(
        "TREC 2022 Deep Learning passage ranking",
        2022,
        MSMARCO2,
        ("msmarco-passage-v2/trec-dl-2022", "msmarco-passage-v2/trec-dl-2022/judged"),
        DEEP_LEVEL1,
        tables=SYNDL,
        max_level=3,
        notes=(
            LEVEL1,
            "Topics 2013306 and 2031726 count over 42,000 near-"
            "duplicates as relevant: AP, Bpref and Rprec spread there by less "
            "than five steps of their 4 decimals (standard deviation), and have no factors.",
        ),
    ),
    "dl23-passage": Track(
        "TREC 2023 Deep Learning passage ranking",
        2023,
        MSMARCO2,
        ("msmarco-passage-v2/trec-dl-2023", "msmarco-passage-v2/trec-dl-2023/judged"),
        DEEP_LEVEL1,
        tables=SYNDL,
        max_level=3,
        notes=(LEVEL1, KINDS.format(measure="nDCG@10", people="0.524", t5="0.438", gpt4="0.531")),
    ),
    "dl19-passage-umbrela": Track(
        "TREC 2019 Deep Learning passage ranking, labels of GPT-4 (UMBRELA)",
        2019,
        MSMARCO,
        (),
        DEEP,
        runs=UMBRELA_RUNS,
        max_level=3,
        judge=UMBRELA,
        no_dataset=OTHER_LABELS,
        same_topics_as="dl19-passage",
        notes=judged_by_gpt4(56, "5,417", "4,102"),
    ),
    "dl20-passage-umbrela": Track(
        "TREC 2020 Deep Learning passage ranking, labels of GPT-4 (UMBRELA)",
        2020,
        MSMARCO,
        (),
        DEEP,
        runs=UMBRELA_RUNS,
        max_level=3,
        judge=UMBRELA,
        no_dataset=OTHER_LABELS,
        same_topics_as="dl20-passage",
        notes=judged_by_gpt4(60, "5,579", "3,606"),
    ),
    "dl21-passage-umbrela": Track(
        "TREC 2021 Deep Learning passage ranking, labels of GPT-4 (UMBRELA)",
        2021,
        MSMARCO2,
        (),
        DEEP_SHALLOW,
        runs=UMBRELA_RUNS,
        max_level=3,
        depth=100,
        judge=UMBRELA,
        no_dataset=OTHER_LABELS,
        same_topics_as="dl21-passage",
        notes=judged_by_gpt4(52, "7,826", "6,490"),
    ),
    "dl23-passage-gpt4": Track(
        "TREC 2023 Deep Learning passage ranking, labels of GPT-4",
        2023,
        MSMARCO2,
        (),
        DEEP_TABLES,
        more=BIAS,
        max_level=3,
        judge=GPT4,
        no_dataset=OTHER_LABELS,
        same_topics_as="dl23-passage",
        notes=(
            LEVEL1.partition(" On level 1")[0],
            KINDS.format(measure="nDCG@10", people="0.732", t5="0.617", gpt4="0.729"),
            *judged_by_gpt4(51, "13,172", "8,461"),
        ),
    ),
    "dl19-passage-modern": modern(
        2019,
        beside="dl19-passage",
        pool="977",
        same="42",
        topics="43",
        modern="0.740",
        own="0.620",
        narrow="0.07",
        wide="0.17",
    ),
    "dl20-passage-modern": modern(
        2020,
        beside="dl20-passage",
        pool="955",
        same="52",
        topics="54",
        modern="0.740",
        own="0.606",
        narrow="0.09",
        wide="0.23",
    ),
    "covid-round1": Track(
        "TREC-COVID round 1",
        2020,
        CORD19,
        ("cord19/trec-covid/round1",),
        COVID,
        runs=RUNS,
        max_level=2,
    ),
    "covid-round2": Track(
        "TREC-COVID round 2, residual",
        2020,
        CORD19,
        ("cord19/trec-covid/round2",),
        COVID,
        runs=RUNS,
        max_level=2,
        notes=(RESIDUAL, FEEDBACK),
        earlier=COVID_ROUNDS[:1],
    ),
    "covid-round3": Track(
        "TREC-COVID round 3, residual",
        2020,
        CORD19,
        ("cord19/trec-covid/round3",),
        COVID,
        runs=RUNS,
        max_level=2,
        notes=(RESIDUAL, FEEDBACK),
        earlier=COVID_ROUNDS[:2],
    ),
    "covid-round4": Track(
        "TREC-COVID round 4, residual",
        2020,
        CORD19,
        ("cord19/trec-covid/round4",),
        COVID_LATE,
        runs=RUNS,
        max_level=2,
        notes=(RESIDUAL, FEEDBACK),
        earlier=COVID_ROUNDS[:3],
    ),
    "covid-round5": Track(
        "TREC-COVID round 5, residual",
        2020,
        CORD19,
        ("cord19/trec-covid/round5",),
        COVID_LATE,
        runs=RUNS,
        max_level=2,
        notes=(RESIDUAL, FEEDBACK),
        earlier=COVID_ROUNDS[:4],
    ),
}


FIRST_OF_ROBUST = ("trec6-adhoc", "trec7-adhoc", "trec8-adhoc")
QRELS = {
    "trec9-web": ("wt10g",),
    "trec2001-web": ("wt10g",),
    "robust03": FIRST_OF_ROBUST,
    "robust04": FIRST_OF_ROBUST,
    "terabyte04-06": ("terabyte04", "terabyte05", "terabyte06"),
    "dl19-passage-umbrela": ("judges/dl19-passage.umbrela-gpt4",),
    "dl20-passage-umbrela": ("judges/dl20-passage.umbrela-gpt4",),
    "dl21-passage-umbrela": ("judges/dl21-passage.umbrela-gpt4",),
    "dl23-passage-gpt4": ("judges/dl23-passage.gpt4",),
}
"""The files of a set's judgments, where they are not called as the set is."""

WITHOUT = {"robust03": "CR", "robust04": "CR"}
"""What the ids of documents begin with that the track left out: the Congressional Record."""

DEEPEST = 1000
"""Numbers of relevant documents that were recovered from ideal scores end here."""


def qrels_files(name: str, data: Path) -> list[Path]:
    """The files of a set's judgments that are at hand."""
    name = TRACKS[name].beside or name
    return [
        file
        for stem in QRELS.get(name, (name,))
        if (file := data / "qrels" / f"{stem}.txt").is_file()
    ]


def earlier_documents(name: str, data: Path) -> dict[str, set[str]]:
    """By topic the documents that were judged in earlier rounds of a residual collection."""
    documents: dict[str, set[str]] = {}
    for file in earlier_files(name, data):
        for topic, docs in read_qrels(file).judged.items():
            documents.setdefault(topic, set()).update(docs)
    return documents


def earlier_files(name: str, data: Path) -> list[Path]:
    """The files of the judgments of earlier rounds."""
    return [data / "qrels" / f"{earlier}.txt" for earlier in TRACKS[name].earlier]


def judged_topics(name: str, data: Path) -> dict[str, Judgments]:
    """A set's topics and what is known of their judgments.

    Levels and fingerprints are those of the qrels at hand, on the topics whose number of relevant
    documents is the one behind the factors.
    """
    judgments: dict[str, Judgments] = {}
    for file in qrels_files(name, data):
        judged = read_qrels(file).judged
        judgments |= judgments_of(
            DictQrels(
                {
                    topic: {
                        doc: level
                        for doc, level in docs.items()
                        if name not in WITHOUT or not doc.startswith(WITHOUT[name])
                    }
                    for topic, docs in judged.items()
                }
            )
        )
    counts_file = topics_file(name, data)
    if not counts_file.is_file():  # the qrels say which topics there are, or the tables
        return judgments or dict.fromkeys(_table_topics(name, data), Judgments())
    with counts_file.open(encoding="utf-8", newline="") as text:
        counts = {r["topic"]: int(r["n_rel"]) if r["n_rel"] else None for r in csv.DictReader(text)}
    return {
        topic: judgments[topic]
        if topic in judgments and _same(n, judgments[topic].n_rel)
        else Judgments(n)
        for topic, n in counts.items()
    }


def topic_kinds(name: str, data: Path) -> dict[str, str]:
    """By topic of what kind it is, for the sets that have several."""
    file = kinds_file(name, data)
    if not file.is_file():
        return {}
    with file.open(encoding="utf-8", newline="") as text:
        return {row["topic"]: row["kind"] for row in csv.DictReader(text)}


def kinds_file(name: str, data: Path) -> Path:
    """Where the kinds of a set's topics are, if it has several."""
    return data / "more-scores" / f"{TRACKS[name].same_topics_as or name}-kinds.csv"


def system_names(name: str, data: Path) -> dict[str, str]:
    """The names of systems by the columns of the tables in ``scores``.

    Systems that score the same in all tables keep their columns: which is which is not known.
    """
    file = names_file(name, data)
    if not file.is_file():
        return {}
    with file.open(encoding="utf-8", newline="") as text:
        names = {row["column"]: row["run"] for row in csv.DictReader(text)}
    doubtful = _same_columns(file.parent) if names.keys() != set(names.values()) else set()
    return {column: run for column, run in names.items() if run not in doubtful}


def anonymous_systems(name: str, data: Path) -> dict[str, str]:
    """The columns of the tables in ``scores`` by the runs that cannot be told apart."""
    file = names_file(name, data)
    if not file.is_file():
        return {}
    named = system_names(name, data)
    with file.open(encoding="utf-8", newline="") as text:
        return {r["run"]: r["column"] for r in csv.DictReader(text) if r["column"] not in named}


def names_file(name: str, data: Path) -> Path:
    """Where the names of a set's systems are, if tables in ``scores`` lack them."""
    return data / "more-scores" / name / "systems.csv"


def _same_columns(folder: Path) -> set[str]:
    """The runs that have the scores of another one in all tables of a folder."""
    columns: dict[str, list[str]] = {}
    for file in sorted(folder.glob("*.csv")):
        if file.name != "systems.csv":
            with file.open(encoding="utf-8", newline="") as text:
                for run, *scores in zip(*csv.reader(text), strict=True):
                    columns.setdefault(run, []).extend(scores)
    columns.pop("topic", None)
    alike: dict[tuple[str, ...], list[str]] = {}
    for run, scores in columns.items():
        alike.setdefault(tuple(scores), []).append(run)
    return {run for runs in alike.values() if len(runs) > 1 for run in runs}


def topics_file(name: str, data: Path) -> Path:
    """Where a set's topics and their numbers of relevant documents are, if not in the qrels."""
    return data / "topics" / f"{name}.csv"


def _table_topics(name: str, data: Path) -> list[str]:
    """The topics of a set's first table."""
    table = min((data / "more-scores" / name).glob("*.csv"))
    with table.open(encoding="utf-8", newline="") as text:
        return [row["topic"] for row in csv.DictReader(text)]


def _same(recovered: int | None, judged: int | None) -> bool:
    return recovered == judged or (recovered == DEEPEST and (judged or 0) > DEEPEST)
