"""Links between collections by common systems, and between topics by common systems."""

from collections.abc import Iterable
from statistics import NormalDist, fmean
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.stats import chi2, norm, t as student

import ir_std
from ir_std._arrays import Floats
from ir_std.analysis import linked_scores, standardize_matrix
from ir_std.analysis.linking import Link, error_of_linked_mean, link, linked_difference
from ir_std.errors import UsageError
from ir_std.factors.estimates import scores_by_system
from ir_std.schemes import z_scores


def anchors(
    shift: float = 0.6, k: int = 4, topics: int = 40, seed: int = 0
) -> tuple[Floats, Floats]:
    """Simulate z of k anchors on a reference collection, and on one shifted by ``shift``."""
    random = np.random.default_rng(seed)
    level = random.normal(-0.2, 0.3, k)
    return (random.normal(level + shift, 1, (topics, k)), random.normal(level, 1, (topics + 5, k)))


@pytest.mark.parametrize("scheme", ["N", "U", "z"])
def test_the_anchors_mean_score_is_that_on_the_reference(scheme: str) -> None:
    z, z_reference = anchors()
    score = {"N": norm.cdf, "U": lambda z: np.clip(0.15 * z + 0.5, 0, 1), "z": lambda z: z}[scheme]
    linked = link(z, z_reference, scheme)
    assert score(z + linked.shift).mean() == pytest.approx(score(z_reference).mean(), abs=1e-10)
    assert linked.apply(z) == pytest.approx(score(z + linked.shift))


def test_a_normal_population_is_linked_by_the_shift_of_its_means() -> None:
    # If z is normal with equal variances, mean N depends only on the mean: Phi(mu / sqrt(1 + 1)).
    z, z_reference = anchors(shift=0.8, k=6, topics=20_000)
    linked = link(z, z_reference)
    mean, _ = quad(lambda x: norm.cdf(x) * norm.pdf(x - 0.3), -10, 10)
    assert mean == pytest.approx(norm.cdf(0.3 / np.sqrt(2)), abs=1e-9)
    assert linked.shift == pytest.approx(-0.8, abs=0.02)


def test_a_link_is_shown_without_the_anchors_scores() -> None:
    z, z_reference = anchors()
    shown = repr(link(z, z_reference, names=["a", "b", "c", "d"]))
    assert shown.startswith("Link(shift=-0.")
    assert "anchors=('a', 'b', 'c', 'd')" in shown
    assert "array" not in shown


def test_topics_on_which_an_anchor_has_no_factors_are_left_out() -> None:
    z, z_reference = anchors()
    z_gap, reference_gap = z.copy(), z_reference.copy()
    z_gap[3, 1] = reference_gap[5, 0] = np.nan
    expected = link(np.delete(z, 3, axis=0), np.delete(z_reference, 5, axis=0))
    assert link(z_gap, reference_gap).shift == pytest.approx(expected.shift)
    with_gaps, system = np.insert(z, 3, np.nan, axis=0), np.insert(z[:, 0], 3, np.nan)
    whole, gaps = link(z, z_reference), link(with_gaps, z_reference)
    assert gaps.shift == whole.shift
    own = z_reference[:, 0]
    assert gaps.difference(own, system) == whole.difference(own, z[:, 0])


def test_one_collection_linked_to_itself_is_not_moved() -> None:
    z, _ = anchors()
    linked = link(z, z)
    assert linked.shift == pytest.approx(0, abs=1e-9)
    assert linked.difference(z[:, 0], z[:, 0]).difference == pytest.approx(0, abs=1e-9)


