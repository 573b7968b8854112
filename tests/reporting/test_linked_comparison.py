"""Comparisons whose collections are linked by systems that ran on all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ir_measures import AP

import ir_std
from ir_std.analysis.linking import link
from ir_std.errors import UsageError
from ir_std.reporting.links import pairs_table
from ir_std.scores.run_scores import RunScores

SAP = ir_std.sAP


def scores_of(track: str, level: float, seed: int) -> RunScores:
    """A system's AP on a track: about ``level`` deviations above its systems."""
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
def entries() -> list[tuple[str, Any, Any]]:
    """Four anchors and a system on three tracks."""
    levels = {"trec7-adhoc": 0.3, "trec8-adhoc": -0.3, "trec6-adhoc": 0.0}
    return [
        (system, scores_of(track, level + 0.2 * place, place), None)
        for track, level in levels.items()
        for place, system in enumerate(("anchor0", "anchor1", "anchor2", "anchor3", "x"))
    ]


@pytest.fixture(scope="module")
def linked(entries: list[tuple[str, Any, Any]]) -> ir_std.Comparison:
    return ir_std.compare(entries, AP, anchors=[f"anchor{i}" for i in range(4)])


def anchor_means(comparison: ir_std.Comparison) -> dict[str, float]:
    """The mean of all anchors on each collection."""
    return {
        c: float(np.mean([comparison.part(f"anchor{i}", c).estimate(SAP).mean for i in range(4)]))
        for c in comparison.collections
    }


def test_the_reference_is_where_the_anchors_mean_is_lowest(
    entries: list[tuple[str, Any, Any]], linked: ir_std.Comparison
) -> None:
    plain = anchor_means(ir_std.compare(entries, AP))
    assert linked.links[SAP].reference == min(plain, key=plain.__getitem__)
    assert all(one.constant <= 0 for one in linked.links[SAP].links.values())


def test_anchors_have_the_same_mean_on_every_collection(linked: ir_std.Comparison) -> None:
    means = list(anchor_means(linked).values())
    assert means == pytest.approx([means[0]] * 3, abs=1e-9)


def test_the_links_are_those_of_the_analysis(linked: ir_std.Comparison) -> None:
    links = linked.links[SAP]
    z = {
        c: np.stack([linked.part(f"anchor{i}", c).z(SAP) for i in range(4)], axis=1)
        for c in linked.collections
    }
    for collection, one in links.links.items():
        assert one.constant == link(z[collection], z[links.reference]).constant


def test_the_table_names_the_reference_and_says_how_it_is_linked(
    linked: ir_std.Comparison,
) -> None:
    links = linked.links[SAP]
    assert linked.table().header[-1] == f"sAP linked by 4 anchors to {links.reference}"
    assert any("is linked by anchor0, anchor1" in note for note in linked.table().notes)
    assert "they are on the scale of the reference" in linked.table().text().replace("\n  ", " ")


def test_differences_across_collections_have_the_interval_of_the_link(
    linked: ir_std.Comparison,
) -> None:
    links, pairs = linked.links[SAP], linked.linked_pairs
    assert len(pairs) == 3
    for pair in pairs:
        (_, first), (_, second) = pair.first, pair.second
        low, high = pair.difference.interval
        assert low < pair.difference.difference < high
        if first == links.reference:
            expected = links.links[second].difference(
                linked.part("x", first).z(SAP), linked.part("x", second).z(SAP)
            )
            assert pair.difference == expected
    assert [cell.text for cell in pairs_table(pairs).rows[0][:5]] == [
        "x",
        linked.collections[0],
        "x",
        linked.collections[1],
        "sAP",
    ]


def test_effects_of_linked_scores_are_their_differences(linked: ir_std.Comparison) -> None:
    effects = linked.effects("anchor0").of(SAP, "x")
    for effect in effects.effects:
        part, baseline = (linked.part(s, effect.collection) for s in ("x", "anchor0"))
        difference = part.values(SAP) - baseline.values(SAP)
        assert effect.difference.mean == pytest.approx(np.nanmean(difference))


def test_one_anchor_is_warned_of(entries: list[tuple[str, Any, Any]]) -> None:
    with pytest.warns(ir_std.StandardizationWarning, match="1 anchor: hardly known"):
        ir_std.compare(entries, AP, anchors=["anchor0"])


def test_identical_anchors_count_once(entries: list[tuple[str, Any, Any]]) -> None:
    twins = [("twin", run, qrels) for name, run, qrels in entries if name == "anchor0"]
    with pytest.warns(ir_std.StandardizationWarning, match="1 anchor: hardly known"):
        comparison = ir_std.compare([*entries, *twins], AP, anchors=["anchor0", "twin"])
    assert comparison.links[SAP].anchors == ("anchor0",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"anchors": ["anchor9"]}, "no system, to link by, is called 'anchor9'"),
        ({"anchors": ["anchor0"], "reference": "trec9"}, "no collection is called 'trec9'"),
        ({"reference": "trec7-adhoc"}, "without an anchor"),
        ({"anchors": ["anchor0"], "schemes": "E"}, "share of systems, which cannot be linked"),
        (
            {"anchors": ["x", "anchor0", "anchor1", "anchor2", "anchor3"]},
            "all systems are anchors",
        ),
    ],
)
def test_what_cannot_be_linked_is_one_line(
    entries: list[tuple[str, Any, Any]], arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        ir_std.compare(entries, AP, **arguments)


def test_an_anchor_that_lacks_a_collection_is_named(entries: list[tuple[str, Any, Any]]) -> None:
    with pytest.raises(UsageError, match="the anchor anchor0 has no run on trec6-adhoc"):
        ir_std.compare(
            [e for i, e in enumerate(entries) if i != 10], AP, anchors=["anchor0", "anchor1"]
        )
