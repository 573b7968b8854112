"""Intervals of ranks, against scipy's paired t-test of each pair and plain loops over all flips."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from ir_std.analysis import rank_intervals, ranks, residual_variance


def made_up(n_topics: int, n_systems: int, seed: int, missing: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 0.2, (n_topics, 1)) + rng.normal(np.linspace(0, 0.3, n_systems), 0.1)
    x = x + rng.normal(0, 0.1, (n_topics, n_systems))
    x[rng.random(x.shape) < missing] = np.nan
    return x


def plain(x: np.ndarray) -> tuple[list[int], list[int]]:
    """The definition, pair by pair, by scipy's test."""
    n_systems = x.shape[1]
    best, worst = [1] * n_systems, [n_systems] * n_systems
    for j, k in combinations(range(n_systems), 2):
        common = ~np.isnan(x[:, j] - x[:, k])
        if common.sum() < 5:
            continue
        first, second = x[common, j], x[common, k]
        if stats.ttest_rel(first, second).pvalue < 0.05:
            winner, loser = (j, k) if first.mean() > second.mean() else (k, j)
            best[loser] += 1
            worst[winner] -= 1
    return best, worst


@pytest.mark.parametrize("missing", [0, 0.3, 0.6])
@pytest.mark.parametrize("seed", range(5))
def test_each_pair_is_scipys_paired_t_test(seed: int, missing: float) -> None:
    x = made_up(14, 12, seed, missing)
    found = rank_intervals(x)
    assert (found.best.tolist(), found.worst.tolist()) == plain(x)


@pytest.mark.parametrize("missing", [0, 0.2])
@pytest.mark.parametrize("seed", range(3))
def test_the_limit_of_all_at_once_is_that_of_plain_loops_over_all_flips(
    seed: int, missing: float
) -> None:
    x = made_up(8, 5, seed, missing)
    pairs = []
    for j, k in combinations(range(5), 2):
        d = (x[:, j] - x[:, k])[~np.isnan(x[:, j] - x[:, k])]
        if len(d) >= 5:
            pairs.append((j, k, d))
    degrees = sum(len(d) - 1 for *_, d in pairs)
    pooled = sum(float(((d - d.mean()) ** 2).sum()) for *_, d in pairs) / degrees
    if not missing:
        assert pooled == pytest.approx(2 * residual_variance(x))
    errors = [np.sqrt((d.var(ddof=1) + pooled) / 2 / len(d)) for *_, d in pairs]
    largest = []
    for signs in product([-1, 1], repeat=8):
        statistics = []
        for (j, k, d), error in zip(pairs, errors, strict=True):
            flipped = np.array(signs)[~np.isnan(x[:, j] - x[:, k])] * (d - d.mean())
            statistics.append(abs(flipped.mean()) * np.sqrt(len(d) / (len(d) - 1)) / error)
        largest.append(max(statistics))
    limit = sorted(largest)[int(np.ceil(0.9 * 2**8)) - 1]
    best, worst = [1] * 5, [5] * 5
    for (j, k, d), error in zip(pairs, errors, strict=True):
        if abs(d.mean()) / error > limit + 1e-12:
            winner, loser = (j, k) if d.mean() > 0 else (k, j)
            best[loser] += 1
            worst[winner] -= 1
    found = rank_intervals(x, 0.9, simultaneous=True)
    assert (found.best.tolist(), found.worst.tolist()) == (best, worst)
    assert found.best.max() > 1


def test_intervals_of_all_at_once_hold_those_of_each() -> None:
    x = made_up(30, 20, 7)
    each, together = rank_intervals(x), rank_intervals(x, simultaneous=True)
    assert (together.best <= each.best).all()
    assert (together.worst >= each.worst).all()
    assert (each.worst - each.best).sum() < (together.worst - together.best).sum()


