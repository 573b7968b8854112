"""Sets from elsewhere that are broken or mean harm: refused in a line, and in nobody's way."""

from __future__ import annotations

import io
import json
import struct
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ir_measures import AP

import ir_std
from ir_std import FactorSet, InputError, load_factors
from ir_std.factors.catalog import check_set
from ir_std.factors.doc_ids import looks_like, parse_pattern
from ir_std.factors.judgments import judgments_of
from ir_std.testing import simulated_qrels, simulated_run
from ir_std.trec.inputs import as_qrels

QRELS = {
    topic: dict(list(docs.items())[:40])
    for topic, docs in simulated_qrels(
        {str(t): {1: t % 7 + 2, 2: 3} for t in range(401, 421)}
    ).items()
}
RUN = simulated_run(QRELS, 1, 40)
Break = Callable[[Path], object]


@pytest.fixture
def sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sets of the same judgments: one is sound, and one will be broken."""
    known = judgments_of(as_qrels(QRELS))
    scores = np.sort(np.random.default_rng(1).random((20, 5)), axis=1)
    for name in ("bad", "sound"):
        FactorSet(
            {"id": name, "measures": {"AP": {"systems": 5}}},
            known,
            {"AP": scores.mean(axis=1)},
            {"AP": scores.std(axis=1, ddof=1)},
            {"AP": scores},
            {"AP": np.tile(np.arange(5), (20, 1))},
        ).save(tmp_path / name)
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path))
    return tmp_path


def info(**fields: Any) -> Break:
    """Other fields in ``set.json``."""

    def change(folder: Path) -> None:
        file = folder / "set.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), **fields}))

    return change


def text(file: str, content: str | bytes) -> Break:
    """Another content of a file."""
    data = content if isinstance(content, bytes) else content.encode()
    return lambda folder: (folder / file).write_bytes(data)


def cell(file: str, value: str, column: int = 1) -> Break:
    """Another value on the third line of a table."""

    def change(folder: Path) -> None:
        lines = (folder / file).read_text().split("\n")
        cells = lines[2].split(",")
        cells[column] = value
        lines[2] = ",".join(cells)
        (folder / file).write_text("\n".join(lines), encoding="utf-8")

    return change


def array(values: Any, file: str = "scores.npz") -> Break:
    """Another array of AP."""
    return lambda folder: np.savez(folder / file, AP=values)


def member(header: str, data: bytes = b"") -> Break:
    """An array whose header says what it likes."""
    head = header.encode() + b"\n"
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data

    def change(folder: Path) -> None:
        with zipfile.ZipFile(folder / "scores.npz", "w") as archive:
            archive.writestr("AP.npy", content)

    return change


def npy(folder: Path) -> None:
    with (folder / "scores.npz").open("wb") as stream:
        np.save(stream, np.zeros((20, 5)))


def broken_deflate(folder: Path) -> None:
    content = bytearray((folder / "scores.npz").read_bytes())
    content[60:120] = bytes(60)
    (folder / "scores.npz").write_bytes(bytes(content))


def broken_lzma(folder: Path) -> None:
    with zipfile.ZipFile(folder / "scores.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("AP.npy", SCORES.tobytes())
    broken_deflate(folder)


def bomb(folder: Path) -> None:
    with (
        zipfile.ZipFile(
            folder / "scores.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1
        ) as archive,
        archive.open("AP.npy", "w", force_zip64=True) as stream,
    ):
        for _ in range(300):
            stream.write(bytes(1 << 20))


def encrypted(folder: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("AP.npy", b"x")
    content = bytearray(buffer.getvalue())
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    (folder / "scores.npz").write_bytes(bytes(content))


SCORES = np.sort(np.random.default_rng(1).random((20, 5)), axis=1)

BROKEN: dict[str, Break] = {
    **{
        f"set.json: {name} is {str(value)[:20]!r}": info(**{name: value})
        for name, value in [
            ("doc_id_pattern", "("),
            ("doc_id_pattern", 3),
            ("doc_id_pattern", "(a+)+$"),
            ("doc_id_pattern", "[z-a]"),
            ("depth", "x"),
            ("depth", 0),
            ("depth", True),
            ("resolution", "x"),
            ("resolution", -1),
            ("resolution", 1),
            ("resolution", float("nan")),
            ("max_level", [1]),
            ("max_level", -1),
            ("default_measures", 5),
            ("default_measures", ["Foo"]),
            ("ir_datasets", 5),
            ("ir_datasets", [1]),
            ("source", ["a"]),
            ("id", ""),
            ("id", 5),
            ("id", "a/b"),
            ("title", "\x1b[2J"),
            ("title", "a\nb"),
            ("licence", 3),
            ("unit", "planet"),
            ("beside", 7),
            ("sources", "x"),
            ("measures", {}),
            ("measures", []),
            ("measures", {"AP": 5}),
            ("measures", {"AP": {"systems": -1}}),
            ("measures", {"AP": {"systems": "5"}}),
            ("measures", {"Foo": {"systems": 5}}),
            ("measures", {"AP": {"systems": 5, "depth": "x"}}),
            ("measures", {"AP": {"systems": 6}}),
            ("measures", {"AP": {"systems": 5}, "RR": {"systems": 5}}),
        ]
    },
    "set.json: nested deeply": text("set.json", "[" * 100_000),
    "set.json: a number of 5,000 digits": text("set.json", '{"id": ' + "9" * 5000 + "}"),
    "set.json: not UTF-8": text("set.json", b'{"id": "\xff"}'),
    "set.json: a list": text("set.json", "[]"),
    "set.json: empty": text("set.json", ""),
    "topics.csv: a superscript": cell("topics.csv", "\u00b2"),
    "topics.csv: 5,000 digits": cell("topics.csv", "9" * 5000),
    "topics.csv: negative": cell("topics.csv", "-5"),
    "topics.csv: a fingerprint that is none": cell("topics.csv", "zz", 5),
    "topics.csv: a field of 200,000 characters": cell("topics.csv", "x" * 200_000, 0),
    "topics.csv: NUL": cell("topics.csv", "\0", 0),
    "topics.csv: a stray quote": cell("topics.csv", 'a"b"c,"d', 0),
    "topics.csv: empty": text("topics.csv", ""),
    **{
        f"{file}: {value[:12]!r}": cell(file, value)
        for file in ("mean.csv", "sd.csv")
        for value in (
            "inf",
            "-inf",
            "1e400",
            "-0.1",
            "1.5",
            "nan",
            "1_0",
            "\uff11",
            "x",
            "0x1",
            "9" * 5000,
            "",
            "x" * 200_000,
        )
    },
    "mean.csv: another topic": cell("mean.csv", "7", 0),
    "mean.csv: not UTF-8": text("mean.csv", b",AP\n401,\xff\n"),
    "mean.csv: the mean of other scores": cell("mean.csv", "0.123"),
    "npz: an npy": npy,
    "npz: no zip": text("scores.npz", "text"),
    "npz: empty": text("scores.npz", ""),
    "npz: broken deflate": broken_deflate,
    "npz: broken LZMA": broken_lzma,
    "npz: no npy members": lambda folder: zipfile.ZipFile(folder / "scores.npz", "w").writestr(
        "readme.txt", "x"
    ),
    "npz: no members": lambda folder: zipfile.ZipFile(folder / "scores.npz", "w").close(),
    "npz: encrypted": encrypted,
    "npz: 300 MB of zeros": bomb,
    "npz: a header of 8 TB": member(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000)}"
    ),
    "npz: a negative shape": member(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-20, -5)}", bytes(800)
    ),
    "npz: a header that is code": member("__import__('os').system('true')"),
    "npz: a header nested deeply": member("[" * 9000),
    "npz: pickles": member("{'descr': '|O', 'fortran_order': False, 'shape': (20, 5)}", b"x"),
    "npz: strings": array(np.full((20, 5), "x")),
    "npz: 0-d": array(np.float64(0.5)),
    "npz: 1-d": array(np.zeros(20)),
    "npz: 3-d": array(np.zeros((20, 5, 1))),
    "npz: too few rows": array(SCORES[:19]),
    "npz: integers": array(np.zeros((20, 5), int)),
    "npz: complex numbers": array(np.zeros((20, 5), complex)),
    "npz: booleans": array(np.zeros((20, 5), bool)),
    "npz: unsorted": array(SCORES[:, ::-1]),
    "npz: infinite": array(np.append(SCORES[:, :4], np.full((20, 1), np.inf), axis=1)),
    "npz: negative": array(SCORES - 1),
    "npz: beyond 1": array(SCORES * 9),
    "npz: other scores": array(SCORES / 2),
    "systems.npz: not every system once": array(np.zeros((20, 5), int), "systems.npz"),
    "systems.npz: floats": array(np.zeros((20, 5)), "systems.npz"),
    "means.npz: no measure": lambda folder: np.savez(folder / "means.npz", x=np.zeros(5)),
    "no mean.csv": lambda folder: (folder / "mean.csv").unlink(),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_set_is_refused_in_a_line_and_skipped_with_one_warning(
    name: str, sets: Path
) -> None:
    BROKEN[name](sets / "bad")
    started = time.monotonic()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            scores = ir_std.calc_aggregate([AP], QRELS, RUN, schemes="all")
    assert scores.match is not None
    assert scores.match.factors is not None
    assert scores.match.factors.id == "sound"
    assert len(scores) == 5
    assert len(caught) == 1
    assert "bad" in str(caught[0].message)
    problems = check_set(sets / "bad")
    assert problems
    with pytest.raises(InputError) as refused:
        load_factors(sets / "bad").verify()
    for message in (*problems, str(refused.value), str(caught[0].message)):
        assert "bad" in message
        assert len(message) < 600
        assert message.isprintable()
    assert time.monotonic() - started < 20


def test_what_loads_is_sound_and_what_is_sound_loads(sets: Path) -> None:
    for folder in (sets / "bad", sets / "sound"):
        assert check_set(folder) == []
        load_factors(folder).verify()


def test_a_broken_set_can_be_found_by_its_name(sets: Path) -> None:
    info(depth="x")(sets / "bad")
    with pytest.warns(match="skipped"):
        assert "bad" not in ir_std.available_factors()
    with pytest.raises(InputError, match=r'set.json: depth is "x": a whole number from 1'):
        load_factors(str(sets / "bad"))


def test_two_sets_of_one_name_are_told_apart(sets: Path) -> None:
    info(id="sound")(sets / "bad")
    with pytest.warns(match=r"two factor sets are called 'sound': .*/bad is used, .*/sound only"):
        assert load_factors("sound").path == sets / "bad"
    assert load_factors(sets / "sound").path == sets / "sound"


def test_a_set_is_found_by_its_id_and_by_its_folder(sets: Path) -> None:
    info(id="another-name")(sets / "bad")
    assert "another-name" in ir_std.available_factors()
    assert "bad" not in ir_std.available_factors()
    for name in ("another-name", "bad"):
        assert load_factors(name).id == "another-name"


@pytest.mark.parametrize(
    "pattern",
    [
        r"a*a*a*a*a*a*a*a*a*b",
        r"[ab]*[bc]*" * 15,
        r"\w{0,999}" * 20,
        ".*" * 99,
        "a?" * 99,
        "a{0,9}" * 8,
    ],
)
def test_a_pattern_that_could_keep_an_id_busy_is_refused(pattern: str) -> None:
    started = time.monotonic()
    with pytest.raises(ValueError, match="combined in too many ways"):
        looks_like(pattern + "!", "a" * 100_000)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "pattern", ["a*a*a*", r"\w*[ab]{1,200}.*", "a?" * 22, "a{0,9}" * 6, r"[ab]+\w+.+x|" * 9]
)
def test_no_pattern_keeps_an_id_busy(pattern: str) -> None:
    started = time.monotonic()
    assert not looks_like(pattern + "!", "a" * 100_000)
    assert time.monotonic() - started < 5


def test_patterns_mean_what_regular_expressions_mean() -> None:
    import re

    random = np.random.default_rng(1)
    patterns = {
        pattern
        for name in ir_std.available_factors()
        if (pattern := load_factors(name).info.get("doc_id_pattern"))
    }
    for pattern in sorted(patterns | {r"a|b+c{2}|[^x]d?", r"[A-Z]{2,}x*", r"a{0}b{1,3}", ""}):
        parse_pattern(pattern)
        for _ in range(60):
            doc = "".join(random.choice(list("abcdxAFTWGX0129-._"), random.integers(0, 12)))
            assert looks_like(pattern, doc) == bool(re.fullmatch(pattern, doc)), (pattern, doc)
