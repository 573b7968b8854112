"""Tests of the sources and licences of the shipped sets, and of the pages that state them."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from catalogue import index, licences, readme, shipped_sets
from packaging.licenses import canonicalize_license_expression

from ir_std import available_factors, load_factors, parse_measure
from ir_std._version import __version__
from ir_std.factors.catalog import INDEX, shipped_folder
from ir_std.factors.quality import summarize_quality

ROOT = Path(__file__).parents[2]
NAMES = available_factors()


@pytest.mark.slow
def test_the_pages_and_the_topics_are_what_the_script_makes_of_the_sets() -> None:
    sets = shipped_sets()
    assert (shipped_folder() / "README.md").read_text(encoding="utf-8") == readme(sets)
    assert (shipped_folder() / "LICENSES.md").read_text(encoding="utf-8") == licences(sets)
    assert (shipped_folder() / INDEX).read_text(encoding="utf-8") == index(sets)


@pytest.mark.parametrize(("measure", "mean"), [("AP", 0.50), ("P@10", 0.60), ("RR", 0.68)])
def test_the_mean_of_scheme_e_over_the_systems_themselves_is_as_documented(
    measure: str, mean: float
) -> None:
    scores = load_factors("trec8-adhoc").scores[measure]
    shares = [(topic[:, None] >= topic).mean() for topic in scores]
    assert round(sum(shares) / len(shares), 2) == mean
    limits = (ROOT / "docs/explanation/limits.md").read_text("utf-8")
    assert f"{mean:.2f} for {measure}" in limits


@pytest.mark.parametrize("name", NAMES)
def test_every_measure_has_a_source_with_its_licence_and_address(name: str) -> None:
    factors = load_factors(name)
    records = {record["source"]: record for record in factors.info["sources"]}
    for measure in factors.measures:
        record = records[factors.about(measure, "source")]
        assert record["licence"] == factors.about(measure, "licence")
        assert record["url"].startswith("https://")
        assert re.fullmatch(r"\d{4}(-\d\d-\d\d)?", record["date"])
        assert ("licence_uri" in record) == (not record["licence"].startswith("not "))
    assert {factors.about(m, "source") for m in factors.measures} == records.keys()


@pytest.mark.parametrize("name", NAMES)
def test_data_without_a_licence_are_never_given_one(name: str) -> None:
    for record in load_factors(name).info["sources"]:
        if "Webber" in record["source"]:
            assert record["licence"] == "not checked"
        elif record["source"].startswith("statistics that ir_std computed"):
            assert record["licence"] == "MIT"  # whatever runs and labels they were computed from
            assert "are under its own licence" in record["attribution"]
        elif re.search("Soboroff|NTCIR|GPT-4's labels", record["source"]):
            assert record["licence"] == "not stated"
        elif re.search("julian-urbano/(?!gt4ireval)", record["url"]):
            assert record["licence"] == "CC-BY-SA-4.0"
            assert "Changed by ir_std" in record["attribution"]
        elif name == "mteb-retrieval":
            assert record["licence"] == "CC0-1.0"
        else:
            assert record["licence"] == "MIT"
            assert "Copyright" in record["attribution"]


def test_the_packages_licence_names_every_licence_in_it() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'^license = "([^"]+)"', text, re.MULTILINE)
    assert found
    expression = found.group(1)
    assert canonicalize_license_expression(expression) == expression
    used = {record["licence"] for name in NAMES for record in load_factors(name).info["sources"]}
    names = dict.fromkeys(("not stated", "not checked"), "LicenseRef-not-stated")
    assert {"MIT", *(names.get(one, one) for one in used)} == set(expression.split(" AND "))


@pytest.mark.parametrize("name", NAMES)
def test_sets_name_the_version_that_built_them_and_their_inputs(name: str, data: Path) -> None:
    info = load_factors(name).info
    assert info["built"].startswith(f"by ir_std {__version__}: ")
    assert info["inputs"]
    for record in info["inputs"]:
        file = data / record["file"]
        assert hashlib.sha256(file.read_bytes()).hexdigest() == record["sha256"]


def test_show_states_sources_licences_quality_and_limitations_of_a_set(ir_std_cli: Any) -> None:
    lines = ir_std_cli("factors", "show", "robust04").out
    sources = [line for line in lines if line.startswith("source\t")]
    assert len(sources) == len(load_factors("robust04").info["sources"]) == 3
    assert "\tCC-BY-SA-4.0\thttps://creativecommons.org" in sources[0]
    assert sources[0].endswith("\tAP, P@10")
    assert sources[2].startswith("source\tW. Webber")
    assert "\tnot checked\tSP, DCG(dcg='jk',rel=1), " in sources[2]
    assert any(line.startswith("quality\tfine for ranking; systems predate 2019") for line in lines)
    facts = "110 systems, depth 1000, in steps of 0.0001, scores of systems known"
    assert f"measures\tpre-2019\t{facts}\tAP, nDCG" in lines
    assert any(line.startswith("note\tnDCG (graded) is known on 99") for line in lines)
    assert "weak system\tsys46\tAP, P@10" in lines


def test_the_list_counts_topics_or_datasets(ir_std_cli: Any) -> None:
    starts = ["\t".join(line.split("\t")[:2]) for line in ir_std_cli("factors").out]
    assert {"trec8-adhoc\t50 topics", "mteb-retrieval\t1,309 datasets"} <= {*starts}


@pytest.mark.parametrize("name", NAMES)
def test_show_has_one_line_for_each_source_and_each_weak_system(name: str, ir_std_cli: Any) -> None:
    lines = ir_std_cli("factors", "show", name).out
    for source in {record["source"] for record in load_factors(name).info["sources"]}:
        assert sum(source in line for line in lines) == 1
    weak = [line.split("\t")[1] for line in lines if line.startswith("weak system\t")]
    assert len(weak) == len(set(weak))
    assert any("--without weak" in line for line in lines) == bool(weak)


@pytest.mark.parametrize(
    ("name", "phrase"),
    [
        ("dl19-passage", "fine for ranking; few systems, so standard deviations are imprecise"),
        ("mteb-retrieval", "fine for ranking"),
        ("trec9-web", "only means and deviations, so no ranks; systems predate 2019, so modern"),
        ("covid-round1", "weak systems raise the scores of all others; too coarse for P@1, RR"),
    ],
)
def test_the_quality_of_a_set_is_one_phrase(name: str, phrase: str) -> None:
    assert phrase in summarize_quality(load_factors(name))


def test_a_set_is_one_tidy_table_from_which_it_is_built_again(
    tmp_path: Path, ir_std_cli: Any, data: Path
) -> None:
    out = tmp_path / "x.csv"
    assert ir_std_cli("factors", "export", "dl19-passage", "--format", "csv", "-o", out).status == 0
    factors = load_factors("dl19-passage")
    table = pd.read_csv(out, dtype={"topic": str})
    assert list(table.columns) == ["topic", "measure", "system", "score"]
    assert len(table) == 37 * len(factors.topics) * len(factors.measures)
    ndcg = table[(table["measure"] == "nDCG@10") & (table["system"] == "idst_bert_p1")]
    assert f"{ndcg['score'].mean():.4f}" == "0.7645"  # as NIST published it
    qrels = data / "qrels" / "dl19-passage.txt"
    built = ir_std_cli("build", qrels, "--from-scores", out, "-o", tmp_path / "again.npz")
    assert built.status == 0
    again = load_factors(tmp_path / "again.npz")
    assert again.systems == factors.systems
    assert again.judgments == factors.judgments
    for name, measure in zip(again.measures, factors.measures, strict=True):
        assert parse_measure(name) == parse_measure(measure)
        assert np.array_equal(again.scores[name], factors.scores[measure])
        assert np.array_equal(again.mean[name], factors.mean[measure])
        assert np.array_equal(again.sd[name], factors.sd[measure])


def test_a_set_without_scores_of_systems_has_no_tidy_table(tmp_path: Path, ir_std_cli: Any) -> None:
    out = ir_std_cli("factors", "export", "trec9-web", "--format", "csv", "-o", tmp_path / "x.csv")
    assert out.status == 2
    assert "trec9-web has no scores of systems" in out.err[0]
    assert not (tmp_path / "x.csv").exists()
