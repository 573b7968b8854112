"""The HTML report: what it says.  What it does in a browser: test_report_in_browser.py."""

from __future__ import annotations

import html
import json
import os
import re
import sys
import zlib
from base64 import b64decode
from html.parser import HTMLParser
from io import BytesIO, TextIOWrapper
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from ir_measures import AP, P

import ir_std
from ir_std import __version__, sAP
from ir_std.cli import main
from ir_std.errors import InputError, IrStdError
from ir_std.factors.catalog import data_version
from ir_std.reporting import figure_data
from ir_std.reporting.comparison import Comparison
from ir_std.reporting.html.method import Licence, known_weaknesses, licences
from ir_std.reporting.html.report import _template, render, write_report
from ir_std.reporting.html.sentences import describe_results, is_saturated
from ir_std.schemes import SCHEMES
from ir_std.testing import simulated_qrels, simulated_run

HOSTILE = "<img src=x onerror=alert(1)></script>'\"&"


def simulated(n: int, measures: list[Any] | None = None, **options: Any) -> ir_std.Results:
    """Results of simulated runs on qrels with TREC-8's topics and counts."""
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    runs = {f"run{i}": simulated_run(qrels, i, 100) for i in range(n)}
    return ir_std.evaluate(runs, qrels, measures, **options)


@pytest.fixture(scope="module")
def results() -> ir_std.Results:
    return simulated(3, [AP, P @ 10], schemes="N,U", baseline="run0")


@pytest.fixture(scope="module")
def text(results: ir_std.Results) -> str:
    return render(results)


def data_of(text: str) -> Any:
    """The numbers that the page carries of its first collection, matrices unpacked."""
    found = re.search(r'<script type="application/json">(.*?)</script>', text, re.S)
    assert found
    data = json.loads(found[1])
    shape = (len(data["runs"]), len(data["topics"]))
    planes = np.frombuffer(zlib.decompress(b64decode(data["packed"])), np.uint8)
    data["unpacked"], start = [], 0
    for matrix in data["matrices"]:
        codes = np.zeros(shape)
        for power in range(matrix["bytes"]):
            codes += planes[start : start + codes.size].reshape(shape) * 256.0**power
            start += codes.size
        values = (codes + matrix["least"] - 1) / matrix["unit"]
        data["unpacked"].append(np.where(codes == 0, np.nan, values))
    assert start == len(planes)
    return data


def measure_of(data: Any, name: str) -> Any:
    return next(m for m in data["measures"] if m["name"] == name)


def test_it_says_what_was_evaluated_with_which_factors(text: str) -> None:
    assert "3 runs on TREC-8 ad hoc" in text
    assert "129 standardizing systems" in text
    assert "50 of 50" in text


def test_it_explains_the_schemes_used_and_no_others(text: str) -> None:
    assert "Scheme N" in text
    assert "Scheme U" in text
    assert "Scheme E" not in text


def test_warnings_are_on_the_page() -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    with pytest.warns(ir_std.StandardizationWarning, match="999"):
        found = ir_std.evaluate(
            {"999": {"d": 1.0}, "401": {"d": 1.0}}, {**qrels, "999": {"d": 1}}, AP
        )
    assert "1 topic without factors in trec8-adhoc" in render(found)


def test_factors_named_in_a_measure_are_told() -> None:
    page = render(simulated(1, [ir_std.sAP(factors="robust04")]))
    assert "with the factors of robust04" in page


def test_the_scores_it_carries_are_those_that_tables_print(
    results: ir_std.Results, text: str
) -> None:
    data = data_of(text)
    for measure in results.measures:
        carried = data["unpacked"][measure_of(data, str(measure))["values"]]
        for number, run in enumerate(data["runs"]):
            assert [f"{v:.4f}" for v in carried[number]] == [
                f"{v:.4f}" for v in results.values[run][measure]
            ]


