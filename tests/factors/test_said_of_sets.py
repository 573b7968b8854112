"""Notes, pages and catalogue of the sets agree with the data behind the sets."""

import csv
import json
import re
import tarfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import ir_datasets
import numpy as np
import pandas as pd
import pytest
from catalogue import explain_quality
from ir_measures import AP, RBP, nDCG
from tracks import QRELS, TRACKS, system_names

import ir_std
from ir_std import build_factors, load_factors
from ir_std.evaluation.uncertainty import team_of
from ir_std.factors.estimates import scores_by_system
from ir_std.factors.formats import read_webber
from ir_std.factors.quality import FEW_SYSTEMS, findings
from ir_std.measures.formulas import reciprocal_rank
from ir_std.measures.records import MSMARCO, TREC_EVAL
from ir_std.reading.archives import run_sources
from ir_std.testing import simulated_qrels, simulated_run
from ir_std.trec.files import read_qrels, read_run
from ir_std.trec.ranking import Ranker

DOCS = Path(__file__).parents[2] / "docs"
POOL = ("colbert", "splade", "mono-t5-base", "mono-t5-3b", "rank-zephyr", "tirex_rankzephyr")


@pytest.mark.slow
@pytest.mark.parametrize("year", ["19", "20"])
def test_fifteen_of_the_modern_runs_order_one_list_and_nine_another(year: str, data: Path) -> None:
    name = f"dl{year}-passage-modern"
    documents: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    with tarfile.open(data / "runs" / f"{name}.tar.xz") as archive:
        for member in archive:
            if file := archive.extractfile(member):
                for line in file.read().decode().splitlines():
                    topic, _, document, *_ = line.split()
                    documents[Path(member.name).name][topic].add(document)
    pool, note = documents["tirex_rankzephyr"], load_factors(name).info["notes"][0]
    on_pool = {run for run, own in documents.items() if all(own[t] <= pool[t] for t in pool)}
    assert len(documents) == 24
    assert len(on_pool) == 15
    assert {run for run in on_pool if documents[run] == pool} == set(POOL)
    assert all(run in note for run in POOL)
    assert (
        f"a list of {np.mean([len(docs) for docs in pool.values()]):.0f} documents per topic"
        in note
    )
    assert {
        round(np.mean([len(docs) for docs in documents[run].values()]), -1)
        for run in on_pool - set(POOL)
    } == {100}
    others = [own for run, own in documents.items() if run not in on_pool]
    assert len(others) == 9
    assert all(run.startswith("colbert_") == (run not in on_pool) for run in documents)
    assert {len(docs) for own in others for docs in own.values()} == {100}
    same = sum(all(own[t] == others[0][t] for own in others) for t in pool)
    assert f"on {same} of {len(pool)} topics all nine order the same documents" in note


@pytest.mark.slow
def test_the_order_of_rr_at_a_cutoff_changes_the_documented_number_of_means(data: Path) -> None:
    qrels = read_qrels(data / "qrels" / "dl20-passage.txt")
    means = np.zeros((2, len(qrels.topics)))
    for source in run_sources([data / "runs" / "dl20-passage.tar.xz"]):
        ranker = Ranker(read_run(source), qrels)
        for i, order in enumerate((TREC_EVAL, MSMARCO)):
            means[i] += reciprocal_rank(ranker.rank(order), cutoff=10)
    changed = int((np.abs(means[0] - means[1]) > 1e-9).sum())
    limits = (DOCS / "explanation/limits.md").read_text("utf-8")
    told = " ".join(limits.split())
    assert f"on {changed} of the {len(qrels.topics)} topics of DL 2020, the mean `RR@10`" in told


