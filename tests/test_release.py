"""The recipe, citation, changelog and paper agree with the package."""

import os
import re
from pathlib import Path

import pytest
from processes import run_process

import ir_std

ROOT = Path(__file__).resolve().parent.parent


def text(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


def block(file: str, start: str) -> list[str]:
    """Return the items of a list in TOML or YAML, without quotes and spaces."""
    found = re.search(rf"^ *{start}\n((?: +\S.*\n)+)", text(file), re.MULTILINE)
    assert found
    lines = [line.partition("  #")[0].strip(' -",').lower() for line in found[1].splitlines()]
    return sorted(line.replace(" ", "") for line in lines)


def test_the_versions_are_one() -> None:
    version = re.escape(ir_std.__version__)
    assert re.search(rf"^version: {version}$", text("CITATION.cff"), re.MULTILINE)
    recipe = text("docs/release/recipe.yaml")
    assert re.search(rf'^  version: "{version}"$', recipe, re.MULTILINE)
    assert re.search(
        rf"^## \[?{version}\]? - 20\d\d-\d\d-\d\d$", text("CHANGELOG.md"), re.MULTILINE
    )
    assert re.findall(r"ir_std (\d[\d.]+)", text("docs/catalogue/how-to-cite.md")) == [
        ir_std.__version__
    ]


def test_the_address_of_the_repository_is_that_of_pyproject() -> None:
    addresses = re.findall(r'^"?Source"? = "(.+)"$', text("pyproject.toml"), re.MULTILINE)
    cited = re.findall(r'^repository-code: "?(.+?)"?$', text("CITATION.cff"), re.MULTILINE)
    recipe = text("docs/release/recipe.yaml")
    assert cited == re.findall(r"^  homepage: (.+)$", recipe, re.MULTILINE) == addresses
    changelog = text("CHANGELOG.md")
    versions = re.findall(r"^## \[?(\d[\d.]+)", changelog, re.MULTILINE)
    tags = [f"{address}/releases/tag/v{version}" for address in addresses for version in versions]
    assert re.findall(r"^\[\d[\d.]+\]: (.+)$", changelog, re.MULTILINE) == tags


def test_the_recipe_needs_what_the_package_needs() -> None:
    project = text("pyproject.toml")
    needed = block("docs/release/recipe.yaml", "run:")
    assert needed.pop(needed.index("python>=${{python_min}}"))
    assert needed == block("pyproject.toml", r"dependencies = \[")
    (oldest,) = re.findall(r'^requires-python = ">=(.+)"$', project, re.MULTILINE)
    recipe = text("docs/release/recipe.yaml")
    assert f'python_min: "{oldest}"' in recipe
    for program in re.findall(r'^ir_std = "(ir_std_program:main)"$', project, re.MULTILINE):
        assert f"- ir_std = {program}" in recipe
    (build,) = re.findall(r'^requires = \["(.+)"\]$', project, re.MULTILINE)
    assert build.replace(">", " >") in recipe
    (licence,) = re.findall(r'^license = "(.+?)"', project, re.MULTILINE)
    assert f"license: {licence}\n" in recipe


def test_the_workflow_tries_the_versions_of_the_classifiers() -> None:
    if os.name == "nt" or not (ROOT / ".ci").is_dir():
        pytest.skip("a script of the checkout, for a shell")
    said = run_process([ROOT / ".ci" / "versions"], check=True)
    classified = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text("pyproject.toml"))
    assert re.findall(r'"(.+?)"', said.stdout) == classified != []


def test_the_workflow_builds_the_site_as_contributors_do() -> None:
    if not (ROOT / ".github").is_dir():
        pytest.skip("only a checkout has workflows")
    (command,) = re.findall(r"python (-m sphinx .*?)`", text("CONTRIBUTING.md"))
    assert f"- run: python {command}\n" in text(".github/workflows/docs.yml")


def test_the_paper_has_the_length_pictures_and_number_of_sets_that_it_should() -> None:
    paper = text("docs/paper/paper.md")
    assert f"ships {len(ir_std.available_factors())} factor sets" in " ".join(paper.split())
    body = paper.split("---\n", 2)[2]
    assert 750 <= len(body.split()) <= 1750
    pictures = re.findall(r"\]\((\S+\.png)\)", body)
    drawn = text("scripts/pictures.py")
    assert pictures
    for picture in pictures:
        assert (ROOT / "docs" / "paper" / picture).exists()
        assert Path(picture).stem in drawn
    for name in re.findall(r"label\{(.+?)\}", body):
        assert rf"\autoref{{{name}}}" in body


def test_the_paper_cites_what_its_bibliography_holds() -> None:
    cited = set(re.findall(r"@([a-z]+\d{4})", text("docs/paper/paper.md")))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", text("docs/paper/paper.bib"), re.MULTILINE))


PAGES_OF_FIGURES = {
    "0.009 on one topic and 0.71 on": ("explanation/method", "0.009 on one topic and 0.71 on"),
    "All 63 figures": ("evidence/papers", "all 63 figures agree at every printed digit"),
    "the 114 figures of a study": ("evidence/papers", "reproduce all 114 published figures"),
    "The 38 figures of Urbano": ("evidence/papers", "all 38 published figures to within three"),
    "3.95 times": ("evidence/linking", "the same reference systems | | 3.95 ("),
    "three anchors reduces this ratio to 1.17": ("evidence/linking", "(1.31, 1.66) | 1.17 ("),
    "differ by 0.79 standard deviations; the two standardized means differ by only 0.24": (
        "evidence/judges",
        "| DL 2019, UMBRELA | 0.79 | 0.20 | 0.24 |",
    ),
    "623 embedding models": ("how-to/mteb-and-beir", "scores of 623 models"),
}
"""Sentences of the paper, and the sentences of pages that other tests check."""


@pytest.mark.parametrize("said", PAGES_OF_FIGURES)
def test_the_papers_figures_are_those_of_the_pages_that_tests_hold(said: str) -> None:
    page, figure = PAGES_OF_FIGURES[said]
    assert said in " ".join(text("docs/paper/paper.md").split())
    assert figure in " ".join(text(f"docs/{page}.md").split())


def test_the_paper_has_the_sections_that_the_journal_asks_for() -> None:
    sections = re.findall(r"^# (.+)$", text("docs/paper/paper.md"), re.MULTILINE)
    assert ", ".join(sections) == (
        "Summary, Statement of need, State of the field, Software design, "
        "Research impact statement, AI usage disclosure, Acknowledgements, References"
    )
