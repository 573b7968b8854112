"""The shipped sets against the runs, tables and figures behind them; their sources and licences."""

import hashlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import pytrec_eval
from build_shipped import measures_from_runs, shipped
from catalogue import index, licences, readme, shipped_sets
from ir_measures import AP
from packaging.licenses import canonicalize_license_expression
from processes import run_process
from sets import each_set, quick_first
from tracks import TRACKS

import ir_std
from ir_std import FactorSet, available_factors, build_factors, load_factors, parse_measure, place
from ir_std._version import __version__
from ir_std.builders.from_runs import BUILD_MEASURES
from ir_std.factors.catalog import INDEX, shipped_folder
from ir_std.factors.estimates import ranked_systems
from ir_std.factors.formats import read_webber
from ir_std.factors.quality import summarize_quality
from ir_std.measures.records import DOUBLE, measure_record
from ir_std.reading.archives import run_sources
from ir_std.testing import simulated_qrels
from ir_std.trec.files import read_qrels, read_run
from ir_std.trec.ranking import Ranker

FROM_RUNS = [name for name, track in TRACKS.items() if track.runs]
FROM_TABLES = [name for name, track in TRACKS.items() if track.tables or track.more]
REBUILT = """
ntcir13-www-english web12 dl19-passage-umbrela dl20-passage-modern dl21-passage dl23-passage-gpt4
ntcir13-www-chinese robust04 terabyte04-06 terabyte05 trec5-adhoc web10
"""


def test_43_sets_are_shipped_and_34_have_distributions() -> None:
    assert set(available_factors()) == {*TRACKS, "mteb-retrieval"}
    assert len(TRACKS) == 43
    assert sum(bool(load_factors(name).scores) for name in TRACKS) == 34


def test_the_shipped_sets_are_small() -> None:
    total = sum(p.stat().st_size for p in shipped_folder().rglob("*") if p.is_file())
    assert total < 18e6


@pytest.mark.parametrize("name", each_set(FROM_RUNS))
def test_sets_from_runs_hold_every_usual_measure(name: str) -> None:
    factors = load_factors(name)
    assert sorted(factors.scores) == sorted(measures_from_runs(name))
    assert {m for m in BUILD_MEASURES if m != "R@1000"} <= set(factors.scores)


@pytest.mark.parametrize("name", quick_first(REBUILT.split(), 2))
def test_building_again_changes_no_byte(name: str, data: Path, tmp_path: Path) -> None:
    shipped(name, data, jobs=2).save(tmp_path / f"{name}.npz")
    built, there = tmp_path / f"{name}.npz", shipped_folder() / f"{name}.npz"
    assert built.read_bytes() == there.read_bytes()


@pytest.mark.parametrize("name", each_set(FROM_TABLES))
def test_sets_from_tables_hold_the_tables_scores(name: str, data: Path) -> None:
    factors = load_factors(name)
    files: dict[str, Path] = {}
    for folder in ("scores", "more-scores")[not TRACKS[name].tables :]:
        for file in (data / folder / name).glob("*.csv"):
            if file.stem != "systems" and (folder == "scores" or TRACKS[name].more):
                files.setdefault(file.stem, file)
    assert files
    for file in files.values():
        table = pd.read_csv(file, index_col="topic", dtype={"topic": str})
        rows = factors.rows(table.index)
        known = ~np.isnan(factors.mean[file.stem][rows])
        assert known.sum() >= len(table) - 2 * (name == "dl22-passage")
        table, rows = table[known], rows[known]
        assert np.array_equal(
            np.sort(factors.scores[file.stem][rows], axis=1), np.sort(table, axis=1)
        )
        assert factors.mean[file.stem][rows] == pytest.approx(table.mean(axis=1), abs=1e-12)
        assert factors.sd[file.stem][rows] == pytest.approx(table.std(axis=1), abs=1e-12)
        others = np.setdiff1d(np.arange(len(factors.topics)), rows)
        assert np.isnan(factors.mean[file.stem][others]).all()


def test_each_measure_keeps_its_own_source_and_number_of_systems() -> None:
    robust, terabyte = map(load_factors, ("robust05", "terabyte05"))
    assert "Soboroff" in robust.about("AP", "source")
    assert "Webber" in robust.about("SP", "source")
    assert [robust.about(m, "resolution") for m in ("AP", "SP")] == [0.0001, 0]
    assert [terabyte.about(m, "depth") for m in ("AP", "SP")] == [10000, 1000]


def test_robust_2005s_ap_and_sp_come_from_the_same_documents() -> None:
    factors = load_factors("robust05")
    relevant = np.array(list(factors.n_rel.values()), float)
    assert factors.mean["SP"] / relevant == pytest.approx(factors.mean["AP"], rel=2e-3)