@pytest.mark.parametrize("name", ["dl23-passage", "dl23-passage-gpt4"])
def test_dl23_knows_the_kinds_of_its_topics(name: str, data: Path) -> None:
    factors = load_factors(name)
    with (data / "more-scores" / "dl23-passage-kinds.csv").open() as file:
        kinds = {row["topic"]: row["kind"] for row in csv.DictReader(file)}
    assert dict(factors.info["topic_kinds"]) == kinds
    note = next(text for text in factors.info["notes"] if "synthetic" in text)
    assert "31 of the 82 topics are synthetic queries, 13 by T5 and 18 by GPT-4" in note
    assert sorted(kinds.values()).count("t5") == 13
    assert sorted(kinds.values()).count("gpt-4") == 18
    mean = factors.mean["nDCG@10"]
    for kind in ("human", "t5", "gpt-4"):
        rows = factors.rows(topic for topic in factors.topics if kinds[topic] == kind)
        assert f"{mean[rows].mean():.3f} on" in note


@pytest.mark.filterwarnings("ignore")
def test_qrels_of_one_kind_are_standardized_and_placed_on_that_kind(data: Path) -> None:
    factors = load_factors("dl23-passage")
    kinds = factors.info["topic_kinds"]
    judged = read_qrels(data / "qrels" / "dl23-passage.txt").judged
    written = {topic: docs for topic, docs in judged.items() if kinds[topic] == "human"}
    match = ir_std.recognize(written)
    assert match.factors is not None
    assert match.factors.id == "dl23-passage"
    assert str(match).endswith("judgments match on 51 of 51 topics; all topics are of kind human")
    both = {topic: docs for topic, docs in judged.items() if kinds[topic] != "human"}
    assert "all topics are of kind t5 or gpt-4" in str(
        ir_std.recognize(both)
    ) or "gpt-4 or t5" in str(ir_std.recognize(both))
    assert "of kind" not in str(ir_std.recognize(judged))
    run = simulated_run(written, 3)
    placed = ir_std.place(run, written, [nDCG @ 10])[0]
    rows = factors.rows(written)
    _, scores = scores_by_system(factors, "nDCG@10")
    assert placed.n_better == int((scores[rows].mean(axis=0) > placed.value).sum())


@pytest.mark.parametrize(
    ("name", "named", "systems"),
    [("terabyte04-06", 61, 61), ("web12", 44, 48), ("robust04", 81, 110)],
)
def test_systems_are_named_where_one_run_has_their_scores(
    name: str, named: int, systems: int, data: Path
) -> None:
    factors = load_factors(name)
    tags = factors.systems
    anonymous = [tag for tag in tags if re.fullmatch(r"(sys|run)\d+", tag)]
    assert (len(tags), len(tags) - len(anonymous)) == (systems, named)
    assert len({team_of(tag) for tag in anonymous}) == len(anonymous)
    names = system_names(name, data)
    assert len(names) == named
    with (data / "scores" / name / "AP.csv").open() as file:
        rows = {row["topic"]: row for row in csv.DictReader(file)}
    numbers, scores = scores_by_system(factors, "AP")
    for number, column in zip(numbers.tolist(), scores.T, strict=True):
        source = next((c for c, run in names.items() if run == tags[number]), tags[number])
        assert [float(rows[topic][source]) for topic in factors.topics] == column.tolist()


@pytest.mark.parametrize(
    ("name", "measure"), [("terabyte04-06", "P@20"), ("web12", "Bpref"), ("blog08", "RR")]
)
def test_added_measures_have_the_same_systems(name: str, measure: str, data: Path) -> None:
    factors = load_factors(name)
    tags = factors.systems
    with (data / "more-scores" / name / f"{measure}.csv").open() as file:
        rows = {row["topic"]: row for row in csv.DictReader(file)}
    numbers, scores = scores_by_system(factors, measure)
    known = [i for i, tag in enumerate(tags) if tag in rows[factors.topics[0]]]
    assert len(known) >= len(tags) - 4
    assert factors.n_systems[measure] == len(tags)
    for number, column in zip(numbers.tolist(), scores.T, strict=True):
        if number in known:
            given = [float(rows[topic][tags[number]]) for topic in factors.topics]
            assert given == column.tolist()


def test_the_terabyte_tracks_runs_are_as_deep_as_they_were_evaluated() -> None:
    factors = load_factors("terabyte04-06")
    assert {factors.about(m, "depth") for m in factors.measures} == {10000}
    note = " ".join(findings(factors, ["nDCG"]))
    assert "5 of 61 systems (" in note
    assert "would be 0.67 times as large" in note


