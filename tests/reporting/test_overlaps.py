"""Tests of the topics that several collections share."""

import pytest

from ir_std.reporting.links import Overlaps, find_overlaps
from ir_std.reporting.sentences import overlap_notes
from ir_std.scores.run_scores import QrelsFromCounts
from ir_std.trec.inputs import as_qrels

Judged = dict[str, dict[str, int]]

NEWS = "[A-Z]{2}\\d+"
ONE_SHARED = "a and b share 1 topic, which would count twice, so they are not pooled"


def judged(topics: str, *documents: str) -> Judged:
    return {t: dict.fromkeys(documents, 1) for t in topics}


def notes_on(
    a: Judged, b: Judged, forms: tuple[str | None, str | None] = (None, None)
) -> tuple[str, ...]:
    names = ("a", "b")
    overlaps = find_overlaps(
        {name: as_qrels(q) for name, q in zip(names, (a, b), strict=True)},
        dict(zip(names, forms, strict=True)),
    )
    return tuple(overlap_notes(overlaps))


@pytest.mark.parametrize(
    ("a", "b", "forms"),
    [
        (judged("12", "FT1"), judged("23", "FT1"), (None, None)),
        # Rounds of one track: other documents on the same topic.
        ({"1": {"FT1": 1}, "2": {"FT2": 1}}, {"2": {"FT1": 1}}, (None, None)),
        (judged("12", "1"), judged("23", "1"), (None, None)),
        ({"1": {"7": 1}, "2": {"8": 1}}, {"2": {"7": 1}}, ("\\d+", "\\d+")),
    ],
)
def test_topics_are_shared_where_ids_and_documents_are(
    a: Judged, b: Judged, forms: tuple[str | None, str | None]
) -> None:
    assert notes_on(a, b, forms) == (ONE_SHARED,)


def test_documents_may_be_shared_without_topics() -> None:
    assert notes_on(judged("1", "FT1", "FT2"), judged("2", "FT2")) == (
        "a and b share documents but not topics, so effects of the documents count twice",
    )


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (judged("1", "FT1"), judged("1", "LA1")),
        # Two datasets that number their documents, and queries, from 1.
        (
            {"1": {"7": 1}, "2": {"8": 1}, "3": {"9": 1}},
            {"1": {"8": 1}, "2": {"7": 1}, "3": {"4": 1}},
        ),
    ],
)
def test_the_same_ids_of_other_documents_are_other_topics(a: Judged, b: Judged) -> None:
    assert notes_on(a, b) == ()


PEOPLE = {"1": {"FT1": 1, "FT2": 0}, "2": {"FT3": 2, "FT4": 0}}


def test_the_same_documents_with_other_levels_are_the_same_topics_judged_again() -> None:
    model = {"1": {"FT1": 1, "FT2": 1}, "2": {"FT3": 2, "FT4": 0}}
    assert notes_on(PEOPLE, model) == (
        "a and b are one collection judged twice (the same 2 topics under different labels), so "
        "they are not pooled",
    )


@pytest.mark.parametrize(
    "other",
    [
        {"1": PEOPLE["1"]},  # a part of the topics, by the same labels
        {"1": {"FT1": 0, "FT7": 1, "FT8": 1, "FT9": 1}},  # mostly other documents
    ],
)
def test_topics_are_judged_again_only_if_most_documents_are(other: Judged) -> None:
    assert notes_on(PEOPLE, other) == (ONE_SHARED,)


def test_where_only_scores_are_known_the_factor_sets_say_whose_labels_these_are() -> None:
    counted = {"a": QrelsFromCounts({"1": 3, "2": 4}), "b": QrelsFromCounts({"1": 5, "2": 4})}
    patterns = dict.fromkeys(counted, NEWS)
    origins = {"a": ("track", "track"), "b": ("track-model", "track")}
    assert find_overlaps(counted, patterns, origins).relabelled == {("a", "b")}
    assert not find_overlaps(counted, patterns).relabelled


def test_all_collections_must_be_judgments_of_the_same_topics() -> None:
    overlaps = Overlaps({("a", "b"): 2, ("b", "c"): 2}, frozenset({("a", "b")}))
    assert overlaps.of_labels(("b", "a"))
    assert not overlaps.of_labels(("a", "b", "c"))
    assert not overlaps.of_labels(("a",))
