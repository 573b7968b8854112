"""Messages about a run: its depth relative to measures and factors, and its faults."""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import ir_measures
import numpy as np
import pytest
from ir_measures import nDCG

import ir_std
from ir_std.errors import InputError
from ir_std.evaluation.evaluation import Evaluation, Message
from ir_std.factors.factor_set import FactorSet
from ir_std.trec.files import read_run

TOPICS = [f"t{i}" for i in range(12)]
QRELS = {t: {f"d{j}": 1 for j in range(5)} for t in TOPICS}
RBPS = ("RBP(p=0.0,rel=1)", "RBP(p=0.5,rel=1)", "RBP(p=0.5,rel=1)@10")
MEASURES = ("AP", "P@5", "P@10", "Rprec", "Rprec(rel=2)", *RBPS)


def factors(**info: Any) -> FactorSet:
    """Make factors of a few measures on twelve topics."""
    measures = {name: {"systems": 40} for name in MEASURES}
    column = np.full(len(TOPICS), 0.5)
    return FactorSet(
        {"id": "tiny", "measures": measures, **info},
        dict.fromkeys(TOPICS, 5),
        dict.fromkeys(measures, column),
        dict.fromkeys(measures, column / 5),
    )


def messages(
    sizes: list[int], asked: Any = "AP", qrels: dict[str, dict[str, int]] = QRELS, **info: Any
) -> list[Message]:
    run = {
        t: {f"d{j}": 1.0 / (j + 1) for j in range(size)}
        for t, size in zip(TOPICS, sizes, strict=True)
    }
    evaluator = ir_std.evaluator(asked, qrels, factors=factors(**info))
    evaluation = evaluator.evaluate(run, "run")
    return [m for m in evaluation.messages if "document" in m.text]


@pytest.mark.parametrize(
    ("sizes", "is_warning", "text"),
    [
        (
            [100, *[10] * 11],
            True,
            "only 10 documents on 11 of 12 topics (up to 100 on other topics), but 100 are needed; "
            "scores are too low unless the engine found nothing else (sAP)",
        ),
        ([100] * 8 + [20] * 4, True, "only 20 documents on 4 of 12 topics"),
        ([100] * 9 + [20, 30, 75], False, "only 20 to 75 documents on 3 of 12 topics"),
        ([100, *range(5, 16)], True, "only 5 to 15 documents on 11 of 12 topics"),
    ],
    ids=["most topics", "some topics", "different ends, noted", "far too short"],
)
def test_lists_that_were_cut_are_reported(sizes: list[int], is_warning: bool, text: str) -> None:
    (message,) = messages(sizes, depth=100)
    assert message.is_warning is is_warning
    assert message.text.startswith(text)


@pytest.mark.parametrize(
    "sizes", [[100] * 12, [100] * 11 + [91], [100] * 11 + [20], [100] * 6 + [0] * 6]
)
def test_lists_as_deep_as_the_systems_and_topics_that_are_missing_are_not(sizes: list[int]) -> None:
    assert messages(sizes, depth=100) == []


@pytest.mark.parametrize("depth", [100, None])
def test_one_document_short_of_a_cutoff_is_warned_about_whatever_the_depth(
    depth: int | None,
) -> None:
    assert messages([100, *[10] * 11], "P@10", depth=depth) == []
    (message,) = messages([100] * 11 + [9], "P@10", depth=depth)
    assert message.is_warning
    assert message.text == (
        "only 9 documents on 1 of 12 topics, fewer than the cutoff of sP@10; scores are too low "
        "unless the engine found nothing else"
    )


def test_the_usual_cause_of_one_document_less_on_every_topic_is_named() -> None:
    (message,) = messages([9] * 12, "P@10", depth=100)
    assert message.text == (
        "only 9 documents on 12 of 12 topics, fewer than the cutoff of sP@10; was the run cut with "
        "rank < 10 instead of rank <= 10?"
    )


def test_several_cutoffs_are_warned_about_in_one_line() -> None:
    measures = ["P@10", "RBP(p=0.5,rel=1)@10", "P@5"]
    (message,) = messages([9, *[100] * 10, 3], measures, depth=100)
    assert message.text.startswith(
        "only 3 to 9 documents on 2 of 12 topics, fewer than the cutoff of sP@10, "
        "sRBP(p=0.5,rel=1)@10, sP@5; "
    )


def test_a_message_names_the_measures_that_are_misled_and_concerns_no_others() -> None:
    (message,) = messages([100, *[10] * 11], ["AP", "P@10"], depth=100)
    assert message.applies_to(ir_std.sAP)
    assert message.applies_to(ir_measures.AP)
    assert not message.applies_to(ir_measures.P @ 10)
    assert not message.applies_to(ir_std.sP @ 10)


