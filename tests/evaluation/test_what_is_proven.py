"""What of the judgments is proven, and what is said where it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ir_std
from ir_std import AP, RBP, P, StandardizationWarning, load_factors, nDCG, recognize
from ir_std.trec.files import read_qrels


@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
def test_numbers_alone_are_named_and_warned_of_on_a_part() -> None:
    n_rel = load_factors("trec2004-web").n_rel
    qrels = {t: {f"d{i}": int(i < (n or 0)) for i in range((n or 0) + 9)} for t, n in n_rel.items()}
    part = {t: qrels[t] for t in list(qrels)[:40]}
    text = "trec2004-web: recognized by numbers of relevant documents alone"
    assert text in ir_std.evaluator([AP], qrels).notes
    assert text in ir_std.evaluator([AP], part).warnings
    assert "topics matched by numbers of relevant documents alone" in str(recognize(qrels))


@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
def test_grades_that_a_set_does_not_know_are_warned_of() -> None:
    n_rel = load_factors("dl22-passage").n_rel
    qrels = {
        t: {f"msmarco_passage_{i:02}_{i}": 1 + (i % 3) for i in range(n or 0)} | {"x": 0}
        for t, n in n_rel.items()
    }
    evaluator = ir_std.evaluator([nDCG @ 10, P @ 10], qrels)
    assert any(
        "dl22-passage does not know its judgments at level 2, 3: whether they agree is unknown "
        "(snDCG@10)" in warning
        for warning in evaluator.warnings
    )


def test_that_no_set_fits_is_in_the_notes() -> None:
    scores = ir_std.calc_aggregate([AP], {"nowhere": {"a": 1}}, {"nowhere": {"a": 1.0}})
    assert any("no factor set fits these qrels" in note for note in scores.notes)


@pytest.mark.parametrize("run", [{"elsewhere": {"a": 1.0}}])
def test_a_run_that_shares_no_topic_is_an_error(run: Any) -> None:
    for call in (ir_std.calc_aggregate, ir_std.calc, lambda *args: list(ir_std.iter_calc(*args))):
        with pytest.raises(ValueError, match="no topic in common"):
            call([AP], {"here": {"a": 1}}, run)


def test_a_users_set_that_replaces_a_shipped_one_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_factors("trec8-adhoc").save(tmp_path / "trec8-adhoc")
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path))
    with pytest.warns(StandardizationWarning, match="'trec8-adhoc' in .* is used instead"):
        load_factors("trec8-adhoc")


def test_a_measure_that_another_set_has_is_found_there(data: Path) -> None:
    file = data / "qrels" / "terabyte05.txt"
    with pytest.raises(ir_std.NoFactorsError, match="terabyte05 has it: name it"):
        ir_std.StdEvaluator([ir_std.sRBP(p=0.95, rel=1)], file)
    notes = ir_std.evaluator([RBP(p=0.95, rel=1)], file).notes
    assert any("terabyte05 has it: name it with factors= or --factors" in note for note in notes)


def test_more_topics_than_a_data_set_has_are_not_the_whole_of_it(data: Path) -> None:
    judged = read_qrels(data / "qrels" / "beir" / "nfcorpus.txt").judged
    whole = {t: dict(docs) for t, docs in judged.items()}
    assert recognize(whole).fit is not None
    twice = recognize(whole | {f"empty{i}": {"MED-1": 0} for i in range(323)})
    assert twice.fit is None
    assert "has 323 topics, these qrels have 646" in str(twice)


def test_a_refuted_topic_is_not_proven_by_numbers_of_another_set(data: Path) -> None:
    qrels = {t: dict(d) for t, d in read_qrels(data / "qrels" / "blog06.txt").judged.items()}
    permuted = qrels["851"]
    qrels["851"] = dict(zip(permuted, list(permuted.values())[::-1], strict=True))
    match = recognize(qrels)
    assert match.factors is not None
    assert match.factors.id == "blog06"
    assert match.fit is not None
    assert match.fit.without_value([1]) == ["851"]
