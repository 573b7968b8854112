"""Factor sets built from tables of scores."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ir_std import InputError, UsageError, build_from_scores
from ir_std.errors import StandardizationWarning
from ir_std.factors.catalog import load_factors

AP = "topic,a,b,c\n1,0.1,0.25,0.4\n2,0.5,,0.5\n3,,,0.2\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "AP.csv").write_text(AP)
    return tmp_path / "AP.csv"


def test_mean_and_deviation_and_e_are_those_of_the_known_scores(table: Path) -> None:
    built = build_from_scores([table], id="x")
    assert built.measures == ("AP",)
    assert built.mean["AP"] == pytest.approx([0.25, 0.5, np.nan], nan_ok=True)
    assert built.sd["AP"] == pytest.approx([0.15, 0.0, np.nan], nan_ok=True)
    assert built.sd["AP"][1] == 0
    assert built.n_rel == {"1": None, "2": None, "3": None}
    e = built.standardize("AP", ["1", "2", "3"], [0.25, 0.5, 0.2], "E")
    assert e == pytest.approx([2 / 3, 1.0, np.nan], nan_ok=True)


def test_the_resolution_is_the_last_decimal_that_occurs(tmp_path: Path) -> None:
    for text, step in (
        ("0.1,0.25", 0.01),
        ("1,0", 0.0),
        ("1e-04,0", 0.0001),
        ("0.3333333333333333,0", 0.0),
    ):
        (tmp_path / "AP.csv").write_text(f"topic,a,b\n1,{text}\n")
        built = build_from_scores([tmp_path / "AP.csv"], id="x")
        assert built.about("AP", "resolution") == pytest.approx(step)


def test_e_compares_after_rounding_to_the_resolution(tmp_path: Path) -> None:
    (tmp_path / "AP.csv").write_text("topic,a,b\n1,0.3333,0.5\n")
    built = build_from_scores([tmp_path / "AP.csv"], id="x")
    assert built.about("AP", "resolution") == 0.0001
    assert built.standardize("AP", ["1"], [1 / 3 - 1e-5], "E") == [0.5]
    assert built.standardize("AP", ["1"], [0.3332], "E") == [0]


def test_qrels_give_the_topics_and_their_counts(table: Path) -> None:
    qrels: Any = {t: {"d1": 1, "d2": 0} for t in "3214"}
    built = build_from_scores([table], qrels, id="x")
    assert built.n_rel == {"3": 1, "2": 1, "1": 1, "4": 1}
    assert built.mean["AP"] == pytest.approx([np.nan, 0.5, 0.25, np.nan], nan_ok=True)


def test_a_topic_that_the_qrels_lack_is_refused(table: Path) -> None:
    with pytest.raises(
        InputError, match=r"AP.csv, a: unknown topic 2; the qrels do not have this topic"
    ):
        build_from_scores([table], {"1": 3}, id="x")


def test_a_table_that_is_not_a_measure_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(AP)
    says = r"scores\.csv: has columns topic, a, b, c.*name the file after its measure"
    with pytest.raises(InputError, match=says):
        build_from_scores([file], id="x")
    assert build_from_scores({"AP": file}, id="x").measures == ("AP",)


def test_two_tables_of_one_measure_are_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "AP.csv").write_text(AP)
    with pytest.raises(InputError, match=r"b/AP\.csv: repeats AP of a"):
        build_from_scores([tmp_path / "a" / "AP.csv", tmp_path / "b" / "AP.csv"], id="x")


def test_no_table_and_a_missing_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no measure"):
        build_from_scores([], id="x")
    with pytest.raises(InputError, match=r"AP\.csv: no such file"):
        build_from_scores([tmp_path / "AP.csv"], id="x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "AP.csv: no lines"),
        ("topic,a\n1,0.5\n", "AP: no topic has scores of two systems"),
        ("topic,a,b\n1,0.5,\n2,,0.5\n", "no topic has scores of two systems"),
        ("topic,a,a\n1,0.5,0.5\n", "AP.csv:1: duplicate column 'a'"),
        ("topic,a,b\n1,.5,.5\n1,.5,.5\n", "AP.csv:3: duplicate AP for topic 1, first on line 2"),
        ("topic,a,b\n1,0.5\n", "AP.csv:2: 2 columns"),
        ("topic,a,b\n1,0.5,x\n", "AP.csv:2: AP is 'x' for topic 1"),
        ("topic,a,b\n1,0.5,1.5\n", "AP.csv:2: AP is '1.5' for topic 1"),
        ("topic,a,b\n1,0.5,inf\n", "AP.csv:2: AP is 'inf' for topic 1"),
        ("topic,\udcff", "not UTF-8"),
    ],
)
def test_a_broken_table_is_refused_with_its_file_and_line(
    text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "AP.csv").write_text(text, errors="surrogateescape")
    with pytest.raises(InputError, match=message):
        build_from_scores([tmp_path / "AP.csv"], id="x")


def test_the_command_reads_tables(ir_std_cli: Any, table: Path, tmp_path: Path) -> None:
    arguments = "build", "--from-scores", table, "-o", tmp_path / "mine.npz"
    built = ir_std_cli(*arguments, "--depth", 1000)
    assert built.out == [f"{tmp_path}/mine.npz\t3 topics\t3 systems\t1 measure"]
    again = load_factors(tmp_path / "mine.npz")
    assert again.about("AP", "depth") == 1000
    assert np.array_equal(np.sort(again.scores["AP"][0]), [0.1, 0.25, 0.4])
    failed = ir_std_cli(*arguments, "--force", table, table)
    assert failed.status == 2
    assert "RUN cannot be combined with --from-scores" in failed.err[0]


def test_teams_come_from_a_file_and_stay_in_the_set(table: Path, tmp_path: Path) -> None:
    teams = tmp_path / "teams.txt"
    teams.write_text("a team1\n\nb team1\n")
    build_from_scores([table], id="x", teams=teams).save(tmp_path / "set.npz")
    assert load_factors(tmp_path / "set.npz").info["teams"] == {"a": "team1", "b": "team1"}
    assert "teams" not in build_from_scores([table], id="x").info


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("a team1\nb\n", r"teams\.txt:2: 'b'; expected a system and its team"),
        ("a team1\na team2\n", r"teams\.txt:2: repeats a; expected a system"),
        ("\n", r"teams\.txt: no line has a system; expected a system and its team"),
        ("d team1\n", "teams lists systems that have no scores \\(d\\)"),
    ],
)
def test_wrong_teams_are_one_line(table: Path, tmp_path: Path, lines: str, message: str) -> None:
    teams = tmp_path / "teams.txt"
    teams.write_text(lines)
    with pytest.raises((InputError, UsageError), match=message):
        build_from_scores([table], id="x", teams=teams)


def test_scores_that_no_ranking_can_have_are_warned_about(tmp_path: Path) -> None:
    (tmp_path / "RR@10.csv").write_text("topic,a,b\n1,1.0,0.5\n2,0.5,0.5\n")
    (tmp_path / "P@10.csv").write_text("topic,a,b\n1,0.1,0.1\n2,0.1,0.0\n")
    with pytest.warns(StandardizationWarning, match=r"^b: RR@10 exceeds 10 times P@10, which is"):
        build_from_scores(sorted(tmp_path.iterdir()), id="x")
