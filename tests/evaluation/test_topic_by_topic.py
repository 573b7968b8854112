"""A topic is standardized only where its judgments agree, whatever else is in the file."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from relabel import ALTERATIONS, Qrels, Run

import ir_std
from ir_std import AP, FactorSet, StandardizationWarning, load_factors, nDCG, recognize
from ir_std.evaluation.evaluation import message_texts
from ir_std.factors import catalog

MEASURES = ["AP", "AP(rel=2)", "nDCG", "P@5", "Bpref", "Judged@5", "RBP(p=0.8)"]
TOPICS = [f"t{i}" for i in range(12)]


def world() -> tuple[Qrels, list[dict[str, dict[str, float]]]]:
    """Make judgments at levels -1 to 2 on twelve topics, and three runs."""
    random = np.random.default_rng(7)
    docs = [f"doc-{i}" for i in range(20)]
    qrels = {
        t: dict(zip(docs, [2, 1, 0, -1, *random.integers(-1, 3, 16).tolist()], strict=True))
        for t in TOPICS
    }
    runs = [
        {t: {d: float(x) for d, x in zip(docs, random.permutation(20), strict=True)} for t in qrels}
        for _ in range(3)
    ]
    return qrels, runs


QRELS, RUNS = world()


@pytest.fixture(scope="module")
def only_set(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FactorSet]:
    """Yield a set of these topics, which is the only set that ir_std finds."""
    with pytest.MonkeyPatch.context() as patch:
        empty, own = tmp_path_factory.mktemp("none"), tmp_path_factory.mktemp("sets")
        patch.setattr(catalog, "shipped_folder", lambda: empty)
        patch.setenv("IR_STD_FACTORS", str(own))
        factors = ir_std.build_factors(
            QRELS, {f"s{i}": run for i, run in enumerate(RUNS)}, MEASURES, id="only"
        )
        FactorSet(
            {**factors.info, "doc_id_example": "doc-1"},
            factors.judgments,
            scores=factors.scores,
            systems=factors.systems,
        ).save(own / "only.npz")
        yield load_factors("only")


def values_of(qrels: Qrels, run: Run) -> tuple[dict[tuple[str, str], float], str]:
    """Return the standardized values by measure and topic, and all messages."""
    evaluator = ir_std.evaluator(MEASURES, qrels)
    evaluation = evaluator.evaluate(run)
    values = {
        (plan.name, topic): value
        for plan in evaluator.plans
        for topic, value in zip(plan.topics, evaluation.values[plan.measure].tolist(), strict=True)
        if value == value
    }
    return values, "\n".join(message_texts(evaluator.messages, True) + evaluator.notes)


@pytest.mark.slow
@given(
    st.lists(st.sampled_from(TOPICS), min_size=1, max_size=12, unique=True),
    st.dictionaries(st.sampled_from(TOPICS), st.sampled_from(sorted(ALTERATIONS)), max_size=4),
    st.integers(0, 3),
    st.integers(0, 2**16),
)
@settings(max_examples=2 * settings().max_examples)
@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
@pytest.mark.usefixtures("only_set")
def test_the_verdict_on_a_topic_does_not_depend_on_the_others(
    topics: list[str], altered: dict[str, str], more: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    qrels = {t: dict(QRELS[t]) for t in topics}
    qrels |= {t: ALTERATIONS[kind](qrels[t], random) for t, kind in altered.items() if t in qrels}
    qrels |= {f"other{i}": {"doc-1": 1, "doc-2": 0} for i in range(more)}
    run = {t: RUNS[0].get(t, {"doc-1": 1.0}) for t in qrels}
    truth, _ = values_of(QRELS, RUNS[0])
    values, said = values_of(qrels, run)
    for (measure, topic), value in values.items():
        assert value == pytest.approx(truth[measure, topic], abs=1e-12), (measure, topic)
    for topic in topics:
        left_out = [m for m in MEASURES if (m, topic) in truth and (m, topic) not in values]
        if not left_out:
            continue
        # The messages name measures without values, whose judgments differ on some topics.
        assert "only" in said or "no factor set" in said
        changed = any(qrels[t] != QRELS[t] for t in topics)
        assert changed or len(topics) <= more


def flattened(qrels: Qrels, topics: list[str]) -> Qrels:
    """Lower grades above 1 to 1 on some topics."""
    return {
        t: {d: min(n, 1) if t in topics else n for d, n in docs.items()}
        for t, docs in qrels.items()
    }


@pytest.mark.usefixtures("only_set")
def test_topics_that_differ_are_named_in_one_warning_and_the_others_keep_their_values() -> None:
    qrels = flattened(QRELS, ["t3", "t5"])
    truth, _ = values_of(QRELS, RUNS[0])
    with pytest.warns(StandardizationWarning) as caught:
        scores = ir_std.calc([nDCG, AP], qrels, RUNS[0])
    assert [str(w.message) for w in caught] == [
        "judgments differ from only at level 2 on 2 of 12 topics (e.g. t3: "
        f"{sum(n == 2 for n in QRELS['t3'].values())} documents in the set, 0 in your qrels); "
        "snDCG leaves out these topics unless you pass --factors only (factors=)"
    ]
    values = {
        m.query_id: m.value
        for m in scores.per_query
        if str(m.measure) == "snDCG" and m.value == m.value
    }
    assert values == pytest.approx({t: truth["nDCG", t] for t in TOPICS if t not in ("t3", "t5")})
    assert "relevant documents match on 12 of 12 topics" in str(recognize(qrels))
    assert "judgments match on 12 of 12 topics" in str(recognize(QRELS))


def test_a_named_set_gives_all_topics_values_with_the_warning(only_set: FactorSet) -> None:
    qrels = flattened(QRELS, ["t3", "t5"])
    with pytest.warns(StandardizationWarning, match="at level 2 on 2 of 12 topics"):
        values = ir_std.evaluator([nDCG], qrels, factors=only_set).values(RUNS[0])
    assert not any(np.isnan(v).any() for v in values.values())


@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
@pytest.mark.usefixtures("only_set")
def test_other_documents_judged_not_relevant_concern_measures_of_these_alone() -> None:
    qrels = {
        t: {d if n > 0 or t != "t1" else f"{d}0": n for d, n in docs.items()}
        for t, docs in QRELS.items()
    }
    truth, _ = values_of(QRELS, RUNS[0])
    values, said = values_of(qrels, RUNS[0])
    lost = {key for key in truth if key not in values}
    assert lost == {("Bpref", "t1"), ("Judged@5", "t1")}
    assert "in the documents judged not relevant on 1 of 12 topics (e.g. t1:" in said
    assert "relevant documents at every level match on 12 of 12 topics" in str(recognize(qrels))


@pytest.mark.usefixtures("only_set")
def test_gains_of_another_highest_level_have_no_factors() -> None:
    qrels = QRELS | {"more": {"doc-1": 4}}
    evaluator = ir_std.evaluator(["RBP(p=0.8)", "AP"], qrels)
    assert [plan.name for plan in evaluator.plans] == ["AP"]
    assert any("gains are relative to level 4 in these qrels" in note for note in evaluator.notes)


def test_a_set_that_knows_no_judgments_says_that_nothing_was_compared() -> None:
    half = {"AP": np.full(12, 0.5)}
    factors = FactorSet(
        {"id": "blind", "measures": {"AP": {"systems": 3}}}, dict.fromkeys(TOPICS), half, half
    )
    evaluator = ir_std.evaluator([AP], QRELS, factors=factors)
    assert evaluator.warnings[0].endswith("so nothing was compared")
