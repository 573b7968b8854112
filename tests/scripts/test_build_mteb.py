"""``mteb-retrieval`` has each model once, on the tasks whose language the model knows."""

import gzip
import json
import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from build_mteb import (
    MEASURES,
    PARTS,
    WHOLE,
    Known,
    LeftOut,
    Result,
    benchmark_rows,
    clean,
    implausible,
    inputs_of,
    judgments,
    mteb,
    mtebs_name,
    number_of_queries,
    other_revisions,
    plain_languages,
    read_results,
    speakers,
    with_computed_means,
    write_left_out,
)

import ir_std
from ir_std.factors.catalog import load_factors, shipped_folder
from ir_std.factors.derived import select_rows
from ir_std.factors.schema import FEWEST, NOT_TRAINED, TRAINED, UNKNOWN
from ir_std.scores.mteb import row_name
from ir_std.scores.run_scores import RunScores

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "mteb-and-beir.md").read_text("utf-8")


def result(model: str = "m", task: str = "NQ", subset: str = "default", **scores: float) -> Result:
    values = dict.fromkeys(MEASURES.values(), 0.5)
    return Result(model, task, row_name(task, "test", subset), values | scores, subset)


def known(
    languages: Mapping[str, list[str] | None] = {}, training: Mapping[str, list[str]] = {}
) -> Known:
    """Make model ``m`` and the named models; the task NQ is in English, Sw in Swahili."""
    models = {
        name: {
            "released": "2024",
            "languages": languages.get(name),
            "training_with_similar": training.get(name),
        }
        for name in {*languages, *training, "m", *(f"m{i}" for i in range(2 * FEWEST))}
    }
    tasks = {"NQ": {"by_subset": {"default": ["eng-Latn"]}}}
    return Known(models, tasks, {"one": [("NQ", "Retrieval", ["default"], ["test", "dev"])]})


def test_models_are_called_as_mteb_calls_them_and_others_left_out_and_listed() -> None:
    assert mtebs_name("BAAI__bge-m3") == "BAAI/bge-m3"
    int8 = mtebs_name("voyageai__voyage-3.5_(output_dtype=int8)")
    assert int8 == "mongodb/voyage-3.5 (output_dtype=int8)"
    kept, left_out = clean([result("mteb/baseline-random-encoder"), result("m")], known())
    assert [one.model for one in kept] == ["m"]
    assert left_out == [LeftOut("mteb/baseline-random-encoder", "NQ/test", "ranks at random")]


def test_models_that_score_the_same_count_once() -> None:
    tasks = [f"t{i}" for i in range(8)]
    results = [result("m", task, main_score=0.1 * i + 0.05) for i, task in enumerate(tasks)]
    results += [result("m1", task, main_score=0.1 * i + 0.0501) for i, task in enumerate(tasks[:6])]
    results += [result("m2", task, main_score=1.0) for task in tasks]
    results += [result("m3", task, main_score=1.0) for task in tasks]
    kept, left_out = clean(results, known())
    assert {one.model for one in kept} == {"m", "m2", "m3"}
    assert {one.reason for one in left_out} == {"counts once: as m"}


def test_a_listed_variant_counts_once_where_its_model_is_there() -> None:
    int8 = "mongodb/voyage-3.5 (output_dtype=int8)"
    models = known({"mongodb/voyage-3.5": None, int8: None})
    assert {r.model for r in clean([result(int8)], models)[0]} == {int8}
    both = [result(int8), result("mongodb/voyage-3.5")]
    assert {r.model for r in clean(both, models)[0]} == {"mongodb/voyage-3.5"}


def test_the_mean_over_the_parts_is_computed_where_all_are_there() -> None:
    parts = [result("m", part, main_score=i / 12) for i, part in enumerate(PARTS)]
    stated = [result("m", WHOLE, main_score=0.9), result("m1", WHOLE, main_score=0.8)]
    computed = with_computed_means([*parts, *stated])
    whole = {one.model: one.scores["main_score"] for one in computed if one.task == WHOLE}
    assert whole == {"m": round(5.5 / 12, 6), "m1": 0.8}


