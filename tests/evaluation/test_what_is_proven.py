"""Judgments are verified topic by topic, with messages about those that differ."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sets import EACH_KIND

import ir_std
from ir_std import AP, P, StandardizationWarning, load_factors, nDCG, recognize
from ir_std.evaluation.plans import Plan
from ir_std.testing import simulated_qrels
from ir_std.trec.files import read_qrels


@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
def test_numbers_alone_are_named_and_warned_about_on_a_part() -> None:
    n_rel = load_factors("trec2004-web").n_rel
    qrels = {
        t: {f"G{i:02}-00-1": int(i < (n or 0)) for i in range((n or 0) + 9)}
        for t, n in n_rel.items()
    }
    part = {t: qrels[t] for t in list(qrels)[:40]}
    text = "trec2004-web was recognized only by counts of relevant documents"
    assert text in ir_std.evaluator([AP], qrels).notes
    assert text in ir_std.evaluator([AP], part).warnings
    assert "counts of relevant documents match on 225 of 225 topics" in str(recognize(qrels))


@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
def test_grades_that_a_set_does_not_know_are_warned_about() -> None:
    n_rel = load_factors("dl22-passage").n_rel
    qrels = {
        t: {f"msmarco_passage_{i:02}_{i}": 1 + (i % 3) for i in range(n or 0)} | {"x": 0}
        for t, n in n_rel.items()
    }
    evaluator = ir_std.evaluator([nDCG @ 10, P @ 10], qrels)
    assert any(
        "dl22-passage does not record its judgments at levels 2 and 3, so your judgments may "
        "differ (snDCG@10)" in warning
        for warning in evaluator.warnings
    )


def test_a_run_that_shares_no_topic_is_an_error() -> None:
    for call in (ir_std.calc_aggregate, ir_std.calc, lambda *args: list(ir_std.iter_calc(*args))):
        with pytest.raises(ValueError, match="no topic in common"):
            call([AP], {"here": {"a": 1}}, {"elsewhere": {"a": 1.0}})


def test_a_users_set_that_is_called_as_a_shipped_one_is_hidden_and_warned_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_factors("trec8-adhoc").save(tmp_path / "trec8-adhoc.npz")
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path))
    with pytest.warns(StandardizationWarning, match="two factor sets have the ID"):
        assert load_factors("trec8-adhoc").path != tmp_path / "trec8-adhoc.npz"


def test_a_measure_that_another_set_has_is_found_there(data: Path) -> None:
    file = data / "qrels" / "blog06.txt"
    with pytest.raises(ir_std.NoFactorsError, match=r"to use blog08, pass --factors"):
        ir_std.StdEvaluator([ir_std.sP @ 20], file)
    notes = ir_std.evaluator([P @ 20], file).notes
    assert any("to use blog08, pass --factors (factors=)" in note for note in notes)


def test_more_topics_than_a_dataset_has_are_not_the_whole_of_it(data: Path) -> None:
    judged = read_qrels(data / "qrels" / "beir" / "nfcorpus.txt").judged
    whole = {t: dict(docs) for t, docs in judged.items()}
    assert recognize(whole).fit is not None
    twice = recognize(whole | {f"empty{i}": {"MED-1": 0} for i in range(323)})
    assert twice.fit is None
    assert "has 323 topics, but your qrels have 646" in str(twice)


def test_a_refuted_topic_is_not_proven_by_numbers_of_another_set(data: Path) -> None:
    qrels = {t: dict(d) for t, d in read_qrels(data / "qrels" / "blog06.txt").judged.items()}
    permuted = qrels["851"]
    qrels["851"] = dict(zip(permuted, list(permuted.values())[::-1], strict=True))
    match = recognize(qrels)
    assert match.factors is not None
    assert match.factors.id == "blog06"
    assert match.fit is not None
    assert match.fit.without_value([1]) == ("851",)


@pytest.fixture
def permuted(data: Path) -> dict[str, dict[str, int]]:
    """Permute the levels of DL 2019's judgments on 20 of the 43 topics."""
    qrels = {t: dict(d) for t, d in read_qrels(data / "qrels" / "dl19-passage.txt").judged.items()}
    for topic in list(qrels)[:20]:
        qrels[topic] = dict(zip(qrels[topic], list(qrels[topic].values())[::-1], strict=True))
    return qrels


