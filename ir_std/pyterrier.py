"""ir_std in PyTerrier: what ``pt.std`` is, and factor sets as artifacts.

PyTerrier finds this module by the entry points of the installed distribution, so a program that
imports PyTerrier need not import ir_std.  ``pt.std`` has all names of ir_std, measures such as
``pt.std.snDCG`` among them, and what stands here.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import ir_measures
import pandas as pd
import pyterrier as pt
from ir_measures.measures import Measure

import ir_std
from ir_std._system.files import read_bounded
from ir_std.errors import InputError, UsageError, warn_caller
from ir_std.evaluation.companions import companions
from ir_std.evaluation.messages import message_texts
from ir_std.evaluation.plans import match_factors
from ir_std.factors import packs
from ir_std.factors.catalog import Factors, check_set, load_factors
from ir_std.factors.files import FILES, replace_folder
from ir_std.factors.match import Match
from ir_std.measures import Standardized, parse_measure
from ir_std.schemes import scheme_names
from ir_std.trec.inputs import as_qrels
from ir_std.trec.qrels import Qrels


def Experiment(  # noqa: N802 - PyTerrier's name
    retr_systems: Any,
    topics: Any,
    qrels: Any,
    eval_metrics: Iterable[Measure | str],
    names: Any = None,
    *,
    schemes: str | Iterable[str] = "N",
    factors: Factors | None = None,
    **options: Any,
) -> Any:
    """``pt.Experiment`` with a standardized score behind each raw one that has factors.

    The factor set is recognized once, from all of ``qrels``, so batches cannot be taken for
    another collection.

    Parameters
    ----------
    retr_systems, topics, qrels, names
        As for ``pt.Experiment``.
    eval_metrics : iterable of Measure or str
        Measures, by name too: ``"snDCG@10"``, ``"AP"``, and what PyTerrier knows (``"map"``,
        ``"official"``, ``"mrt"``), which keeps its name and meaning there.
    schemes : str or iterable of str
        ``"N"``, ``"N,U"``, ``"all"`` or several names.
    factors : FactorSet, FactorSetArtifact, str or path, optional
        The factors to use: a set on disk, an artifact, a set's id, or its folder.
    **options
        As for ``pt.Experiment``: ``perquery``, ``baseline``, ``batch_size``, ...

    Returns
    -------
    What ``pt.Experiment`` returns; the columns of means stand as they were asked for.

    Raises
    ------
    UsageError
        If ``factors`` is a set that is not on disk.
    """
    judgments = as_qrels(qrels)
    match = match_factors(judgments, factors)
    if match.factors and match.factors.path is None:
        raise UsageError(f"{match.factors.id} is not on disk: save it first, and name its folder")
    metrics = [eval_metrics] if isinstance(eval_metrics, (str, Measure)) else eval_metrics
    columns, messages = dict[str, Measure | str](), dict[str, None]()
    for metric in metrics:
        for part in _with_companions(metric, judgments, match, schemes):
            if isinstance(part, tuple):
                messages.update(dict.fromkeys(part))
            else:
                columns[str(part)] = part  # once, though its raw measure may bring it too
    warn_caller(messages)
    outcome = pt.Experiment(retr_systems, topics, qrels, [*columns.values()], names, **options)
    return _in_order(outcome, [*columns])


def _in_order(outcome: Any, asked: list[str]) -> Any:
    """What PyTerrier gives, with the columns as they were asked for: it takes them from a set."""
    if isinstance(outcome, tuple) and hasattr(outcome, "averages"):  # perquery="both"
        return outcome._replace(averages=_in_order(outcome.averages, asked))  # type: ignore[attr-defined]
    if not isinstance(outcome, pd.DataFrame):
        return outcome
    first = ["name", *(name for name in asked if name in outcome.columns)]
    return outcome[[*first, *(name for name in outcome.columns if name not in first)]]


def _with_companions(
    metric: Measure | str, qrels: Qrels, match: Match, schemes: str | Iterable[str]
) -> Iterator[Measure | str | tuple[str, ...]]:
    """A metric, its standardized companions, and what is to be said of those it has not."""
    metric, measures = _read_metric(metric)
    if not isinstance(metric, Standardized):
        yield metric
    wanted, messages, plans = companions(measures, match, qrels, scheme_names(schemes))
    yield message_texts(messages, False)
    of_means = [plan for plan in plans if plan.of_mean]
    if of_means:
        yield (
            f"{of_means[0].factors.id} has factors of whole data sets, not of topics, of which "
            "pt.Experiment makes its means: use ir_std.evaluate",
        )
    for measure in wanted:
        if isinstance(measure, Standardized) and all(p.measure != measure for p in of_means):
            yield _of_set(measure, match)


def _read_metric(metric: Measure | str) -> tuple[Measure | str, list[Measure]]:
    """A metric for PyTerrier, and the measures that it stands for."""
    if metric == "mrt":
        return metric, []
    if isinstance(metric, str):
        try:
            return metric, ir_measures.parse_trec_measure(metric)
        except ValueError:  # not PyTerrier's
            metric = parse_measure(metric)
    return metric, [metric]


def _of_set(measure: Standardized, match: Match) -> Standardized:
    """The measure with the factors of the match; its column is called as the measure was."""
    if match.factors is None or "factors" in measure.params:
        return measure
    name, kind = str(measure), type(measure)
    # PyTerrier calls columns by str(); measures are told apart by repr().
    named = type(kind.__name__, (kind,), {"__str__": lambda _: name})
    result: Standardized = named(**measure.params, factors=match.factors.path)
    return result


class FactorSetArtifact(pt.Artifact):
    """A factor set as an artifact of PyTerrier.

    ``pt.Artifact.load`` takes a set's folder or a pack (``ir_std factors pack``);
    ``pt.Artifact.from_url``, ``from_hf`` and ``from_zenodo`` what :meth:`build_package`,
    :meth:`to_hf` and :meth:`to_zenodo` made of one.  It stands wherever a factor set may be named:
    ``pt.std.Experiment(..., factors=artifact)``, ``pt.std.sAP(factors=artifact)``.

    Parameters
    ----------
    path : str or path
        A set's folder, its id, or a pack, which is unpacked below PyTerrier's folder of artifacts.

    Attributes
    ----------
    factors : FactorSet

    Raises
    ------
    InputError
        If the set is not sound.
    """

    ARTIFACT_TYPE = "factor_set"
    ARTIFACT_FORMAT = "ir_std"
    ARTIFACT_PACKAGE_HINT = "ir-std"

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.factors = load_factors(_unpacked(path) if os.path.isfile(path) else path)
        assert self.factors.path is not None  # for mypy: it was read from there
        _check_sound(self.factors.path)
        super().__init__(self.factors.path)

    def __fspath__(self) -> str:
        return os.fspath(self.path)


def _unpacked(pack: str | os.PathLike[str]) -> Path:
    """The folder of a pack's set; the same pack has the same."""
    content = read_bounded(pack, packs.LARGEST)
    _, files = packs.unpack(content, pack)
    place = Path(pt.io.pyterrier_home(), "artifacts", hashlib.sha256(content).hexdigest())

    def write(folder: Path) -> None:
        for name, data in files.items():
            (folder / name).write_bytes(data)
        _check_sound(folder, pack)

    if not place.exists():
        replace_folder(place, write)
    return place


def _check_sound(folder: Path, shown: object = None) -> None:
    for problem in check_set(folder):
        raise InputError.at(shown or folder, "the set is not sound", problem)


def describe_artifact(path: str, names: list[str]) -> dict[str, str] | None:
    """What PyTerrier asks of a folder or file that does not say itself what it is."""
    if set(FILES) <= set(names) or (os.path.isfile(path) and _is_pack(path)):
        kind = FactorSetArtifact
        return {
            "type": kind.ARTIFACT_TYPE,
            "format": kind.ARTIFACT_FORMAT,
            "package_hint": kind.ARTIFACT_PACKAGE_HINT,
        }
    return None


def _is_pack(path: str) -> bool:
    try:
        with ZipFile(path) as archive:
            return any(name.endswith(f"/{packs.MANIFEST}") for name in archive.namelist())
    except (BadZipFile, OSError):
        return False


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(ir_std, name)


def __dir__() -> list[str]:
    return sorted({*dir(ir_std), "Experiment", "FactorSetArtifact"})
