"""Writes the pages that are made from the program, and from the guides in the folders.

The guides stay where they are read beside the files that they are about; the site has a page for
each of their sections, so that nothing is written twice.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from ir_std.cli.main import COMMANDS, command_parser

ROOT = Path(__file__).resolve().parent.parent
GENERATED = ROOT / "docs" / "generated"
GUIDES = ("README.md", "CONTRIBUTING.md", "factors/README.md", "scripts/README.md")
COMMAND_LINE = """# Command line

`ir_std`, or `python -m ir_std`.  Results go to standard output; notes, warnings and errors, a line
each, to standard error.  Exit status 0; 2 for wrong use or bad input; 128 and its number for a
signal.
"""


def write_generated_pages() -> None:
    """Write them below ``docs/generated``, anew."""
    shutil.rmtree(GENERATED, ignore_errors=True)
    sections = {guide: split_sections((ROOT / guide).read_text("utf-8")) for guide in GUIDES}
    anchors = {
        (guide, anchor_of(heading)): page_of(guide, title)
        for guide, texts in sections.items()
        for title, text in texts.items()
        for heading in (title, *re.findall(r"^###+ (.*)", text, re.MULTILINE))
    }
    for guide, texts in sections.items():
        for title, text in texts.items():
            page = page_of(guide, title)
            page.parent.mkdir(parents=True, exist_ok=True)
            body = relink(text.replace("\n###", "\n##"), guide, page, anchors)
            page.write_text(f"# {title}\n{body}", encoding="utf-8")
    (GENERATED / "command-line.md").write_text(command_line(), encoding="utf-8")
    shutil.copy(ROOT / "scripts" / "tour.ipynb", GENERATED / "tour.ipynb")


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


def split_sections(guide: str) -> dict[str, str]:
    """The texts of a guide's sections by their titles; what stands before them by the guide's."""
    parts = re.split(r"^##? (.*)$", guide, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def anchor_of(heading: str) -> str:
    """A heading's anchor, as repositories' sites make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def page_of(guide: str, title: str) -> Path:
    """The page of a guide's section."""
    folder = os.path.dirname(guide) or Path(guide).stem.lower()
    return GENERATED / folder / f"{anchor_of(title)}.md"


def relink(text: str, guide: str, page: Path, anchors: dict[tuple[str, str], Path]) -> str:
    """A section's text with links to the site's pages; what has no page loses its link."""

    def link(found: re.Match[str]) -> str:
        label, path, anchor = found[1], found[2], found[3] or ""
        if re.match(r"[a-z]+:", path):
            return found[0]
        target = os.path.normpath(Path(guide).parent / path) if path else guide
        section = anchors.get((target, anchor))
        if section:
            heading = "" if anchor == section.stem else f"#{anchor}"
            return f"{label}({os.path.relpath(section, page.parent)}{heading})"
        if target in GUIDES:
            first = next(other for (name, _), other in anchors.items() if name == target)
            return f"{label}({os.path.relpath(first, page.parent)})"
        if target == "scripts/tour.ipynb":
            return f"{label}({os.path.relpath(GENERATED / 'tour.ipynb', page.parent)})"
        if Path(target).suffix == ".png":
            return f"{label}({os.path.relpath(ROOT / target, page.parent)})"
        return label[1:-1]

    return re.sub(r"(!?\[[^\]]*\])\(([^)#\s]*)(?:#([^)\s]*))?\)", link, text)
