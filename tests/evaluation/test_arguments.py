"""Arguments in every form, and of wrong types: measures, factors, names, paths, open files."""

import os
import pickle
from collections.abc import Callable, Iterable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from ir_measures import AP, RR, P
from made_up import by_topic, write_qrels, write_scores

import ir_std
from ir_std import SP, FactorSet, nDCG, sAP, sP
from ir_std.errors import MissingMeasureError
from ir_std.evaluation.evaluation import ByMeasure
from ir_std.factors.judgments import judgments_of
from ir_std.testing import simulated_qrels, simulated_run
from ir_std.trec.files import write_run
from ir_std.trec.inputs import as_qrels, as_run

QRELS = {f"t{i}": {f"d{j}": int(j <= i) for j in range(5)} for i in range(3)}
RUN = {f"t{i}": {f"d{j}": float(j * (i + 1) % 5) for j in range(5)} for i in range(3)}


@pytest.fixture
def factors(tmp_path: Path) -> FactorSet:
    """Save a set of the three topics as ``own.npz``."""
    names = ("AP", "P@2", "nDCG@2")
    made = FactorSet(
        {"id": "own", "measures": {name: {"systems": 9} for name in names}},
        judgments_of(as_qrels(QRELS)),
        dict.fromkeys(names, (0.2, 0.3, 0.4)),
        dict.fromkeys(names, (0.1, 0.1, 0.1)),
    )
    made.save(tmp_path / "own.npz")
    return made


TAKES_MEASURES: dict[str, Callable[[Any, FactorSet], Iterable[Any]]] = {
    "evaluator": lambda asked, own: ir_std.evaluator(asked, QRELS, factors=own).measures,
    "calc_aggregate": lambda asked, own: ir_std.calc_aggregate(asked, QRELS, RUN, factors=own),
    "calc": lambda asked, own: ir_std.calc(asked, QRELS, RUN, factors=own).aggregated,
    "iter_calc": lambda asked, own: (
        one.measure for one in ir_std.iter_calc(asked, QRELS, RUN, factors=own)
    ),
    "evaluate": lambda asked, own: ir_std.evaluate(RUN, QRELS, asked, factors=own).measures,
    "place": lambda asked, own: (
        placed.measure for placed in ir_std.place(RUN, QRELS, asked, factors=own)
    ),
}


@pytest.mark.parametrize("call", TAKES_MEASURES.values(), ids=TAKES_MEASURES)
@pytest.mark.parametrize(("one", "name"), [(AP, "AP"), (P @ 2, "P@2"), (nDCG @ 2, "nDCG@2")])
def test_one_measure_or_its_name_is_a_list_of_one(
    call: Callable[[Any, FactorSet], Iterable[Any]], one: Any, name: str, factors: FactorSet
) -> None:
    for asked in ([one], one, name, iter([name])):
        assert list(dict.fromkeys(map(str, call(asked, factors)))) == [name, f"s{name}"]


@pytest.mark.usefixtures("factors")
def test_sets_are_built_and_runs_compared_by_one_measure_or_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path))
    other = {t: {d: -s for d, s in docs.items()} for t, docs in RUN.items()}
    tables = set()
    for asked in ("AP", AP, ["AP"]):
        built = ir_std.build_factors(QRELS, [RUN, other], asked, id="built")
        assert list(built.measures) == ["AP"]
        tables.add(ir_std.compare([("a", RUN, QRELS)], asked).table().text())
    assert len(tables) == 1


def test_factors_are_a_set_or_its_folder_as_a_string_or_path(
    factors: FactorSet, tmp_path: Path
) -> None:
    folder = tmp_path / "own.npz"
    expected = ir_std.calc_aggregate("AP", QRELS, RUN, factors=factors)
    for given in (folder, str(folder)):
        assert ir_std.calc_aggregate("AP", QRELS, RUN, factors=given) == expected
        assert ir_std.evaluate(RUN, QRELS, "AP", factors=given).means["run"] == expected
        assert (
            ir_std.calc_aggregate(sAP(factors=given), QRELS, RUN)[sAP(factors=str(folder))]
            == expected[sAP]
        )


def test_parameters_that_are_fractions_may_be_whole_numbers_but_not_truth_values() -> None:
    assert sAP(scheme="U", A=1, B=0) == sAP(scheme="U", A=1.0, B=0.0)
    assert ir_std.sRBP(p=0)["p"] == 0.0
    written = str(sAP(scheme="U", A=1))
    assert written == "sAP(scheme='U',A=1.0)"
    parse = ir_std.parse_measure
    assert parse(written) == parse("sAP(scheme='U',A=1)") == sAP(scheme="U", A=1)
    with pytest.raises(ir_std.UsageError, match="A must be of type float, got True"):
        sAP(scheme="U", A=True).validate_params()
    for wrong in (0, -1, float("inf")):  # The order of the runs would be lost or turned around.
        with pytest.raises(ir_std.UsageError, match="A must be above 0"):
            sAP(scheme="U", A=wrong).validate_params()