class Recipe:
    """The formulas of a link and of one difference, written out."""

    def __init__(self, z: Floats, z_reference: Floats, own: Floats, other: Floats) -> None:
        linked, self.k = link(z, z_reference), z.shape[1]
        self.c = c = linked.shift
        self.a, self.b = norm.cdf(z_reference), norm.cdf(z + c)
        self.slopes = norm.pdf(z + c).mean(axis=0)
        self.e = (self.a.mean(axis=0) - self.b.mean(axis=0)) / self.slopes
        v = [
            sum(self.over_topics(self.a[:, i], self.b[:, i], self.slopes[i])) / self.slopes[i] ** 2
            for i in range(self.k)
        ]
        self.by_topics = self.k / (self.k - 1) * np.mean(v)
        squares = ((self.e - self.e.mean()) ** 2).sum()
        self.tau2 = max(0.0, squares / chi2.ppf(0.3, self.k - 1) - self.by_topics)
        self.f = norm.pdf(other + c).mean()
        v_a, v_b = self.over_topics(norm.cdf(own), norm.cdf(other + c), self.f)
        w = self.tau2 * self.f**2 * (1 + 1 / self.k)
        distance = norm.cdf(other + c).mean() - self.b.mean()
        self.total = v_a + v_b + w + (0.15 * c * distance) ** 2
        self.df = self.total**2 / (
            v_a**2 / (len(own) - 1) + v_b**2 / (len(other) - 1) + w**2 / (self.k - 1)
        )
        self.difference = norm.cdf(own).mean() - norm.cdf(other + c).mean()

    def over_topics(self, y_a: Floats, y_b: Floats, slope: float) -> tuple[float, float]:
        r = slope / self.slopes.mean()
        first, second = y_a - r * self.a.mean(axis=1), y_b - r * self.b.mean(axis=1)
        return float(first.var(ddof=1)) / len(first), float(second.var(ddof=1)) / len(second)


def test_the_interval_is_the_recipe_written_out() -> None:
    z, z_reference = anchors(topics=200)
    z += [0.4, -0.2, 0.1, -0.3]
    own, other = z_reference[:, 0] + 0.3, z[:, 0] + 0.1
    expected, linked = Recipe(z, z_reference, own, other), link(z, z_reference)
    found = linked.difference(own, other)
    assert linked.tau == pytest.approx(np.sqrt(expected.tau2))
    assert linked.tau > 0.3
    assert found.error**2 == pytest.approx(expected.total)
    assert found.df == pytest.approx(expected.df)
    half = float(student.ppf(0.975, expected.df)) * expected.total**0.5
    assert found.interval == pytest.approx((expected.difference - half, expected.difference + half))
    t = abs(expected.difference) / np.sqrt(expected.total)
    assert found.p == pytest.approx(2 * student.sf(t, expected.df))


def test_systems_that_are_known_to_be_identical_have_a_tau_of_their_own() -> None:
    z, z_reference = anchors()
    own, other = z_reference[:, 0] + 0.3, z[:, 0] + 0.1
    recipe, k = Recipe(z, z_reference, own, other), 4
    t2 = (recipe.e**2).sum() / (k - 1) - recipe.by_topics
    t0 = 0.15**2 + (0.10 * recipe.c) ** 2
    tau2 = max((4 * t0 + (k - 1) * t2) / (k + 3), 0.05**2 + (0.10 * recipe.c) ** 2)
    linked = link(z, z_reference, same_systems=True)
    assert linked.tau == pytest.approx(np.sqrt(tau2))
    assert linked.tau_df == np.inf
    w = recipe.f**2 * (1 + 1 / k)
    expected = recipe.total + w * (tau2 - recipe.tau2)
    assert linked.difference(own, other).error ** 2 == pytest.approx(expected)


