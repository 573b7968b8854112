"""Broken runs: each fault has a sentence that says what to do, and no advice about factors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from ir_measures import nDCG

import ir_std
from ir_std.errors import InputError
from ir_std.evaluation.evaluation import Evaluation
from ir_std.trec.files import read_run

TOPICS = ir_std.load_factors("dl19-passage").topics[:20]
QRELS = {t: {f"{1000 + i}": int(i < 5) for i in range(30)} for t in TOPICS}
N_DOCUMENTS = 20

Line = tuple[str, str, int | str, float]


def lines() -> Iterator[Line]:
    """Yield the lines of a good run, with topic, document, rank and score."""
    for topic in TOPICS:
        for i in range(N_DOCUMENTS):
            yield topic, f"{1000 + i}", i + 1, float(N_DOCUMENTS - i)


def evaluated(
    folder: Path,
    changed: Callable[[Line], Line | None] = lambda line: line,
    depth: int | None = None,
    order: Callable[[Line], float] = lambda _: 0,
) -> Evaluation:
    """Evaluate a run after changing, omitting or reordering its lines."""
    kept = [new for line in sorted(lines(), key=order) if (new := changed(line))]
    (folder / "run").write_text(
        "".join(f"{topic} Q0 {doc} {rank} {score} tag\n" for topic, doc, rank, score in kept)
    )
    evaluator = ir_std.evaluator([nDCG @ 10], QRELS, factors="dl19-passage")
    return evaluator.evaluate(read_run(folder / "run"), "run", depth)


def faults(evaluation: Evaluation) -> list[str]:
    assert not any("--factors" in message.text for message in evaluation.messages)
    return [message.text for message in evaluation.messages if message.is_fault]


def test_a_sound_run_has_no_fault(tmp_path: Path) -> None:
    assert not evaluated(tmp_path).is_broken


@pytest.mark.parametrize("depth", [None, 10])
def test_scores_that_contradict_ranks_are_reported(tmp_path: Path, depth: int | None) -> None:
    (text,) = faults(evaluated(tmp_path, lambda x: (*x[:3], -x[3]), depth))
    assert text == (
        "scores increase with rank, and ir_std sorts by score, so the ranking is reversed; negate "
        "the scores if they are distances"
    )


def test_a_file_that_has_the_last_rank_first_contradicts_nothing(tmp_path: Path) -> None:
    upside_down = evaluated(tmp_path, lambda x: (x[0], x[1], N_DOCUMENTS + 1 - int(x[2]), -x[3]))
    assert not any("reversed" in text for text in faults(upside_down))


def test_scores_contradict_ranks_wherever_in_the_file_the_ranks_are(tmp_path: Path) -> None:
    random = Random(33)
    turned = evaluated(tmp_path, lambda x: (*x[:3], -x[3]), order=lambda _: random.random())
    assert any("reversed" in text for text in faults(turned))
    assert not evaluated(tmp_path, order=lambda _: random.random()).is_broken


def test_ranks_of_an_earlier_ranking_contradict_nothing(tmp_path: Path) -> None:
    random = Random(33)
    mixed = evaluated(tmp_path, lambda x: (*x[:2], random.randrange(N_DOCUMENTS), x[3]))
    assert not mixed.is_broken


@pytest.mark.parametrize("rank", ["0", "-", "1.5", "9" * 30])
def test_a_column_without_ranks_contradicts_nothing(tmp_path: Path, rank: str) -> None:
    assert not evaluated(tmp_path, lambda x: (*x[:2], rank, x[3])).is_broken


def test_constant_scores_are_reported(tmp_path: Path) -> None:
    (text,) = faults(evaluated(tmp_path, lambda x: (*x[:3], 1.0)))
    assert text.startswith("all documents of a topic have the same score")


def test_scores_that_32_bits_do_not_tell_apart_are_constant(tmp_path: Path) -> None:
    (text,) = faults(evaluated(tmp_path, lambda x: (*x[:3], 1 + x[3] * 1e-12)))
    assert text.startswith("all documents of a topic have the same score")


WORDS = {"same score": 0.0, "reversed": -1.0}
"""What is said of scores that are multiplied by so much."""


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(("n_topics", "is_fault"), [(2, False), (10, False), (11, True)])
def test_a_fault_is_one_of_most_topics(
    tmp_path: Path, word: str, n_topics: int, is_fault: bool
) -> None:
    def changed(x: Line) -> Line:
        return (*x[:3], x[3] * WORDS[word]) if x[0] in TOPICS[:n_topics] else x

    some = evaluated(tmp_path, changed)
    assert any(word in message.text for message in some.messages) is is_fault


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(("documents", "is_fault"), [(3, False), (9, False), (10, True)])
def test_a_fault_is_one_of_lists_that_are_long_enough(
    tmp_path: Path, word: str, documents: int, is_fault: bool
) -> None:
    short = evaluated(
        tmp_path, lambda x: (*x[:3], x[3] * WORDS[word]) if int(x[2]) <= documents else None
    )
    assert any(word in message.text for message in short.messages) is is_fault


@pytest.mark.parametrize("word", WORDS)
def test_a_single_topic_shows_no_fault_of_a_run(tmp_path: Path, word: str) -> None:
    single = evaluated(
        tmp_path, lambda x: (*x[:3], x[3] * WORDS[word]) if x[0] == TOPICS[0] else None
    )
    assert not any(word in message.text for message in single.messages)


@pytest.mark.parametrize(
    ("kept", "warns", "is_fault"),
    [(10, True, True), (11, True, False), (17, True, False), (18, False, False)],
)
def test_a_run_without_a_tenth_of_the_topics_is_warned_about_without_half_it_is_broken(
    tmp_path: Path, kept: int, warns: bool, is_fault: bool
) -> None:
    short = evaluated(tmp_path, lambda x: x if x[0] in TOPICS[:kept] else None)
    counted = f"{20 - kept} of 20 topics are missing and count as 0"
    (message,) = (m for m in short.messages if m.text.startswith(counted))
    assert message.warns is warns
    assert message.text.endswith("pass qrels for its topics only") is warns
    assert short.is_broken is is_fault


@pytest.mark.parametrize("form", ["0{}", "{}.", "q-{}"])
def test_topic_ids_in_another_form_are_named_as_the_cause(form: str) -> None:
    run = {t if i < 3 else form.format(t): {"1000": 1.0} for i, t in enumerate(TOPICS)}
    evaluator = ir_std.evaluator([nDCG @ 10], QRELS, factors="dl19-passage")
    (message,) = (m for m in evaluator.evaluate(run).messages if "missing" in m.text)
    assert message.text == (
        f"17 of 20 topics are missing and count as 0; it has {form.format(TOPICS[3])!r} where the "
        f"qrels have {TOPICS[3]!r}, write topic IDs alike"
    )


def test_topic_ids_that_are_all_in_another_form_are_named_in_the_error() -> None:
    evaluator = ir_std.evaluator([nDCG @ 10], QRELS, factors="dl19-passage")
    with pytest.raises(InputError, match=rf"as 0{TOPICS[0]} instead of .*; write topic IDs alike"):
        evaluator.evaluate({f"0{t}": {"1000": 1.0} for t in TOPICS})


def test_other_topics_are_not_taken_for_those_of_the_qrels() -> None:
    run = {t if i < 3 else f"{t}1": {"1000": 1.0} for i, t in enumerate(TOPICS)}
    evaluator = ir_std.evaluator([nDCG @ 10], QRELS, factors="dl19-passage")
    assert not any("alike" in m.text for m in evaluator.evaluate(run).messages)


def test_a_run_without_documents_is_reported_by_its_missing_topics() -> None:
    evaluator = ir_std.evaluator([nDCG @ 10], QRELS, factors="dl19-passage")
    empty = evaluator.evaluate({t: {} for t in TOPICS}, "run")
    assert [m.text for m in empty.messages][:1] == [
        "20 of 20 topics are missing and count as 0; complete the run, or pass qrels for its "
        "topics only"
    ]
    assert not any("judged" in text for text in faults(empty))


def test_ids_of_another_form_are_reported_with_an_example_of_each(tmp_path: Path) -> None:
    (text,) = faults(evaluated(tmp_path, lambda x: (x[0], f"D{x[1]}", *x[2:])))
    assert text == (
        "none of its documents is judged, because its IDs ('D1000') do not look like those in the "
        "qrels ('1000'); convert them"
    )


def test_other_ids_of_the_same_form_are_asked_about(tmp_path: Path) -> None:
    (text,) = faults(evaluated(tmp_path, lambda x: (x[0], f"9{x[1]}", *x[2:])))
    assert text.endswith("belong to the same collection and topics")


def test_a_run_below_all_systems_is_not_a_fault_and_not_sent_to_other_factors(
    tmp_path: Path,
) -> None:
    low = evaluated(tmp_path, lambda x: (x[0], f"{1029 - int(x[1]) + 1000}", *x[2:]))
    assert not faults(low)
    (text,) = (m.text for m in low.messages if "below nearly all" in m.text)
    assert text.startswith(
        "scores below nearly all systems of dl19-passage on most topics (snDCG@10 on "
    )
    assert text.endswith("so its standardized scores are close to 0 there")


def test_scores_of_a_run_that_was_cut_are_not_explained_otherwise(tmp_path: Path) -> None:
    cut = evaluated(tmp_path, lambda x: x if int(x[2]) > 13 else None)
    assert [m.text for m in cut.messages] == [
        "only 7 documents on 20 of 20 topics, fewer than the cutoff of snDCG@10; scores are "
        "too low unless nothing else matched"
    ]


@pytest.mark.slow
def test_nine_runs_of_trec_covid_have_their_highest_scores_at_the_last_ranks(
    data: Path, runs_of: Callable[[str], Path]
) -> None:
    evaluator = ir_std.evaluator([nDCG @ 10], data / "qrels" / "covid-round1.txt")
    turned = {
        file.name
        for file in runs_of("covid-round1").iterdir()
        if any("reversed" in text for text in faults(evaluator.evaluate(file)))
    }
    assert turned == {
        "BRPHJ_NLP2",
        *(f"ERST_{kind}" for kind in ("NARRATIVE", "PROSE", "QUESTION")),
        *(f"SFDC-23April-run{i}" for i in (1, 2)),
        *(f"yn-r1-{kind}" for kind in ("alltext", "concepttext", "hierarchy")),
    }
