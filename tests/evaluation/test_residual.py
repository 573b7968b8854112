"""Documents judged in earlier rounds are reported, and removed on request."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ir_measures import AP, SetP, nDCG
from made_up import write_qrels
from plain_hash import hash_of

import ir_std
from ir_std.errors import InputError, UsageError
from ir_std.factors.collection import find_earlier, pack_earlier
from ir_std.factors.factor_set import FactorSet
from ir_std.trec.files import read_qrels, read_run, write_run
from ir_std.trec.inputs import as_run

ROUNDS = range(2, 6)
TOPICS = [f"t{i}" for i in range(12)]
QRELS = {t: {f"d{j}": 1 for j in range(5)} for t in TOPICS}
EARLIER = {t: {f"old{j}" for j in range(3)} for t in TOPICS[:10]}
RUN = {t: {f"d{j}": 1.0 / (j + 1) for j in range(8)} for t in TOPICS}
FULL = {t: {f"old{i}": 2.0 for i in range(2)} | docs for t, docs in RUN.items()}


def factors(earlier: dict[str, set[str]] | None = EARLIER, **more: Any) -> FactorSet:
    """Make factors of AP on twelve topics, residual unless ``earlier`` is None."""
    column = np.full(len(TOPICS), 0.5)
    return FactorSet(
        {"id": "tiny", "measures": {"AP": {"systems": 40}}, "depth": 10, **more},
        dict.fromkeys(TOPICS, 5),
        {"AP": column},
        {"AP": column / 5},
        earlier=pack_earlier(TOPICS, earlier) if earlier is not None else None,
    )


def as_file(run: Any, folder: Path) -> Path:
    write_run(as_run(run), folder / "run")
    return folder / "run"


OWN = {t: docs if t in EARLIER else FULL[t] for t, docs in RUN.items()}
"""The run that should remain; on the last two topics, nothing was judged earlier."""


@pytest.mark.parametrize("form", ["dict", "file"])
def test_earlier_documents_are_found_on_their_topics_alone(form: str, tmp_path: Path) -> None:
    run = as_run(FULL) if form == "dict" else read_run(as_file(FULL, tmp_path))
    found = find_earlier(run, factors())
    assert found.sum() == 20
    for topic, (a, b) in run.bounds.items():
        ids = [doc for doc, old in zip(run.documents(topic), found[a:b], strict=True) if old]
        assert sorted(ids) == (["old0", "old1"] if topic in EARLIER else [])
    assert not find_earlier(run, factors(None)).any()
    assert not find_earlier(as_run({"other": {"old1": 1.0}}), factors()).any()


@pytest.mark.parametrize("form", ["dict", "file"])
def test_a_run_that_holds_them_is_warned_about_and_taking_them_out_restores_it(
    form: str, tmp_path: Path
) -> None:
    full = FULL if form == "dict" else as_file(FULL, tmp_path)
    measures, counted = [AP, nDCG @ 10, SetP], "20 documents on 10 topics"
    text = rf"{counted} were judged in an earlier round .* in tiny.*--residual"
    with pytest.warns(ir_std.StandardizationWarning, match=text):
        lowered = ir_std.calc_aggregate("AP", QRELS, full, factors=factors())
    clean = ir_std.calc_aggregate("AP", QRELS, RUN, factors=factors())
    assert lowered["sAP"] < clean["sAP"] - 0.1
    expected = ir_std.calc_aggregate(measures, QRELS, OWN, factors=factors())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = ir_std.calc_aggregate(measures, QRELS, full, factors=factors(), residual=True)
    assert dict(scores) == dict(expected)
    removed = f"{counted} were judged in an earlier round and are removed (tiny)"
    assert any(note.endswith(removed) for note in scores.notes)


def test_the_command_line_takes_them_out(ir_std_cli: Any, tmp_path: Path) -> None:
    factors().save(tmp_path / "tiny.npz")
    qrels = write_qrels(QRELS, tmp_path / "qrels")
    options = [qrels, as_file(FULL, tmp_path), "AP", "--factors", tmp_path / "tiny.npz"]
    told, taken = ir_std_cli(*options), ir_std_cli(*options, "--residual", "-v")
    for done, text in ((told, "--residual"), (taken, "are removed (tiny)")):
        assert any("20 documents on 10 topics" in line and text in line for line in done.err)
    assert taken.out != told.out
    assert ir_std_cli(*options, "--residual", "-o", "csv").out[0].startswith("run,")


def test_a_comparison_takes_them_out_if_a_collection_is_residual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    factors().save(tmp_path / "sets" / "tiny.npz")
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path / "sets"))
    comparison = ir_std.compare([("a", FULL, QRELS)], "AP", residual=True)
    expected = ir_std.calc_aggregate("AP", QRELS, FULL, residual=True)["sAP"]
    assert comparison.means["a"]["sAP"] == expected
    with pytest.raises(UsageError, match="does not apply: no factor set matches"):
        ir_std.compare([("a", {"u1": {"d": 1.0}}, {"u1": {"d": 1}})], "AP", residual=True)
    with pytest.raises(UsageError, match="tiny records no documents judged in earlier"):
        ir_std.evaluator("AP", QRELS, factors=factors(None), residual=True)


def test_all_calls_take_them_out() -> None:
    expected = ir_std.calc_aggregate("AP", QRELS, OWN, factors=factors())["sAP"]
    options: dict[str, Any] = {"factors": factors(), "residual": True}
    assert ir_std.calc("AP", QRELS, FULL, **options)[0]["sAP"] == expected
    values = [m.value for m in ir_std.iter_calc("sAP", QRELS, FULL, **options)]
    assert np.mean(values) == pytest.approx(expected)
    assert ir_std.evaluator("AP", QRELS, **options).calc_aggregate(FULL)["sAP"] == expected
    assert ir_std.place(FULL, QRELS, "AP", **options)[1].value == expected
    for jobs in (1, 2):
        results = ir_std.evaluate({"a": FULL, "b": RUN}, QRELS, "AP", jobs=jobs, **options)
        assert results.means["a"]["sAP"] == expected


def test_documents_are_taken_out_before_a_run_is_cut() -> None:
    options: dict[str, Any] = {"factors": factors(), "residual": True}
    results = ir_std.evaluate({"a": FULL}, QRELS, "AP", depth=5, **options)
    assert results.values["a"]["AP"][0] == 1.0
    assert results.values["a"]["AP"][11] < 0.6


def test_a_run_is_not_called_less_deep_for_what_was_taken_out() -> None:
    run = {t: {f"old{i}": 2.0 for i in range(3)} | {f"d{j}": 1.0 for j in range(7)} for t in TOPICS}
    scores = ir_std.calc_aggregate("AP", QRELS, run, factors=factors(), residual=True)
    assert not any("deep" in text for text in (*scores.notes, *scores.warnings))


@pytest.mark.parametrize("keys", [[3, 2], [2, 2], [[1, 2]]])
def test_keys_that_do_not_ascend_are_refused(keys: list[Any]) -> None:
    made, says = factors(), r"factor set tiny, earlier: (is not ascending|has type uint64)"
    with pytest.raises(InputError, match=says):
        FactorSet(made.info, made.judgments, made.mean, made.sd, earlier=np.array(keys, np.uint64))


def test_a_set_keeps_them_on_disk(tmp_path: Path) -> None:
    factors().save(tmp_path / "tiny.npz")
    loaded = FactorSet.load(tmp_path / "tiny.npz")
    assert find_earlier(as_run(FULL), loaded).sum() == 20
    assert loaded.earlier is not None
    assert loaded.earlier.dtype == np.uint64


def test_hashes_stay_the_same_for_files_are_made_of_them() -> None:
    documents = {"abcd1234", "ug7v899j", "a-much-longer-document-id"}
    keys = pack_earlier(["1", "2"], {"2": documents})
    expected = [hash_of(document.encode()) >> 24 << 24 | 1 for document in documents]
    assert keys.tolist() == sorted(expected)


@pytest.mark.parametrize("number", ROUNDS)
def test_shipped_sets_know_all_documents_of_earlier_rounds(number: int, data: Path) -> None:
    shipped = ir_std.load_factors(f"covid-round{number}")
    judged: dict[str, set[str]] = {}
    for earlier in range(1, number):
        for topic, docs in read_qrels(data / "qrels" / f"covid-round{earlier}.txt").judged.items():
            judged.setdefault(topic, set()).update(docs)
    rebuilt = pack_earlier(shipped.topics, judged)
    assert shipped.earlier is not None
    assert np.array_equal(rebuilt, shipped.earlier)
    own = read_qrels(data / "qrels" / f"covid-round{number}.txt").judged
    run = as_run({t: dict.fromkeys(docs, 1.0) for t, docs in own.items()})
    assert not find_earlier(run, shipped).any()


@pytest.mark.slow  # unpacks 126 runs
def test_a_run_on_all_of_cord19_is_warned_about_and_restored(data: Path, runs_of: Any) -> None:
    lists = read_run(runs_of("covid-round5") / "covidex.r5.2s").lists
    own = {t: dict(zip(docs, s.tolist(), strict=True)) for t, (docs, s) in lists.items()}
    full = {t: dict(docs) for t, docs in own.items()}
    for number in range(1, 5):
        for topic, docs in read_qrels(data / "qrels" / f"covid-round{number}.txt").judged.items():
            best = max(own[topic].values())
            full[topic] |= {doc: best for doc, level in docs.items() if level > 0}
    qrels = data / "qrels" / "covid-round5.txt"
    expected = ir_std.calc_aggregate("nDCG@20", qrels, own)
    with pytest.warns(ir_std.StandardizationWarning, match="on 45 topics were judged"):
        lowered = ir_std.calc_aggregate("nDCG@20", qrels, full)
    assert lowered["snDCG@20"] < expected["snDCG@20"] - 0.3
    scores = ir_std.calc_aggregate("nDCG@20", qrels, full, residual=True)
    assert dict(scores) == dict(expected)
