"""Intervals of ranks, against scipy's paired t-test of each pair and plain loops over all flips."""

from itertools import combinations, product

import numpy as np
import pytest

from ir_std.analysis import rank_intervals, ranks


def made_up(n_topics: int, n_systems: int, seed: int, missing: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 0.2, (n_topics, 1)) + rng.normal(np.linspace(0, 0.3, n_systems), 0.1)
    x = x + rng.normal(0, 0.1, (n_topics, n_systems))
    x[rng.random(x.shape) < missing] = np.nan
    return x


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
    found = rank_intervals(x, 0.9)
    assert (found.best.tolist(), found.worst.tolist()) == (best, worst)
    assert found.best.max() > 1


@pytest.mark.parametrize("seed", range(3))
def test_the_set_for_the_best_is_hsus_by_plain_loops_over_all_flips(seed: int) -> None:
    x = made_up(8, 5, seed)
    d = x[:, :, None] - x[:, None, :]
    variance = d.var(axis=0, ddof=1)
    pooled = variance[~np.eye(5, dtype=bool)].mean()
    error = np.sqrt((variance + pooled) / 2 / 8)
    residuals = d - d.mean(axis=0)
    could_be = []
    for k in range(5):
        others = [j for j in range(5) if j != k]
        largest = sorted(
            max(
                (np.array(signs) @ residuals[:, j, k]) / 8 * np.sqrt(8 / 7) / error[j, k]
                for j in others
            )
            for signs in product([-1, 1], repeat=8)
        )
        limit = largest[int(np.ceil(0.9 * 2**8)) - 1]
        could_be.append(all(d[:, j, k].mean() / error[j, k] <= limit + 1e-6 for j in others))
    found = rank_intervals(x, 0.9)
    assert found.could_be_first.tolist() == could_be
    assert found.n_first == sum(could_be) < 5


def test_the_set_for_the_best_is_within_those_whose_interval_reaches_first() -> None:
    found = rank_intervals(made_up(30, 20, 7))
    assert found.could_be_first[found.best > 1].sum() == 0
    assert 0 < found.n_first <= (found.best == 1).sum()


def test_all_flips_and_drawn_ones_nearly_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    x = made_up(12, 15, 3)

    def limit() -> float:
        flips = ranks._Flips(x, np.ones((15, 15)), np.full((15, 15), 12), np.ones((15, 15), bool))
        return ranks._quantile(np.max([flips.two_sided(k) for k in range(15)], axis=0), 0.95)

    exact = limit()
    monkeypatch.setattr(ranks, "ALL_FLIPS_UP_TO", 11)
    assert limit() != exact
    assert limit() == pytest.approx(exact, rel=0.04)


def test_a_missing_score_changes_the_way_of_computing_and_not_the_limit() -> None:
    x = made_up(20, 6, 5)
    whole, found = rank_intervals(x), rank_intervals(np.column_stack([x, np.full(20, np.nan)]))
    assert found.best[:6].tolist() == whole.best.tolist()
    assert (found.worst[:6] - 1).tolist() == whole.worst.tolist()
    assert found.could_be_first[:6].tolist() == whole.could_be_first.tolist()
    assert (found.best[6], found.worst[6]) == (1, 7)


def test_equal_systems_share_ranks_and_a_constant_lead_is_not_due_to_chance() -> None:
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


def test_fewer_than_five_topics_tell_nothing_apart() -> None:
    x = np.column_stack([np.arange(4.0), np.arange(4.0) + 9])
    few = rank_intervals(x)
    assert (few.best.tolist(), few.worst.tolist()) == ([1, 1], [2, 2])
    none = rank_intervals(np.empty((0, 3)))
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
        ([[0.1, np.inf]], 0.95, r"infinite values \(1\)"),
        ([[0.1, 0.2]], 95, "level must lie between 0 and 1"),
    ],
)
def test_runs_that_cannot_be_ranked_are_reported(
    scores: list[float], level: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        rank_intervals(scores, level)


def test_many_near_equal_pairs_are_compared_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.repeat(made_up(10, 1, 4), 6, axis=1) + 0.1 * np.arange(6)
    monkeypatch.setattr(ranks, "PAIRS_AT_ONCE", 4)
    found = rank_intervals(x)
    assert found.best.tolist() == found.worst.tolist() == [6, 5, 4, 3, 2, 1]
