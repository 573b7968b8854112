"""Comparisons whose collections are linked by systems that ran on all of them."""

import csv
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ir_measures import AP
from made_up import write_scores

import ir_std
from ir_std import plots
from ir_std.analysis import link
from ir_std.analysis.linking import error_of_linked_mean
from ir_std.errors import UsageError
from ir_std.reporting.compare import join_results
from ir_std.reporting.difference import label_of, run_differences
from ir_std.reporting.html.report import write_report
from ir_std.reporting.links import n_common_systems
from ir_std.reporting.model import deviations, over_systems
from ir_std.reporting.result_tables import (
    collection_tables,
    linked_pairs,
    means_with_pairs,
    pairs_table,
)
from ir_std.scores.run_scores import RunScores
from ir_std.trec.files import read_qrels

Entries = list[tuple[str, Any, Any]]
SAP = ir_std.sAP
ANCHORS = [f"anchor{i}" for i in range(4)]
LEVELS = {"trec7-adhoc": 0.3, "trec8-adhoc": -0.3, "trec6-adhoc": 0.0}
"""Distance of the weakest anchor above the tracks' systems."""


def scores_of(track: str, level: float, seed: int) -> RunScores:
    """Simulate AP about ``level`` standard deviations above a track's systems."""
    factors = ir_std.load_factors(track)
    z = np.random.default_rng(seed).normal(level, 0.7, len(factors.topics))
    values = np.clip(factors.mean["AP"] + z * factors.sd["AP"], 0, 1)
    by_topic = dict(zip(factors.topics, values.tolist(), strict=True))
    return RunScores(
        f"{track} {seed}",
        {AP: by_topic},
        {topic: n for topic, n in factors.n_rel.items() if n is not None},
    )


@pytest.fixture(scope="module")
def entries() -> Entries:
    """Simulate four anchors and a system between them on three tracks."""
    return [
        (system, scores_of(track, level + above, seed), None)
        for track, level in LEVELS.items()
        for seed, (system, above) in enumerate(
            {"anchor0": 0.0, "anchor1": 0.2, "anchor2": 0.4, "anchor3": 0.6, "x": 0.3}.items()
        )
    ]


@pytest.fixture(scope="module")
def linked(entries: Entries) -> ir_std.Results:
    return ir_std.compare(entries, AP, anchors=ANCHORS)


def anchor_means(comparison: ir_std.Results) -> dict[str, float]:
    """Return the mean of all anchors on each collection."""
    return {
        c: float(np.mean([comparison.estimate(anchor, SAP, c).mean for anchor in ANCHORS]))
        for c in comparison.collections
    }


def test_the_reference_is_where_the_anchors_mean_is_lowest(
    entries: Entries, linked: ir_std.Results
) -> None:
    plain = anchor_means(ir_std.compare(entries, AP))
    assert linked.links[SAP].reference == min(plain, key=plain.__getitem__)
    assert all(one.shift <= 0 for one in linked.links[SAP].links.values())


def test_anchors_have_the_same_mean_on_every_collection(linked: ir_std.Results) -> None:
    means = list(anchor_means(linked).values())
    assert means == pytest.approx([means[0]] * 3, abs=1e-9)


def test_the_links_are_those_of_the_analysis(linked: ir_std.Results) -> None:
    links = linked.links[SAP]
    z = {
        c: np.stack([deviations(linked.on(c), anchor, SAP) for anchor in ANCHORS], axis=1)
        for c in linked.collections
    }
    for collection, one in links.links.items():
        assert one.shift == link(z[collection], z[links.reference]).shift
    one = next(iter(linked.links["sAP"].links.values()))
    assert one.shift < 0 < one.error
    assert one.anchors == tuple(ANCHORS)
    assert one.doubts == ()


def test_the_table_names_the_reference_and_says_how_it_is_linked(linked: ir_std.Results) -> None:
    links = linked.links[SAP]
    assert linked.table().header[-1] == f"sAP linked by 4 anchors to {links.reference}"
    assert any("is linked by anchor0, anchor1" in note for note in linked.table().notes)
    for one in links.links.values():
        said = f"{one.shift:+.2f} (standard error {one.error:.2f})"
        assert any(said in note for note in linked.table().notes)
    text = " ".join(linked.table().text().split())
    assert "Linked means are on the scale of the reference" in text


