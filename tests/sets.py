"""The shipped sets as a test's parameters: one of each kind at once, all with the slow tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from ir_std import available_factors

EACH_KIND = {
    "blog08": "topics of two years",
    "dl19-passage-modern": "beside another",
    "dl20-passage": "graded",
    "mteb-retrieval": "means of data sets",
    "robust05": "two sources",
    "trec8-adhoc": "binary",
}


def each_set(names: Iterable[str] | None = None) -> list[Any]:
    """Parameters for these sets, all if not given; slow but for one of each kind."""
    return [
        pytest.param(name, marks=[] if name in EACH_KIND else pytest.mark.slow)
        for name in (available_factors() if names is None else names)
    ]
