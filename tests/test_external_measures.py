"""Measures that other programs compute: their names, alone and standardized."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ir_std
from ir_std.errors import UnknownMeasureError, UsageError
from ir_std.measures import canonical, parse_measure, standardized
from ir_std.measures.names import measure_of_scores

NAMES = st.text(min_size=1).filter(str.strip)


@given(NAMES)
@example("faithfulness")
@example("strict vital")
@example('it\'s "quoted"\\')
@example("sAP")
@example("AP")
@example("map")
@example("s'x'")
@example("nDCG@10")
@example("\0\ud800\n")
def test_any_name_parses_and_prints_back_the_same(name: str) -> None:
    measure = ir_std.ExternalMeasure(name)
    for one in (measure, standardized(measure), standardized(measure, scheme="U", A=0.1)):
        again = parse_measure(str(one))
        assert again == one
        assert (type(again), str(again), again.params) == (type(one), str(one), one.params)
        assert pickle.loads(pickle.dumps(one)) == one
        assert canonical(one) == str(one)
    assert standardized(measure).base == measure
    assert measure.name == name


@given(NAMES, NAMES)
def test_different_names_are_different_measures(one: str, other: str) -> None:
    first, second = map(ir_std.ExternalMeasure, (one, other))
    assert (first == second) == (one == other)
    assert standardized(first) != second


@given(NAMES)
def test_what_prints_is_read_as_the_same_measure_in_files(name: str) -> None:
    measure = ir_std.ExternalMeasure(name)
    assert measure_of_scores(str(measure)) == measure


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("strict_vital_score", "strict_vital_score"),
        ("rouge-l", "rouge-l"),
        ("strict vital", "'strict vital'"),
        ("AP", "'AP'"),
        ("sAP", "'sAP'"),
        ("ndcg_cut_10", "'ndcg_cut_10'"),
        ("nDGC@10", "'nDGC@10'"),
    ],
)
def test_a_name_is_quoted_where_it_would_be_read_otherwise(name: str, printed: str) -> None:
    assert str(ir_std.ExternalMeasure(name)) == printed
    assert str(standardized(ir_std.ExternalMeasure(name))) == f"s{name!r}"


def test_a_name_that_nothing_has_is_an_error_with_the_nearest_measure() -> None:
    with pytest.raises(UnknownMeasureError, match="did you mean 'nDCG@10'"):
        parse_measure("nDGC@10")
    with pytest.raises(UnknownMeasureError, match="unknown measure 'never_seen_by_anybody'"):
        parse_measure("never_seen_by_anybody")


def test_a_name_that_was_used_needs_no_quotes() -> None:
    ir_std.ExternalMeasure("used-before")
    assert parse_measure("used-before") == ir_std.ExternalMeasure("used-before")


@pytest.mark.parametrize("name", ["", "  ", None])
def test_a_blank_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="give one that is not blank"):
        ir_std.ExternalMeasure(name)


def test_an_external_measure_takes_no_parameters() -> None:
    with pytest.raises(UsageError, match="faithfulness is computed by another program"):
        ir_std.ExternalMeasure("faithfulness") @ 10
    with pytest.raises(UsageError, match="takes no parameters"):
        parse_measure("'strict vital'(rel=2)")
    with pytest.raises(UsageError, match="has no parameter 'rel'"):
        parse_measure("s'strict vital'(rel=2)")


@pytest.mark.parametrize("text", ["'open", "s''", "'a' 'b'", "'a'.b", "x'a'"])
def test_what_is_no_name_in_quotes_is_refused(text: str) -> None:
    with pytest.raises((UsageError, UnknownMeasureError)):
        parse_measure(text)