@pytest.mark.parametrize(
    ("reference", "collection", "names", "system", "expected"),
    [
        (
            "covid-round2",
            "covid-round1",
            ["UIowaS_Run1", "run1", "CSIROmedNIR"],
            "BITEM_BL",
            (-0.408580, 1.404294, 0.279406, 0.413990, 2.1042, 0.566),
        ),
        (
            "dl23-passage",
            "dl22-passage",
            ["uogtr_dph", "uogtr_be", "uogtr_se"],
            "uogtr_dph_bo1",
            (-0.459754, 0.118200, 0.008214, 0.068734, 4.4723, 0.910),
        ),
    ],
)
def test_worked_examples_come_out_to_every_digit(
    reference: str, collection: str, names: list[str], system: str, expected: tuple[float, ...]
) -> None:
    a, b = (z_of(name, [*names, system]) for name in (reference, collection))
    linked = link(b[:, :3], a[:, :3], names=names)
    found = linked.difference(a[:, 3], b[:, 3])
    values = (linked.shift, linked.tau**2, found.difference, found.error, found.df, found.p)
    assert [round(float(v), n) for v, n in zip(values, (6, 6, 6, 6, 4, 3), strict=True)] == [
        *expected
    ]


def z_of(name: str, tags: list[str]) -> Floats:
    """Return z of some systems' nDCG@10 under their own set."""
    factors = ir_std.load_factors(name)
    numbers, scores = scores_by_system(factors, "nDCG@10")
    known = [factors.systems[i] for i in numbers.tolist()]
    mean, sd = (values["nDCG@10"][:, None] for values in (factors.mean, factors.sd))
    return z_scores(scores[:, [known.index(tag) for tag in tags]], mean, sd)


def test_a_single_anchor_shifts_and_tells_no_error() -> None:
    z, z_reference = anchors(k=1)
    linked = link(z, z_reference)
    found = linked.difference(z_reference[:, 0] + 0.1, z[:, 0])
    assert found.difference > 0
    assert np.isnan([linked.tau, linked.error, found.error, found.p, *found.interval]).all()
    (doubt,) = linked.doubts
    assert doubt.startswith("a single anchor does not show how exact the link is")
    known = link(z, z_reference, same_systems=True)
    assert known.tau == pytest.approx(np.hypot(0.15, 0.10 * linked.shift))
    assert known.doubts == ()
    assert 0 < known.difference(z_reference[:, 0] + 0.1, z[:, 0]).p < 1


def test_two_anchors_give_an_interval_and_no_p_value() -> None:
    z, z_reference = anchors(k=2)
    linked = link(z, z_reference)
    found = linked.difference(z_reference[:, 0] + 0.1, z[:, 0])
    assert found.interval[0] < found.difference < found.interval[1]
    assert np.isnan(found.p)
    assert "differences have no p-value" in linked.doubts[0]


def test_several_links_add_their_errors_and_share_the_reference() -> None:
    z, z_reference = anchors()
    other, _ = anchors(seed=1)
    first, second = link(z, z_reference), link(other, z_reference)
    difference = linked_difference(first, z[:, 0], second, other[:, 0])
    apart = [one.difference(z_reference[:, 0], x[:, 0]) for one, x in ((first, z), (second, other))]
    assert difference.error < sum(one.error for one in apart)
    own = [error_of_linked_mean([one], [x[:, 0]], 1)[0] for one, x in ((first, z), (second, other))]
    together, df = error_of_linked_mean([first, second], [z[:, 0], other[:, 0]], 2)
    assert np.hypot(own[0], own[1]) / 2 < together < sum(own) / 2
    assert df > 3
    assert error_of_linked_mean([], [], 1) == (0.0, np.inf)


def bad_anchor(k: int) -> Link:
    z, z_reference = anchors(k=k)
    z[:, -1] += 1.5
    return link(z, z_reference, names=[f"engine{i}" for i in range(k)])


@pytest.mark.parametrize("k", [3, 5, 10])
def test_no_anchor_is_left_out_and_those_that_disagree_widen_the_interval(k: int) -> None:
    z, z_reference = anchors(k=k)
    linked, agreeing = bad_anchor(k), link(z, z_reference)
    assert linked.anchors == tuple(f"engine{i}" for i in range(k))
    assert linked.tau > 0.5 > agreeing.tau
    assert "the anchors disagree" in linked.doubts[0]
    assert not any("disagree" in doubt for doubt in agreeing.doubts)


