"""Runs and qrels row by row, as ir_measures reads them, from paths too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO

from ir_measures import util
from ir_measures.util import Qrel, ScoredDoc


def read_trec_qrels(file: str | os.PathLike[str] | IO[str]) -> Iterator[Qrel]:
    r"""The rows of TREC qrels, as ``ir_measures.read_trec_qrels`` gives them.

    >>> list(read_trec_qrels("401 0 FBIS3-1 1\n"))
    [Qrel(query_id='401', doc_id='FBIS3-1', relevance=1, iteration='0')]

    Parameters
    ----------
    file : str, path or open file
        A file, or its content: a string with a line end in it.
    """
    yield from util.read_trec_qrels(_theirs(file))


def read_trec_run(file: str | os.PathLike[str] | IO[str]) -> Iterator[ScoredDoc]:
    r"""The rows of a TREC run, as ``ir_measures.read_trec_run`` gives them.

    >>> list(read_trec_run("401 Q0 FBIS3-1 1 17.5 bm25\n"))
    [ScoredDoc(query_id='401', doc_id='FBIS3-1', score=17.5)]

    Parameters
    ----------
    file : str, path or open file
        A file, or its content: a string with a line end in it.
    """
    yield from util.read_trec_run(_theirs(file))


def _theirs(file: str | os.PathLike[str] | IO[str]) -> str | IO[str]:
    """A file as ir_measures takes it: of a ``Path`` it silently reads nothing."""
    return os.fspath(file) if isinstance(file, os.PathLike) else file