def test_a_model_counts_where_it_states_all_languages_of_the_row() -> None:
    tasks = {"Both": {"by_subset": {"en-sw": ["eng-Latn", "swh-Latn"], "en": ["eng-Latn"]}}}
    models: dict[str, dict[str, Any]] = {
        "both": {"languages": ["swa-Latn", "eng-Latn", "fra-Latn"]},
        "english": {"languages": ["eng-Latn"]},
        "silent": {"languages": None},
    }
    facts = Known(models, tasks, {})
    assert [m for m in models if facts.speaks(m, "Both", "en-sw")] == ["both"]
    assert [m for m in models if facts.speaks(m, "Both", "en")] == ["both", "english", "silent"]
    assert all(facts.speaks(m, "unknown task", "default") for m in models)


def test_a_model_that_lacks_a_language_is_left_out_and_listed() -> None:
    languages: dict[str, list[str] | None] = {f"m{i}": ["eng-Latn"] for i in range(FEWEST - 1)}
    languages |= {"french": ["fra-Latn"], "silent": None}
    built, left_out = mteb([result(m, main_score=0.4) for m in languages], known(languages), {}, [])
    assert built.n_systems["main_score"] == FEWEST
    assert [(one.model, one.row) for one in left_out] == [("french", "NQ/test")]


def test_an_empty_list_of_training_data_is_unknown_not_zero_shot() -> None:
    facts = known({}, {"m0": ["NQ"], "m1": [], "m2": ["MSMARCO"]})
    stated = [facts.trained(model, "NQ") for model in ("m0", "m1", "m2", "m3")]
    assert stated == [TRAINED, UNKNOWN, NOT_TRAINED, UNKNOWN]


def test_languages_are_the_same_in_other_words_and_scripts() -> None:
    assert plain_languages(["cmn-Hans"]) == plain_languages(["zho-Hant"])
    assert plain_languages(["hin-Latn"]) == plain_languages(["hin-Deva"])
    assert plain_languages(["java-Code"]) == plain_languages(None) == frozenset()


def test_impossible_results_do_not_count() -> None:
    results = [result(f"m{i}", main_score=0.4 + i / 100) for i in range(FEWEST + 1)]
    for i, precision in enumerate((0.049, 0.05)):
        results[i].scores.update({"main_score": 0.5, "P@10": precision})
    built, left_out = mteb(results, known(), {}, [])
    assert [one.model for one in left_out] == ["m0"]
    assert left_out[0].reason.startswith("impossible: RR@10")
    assert built.n_systems["main_score"] == FEWEST


def rows_of_models(n_rows: int, low: Mapping[tuple[str, int], float]) -> list[Result]:
    """Make results of 40 models near .5 on some rows, except for the low models."""
    return [
        result(f"m{i}", f"T{row}", main_score=low.get((f"m{i}", row), 0.5 + i / 1000))
        for row in range(n_rows)
        for i in range(2 * FEWEST)
    ]


@pytest.mark.parametrize(
    ("low", "broken"),
    [
        ({("m3", 5): 0.02}, [("m3", "T5/test")]),
        ({("m3", 5): 0.03}, []),  # low, but not near zero
        ({("m3", row): 0.02 for row in range(2)}, []),  # a weak model: low on a sixth of its rows
        ({(f"m{i}", 5): 0.02 for i in range(7)}, []),  # a hard row: a sixth of the models are low
    ],
)
def test_only_near_zero_results_of_good_models_on_usual_rows_are_broken(
    low: dict[tuple[str, int], float], broken: list[tuple[str, str]]
) -> None:
    _, left_out = mteb(rows_of_models(12, low), known(), {}, [])
    assert [(one.model, one.row) for one in left_out] == broken
    assert all(one.reason.startswith("broken: near zero") for one in left_out)