def test_z_and_the_systems_by_topic_are_those_of_the_factors(
    results: ir_std.Results, text: str
) -> None:
    data = data_of(text)
    factors = ir_std.load_factors("trec8-adhoc")
    behind = next(b for b in data["behind"] if b["measure"] == "AP")
    assert behind["mean"] == pytest.approx(factors.mean["AP"], rel=1e-5)
    assert behind["sd"] == pytest.approx(factors.sd["AP"], rel=1e-5)
    for number, run in enumerate(data["runs"]):
        z = (results.values[run][AP] - factors.mean["AP"]) / factors.sd["AP"]
        assert data["unpacked"][behind["z"]][number] == pytest.approx(z, abs=0.00501)
        assert behind["above"][number] == (z > 0).sum()
        assert behind["farBelow"][number] == (z < -1).sum()


def test_ranks_by_topic_count_the_better_systems(results: ir_std.Results, text: str) -> None:
    data = data_of(text)
    scores = ir_std.load_factors("trec8-adhoc").scores["AP"]
    behind = next(b for b in data["behind"] if b["measure"] == "AP")
    for number, run in enumerate(data["runs"]):
        better = (scores > results.values[run][AP][:, None] + 1e-9).sum(axis=1)
        assert (data["unpacked"][behind["ranks"]][number] == better + 1).all()