def test_all_flips_and_drawn_ones_nearly_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    x = made_up(12, 15, 3)
    scale = np.ones((15, 15))
    n = np.full((15, 15), 12)
    exact = ranks._largest_of_flips(x, scale, n, n > 0, 0.95)
    monkeypatch.setattr(ranks, "ALL_FLIPS_UP_TO", 11)
    drawn = ranks._largest_of_flips(x, scale, n, n > 0, 0.95)
    assert drawn != exact
    assert drawn == pytest.approx(exact, rel=0.03)


def test_a_missing_score_changes_the_way_of_computing_and_not_the_limit() -> None:
    x = made_up(20, 6, 5)
    same = np.column_stack([x, np.full(20, np.nan)])
    for simultaneous in (False, True):
        whole = rank_intervals(x, simultaneous=simultaneous)
        found = rank_intervals(same, simultaneous=simultaneous)
        assert found.best[:6].tolist() == whole.best.tolist()
        assert (found.worst[:6] - 1).tolist() == whole.worst.tolist()
        assert (found.best[6], found.worst[6]) == (1, 7)


def test_equal_systems_share_their_ranks_and_a_constant_lead_is_no_chance() -> None:
    x = np.random.default_rng(2).random(10)
    found = rank_intervals(np.column_stack([x, (x + 0.2) - 0.2, x - 0.25]))
    assert (found.best.tolist(), found.worst.tolist()) == ([1, 1, 3], [2, 2, 3])
    assert found.n_first == 2


def test_no_two_systems_of_a_group_differ_and_each_group_is_as_long_as_can_be() -> None:
    x = made_up(25, 20, 11)
    x = x[:, np.argsort(-x.mean(axis=0))]
    found = rank_intervals(x)
    groups = found.groups().tolist()
    differ = found.better | found.better.T
    assert groups == sorted(groups)
    assert 1 < len(set(groups)) < 20
    for number in set(groups):
        of_group = np.flatnonzero(np.array(groups) == number)
        assert not differ[np.ix_(of_group, of_group)].any()
        after = of_group[-1] + 1
        assert after == 20 or differ[of_group, after].any()


@pytest.mark.parametrize("simultaneous", [False, True])
def test_fewer_than_five_topics_tell_nothing_apart(simultaneous: bool) -> None:
    x = np.column_stack([np.arange(4.0), np.arange(4.0) + 9])
    few = rank_intervals(x, simultaneous=simultaneous)
    assert (few.best.tolist(), few.worst.tolist()) == ([1, 1], [2, 2])
    none = rank_intervals(np.empty((0, 3)), simultaneous=simultaneous)
    assert none.n_first == 3


def test_small_differences_of_systems_that_are_alike_keep_their_digits() -> None:
    rng = np.random.default_rng(4)
    x = rng.random((50, 1)) * 1000 + np.zeros((50, 3))
    x[:, 1] += 1e-7 * (1 + 0.1 * rng.standard_normal(50))
    found = rank_intervals(x)
    assert (found.best.tolist(), found.worst.tolist()) == ([2, 1, 2], [3, 1, 3])


def test_a_higher_level_gives_wider_intervals() -> None:
    x = made_up(20, 20, 9)
    narrow, wide = rank_intervals(x, 0.8), rank_intervals(x, 0.999)
    assert (wide.worst - wide.best).sum() > (narrow.worst - narrow.best).sum()


@pytest.mark.parametrize(
    ("scores", "level", "message"),
    [
        ([0.1, 0.2], 0.95, "one array of topics x systems"),
        ([[0.1, np.inf]], 0.95, "1 infinite value"),
        ([[0.1, 0.2]], 95, "level must lie between 0 and 1"),
    ],
)
def test_what_cannot_be_ranked_is_said(scores: list[float], level: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rank_intervals(scores, level)


def test_many_pairs_that_hardly_differ_are_compared_in_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = np.repeat(made_up(10, 1, 4), 6, axis=1) + 0.1 * np.arange(6)
    monkeypatch.setattr(ranks, "PAIRS_AT_ONCE", 4)
    found = rank_intervals(x)
    assert found.best.tolist() == found.worst.tolist() == [6, 5, 4, 3, 2, 1]
