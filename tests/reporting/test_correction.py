"""Scores under human labels, estimated from a few human topics and a model's labels."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_std
from ir_std.analysis.agreement import pair_agreement
from ir_std.errors import InputError, UsageError

PEOPLE, MODEL = "dl20-passage", "dl20-passage-umbrela"


@pytest.fixture(scope="module")
def topics() -> list[str]:
    """Return every fifth topic of DL 2020 in numerical order, as in the study."""
    return sorted(ir_std.load_factors(PEOPLE).topics, key=int)[::5]


@pytest.fixture(scope="module")
def corrected(topics: list[str]) -> ir_std.Correction:
    return ir_std.correct(PEOPLE, MODEL, measures="nDCG@10", topics=topics, baseline="p_bm25")


def test_the_study_s_figures_come_out(corrected: ir_std.Correction) -> None:
    raw, standardized = corrected.measures
    assert corrected.estimates[raw].multipliers == pytest.approx((0.701878, 0.848706), abs=5e-7)
    bm25 = corrected.estimate("p_bm25", raw)
    assert (bm25.mean, bm25.topics) == pytest.approx((0.490854, 0.065306), abs=5e-7)
    assert corrected.alone[raw].contrast(one(corrected, "p_bm25")).mean == pytest.approx(
        0.461220, abs=5e-7
    )
    model = corrected.model_means[raw][corrected.runs.index("p_bm25")]
    assert model == pytest.approx(0.610129, abs=5e-7)
    difference = corrected.difference("bigIR-T5-R", "p_bm25", raw)
    assert (difference.mean, difference.topics) == pytest.approx((0.298310, 0.091076), abs=5e-7)
    assert corrected.equivalent_topics(raw) == pytest.approx(17.83, abs=5e-3)
    n = corrected.estimate("p_bm25", standardized)
    assert (n.mean, n.topics) == pytest.approx((0.326574, 0.085193), abs=5e-7)
    alone = corrected.alone[raw].contrast(one(corrected, "pash_f1"))
    found = alone.mean, alone.topics, alone.topics_df
    assert found == pytest.approx((0.829659, 0.070753, 10), abs=5e-7)


def one(corrected: ir_std.Correction, run: str) -> np.ndarray:
    return np.array([float(name == run) for name in corrected.runs])


def test_the_sentence_says_what_was_judged_by_whom(corrected: ir_std.Correction) -> None:
    assert corrected.sentence("p_bm25", "nDCG@10") == (
        "nDCG@10 of p_bm25 under human labels of all 54 topics: 0.491 ± 0.065 (95% t interval; "
        "people judged 11 topics, drawn at random, and dl20-passage-umbrela judged all 54)"
    )


def test_the_table_has_the_best_run_first_and_says_what_the_labels_are_worth(
    corrected: ir_std.Correction,
) -> None:
    table = corrected.table("nDCG@10")
    means = [row[1].value for row in table.rows]
    assert means == sorted(means, reverse=True)
    assert table.header[-1] == "minus p_bm25"
    assert "Human labels alone would need about 18 topics for intervals this narrow." in table.notes
    (bm25,) = (row for row in table.rows if row[0].text == "p_bm25")
    assert bm25[-1].text == ""
    marked = {row[0].text for row in table.rows if row[-1].mark == "+"}
    assert "pash_f1" in marked
    assert all(corrected.difference(run, "p_bm25", "nDCG@10").interval[0] > 0 for run in marked)


def test_printing_shows_all_tables(corrected: ir_std.Correction) -> None:
    assert str(corrected).count("under human labels of all 54 topics") == 2
    assert corrected._repr_html_().count("<table>") == 2


def test_qrels_and_runs_give_the_same_as_the_sets_that_were_built_from_them(
    data: Path, corrected: ir_std.Correction, tmp_path: Path
) -> None:
    lines = (data / "qrels" / "dl20-passage.txt").read_text("utf-8").splitlines(keepends=True)
    few = tmp_path / "few.txt"
    few.write_text("".join(line for line in lines if line.split()[0] in corrected.judged))
    llm = data / "qrels" / "judges" / "dl20-passage.umbrela-gpt4.txt"
    by_qrels = ir_std.correct(few, llm, measures="nDCG@10")
    assert by_qrels.runs == corrected.runs
    assert set(by_qrels.judged) == set(corrected.judged)
    for measure in corrected.measures:
        assert by_qrels.estimates[measure].mean == pytest.approx(
            corrected.estimates[measure].mean, abs=1e-9
        )
    assert by_qrels.names == ("few", "dl20-passage.umbrela-gpt4")


def made_up(n_topics: int, level: float) -> dict[str, Any]:
    random = np.random.default_rng(3)
    truth = random.uniform(0.2, 0.6, n_topics)
    return {
        f"r{k}": {"faithfulness": {str(t): float(truth[t] + level * k) for t in range(n_topics)}}
        for k in range(3)
    }


def test_scores_of_any_evaluator_are_corrected_and_a_constant_bias_vanishes() -> None:
    people, model = made_up(30, 0.02), made_up(30, 0.03)
    few = {
        run: {m: {t: by[t] for t in list(by)[::3]} for m, by in scores.items()}
        for run, scores in people.items()
    }
    found = ir_std.correct(few, model)
    assert [str(m) for m in found.measures] == ["faithfulness"]
    assert len(found.judged) == 10
    truth = [np.mean(list(scores["faithfulness"].values())) for scores in people.values()]
    (estimates,) = found.estimates.values()
    assert estimates.mean == pytest.approx(truth, abs=1e-9)


def test_topics_without_a_relevant_document_count_among_the_drawn() -> None:
    random = np.random.default_rng(1)
    llm = {str(t): {f"d{i}": int(random.integers(0, 2)) for i in range(20)} for t in range(30)}
    runs = {
        f"r{k}": {t: {d: float(random.uniform()) + k * level for d, level in docs.items()}
                  for t, docs in llm.items()}
        for k in range(3)
    }  # fmt: skip
    human = {t: dict(docs) for t, docs in list(llm.items())[::2]}
    human["0"] = dict.fromkeys(human["0"], 0)
    found = ir_std.correct(human, llm, runs, "P@5", "none")
    (estimate,) = found.estimates.values()
    assert estimate.n_human == 15
    assert estimate.df == 14 - 2


def test_scores_that_cannot_be_corrected_are_refused() -> None:
    people, model = made_up(30, 0.02), made_up(30, 0.03)
    with pytest.raises(UsageError, match="no run in common"):
        ir_std.correct({"x": people["r0"]}, {"y": model["r1"]})
    with pytest.raises(UsageError, match=r"unknown baseline 'zz'; choose from r0, r1, r2"):
        ir_std.correct(people, model, baseline="zz")
    with pytest.raises(UsageError, match="at least 5 topics"):
        ir_std.correct(people, model, topics=["1", "2"])
    with pytest.raises(InputError, match="No such file"):
        ir_std.correct("missing.txt", model)


def test_drawn_topics_are_random_and_the_first_are_a_draw_too() -> None:
    drawn = ir_std.draw_topics(MODEL, 15, seed=1)
    assert len(set(drawn)) == 15
    assert drawn[:5] == ir_std.draw_topics(MODEL, 5, seed=1)
    assert drawn != ir_std.draw_topics(MODEL, 15, seed=2)
    for n in (0, 55):
        with pytest.raises(UsageError, match=f"cannot draw {n} of 54 topics"):
            ir_std.draw_topics(MODEL, n)


def test_the_command_draws_and_corrects(ir_std_cli: Any) -> None:
    drawn = ir_std_cli("correct", "--llm", MODEL, "--draw", 15, "--seed", 1)
    assert drawn.out == ir_std.draw_topics(MODEL, 15, seed=1)
    labels = ("correct", "--human", PEOPLE, "--llm", MODEL, "--draw", 15, "--seed", 1)
    done = ir_std_cli(*labels, "nDCG@10", "--baseline", "p_bm25", "--quiet")
    assert done.status == 0
    assert done.out[0].split()[:2] == ["run", "nDCG@10"]
    assert any("labels alone would need about" in line for line in done.out)


def test_the_command_says_what_is_missing(ir_std_cli: Any) -> None:
    for arguments, said in (
        ((), "missing labels of a language model; pass --llm QRELS"),
        (("--llm", MODEL), "missing labels of people; pass --human QRELS, or --draw N"),
        (("--llm", MODEL, "--seed", 1), "--seed requires --draw N"),
    ):
        failed = ir_std_cli("correct", *arguments)
        assert failed.status == 2
        assert said in failed.err[-1]


def test_two_score_files_are_compared_as_two_judgments_are(tmp_path: Path, ir_std_cli: Any) -> None:
    files = []
    for name, level in (("people.csv", 0.02), ("model.csv", 0.03)):
        rows = [
            f"{run},{topic},faithfulness,{value:.4f}"
            for run, scores in made_up(30, level).items()
            for topic, value in scores["faithfulness"].items()
        ]
        files.append(tmp_path / name)
        files[-1].write_text("\n".join(["run,topic,measure,value", *rows]) + "\n")
    people, model = files
    compared = ir_std.agreement(people, model)
    (order,) = compared.order.values()
    assert order.tau.value == 1
    assert set(compared.tables) == {"order", "pairs", "means"}
    with pytest.raises(UsageError, match="labels needs qrels"):
        compared.table("labels")
    done = ir_std_cli("agree", *files, "--table", "pairs")
    assert done.out[2].split()[:3] == ["faithfulness", "all", "3"]
    assert ir_std_cli("agree", files[0]).err[-1].endswith("two score files, got 1")


def test_pairs_that_a_model_biases_are_counted() -> None:
    people = np.column_stack([np.linspace(0.2, 0.6, 20), np.linspace(0.2, 0.6, 20)[::-1]])
    people = np.column_stack([people, people[:, 0] + 0.05 + 0.001 * np.arange(20)])
    same = pair_agreement(people, people)
    assert (same.n, same.both, same.first_only, same.second_only, same.biased) == (3, 1, 0, 0, 0)
    random = np.random.default_rng(2)
    noisy = people + random.normal(0, 0.001, people.shape)
    raised = pair_agreement(people, noisy + np.array([0.2, 0, 0]))
    assert (raised.biased, raised.opposite) == (2, 1)
    with pytest.raises(ValueError, match="one shape"):
        pair_agreement(people, people[:, :2])
