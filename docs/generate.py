"""Writes the pages that are made from the program: the command line, the notebook."""

from __future__ import annotations

import shutil
from pathlib import Path

from ir_std.cli.main import COMMANDS, command_parser

ROOT = Path(__file__).resolve().parent.parent
COMMAND_LINE = """# Command line

`ir_std`, or `python -m ir_std`.  Results go to standard output; notes, warnings and errors, a line
each, to standard error.  Exit status 0; 2 for wrong use or bad input; 128 and its number for a
signal.
"""


def write_generated_pages(docs: Path) -> None:
    """Write them below ``docs/generated``, anew."""
    folder = docs / "generated"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "command-line.md").write_text(command_line(), encoding="utf-8")
    shutil.copy(ROOT / "scripts" / "tour.ipynb", folder / "tour.ipynb")


def command_line() -> str:
    """What ``--help`` prints, of each command and of each of its actions."""
    parts = [COMMAND_LINE]
    for name in ("evaluate", *COMMANDS):
        parser = command_parser(name)
        parts.append(f"## {parser.prog}\n\n```text\n{parser.format_help().rstrip()}\n```\n")
        parts += [
            f"### {action.prog}\n\n```text\n{action.format_help().rstrip()}\n```\n"
            for action in parser.actions
        ]
    return "\n".join(parts)