def test_a_row_on_which_all_models_are_near_zero_has_no_factors() -> None:
    hopeless = [result(f"m{i}", "hopeless", main_score=i / 1000) for i in range(2 * FEWEST)]
    built, left_out = mteb([*hopeless, *rows_of_models(1, {})], known(), {}, [])
    assert built.topics == ("T0/test",)
    assert {one.reason for one in left_out} == {"no model reaches 0.05 on the row"}


def test_the_rule_takes_no_result_of_bm25_or_the_random_encoders(data: Path) -> None:
    facts = Known.read(data / "mteb")
    by_row: dict[str, dict[str, Result]] = defaultdict(dict)
    for one in read_results(data / "mteb" / "all_retrieval.csv"):
        by_row[one.row][one.model] = one
    doubted = implausible(by_row, {row: speakers(each, facts) for row, each in by_row.items()})
    broken = {model for each in doubted.values() for model, why in each.items() if "broken" in why}
    assert len(broken) > 20
    assert not [m for m in broken if "bm25" in m.lower() or "random" in m]


def precisions(n_queries: int, n_models: int = 12) -> list[float]:
    hits = np.random.default_rng(n_queries).integers(1, 10 * n_queries, n_models)
    return [round(float(n) / (10 * n_queries), 5) for n in hits]


@pytest.mark.parametrize("n", [7, 100, 451, 1647])
def test_scores_of_several_models_tell_the_number_of_queries(n: int) -> None:
    assert number_of_queries(precisions(n, 20)) == n
    assert number_of_queries(precisions(n, 20)[:1]) is None


def test_a_revision_with_other_queries_is_found(tmp_path: Path) -> None:
    lines = ["task,split,subset,dataset_revision,precision_at_10"]
    for revision, n, models in (("a", 100, 12), ("b", 90, 9), ("c", 100, 4), ("d", 100, 1)):
        lines += [f"T,test,default,{revision},{score}" for score in precisions(n, models)]
    (tmp_path / "table.csv").write_text("\n".join(lines))
    found = other_revisions(tmp_path / "table.csv")
    assert found == {("T", "b"): "90 queries, not 100"}


def test_rows_and_measures_with_fewer_models_have_no_factors() -> None:
    few = [result(f"m{i}", "few") for i in range(FEWEST - 1)]
    enough = [result(f"m{i}", main_score=i / 100) for i in range(FEWEST + 4)]
    for one in enough[::2]:
        one.scores["RR@10"] = math.nan
    built, left_out = mteb([*few, *enough], known(), {}, [])
    assert built.topics == ("NQ/test",)
    assert {one.row for one in left_out} == {"few/test"}
    assert "RR@10" not in built.measures
    assert built.n_systems["nDCG@10"] == FEWEST + 4


def test_a_benchmark_has_the_rows_that_the_set_has() -> None:
    assert benchmark_rows(known(), {"NQ/test"}) == {
        "one": {"NQ": {"rows": ["NQ/test"], "parts": 2}}
    }


def test_the_list_of_what_is_left_out_has_a_line_for_each_task(tmp_path: Path) -> None:
    rows = [LeftOut("m", f"T/test/{part}", "why") for part in ("b", "a")]
    write_left_out(tmp_path / "out.gz", rows)
    text = gzip.decompress((tmp_path / "out.gz").read_bytes()).decode()
    assert text == "model,reason,results,rows\nm,why,2,T/test/a T/test/b\n"


@pytest.fixture(scope="module")
def shipped() -> ir_std.FactorSet:
    return load_factors("mteb-retrieval")


@pytest.mark.exhaustive
def test_the_shipped_set_is_what_the_script_builds(data: Path, shipped: ir_std.FactorSet) -> None:
    facts = Known.read(data / "mteb")
    results, _ = clean(read_results(data / "mteb" / "all_retrieval.csv"), facts)
    built, _ = mteb(results, facts, judgments(data / "qrels" / "beir"), inputs_of(data))
    assert built.info == shipped.info
    assert built.judgments == shipped.judgments
    assert built.cells
    assert shipped.cells
    for name, array in built.cells.arrays.items():
        assert np.array_equal(array, shipped.cells.arrays[name])
    for measure in MEASURES.values():
        assert np.array_equal(built.mean[measure], shipped.mean[measure], equal_nan=True)
    content = json.loads((shipped_folder() / "mteb-benchmarks.json").read_text("utf-8"))
    assert content == benchmark_rows(facts, {*built.topics})


