"""The pages of the sets: text that agrees with the sets' tables, and pictures."""

import re
from pathlib import Path

import numpy as np
import pytest
from catalogue import shipped_sets
from scipy import stats
from set_pages import page, write_pages
from set_pictures import correlated_measures, system_means, taus
from sets import each_set

from ir_std import available_factors, load_factors
from ir_std.factors.estimates import scores_by_system
from ir_std.factors.quality import findings

SETS = shipped_sets()


@pytest.mark.parametrize("name", each_set())
def test_a_page_says_what_a_set_is_and_where_it_comes_from(name: str) -> None:
    factors = load_factors(name)
    text = page(factors, SETS)
    assert text.startswith(f"# {factors.title}\n")
    plain = text.replace("\\", "")
    for sentence in findings(factors):
        assert sentence.replace("\\", "") in plain
    for record in factors.info["sources"]:
        assert record["source"] in plain
        assert f"Licence: {record['licence']}" in text
    for record in factors.info["inputs"]:
        assert record["sha256"] in text
    of_datasets = ["beir/scifact/test", "miracl/en/dev"] * (name == "mteb-retrieval")
    for dataset in (*factors.info.get("ir_datasets", ()), *of_datasets):
        assert f"`{dataset}`" in text
    links = set(re.findall(r"\]\(([\w.-]+)\.md\)", text))
    assert links <= set(available_factors()) - {name}
    for other in (factors.info.get("main_set"), factors.info.get("same_topics_as")):
        assert not other or other in links
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({line.count("|") - line.count("\\|") for line in table.splitlines()}) == 1


def test_systems_are_by_their_means_with_names() -> None:
    factors = load_factors("dl19-passage")
    lines = re.findall(r"^\| (\d+) \| `(\S+)` \| (\S+) \| (\S+) \| (weak)? ?\|$",
                       page(factors, SETS), re.MULTILINE)  # fmt: skip
    assert len(lines) == 37
    assert lines[0][:3] == ("1", "idst_bert_p1", "0.7645")  # as NIST published it
    assert lines[-1][1] == "UNH_exDL_bm25"
    assert [line[1] for line in lines if line[4]] == ["UNH_exDL_bm25"]
    raw = [float(line[2]) for line in lines]
    assert raw == sorted(raw, reverse=True)
    means = system_means(factors, "nDCG@10")
    assert means
    _, scores = scores_by_system(factors, "nDCG@10")
    z = stats.zscore(scores, axis=1, ddof=1)
    assert np.sort(means.standardized) == pytest.approx(np.sort(stats.norm.cdf(z).mean(axis=0)))


def test_a_noisy_topic_is_one_whose_scores_agree_least_with_the_others() -> None:
    factors = load_factors("trec8-adhoc")
    means = system_means(factors, "AP")
    assert means
    _, scores = scores_by_system(factors, "AP")
    expected = [
        stats.pearsonr(scores[i], np.delete(scores, i, axis=0).mean(axis=0)).statistic
        for i in range(len(scores))
    ]
    assert means.agreement == pytest.approx(expected)
    worst = factors.topics[int(np.argmin(expected))]
    assert f"The correlation is lowest on {worst} ({min(expected):.2f})" \
        in page(factors, SETS)  # fmt: skip


def test_measures_are_compared_by_the_orders_of_their_systems() -> None:
    factors = load_factors("robust05")
    measures = correlated_measures(factors)
    means = {m: scores_by_system(factors, m)[1].mean(axis=0) for m in measures}
    values = taus(factors, measures)
    assert len(measures) == 7
    for i, one in enumerate(measures):
        for j, other in enumerate(measures):
            expected = stats.kendalltau(means[one], means[other]).statistic
            assert values[i, j] == pytest.approx(expected)


@pytest.mark.slow
def test_pages_and_pictures_are_the_same_each_time(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        write_pages(tmp_path / folder, ["web14", "trec4-adhoc"])
    files = {file.name: file.read_bytes() for file in (tmp_path / "one").iterdir()}
    assert files == {file.name: file.read_bytes() for file in (tmp_path / "two").iterdir()}
    pictures = {
        "trec4-adhoc-topics",
        *(f"web14-{what}" for what in ("measures", "systems", "topics")),
    }
    pages = {"index.md", "trec4-adhoc.md", "web14.md"}
    assert {*files} == pages | {f"{name}.svg" for name in pictures}
    index = files["index.md"].decode()
    assert all(f"[{name}]({name}.md)" in index for name in available_factors())
    for name in ("web14", "trec4-adhoc"):
        shown = set(re.findall(r"!\[[^]]*\]\((\S+)\)", files[f"{name}.md"].decode()))
        assert shown == {file for file in files if re.fullmatch(rf"{name}-\w+\.svg", file)}
