"""Recognition of collections: by the judgments themselves, by counts, by names."""

import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

import ir_std
from ir_std import FactorSet, Match, StandardizationWarning, recognize
from ir_std.evaluation.plans import collection_of
from ir_std.factors import catalog, recognition
from ir_std.factors.catalog import load_factors
from ir_std.factors.collection import Collection
from ir_std.factors.judgments import Judgments, judgments_of
from ir_std.factors.match import MIN_COUNTED_TOPICS, Fit
from ir_std.factors.recognition import match_by_name
from ir_std.testing import simulated_qrels
from ir_std.trec.files import read_qrels
from ir_std.trec.inputs import as_qrels

Qrels = dict[str, dict[str, int]]
Make = Callable[..., FactorSet]


def judged(topics: Iterable[int], relevant: int = 10, name: str = "doc-{}-{}") -> Qrels:
    """Make qrels with relevant documents of levels 1 and 2 on each topic, and ten others."""
    return {
        str(t): {
            name.format(t, i): (i < relevant) + (i < relevant // 3) for i in range(relevant + 10)
        }
        for t in topics
    }


def made_of(
    name: str,
    qrels: Qrels,
    fingerprints: bool = True,
    measures: Iterable[str] = ("AP",),
    **info: object,
) -> FactorSet:
    """Make a set of qrels, or of counts."""
    known: dict[str, Judgments] = judgments_of(as_qrels(qrels))
    if not fingerprints:
        known = {t: Judgments(j.n_rel) for t, j in known.items()}
    half = {m: np.array([0.5 * bool(j.n_rel) for j in known.values()]) for m in measures}
    return FactorSet(
        {
            "id": name,
            "corpus": "made-up documents",
            "doc_id_example": "doc-1-1",
            "measures": {m: {"systems": 3} for m in measures},
            **info,
        },
        known,
        half,
        half,
    )


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Return :func:`made_of`, which also adds its sets as the user's only sets."""
    (tmp_path / "none").mkdir()
    (tmp_path / "sets").mkdir()
    monkeypatch.setattr(catalog, "shipped_folder", lambda: tmp_path / "none")
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path / "sets"))

    def made(name: str, *args: Any, **kwargs: Any) -> FactorSet:
        made = made_of(name, *args, **kwargs)
        made.save(tmp_path / "sets" / f"{name}.npz")
        return made

    return made


def found(match: Match) -> tuple[str | None, str | None]:
    """Return the set that was found, and the reason."""
    return (match.factors.id, match.fit.match_type) if match.fit and match.factors else (None, None)


def agrees(fit: Fit, *levels: int) -> bool | None:
    """Check whether judgments agree on all topics, by default at all levels; None if not known."""
    at = [fit.agreement.at_level(level) for level in levels or fit.levels]
    if any(each.different.any() for each in at):
        return False
    return None if any(each.unknown.all() for each in at) else True


def changed(qrels: Qrels, topics: Iterable[int], by: int) -> Qrels:
    """Add or remove relevant documents on some topics."""
    again = {t: dict(docs) for t, docs in qrels.items()}
    for topic in map(str, topics):
        relevant = [d for d, level in again[topic].items() if level]
        for doc in relevant[len(relevant) + min(by, 0) :]:
            again[topic][doc] = 0
        again[topic] |= {f"doc-{topic}-{900 + i}": 1 for i in range(by)}
    return again


def permuted(qrels: Qrels) -> Qrels:
    """Return the same levels on other documents."""
    return {t: dict(zip(docs, list(docs.values())[::-1], strict=True)) for t, docs in qrels.items()}


def renamed(qrels: Qrels, name: str = "{}") -> Qrels:
    """Return the same judgments under other names of documents."""
    return {
        t: {name.format(i): level for i, level in enumerate(docs.values())}
        for t, docs in qrels.items()
    }


# -- the judgments themselves --------------------------------------------------------------------


def test_the_same_judgments_are_proof_even_of_one_topic_if_it_has_relevant_documents(
    make: Make,
) -> None:
    make("mine", judged(range(20)) | {"20": {"doc-20-1": 0}})
    match = recognize(judged([7]))
    assert found(match) == ("mine", "judgments")
    assert "judgments match on 1 of 1 topic" in str(match)
    assert recognize({"20": {"doc-20-1": 0}}).factors is None


