"""The HTML report: the record that it carries, and the page around it."""

import html
import os
import re
import sys
from html.parser import HTMLParser
from importlib.resources import files
from io import BytesIO, TextIOWrapper
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from ir_measures import AP, P, nDCG
from jinja2 import UndefinedError
from made_up import entries_on, qrels_like
from views import HOSTILE, data_of, hits, plain, simulated

import ir_std
from ir_std import __version__, sAP
from ir_std.cli import main
from ir_std.errors import InputError, IrStdError
from ir_std.factors.catalog import data_version
from ir_std.factors.estimates import factors_from_scores
from ir_std.reporting import plots
from ir_std.reporting.html.across import across_of
from ir_std.reporting.html.report import licences, method, quality_issues, render, write_report
from ir_std.reporting.html.words import environment
from ir_std.testing import simulated_qrels, simulated_run
from ir_std.trec.inputs import as_qrels

TEMPLATES = files("ir_std.reporting") / "html" / "templates"


@pytest.fixture(scope="module")
def small() -> Any:
    return simulated(3, schemes="N,U", baseline="run0")


@pytest.fixture(scope="module")
def text(small: Any) -> str:
    return render(small)


@pytest.fixture(scope="module")
def found(text: str) -> Any:
    """Return the record of the collection."""
    return data_of(text)["collections"][0]


@pytest.fixture(scope="module")
def mine() -> tuple[Any, Any, Any]:
    """Build a set of three runs; return the first run and the qrels, too."""
    qrels = qrels_like("trec8-adhoc")
    runs = {f"run{i}": simulated_run(qrels, i, 60) for i in range(3)}
    built = ir_std.build_factors(qrels, runs, id="mine", measures=[AP, P @ 10])
    return runs["run0"], qrels, built


def measure_of(found: Any, name: str) -> Any:
    return next(m for m in found["measures"] if m["name"] == name)


# The record.


def test_the_script_reads_the_fields_that_python_writes(found: Any, several: Any) -> None:
    together = across_of(ir_std.compare(several, [AP], baseline="bm25"))
    for script, name, written in [
        ("collection.js", "Measure", found["measures"][0]),
        ("collection.js", "Collection", found),
        ("across.js", "Across", together),
    ]:
        source = (TEMPLATES / script).read_text()
        read = re.search(
            rf"class {name} \{{\s+constructor\((?:root, names, )?\{{(.*?)\}}\)", source, re.S
        )
        assert read
        assert set(re.findall(r"\w+", read[1])) == set(written)
    source = (TEMPLATES / "across.js").read_text() + (TEMPLATES / "pictures.js").read_text()
    (measure,) = together["measures"]
    for field in (*measure, *measure["rows"][0]):
        assert re.search(rf"(\.|[{{ ]){field}\b", source), field


def test_scores_per_topic_are_those_that_tables_print(small: Any, found: Any) -> None:
    one = measure_of(found, "AP")
    for number, run in enumerate(found["runs"]):
        for name, measure in (("byTopic", AP), ("scoresByTopic", sAP)):
            carried = [f"{whole / 1e4:.4f}" for whole in one[name][number]]
            assert carried == [f"{v:.4f}" for v in small.values[run][measure]]


def test_means_intervals_ranks_and_tests_are_those_of_the_results(small: Any, found: Any) -> None:
    one = measure_of(found, "AP")
    for i, run in enumerate(found["runs"]):
        assert one["means"][i] == pytest.approx(small.means[run][AP])
        assert one["scores"][i] == pytest.approx(small.means[run][sAP])
        interval = small.estimate(run, sAP).interval
        assert (one["low"][i], one["high"][i]) == pytest.approx(interval)
        rank = small.ranks[run][sAP]
        assert [one[k][i] for k in ("rank", "best", "worst")] == [rank.rank, rank.best, rank.worst]
        assert one["place"][i] == small.placements[run][sAP].rank
        if run != "run0":
            assert one["p"][i] == pytest.approx(small.differences[run][sAP].p_adjusted)
            assert one["difference"][i] == pytest.approx(small.differences[run][sAP].mean)
    assert one["p"][0] is None
    assert [score for _, score, _ in one["systems"]] == pytest.approx(
        sorted(small.placements["run0"][sAP].means, reverse=True)
    )


