"""``python -m ir_std merge``."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ir_std.cli import main
from ir_std.merging import BY_RANK, METHODS, merge
from ir_std.trec.files import read_run


@pytest.fixture
def shards(tmp_path: Path) -> list[str]:
    (tmp_path / "one.run").write_text("7 Q0 a 1 30 x\n7 Q0 b 2 20 x\n7 Q0 c 3 10 x\n")
    (tmp_path / "two.run").write_text("7 Q0 d 1 0.9 y\n7 Q0 b 2 0.8 y\n8 Q0 e 1 0.4 y\n")
    return [str(tmp_path / "one.run"), str(tmp_path / "two.run")]


def test_runs_are_merged_into_a_file(
    shards: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "merged.run"
    assert main(["merge", *shards, "--normalize", "minmax", "-o", str(out)]) == 0
    assert out.read_text() == (
        "7 Q0 d 1 1.0 minmax\n7 Q0 a 2 1.0 minmax\n7 Q0 b 3 0.5 minmax\n"
        "7 Q0 c 4 0.0 minmax\n8 Q0 e 1 0.0 minmax\n"
    )
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == f"ir_std: merged 2 runs into {out} (5 documents on 2 topics)\n"


def test_a_merged_run_goes_to_standard_output(
    shards: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "merged.run"
    for output in (str(out), "-"):
        assert main(["merge", *shards, "--normalize", "minmax", "-o", output]) == 0
    shown = capsys.readouterr()
    assert shown.out == out.read_text()
    assert "merged 2 runs into standard output (5 documents" in shown.err


def test_combination_depth_and_tag_are_options(shards: list[str], tmp_path: Path) -> None:
    out = tmp_path / "merged.run.gz"
    options = ["--normalize", "max", "--combine", "mnz", "--depth", "1", "--tag", "mine", "-o"]
    assert main(["merge", *options, str(out), *shards]) == 0
    assert gzip.decompress(out.read_bytes()).decode() == (
        f"7 Q0 b 1 {2 * (20 / 30 + 0.8 / 0.9)!r} mine\n8 Q0 e 1 1.0 mine\n"
    )


@pytest.mark.parametrize("combine", BY_RANK)
def test_ranks_are_merged_without_a_method(shards: list[str], tmp_path: Path, combine: str) -> None:
    out = tmp_path / "merged.run"
    assert main(["merge", *shards, "--combine", combine, "-o", str(out)]) == 0
    merged = merge(shards, combine=combine)
    assert [line.split()[2] for line in out.read_text().splitlines()] == [
        doc for docs in merged.values() for doc in docs
    ]
    assert out.read_text().splitlines()[0].endswith(f" {combine}")


def test_runs_without_common_topics_are_warned_about(
    shards: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = tmp_path / "alone.run"
    alone.write_text("9 Q0 a 1 1 x\n")
    options = ["--combine", "rrf", "-o", str(tmp_path / "out")]
    assert main(["merge", *shards, *options]) == 0
    assert "warning" not in capsys.readouterr().err
    assert main(["merge", *shards, str(alone), *options, "--force"]) == 0
    assert (
        f"warning: no other run shares topics with {alone}, so nothing is merged there\n"
    ) in capsys.readouterr().err


def test_a_file_that_is_there_is_replaced_with_force_only(
    shards: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "dear.run"
    out.write_text("what somebody wrote\n")
    arguments = ["merge", *shards, "--combine", "rrf", "-o", str(out)]
    assert main(arguments) == 2
    assert (
        "dear.run: file exists; name a new file, or overwrite it with --force"
        in capsys.readouterr().err
    )
    assert out.read_text() == "what somebody wrote\n"
    assert main([*arguments, "--force"]) == 0
    assert out.read_text().startswith("7 Q0 ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--normalize", "minimax"], "unknown method 'minimax'.*did you mean 'minmax'"),
        (["--normalize", "uv", "--combine", "avg"], "unknown combination 'avg'"),
        (["--normalize", "uv", "--depth", "0"], "depth must be an integer of at least 1, got 0"),
        (["--normalize", "uv", "--depth", "x"], "--depth needs a number, got 'x'"),
        (["--normalize", "uv", "--tag", "a b"], "tag 'a b'"),
        (["--normalize", "uv", "--tag", ""], "tag ''"),
        (["--normalize", "uv", "missing.run"], r"missing\.run: No such file"),
        ([], "sum needs normalized scores.*--normalize"),
        (["--combine", "rrf", "--normalize", "uv"], "rrf combines ranks; leave out"),
    ],
)
def test_wrong_use_is_one_line_and_writes_nothing(
    shards: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    try:
        status: object = main(["merge", *shards, *arguments, "-o", str(tmp_path / "out")])
    except SystemExit as stopped:
        status = stopped.code
    assert status == 2
    shown = capsys.readouterr().err
    assert re.search(message, shown)
    assert shown.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_bad_scores_are_named_by_file_and_line_or_topic(
    shards: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(shards[0]).write_text("7 Q0 a 1 nan x\n")
    assert main(["merge", *shards, "--normalize", "uv", "-o", str(tmp_path / "out")]) == 2
    assert "one.run:1: score is 'nan'" in capsys.readouterr().err
    Path(shards[0]).write_text("7 Q0 a 1 -3 x\n")
    assert main(["merge", *shards, "--normalize", "max", "-o", str(tmp_path / "out")]) == 2
    assert "one.run: the highest score of topic 7 is -3.0" in capsys.readouterr().err


def test_a_run_is_not_replaced_by_what_it_is_merged_to(
    shards: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = Path(shards[0]).read_bytes()
    assert main(["merge", *shards, "--normalize", "zscore", "-o", shards[0]]) == 2
    assert "is one of the inputs; name a new file" in capsys.readouterr().err
    assert Path(shards[0]).read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        pytest.param(method, marks=[] if method == "minmax" else pytest.mark.slow)
        for method in METHODS
    ],
)
def test_merged_real_runs_read_back_equal(
    runs_of: Callable[[str], Path], tmp_path: Path, method: str
) -> None:
    runs = [str(runs_of("dl19-passage") / tag) for tag in ("bm25base_p", "UNH_bm25", "runid5")]
    out = tmp_path / "merged.run.gz"
    assert main(["merge", *runs, "--normalize", method, "-o", str(out)]) == 0
    read = read_run(out)
    assert {
        t: dict(zip(docs, scores.tolist(), strict=True)) for t, (docs, scores) in read.lists.items()
    } == merge(runs, method)
