"""The published factors as sets, the archive of the sets, and changes since an older archive."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from archive_factors import changes, main
from import_published import DISCOUNTS, published
from ir_measures import nDCG

import ir_std
from ir_std import FactorSet, load_factors
from ir_std.factors import catalog


def test_topics_beyond_the_published_ideal_are_rescaled(data: Path) -> None:
    """Check topic 189 of TREC-3, on which 1,000 perfect documents have an nDCG of .898."""
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


def copy(factors: FactorSet, folder: Path, **mean: list[float]) -> None:
    """Save some topics of a set, with changed means for some measures."""
    info = {**factors.info, "measures": {m: {"systems": 129} for m in ("AP", "RR", *mean)}}
    tables = [{m: table[m][:3] for m in info["measures"]} for table in (factors.mean, factors.sd)]
    known = {t: factors.judgments[t] for t in factors.topics[:3]}
    FactorSet(info, known, {**tables[0], **mean}, tables[1]).save(folder / f"{factors.id}.npz")


def test_an_archive_is_the_same_each_time_and_names_what_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, factors = tmp_path / "sets", load_factors("trec8-adhoc")
    copy(factors, root)
    (root / "VERSION").write_text("2000.1\n")
    (root / "CHANGELOG.md").write_text("# Changes\n\n## 2000.1\n\nOne.\n\n## 1999.1\n\nOld.\n")
    monkeypatch.setattr("archive_factors.shipped_folder", lambda: root)
    monkeypatch.setattr("archive_factors.data_version", lambda: "2000.1")
    for folder in ("a", "b"):
        monkeypatch.setattr("sys.argv", ["archive_factors", str(tmp_path / folder)])
        main()
    names = ["ir_std-factors-2000.1.zip", "ir_std-factors-2000.1.zip.sha256", ".zenodo.json"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    record = json.loads((tmp_path / "a" / ".zenodo.json").read_text())
    assert (record["version"], record["notes"]) == ("2000.1", "Changes of numbers: One.")

    first, second, third = factors.mean["AP"][:3].tolist()
    copy(factors, tmp_path / "new", AP=[first, second + 0.25, third])
    expected = ["- `trec8-adhoc`: `AP` on 1 of 3 topics, by 0.25 at most."]
    assert list(changes(root, tmp_path / "new")) == expected
    assert list(changes(root, root)) == []
    assert list(changes(root, tmp_path / "a")) == ["- `trec8-adhoc` is gone."]


def test_the_newest_changes_of_numbers_are_those_of_the_version() -> None:
    text = (catalog.shipped_folder() / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)$", text, re.MULTILINE)[0] == catalog.data_version()
    assert re.fullmatch(r"20\d\d\.(?:[1-9]|1[0-2])", catalog.data_version())