def test_differences_across_collections_have_the_interval_of_the_link(
    linked: ir_std.Results,
) -> None:
    links, pairs = linked.links[SAP], linked_pairs(linked)
    assert len(pairs) == 3
    assert [pairs[0].where, pairs[0].b_where] == [*linked.collections][:2]
    for pair in pairs:
        low, high = pair.interval
        assert low < pair.mean < high
        if pair.where == links.reference:
            z = [deviations(linked.on(c), "x", SAP) for c in (pair.where, pair.b_where)]
            expected = links.links[pair.b_where].difference(*z)
            found = pair.mean, pair.estimate.error, pair.interval, pair.p
            assert found == (expected.difference, expected.error, expected.interval, expected.p)
    first = [cell.text for cell in pairs_table(pairs).rows[0][:5]]
    assert first == ["x", pairs[0].where, "x", pairs[0].b_where, "sAP"]


def test_the_csv_has_means_and_differences_in_one_table(linked: ir_std.Results) -> None:
    pairs = linked_pairs(linked)
    text = means_with_pairs(linked).csv()
    rows = list(csv.DictReader(text.splitlines()))
    means, differences = rows[: -len(pairs)], rows[-len(pairs) :]
    label = label_of(linked, SAP)
    assert len(means) == len(linked.table().rows)
    assert all(row["minus system"] == row[f"{label} p"] == "" for row in means)
    for row, pair in zip(differences, pairs, strict=True):
        named = row["system"], row["collection"], row["minus system"], row["minus collection"]
        assert named == (pair.a, pair.where, pair.b, pair.b_where)
        found = [float(row[label + end]) for end in ("", " low", " high", " p")]
        assert found == [pair.mean, *pair.interval, pair.p]
        assert row["AP"] == ""


def test_effects_of_linked_scores_are_their_differences(linked: ir_std.Results) -> None:
    found = replace(linked, baseline="anchor0")
    for d in run_differences(found)["x"][SAP].differences:
        means = [linked.estimate(run, SAP, d.where).mean for run in ("x", "anchor0")]
        assert d.mean == pytest.approx(means[0] - means[1])
        pair = ("x", d.where), ("anchor0", d.where)
        unlinked = replace(found, links={}).difference(*pair, SAP)
        assert d.estimate.systems >= unlinked.estimate.systems


def test_a_linked_mean_carries_the_error_of_the_references_systems(
    entries: Entries, linked: ir_std.Results
) -> None:
    links, plain = linked.links[SAP], ir_std.compare(entries, AP)
    on = links.reference
    assert linked.estimate("x", SAP, on).interval == pytest.approx(
        plain.estimate("x", SAP, on).interval
    )
    assert plain.estimate("x", SAP, on).systems > 0.01
    for name, one in links.links.items():
        of_link, _ = error_of_linked_mean([one], [deviations(linked.on(name), "x", SAP)], 1)
        quarters = dict.fromkeys(ANCHORS, 1 / 4)
        covariance, weights = over_systems(plain.on(on), SAP, quarters)
        of_anchors = covariance.estimate([0.0], weights).systems_error
        found = linked.estimate("x", SAP, name).systems_error
        ratio = one.mean(deviations(linked.on(name), "x", SAP)).slope_ratio
        assert found == pytest.approx(np.hypot(of_link, ratio * of_anchors))


def test_systems_that_are_known_to_be_identical_have_a_p_value_by_two_anchors(
    entries: Entries,
) -> None:
    for same_systems in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ir_std.StandardizationWarning)
            found = ir_std.compare(
                entries, AP, anchors=["anchor0", "anchor1"], same_systems=same_systems
            )
        difference = found.difference(("x", "trec7-adhoc"), ("x", "trec8-adhoc"), SAP)
        assert np.isnan(difference.p) == (not same_systems)
        assert all(
            one.tau_df == (np.inf if same_systems else 1) for one in found.links[SAP].links.values()
        )
    with pytest.raises(UsageError, match="name the anchors"):
        ir_std.compare(entries, AP, same_systems=True)
    with pytest.raises(UsageError, match="all systems are anchors"):
        ir_std.compare(entries, AP, anchors=["x", *ANCHORS])


def test_identical_anchors_count_once(entries: Entries) -> None:
    twins = [("twin", run, qrels) for name, run, qrels in entries if name == "anchor0"]
    with pytest.warns(ir_std.StandardizationWarning, match="a single anchor does not show"):
        comparison = ir_std.compare([*entries, *twins], AP, anchors=["anchor0", "twin"])
    assert comparison.links[SAP].anchors == ("anchor0",)


