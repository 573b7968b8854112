"""Why two runs differ: on which topics, and by which documents.

What DiffIR shows of a pair of rankings (K. M. Jose, T. Nguyen, S. MacAvaney, J. Dalton, A. Yates,
"DiffIR: Exploring Differences in Ranking Models' Behavior", SIGIR 2021, 2595-2599), on
topics that standardized scores choose, and with what each document adds to the difference.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ir_std.errors import UsageError
from ir_std.evaluation.api import SystemsSelection
from ir_std.evaluation.inputs import inputs_by_name, read_input
from ir_std.factors.catalog import Factors
from ir_std.measures import Measures, Standardized, as_measures
from ir_std.reporting.results import evaluate
from ir_std.reporting.run_diff import RunDiff
from ir_std.schemes import scheme_names
from ir_std.scores.inputs import keep_duplicates
from ir_std.trec.texts import read_texts


def diff(
    a: Any,
    b: Any,
    qrels: Any,
    measure: Measures | None = None,
    scheme: str = "N",
    *,
    factors: Factors | None = None,
    systems: SystemsSelection = None,
    without: str | Iterable[str] = (),
    residual: bool = False,
    depth: int | None = None,
    docs: Any = None,
    queries: Any = None,
    duplicates: str = "error",
) -> RunDiff:
    """Why two runs differ by a measure: on which topics, and by which documents.

    Parameters
    ----------
    a, b
        Two runs, in any form that :func:`evaluate` takes; scores and systems of sets have topics,
        but no documents.
    qrels
        As for :func:`evaluate`.
    measure : Measure or str, optional
        Raw or standardized; the factor set's first if not given.
    scheme, factors, systems, without, residual, depth, duplicates
        As for :func:`evaluate`; one scheme.
    docs, queries : mapping, str, path or file, optional
        Texts to be shown: ``{id: text}``, a file of lines (an id, a tab, a text) or of JSON
        records, or the id of an ir_datasets dataset, which may download them.

    Raises
    ------
    InputError
        If a file cannot be used.
    UsageError
        If there is more than one measure or scheme.
    NoFactorsError
        If a standardized measure was asked for by name and has no factors.

    Examples
    --------
    >>> pair = ir_std.diff("bm25.run", "mono.run", "qrels.txt", "nDCG@10")
    >>> pair
    <RunDiff of bm25.run and mono.run by nDCG@10 and snDCG@10: 50 topics>
    >>> topic = pair.topics[0]
    >>> first = topic.topic
    >>> adds = sum(each.difference for each in pair.on(first).documents)
    >>> abs(adds - (topic.raw[0] - topic.raw[1])) < 1e-12
    True
    """
    schemes = scheme_names(scheme)
    if len(schemes) != 1:
        raise UsageError(f"differences are by one scheme, and {scheme!r} is {len(schemes)}")
    asked = None if measure is None else as_measures(measure)
    if asked is not None and len(asked) != 1:
        raise UsageError(f"differences are by one measure: {len(asked)} are given")
    if asked and isinstance(asked[0], Standardized):
        asked, schemes = [asked[0].base, asked[0]], ()  # by the scheme that it names
    given = keep_duplicates(inputs_by_name([a, b]), duplicates)
    if len(given) != 2:
        raise UsageError(f"differences are of two runs: found {', '.join(given)}")
    results = evaluate(
        {name: read_input(run) for name, run in given.items()},  # read once for all that follows
        qrels,
        asked,
        schemes,
        factors=factors,
        systems=systems,
        without=without,
        residual=residual,
        depth=depth,
    )
    texts = {} if queries is None else read_texts(queries, results.topics, "queries")
    a, b = results.runs
    return RunDiff(results, a, b, results.measures[0], texts, docs)
