"""Names of measures parse, print back, and mean the same thing."""

import pickle
import re
import sys

import ir_measures
import pytest
from processes import run_process

import ir_std
from ir_std.errors import UnknownMeasureError, UsageError
from ir_std.measures import canonical, has_standardized, parse_measure, standardized
from ir_std.measures.records import equivalents

NAMES = """
    SP SP(rel=2) DCG DCG(dcg='jk',rel=1) nDCG(rel=1) nDCG(dcg='jk')@10 RBP(p=0.95,rel=1) AP
    P(rel=2)@10 sAP sP@10 sP(rel=2)@10 snDCG(scheme='E')@10 sRBP(p=0.95,rel=1)
    sAP(scheme='U',A=0.1,B=0.4) sAP(factors='trec8-adhoc') sRR sERR@20 sinfAP sIPrec@0.1
    sSetF(beta=2.0) Q@10 Q(beta=0.5)@10 nERR@10 sQ@10 snERR(scheme='U')@10
""".split()  # noqa: SIM905 - a list of names reads better so


theirs_reads_parameters = pytest.mark.skipif(
    sys.version_info >= (3, 14), reason="ir_measures 0.4.3 reads parameters with ast.Num"
)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_parses_and_prints_back_the_same(name: str) -> None:
    assert str(parse_measure(name)) == name


@theirs_reads_parameters
@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("nDCG")])
def test_ir_measures_parses_the_same_names(name: str) -> None:
    assert str(ir_measures.parse_measure(name)) == name
    assert parse_measure(name) == ir_measures.parse_measure(name)


@theirs_reads_parameters
def test_ir_measures_too_takes_whole_numbers_for_fractions() -> None:
    parsed = ir_measures.parse_measure("sAP(scheme='U',A=1)")
    assert parsed == ir_measures.parse_measure("sAP(scheme='U',A=1.0)")
    assert parsed == ir_std.sAP(scheme="U", A=1)


@theirs_reads_parameters
def test_names_parse_as_soon_as_ir_std_is_imported() -> None:
    code = "import ir_std, ir_measures; print(ir_measures.parse_measure(\"sAP(scheme='U')\"))"
    assert printed(code) == "sAP(scheme='U')\n"


WITHOUT_NUM = """
import ast
for name in {"Num", "Str", "NameConstant"} & {*dir(ast)}:
    delattr(ast, name)
import ir_std, ir_measures
print(*map(ir_std.parse_measure, ["P(rel=2)@10", "sAP(scheme='U',A=0.1)"]))
print(ir_measures.parse_measure("AP"), ir_measures.util._ast_to_value.__module__)
"""


def test_parsing_works_where_python_has_no_ast_num_and_ir_measures_is_left_as_it_is() -> None:
    assert printed(WITHOUT_NUM) == "P(rel=2)@10 sAP(scheme='U',A=0.1)\nAP ir_measures.util\n"


def printed(code: str) -> str:
    """Return what code prints in a process of its own."""
    return run_process([sys.executable, "-W", "ignore", "-c", code], check=True).stdout


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ("XYZ", NameError, "unknown measure"),  # as in ir_measures
        ("sAPP", UnknownMeasureError, "did you mean 'sAP'"),
        ("AP(", UsageError, "cannot read"),
        ("f(1)", UsageError, "cannot read"),
        ("sAP(scheme=U)", UsageError, "did you mean \"sAP(scheme='U')\""),
        ("sP(rel=2,scheme=z)@10", UsageError, "did you mean \"sP(rel=2,scheme='z')@10\""),
        ("P", UsageError, "write P@10"),
        ("P@0", UsageError, "at least 1"),
        ("AP(rel=0)", UsageError, "at least 1"),
        ("RBP(p=2.0)", UsageError, "p must be at least 0 and below 1"),
        ("ndcg@10", UnknownMeasureError, "did you mean 'nDCG@10'?"),
        ("nEER@10", UnknownMeasureError, "did you mean 'nERR@10'"),
        ("Q(beta=-1.0)@10", UsageError, "beta must be at least 0"),
        ("AP(relevance=2)", UsageError, "choose from cutoff, rel, judged_only"),
        ("AP@'x'", UsageError, "cutoff must be of type int"),
        ("nDCG(dcg='x')", UsageError, "'log2', 'exp-log2', 'jk'"),
        ("sAP(scheme='Q')", UsageError, "'N', 'U', 'E', 'z'"),
        ("sAP(A=0.1)", UsageError, "belong to scheme 'U'"),
    ],
)
def test_a_wrong_name_is_refused_with_what_is_allowed(
    wrong: str, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=re.escape(says)):
        parse_measure(wrong)


