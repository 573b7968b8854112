"""Sets with a language model's judgments, compared with people's judgments of the same topics."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up import collection, write_qrels, write_runs

import ir_std
from ir_std.errors import StandardizationWarning, UsageError
from ir_std.testing import simulated_run
from ir_std.trec.files import read_qrels

JUDGED = {
    **{f"dl{y}-passage-umbrela": f"judges/dl{y}-passage.umbrela-gpt4" for y in (19, 20, 21)},
    "dl23-passage-gpt4": "judges/dl23-passage.gpt4",
}


@pytest.mark.parametrize("name", JUDGED)
def test_a_set_of_a_judge_says_which_and_whose_topics_these_are(name: str) -> None:
    factors = ir_std.load_factors(name)
    people = ir_std.load_factors(factors.info["same_topics_as"])
    assert factors.info["kind"] == "judge"
    assert set(factors.info["judge"]) == {"name", "model", "prompt", "source"}
    assert set(factors.topics) == set(people.topics)
    assert factors.systems == people.systems
    assert "judge" not in people.info
    judged = {t: sum((j.levels or {}).values()) for t, j in factors.judgments.items()}
    assert judged == {t: sum((j.levels or {}).values()) for t, j in people.judgments.items()}


@pytest.mark.parametrize("name", JUDGED)
@pytest.mark.parametrize("part", [None, 1, 5, 12])
def test_labels_of_people_and_of_a_model_are_distinguished(
    name: str, part: int | None, data: Path
) -> None:
    people = ir_std.load_factors(name).info["same_topics_as"]
    for file, expected in ((JUDGED[name], name), (people, people)):
        judged = read_qrels(data / "qrels" / f"{file}.txt").judged
        topics = random.Random(1).sample(sorted(judged), part or len(judged))
        match = ir_std.recognize({t: dict(judged[t]) for t in topics})
        assert match.factors is not None
        assert match.factors.id == expected
        assert match.fit is not None
        assert match.fit.match_type == "judgments"
        assert not {name, people} & set(match.alternatives)


@pytest.mark.parametrize("file", ["dl19-passage.binary-gpt4", "dl20-passage.exam-graded-gpt4"])
def test_labels_of_another_judge_get_no_factors_unless_a_set_is_named(
    file: str, data: Path
) -> None:
    qrels = data / "qrels" / "judges" / f"{file}.txt"
    match = ir_std.recognize(qrels)
    assert match.factors is None
    assert "to use it anyway" in str(match)


def test_build_records_the_judge(tmp_path: Path, ir_std_cli: Any) -> None:
    judged, made = collection()
    qrels = write_qrels(judged, tmp_path / "qrels.txt")
    runs = write_runs(made, tmp_path / "runs")
    set_file = tmp_path / "mine.npz"
    assert ir_std_cli("build", qrels, runs, "-o", set_file, "--judge", "umbrela-7b").status == 0
    info = json.loads(np.load(set_file)["set.json"])
    assert (info["kind"], info["judge"]) == ("judge", {"name": "umbrela-7b"})
    assert "judge\tname\tumbrela-7b" in ir_std_cli("factors", "show", set_file).out
    about = {"name": "mine", "model": "llama"}
    assert ir_std.build_factors(judged, made, "AP", id="x", judge=about).info["judge"] == about
    with pytest.raises(UsageError, match="name is required"):
        ir_std.build_factors(judged, made, "AP", id="x", judge={"model": "GPT-4"})


def mixed(data: Path, by: str) -> dict[str, dict[str, int]]:
    """Mix labels of people and of a model on DL 2019, by document or by topic."""
    people, model = (
        read_qrels(data / "qrels" / f"{file}.txt").judged
        for file in ("dl19-passage", JUDGED["dl19-passage-umbrela"])
    )
    random_ = random.Random(1)
    if by == "topic":
        return {t: dict((people if i % 2 else model)[t]) for i, t in enumerate(people)}
    return {
        t: {d: level if random_.random() < 0.7 else model[t][d] for d, level in docs.items()}
        for t, docs in people.items()
    }


def test_labels_of_people_that_a_model_completed_are_a_collection_of_their_own(data: Path) -> None:
    qrels = mixed(data, "document")
    match = ir_std.recognize(qrels)
    assert match.factors is None
    assert "build a set with `ir_std build`" in str(match)
    with pytest.warns(StandardizationWarning, match="judgments differ from dl19-passage"):
        ir_std.evaluate(simulated_run(qrels, 1), qrels, "nDCG@10", factors="dl19-passage")


def test_labels_of_one_judge_on_half_of_the_topics_are_differences(data: Path) -> None:
    match = ir_std.recognize(mixed(data, "topic"))
    assert match.fit is None or match.fit.differing_topics
