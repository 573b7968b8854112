"""Recognition of collections."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import ir_std
from ir_std import recognize
from ir_std.factors.catalog import Collection, load_factors
from ir_std.testing import simulated_qrels

SHIPPED_QRELS = ["robust05", "terabyte04", "terabyte05", "terabyte06", "trec7-adhoc",
                 "trec8-adhoc"]


def part(name: str, topics: slice) -> dict[str, dict[str, int]]:
    """Made-up judgments with the topics and counts of a set."""
    judged = simulated_qrels(load_factors(name).n_rel)
    return {t: dict(judged[t]) for t in list(judged)[topics]}


@pytest.mark.parametrize("name", SHIPPED_QRELS)
def test_real_qrels_find_their_set(name: str, data: Path) -> None:
    match = recognize(data / "qrels" / f"{name}.txt")
    assert match.factors is not None
    assert match.factors.id == name
    assert len(match.fit.matched) == len(match.factors.topics)


def test_terabyte_2005_is_found_although_it_was_judged_again(data: Path) -> None:
    fit = recognize(data / "qrels" / "terabyte05.txt").fit
    assert len(fit.differ) == 29
    assert fit.differ["752"] == (345, 349)
    assert "29 of them with other numbers of relevant documents" in str(fit)
    assert "752" in str(fit)


def test_a_part_of_the_topics_finds_the_set() -> None:
    match = recognize(part("trec8-adhoc", slice(10, 20)))
    assert match.factors.id == "trec8-adhoc"
    assert match.fit.partial
    assert "robust04" in match.others


def test_a_single_topic_finds_the_set(data: Path) -> None:
    qrels = ir_std.trec.inputs.as_qrels(data / "qrels" / "terabyte05.txt").judged
    for topic, docs in qrels.items():
        assert recognize({topic: docs}).factors.id == "terabyte05", topic


def test_the_most_specific_set_wins_and_the_others_are_named() -> None:
    match = recognize(part("trec7-adhoc", slice(None)))
    assert match.factors.id == "trec7-adhoc"
    assert match.others[0] == "robust04"


def test_topics_of_two_tracks_find_the_set_that_holds_both() -> None:
    both = part("trec7-adhoc", slice(None)) | part("trec8-adhoc", slice(None))
    assert recognize(both).factors.id == "robust04"


def test_made_up_topics_find_nothing() -> None:
    qrels = {str(i): {f"d{j}": 1 for j in range(i % 7 + 1)} for i in range(1, 51)}
    match = recognize(qrels)
    assert match.factors is None
    assert match.nearest
    assert "differs on" in str(match)


def test_topics_of_no_set_are_said_to_be_that() -> None:
    assert "none holds one of their topics" in str(recognize({"no such topic": {"d": 1}}))


@pytest.mark.parametrize("seed", range(20))
def test_trec_8_topics_with_other_judgments_find_nothing(seed: int) -> None:
    judged = part("trec8-adhoc", slice(None))
    topics = list(judged)
    random.Random(seed).shuffle(topics)
    shuffled = dict(zip(topics, judged.values(), strict=True))
    match = recognize(shuffled)
    assert match.factors is None
    assert match.nearest[0].factors.id == "trec8-adhoc"
    assert "the number of relevant documents differs on" in str(match)


def test_a_few_topics_with_other_documents_find_nothing() -> None:
    qrels = {t: {f"doc {i}": level for i, level in enumerate(d.values())}
             for t, d in part("trec8-adhoc", slice(0, 3)).items()}
    assert "do not look like the collection's" in str(recognize(qrels))


def test_renumbered_documents_are_accepted_where_all_counts_agree() -> None:
    qrels = {t: {str(i): level for i, level in enumerate(d.values())}
             for t, d in part("trec8-adhoc", slice(None)).items()}
    match = recognize(qrels)
    assert match.factors.id == "trec8-adhoc"
    assert "document ids such as '0' are not the collection's" in str(match)


def test_a_topic_that_the_set_lacks_does_not_hide_it() -> None:
    qrels = part("trec8-adhoc", slice(None)) | {"999": {"FT999-1": 1}}
    match = recognize(qrels)
    assert match.factors.id == "trec8-adhoc"
    assert match.fit.missing == ("999",)


def test_topics_without_relevant_documents_need_no_factors() -> None:
    qrels = part("robust04", slice(None)) | {"672": {"FT672-1": 0}}
    assert recognize(qrels).fit.missing == ()


def test_an_ir_datasets_id_names_its_set() -> None:
    match = ir_std.factors.catalog.recognize(
        Collection((("401", 3),), ("x",), "disks45/nocr/trec8"))
    assert match.factors.id == "trec8-adhoc"
    assert match.chosen_by == "ir_datasets id"


def test_recognition_looks_again_when_a_users_set_changes(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    qrels = {f"mine{i}": {"d": 1} for i in range(10)}
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path))
    assert recognize(qrels).factors is None
    info: dict[str, Any] = {"id": "mine", "measures": {"AP": {"systems": 2}}}
    ones = dict.fromkeys(qrels, 1)
    ir_std.FactorSet(info, ones, {"AP": [0.5] * 10}, {"AP": [0.1] * 10}).save(tmp_path / "mine")
    assert recognize(qrels).factors.id == "mine"


def test_a_users_own_set_wins_over_a_shipped_one_that_fits_equally(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = load_factors("trec8-adhoc")
    ir_std.FactorSet(shipped.info | {"id": "my-trec8"}, shipped.n_rel, shipped.mean,
                     shipped.sd).save(tmp_path / "my-trec8")
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path))
    match = recognize(part("trec8-adhoc", slice(None)))
    assert match.factors.id == "my-trec8"
    assert match.others[0] == "trec8-adhoc"