def test_every_measure_of_ir_measures_can_be_read_and_checked() -> None:
    for name, measure in ir_measures.measures.registry.items():
        required = {
            p: info.dtype(1) for p, info in measure.SUPPORTED_PARAMS.items() if info.required
        }
        assert parse_measure(str(measure(**required))) == measure(**required), name


def test_a_standardized_measure_keeps_all_parameters_of_its_base_and_is_pickled() -> None:
    measure = ir_std.sP(rel=2) @ 10
    assert measure.base == ir_measures.P(rel=2) @ 10
    assert standardized(ir_measures.P(rel=2) @ 10, scheme="E") == measure(scheme="E")
    assert pickle.loads(pickle.dumps(measure(scheme="U"))) == measure(scheme="U")


def test_what_widens_ndcg_is_ir_stds_and_ir_measures_keeps_its_own() -> None:
    assert {ir_measures.nDCG @ 10: 1}[ir_std.nDCG @ 10] == 1
    assert {parse_measure("nDCG@10"): 1}[ir_measures.nDCG @ 10] == 1
    assert ir_measures.measures.registry["nDCG"] is ir_measures.nDCG
    assert "rel" not in ir_measures.nDCG.SUPPORTED_PARAMS
    assert type(parse_measure("nDCG(rel=1)")) is type(ir_std.nDCG)
    assert standardized(ir_measures.nDCG @ 10) == ir_std.snDCG @ 10


def test_counts_and_measures_named_like_others_have_no_standardized_form() -> None:
    class Precision(ir_measures.Measure):
        __name__ = "P"

    assert not has_standardized(Precision())
    for measure in (Precision(), ir_measures.NumRel):
        with pytest.raises(UsageError, match="no standardized form"):
            standardized(measure)


def test_the_canonical_name_has_fixed_order_and_no_defaults() -> None:
    assert canonical(ir_std.nDCG(rel=1, dcg="jk", judged_only=False)) == "nDCG(dcg='jk',rel=1)"
    assert canonical(ir_measures.AP(rel=1)) == "AP"


@pytest.mark.parametrize(
    ("measure", "binary", "names"),
    [
        (ir_std.SP, False, "SP AP"),
        (ir_measures.AP(rel=2) @ 5, False, "AP(rel=2)@5 SP(rel=2)@5"),
        (ir_std.DCG(dcg="jk"), False, "DCG(dcg='jk') nDCG(dcg='jk')"),
        (ir_measures.RBP(p=0.5), True, "RBP(p=0.5) RBP(p=0.5,rel=1)"),
        (ir_measures.RBP(p=0.5), False, "RBP(p=0.5)"),
    ],
)
def test_some_measures_are_equivalent_and_graded_ones_to_binary_ones_on_binary_qrels_only(
    measure: ir_measures.Measure, binary: bool, names: str
) -> None:
    assert [canonical(m) for m in equivalents(measure, binary)] == names.split()
    assert (ir_std.nDCG(rel=1) in equivalents(ir_std.nDCG, binary)) == binary
    assert ir_std.nDCG not in equivalents(ir_std.nDCG(rel=2), binary)
