"""``python -m ir_std merge``."""

import gzip
import re
from pathlib import Path
from typing import Any

import pytest

from ir_std.cli.merge import HELP
from ir_std.merging import BY_RANK, merge
from ir_std.merging.fusion import COMBINE, METHODS


@pytest.fixture
def shards(tmp_path: Path) -> list[str]:
    (tmp_path / "one.run").write_text("7 Q0 a 1 30 x\n7 Q0 b 2 20 x\n7 Q0 c 3 10 x\n")
    (tmp_path / "two.run").write_text("7 Q0 d 1 0.9 y\n7 Q0 b 2 0.8 y\n8 Q0 e 1 0.4 y\n")
    return [str(tmp_path / "one.run"), str(tmp_path / "two.run")]


def test_runs_are_merged_into_a_file_or_standard_output(
    shards: list[str], tmp_path: Path, ir_std_cli: Any
) -> None:
    out = tmp_path / "merged.run"
    lines = ["7 Q0 d 1 1.0 minmax", "7 Q0 a 2 1.0 minmax", "7 Q0 b 3 0.5 minmax"]
    lines += ["7 Q0 c 4 0.0 minmax", "8 Q0 e 1 0.0 minmax"]
    for output, name, printed in ((out, out, []), ("-", "standard output", lines)):
        done = ir_std_cli("merge", *shards, "--normalize", "minmax", "-o", output)
        assert (done.status, done.out) == (0, printed)
        assert done.err == [f"ir_std: merged 2 runs into {name} (5 documents on 2 topics)"]
    assert out.read_text().splitlines() == lines


def test_combination_depth_and_tag_are_options(
    shards: list[str], tmp_path: Path, ir_std_cli: Any
) -> None:
    out = tmp_path / "merged.run.gz"
    options = ("--normalize", "max", "--combine", "mnz", "--depth", "1", "--tag", "mine", "-o")
    assert ir_std_cli("merge", *options, out, *shards).status == 0
    assert gzip.decompress(out.read_bytes()).decode() == (
        f"7 Q0 b 1 {2 * (20 / 30 + 0.8 / 0.9)!r} mine\n8 Q0 e 1 1.0 mine\n"
    )


@pytest.mark.parametrize("combine", BY_RANK)
def test_ranks_are_merged_without_a_method(
    shards: list[str], combine: str, ir_std_cli: Any
) -> None:
    done = ir_std_cli("merge", *shards, "--combine", combine, "-o", "-")
    documents = [doc for docs in merge(shards, combine=combine).values() for doc in docs]
    assert [line.split()[2] for line in done.out] == documents
    assert done.out[0].endswith(f" {combine}")


def test_the_help_names_the_methods_that_exist() -> None:
    options = HELP.partition("options:")[2]
    normalize, combine = re.findall(r"--(?:normalize|combine) \S+ +(.*(?:\n {9,}.*)*)", options)
    others = {"default", "or", "of", "a", "document", "s", "its", "scores", "ranks"}
    assert set(re.findall(r"\w+", combine)) - others == {*COMBINE, *BY_RANK}
    assert set(re.split(", | or ", normalize.partition(" (")[0])) == {*METHODS}
    assert re.findall(r"^    (\w+) ", HELP, re.MULTILINE) == [*METHODS]


def test_runs_without_common_topics_are_warned_about(
    shards: list[str], tmp_path: Path, ir_std_cli: Any
) -> None:
    alone = tmp_path / "alone.run"
    alone.write_text("9 Q0 a 1 1 x\n")
    merge_them = ("merge", *shards, "--combine", "rrf", "-o", "-")
    assert "warning" not in "\n".join(ir_std_cli(*merge_them).err)
    said = f"warning: no other run shares topics with {alone}, so these topics are not merged"
    assert said in "\n".join(ir_std_cli(*merge_them, alone).err)


def test_other_files_are_replaced_with_force_only_and_inputs_never(
    shards: list[str], tmp_path: Path, ir_std_cli: Any
) -> None:
    out = tmp_path / "dear.run"
    out.write_text("what somebody wrote\n")
    merge_them = ("merge", *shards, "--combine", "rrf", "-o")
    exists = "dear.run: file exists; name a new file, or overwrite it with --force"
    for file, said in ((out, exists), (shards[0], "is one of the inputs; name a new file")):
        before = Path(file).read_bytes()
        done = ir_std_cli(*merge_them, file)
        assert done.status == 2
        assert said in done.err[-1]
        assert Path(file).read_bytes() == before
    assert ir_std_cli(*merge_them, out, "--force").status == 0
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
    shards: list[str], tmp_path: Path, arguments: list[str], message: str, ir_std_cli: Any
) -> None:
    done = ir_std_cli("merge", *shards, *arguments, "-o", tmp_path / "out")
    assert (done.status, len(done.err)) == (2, 1)
    assert re.search(message, done.err[0])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("score", "method", "said"),
    [
        ("nan", "uv", "one.run:1: score is 'nan'"),
        ("-3", "max", "one.run: the highest score of topic 7 is -3.0"),
    ],
)
def test_bad_scores_are_named_by_file_and_line_or_topic(
    shards: list[str], score: str, method: str, said: str, ir_std_cli: Any
) -> None:
    Path(shards[0]).write_text(f"7 Q0 a 1 {score} x\n")
    done = ir_std_cli("merge", *shards, "--normalize", method, "-o", "-")
    assert done.status == 2
    assert said in done.err[-1]
