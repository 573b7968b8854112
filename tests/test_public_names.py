"""The names that users import stay importable."""

import ast
import importlib
import re
from collections import defaultdict
from operator import attrgetter
from pathlib import Path

import ir_measures
import pytest

import ir_std

OURS = """
    DCG FactorSet Fit InputError IrStdError Match NDCG NoFactorsError Placement Placer
    Results SP Scores StandardizationWarning Standardized StdEvaluator StdProvider
    UnknownMeasureError UnknownSetError UsageError __version__ analysis available_factors
    build_factors build_from_scores calc calc_aggregate calc_ctxt compare evaluate evaluator
    iter_calc lazylibs load_factors measures merge merging nDCG normalize parse_measure place plots
    providers qrel_inputs recognize report run_inputs sAP sBpref sDCG sERR sJudged sP sR sRBP sRR
    sRprec sSP sSuccess snDCG standardized testing util
""".split()  # noqa: SIM905 - a list of names reads better so

ANALYSIS = """
    LinkedScores RankIntervals bonferroni cohen_kappa confusion_matrix discriminative_power holm
    kendall_tau_b link linked_scores order_agreement paired_effect paired_t random_effects
    randomization_test rank_intervals standardize_matrix t_test tau_ap_b topic_set_size_paired_t
""".split()  # noqa: SIM905 - a list of names reads better so

MODULES = """
    ir_std.analysis ir_std.builders ir_std.cli ir_std.evaluation ir_std.factors ir_std.measures
    ir_std.merging ir_std.plots ir_std.report ir_std.reporting ir_std.reporting.plots
    ir_std.schemes ir_std.testing
    ir_std.reading ir_std.scores ir_std.trec
""".split()  # noqa: SIM905 - a list of names reads better so


@pytest.mark.parametrize("name", sorted({*OURS, *ir_measures.__all__}))
def test_a_public_name_is_there_and_listed(name: str) -> None:
    assert hasattr(ir_std, name)
    assert name in ir_std.__all__


def test_dir_lists_what_users_call_and_few_names_of_our_own() -> None:
    listed = {name for name in dir(ir_std) if not name.startswith("_")}
    family = {n for n in listed if isinstance(getattr(ir_std, n), ir_std.Standardized)}
    own = {n for n in listed - family if not hasattr(ir_measures, n)}
    assert len(own) <= 45
    assert {"AP", "nDCG", "calc_aggregate", "sAP", "parse_trec_measure", "evaluate"} <= listed
    assert not listed & {"lazylibs", "runtime", "util", "msmarco", "CwlMetric", "providers"}
    reference = "".join(
        file.read_text(encoding="utf-8")
        for file in (Path(__file__).parent.parent / "docs" / "reference").rglob("*.md")
    )
    assert {name for name in own if not re.search(rf"\b{name}\b", reference)} == set()


def test_the_analysis_keeps_its_names() -> None:
    assert {*ANALYSIS} <= {*ir_std.analysis.__all__}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_importable_by_its_name(name: str) -> None:
    assert importlib.import_module(name).__doc__


def test_no_two_public_classes_or_functions_share_their_name() -> None:
    package = Path(ir_std.__file__).parent
    modules: dict[str, list[str]] = defaultdict(list)
    for file in sorted(package.rglob("*.py")):
        module = file.relative_to(package).as_posix()
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                # Every command has these two options.
                if module.startswith("cli/") and node.name in ("configure", "run"):
                    continue
                modules[node.name].append(module)
    assert {name: places for name, places in modules.items() if len(places) > 1} == {}


def test_what_the_readme_names_is_there() -> None:
    readme = Path(__file__).resolve().parent.parent / "README.md"
    named = set(re.findall(r"\bir_std\.([A-Za-z_]+)", readme.read_text(encoding="utf-8")))
    missing = {name for name in named if not hasattr(ir_std, name)}
    assert missing == set()


@pytest.mark.parametrize("name", ["cli.main", "plots.topics", "report.write_report"])
def test_what_loads_late_is_there(name: str) -> None:
    importlib.import_module("ir_std.cli")
    assert callable(attrgetter(name)(ir_std))
