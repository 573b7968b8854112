"""Tracks whose factor sets are shipped, read from ``tracks.json``.

In the file, origins of scores, corpora, lists of default measures and repeated texts have names,
and ``@NAME`` stands for the text with this name. Default measures are the measures that each track
reports, if they have factors. RR is never a default measure, because at least a third of the
systems tie at the top of a topic in all sets whose scores are known. AP is not a default measure of
deep learning sets whose systems returned fewer passages than are relevant. Recall is not a default
measure if half of the systems find all relevant documents.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ir_std.factors.judgments import Judgments, judgments_of
from ir_std.trec.files import read_qrels
from ir_std.trec.inputs import as_qrels


class Corpus(NamedTuple):
    """Name of a collection's documents, and the form of their IDs."""

    name: str
    doc_id_example: str = ""


@dataclass(frozen=True)
class Origin:
    """Origin of scores.

    Attributes
    ----------
    source : str
        The citation.
    url, date : str
        Address of the source, and the date of the data that come from it.
    licence, licence_uri : str
        Name of the licence in SPDX, if SPDX has one; ``not stated`` if the source states no
        licence, and ``not checked`` if nobody checked.
    attribution : str
        Text that the licence requires in addition to the citation.
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
        """Entry of the origin under ``sources`` in ``set.json``."""
        return {
            field: value
            for field in ("source", "url", "date", "licence", "licence_uri", "attribution")
            if (value := getattr(self, field))
        }


PUBLISHED_RBP = (
    "The published RBP(p=0.8,rel=1) follows the order of lines in the run files, not the scores. "
    "On TREC-8, where all runs are available, this changes the mean z of a run by up to 0.06, and "
    "z on a single topic by up to 0.46."
)
PUBLISHED_AP = "The published AP was rounded to 4 decimals before it was averaged."


@dataclass(frozen=True)
class Track:
    """Names and systems of a collection, and the data that identify it.

    Attributes
    ----------
    year : int
        Year in which the systems ran.
    notes : tuple of str
        Known limitations of the set, in addition to those of :mod:`ir_std.factors.quality`.
    stem : str
        Name of the published files, if there are any. ``systems`` is the number of systems behind
        these files: the smallest n for which n times the mean of P@10 is a whole number on every
        topic.
    tables, more : Origin or None
        Origins of the tables in ``scores`` (``tables``) and in ``more-scores`` (``more``), if there
        are any. The script reads ``more-scores`` only for measures that ``scores`` lacks.
        ``others`` has the measures from other origins.
    runs : Origin or None
        Origin of the runs, if the runs are known.
    max_level : int or None
        Highest relevance level of the judgments, if a measure has graded gains.
    depth : int or None
        Depth at which runs are cut, because most of them end there.
    main_set : str
        Track of the collection, if the systems are not the track's own systems but ``population``.
    earlier : tuple of str
        Sets of earlier rounds; the runs do not contain the documents that these rounds judged.
    judge : mapping of str to str
        Language model that made the labels; empty if people made them.
    same_topics_as : str
        Track with the same topics and systems, if it has different labels.
    no_dataset : str
        Reason why the set has no ir_datasets ID, if it has none.
    """

    title: str
    year: int
    corpus: Corpus
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
    main_set: str = ""
    population: str = ""
    earlier: tuple[str, ...] = ()
    judge: Mapping[str, str] = field(default_factory=dict)
    same_topics_as: str = ""
    no_dataset: str = ""

    def info(self, name: str) -> dict[str, Any]:
        """Return the fields of ``set.json`` that describe the collection."""
        info = {
            "id": name,
            "title": self.title,
            "track": self.title.split(" ad hoc")[0],
            "year": self.year,
            "corpus": self.corpus.name,
            "doc_id_example": self.corpus.doc_id_example,
            "ir_datasets": list(self.datasets),
            "main_set": self.main_set,
            "population": self.population,
            "kind": "judge" if self.judge else "",
            "judge": dict(self.judge),
            "same_topics_as": self.same_topics_as,
            "default_measures": list(self.default_measures),
            "max_level": self.max_level,
            "notes": [*self.notes, *self._notes_on_published()],
        }
        return {key: value for key, value in info.items() if value not in ("", {})}

    def _notes_on_published(self) -> list[str]:
        """Return notes on the published measures that the set has."""
        if not self.stem or self.runs:
            return []
        return [PUBLISHED_RBP] if self.tables else [PUBLISHED_RBP, PUBLISHED_AP]


def _read_tracks() -> dict[str, Track]:
    """Read the tracks by name, and replace names by the texts that they stand for."""

    def text(given: str) -> str:
        return str(_FILE["texts"][given[1:]]) if given.startswith("@") else given

    def track(entry: dict[str, Any]) -> Track:
        described: dict[str, Any] = {}
        for name, value in entry.items():
            if name in ("tables", "runs", "more"):
                described[name] = ORIGINS[value]
            elif name == "others":
                described[name] = {m: ORIGINS[origin] for m, origin in value.items()}
            elif name == "corpus":
                described[name] = Corpus(*_FILE["corpora"][value])
            elif name == "judge":
                described[name] = _FILE["judges"][value]
            elif name == "default_measures" and isinstance(value, str):
                described[name] = tuple(_FILE["measures"][value])
            elif isinstance(value, list):
                described[name] = tuple(map(text, value))
            else:
                described[name] = text(value) if isinstance(value, str) else value
        return Track(**described)

    return {name: track(entry) for name, entry in _FILE["tracks"].items()}


_FILE = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
ORIGINS = {name: Origin(**entry) for name, entry in _FILE["origins"].items()}
PUBLISHED = ORIGINS["PUBLISHED"]
TRACKS = _read_tracks()
QRELS: Mapping[str, list[str]] = _FILE["qrels"]
"""Files with a set's judgments, if their names differ from the set's name."""
WITHOUT = {"robust03": "CR", "robust04": "CR"}
"""Prefix of document IDs that the track left out (the Congressional Record)."""

DEEPEST = 1000
"""Largest number of relevant documents that can be recovered from ideal scores."""


def qrels_files(name: str, data: Path) -> list[Path]:
    """Return the files of a set's judgments that are available."""
    name = TRACKS[name].main_set or name
    return [
        file
        for stem in QRELS.get(name, (name,))
        if (file := data / "qrels" / f"{stem}.txt").is_file()
    ]