@pytest.mark.slow
def test_a_row_holds_the_tables_scores(data: Path, shipped: ir_std.FactorSet) -> None:
    listed = {
        one.model: one.scores["main_score"]
        for one in read_results(data / "mteb" / "all_retrieval.csv")
        if one.row == "MIRACLRetrievalHardNegatives/dev/te"
    }
    row = select_rows(shipped, ["MIRACLRetrievalHardNegatives/dev/te"])
    scores = dict(zip(row.systems, row.scores["main_score"][0].tolist(), strict=True))
    assert len(scores) == row.n_systems["main_score"] >= FEWEST
    assert scores == {model: round(listed[model], 6) for model in scores}


def test_the_set_and_what_belongs_to_it_is_small() -> None:
    files = [*shipped_folder().glob("mteb-*.*")]
    assert len(files) == 3
    assert sum(file.stat().st_size for file in files) < 6e6


@pytest.mark.parametrize(
    ("dataset", "bm25", "place", "of"),
    [
        ("beir/webis-touche2020", 0.442, 1, 201),
        ("beir/fiqa/test", 0.236, 210, 242),
        ("SciFact/test", 0.679, 139, 216),
        ("beir/nfcorpus/test", 0.322, 149, 218),
        ("beir/trec-covid", 0.595, 192, 266),
        ("beir/hotpotqa/test", 0.633, 126, 201),
        ("beir/arguana", 0.397, 238, 262),
        ("beir/quora/test", 0.789, 186, 203),
        ("beir/nq", 0.305, 179, 203),
        ("beir/dbpedia-entity/test", 0.318, 163, 203),
    ],
)
def test_a_published_keyword_baseline_has_its_place(
    dataset: str, bm25: float, place: int, of: int
) -> None:
    found = ir_std.place(
        RunScores("BM25 (flat)", {ir_std.nDCG @ 10: {dataset: bm25}}, unit="dataset"),
        measures="nDCG@10",
    )
    assert found[0].summary.endswith(f" of {of}")
    assert found[0].rank == place
    assert f"| {bm25:.3f} | {found[0].summary.removeprefix('would have been ')} |" in PAGE


def test_the_guide_counts_models_results_and_benchmarks() -> None:
    factors = load_factors("mteb-retrieval")
    cells = factors.cells
    assert cells
    counted = cells.counted.sum(axis=1)
    known = ~np.isnan(cells.main_scores())
    told = " ".join(PAGE.split())
    assert f"scores of {len(factors.systems)} models on {len(factors.topics):,} datasets" in told
    assert f"{counted.sum():,} of {known.sum():,} results in" in told
    assert f"{counted.min()} to {counted.max()} results for each dataset" in told
    silent = (known & (cells.arrays["trained"] == UNKNOWN)).any(axis=0).sum()
    assert f"{silent} models do not state their training data" in told
    benchmarks = json.loads((shipped_folder() / "mteb-benchmarks.json").read_text("utf-8"))
    assert f"lists the {len(benchmarks)} benchmarks" in told


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("scifact", "SciFact/test"),
        ("nfcorpus", "NFCorpus/test"),
        ("cqadupstack-unix", "CQADupstackUnixRetrieval/test"),
        ("webis-touche2020", "Touche2020/test"),
    ],
)
def test_beirs_judgments_are_recognized(data: Path, name: str, row: str) -> None:
    match = ir_std.recognize(data / "qrels" / "beir" / f"{name}.txt")
    assert match.fit
    assert match.fit.dataset == row
    assert match.fit.match_type == "judgments"