@pytest.mark.parametrize("name", TRACKS)
def test_a_set_has_an_id_of_ir_datasets_or_there_is_a_reason(name: str) -> None:
    ids = load_factors(name).info["ir_datasets"]
    assert bool(ids) != bool(TRACKS[name].no_dataset)
    known = ir_datasets.registry._registered
    if "msmarco-passage-v2/trec-dl-2023/judged" not in known:
        pytest.skip("this version of ir_datasets knows fewer datasets")
    assert [one for one in ids if one not in known] == []


def test_short_runs_are_noted() -> None:
    assert load_factors("covid-round5").info["short_systems"] == {"uab.base": 9, "uab.idf": 9}
    assert (
        "Short runs (median number of documents per topic in parentheses): "
        "uab.base (9), uab.idf (9)." in findings(load_factors("covid-round5"))
    )
    qrels = {str(t): {f"d{i}": i % 2 for i in range(100)} for t in range(5)}
    runs = {
        tag: {t: {f"d{i}": -float(i) for i in range(n)} for t in qrels}
        for tag, n in (("whole", 100), ("ten", 10), ("nine", 9))
    }
    built = build_factors(qrels, runs, ["AP"], id="x")
    assert built.info["short_systems"] == {"nine": 9}
    assert "short_systems" not in build_factors(qrels, runs, ["AP"], id="x", depth=50).info


@pytest.mark.parametrize(
    ("p", "documents", "warned"),
    [(0.5, 50, False), (0.5, 12, True), (0.8, 50, False), (0.95, 50, True), (0.95, 200, False)],
)
def test_rbp_is_lowered_by_short_runs_only_where_what_is_missing_weighs(
    p: float, documents: int, warned: bool, recwarn: Any
) -> None:
    factors = load_factors("trec8-adhoc")
    qrels = simulated_qrels(factors.n_rel)
    run = simulated_run(qrels, 1)
    cut = {
        t: dict(sorted(docs.items(), key=lambda d: -d[1])[:documents]) for t, docs in run.items()
    }
    ir_std.calc_aggregate([RBP(p=p, rel=1), AP], qrels, cut, factors="trec8-adhoc")
    about = [str(w.message) for w in recwarn if "scores are too low" in str(w.message)]
    assert [("sAP" in text, "sRBP" in text) for text in about] in (
        [[(True, False), (False, True)], [(False, True), (True, False)]]
        if warned
        else [[(True, False)]]
    )


# -- figures in notes and in the documentation, from the data behind them ------------------------


@pytest.mark.parametrize("name", ["terabyte04", "terabyte05", "terabyte06"])
def test_the_terabyte_tracks_ap_comes_from_deeper_runs_than_sp(name: str) -> None:
    factors = load_factors(name)
    relevant = np.array([factors.n_rel[topic] for topic in factors.topics], dtype=float)
    assert (factors.sd["AP"] > 0).all()
    assert (factors.mean["AP"] > factors.mean["SP"] / relevant).all()
    assert np.median(factors.mean["SP"] / relevant / factors.mean["AP"]) < 0.99
    assert "above SP divided by the number of relevant documents on every topic" in next(
        findings(factors)
    )


@pytest.mark.parametrize("name", ["terabyte04-06", "web12"])
def test_a_named_systems_ap_is_that_of_one_run_alone(name: str, data: Path) -> None:
    ours, theirs = (
        pd.read_csv(data / folder / name / "AP.csv", index_col="topic").sort_index()
        for folder in ("scores", "more-scores")
    )
    assert list(ours.index) == list(theirs.index)
    for column, run in system_names(name, data).items():
        apart = theirs.sub(ours[column], axis=0).abs().max()
        assert list(apart.index[apart < 1.01e-4]) == [run]


def test_terabyte_2005_got_new_judgments(data: Path) -> None:
    factors = load_factors("terabyte05")
    qrels = read_qrels(data / "qrels" / "terabyte05.txt")
    today = {t: sum(r > 0 for r in docs.values()) for t, docs in qrels.judged.items()}
    changed = sum(today[topic] != factors.n_rel[topic] for topic in factors.topics)
    assert (
        f"differ from the judgments behind the factors on {changed} of the 50 topics"
        in " ".join(findings(factors))
    )
    page = " ".join((DOCS / "explanation/recognition.md").read_text("utf-8").split())
    assert "`terabyte04-06` has the published judgments of Terabyte 2005" in page
    assert f"has other judgments on {changed} of its {len(factors.topics)} topics" in page