@pytest.mark.parametrize("name", each_set(FROM_RUNS + FROM_TABLES))
def test_e_of_every_system_is_a_multiple_of_one_over_n(name: str) -> None:
    factors = load_factors(name)
    for measure in factors.scores:
        known = np.flatnonzero(~np.isnan(factors.mean[measure]))
        scores = factors.scores[measure][known]
        n = scores.shape[1]
        topics = [factors.topics[i] for i in known]
        e = np.stack([factors.standardize(measure, topics, column, "E") for column in scores.T])
        assert np.abs(e * n - np.rint(e * n)).max() < 1e-9, measure
        assert e.min() >= 1 / n, measure
        step = max(factors.about(measure, "resolution", 0), 1e-9)
        untied = np.diff(scores, axis=1).min(axis=1) > 1.5 * step
        assert e.T[untied].mean(axis=1) == pytest.approx(0.5 + 1 / (2 * n)), measure


@pytest.mark.parametrize(
    "name", each_set(name for name in available_factors() if name != "ntcir13-www-chinese")
)
def test_every_set_is_known_by_its_own_counts_among_all(name: str) -> None:
    factors = load_factors(name)
    qrels = simulated_qrels({t: j.levels or j.n_rel for t, j in factors.judgments.items()})
    match = ir_std.recognize(qrels)
    assert match.factors is not None
    own = factors.info.get("main_set")  # the track's own systems come first
    assert match.factors.id == (own or name)
    assert name in (match.factors.id, *match.alternatives)


def opened_sets(code: str) -> set[str]:
    """Return the names of the set files that are opened while code runs in a new process."""
    start = """
import sys
opened = set()
sys.addaudithook(lambda event, args: opened.add(str(args[0])) if event == "open" else None)
import ir_std
from ir_std.testing import simulated_qrels, simulated_run
n_rel = {str(topic): 5 for topic in range(401, 451)}
"""
    end = 'print(*(name for name in opened if name.endswith(".npz")), sep="\\n")'
    out = run_process([sys.executable, "-c", f"{start}{code}\n{end}"], check=True)
    return {Path(name).stem for name in out.stdout.splitlines()}


@pytest.mark.slow
def test_evaluating_opens_only_sets_with_the_same_counts(data: Path) -> None:
    code = f"""
qrels = ir_std.read_trec_qrels({str(data / "qrels" / "trec8-adhoc.txt")!r})
run = {{qrel.query_id: {{qrel.doc_id: 1.0}} for qrel in qrels}}
ir_std.calc_aggregate([ir_std.AP], {str(data / "qrels" / "trec8-adhoc.txt")!r}, run, schemes="all")
"""
    assert opened_sets(code) == {"trec8-adhoc", "robust03", "robust04"}


@pytest.mark.slow
def test_judgments_that_match_no_set_open_only_sets_with_their_topics() -> None:
    shares = [
        name
        for name in available_factors()
        if {"401", "425", "450"} & load_factors(name).judgments.keys()
    ]
    assert len(shares) < 6
    code = "print(ir_std.recognize(simulated_qrels(n_rel)), file=sys.stderr)"
    assert opened_sets(code) == {*shares, "mteb-retrieval"}


# -- TREC-8: the published factors, and what is built from its 129 runs ------------------------

LARGEST = {
    "AP": 7e-6,
    "P@10": 1e-12,
    "RR": 1.3e-3,
    "SP": 1e-2,
    "DCG(rel=1)": 2.6e-3,
    "DCG(dcg='jk',rel=1)": 3.9e-3,
    "RBP(p=0.95,rel=1)": 6e-4,
}
"""Largest difference of a mean from runs whose scores are ordered as 32-bit floats."""

DOUBLES = ("SP", "DCG(rel=1)", "DCG(dcg='jk',rel=1)", "RR")
"""Measures that were published with scores ordered as 64-bit floats."""


@pytest.mark.parametrize("measure", LARGEST)
def test_trec_8_built_from_runs_has_the_published_means(measure: str, data: Path) -> None:
    published = read_webber(data / "published" / "trec8.adhoc")
    built = load_factors("trec8-adhoc")
    assert published.topics == built.topics
    assert np.abs(built.mean[measure] - published.mean[measure]).max() <= LARGEST[measure]


@pytest.fixture(scope="module")
def trec8_doubles(data: Path) -> dict[str, npt.NDArray[np.float64]]:
    """Return scores of TREC-8's runs, shape (n_runs, n_topics), ordered as 64-bit floats."""
    qrels = read_qrels(data / "qrels" / "trec8-adhoc.txt")
    rows: dict[str, list[npt.NDArray[np.float64]]] = {m: [] for m in DOUBLES}
    for source in run_sources([data / "runs" / "trec8-adhoc.tar.xz"]):
        ranking = Ranker(read_run(source), qrels).rank(DOUBLE)
        for name in DOUBLES:
            measure = parse_measure(name)
            formula = measure_record(measure).formula
            assert formula
            rows[name].append(formula(ranking, **measure.params))
    return {m: np.array(values) for m, values in rows.items()}


