"""The published factors, as sets."""

from pathlib import Path

import numpy as np
import pytest
from import_published import DISCOUNTS, published
from ir_measures import nDCG

import ir_std


def test_topics_beyond_the_published_ideal_are_rescaled(data: Path) -> None:
    """Check topic 189 of TREC-3, where the tools give 1,000 perfect documents .898."""
    built = published("trec3-adhoc", data)
    row = built.topics.index("189")
    raw = {"nDCG(dcg='jk',rel=1)": 0.3991485075, "nDCG(rel=1)": 0.441689346140344}
    qrels = {"189": {f"d{i}": 1 for i in range(1141)}}
    perfect = {"189": {f"d{i}": 2000.0 - i for i in range(1000)}}
    for measure, mean in raw.items():
        share = ir_std.calc_aggregate([ir_std.parse_measure(measure)], qrels, perfect)
        ((_, value),) = share.items()
        assert built.mean[measure][row] == pytest.approx(mean * value, abs=1e-9)
    assert ir_std.calc_aggregate([nDCG], qrels, perfect)[nDCG] == pytest.approx(0.8978176)


def test_other_topics_are_as_published(data: Path) -> None:
    for name in ("trec3-adhoc", "trec8-adhoc", "terabyte06"):
        built = published(name, data)
        assert set(DISCOUNTS) <= set(built.measures)
        stem = {"trec3-adhoc": "trec3.adhoc", "trec8-adhoc": "trec8.adhoc"}.get(
            name, "trec2006.tb.adhoc"
        )
        table = np.genfromtxt(
            data / "published" / f"{stem}.mn.csv", delimiter=",", names=True, dtype=None
        )
        others = [i for i, topic in enumerate(built.topics) if topic != "189"]
        assert built.mean["nDCG(rel=1)"][others] == pytest.approx(table["nVDCG"][others], abs=1e-12)