def test_as_many_relevant_documents_that_are_others_are_other_judgments(make: Make) -> None:
    make("mine", judged(range(20)))
    for topics in ([7], range(20)):
        match = recognize(permuted(judged(topics)))
        assert match.factors is None
        assert "the relevant documents differ on " in str(match)
        assert ": 10 documents in both, but not the same ones)" in str(match)


def test_a_set_of_other_judgments_is_used_by_name_and_doubted(make: Make) -> None:
    factors = make("mine", judged(range(20)))
    match = match_by_name(factors, collection_of(as_qrels(permuted(judged(range(20))))))
    assert match.factors is factors
    assert match.fit is not None
    assert (
        "judgments differ from mine at levels 1 and 2 on 20 of 20 topics "
        "(e.g. 0: 3 documents in both, but not the same ones)"
    ) in (match.fit.caveat or "")


def test_judgments_of_other_documents_are_other_judgments(make: Make) -> None:
    make("mine", judged(range(20)))
    match = recognize(renamed(judged(range(20))))
    assert match.factors is None
    assert (
        "the relevant documents differ on all 20 topics (e.g. 0: 10 documents in both, but not "
        "the same ones); the set's document IDs look like 'doc-1-1' of made-up documents, and "
        "yours look like '0'"
    ) in str(match)


def test_topics_on_which_documents_keep_their_names_are_recognized(make: Make) -> None:
    make("mine", judged(range(20)))
    match = recognize(judged(range(10)) | renamed(judged(range(10, 20))))
    assert found(match) == ("mine", "judgments")
    assert "judgments differ from mine at levels 1 and 2 on 10 of 20 topics" in str(match)


# -- counts, where the judgments behind a set are not known ----------------------------------------


@pytest.mark.parametrize(
    ("topics", "basis"), [(MIN_COUNTED_TOPICS, "counts"), (MIN_COUNTED_TOPICS - 1, None)]
)
def test_equal_counts_prove_something_from_ten_topics_on(
    topics: int, basis: str | None, make: Make
) -> None:
    assert MIN_COUNTED_TOPICS == 10
    make("mine", judged(range(20)), fingerprints=False)
    match = recognize(judged(range(topics)))
    assert found(match)[1] == basis
    assert (
        "counts of relevant documents match on 10 of 10 topics"
        if basis
        else "only 9 topics can be compared"
    ) in str(match)


@pytest.mark.parametrize(("largest", "basis"), [(1, None), (2, "counts")])
def test_counts_that_are_all_one_prove_nothing(largest: int, basis: str | None, make: Make) -> None:
    qrels = judged(range(19), relevant=1) | judged([19], relevant=largest)
    make("mine", qrels, fingerprints=False)
    assert found(recognize(qrels))[1] == basis


@pytest.mark.usefixtures("make")
def test_a_set_whose_counts_are_not_known_is_used_by_name_only() -> None:
    qrels, half = judged(range(20)), {"AP": np.full(20, 0.5)}
    about = {"id": "alone", "measures": {"AP": {"systems": 3}}}
    alone = FactorSet(about, dict.fromkeys(qrels), half, half)
    alone.save(Path(catalog.user_folders()[0], "alone.npz"))
    match = recognize(qrels)
    assert match.factors is None
    assert "ir_std uses it only if you name it" in str(match)
    assert match_by_name(alone, collection_of(as_qrels(qrels))).factors is alone


def test_scores_alone_are_recognized_by_counts(make: Make) -> None:
    make("mine", judged(range(20)))
    counts = [(str(t), 10) for t in range(20)]
    assert found(recognition.recognize_collection(Collection(counts))) == ("mine", "counts")
    assert recognition.recognize_collection(Collection(counts[:9])).factors is None


# -- judged again ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("altered", "fits"), [(1, True), (10, True), (11, False), (20, False)])
@pytest.mark.parametrize("by", [1, -1, 5])
def test_a_set_matches_if_at_most_half_of_the_topics_were_judged_differently(
    altered: int, fits: bool, by: int, make: Make
) -> None:
    make("mine", judged(range(20)))
    match = recognize(changed(judged(range(20)), range(altered), by))
    assert found(match) == (("mine", "judgments") if fits else (None, None))
    if match.fit:
        assert set(match.fit.differing_topics) == {str(t) for t in range(altered)}