def earlier_documents(name: str, data: Path) -> dict[str, set[str]]:
    """Return, by topic, the documents that earlier rounds of a residual collection judged."""
    documents: dict[str, set[str]] = {}
    for file in earlier_files(name, data):
        for topic, docs in read_qrels(file).judged.items():
            documents.setdefault(topic, set()).update(docs)
    return documents


def earlier_files(name: str, data: Path) -> list[Path]:
    """Return the files with the judgments of earlier rounds."""
    return [data / "qrels" / f"{earlier}.txt" for earlier in TRACKS[name].earlier]


def judged_topics(name: str, data: Path) -> dict[str, Judgments]:
    """Return the topics of a set, and the known judgments of the topics.

    Levels and fingerprints come from the available qrels. A topic has them only if its number of
    relevant documents in the qrels is the same as in the factors.
    """
    judgments: dict[str, Judgments] = {}
    for file in qrels_files(name, data):
        judged = read_qrels(file).judged
        judgments |= judgments_of(
            as_qrels(
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
    if not counts_file.is_file():  # The topics come from the qrels, or else from the tables.
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
    """Return the kind of each topic, for sets with several kinds of topics."""
    file = kinds_file(name, data)
    if not file.is_file():
        return {}
    with file.open(encoding="utf-8", newline="") as text:
        return {row["topic"]: row["kind"] for row in csv.DictReader(text)}


def kinds_file(name: str, data: Path) -> Path:
    """Return the file with the kinds of a set's topics, if there are several kinds."""
    return data / "more-scores" / f"{TRACKS[name].same_topics_as or name}-kinds.csv"


def system_names(name: str, data: Path) -> dict[str, str]:
    """Return the names of systems by the columns of the tables in ``scores``.

    Systems with the same scores in all tables keep their columns, because they cannot be told
    apart.
    """
    file = names_file(name, data)
    if not file.is_file():
        return {}
    with file.open(encoding="utf-8", newline="") as text:
        names = {row["column"]: row["run"] for row in csv.DictReader(text)}
    doubtful = _same_columns(file.parent) if names.keys() != set(names.values()) else set()
    return {column: run for column, run in names.items() if run not in doubtful}


def anonymous_systems(name: str, data: Path) -> dict[str, str]:
    """Return columns of the tables in ``scores`` by the runs that nobody can tell apart."""
    file = names_file(name, data)
    if not file.is_file():
        return {}
    named = system_names(name, data)
    with file.open(encoding="utf-8", newline="") as text:
        return {r["run"]: r["column"] for r in csv.DictReader(text) if r["column"] not in named}


def names_file(name: str, data: Path) -> Path:
    """Return the file of a set's system names, if tables in ``scores`` lack them."""
    return data / "more-scores" / name / "systems.csv"


def _same_columns(folder: Path) -> set[str]:
    """Return the runs that have the same scores as another run in all tables of a folder."""
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
    """Return the file with topics and numbers of relevant documents, for sets without qrels."""
    return data / "topics" / f"{name}.csv"


def _table_topics(name: str, data: Path) -> list[str]:
    """Return the topics of a set's first table."""
    table = min((data / "more-scores" / name).glob("*.csv"))
    with table.open(encoding="utf-8", newline="") as text:
        return [row["topic"] for row in csv.DictReader(text)]


def _same(recovered: int | None, judged: int | None) -> bool:
    return recovered == judged or (recovered == DEEPEST and (judged or 0) > DEEPEST)
