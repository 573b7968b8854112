"""Soboroff 2018, as the script repeats it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import reproduce_soboroff2018 as soboroff

from ir_std import parse_measure
from ir_std.schemes import normal_cdf

Loaded = dict[str, list[soboroff.Experiment]]


@pytest.fixture(scope="module")
def loaded(data: Path) -> Loaded:
    return {
        experiment: [soboroff.load(data, experiment, c) for c in soboroff.COLLECTIONS]
        for experiment in soboroff.EXPERIMENTS
    }


@pytest.mark.parametrize("experiment", soboroff.EXPERIMENTS)
def test_raw_means_and_p_values_agree_at_every_published_digit(
    loaded: Loaded, experiment: str
) -> None:
    rows = soboroff.raw(experiment, loaded[experiment])
    assert len(rows) == 30
    assert [row for row in rows if not row.agrees] == []


@pytest.mark.parametrize("experiment", soboroff.EXPERIMENTS)
def test_the_formula_as_written_gives_every_published_standardized_digit(
    loaded: Loaded, experiment: str
) -> None:
    rows = soboroff.slip(experiment, loaded[experiment])
    assert len(rows) == 27
    assert [row for row in rows if not row.agrees] == []


def test_the_published_blog_factors_need_the_runs_of_2006_twice(data: Path) -> None:
    e = soboroff.load(data, "stemming", "blogs06.2006")
    assert e.factors
    once = normal_cdf(e.x - e.factors.mean / e.factors.sd).mean(axis=0)
    assert not np.allclose(once, e.factors.as_published(e.x).mean(axis=0), atol=5e-5)


def test_the_right_formula_leads_to_other_conclusions_in_places(loaded: Loaded) -> None:
    assert soboroff.show_right("stemming", loaded["stemming"]) == ["blogs06.2006", "gov2.2006"]
    blog = loaded["stemming"][0]
    assert blog.factors
    standardized = blog.factors.standardized(blog.x)
    assert soboroff.figures(standardized)[2] < 0.05 < soboroff.figures(blog.x)[2]


def test_feedback_helps_over_collections_and_stemming_only_on_some(loaded: Loaded) -> None:
    for measure in ("AP", "sAP"):
        stemming, feedback = (
            soboroff.differences(e, loaded[e])[system][parse_measure(measure)].summary()
            for e, system in soboroff.EXPERIMENTS.items()
        )
        assert stemming
        assert feedback
        assert stemming.low < 0 < stemming.high
        assert stemming.i2 > 0.75
        assert feedback.low > 0


def test_the_guides_figures_of_variation_come_from_the_same_collections(loaded: Loaded) -> None:
    said = soboroff.agreement(soboroff.differences("feedback", loaded["feedback"])["prf"])
    assert "I2 65%; raw on the 9 with factors" in said
    assert "I2 60%; standardized +0.0283 [+0.0141, +0.0425] p 0.0018, I2 48%" in said


def test_stemming_is_worse_on_blog_2006_and_gains_raws_sign_on_terabyte_2006(
    loaded: Loaded,
) -> None:
    by_name = {e.collection: e for e in loaded["stemming"]}
    blog, terabyte = by_name["blogs06.2006"], by_name["gov2.2006"]
    assert blog.factors
    assert terabyte.factors
    with_, without, p = soboroff.figures(blog.factors.standardized(blog.x))
    assert (round(with_, 4), round(without, 4), round(p, 3)) == (0.4731, 0.5044, 0.018)
    published = soboroff.figures(terabyte.factors.as_published(terabyte.x))
    right = soboroff.figures(terabyte.factors.standardized(terabyte.x))
    raw = soboroff.figures(terabyte.x)
    assert published[0] < published[1]
    assert right[0] > right[1]
    assert raw[0] > raw[1]