@pytest.mark.parametrize(
    ("topics", "differing", "fits"),
    [(11, 1, True), (20, 2, True), (20, 3, False), (100, 10, True), (100, 11, False)],
)
def test_by_numbers_nine_in_ten_topics_must_agree(
    topics: int, differing: int, fits: bool, make: Make
) -> None:
    make("mine", judged(range(topics)), fingerprints=False)
    match = recognize(changed(judged(range(topics)), range(differing), 1))
    assert found(match) == (("mine", "counts") if fits else (None, None))
    if match.fit:
        assert match.fit.without_value([1]) == tuple(map(str, range(differing)))


def test_proven_topics_do_not_carry_those_that_only_numbers_are_known_of(make: Make) -> None:
    qrels = judged(range(30))
    known = judgments_of(as_qrels(qrels))
    half = np.full(30, 0.5)
    make("other", judged(range(100, 103)))
    FactorSet(
        {"id": "mixed", "measures": {"AP": {"systems": 3}}},
        {t: j if int(t) < 10 else Judgments(j.n_rel) for t, j in known.items()},
        {"AP": half},
        {"AP": half},
    ).save(Path(catalog.user_folders()[0], "mixed.npz"))
    few = recognize({t: qrels[t] for t in list(qrels)[:19]}).fit
    assert few is not None
    assert few.unverified_topics == tuple(map(str, range(10, 19)))
    assert "counts of relevant documents are not enough to recognize 9 topics" in (few.caveat or "")
    whole = recognize(qrels).fit
    assert whole is not None
    assert whole.unverified_topics == ()
    assert (
        "judgments match on 10 of 30 topics, and counts of relevant documents match on 20"
        in str(whole)
    )


def test_counts_alone_need_documents_that_look_like_the_collections(make: Make) -> None:
    make("mine", qrels := judged(range(12)), fingerprints=False)
    refused = recognize(renamed(qrels))
    assert refused.factors is None
    assert "document IDs such as '0' do not look like the collection's" in str(refused)


def test_numbers_that_differ_are_reported(make: Make) -> None:
    make("mine", judged(range(11), relevant=20), fingerprints=False)
    match = recognize(changed(judged(range(11), relevant=20), [3], 1))
    assert match.fit is not None
    assert match.fit.count_mismatches == {"3": (20, 21)}
    assert (
        "judgments differ from mine at level 1 on 1 of 11 topics "
        "(e.g. 3: 20 documents in the set, 21 in your qrels)"
    ) in str(match)


@pytest.mark.slow
def test_a_note_on_many_topics_stays_short(make: Make) -> None:
    qrels = judged(range(3000), relevant=20)
    make("mine", qrels)
    for strange in (changed(qrels, range(2900), 1), permuted(qrels)):
        assert len(str(recognize(strange))) < 400


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 20, 30]), st.sampled_from([0, 0, -1, 1, 3])),
        min_size=9,
        max_size=15,
    ),
    st.booleans(),
    st.sampled_from([dict, permuted, renamed]),
)
@example([(20, 0)] * 9 + [(30, 1)] * 3, False, dict)
def test_no_matching_set_is_ruled_out_unread_by_its_counts(
    counts: list[tuple[int, int]], fingerprints: bool, named: Callable[[Qrels], Qrels]
) -> None:
    before = {t: q for i, (n, _) in enumerate(counts) for t, q in judged([i], n).items()}
    after = {
        t: q
        for i, (n, by) in enumerate(counts)
        for t, q in changed({str(i): before[str(i)]}, [i], by).items()
    }
    factors = made_of("mine", before, fingerprints)
    collection = collection_of(as_qrels(named(after)))
    if collection.rules_out(factors.n_rel):
        assert Fit(factors, collection).match_type is None
    assert not collection.rules_out(dict.fromkeys(factors.topics))


# -- which set -------------------------------------------------------------------------------------