@pytest.mark.parametrize("call", TAKES_MEASURES.values(), ids=TAKES_MEASURES)
@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (3, "expected a measure such as AP or 'P@10', or a list of measures, got 3"),
        ([AP, None], "expected a measure .* got None"),
        ("AP P@10", "cannot read measure 'AP P@10'; .* or pass several measures as a list$"),
    ],
)
def test_an_invalid_measure_gets_one_clear_line(
    call: Callable[[Any, FactorSet], Iterable[Any]], asked: Any, says: str, factors: FactorSet
) -> None:
    with pytest.raises(ir_std.UsageError, match=says):
        list(call(asked, factors))


@pytest.mark.parametrize("wrong", [3, StringIO("set.json"), ["own"]])
def test_invalid_factors_get_one_clear_line(wrong: Any) -> None:
    says = "expected a factor set, its ID or the path of its file, got (int|StringIO|list)"
    for call in (ir_std.calc_aggregate, ir_std.calc, ir_std.iter_calc):
        with pytest.raises(ir_std.UsageError, match=says):
            call("AP", QRELS, RUN, factors=wrong)
    for evaluate in (ir_std.evaluate, ir_std.place):
        with pytest.raises(ir_std.UsageError, match=says):
            evaluate(RUN, QRELS, "AP", factors=wrong)


def test_a_measure_names_its_factors_and_does_not_hold_them(factors: FactorSet) -> None:
    with pytest.raises(ir_std.UsageError, match="ID or the file of a set; pass a loaded set to"):
        ir_std.calc_aggregate(sAP(factors=factors), QRELS, RUN)


def test_scores_are_looked_up_by_measure_and_by_name(factors: FactorSet) -> None:
    scores = ir_std.calc_aggregate(["AP", "P@2"], QRELS, RUN, factors=factors)
    assert scores["AP"] == scores[AP] == scores.get("AP")
    assert scores["P(cutoff=2)"] == scores["P(rel=1)@2"] == scores[P @ 2]
    assert "sP@2" in scores
    assert sP @ 2 in scores
    assert "RR" not in scores
    assert scores.get("RR") is None
    assert scores.get(RR, 0.5) == 0.5
    assert scores == dict(scores) == pickle.loads(pickle.dumps(scores))


@pytest.mark.parametrize("wrong", ["RR", "nonsense", RR, 3])
def test_a_measure_without_a_score_gets_a_list_of_those_that_have_one(wrong: Any) -> None:
    scores = ByMeasure({AP: 0.5, sP @ 2: 0.25})
    with pytest.raises(MissingMeasureError) as told:
        scores[wrong]
    assert str(told.value) == f"no score of {wrong}; available: AP, sP@2"
    assert isinstance(told.value, KeyError)