@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
@pytest.mark.parametrize("chosen", [{}, {"without": "bm25base_p"}, {"systems": "modern"}])
def test_choosing_systems_does_not_overrule_judgments_that_differ(
    chosen: dict[str, Any], permuted: Any
) -> None:
    evaluator = ir_std.evaluator([nDCG @ 10], permuted, **chosen)
    (plan,) = evaluator.plans
    assert len(plan.differing) == 20
    assert any(
        "judgments differ" in text and "on 20 of 43 topics" in text for text in evaluator.warnings
    )


@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
@pytest.mark.parametrize("batch", [None, 7])
def test_pyterriers_experiment_does_not_overrule_judgments_that_differ(
    batch: int | None, permuted: Any
) -> None:
    pt = pytest.importorskip("pyterrier")
    import pandas as pd

    from ir_std.pyterrier import Experiment

    rows = [(t, d, n) for t, docs in permuted.items() for d, n in docs.items()]
    qrels = pd.DataFrame(rows, columns=["qid", "docno", "label"])
    run = qrels.groupby("qid").head(30).assign(score=1.0, query="q", rank=0)
    values = Experiment(
        [pt.Transformer.from_df(run)],
        qrels[["qid"]].drop_duplicates().assign(query="q"),
        qrels,
        [nDCG @ 10],
        names=["a"],
        perquery=True,
        batch_size=batch,
    )
    assert values[values["measure"] == "snDCG@10"]["value"].isna().sum() == 20


def test_a_user_who_names_a_set_reads_how_many_values_that_concerns(data: Path) -> None:
    qrels = {t: dict(d) for t, d in read_qrels(data / "qrels" / "dl19-passage.txt").judged.items()}
    qrels["19335"][next(iter(qrels["19335"]))] = 4
    evaluator = ir_std.evaluator([ir_std.RBP, ir_std.AP], qrels, factors="dl19-passage")
    assert any("(sRBP on 43, sAP on 1)" in text for text in evaluator.warnings)


Qrels = dict[str, dict[str, int]]
SETS = [
    name
    for name in ir_std.available_factors()
    if not load_factors(name).of_datasets and any(load_factors(name).n_rel.values())
]


def judged(name: str) -> Qrels:
    """Return judgments of a set's topics: those relevant, and three that are not."""
    counts = {t: known.levels or known.n_rel for t, known in load_factors(name).judgments.items()}
    return {
        topic: dict([*docs.items()][: sum(map(bool, docs.values())) + 3])
        for topic, docs in simulated_qrels(counts).items()
    }


def changed(qrels: Qrels, random: np.random.Generator) -> tuple[str, Qrels]:
    """Change one label to another level that occurs; also return the topic."""
    levels = sorted({level for docs in qrels.values() for level in docs.values()})
    topic = str(random.choice([t for t, docs in qrels.items() if docs]))
    document = str(random.choice(list(qrels[topic])))
    others = [level for level in levels if level != qrels[topic][document]]
    return topic, qrels | {topic: qrels[topic] | {document: int(random.choice(others))}}


def planned(name: str, qrels: Qrels) -> dict[str, Plan]:
    """Return how the set's default measures are standardized; Bpref needs all judgments."""
    measures = [m for m in load_factors(name).default_measures if m != "Bpref"]
    return {str(plan.measure): plan for plan in ir_std.evaluator(measures, qrels).plans}


def rows_elsewhere(plan: Plan, topic: str) -> Iterator[tuple[str, int]]:
    """Yield the rows of the set that standardize the other topics."""
    return ((t, row) for t, row in zip(plan.topics, plan.rows.tolist(), strict=True) if t != topic)


def check(name: str, n: int) -> None:
    """Change a label at random, again and again."""
    random = np.random.default_rng(9100)
    qrels: Any = judged(name)
    before = planned(name, qrels)
    assert before
    for _ in range(n):
        topic, other = changed(qrels, random)
        after = planned(name, other)
        assert after.keys() == before.keys()
        for measure, plan in before.items():
            assert after[measure].factors.id == plan.factors.id
            assert after[measure].name == plan.name
            assert [*rows_elsewhere(after[measure], topic)] == [*rows_elsewhere(plan, topic)]


@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
@pytest.mark.parametrize("name", [name for name in EACH_KIND if name in SETS])
def test_a_changed_label_changes_no_other_topics_value(name: str) -> None:
    check(name, 3)


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
@pytest.mark.parametrize("name", SETS)
def test_a_hundred_changed_labels_change_no_other_topics_value(name: str) -> None:
    check(name, 100)
