"""Writes the pages that are made from the program: its command line, and a page for each set."""

from __future__ import annotations

import shutil
from pathlib import Path

from set_pages import write_pages

from ir_std.cli.parser import COMMANDS, command_parser

ROOT = Path(__file__).resolve().parent.parent
GENERATED = ROOT / "docs" / "generated"
COMMAND_LINE = """# Command line

`ir_std`, or `python -m ir_std`.  Results go to standard output; notes, warnings and errors, a line
each, to standard error.  [Exit statuses](../how-to/pipelines.md).
"""


def write_generated_pages() -> None:
    """Write them below ``docs/generated``, anew."""
    shutil.rmtree(GENERATED, ignore_errors=True)
    write_pages(GENERATED / "catalogue")
    (GENERATED / "command-line.md").write_text(command_line(), encoding="utf-8")


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