def test_places_per_topic_count_the_better_systems(small: Any, found: Any) -> None:
    scores = ir_std.load_factors("trec8-adhoc").scores["AP"]
    for number, run in enumerate(found["runs"]):
        better = (scores > small.values[run][AP][:, None] + 1e-9).sum(axis=1)
        assert measure_of(found, "AP")["places"][number] == (better + 1).tolist()


def test_places_per_topic_are_of_known_scores_and_turned_where_less_is_better(
    tmp_path: Path,
) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("run,topic,latency\na,1,900\na,2,1500\nb,1,1100\nb,2,1000\nc,1,4000\n")
    mine = ir_std.build_from_scores([table], id="mine", lower_is_better=["latency"])
    with pytest.warns(ir_std.StandardizationWarning, match="c: no value on some topics"):
        results = ir_std.evaluate(table, measures=["latency"], factors=mine)
    found = data_of(render(results))["collections"][0]
    places = dict(zip(found["runs"], found["measures"][0]["places"], strict=True))
    assert places == {"a": [1, 2], "b": [2, 1], "c": [3, None]}


def test_systems_of_the_track_are_there_by_name_and_topic() -> None:
    results = ir_std.evaluate("dl19-passage/bm25base_p", None, "nDCG@10")
    found = data_of(render(results))["collections"][0]
    assert len(found["systems"]) == 36
    assert "bm25base_p" not in found["systems"]
    other = ir_std.evaluate("dl19-passage/p_bert", None, "nDCG@10")
    row = found["measures"][0]["byTopic"][1 + found["systems"].index("p_bert")]
    assert row == [round(1e4 * v) for v in other.values["p_bert"][other.measures[0]]]


def test_a_topic_without_factors_has_no_standardized_score_but_a_warning() -> None:
    qrels = qrels_like("trec8-adhoc")
    run = {"x": {"999": {"d": 1.0}, "401": {"d": 1.0}}}
    with pytest.warns(ir_std.StandardizationWarning, match="999"):
        results = ir_std.evaluate(run, {**qrels, "999": {"d": 1}}, AP, factors="trec8-adhoc")
    (one,) = data_of(render(results))["collections"][0]["measures"]
    assert any("trec8-adhoc has no factors for 1 topic" in said for said in one["warnings"])
    assert one["byTopic"][0][-1] == 10000
    assert [one[k][0][-1] for k in ("scoresByTopic", "places")] == [None, None]


def test_the_record_holds_the_first_documents_of_both_runs_and_their_ranks() -> None:
    qrels = {"1": {"a": 2, "b": 0}, "2": {"a": 1}}
    one = {t: {"a": 9.0, "b": 8.0, "c": 7.0} for t in qrels}
    other = {t: {"c": 9.0, "a": 8.0} for t in qrels}
    results = ir_std.evaluate({"one": one, "other": other}, qrels, AP, baseline="other")
    found = data_of(render(results))["collections"][0]["rankings"]
    assert found["runs"] == [0, 1]
    assert found["topics"]["0"] == {
        "documents": ["a", "b", "c"],
        "levels": [2, 0, None],
        "ranks": [[1, 2, 3], [2, 0, 1]],
    }


def test_a_run_that_was_changed_since_is_not_drawn(tmp_path: Path) -> None:
    runs = [tmp_path / name for name in ("a.run", "b.run")]
    for run in runs:
        run.write_text("1 Q0 d 1 2 x\n1 Q0 e 2 1 x\n")
    results = ir_std.evaluate([str(run) for run in runs], {"1": {"d": 1, "e": 0}}, AP)
    runs[0].write_text("1 Q0 e 1 2 x\n1 Q0 d 2 1 x\n")
    why = data_of(render(results))["collections"][0]["rankings"]["why"]
    assert "could not be read again" in why
    assert "has changed since the evaluation" in why