def test_the_set_with_the_fewest_topics_beyond_these_wins(make: Make) -> None:
    make("large", judged(range(30)))
    make("small", judged(range(20)))
    match = recognize(judged(range(15)))
    assert (found(match), match.alternatives) == (("small", "judgments"), ("large",))
    assert match.equivalent_sets == ()
    assert "large" not in str(match)
    assert found(recognize(judged(range(25)))) == ("large", "judgments")


@pytest.mark.parametrize(
    ("changed_set", "topics", "chosen"), [("small", 15, "small"), ("large", 30, "large")]
)
def test_shared_topics_count_more_than_topics_that_agree(
    changed_set: str, topics: int, chosen: str, make: Make
) -> None:
    qrels = judged(range(30), relevant=20)
    for name, size in (("large", 30), ("small", 20)):
        own = changed(qrels, [3], 1) if name == changed_set else qrels
        make(name, {t: own[t] for t in list(qrels)[:size]})
    assert found(recognize({t: qrels[t] for t in list(qrels)[:topics]})) == (chosen, "judgments")


def test_a_tracks_own_systems_win_over_alternative_ones(make: Make) -> None:
    make("a-modern", judged(range(20)), main_set="track", population="later systems")
    make("track", judged(range(20)))
    match = recognize(judged(range(20)))
    assert found(match)[0] == "track"
    assert match.alternatives == ("a-modern",)
    assert "a-modern" not in str(match)


@pytest.mark.parametrize(("held", "fits"), [(6, True), (5, False)])
def test_a_set_must_hold_more_than_half_of_the_topics(held: int, fits: bool, make: Make) -> None:
    make("mine", judged(range(held)))
    match = recognize(judged(range(10)))
    assert (match.factors is not None) == fits
    if not fits:
        assert "but the set holds 5 of 10 topics" in str(match)


def test_the_shipped_set_wins_over_a_users_own_of_the_same_judgments(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("z", judged(range(30)))
    made_of("a", judged(range(20))).save(tmp_path / "own" / "a.npz")
    shipped = {"z": catalog.index_entry(load_factors(tmp_path / "sets" / "z.npz"))}
    (tmp_path / "sets" / catalog.INDEX).write_text(json.dumps(shipped))
    monkeypatch.setattr(catalog, "shipped_folder", lambda: tmp_path / "sets")
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path / "own"))
    match = recognize(judged(range(20)))
    assert (found(match)[0], match.alternatives, match.equivalent_sets) == ("z", ("a",), ("a",))
    with pytest.warns(StandardizationWarning, match=r"belong to z \(used here\) and to a;"):
        ir_std.calc_aggregate("AP", judged(range(20)), {"0": {"doc-0-0": 1.0}})


def test_a_users_own_set_that_holds_as_many_topics_is_named(make: Make) -> None:
    make("a", judged(range(20)))
    make("b", judged(range(20)))
    make("c", judged(range(10)))
    match = recognize(judged(range(20)))
    assert (found(match)[0], match.alternatives, match.equivalent_sets) == ("a", ("b",), ("b",))


def test_recognition_looks_again_when_a_users_set_changes(make: Make) -> None:
    qrels = as_qrels(judged(range(20)))
    assert recognize(qrels).factors is None
    make("mine", judged(range(20)))
    assert found(recognize(qrels))[0] == "mine"
    make("mine", judged(range(30, 50)))
    assert recognize(qrels).factors is None