@pytest.mark.parametrize("deep", [4, 5])
def test_rprec_looks_at_as_many_documents_as_are_relevant(deep: int) -> None:
    about_ap, *about_rprec = messages([deep] * 12, ["AP", "Rprec"], depth=100)
    assert about_ap.text == (
        f"no topic has more than {deep} documents, but tiny was computed at depth 100; scores are "
        "too low (sAP)"
    )
    assert [m.text.partition(" (")[0] for m in about_rprec] == [
        "only 4 documents on 12 of 12 topics"
    ] * (deep == 4)


def test_rprec_looks_at_as_many_as_are_relevant_at_its_level_on_each_topic() -> None:
    some_at_2 = {t: {d: 1 + (d < "d3") for d in docs} for t, docs in QRELS.items()}
    assert messages([3] * 12, "Rprec(rel=2)", qrels=some_at_2, depth=100) == []
    (message,) = messages([2] * 12, "Rprec(rel=2)", qrels=some_at_2, depth=100)
    assert message.text.endswith("(sRprec(rel=2))")
    fewer_on_most = {t: {"d0": 2} if i else some_at_2[t] for i, t in enumerate(TOPICS)}
    assert messages([3, *[1] * 11], "Rprec(rel=2)", qrels=fewer_on_most, depth=100) == []
    none_on_most = {t: some_at_2[t] if i < 2 else QRELS[t] for i, t in enumerate(TOPICS)}
    assert not any(m.is_warning for m in messages([2] * 12, "Rprec(rel=2)", qrels=none_on_most))


@pytest.mark.parametrize(
    ("measure", "looked_at"), [("RBP(p=0.0,rel=1)", 1), ("RBP(p=0.5,rel=1)", 15)]
)
def test_rbp_looks_no_deeper_than_where_documents_weigh(measure: str, looked_at: int) -> None:
    assert messages([looked_at] * 12, measure, depth=100) == []
    assert messages([100, *[looked_at] * 11], measure, depth=100) == []
    shorter = max(looked_at - 2, 0)
    told = messages([100, *[shorter] * 11], measure, depth=100)
    assert [f"but {looked_at} are needed" in m.text for m in told] == [True] * (shorter > 0)


def test_a_shallow_run_is_warned_about_where_the_depth_of_the_systems_is_unknown() -> None:
    (message,) = messages([10] * 12, ["AP", "P@10"])
    assert message.is_warning
    assert message.text == (
        "no topic has more than 10 documents, and tiny does not record the evaluation depth; "
        "scores are too low if the set's systems returned more documents (sAP)"
    )
    assert messages([1000, *[10] * 11], ["AP", "P@10"]) == []


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("trec8-adhoc", marks=pytest.mark.slow),
        pytest.param("dl20-passage", marks=pytest.mark.slow),
        pytest.param("covid-round5", marks=pytest.mark.exhaustive),
    ],
)
@pytest.mark.filterwarnings("error")
def test_few_of_a_tracks_own_runs_are_warned_about(name: str, data: Path, runs_of: Any) -> None:
    evaluator = ir_std.evaluator("AP", data / "qrels" / f"{name}.txt")
    messages = [m for run in runs_of(name).iterdir() for m in evaluator.evaluate(run).messages]
    assert sum(m.is_warning and "are needed" in m.text for m in messages) <= 3


DL19_TOPICS = ir_std.load_factors("dl19-passage").topics[:20]
DL19_QRELS = {t: {f"{1000 + i}": int(i < 5) for i in range(30)} for t in DL19_TOPICS}
N_DOCUMENTS = 20
EVALUATOR = ir_std.evaluator([nDCG @ 10], DL19_QRELS, factors="dl19-passage")

Line = tuple[str, str, int | str, float]


def lines() -> Iterator[Line]:
    """Yield the lines of a good run, with topic, document, rank and score."""
    for topic in DL19_TOPICS:
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
    return EVALUATOR.evaluate(read_run(folder / "run"), "run", depth)


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


SOUND: dict[str, Callable[[Line, Random], Line]] = {
    "the last rank first": lambda x, _: (x[0], x[1], N_DOCUMENTS + 1 - int(x[2]), -x[3]),
    "ranks of an earlier ranking": lambda x, random: (*x[:2], random.randrange(N_DOCUMENTS), x[3]),
}


@pytest.mark.parametrize("change", [*SOUND, "0", "-", "1.5", "9" * 30])
def test_scores_that_follow_the_file_or_no_ranks_at_all_are_no_fault(
    tmp_path: Path, change: str
) -> None:
    random = Random(33)

    def changed(x: Line) -> Line:
        return SOUND[change](x, random) if change in SOUND else (*x[:2], change, x[3])

    assert not evaluated(tmp_path, changed).is_broken