def test_rankings_of_runs_from_pipes_and_standard_input_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Return an iterator, which can be read only once."""
    pipe, page, qrels = tmp_path / "pipe", tmp_path / "page.html", tmp_path / "qrels"
    qrels.write_text("1 0 d 1\n1 0 e 0\n")
    os.mkfifo(pipe)
    writing = Thread(target=pipe.write_bytes, args=[b"1 Q0 e 1 1 x\n"])
    writing.start()
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"1 Q0 d 1 1 x\n")))
    assert not main(["report", "-", str(pipe), str(qrels), "AP", "-o", str(page)])
    writing.join()
    assert list(data_of(page.read_text())["collections"][0]["rankings"]["topics"]) == ["0"]


# The page.


def test_it_says_what_was_evaluated_and_explains_the_schemes_used(text: str) -> None:
    assert "TREC-8 ad hoc" in text
    assert "3 runs · 50 topics · 129 systems" in text
    assert [scheme for scheme in "NUEz" if f"Scheme {scheme}" in text] == ["N", "U"]
    assert "and with other reference systems" in text
    assert "over the reference systems" in text


def test_factors_named_in_a_measure_are_reported() -> None:
    page = data_of(render(simulated(1, [ir_std.sAP(factors="robust04")])))
    assert (
        "According to the name of the measure" in page["collections"][0]["measures"][0]["trust"][1]
    )


def test_a_hostile_name_stays_text() -> None:
    page = render(hits({HOSTILE: [1.0, 0.0]}), HOSTILE)
    assert "<img" not in page
    assert page.count("</script>") == 2
    assert data_of(page)["collections"][0]["runs"] == [HOSTILE]


def test_a_name_cannot_turn_the_direction_of_the_text_next_to_it() -> None:
    page = render(hits({"a\u202eb\x1b": [1.0, 0.0]}))
    assert not re.search("[\u202a-\u202e\x1b]", page)
    found = data_of(page)["collections"][0]
    assert found["runs"] == [r"a\u202eb\u001b"]
    assert plain(found["measures"][0]["headline"]).startswith(r"a\u202eb\u001b scores")
    assert r'<span class="run">a\u202eb\u001b</span>' in page


def test_nothing_on_it_points_elsewhere(text: str) -> None:
    assert not re.search(r"(?:src|href|action)=\"(?!#|data:,)", text)
    assert not re.search(r"url\(|@import|fetch\(|XMLHttp|sendBeacon|WebSocket", text)


def test_it_is_well_formed_and_its_ids_are_unique(text: str) -> None:
    void = {"meta", "link", "br", "input"}

    class Checker(HTMLParser):
        open: list[str] = []

        def handle_starttag(self, tag: str, attrs: object) -> None:
            self.open += [tag] if tag not in void else []

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

        def handle_startendtag(self, tag: str, attrs: object) -> None:
            pass

    checker = Checker()
    checker.feed(text)
    assert checker.open == []
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_it_is_the_same_each_time(small: Any, text: str) -> None:
    assert render(small) == text


def test_page_and_plots_share_colors_and_limits(text: str) -> None:
    look = plots.read_look()
    for name, color in look["light"].items():
        assert f"--{name}: {color};" in text
    assert f'const LOOK = {{"columns": {look["columns"]}' in text
    scripts = "".join(
        each.read_text() for each in TEMPLATES.iterdir() if each.name.endswith((".js", ".css"))
    )
    assert not re.search(r"#[0-9a-f]{3,6}\b", scripts)


def test_without_jinja2_one_line_says_what_to_install(
    small: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    environment.cache_clear()
    with pytest.raises(IrStdError, match=r"pip install 'ir-std\[report\]'"):
        render(small)


def test_an_unknown_name_in_a_template_is_an_error_even_if_compared_with_none() -> None:
    template = environment().from_string("{{ 'none' if a.averge is none else 'some' }}")
    with pytest.raises(UndefinedError, match="has no attribute 'averge'"):
        template.render(a=object())


def test_it_needs_no_factors() -> None:
    page = render(ir_std.evaluate({"1": {"d": 1.0}}, {"1": {"d": 1}}, AP))
    assert "These scores are raw" in page
    (one,) = data_of(page)["collections"][0]["measures"]
    assert [one[k] for k in ("standardized", "systems", "average")] == [False, [], None]


def test_no_file_is_left_when_it_cannot_be_written(small: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a regular file"):
        write_report(small, tmp_path)
    with pytest.raises(InputError, match="cannot be written"):
        write_report(small, tmp_path / "nowhere" / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_the_page_and_overwrites_no_input(
    tmp_path: Path, ir_std_cli: Any
) -> None:
    run, qrels, page = (tmp_path / name for name in ("a.run", "a.qrels", "page.html"))
    run.write_text("1 Q0 d 1 0.5 tag\n")
    qrels.write_text("1 0 d 1\n")
    done = ir_std_cli("report", run, qrels, "AP", "-o", page, "--title", "Mine")
    assert (done.status, done.out) == (0, [])
    assert f"wrote {page}" in "\n".join(done.err)
    assert "<b>Mine</b>" in page.read_text()
    failed = ir_std_cli("report", run, qrels, "-o", qrels)
    assert failed.status == 2
    assert "is one of the inputs; name a new file" in failed.err[-1]
    assert qrels.read_text() == "1 0 d 1\n"


# Method, sources.


def test_the_method_names_measures_factors_and_tests(text: str) -> None:
    assert "We report AP and P@10, computed with ir_std" in text
    assert f"ir_std {__version__} (factor sets {data_version()})" in text
    assert f"ir_std {__version__}, factor sets {data_version()}." in text
    assert "with factors from the 129 systems of TREC-8 ad hoc" in text
    assert "tested for significance (two-sided paired t-test over topics, p &lt; 0.05" in text


def test_every_paper_that_the_method_cites_is_among_the_references(text: str) -> None:
    cited = set(re.findall(r"cite\{(\w+)\}", text))
    assert cited == set(re.findall(r"@inproceedings\{(\w+),", text))
    assert cited == {"webber2008", "sakai2016", "macavaney2022"}


def test_each_factor_set_has_its_source_and_licence(text: str) -> None:
    table = text[text.index("Sources and licenses") :]
    factors = ir_std.load_factors("trec8-adhoc")
    assert factors.about("AP", "source", factors.source) in html.unescape(table)
    assert factors.info["licence"] in table


def test_known_limitations_of_a_set_are_on_the_page_after_its_notes(mine: Any) -> None:
    run, qrels, factors = mine
    noted = ir_std.FactorSet(
        {**factors.info, "notes": ["A <run> is broken."]}, factors.n_rel, factors.mean, factors.sd
    )
    found = ir_std.evaluate(run, qrels, [AP], factors=noted)
    note, *others = quality_issues(found)
    assert note == "A <run> is broken."
    assert any(s == "AP: with only 3 systems, standard deviations are imprecise." for s in others)
    assert not any("P@10" in s for s in others)
    part = render(found).split("About the systems")[1]
    assert part.index("A &lt;run&gt; is broken.") < part.index("AP: with only 3 systems")


def test_raw_scores_need_no_notes_on_factors() -> None:
    found = simulated(2, [AP], schemes=())
    assert quality_issues(found) == []
    assert "About the systems" not in render(found)


def test_a_source_has_the_licence_that_the_set_states_for_it(mine: Any) -> None:
    run, qrels, factors = mine
    measures = {
        "AP": {**factors.info["measures"]["AP"], "source": "a paper"},
        "P@10": {**factors.info["measures"]["P@10"], "source": "another"},
    }
    source = {"url": "https://a.example", "licence": "CC-BY-SA-4.0"}
    source |= {"source": "a paper", "licence_uri": "https://b.example"}
    info = {**factors.info, "licence": "MIT", "measures": measures, "sources": [source]}
    stated = ir_std.FactorSet(info, factors.n_rel, factors.mean, factors.sd)
    first, second = licences(ir_std.evaluate(run, qrels, [AP, P @ 10], factors=stated))
    assert list(first["measures"]) == ["AP"]
    assert {**first, "measures": ...} == {**source, "set": "mine", "measures": ...}
    assert [second[k] for k in ("source", "url", "licence")] == ["another", None, "MIT"]
    assert list(second["measures"]) == ["P@10"]


# Several collections, whole datasets.


@pytest.fixture(scope="module")
def several() -> list[tuple[str, Any, Any]]:
    return entries_on(("trec7-adhoc", "trec8-adhoc", "trec5-adhoc"), ("bm25", "mono"))


def test_a_page_of_several_collections_has_a_section_for_each(several: Any) -> None:
    results = ir_std.compare(several, [AP])
    page = render(results)
    assert "<b>3 collections</b>" in page
    assert [c["name"] for c in data_of(page)["collections"]] == list(results.collections)
    (measure,) = data_of(page)["across"]["measures"]
    assert measure["scored"] == "standardized AP"
    assert measure["average"] == 0.5
    assert sorted((r["system"], r["name"]) for r in measure["rows"]) == sorted(
        (run, name) for run in ("bm25", "mono") for name in results.collections
    )
    for row in measure["rows"]:
        expected = results.estimate(row["system"], sAP, row["name"])
        assert [row["mean"], row["low"], row["high"]] == [expected.mean, *expected.interval]


def test_with_a_baseline_it_shows_differences_on_each_collection(several: Any) -> None:
    results = ir_std.compare(several, [AP], baseline="bm25")
    page = data_of(render(results))
    assert page["across"]["baseline"] == "bm25"
    assert page["across"]["subject"] == "mono"
    assert all(c["baseline"] for c in page["collections"])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--baseline", "z"], "unknown baseline 'z'; choose from x"),
        (["--factors", "trec8-adhoc"], "--factors and --without apply to one"),
        (["-o", "a.run"], "a.run: is one of the inputs"),
    ],
)
def test_what_several_collections_cannot_have_is_one_line(
    more: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ir_std_cli: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.run").write_text("1 Q0 d 1 0.5 tag\n")
    Path("a.qrels").write_text("1 0 d 1\n")
    done = ir_std_cli("report", "x=a.run:a.qrels", "AP", *more)
    assert done.status == 2
    assert said in done.err[-1]
    assert not Path("report.html").exists()


@pytest.fixture(scope="module")
def whole() -> Any:
    """Evaluate runs on a dataset of a set of two datasets and four models."""
    toys = factors_from_scores(
        {"nDCG@10": np.array([[0.2, 0.4, 0.6, np.nan], [0.1, 0.1, 0.3, 0.5]])},
        {"beir/toy": None, "beir/nq": None},
        {
            "id": "toys",
            "title": "Toys",
            "unit": "collection",
            "population": "four toys",
            "datasets": {"beir/toy": {"split": "test"}},
            "measures": {},
        },
        {"nDCG@10": ("a", "b", "c", "d")},
    )
    qrels = simulated_qrels({str(i): 5 for i in range(20)})
    runs = {f"run{i}": simulated_run(qrels, i, 20) for i in range(3)}
    read = as_qrels(qrels)
    read.dataset = "beir/toy"
    return ir_std.evaluate(runs, read, nDCG @ 10, factors=toys, baseline="run0")


def test_topics_of_a_whole_dataset_have_only_raw_scores(whole: Any) -> None:
    (one,) = data_of(render(whole))["collections"][0]["measures"]
    assert one["standardized"]
    assert [one["scoresByTopic"], one["places"]] == [None, None]
    assert one["trust"][1] == (
        "Only the mean over beir/toy can be compared, not the score on a single topic."
    )
    raw, scored = whole.measures
    assert one["p"][1] == pytest.approx(whole.differences["run1"][raw].p_adjusted)
    assert one["scores"][1] == pytest.approx(whole.means["run1"][scored])


def test_the_method_says_that_scores_are_standardized_by_dataset(whole: Any) -> None:
    said = method(whole)
    assert "Scores are standardized per dataset" in said
    assert "with factors from the 3 systems of Toys" in said
    assert "per topic" not in said