@pytest.mark.parametrize("name", [name for name, track in TRACKS.items() if track.judge])
def test_labels_of_gpt4_are_counted(name: str, data: Path) -> None:
    people, model = (
        read_qrels(data / "qrels" / f"{file}.txt").judged
        for file in (TRACKS[name].same_topics_as, *QRELS[name])
    )
    labels = [(people[t][d], level) for t, docs in model.items() for d, level in docs.items()]
    assert len(labels) == sum(map(len, people.values()))
    same = sum(a == b for a, b in labels) / len(labels)
    of_people, of_model = (sum(pair[i] > 0 for pair in labels) for i in (0, 1))
    note = " ".join(findings(load_factors(name)))
    assert f"For {same:.0%} of the documents, its label equals the human label" in note
    assert (
        f"GPT-4 put {of_model:,} documents at level 1 or above, and people put {of_people:,}."
        in note
    )


def test_why_ntcir13_has_no_id_of_ir_datasets(data: Path) -> None:
    reason = TRACKS["ntcir13-www-english"].no_dataset
    own = sum(map(len, read_qrels(data / "qrels/ntcir13-www-english.txt").judged.values()))
    package = Path(ir_datasets.__file__).parent
    known = json.loads((package / "etc/metadata.json").read_text("utf-8"))
    theirs = known["clueweb12/b13/ntcir-www-1"]["qrels"]["count"]
    assert f"({theirs:,} instead of {own:,}), including those of NTCIR-14's CENTRE task" in reason
    told = " ".join((package / "docs/clueweb12.yaml").read_text("utf-8").split())
    assert "the qrels contain additional judgments from the NTCIR-14 CENTRE track" in told


@pytest.mark.parametrize(("part", "groups"), [("english", 3), ("chinese", 4)])
def test_systems_and_groups_of_ntcir13_are_counted(part: str, groups: int) -> None:
    factors = load_factors(f"ntcir13-www-{part}")
    tags = factors.systems
    assert len({tag.partition("-")[0] for tag in tags}) == groups
    assert f"The {len(tags)} systems come from only {groups} groups" in next(findings(factors))


def test_published_ap_was_rounded_before_it_was_averaged(data: Path) -> None:
    for track in TRACKS.values():
        if track.stem:
            rounded = read_webber(data / "published" / track.stem).mean["AP"] * track.systems * 1e4
            assert np.abs(rounded - rounded.round()).max() < 1e-6


def test_old_topics_are_counted() -> None:
    robust03, robust04, blog08 = map(load_factors, ("robust03", "robust04", "blog08"))
    assert sum(topic <= "450" for topic in robust03.topics) == 50
    graded = np.flatnonzero(~np.isnan(robust04.mean["nDCG"]))
    known = [robust04.topics[i] for i in graded]
    assert f"known on {len(known)} of the {len(robust04.topics)} topics" in next(findings(robust04))
    assert (known[0], known[-1]) == ("601", "700")
    assert sum("851" <= topic <= "950" for topic in blog08.topics if len(topic) == 3) == 100


def test_near_duplicates_leave_less_than_five_steps_of_deviation(data: Path) -> None:
    for measure in ("AP", "Bpref", "Rprec"):
        with (data / "scores" / "dl22-passage" / f"{measure}.csv").open() as file:
            rows = {row.pop("topic"): row for row in csv.DictReader(file)}
        for topic in ("2013306", "2031726"):
            assert np.std([float(x) for x in rows[topic].values()], ddof=1) < 5e-4


def test_a_deviation_of_few_systems_is_as_imprecise_as_documented() -> None:
    samples = np.random.default_rng(1).standard_normal((20_000, FEW_SYSTEMS)).std(axis=1, ddof=1)
    assert f"imprecise by {samples.std():.0%}" in explain_quality()