@pytest.mark.slow
@pytest.mark.parametrize("measure", DOUBLES)
def test_scores_ordered_as_64_bit_floats_give_the_published_means_exactly(
    measure: str, data: Path, trec8_doubles: dict[str, npt.NDArray[np.float64]]
) -> None:
    published = read_webber(data / "published" / "trec8.adhoc")
    values = trec8_doubles[measure]
    assert values.shape == (129, 50)
    assert np.abs(values.mean(axis=0) - published.mean[measure]).max() < 1e-11
    assert np.abs(values.std(axis=0, ddof=1) - published.sd[measure]).max() < 1e-11


@pytest.mark.slow
def test_forty_of_trec_8s_runs_standardize_the_other_89(
    data: Path, runs_of: Callable[[str], Path]
) -> None:
    qrels = read_qrels(data / "qrels" / "trec8-adhoc.txt")
    files = sorted(runs_of("trec8-adhoc").iterdir())
    with pytest.warns(ir_std.StandardizationWarning, match=r"Mer8Adtd1 and .*Mer8Adtd2 have"):
        forty = build_factors(qrels, files[:40], ["AP"], id="forty")
    whole = load_factors("trec8-adhoc")
    both = np.array(
        [
            [place(file, qrels, [AP], factors=by)[1].value for file in files[40::8]]
            for by in (forty, whole)
        ]
    )
    assert np.isfinite(both).all()
    assert np.corrcoef(both)[0, 1] > 0.99


# -- Deep Learning 2019 ------------------------------------------------------------------------


@pytest.mark.slow
def test_dl19s_means_are_trec_evals(data: Path, runs_of: Callable[[str], Path]) -> None:
    qrels = dict(read_qrels(data / "qrels" / "dl19-passage.txt").judged)
    judge = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"})
    means = {}
    for file in runs_of("dl19-passage").iterdir():
        lists = read_run(file).lists.items()
        found = judge.evaluate({t: dict(zip(d, s.tolist(), strict=True)) for t, (d, s) in lists})
        means[file.name] = np.mean([found.get(t, {}).get("ndcg_cut_10", 0) for t in qrels])
    assert len(means) == 37
    assert f"{means['idst_bert_p1']:.4f}" == "0.7645"
    known = ranked_systems(load_factors("dl19-passage"), "nDCG@10")[0]
    assert sorted(means.values()) == pytest.approx(known.tolist(), abs=1e-9)


@pytest.fixture(scope="module")
def best(data: Path, runs_of: Callable[[str], Path]) -> tuple[Path, Path]:
    """Return the best run of DL 2019, and the judgments."""
    return runs_of("dl19-passage") / "idst_bert_p1", data / "qrels" / "dl19-passage.txt"


STANDARDIZED = ["sAP(rel=2)", "snDCG@10", "sRR(rel=2)", "sR(rel=2)@100", "sRBP", "sP(rel=2)@10"]


def by_hand(name: str, factors: FactorSet, qrels: Path, run: Path) -> float:
    """Compute mean N from raw values and the set's tables; if sd is 0, all systems tie."""
    base = ir_std.parse_measure(name[1:])
    computed = ir_std.iter_calc([base], qrels, run)
    found = {m.query_id: m.value for m in computed if m.measure == base}
    column = {"RBP": "RBP(p=0.8)"}.get(name[1:], name[1:])
    tables = zip(factors.topics, factors.mean[column], factors.sd[column], strict=True)
    z = [(found[t] - m) / s if s else 0.0 for t, m, s in tables]
    return float(ir_std.schemes.normal_cdf(z).mean())


@pytest.mark.parametrize("name", quick_first(STANDARDIZED))
def test_dl19s_measures_work_through_api_and_command_line(
    name: str, best: tuple[Path, Path], ir_std_cli: Any
) -> None:
    run, qrels = best
    measure = ir_std.parse_measure(name)
    expected = by_hand(name, load_factors("dl19-passage"), qrels, run)
    rows = ir_measures.read_trec_qrels(str(qrels)), ir_measures.read_trec_run(str(run))
    assert ir_std.calc_aggregate([measure], qrels, run)[measure] == pytest.approx(expected)
    assert ir_measures.calc_aggregate([measure], *rows)[measure] == pytest.approx(expected)
    assert ir_std_cli(run, qrels, name).out == [f"{measure}\t{expected:.4f}"]


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
        (
            "trec9-web",
            "no scores of systems, so ranks are unknown; systems predate 2019, so modern",
        ),
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
