"""Factors that are exported to other formats and imported again."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings, strategies as st
from made_up import collection, write_qrels

from ir_std import FactorSet, InputError, build_factors, load_factors
from ir_std.factors.catalog import check_set
from ir_std.factors.formats import (
    FORMATS,
    PUBLISHED_NAMES,
    read_trec_eval,
    read_webber,
    set_from_tables,
    webber_files,
    write_trec_eval,
    write_webber,
)
from ir_std.measures.external import TREC_EVAL_NAMES, translated
from ir_std.measures.names import to_trec_eval

NAMES = """
AP=map P@10=P_10 RR=recip_rank Rprec=Rprec Bpref=bpref nDCG=ndcg nDCG@10=ndcg_cut_10
R@100=recall_100 Success@1=success_1 AP@5=map_cut_5
"""


@pytest.fixture(scope="module")
def built() -> FactorSet:
    """Build a set with all usual measures, and one topic without factors for AP."""
    qrels, runs = collection()
    made = build_factors(qrels, runs, id="x")
    gap = np.where(np.arange(6) == 2, np.nan, 0)
    mean, sd = ({**table, "AP": table["AP"] + gap} for table in (made.mean, made.sd))
    return FactorSet(made.info, made.judgments, mean, sd)


@pytest.mark.parametrize("name", ["trec_eval", "webber"])
def test_nothing_is_lost_on_the_way_out_and_back(
    name: str, built: FactorSet, tmp_path: Path
) -> None:
    robust, file = load_factors("robust04"), str(tmp_path / "out")
    assert {"nDCG", "nDCG(dcg='jk',rel=1)"} <= set(robust.measures)
    for factors in (built, robust):
        FORMATS[name].write(factors, file)
        read = FORMATS[name].read
        assert read
        again = read(file)
        assert again.topics == factors.topics
        assert again.mean.keys() == set(factors.measures)
        for m in factors.measures:
            assert np.array_equal(again.mean[m], factors.mean[m], equal_nan=True)
            assert np.array_equal(again.sd[m], factors.sd[m], equal_nan=True)


@pytest.mark.parametrize("pair", NAMES.split())
def test_trec_evals_names_are_used(pair: str) -> None:
    measure, name = pair.split("=")
    assert to_trec_eval(measure) == name
    assert translated(name, TREC_EVAL_NAMES) == measure


@pytest.mark.parametrize("measure", ["SP", "nDCG(rel=1)", "RBP(p=0.5)", "RR@10", "AP(rel=2)"])
def test_what_trec_eval_does_not_compute_keeps_its_own_name(measure: str) -> None:
    assert to_trec_eval(measure) is None
    assert translated(measure, TREC_EVAL_NAMES) is None


def test_lines_are_as_trec_eval_reads_them(built: FactorSet, tmp_path: Path) -> None:
    write_trec_eval(built, tmp_path / "z")
    lines = [line.split() for line in (tmp_path / "z").read_text().splitlines()]
    assert {len(line) for line in lines} == {4}
    found = {(topic, name): (float(mean), float(sd)) for topic, name, mean, sd in lines}
    assert found["t1", "ndcg_cut_10"] == (built.mean["nDCG@10"][1], built.sd["nDCG@10"][1])
    assert ("t2", "map") not in found


def test_published_files_are_read_and_written_with_the_same_values(
    data: Path, tmp_path: Path
) -> None:
    tables = read_webber(data / "published" / "trec7.adhoc")
    assert set(tables.mean) == set(PUBLISHED_NAMES.values())
    write_webber(set_from_tables(tables, {"id": "x"}, 103), tmp_path / "trec7.adhoc")
    folders = tmp_path, data / "published"
    for pair in zip(*(webber_files(folder / "trec7.adhoc") for folder in folders), strict=True):
        ours, theirs = (pd.read_csv(file, index_col=0) for file in pair)
        pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no lines"),
        ("1 map 0.5\n", "z:1: 3 columns"),
        ("1 map 0.5 0.1\n1 map 0.5 0.1\n", "z:2: repeats map of topic 1"),
        ("1 map 0.5 x\n", "z:1: 'x'; expected a finite number"),
        ("1 map nan 0.1\n", "z:1: 'nan'"),
        ("1 foo 0.5 0.1\n", "z:1: measure 'foo'; unknown measure"),
    ],
)
def test_a_broken_trec_eval_file_is_reported_with_file_and_line(
    text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "z").write_text(text)
    with pytest.raises(InputError, match=message):
        read_trec_eval(tmp_path / "z")


@pytest.mark.parametrize(
    ("means", "deviations", "message"),
    [
        ("", "", "s.mn.csv: no topics"),
        (
            ",AP\n1,0.5\n",
            ",AP\n2,0.5\n",
            "s.sd.csv: does not have the topics and measures of s.mn.csv",
        ),
        (",AP\n1,0.5,0.5\n", ",AP\n1,0.5\n", "s.mn.csv:2: 3 columns"),
        (",AP\n1,x\n", ",AP\n1,0.5\n", "s.mn.csv:2: 'x'"),
        (",foo\n1,0.5\n", ",foo\n1,0.5\n", "s.mn.csv:1: measure 'foo'"),
        (
            ",AP,AP\n1,0.5,0.5\n",
            ",AP,AP\n1,0.5,0.5\n",
            "s.mn.csv: lists a topic or a measure twice",
        ),
    ],
)
def test_a_broken_published_pair_is_reported_with_file_and_line(
    means: str, deviations: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "s.mn.csv").write_text(means)
    (tmp_path / "s.sd.csv").write_text(deviations)
    with pytest.raises(InputError, match=message):
        read_webber(tmp_path / "s")


def test_nothing_is_half_written(built: FactorSet, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be written|not a regular file"):
        write_webber(built, tmp_path / "none" / "s")
    (tmp_path / "s.sd.csv").mkdir()
    with pytest.raises(InputError, match=r"cannot be written|not a regular file"):
        write_webber(built, tmp_path / "s")
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("name", ["trec_eval", "webber"])
def test_the_commands_export_and_import(
    name: str, built: FactorSet, ir_std_cli: Any, tmp_path: Path
) -> None:
    built.save(tmp_path / "x.npz")
    qrels = write_qrels(collection()[0], tmp_path / "qrels")
    form = "--format", name
    out = ir_std_cli("factors", "export", tmp_path / "x.npz", *form, "-o", tmp_path / "f")
    assert out.status == 0
    import_it = "factors", "import", tmp_path / "f", *form, "-o", tmp_path / "y.npz"
    assert ir_std_cli(*import_it, "--qrels", qrels, "--systems", 7).status == 0
    assert "--force" in ir_std_cli(*import_it).err[0]
    again = load_factors(tmp_path / "y.npz")
    assert (again.id, again.n_rel) == ("y", built.n_rel)
    assert np.array_equal(again.mean["RR"], built.mean["RR"])
    assert set(again.n_systems.values()) == {7}
    assert (
        ir_std_cli("factors", "check", tmp_path / "y.npz").out[0] == f"{tmp_path / 'y.npz'}\tsound"
    )


def test_a_set_of_unknown_size_says_so(built: FactorSet, tmp_path: Path) -> None:
    write_trec_eval(built, tmp_path / "z")
    made = set_from_tables(read_trec_eval(tmp_path / "z"), {"id": "x"})
    assert made.systems_text() == "unknown number of"


ODD = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1, max_size=8
)


def odd_set(topics: list[str], value: float) -> FactorSet:
    mean = dict.fromkeys(("AP", "nDCG@10"), np.full(len(topics), value))
    sd = {measure: values / 3 for measure, values in mean.items()}
    about = {"id": "odd", "measures": {m: {"systems": 2} for m in mean}}
    return FactorSet(about, dict.fromkeys(topics, 3), mean, sd)


@settings(max_examples=30)
@given(
    topics=st.lists(ODD, min_size=1, max_size=4, unique=True),
    value=st.floats(0, 1, allow_subnormal=True),
)
@example(topics=["a,b", 'a"b', "a\nb", "a\rb", "'", '"', ",", " ", "#x", "=1"], value=0.5)
def test_odd_topics_come_back_from_every_format_or_are_refused(
    topics: list[str], value: float
) -> None:
    made = odd_set(topics, value)
    with TemporaryDirectory() as folder:
        made.save(Path(folder, "set.npz"))
        again = FactorSet.load(Path(folder, "set.npz"))
        assert (again.topics, again.judgments) == (made.topics, made.judgments)
        assert again.mean["AP"].tolist() == made.mean["AP"].tolist()
        assert check_set(Path(folder, "set.npz")) == []
        write_webber(made, Path(folder, "x"))
        tables = read_webber(Path(folder, "x"))
        assert tables.topics == made.topics
        assert tables.sd["nDCG@10"].tolist() == made.sd["nDCG@10"].tolist()
        if all(topic.split() == [topic] for topic in topics):
            write_trec_eval(made, Path(folder, "z"))
            assert read_trec_eval(Path(folder, "z")).topics == made.topics
        else:
            with pytest.raises(InputError, match="cannot be written"):
                write_trec_eval(made, Path(folder, "z"))


IMPOSSIBLE = "-0.5 0.1|1.5 0.1|0.5 -0.1|1e400 0.1|0.5 inf|0_5 0.1|\uff11 0.1|0.5 1.5"


@pytest.mark.parametrize("values", IMPOSSIBLE.split("|"))
def test_values_that_no_measure_can_have_are_refused_on_import(values: str, tmp_path: Path) -> None:
    (tmp_path / "z").write_text(f"1 P_10 {values}\n", encoding="utf-8")
    with pytest.raises(InputError):
        set_from_tables(read_trec_eval(tmp_path / "z"), {"id": "x"})