@pytest.mark.parametrize("step", [0.0, 1e-12], ids=["equal", "equal as 32-bit floats"])
def test_constant_scores_are_reported(tmp_path: Path, step: float) -> None:
    (text,) = faults(evaluated(tmp_path, lambda x: (*x[:3], 1 + x[3] * step)))
    assert text.startswith("all documents of a topic have the same score")


WORDS = {"same score": 0.0, "reversed": -1.0}
"""Words of the report if scores are multiplied by a factor, with the factor."""


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(
    ("n_topics", "n_documents", "others", "is_fault"),
    [
        (2, N_DOCUMENTS, True, False),
        (10, N_DOCUMENTS, True, False),
        (11, N_DOCUMENTS, True, True),
        (20, 3, False, False),
        (20, 9, False, False),
        (20, 10, False, True),
        (1, N_DOCUMENTS, False, False),
    ],
)
def test_a_fault_is_on_most_topics_of_several_and_in_lists_that_are_long_enough(
    tmp_path: Path, word: str, n_topics: int, n_documents: int, others: bool, is_fault: bool
) -> None:
    def changed(x: Line) -> Line | None:
        if x[0] in DL19_TOPICS[:n_topics] and int(x[2]) <= n_documents:
            return (*x[:3], x[3] * WORDS[word])
        return x if others else None

    some = evaluated(tmp_path, changed)
    assert any(word in message.text for message in some.messages) is is_fault


@pytest.mark.parametrize(
    ("kept", "is_warning", "is_fault"),
    [(10, True, True), (11, True, False), (17, True, False), (18, False, False)],
)
def test_a_run_without_a_tenth_of_the_topics_is_warned_about_without_half_it_is_broken(
    tmp_path: Path, kept: int, is_warning: bool, is_fault: bool
) -> None:
    short = evaluated(tmp_path, lambda x: x if x[0] in DL19_TOPICS[:kept] else None)
    counted = f"{20 - kept} of 20 topics are missing and count as 0"
    (message,) = (m for m in short.messages if m.text.startswith(counted))
    assert message.is_warning is is_warning
    assert message.text.endswith("pass qrels for its topics only") is is_warning
    assert short.is_broken is is_fault


@pytest.mark.parametrize("form", ["0{}", "{}.", "q-{}", "{}1"])
def test_topic_ids_in_another_form_are_named_as_the_cause(form: str) -> None:
    run = {t if i < 3 else form.format(t): {"1000": 1.0} for i, t in enumerate(DL19_TOPICS)}
    (message,) = (m for m in EVALUATOR.evaluate(run).messages if "missing" in m.text)
    assert message.text == "17 of 20 topics are missing and count as 0" + (
        "; complete the run, or pass qrels for its topics only"
        if form == "{}1"  # other topics
        else f", because the run has {form.format(DL19_TOPICS[3])!r} where the qrels have "
        f"{DL19_TOPICS[3]!r}; write topic IDs alike"
    )


def test_topic_ids_that_are_all_in_another_form_are_named_in_the_error() -> None:
    with pytest.raises(
        InputError, match=rf"as 0{DL19_TOPICS[0]} instead of .*; write topic IDs alike"
    ):
        EVALUATOR.evaluate({f"0{t}": {"1000": 1.0} for t in DL19_TOPICS})


def test_a_run_without_documents_is_reported_by_its_missing_topics() -> None:
    empty = EVALUATOR.evaluate({t: {} for t in DL19_TOPICS}, "run")
    assert [m.text for m in empty.messages][:1] == [
        "20 of 20 topics are missing and count as 0; complete the run, or pass qrels for its "
        "topics only"
    ]
    assert not any("judged" in text for text in faults(empty))


def test_ids_of_another_form_are_reported_with_an_example_of_each(tmp_path: Path) -> None:
    (text,) = faults(evaluated(tmp_path, lambda x: (x[0], f"D{x[1]}", *x[2:])))
    assert text == (
        "none of the run's documents is judged, because the run's IDs ('D1000') do not look like "
        "the IDs in the qrels ('1000'); convert them"
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
        "scores are below nearly all systems of dl19-passage on most topics (snDCG@10 on "
    )
    assert text.endswith("so the run's standardized scores there are close to 0")


def test_scores_of_a_run_that_was_cut_are_not_explained_otherwise(tmp_path: Path) -> None:
    cut = evaluated(tmp_path, lambda x: x if int(x[2]) > 13 else None)
    assert [m.text for m in cut.messages] == [
        "only 7 documents on 20 of 20 topics, fewer than the cutoff of snDCG@10; scores are "
        "too low unless the engine found nothing else"
    ]


@pytest.mark.slow
def test_nine_runs_of_trec_covid_have_their_highest_scores_at_the_last_ranks(
    data: Path, runs_of: Any
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
