"""What several collections have in common."""

from __future__ import annotations

import pytest

from ir_std.reporting.overlaps import find_overlaps
from ir_std.trec.inputs import as_qrels

Judged = dict[str, dict[str, int]]

NEWS = "[A-Z]{2}\\d+"


def judged(topics: str, *documents: str) -> Judged:
    return {t: dict.fromkeys(documents, 1) for t in topics}


def overlap_notes(
    a: Judged, b: Judged, forms: tuple[str | None, str | None] = (None, None)
) -> tuple[str, ...]:
    names = ("a", "b")
    return find_overlaps(
        {name: as_qrels(q) for name, q in zip(names, (a, b), strict=True)},
        dict(zip(names, forms, strict=True)),
    ).notes


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
    assert overlap_notes(a, b, forms) == (
        "a and b share 1 topic: not pooled, they would count twice",
    )


def test_documents_may_be_shared_without_topics() -> None:
    assert overlap_notes(judged("1", "FT1", "FT2"), judged("2", "FT2")) == (
        "a and b share documents, not topics: what depends on the documents is seen twice",
    )


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (judged("1", "FT1"), judged("1", "LA1")),
        # Two data sets that number their documents, and queries, from 1.
        (
            {"1": {"7": 1}, "2": {"8": 1}, "3": {"9": 1}},
            {"1": {"8": 1}, "2": {"7": 1}, "3": {"4": 1}},
        ),
    ],
)
def test_the_same_ids_of_other_documents_are_other_topics(a: Judged, b: Judged) -> None:
    assert overlap_notes(a, b) == ()