def test_the_same_qrels_are_compared_once(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    make("mine", judged(range(20)))
    qrels = as_qrels(judged(range(20)))
    first = recognize(qrels)
    monkeypatch.setattr(recognition, "Fit", None)
    assert recognize(qrels) is first


def test_shipped_sets_that_counts_rule_out_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped, entries = tmp_path / "shipped", {}
    for name, relevant in (("mine", 10), ("other", 5)):
        made_of(name, judged(range(20), relevant)).save(shipped / f"{name}.npz")
        entries[name] = catalog.index_entry(load_factors(shipped / f"{name}.npz"))
    (shipped / catalog.INDEX).write_text(json.dumps(entries))
    (shipped / "other.npz").write_text("broken")
    monkeypatch.setattr(catalog, "shipped_folder", lambda: shipped)
    monkeypatch.setenv("IR_STD_FACTORS", "")
    assert found(recognize(judged(range(20)))) == ("mine", "judgments")
    with pytest.warns(StandardizationWarning, match="the factor set other is skipped"):
        assert recognize(judged(range(20), 5)).factors is None


# -- topics of several collections -----------------------------------------------------------------


def test_topics_of_other_sets_are_named(make: Make) -> None:
    make("one", judged(range(20)))
    make("two", judged(range(20, 50)))
    make("three", judged(range(50, 55)))
    match = recognize(judged(range(10, 52)))
    assert (found(match)[0], match.elsewhere) == ("two", {"one": 10, "three": 2})
    with pytest.warns(StandardizationWarning) as said:
        ir_std.calc_aggregate("AP", judged(range(10, 52)), {"20": {"doc-20-0": 1.0}})
    assert [str(warning.message) for warning in said][:1] == [
        "two has no factors for 12 topics (10, 11, 12, ... (12 in all)); standardized means leave "
        "them out (10 in one, 2 in three); evaluate each collection by itself with `ir_std compare`"
    ]


def test_halves_of_two_collections_get_no_factors_and_advice(make: Make) -> None:
    make("one", judged(range(20)))
    make("two", judged(range(20, 40)))
    match = recognize(judged(range(40)))
    assert match.factors is None
    assert str(match) == (
        "no factor set holds more than half of these topics, which belong to one (20) and two "
        "(20); evaluate each collection by itself with `ir_std compare`"
    )


def test_one_set_that_holds_all_topics_is_used_for_them(make: Make) -> None:
    make("one", judged(range(20)))
    make("two", judged(range(20, 40)))
    make("both", judged(range(60)))
    match = recognize(judged(range(40)))
    assert (found(match)[0], match.elsewhere) == ("both", {})


def test_a_match_carries_what_each_measure_is_worth(make: Make) -> None:
    make("mine", judged(range(20)), measures=("AP", "P@10"))
    assert recognize(judged(range(20))).qualities == {"AP": "few-systems", "P@10": "few-systems"}
    assert recognize(judged(range(100, 120))).qualities == {}


# -- what of the judgments agrees ------------------------------------------------------------------


def collapsed(docs: dict[str, int]) -> dict[str, int]:
    return {d: min(level, 1) for d, level in docs.items()}


def reversed_levels(docs: dict[str, int]) -> dict[str, int]:
    """Return the same number of relevant documents at each level, but other documents."""
    relevant = {d: level for d, level in docs.items() if level}
    return docs | dict(zip(relevant, [*relevant.values()][::-1], strict=True))


@pytest.mark.parametrize(
    ("change", "agreement"),
    [
        (dict, (True, True, True)),
        (collapsed, (True, False, False)),
        (lambda docs: {d: 10 * level for d, level in docs.items()}, (True, False, False)),
        (reversed_levels, (True, False, False)),
    ],
)
def test_judgments_agree_at_each_level_by_themselves(
    change: Callable[[dict[str, int]], dict[str, int]], agreement: tuple[bool, ...], make: Make
) -> None:
    make("mine", judged(range(20)))
    there = recognize({t: change(docs) for t, docs in judged(range(20)).items()}).fit
    assert there is not None
    assert there.match_type == "judgments"
    assert (agrees(there, 1), agrees(there, 2), agrees(there)) == agreement
    assert (there.caveat is None) == all(agreement)


def test_levels_that_differ_or_are_not_known_are_described(make: Make) -> None:
    make("mine", judged(range(20)))
    there = recognize({t: collapsed(docs) for t, docs in judged(range(20)).items()}).fit
    assert there is not None
    assert there.caveat == (
        "judgments differ from mine at level 2 on 20 of 20 topics "
        "(e.g. 0: 3 documents in the set, 0 in your qrels)"
    )
    assert "relevant documents match on 20 of 20 topics" in str(there)
    make("mine", judged(range(20)), fingerprints=False)
    there = recognize(judged(range(20))).fit
    assert there is not None
    assert (agrees(there, 1), agrees(there, 2), agrees(there)) == (True, None, None)


def test_qrels_of_relevant_documents_only_are_distinguished_from_others(make: Make) -> None:
    make("mine", judged(range(20)))
    make("old", judged(range(30, 50)), fingerprints=False)
    for topics in (range(20), range(30, 50)):
        whole = judged(topics)
        bare = {t: {d: level for d, level in docs.items() if level} for t, docs in whole.items()}
        there = [fit.agreement.at_level(0) for q in (whole, bare) if (fit := recognize(q).fit)]
        assert [at.different.sum() for at in there] == ([0, 20] if topics[0] == 0 else [0, 0])
        assert [at.unknown.sum() for at in there] == ([0, 0] if topics[0] == 0 else [20, 20])


# -- shipped sets ----------------------------------------------------------------------------------


def test_made_up_topics_find_nothing() -> None:
    assert "no factor set has these topics" in str(recognize({"no such topic": {"d": 1}}))
    match = recognize({str(i): {f"d{j}": 1 for j in range(i % 7 + 1)} for i in range(1, 51)})
    assert match.factors is None
    assert match.nearest
    assert "but counts of relevant documents differ on 44 of 50 topics (e.g." in str(match)


def test_counts_in_another_order_find_nothing() -> None:
    qrels = simulated_qrels(load_factors("trec8-adhoc").n_rel)
    topics = list(qrels)
    for seed in range(20):
        random.Random(seed).shuffle(topics)
        match = recognize(dict(zip(topics, qrels.values(), strict=True)))
        assert match.factors is None
        assert match.nearest[0].factors.id == "trec8-adhoc"


def test_an_ir_datasets_id_names_its_set() -> None:
    match = recognition.recognize_collection(Collection([("401", 3)], ["x"], "disks45/nocr/trec8"))
    assert match.factors is not None
    assert match.factors.id == "trec8-adhoc"
    assert match.chosen_by == "ir_datasets id"


ALIKE = "trec8-adhoc", "trec7-adhoc", "robust05", "terabyte04", "terabyte06"
WHOLE = {**dict(zip(ALIKE, ALIKE, strict=True)), "terabyte05": "terabyte04-06"}


@pytest.mark.parametrize(("file", "sets"), WHOLE.items())
def test_real_qrels_find_the_sets_of_the_same_judgments(file: str, sets: str, data: Path) -> None:
    there = recognize(data / "qrels" / f"{file}.txt").fit
    assert there is not None
    assert (there.match_type, agrees(there), there.caveat) == ("judgments", True, None)
    assert there.factors.id == sets


def test_terabyte_2005_was_judged_again(data: Path) -> None:
    qrels = as_qrels(data / "qrels" / "terabyte05.txt")
    match = recognize(qrels)
    assert found(match) == ("terabyte04-06", "judgments")
    assert match.alternatives == ()  # verified on less than half of its topics
    there = match_by_name(load_factors("terabyte05"), collection_of(qrels)).fit
    assert there is not None
    assert len(there.identical_topics) == 21
    assert len(there.count_mismatches) == 29
    assert there.count_mismatches["752"] == (345, 349)


def test_single_topics_of_robust_2004_find_it_where_trec_6_judged_differently(data: Path) -> None:
    chosen: dict[bool, list[str]] = {True: [], False: []}
    for topic, whole in read_qrels(data / "qrels" / "trec6-adhoc.txt").judged.items():
        robust = {d: level for d, level in whole.items() if not d.startswith("CR")}
        same = sum(map(bool, robust.values())) == sum(map(bool, whole.values()))
        factors = recognize({topic: robust}).factors
        chosen[same].append(factors.id if factors else "")
    assert chosen[True] == ["trec6-adhoc"] * 17
    assert set(chosen[False]) - {""} == {"robust03", "robust04"}


def test_only_topics_with_relevant_documents_can_be_missing(make: Make) -> None:
    make("mine", judged(range(20)))
    match = recognize(judged(range(20)) | judged([30], relevant=0) | judged([31], relevant=1))
    assert match.fit
    assert match.fit.missing == ("31",)


@pytest.mark.parametrize(("kept", "is_same"), [(10, True), (9, False), (0, False)])
def test_documents_judged_not_relevant_must_be_the_same(kept: int, is_same: bool) -> None:
    qrels = judged(range(20))
    fewer = {t: dict(list(docs.items())[: 10 + kept]) for t, docs in qrels.items()}
    match = match_by_name(made_of("mine", qrels), collection_of(as_qrels(fewer)))
    assert match.fit
    assert match.fit.agreement.at_level(0).different.any() != is_same