def test_ranks_by_topic_are_from_the_lowest_on_where_less_is_better(tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    table.write_text(
        "run,topic,latency\na,1,900\na,2,1500\nb,1,1100\nb,2,1000\nc,1,4000\nc,2,1250\n"
    )
    mine = ir_std.build_from_scores([table], id="mine", lower_is_better=["latency"])
    results = ir_std.evaluate(table, measures=["latency"], factors=mine)
    data = data_of(render(results))
    (behind,) = data["behind"]
    ranks = dict(zip(data["runs"], data["unpacked"][behind["ranks"]].tolist(), strict=True))
    assert ranks == {"a": [1, 3], "b": [2, 1], "c": [3, 2]}


def test_a_mean_is_there_by_every_scheme(text: str) -> None:
    data = data_of(text)
    behind = next(b for b in data["behind"] if b["measure"] == "AP")
    assert [name for name, _ in behind["schemes"]] == ["raw", *SCHEMES]
    alone = simulated(3, [AP], schemes="all")
    for name, means in behind["schemes"]:
        measure = AP if name == "raw" else ir_std.sAP(scheme=name)
        assert means == pytest.approx([alone.means[run][measure] for run in data["runs"]], abs=1e-8)


def test_the_systems_mean_is_that_of_their_means(results: ir_std.Results, text: str) -> None:
    data = data_of(text)
    for measure in (AP, ir_std.sAP):
        placed = results.placements["run0"][measure]
        assert measure_of(data, str(measure))["systemsMean"] == pytest.approx(
            sum(placed.means) / 129, rel=1e-5
        )
        assert measure_of(data, str(measure))["systems"] == pytest.approx(placed.means, rel=1e-5)


def test_one_band_serves_all_topics_of_a_standardized_measure(text: str) -> None:
    data = data_of(text)
    band = measure_of(data, "sAP")["peers"]
    assert [band["low"], band["mean"], band["high"]] == [
        [pytest.approx(0.158655)],
        [0.5],
        [pytest.approx(0.841345)],
    ]
    assert len(measure_of(data, "AP")["peers"]["low"]) == 50


def test_runs_outside_the_track_are_the_readers_own(text: str) -> None:
    assert data_of(text)["own"] == [0, 1, 2]


def test_a_hostile_name_stays_text() -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    page = render(ir_std.evaluate({HOSTILE: simulated_run(qrels, 1, 10)}, qrels, AP), HOSTILE)
    assert "<img" not in page
    assert page.count("</script>") == 3
    assert not re.search(r"<(img|/script>')", page)
    assert data_of(page)["runs"] == [HOSTILE]


def test_a_name_cannot_turn_the_direction_of_what_is_beside_it() -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    page = render(ir_std.evaluate({"a\u202eb\x1b": simulated_run(qrels, 1, 10)}, qrels, AP))
    assert not re.search("[\u202a-\u202e\x1b]", page)
    data = data_of(page)
    assert data["runs"] == [r"a\u202eb\u001b"]
    assert any(r"a\u202eb\u001b has" in said for m in data["measures"] for said in m["words"])
    assert r'data-run="a\u202eb\u001b"' in page


def test_nothing_on_it_points_elsewhere(text: str) -> None:
    assert not re.search(r"(?:src|href|action)=\"(?!#|data:,)", text)
    assert not re.search(r"url\(|@import|fetch\(|XMLHttp|sendBeacon|WebSocket", text)


def test_it_is_well_formed(text: str) -> None:
    void = {"meta", "link", "br", "input"}

    class Checker(HTMLParser):
        open: list[str] = []

        def handle_starttag(self, tag: str, attrs: object) -> None:
            if tag not in void:
                self.open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

        def handle_startendtag(self, tag: str, attrs: object) -> None:
            pass

    checker = Checker()
    checker.feed(text)
    assert checker.open == []


def test_ids_on_it_are_unique(text: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_it_is_the_same_each_time(results: ir_std.Results, text: str) -> None:
    assert render(results) == text


def test_without_jinja2_one_line_says_what_to_install(
    results: ir_std.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    _template.cache_clear()
    with pytest.raises(IrStdError, match=r"pip install 'ir-std\[report\]'"):
        render(results)


def test_it_needs_no_factors() -> None:
    page = render(ir_std.evaluate({"1": {"d": 1.0}}, {"1": {"d": 1}}, AP))
    assert "no factor set fits" in page
    assert "These scores are raw" in page


def test_a_topic_without_factors_has_no_standardized_point() -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    with pytest.warns(ir_std.StandardizationWarning, match="999"):
        found = ir_std.evaluate({"x": {"999": {"d": 1.0}}}, {**qrels, "999": {"d": 1}}, AP)
    data = data_of(render(found))
    assert data["unpacked"][measure_of(data, "AP")["values"]][0, -1] == 1
    assert np.isnan(data["unpacked"][measure_of(data, "sAP")["values"]][0, -1])
    assert np.isnan(data["unpacked"][data["behind"][0]["z"]][0, -1])
    assert np.isnan(data["unpacked"][data["behind"][0]["ranks"]][0, -1])


def test_with_very_many_scores_intervals_are_over_topics_and_the_page_says_so(
    results: ir_std.Results, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figure_data, "SCORES_UP_TO", 3 * 50 * 4 - 1)
    page = render(results)
    of = {name: measure_of(data_of(page), name) for name in ("AP", "sAP")}
    run = data_of(page)["runs"][0]
    mean, over = results.means[run][sAP], results.uncertainty[run][sAP].topics
    assert (of["sAP"]["low"][0], of["sAP"]["high"][0]) == pytest.approx((mean - over, mean + over))
    assert of["sAP"]["overSystems"] == []
    assert "thick by topics" in text
    assert "thick by topics" not in page
    assert "over the standardizing systems" in text
    assert "over the standardizing systems" not in page


def test_no_file_is_left_when_it_cannot_be_written(results: ir_std.Results, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a regular file"):
        write_report(results, tmp_path)
    with pytest.raises(InputError, match="cannot be written"):
        write_report(results, tmp_path / "nowhere" / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_an_input_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, qrels = tmp_path / "a.run", tmp_path / "a.qrels"
    run.write_text("1 Q0 d 1 0.5 tag\n")
    qrels.write_text("1 0 d 1\n")
    assert main(["report", str(run), str(qrels), "-o", str(qrels)]) == 2
    assert "is one of the inputs; name a new file" in capsys.readouterr().err
    assert qrels.read_text() == "1 0 d 1\n"


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, qrels = tmp_path / "a.run", tmp_path / "a.qrels"
    run.write_text("1 Q0 d 1 0.5 tag\n")
    qrels.write_text("1 0 d 1\n")
    page = tmp_path / "page.html"
    assert main(["report", str(run), str(qrels), "AP", "-o", str(page), "--title", "Mine"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"wrote {page}" in captured.err
    assert "<h1>Mine</h1>" in page.read_text()


@pytest.mark.slow
def test_two_processes_write_the_same_page(tmp_path: Path) -> None:
    qrels = tmp_path / "a.qrels"
    qrels.write_text("1 0 d 1\n1 0 e 0\n")
    runs = [str(tmp_path / name) for name in ("a.run", "b.run")]
    for run, scores in zip(runs, ((2, 1), (1, 2)), strict=True):
        Path(run).write_text(
            "".join(f"1 Q0 {doc} 1 {score} tag\n" for doc, score in zip("de", scores, strict=True))
        )
    pages = []
    for jobs in "12":
        page = tmp_path / f"{jobs}.html"
        assert main(["report", *runs, str(qrels), "AP", "--jobs", jobs, "-o", str(page)]) == 0
        pages.append(page.read_bytes())
    assert pages[0] == pages[1]


# What it says in words.


def made_up(means: dict[str, list[float]], **options: Any) -> ir_std.Results:
    """Results with success at rank 1 on topics 1, 2, ...: a run's scores are as given."""
    n = len(next(iter(means.values())))
    qrels = {str(i): {"good": 1, "bad": 0} for i in range(n)}
    runs = {
        name: {str(i): {"good": 2.0 * hit, "bad": 1.0} for i, hit in enumerate(hits)}
        for name, hits in means.items()
    }
    return ir_std.evaluate(runs, qrels, [P @ 1], **options)


def test_it_names_the_best_run_with_its_interval_and_place(results: ir_std.Results) -> None:
    best = max(results.runs, key=lambda run: results.means[run][ir_std.sAP])
    mean = results.means[best][ir_std.sAP]
    low, high = results.uncertainty[best][ir_std.sAP].interval
    assert describe_results(results, ir_std.sAP)[0] == (
        f"{best} is the best of the 3 runs by sAP: {mean:.3f} (95% interval {low:.3f} to "
        f"{high:.3f}); it {results.placements[best][ir_std.sAP].summary} among the standardizing "
        f"systems."
    )


def test_it_says_what_differs_from_the_baseline() -> None:
    found = made_up(
        {
            "base": [0.0, 1.0] * 10,
            "good": [1.0] * 20,
            "bad": [0.0] * 20,
            "like": [0.0, 1.0] * 9 + [1.0, 0.0],
        },
        baseline="base",
    )
    assert describe_results(found, P @ 1)[1:3] == [
        "It leads the baseline base by 0.500 (paired t-test, p = 0.001); that is significant.",
        "Of 3 runs beside the baseline base, 1 is significantly better (good), 1 is significantly "
        "worse (bad) and 1 does not differ significantly from it: two-sided paired t-test over "
        "topics, p < 0.05 after Holm's correction for 3 runs.",
    ]


def test_of_two_runs_the_lead_says_what_differs() -> None:
    found = made_up({"base": [0] * 10, "good": [1] * 10}, baseline="base")
    assert describe_results(found, P @ 1)[1:3] == [
        "It leads the baseline base by 1.000 (paired t-test, p < 0.001); that is significant.",
        "Only good could be first: paired t-tests with each other run, p < 0.05, each by itself.",
    ]


def test_it_says_that_nothing_differs_from_the_baseline() -> None:
    found = made_up({"base": [0, 1] * 5, "other": [1, 0] * 5}, baseline="base")
    assert describe_results(found, P @ 1)[1] == (
        "other does not differ significantly from the baseline base: two-sided paired t-test "
        "over topics, p < 0.05."
    )


def test_without_a_baseline_it_compares_the_first_two() -> None:
    found = made_up({"a": [1] * 10, "b": [0] * 10})
    assert describe_results(found, P @ 1)[1] == (
        "It leads b, the next run, by 1.000 (paired t-test, p < 0.001); that is significant."
    )
    found = made_up({"a": [1, 0, 1, 0, 1], "b": [0, 1, 0, 1, 0]})
    assert describe_results(found, P @ 1)[1] == (
        "It leads b, the next run, by 0.200 (paired t-test, p = 0.704); that is not significant."
    )


def test_it_says_how_the_factors_fit(results: ir_std.Results) -> None:
    assert (
        "The factors, from the 129 systems of TREC-8 ad hoc (old: systems of before 2019), fit all "
        "50 topics." in describe_results(results, ir_std.sAP)
    )
    assert describe_results(made_up({"a": [1, 0]}), P @ 1)[-1] == (
        "The scores are raw: they compare only with those of the same topics."
    )


@pytest.mark.parametrize(
    ("measure", "score", "topics"),
    [
        (ir_std.sAP, 0.995, 5),
        (ir_std.sAP, 0.005, 5),
        (ir_std.sAP(scheme="U"), 0.0, 5),
        (ir_std.sAP(scheme="E"), 1.0, 17),
    ],
)
def test_a_run_has_left_a_scale_with_a_tenth_of_its_topics_or_a_third_by_e(
    measure: Any, score: float, topics: int
) -> None:
    values = np.full(51, 0.5)
    values[-1] = np.nan
    values[:topics] = score
    assert is_saturated(measure, values)
    values[topics - 1] = 0.5
    assert not is_saturated(measure, values)


def test_it_says_which_runs_have_left_the_scale() -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    perfect = {
        t: {d: -float(i) for i, d in enumerate(docs) if docs[d]} for t, docs in qrels.items()
    }
    found = ir_std.evaluate({"perfect": perfect, "usual": simulated_run(qrels, 1, 100)}, qrels, AP)
    assert describe_results(found, ir_std.sAP)[-1].startswith("Saturation: on many topics perfect ")


def test_the_method_names_measures_factors_and_tests(text: str) -> None:
    assert "We report AP and P@10, computed with ir_std" in text
    assert f"ir_std {__version__} (factor sets {data_version()})" in text
    assert f"Made with ir_std {__version__} and its factor sets of {data_version()}" in text
    assert "with factors from the 129 systems of TREC-8 ad hoc" in text
    assert "called significant by a two-sided paired t-test over topics, p &lt; 0.05" in text


def test_every_paper_that_the_method_cites_is_among_the_references(text: str) -> None:
    cited = set(re.findall(r"cite\{(\w+)\}", text))
    assert cited == set(re.findall(r"@inproceedings\{(\w+),", text))
    assert cited == {"webber2008", "sakai2016", "macavaney2022"}


def test_each_factor_set_has_its_source_and_licence(text: str) -> None:
    table = text[text.index("Factors: sources and licences") :]
    factors = ir_std.load_factors("trec8-adhoc")
    assert factors.about("AP", "source", factors.source) in html.unescape(table)
    assert factors.info["licence"] in table


def test_it_says_what_the_measures_used_are_worth(results: ir_std.Results, text: str) -> None:
    assert results.quality == "AP, P@10: old (systems of before 2019)"
    assert f"<dt>Their quality</dt><dd>{results.quality}</dd>" in text
    assert f"Quality of the factors: {results.quality}" in results._repr_html_()
    assert simulated(2, [AP], schemes=()).quality == ""


def test_what_is_known_against_a_set_is_on_the_page_notes_first() -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    runs = {f"run{i}": simulated_run(qrels, i, 60) for i in range(3)}
    factors = ir_std.build_factors(qrels, runs, id="mine", measures=[AP, P @ 10])
    noted = ir_std.FactorSet(
        {**factors.info, "notes": ["A <run> is broken."]}, factors.n_rel, factors.mean, factors.sd
    )
    found = ir_std.evaluate(runs["run0"], qrels, [AP], factors=noted)
    note, *others = known_weaknesses([found])["mine"]
    assert note == "A <run> is broken."
    assert any(s == "AP: 3 systems, too few for a sure deviation." for s in others)
    assert not any("P@10" in s for s in others)
    part = render(found).split("What is known against the factors of mine")[1]
    assert part.index("A &lt;run&gt; is broken.") < part.index("AP: 3 systems, too few")


def test_raw_scores_need_nothing_said_against_factors() -> None:
    found = simulated(2, [AP], schemes=())
    assert known_weaknesses([found]) == {}
    assert "What is known against" not in render(found)


def test_a_source_has_the_licence_that_the_set_states_for_it() -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    runs = {f"run{i}": simulated_run(qrels, i, 60) for i in range(3)}
    factors = ir_std.build_factors(qrels, runs, id="mine", measures=[AP, P @ 10])
    measures = {
        "AP": {**factors.info["measures"]["AP"], "source": "a paper"},
        "P@10": {**factors.info["measures"]["P@10"], "source": "another"},
    }
    info = {
        **factors.info,
        "licence": "MIT",
        "measures": measures,
        "sources": [
            {
                "source": "a paper",
                "url": "https://a.example",
                "licence": "CC-BY-SA-4.0",
                "licence_uri": "https://b.example",
            }
        ],
    }
    stated = ir_std.FactorSet(info, factors.n_rel, factors.mean, factors.sd)
    first, second = licences([ir_std.evaluate(runs["run0"], qrels, [AP, P @ 10], factors=stated)])
    assert first == Licence(
        "mine", "a paper", "https://a.example", "CC-BY-SA-4.0", "https://b.example", ["AP"]
    )
    assert second == Licence("mine", "another", "", "MIT", "", ["P@10"])


# Several collections.


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    entries = []
    for number, name in enumerate(("trec7-adhoc", "trec8-adhoc", "trec5-adhoc")):
        qrels = simulated_qrels(ir_std.load_factors(name).n_rel)
        entries += [
            (system, simulated_run(qrels, 10 * number + i, 60), qrels)
            for i, system in enumerate(("bm25", "mono"))
        ]
    return ir_std.compare(entries, [AP])


def across_of(page: str) -> Any:
    found = re.search(
        r'<section id="across".*?<script type="application/json">(.*?)</script>', page, re.S
    )
    assert found
    return json.loads(found[1])


def test_a_page_of_several_collections_has_a_part_for_each(comparison: Comparison) -> None:
    page = render(comparison)
    assert "<h1>2 systems on 3 collections</h1>" in page
    assert re.findall(r'data-part="([^"]+)" data-key', page) == [
        "trec7-adhoc",
        "trec8-adhoc",
        "trec5-adhoc",
    ]


def test_without_a_baseline_it_shows_means_by_system_and_collection(comparison: Comparison) -> None:
    (measure,) = across_of(render(comparison))["measures"]
    assert measure["name"] == "sAP"
    assert measure["zero"] == 0.5
    assert [(r["system"], r["name"]) for r in measure["rows"]] == [
        (system, name)
        for system in ("bm25", "mono")
        for name in ("trec7-adhoc", "trec8-adhoc", "trec5-adhoc")
    ]
    for part, row in zip(
        [p for p in comparison.parts if p.system == "bm25"], measure["rows"], strict=False
    ):
        found = part.estimate(ir_std.sAP)
        assert [row["mean"], row["low"], row["high"]] == [found.mean, *found.interval]


def test_with_a_baseline_it_shows_differences_and_of_three_no_summary(
    comparison: Comparison,
) -> None:
    data = across_of(render(comparison.tested("bm25")))
    assert data["baseline"] == "bm25"
    found = comparison.effects("bm25").of("sAP")
    rows = next(m for m in data["measures"] if m["name"] == "sAP")["rows"]
    assert [r["mean"] for r in rows] == [e.difference.mean for e in found.effects]


def test_each_collection_is_tested_against_the_baseline(comparison: Comparison) -> None:
    page = render(comparison.tested("bm25"))
    assert page.count("(baseline: bm25)") == 3
    assert "significantly better, worse than bm25" in page


def test_the_command_takes_what_compare_takes(tmp_path: Path, ir_std_cli: Any) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.run").write_text(f"1 Q0 d{name} 1 0.5 tag\n")
        (tmp_path / f"{name}.qrels").write_text(f"1 0 d{name} 1\n")
    entries = [
        f"{system}={tmp_path / name}.run:{tmp_path / name}.qrels"
        for system in ("x", "y")
        for name in ("a", "b")
    ]
    page = tmp_path / "page.html"
    done = ir_std_cli("report", *entries, "AP", "-o", page, "--baseline", "x")
    assert done.status == 0
    assert "<h1>2 systems on 2 collections</h1>" in page.read_text()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--baseline", "z"], "no system is called 'z', the baseline: there are x"),
        (["--factors", "trec8-adhoc"], "--factors and --without are about one"),
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


def test_rankings_of_runs_from_pipes_and_standard_input_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What can be read only once is kept: the topics to draw are known after evaluation."""
    pipe, page, qrels = tmp_path / "pipe", tmp_path / "page.html", tmp_path / "qrels"
    qrels.write_text("1 0 d 1\n1 0 e 0\n")
    os.mkfifo(pipe)
    writing = Thread(target=pipe.write_bytes, args=[b"1 Q0 e 1 1 x\n"])
    writing.start()
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"1 Q0 d 1 1 x\n")))
    assert not main(["report", "-", str(pipe), str(qrels), "AP", "-o", str(page)])
    writing.join()
    packed = data_of(page.read_text())["rankings"]["packed"]
    [pair] = json.loads(zlib.decompress(b64decode(packed)))["pairs"]
    assert list(pair["topics"]) == ["0"]