def test_anchors_that_leave_half_an_interval_above_half_a_unit_of_n_do_not_link() -> None:
    assert any("the link is too imprecise" in text for text in bad_anchor(3).doubts)
    assert link(*anchors(k=5, topics=200)).doubts == ()


def at_an_end(z: Floats) -> Floats:
    """Put the third anchor at an end of the scale on all topics."""
    return np.where(np.arange(z.shape[1]) == 2, -9, z)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (
            lambda z, ref: (z[:9], ref),
            "a link needs 10 topics with factors, but the linked collection has 9",
        ),
        (
            lambda z, ref: (z, ref[:5]),
            "a link needs 10 topics with factors, but the reference has 5",
        ),
        (lambda z, ref: (z[:, :2], ref), "z of the same anchors on both collections"),
        (lambda z, ref: (z + 2, ref), "standard deviations apart"),
        (lambda z, ref: (z + 4, ref + 4), "too near to an end of the scale"),
        (lambda z, ref: (z, ref, {"scheme": "E"}), "scheme E cannot be linked"),
        (lambda z, ref: (at_an_end(z), at_an_end(ref), {"scheme": "U"}), "anchor 3 is at an end"),
        (lambda z, ref: (z, ref, {"names": ["a"]}), "1 name for 4 anchors"),
        (lambda z, ref: (z[:, :0], ref[:, :0], {"names": []}), "0 names for 0 anchors"),
    ],
)
def test_what_cannot_be_linked_is_refused(change: Any, what: str) -> None:
    z, z_reference, *options = change(*anchors())
    with pytest.raises(UsageError, match=what):
        link(z, z_reference, **dict(*options))


