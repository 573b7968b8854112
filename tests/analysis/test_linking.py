"""Linking collections by systems that ran on both."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm
from scipy.stats import t as student

from ir_std._arrays import Floats
from ir_std.analysis.anchors import AnchorPair, Curve
from ir_std.analysis.linking import Link, link
from ir_std.errors import UsageError


def anchors(
    shift: float = 0.6, k: int = 4, topics: int = 40, seed: int = 0
) -> tuple[Floats, Floats]:
    """Z of k anchors on a reference and, higher by ``shift``, on a weaker collection."""
    random = np.random.default_rng(seed)
    level = random.normal(-0.2, 0.3, k)
    return (random.normal(level + shift, 1, (topics, k)), random.normal(level, 1, (topics + 5, k)))


@pytest.mark.parametrize("scheme", ["N", "U", "z"])
def test_the_anchors_mean_score_is_that_on_the_reference(scheme: str) -> None:
    z, z_reference = anchors()
    score = {"N": norm.cdf, "U": lambda z: np.clip(0.15 * z + 0.5, 0, 1), "z": lambda z: z}[scheme]
    linked = link(z, z_reference, scheme)
    assert score(z + linked.constant).mean() == pytest.approx(score(z_reference).mean(), abs=1e-10)
    assert linked.apply(z) == pytest.approx(score(z + linked.constant))


def test_a_normal_population_is_linked_by_the_shift_of_its_means() -> None:
    # Of normal z with equal variances mean N is equal where the means are: Phi(mu / sqrt(1 + 1)).
    z, z_reference = anchors(shift=0.8, k=6, topics=20_000)
    linked = link(z, z_reference)
    mean, _ = quad(lambda x: norm.cdf(x) * norm.pdf(x - 0.3), -10, 10)
    assert mean == pytest.approx(norm.cdf(0.3 / np.sqrt(2)), abs=1e-9)
    assert linked.constant == pytest.approx(-0.8, abs=0.02)


def test_a_link_is_shown_without_the_anchors_scores() -> None:
    z, z_reference = anchors()
    shown = repr(link(z, z_reference, names=["a", "b", "c", "d"]))
    assert shown.startswith("Link(constant=-0.")
    assert "anchors=('a', 'b', 'c', 'd')" in shown
    assert "array" not in shown


def test_one_collection_linked_to_itself_is_not_moved() -> None:
    z, _ = anchors()
    linked = link(z, z)
    assert linked.constant == pytest.approx(0, abs=1e-9)
    assert linked.difference(z[:, 0], z[:, 0]).difference == pytest.approx(0, abs=1e-9)


def test_the_interval_is_the_recipe_written_out() -> None:
    z, z_reference = anchors()
    linked, k = link(z, z_reference), 4
    own, other = z_reference[:, 0] + 0.3, z[:, 0] + 0.1
    c = linked.constant
    a, b = norm.cdf(z_reference), norm.cdf(z + c)
    slopes = norm.pdf(z + c).mean(axis=0)

    def over_topics(y_a: Floats, y_b: Floats, slope: float) -> float:
        r = slope / slopes.mean()
        return float(
            np.var(y_a - r * a.mean(axis=1), ddof=1) / len(a)
            + np.var(y_b - r * b.mean(axis=1), ddof=1) / len(b)
        )

    e = (a.mean(axis=0) - b.mean(axis=0)) / slopes
    v = [over_topics(a[:, i], b[:, i], slopes[i]) / slopes[i] ** 2 for i in range(k)]
    t2 = (e**2).sum() / (k - 1) - k / (k - 1) * np.mean(v)
    tau2 = max(
        (4 * (0.15**2 + (0.10 * c) ** 2) + (k - 1) * t2) / (k + 3), 0.05**2 + (0.10 * c) ** 2
    )
    distance = norm.cdf(other + c).mean() - b.mean()
    f = norm.pdf(other + c).mean()
    found = linked.difference(own, other)
    assert linked.disagreement == pytest.approx(np.sqrt(tau2))
    assert found.error**2 == pytest.approx(
        over_topics(norm.cdf(own), norm.cdf(other + c), f)
        + tau2 * f**2 * (1 + 1 / k)
        + (0.15 * c * distance) ** 2
    )
    assert found.interval[0] < found.difference < found.interval[1]


def test_with_one_anchor_the_usual_disagreement_stands() -> None:
    z, z_reference = anchors(k=1)
    linked = link(z, z_reference)
    assert linked.disagreement == pytest.approx(np.hypot(0.15, 0.10 * linked.constant))
    assert linked.doubts[0].startswith("1 anchor:")


def test_topics_without_factors_have_no_part() -> None:
    z, z_reference = anchors()
    with_gaps = np.insert(z, 3, np.nan, axis=0)
    assert link(with_gaps, z_reference).constant == link(z, z_reference).constant
    system = np.insert(z[:, 0], 3, np.nan)
    assert link(with_gaps, z_reference).difference(z_reference[:, 0], system) == link(
        z, z_reference
    ).difference(z_reference[:, 0], z[:, 0])


def bad_anchor(k: int) -> Link:
    z, z_reference = anchors(k=k)
    z[:, -1] += 1.5
    return link(z, z_reference, names=[f"engine{i}" for i in range(k)])


def test_of_five_anchors_one_that_disagrees_is_left_out() -> None:
    linked = bad_anchor(5)
    assert linked.dropped == ("engine4",)
    assert linked.anchors == ("engine0", "engine1", "engine2", "engine3")
    assert "engine4 disagrees" in linked.doubts[0]
    assert "left out" in linked.doubts[0]


def test_of_three_anchors_one_that_disagrees_stays_beside_the_median() -> None:
    linked = bad_anchor(3)
    assert linked.dropped == ()
    assert "engine2 disagrees" in linked.doubts[0]
    assert "the median of the links by one anchor is" in linked.doubts[0]


def test_two_anchors_that_disagree_are_refused() -> None:
    with pytest.raises(UsageError, match="engine0 and engine1 disagree"):
        bad_anchor(2)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda z, ref: (z[:9], ref), "9 topics of the linked collection have factors"),
        (lambda z, ref: (z, ref[:5]), "5 topics of the reference have factors"),
        (lambda z, ref: (z[:, :2], ref), "z of the same anchors on both collections"),
        (lambda z, ref: (z + 2, ref), "standard deviations apart"),
        (lambda z, ref: (z + 4, ref + 4), "too near to an end of the scale"),
    ],
)
def test_what_cannot_be_linked_is_refused(change: object, what: str) -> None:
    z, z_reference = change(*anchors())  # type: ignore[operator]
    with pytest.raises(UsageError, match=what):
        link(z, z_reference)


def test_shares_of_systems_cannot_be_linked() -> None:
    with pytest.raises(UsageError, match="scheme E cannot be linked"):
        link(*anchors(), "E")


@pytest.mark.parametrize(
    ("shift", "level", "doubt"),
    [(1.3, 0.0, "standard deviations apart"), (0.2, 2.2, "near an end of the scale")],
)
def test_a_doubtful_link_says_why(shift: float, level: float, doubt: str) -> None:
    z, z_reference = anchors(shift)
    assert any(doubt in text for text in link(z + level, z_reference + level).doubts)


def test_several_systems_at_once_have_the_differences_of_each() -> None:
    z, z_reference = anchors()
    linked = link(z, z_reference)
    random = np.random.default_rng(1)
    above, below = random.normal(0, 1, (45, 3)), random.normal(0, 1, (40, 3))
    together = linked.difference(above, below)
    for i in range(3):
        one = linked.difference(above[:, i], below[:, i])
        assert together.difference[i] == pytest.approx(one.difference, abs=1e-12)
        assert together.error[i] == pytest.approx(one.error, abs=1e-12)
        assert together.p[i] == pytest.approx(one.p, abs=1e-12)
        assert together.interval[0][i] == pytest.approx(one.interval[0], abs=1e-12)


def test_a_system_far_from_the_anchors_has_a_wider_interval() -> None:
    z, z_reference = anchors(shift=1.0)
    linked = link(z, z_reference)
    near, far = z.mean(axis=1), z.mean(axis=1) + 1.5
    assert abs(linked.distance(near)) < 0.5
    assert linked.distance(far) > 1
    slope = [norm.pdf(x + linked.constant).mean() for x in (near, far)]
    assert linked.error_of(near) / slope[0] < 1.1 * linked.error < linked.error_of(far) / slope[1]


def test_a_link_adds_nothing_to_the_difference_of_a_system_from_itself() -> None:
    z, z_reference = anchors()
    linked = link(z, z_reference)
    assert linked.error_between(z[:, 0], z[:, 0]) == 0
    assert 0 < linked.error_between(z[:, 0], z[:, 0] + 1) < linked.error_of(z[:, 0] + 1)


def test_an_anchor_without_a_topic_off_the_ends_is_refused() -> None:
    z, z_reference = anchors()
    z[:, 2] = -9
    z_reference[:, 2] = -9
    with pytest.raises(UsageError, match="the anchor anchor 3 is at an end of the scale"):
        link(z, z_reference, "U")


def test_the_disagreement_is_between_the_usual_one_and_that_of_these_anchors() -> None:
    z, z_reference = anchors(k=3, topics=400)
    z += np.array([-0.6, 0.0, 0.6])
    assert link(z, z_reference).disagreement > 0.25
    z, _ = anchors(k=3, topics=400)
    assert link(z, z_reference).disagreement < 0.15


def test_z_of_other_topics_than_the_links_are_refused() -> None:
    z, z_reference = anchors()
    linked = link(z, z_reference)
    with pytest.raises(UsageError, match="z on 7 topics, where the linked collection has 40"):
        linked.difference(z_reference[:, 0], z[:7, 0])
    with pytest.raises(UsageError, match="z on 7 topics, where the reference has 45"):
        linked.difference(z_reference[:7, 0], z[:, 0])


def test_each_anchor_is_tested_against_the_link_by_the_others() -> None:
    z, z_reference = anchors()
    z[:, 1] += 0.3
    pair = AnchorPair(z_reference, z, Curve("N", 0.15, 0.5), (np.ones(45, bool), np.ones(40, bool)))
    a = norm.cdf(z_reference)
    for i, found in enumerate(pair.p_of_anchors()):
        others = [j for j in range(4) if j != i]

        def excess(c: float, others: list[int] = others) -> float:
            return float(norm.cdf(z[:, others] + c).mean() - a[:, others].mean())

        c = brentq(excess, -5, 5)
        b, slopes = norm.cdf(z + c), norm.pdf(z + c).mean(axis=0)
        r = slopes[i] / slopes[others].mean()
        residuals = [y[:, i] - r * y[:, others].mean(axis=1) for y in (a, b)]
        parts = [float(values.var(ddof=1)) / len(values) for values in residuals]
        df = sum(parts) ** 2 / sum(
            v**2 / (len(x) - 1) for v, x in zip(parts, residuals, strict=True)
        )
        error = np.sqrt(sum(parts) + (0.1 * slopes[i]) ** 2 * (1 + 1 / 3))
        assert found == pytest.approx(
            2 * student.sf(abs(a[:, i].mean() - b[:, i].mean()) / error, df), rel=1e-9
        )


def test_anchors_at_the_ends_of_the_scale_make_a_link_doubtful() -> None:
    z, z_reference = anchors(shift=0.0)
    doubts = link(4 * z, 4 * z_reference).doubts
    assert any("of the anchors' scores are at an end of the scale" in text for text in doubts)


@pytest.mark.parametrize(
    ("names", "k", "message"), [(["a"], 4, "1 name of 4 anchors"), ([], 0, "0 names of 0 anchors")]
)
def test_anchors_are_named_one_by_one(names: list[str], k: int, message: str) -> None:
    z, z_reference = anchors()
    with pytest.raises(UsageError, match=message):
        link(z[:, :k], z_reference[:, :k], names=names)


def test_a_system_without_scores_is_refused() -> None:
    z, z_reference = anchors()
    with pytest.raises(UsageError, match="z is known on 0 topics of the linked collection"):
        link(z, z_reference).difference(z_reference[:, 0], z[:, 0] * np.nan)
