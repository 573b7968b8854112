"""Tests of what a report says first and draws, and what it leaves to tables."""

import numpy as np
import pytest
from ir_measures import AP, P
from ir_measures.measures import Measure

import ir_std
from ir_std.measures import main_score
from ir_std.reporting.difference import Difference, RunDifferences, is_headline, is_wide, limits_of

LATENCY = ir_std.ExternalMeasure("latency")


@pytest.mark.parametrize("measure", [AP, P @ 10, ir_std.sAP, ir_std.sAP(scheme="U")])
def test_an_interval_that_is_wider_than_scores_can_be_is_not_a_headline(measure: Measure) -> None:
    assert limits_of(measure) == (0, 1)
    assert limits_of(measure, of_differences=True) == (-1, 1)
    assert not is_wide(measure, -0.2, 0.8)
    assert is_wide(measure, -0.2, 0.9)
    assert [is_headline(n, measure, -0.2, 0.8) for n in (4, 5)] == [False, True]
    assert not is_headline(5, measure, -0.2, 0.9)


@pytest.mark.parametrize("measure", [ir_std.DCG @ 10, ir_std.sAP(scheme="z"), main_score, LATENCY])
def test_where_scores_have_no_limits_no_interval_is_too_wide(measure: Measure) -> None:
    assert limits_of(measure) is None
    assert limits_of(measure, of_differences=True) is None
    assert is_headline(5, measure, -20, 90)


def test_effect_sizes_have_no_limits_though_scores_have() -> None:
    random = np.random.default_rng(2)
    far_apart = tuple(
        Difference.of("b", "a", f"set{i}", AP, random.normal(i - 2, 1, 20) / 10) for i in range(5)
    )
    found = RunDifferences("b", "a", AP, far_apart)
    sizes = found.headline(size=True)
    assert sizes
    assert sizes.high - sizes.low > 1
    assert found.headline()
