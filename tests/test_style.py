"""The text of ir_std stays plain English, and the worst habits do not come back."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

ARCHAIC = ("anew", "hardly", "seldom", r"turned\s+round", "whilst", "thereof")
QUESTIONS = ("What", "Why", "Where", "How", "Which", "Of", "On", "By", "As", "Those")
COUNTED = ("documents", "measures", "runs", "systems", "topics")
HABITS = {
    "begins with Of": r"(?:^|(?<=[.!?] ))Of (?:a|an|the|its|each|these|those) (?![^.]*\d)",
    "begins with What": rf"^(?:{'|'.join(QUESTIONS)}) ",
    "is of": r"\b(?:is|are) of (?:the|a|an|one|no|several|other)\b",
    "is no": r"(?<![Tt]here )\b(?:is|are) no (?!longer|better|worse|later|way|doubt)[a-z]",
    "beside": r"\b[Bb]eside\b",
    "told": r"\b(?:is|are|be) (?:told|said)\b|\btold (?:by|apart by)\b",
    "so many": r"\b[Ss]o many (?!that|as)",
    "per, not a": r"\b(?:a|one) (?:row|column|line|value|file) a \w+",
    "archaic": rf"\b(?:{'|'.join(ARCHAIC)})\b",
    "plural of 1": rf"(?<![\d.,])1\s(?:{'|'.join(COUNTED)})\b(?!`)",
    "those that": r"\b[Tt]hose (?:that|of which|who)\b",
    "of which": r"\b(?:by|of) which\b",
    "two colons": r"^(?!usage|---)[^\n.]{0,90}\S: [^\n.]{0,90}\S: ",
}
"""Habits of syntax that made readers read twice, and how to find them."""
ALLOWED = {"begins with What": 11, "of which": 26, "those that": 6, "two colons": 5}
"""Number of each habit that is left; lower a number if you can, and never raise one."""


def texts() -> Iterator[tuple[str, str]]:
    """Yield the pages' prose and the package's docstrings and messages, by file."""
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        if "generated" not in page.parts:
            prose = re.sub(r"(?ms)^```.*?^```$|`[^`\n]*`", "x", page.read_text("utf-8"))
            yield from ((str(page), " ".join(part.split())) for part in prose.split("\n\n"))
    for file in (ROOT / "ir_std").rglob("*.py"):
        parts: set[ast.AST] = set()
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts.update(node.values)
                words = (str(v.value) if isinstance(v, ast.Constant) else "x" for v in node.values)
                yield str(file), "".join(words)
            elif isinstance(node, ast.Constant) and " " in str(node.value) and node not in parts:
                yield str(file), " ".join(str(node.value).split())


def test_the_worst_habits_do_not_come_back() -> None:
    found: dict[str, list[str]] = {habit: [] for habit in HABITS}
    for file, text in texts():
        for habit, pattern in HABITS.items():
            found[habit] += [
                f"{file}: {text[max(0, at.start() - 30) : at.end() + 30]}"
                for at in re.finditer(pattern, text)
            ]
    counts = Counter({habit: len(places) for habit, places in found.items()})
    assert not counts - Counter(ALLOWED), found