def test_rows_are_read_from_paths_as_from_names(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("401 0 d1 1\n401 0 d2 0\n", encoding="utf-8")
    run.write_text("401 Q0 d2 1 17.5 bm25\n", encoding="utf-8")
    for ours, theirs, file in (
        (ir_std.read_trec_qrels, ir_measures.read_trec_qrels, qrels),
        (ir_std.read_trec_run, ir_measures.read_trec_run, run),
    ):
        expected = list(theirs(str(file)))
        assert expected
        text = file.read_text(encoding="utf-8")
        for given in (file, str(file), text, StringIO(text)):
            assert list(ours(given)) == expected


FORMS: dict[str, Callable[[Path], Any]] = {
    "a name": os.fspath,
    "a path": Path,
    "open for bytes": lambda path: path.open("rb"),
    "open for text": lambda path: path.open(encoding="utf-8"),
    "bytes in memory": lambda path: BytesIO(path.read_bytes()),
    "text in memory": lambda path: StringIO(path.read_text(encoding="utf-8")),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write qrels, two runs, and the scores of one run as trec_eval prints them."""
    place = tmp_path_factory.mktemp("files")
    n_rel = ir_std.load_factors("trec8-adhoc").n_rel
    qrels = simulated_qrels(n_rel)
    write_qrels(qrels, place / "qrels.txt")
    for seed, name in enumerate(("a.run", "b.run")):
        write_run(as_run(simulated_run(qrels, seed, 100)), place / name)
    values = by_topic(ir_std.evaluate(place / "a.run", place / "qrels.txt", AP, ()), "a", AP)
    write_scores(n_rel, values, place / "scores.txt")
    return place


@pytest.fixture(params=FORMS.values(), ids=list(FORMS))
def opened(request: pytest.FixtureRequest, folder: Path) -> Any:
    """Yield a function that opens a file in one of the forms; close it at the end."""
    given: list[Any] = []

    def give(name: str) -> Any:
        given.append(request.param(folder / name))
        return given[-1]

    yield give
    for one in given:
        if hasattr(one, "close"):
            one.close()


def test_runs_and_qrels_are_read(opened: Callable[[str], Any], folder: Path) -> None:
    expected = ir_std.calc_aggregate("AP", folder / "qrels.txt", folder / "a.run")
    assert len(expected) == 2
    assert ir_std.calc_aggregate("AP", opened("qrels.txt"), opened("a.run")) == expected
    results = ir_std.evaluate(
        {"a": opened("a.run"), "b": opened("b.run")}, opened("qrels.txt"), "AP"
    )
    assert results.means["a"] == expected
    assert [p.value for p in ir_std.place(opened("a.run"), opened("qrels.txt"), "AP")] == (
        pytest.approx(list(expected.values()))
    )
    assert ir_std.recognize(opened("qrels.txt")).factors is not None
    entries = [("a", opened("a.run"), opened("qrels.txt"))]
    assert ir_std.compare(entries, "AP").means["a"] == expected


def test_the_calls_of_ir_measures_measures_read_them(
    opened: Callable[[str], Any], folder: Path
) -> None:
    expected = ir_std.calc_aggregate(SP, folder / "qrels.txt", folder / "a.run", schemes="z")[SP]
    assert SP.calc_aggregate(opened("qrels.txt"), opened("a.run")) == pytest.approx(expected)


def test_factors_are_built_of_them(opened: Callable[[str], Any], folder: Path) -> None:
    built = ir_std.build_factors(
        opened("qrels.txt"), [opened("a.run"), opened("b.run")], "AP", id="own"
    )
    expected = ir_std.build_factors(
        folder / "qrels.txt", [folder / "a.run", folder / "b.run"], "AP", id="own"
    )
    assert built.mean["AP"].tolist() == expected.mean["AP"].tolist()


def test_scores_are_read(opened: Callable[[str], Any], folder: Path) -> None:
    (expected,) = ir_std.read_scores(folder / "scores.txt").values()
    (read,) = ir_std.read_scores(opened("scores.txt")).values()
    assert read.values == expected.values
    assert read.n_rel == expected.n_rel
    means = ir_std.evaluate(folder / "scores.txt", measures="AP").means["scores"]
    assert len(means) == 2
    assert list(ir_std.evaluate(opened("scores.txt"), measures="AP").means.values()) == [means]
    assert ir_std.evaluate({"a": opened("scores.txt")}, measures="AP").means["a"] == means
    assert [p.value for p in ir_std.place(opened("scores.txt"), measures="AP")] == (
        pytest.approx(list(means.values()))
    )


def test_runs_are_merged_into_dicts(opened: Callable[[str], Any], folder: Path) -> None:
    merged = ir_std.merge([opened("a.run"), opened("b.run")], "minmax")
    assert merged == ir_std.merge([folder / "a.run", folder / "b.run"], "minmax")
    assert ir_std.normalize(opened("a.run"), "minmax") == ir_std.normalize(
        folder / "a.run", "minmax"
    )
    assert isinstance(merged, dict)


def test_a_run_is_written(folder: Path) -> None:
    run = as_run(folder / "a.run")
    binary, text = BytesIO(), StringIO()
    write_run(run, binary)
    write_run(run, text)
    assert binary.getvalue() == text.getvalue().encode() == (folder / "a.run").read_bytes()


MERGE: Any = ir_std.merge
CALLS: dict[str, Callable[[Any], Any]] = {
    "merge": lambda wrong: MERGE(wrong, "minmax"),
    "the runs of merge": lambda wrong: MERGE([wrong, wrong], "minmax"),
    "the method of merge": lambda wrong: MERGE([RUN, RUN], wrong),
    "the combination of merge": lambda wrong: MERGE([RUN, RUN], "minmax", wrong),
    "the depth of merge": lambda wrong: MERGE([RUN, RUN], "minmax", depth=str(wrong)),
    "normalize": lambda wrong: ir_std.normalize(wrong, "minmax"),
    "the method of normalize": lambda wrong: ir_std.normalize(RUN, wrong),
    "read_scores": ir_std.read_scores,
    "the measure of read_scores": lambda wrong: ir_std.read_scores({"1": 0.5}, [wrong]),  # type: ignore[arg-type]
    "system": ir_std.system,
    "standardized": ir_std.standardized,
    "compare": ir_std.compare,
    "the entries of compare": lambda wrong: ir_std.compare([wrong]),
    "schemes": lambda wrong: ir_std.calc_aggregate("AP", QRELS, RUN, schemes=[wrong]),
    "load_factors": ir_std.load_factors,
    "standardize": lambda wrong: ir_std.standardize(wrong, "AP", factors="dl19-passage"),
    "the scheme of standardize": lambda wrong: ir_std.standardize(RUN, "AP", scheme=wrong),
    "recognize": ir_std.recognize,
    "parse_measure": ir_std.parse_measure,
}


@pytest.mark.parametrize("wrong", [3, 0.5, object()], ids=["int", "float", "object"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_argument_of_a_wrong_type_gets_one_clear_line(
    call: Callable[[Any], Any], wrong: Any
) -> None:
    with pytest.raises(ir_std.IrStdError) as caught:
        call(wrong)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "a\u2028b"])
def test_a_line_break_in_a_name_is_written_as_such(text: str) -> None:
    for call in (
        lambda: ir_std.calc_aggregate((), text, {}),
        lambda: ir_std.load_factors(text),
        lambda: ir_std.system(f"{text}/x"),
        lambda: ir_std.parse_measure(text),
    ):
        with pytest.raises(ir_std.IrStdError) as caught:
            call()
        assert len(str(caught.value).splitlines()) == 1
