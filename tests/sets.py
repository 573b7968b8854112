"""Parameters of tests: the fast tests use some of them, and the slow tests use all."""

from collections.abc import Iterable
from typing import Any

import pytest

from ir_std import available_factors

EACH_KIND = {
    "blog08": "topics of two years",
    "dl19-passage-modern": "alternative systems",
    "dl20-passage": "graded",
    "mteb-retrieval": "means of datasets",
    "robust05": "two sources",
    "trec8-adhoc": "binary",
}


def each_set(names: Iterable[str] | None = None) -> list[Any]:
    """Return these sets (or all) as parameters; all except one of each kind are slow."""
    return [
        pytest.param(name, marks=[] if name in EACH_KIND else pytest.mark.slow)
        for name in (available_factors() if names is None else names)
    ]


def quick_first(cases: Iterable[Any], quick: int = 1) -> list[Any]:
    """Return these cases as parameters; all except the first cases are slow."""
    return [
        case if i < quick else pytest.param(*values, marks=pytest.mark.slow)
        for i, case in enumerate(cases)
        for values in [case if isinstance(case, tuple) else (case,)]
    ]