def test_one_anchor_is_in_the_columns_name_and_once_in_words(entries: Entries) -> None:
    with pytest.warns(ir_std.StandardizationWarning, match="a single anchor does not show"):
        results = ir_std.compare(entries, AP, anchors="anchor0", reference="trec8-adhoc")
    table, pairs = collection_tables(results)
    assert table.header[-1] == "sAP linked by anchor0 to trec8-adhoc"
    assert sum("is linked by anchor0 to trec8-adhoc" in note for note in table.notes) == 1
    assert "(with one anchor, only intervals on trec8-adhoc cover" in " ".join(table.notes)
    assert "They have neither an interval nor p, because" in pairs.notes[0]


def test_effects_of_linked_scores_say_so_in_table_and_picture(linked: ir_std.Results) -> None:
    found = replace(linked, baseline="anchor0")
    label = f"sAP linked by 4 anchors to {linked.links['sAP'].reference}"
    assert label in found.table().header
    assert sum("is linked by" in note for note in found.table().notes) == 1
    assert "that both runs share, and over the anchors of the link." in found.table().notes[0]
    titles = [ax.get_title() for ax in plots.forest_figure(found).axes]
    assert any(label in title.replace("\n", " ") for title in titles)


def test_the_picture_of_means_says_which_compare(entries: Entries, linked: ir_std.Results) -> None:
    plain = plots.comparison_figure(ir_std.compare(entries, AP)).axes[1].get_title()
    assert plain == "standardized, each by its own systems (95% intervals)"
    title = plots.comparison_figure(linked).axes[1].get_title()
    assert title.startswith("sAP\nlinked by 4 anchors to ")