@pytest.mark.parametrize(
    ("system", "reference", "message"),
    [
        (np.zeros(7), np.zeros(45), "z has 7 topics, but the linked collection has 40"),
        (np.zeros(40), np.zeros(7), "z has 7 topics, but the reference has 45"),
        (
            np.full(40, np.nan),
            np.zeros(45),
            "2 topics with a value of z, but the linked collection has 0",
        ),
    ],
)
def test_z_of_other_topics_than_the_links_are_refused(
    system: Floats, reference: Floats, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        link(*anchors()).difference(reference, system)


def test_a_large_shift_and_anchors_near_an_end_raise_no_doubts() -> None:
    # Between rounds and years, these marks are as common on good links as on bad ones.
    for shift, level in ((1.3, 0.0), (0.2, 1.2)):
        z, z_reference = anchors(shift)
        assert link(z + level, z_reference + level).doubts == ()


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
    assert abs(linked.mean(near).distance) < 0.5
    assert linked.mean(far).distance > 1
    slope = [norm.pdf(x + linked.shift).mean() for x in (near, far)]
    assert error_of_linked_mean([linked], [near], 1)[0] / slope[0] < 1.1 * linked.error
    assert error_of_linked_mean([linked], [far], 1)[0] / slope[1] > linked.error


def test_a_link_adds_nothing_to_the_difference_of_a_system_from_itself() -> None:
    z, z_reference = anchors()
    linked = link(z, z_reference)
    assert linked.error_between(z[:, 0], z[:, 0]) == 0
    assert (
        0
        < linked.error_between(z[:, 0], z[:, 0] + 1)
        < error_of_linked_mean([linked], [z[:, 0] + 1], 1)[0]
    )


def made_up(n_topics: int = 12, n_systems: int = 30, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    ability = rng.normal(0, 0.1, n_systems)
    return (
        rng.uniform(0.2, 0.8, (n_topics, 1)) + ability + rng.normal(0, 0.04, (n_topics, n_systems))
    )


def stdev(values: Iterable[float]) -> float:
    return float(np.std(list(values), ddof=1))


def plain(scores: list[list[float | None]]) -> list[float]:
    """Compute the means as the docstring describes them, with lists."""
    z: list[dict[int, float]] = []
    for row in scores:
        known = {k: s for k, s in enumerate(row) if s is not None}
        mean, sd = fmean(known.values()), stdev(known.values())
        z.append({k: (s - mean) / sd for k, s in known.items()})
    systems = range(len(scores[0]))
    design = [(j, k) for j, row in enumerate(z) for k in row]
    a = np.zeros((len(design), len(systems) + len(z)))
    for i, (j, k) in enumerate(design):
        a[i, k] = a[i, len(systems) + j] = 1
    theta = np.linalg.lstsq(a, np.array([z[j][k] for j, k in design]), rcond=None)[0].tolist()
    theta = theta[: len(systems)]
    for _ in range(2000):
        c = [t - fmean(theta) for t in theta]
        linked = [
            {
                k: fmean(c[i] for i in row) + value * stdev(c[i] for i in row) / stdev(c)
                for k, value in row.items()
            }
            for row in z
        ]
        theta = [fmean(row[k] for row in linked if k in row) for k in systems]
    return [fmean(NormalDist().cdf(row[k]) for row in linked if k in row) for k in systems]


def test_it_is_what_its_description_says() -> None:
    x = made_up(6, 8)
    x[np.random.default_rng(3).random(x.shape) < 0.3] = np.nan
    rows = [[None if np.isnan(s) else float(s) for s in row] for row in x]
    assert linked_scores(x).means == pytest.approx(plain(rows), abs=1e-6)


def test_with_all_scores_it_is_the_mean_of_n() -> None:
    x = made_up()
    assert linked_scores(x).means == pytest.approx(standardize_matrix(x).mean(axis=0), abs=1e-12)


def mean_n(x: np.ndarray) -> np.ndarray:
    """Compute mean N per topic from the systems that have a score."""
    z = (x - np.nanmean(x, axis=1, keepdims=True)) / np.nanstd(x, axis=1, ddof=1, keepdims=True)
    return np.asarray(np.nanmean(stats.norm.cdf(z), axis=0))


def test_leaving_out_the_topics_of_strong_systems_gains_nothing() -> None:
    x = made_up(12, 60)
    order = np.argsort(-x.mean(axis=0))
    x[:6, order[40:]] = np.nan  # weak systems are only on the last topics
    gains = []
    for middle in order[10:30]:
        alone = x.copy()
        alone[:6, middle] = np.nan
        gains.append(
            [(f(alone) - f(x))[middle] for f in (lambda s: linked_scores(s).means, mean_n)]
        )
    linked, plainly = np.mean(gains, axis=0)
    assert abs(linked) < 0.02
    assert plainly > 0.05


def test_missing_scores_move_places_less_than_by_means() -> None:
    whole = made_up(12, 60, 8)
    truth = stats.rankdata(-standardize_matrix(whole).mean(axis=0))
    x = whole.copy()
    x[np.ix_(np.argsort(whole.mean(axis=1))[:4], np.arange(0, 60, 2))] = np.nan  # the hardest
    linked = np.abs(stats.rankdata(-linked_scores(x).means) - truth)[::2].mean()
    raw = np.abs(stats.rankdata(-np.nanmean(x, axis=0)) - truth)[::2].mean()
    assert linked < raw / 5


def test_a_topic_on_which_all_score_the_same_tells_nothing() -> None:
    x = made_up(5, 6)
    flat = np.vstack([x, np.full(6, 0.3)])
    found = linked_scores(flat)
    assert (found.values[-1] == 0.5).all()


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.1, 0.2], "one array of topics x systems"),
        ([[0.1, np.inf]], r"infinite values \(1\)"),
        *(
            (lacking, "each topic needs scores of two systems, and each system needs a score")
            for lacking in ([[0.1, 0.2], [0.3, np.nan]], [[0.1, 0.2, np.nan]])
        ),
        (
            [[0.1, 0.2, np.nan, np.nan], [np.nan, np.nan, 0.2, 0.3]],
            "shared topics do not connect all systems",
        ),
    ],
)
def test_scores_that_cannot_be_linked_are_reported(scores: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        linked_scores(scores)