def test_the_page_has_the_links_name_words_and_differences(
    linked: ir_std.Results, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    write_report(linked, page)
    text = page.read_text()
    linked_by = f"linked by 4 anchors to {linked.links['sAP'].reference}"
    assert f"sAP {linked_by}" in text
    assert f"Scores are {linked_by}, so they are on one scale." in text
    assert text.count("sAP is linked by anchor0, anchor1") == 1
    assert "minus that of" in text


def test_systems_that_the_anchors_do_not_resemble_are_warned_about(entries: Entries) -> None:
    strong = [("strong", scores_of(track, 2.5, 9), None) for track in LEVELS]
    said = "strong on trec.*standard deviations from the anchors; add anchors with similar"
    with pytest.warns(ir_std.StandardizationWarning, match=said):
        ir_std.compare([*entries, *strong], AP, anchors=ANCHORS)


@pytest.mark.parametrize(("above", "side"), [(0.9, "worse"), (-0.3, "better")])
def test_anchors_on_one_side_of_all_systems_are_warned_about(
    entries: Entries, above: float, side: str
) -> None:
    anchors = [entry for entry in entries if entry[0] != "x"]
    others = [("x", scores_of(track, level + above, 9), None) for track, level in LEVELS.items()]
    with pytest.warns(ir_std.StandardizationWarning, match=f"all anchors are {side} than"):
        ir_std.compare([*others, *anchors], AP, anchors=ANCHORS)


def test_a_linked_collection_may_have_only_the_anchors(entries: Entries) -> None:
    anchors, reference = [entry for entry in entries if entry[0] != "x"], [*LEVELS][-1]
    other = ("x", scores_of(reference, LEVELS[reference], 9), None)
    linked = ir_std.compare([other, *anchors], AP, anchors=ANCHORS, reference=reference)
    assert not any("all anchors are" in text for text in linked.warnings)


def test_same_topics_need_no_link(data: Path, tmp_path: Path, ir_std_cli: Any) -> None:
    qrels, copy = data / "qrels" / "dl19-passage.txt", tmp_path / "copy.txt"
    copy.write_text(qrels.read_text())
    run = tmp_path / "run"
    run.write_text("".join(f"{t} Q0 7 1 1.0 x\n" for t in (19335, 47923)))
    entries = [f"{name}={run}:{q}" for name in ("a", "b") for q in (qrels, copy)]
    done = ir_std_cli("compare", *entries, "nDCG@10", "--anchor", "a")
    assert done.status == 2
    assert "need no link, because they share 43 topics" in done.err[-1]
    assert "--factors" in done.err[-1]


def test_collections_with_the_same_systems_compare_as_they_are(data: Path) -> None:
    qrels = [read_qrels(data / "qrels" / f"dl{year}-passage.txt") for year in (19, 20)]
    entries = [
        (name, {t: {d: sign * level for d, level in q.judged[t].items()} for t in q.topics}, q)
        for q in qrels
        for name, sign in (("up", 1.0), ("down", -1.0))
    ]
    own, same = (
        ir_std.compare(entries, ir_std.nDCG @ 10, systems=systems) for systems in (None, "modern")
    )
    text = " ".join(same.table().notes)
    assert "collections are standardized with the same 24 systems" in text
    assert "without a link" not in " ".join(own.table().notes)
    assert n_common_systems(own) == 0
    figure = plots.comparison_figure(same)
    assert figure.axes[1].get_title().startswith("standardized by the same systems: comparable")


def test_systems_without_names_are_not_taken_for_the_same(tmp_path: Path) -> None:
    each = {}
    for name in ("one", "two"):
        table = tmp_path / f"{name}.csv"
        rows = [f"sys{s},{name}{t},{s + t % 3}" for s in range(1, 5) for t in range(12)]
        table.write_text("\n".join(["run,topic,grade", *rows]))
        mine = ir_std.build_from_scores([table], id=name)
        each[name] = ir_std.evaluate(table, measures=["grade"], factors=mine)
    assert n_common_systems(join_results(each, {})) == 0


@pytest.fixture
def files(entries: Entries, tmp_path: Path) -> list[str]:
    """Write the entries in the format of trec_eval -q, and return them as arguments."""
    arguments = []
    for name, scores, _ in entries:
        file = tmp_path / f"{scores.name.split()[0]}-{name}.eval"
        arguments.append(f"{name}={write_scores(scores.n_rel, scores.values[AP], file)}")
    return arguments


def test_the_command_prints_linked_means_and_their_differences(
    files: list[str], ir_std_cli: Any
) -> None:
    given = ("compare", *files, "AP", "--anchor", "anchor0", "--anchor", "anchor1")
    done = ir_std_cli(*given)
    assert done.status == 0
    assert "sAP linked by 2 anchors to trec8-adhoc" in done.out[0]
    assert sum("sAP is linked by anchor0, anchor1 to trec8-adhoc" in line for line in done.out) == 1
    assert any(line.split()[:5] == ["mean", "of", "on", "minus", "that"] for line in done.out)
    assert any("two anchors barely show how exact the link is" in line for line in done.err)
    x, *_ = differences = [line for line in ir_std_cli(*given, "-o", "csv").out if ",x," in line]
    assert len(differences) == 3
    assert x.startswith("x,trec7-adhoc,x,trec8-adhoc")


def test_the_page_of_the_command_is_linked(
    files: list[str], tmp_path: Path, ir_std_cli: Any
) -> None:
    page = tmp_path / "page.html"
    done = ir_std_cli(
        *("report", *files, "AP", "-o", page, "--anchor", "anchor0"),
        *("--anchor", "anchor2", "--reference", "trec7-adhoc", "--baseline", "anchor1"),
    )
    assert done.status == 0
    text = page.read_text()
    assert "sAP linked by 2 anchors to trec7-adhoc" in text
    assert "Warning: sAP of trec8-adhoc, trec6-adhoc, linked to trec7-adhoc: two anchors" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--anchor", "anchor9"], "unknown anchor 'anchor9'"),
        (["--anchor", "once"], "the anchor once has no run on trec8-adhoc, trec6-adhoc"),
        (["--anchor", "x", "--reference", "trec9"], "unknown reference 'trec9'"),
        (["--reference", "trec7-adhoc"], "the reference trec7-adhoc needs an anchor"),
        (["--anchor", "x", "-s", "E"], "is a share of systems and cannot be linked"),
    ],
)
def test_the_command_refuses_what_cannot_be_linked_in_one_line(
    files: list[str], arguments: list[str], message: str, ir_std_cli: Any
) -> None:
    once = files[0].replace("anchor0=", "once=")
    done = ir_std_cli("compare", *files, once, "AP", "--quiet", *arguments)
    assert done.status == 2
    assert done.out == []
    assert len(done.err) == 1
    assert message in done.err[0]


def test_fewer_than_ten_topics_are_refused(data: Path) -> None:
    many, all_topics = (read_qrels(data / "qrels" / f"dl{year}-passage.txt") for year in (19, 20))
    nine = {t: dict(many.judged[t]) for t in many.topics[:9]}
    twenty = {t: dict(all_topics.judged[t]) for t in all_topics.topics}
    runs = [
        {t: {d: -float(i) for i, d in enumerate(docs)} for t, docs in q.items()}
        for q in (nine, twenty)
    ]
    entries = [(s, run, q) for s in "ab" for run, q in zip(runs, (nine, twenty), strict=True)]
    message = "cannot be linked to .*: a link needs 10 topics with factors, but the .* has 9"
    with pytest.raises(UsageError, match=message):
        ir_std.compare(entries, ir_std.nDCG @ 10, anchors="a")
