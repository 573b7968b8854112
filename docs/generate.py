"""Write the pages that ir_std itself provides: its commands, and a page for each set."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from textwrap import dedent

from set_pages import write_pages

import ir_std
from ir_std.cli.options import COMMANDS, CommandParser, Option
from ir_std.evaluation.placement import ordinal

ROOT = Path(__file__).resolve().parent.parent
GENERATED = ROOT / "docs" / "generated"
COMMAND_LINE = """# Command line

`ir_std`, or `python -m ir_std`.  Results go to standard output; notes, warnings and errors, one
line each, to standard error.  [Exit statuses](../../how-to/pipelines.md).
"""


SYSTEM = "bm25base_p"
SHOWN_TOPICS = {"1037798": "who is robert gray", "1117099": "what is a active margin"}
"""The topics of the front page's picture, with their queries."""
PICTURE_IN_WORDS = (
    "nDCG@10 of BM25 on two topics, each with a tick for every other system. "
    "0.31 on the first topic ranks 7th of 37; 0.54 on the second ranks 36th."
)
WIDTH, ROW = 520, 140
"""Size of the picture in pixels: its width, and the height of a topic."""


def write_generated_pages() -> None:
    """Write the pages below ``docs/generated`` again."""
    shutil.rmtree(GENERATED, ignore_errors=True)
    write_pages(GENERATED / "catalogue")
    (GENERATED / "front.svg").write_text(front_picture(), encoding="utf-8")
    (GENERATED / "site").mkdir()
    results = ir_std.evaluate(f"dl19-passage/{SYSTEM}", baseline="best")
    results.report(GENERATED / "site" / "report-example.html")
    write_command_pages(GENERATED / "command-line")


def front_picture() -> str:
    """Draw the scores of all systems on two topics, one of which looks better than it is."""
    results = ir_std.evaluate("dl19-passage/*", measures="nDCG@10")
    rows = [
        _scores_on_topic(results, topic, query, i * ROW)
        for i, (topic, query) in enumerate(SHOWN_TOPICS.items())
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {ROW * len(rows)}" '
        f'role="img" aria-label="{PICTURE_IN_WORDS}">{"".join(rows)}</svg>\n'
    )


def _scores_on_topic(results: ir_std.Results, topic: str, query: str, top: int) -> str:
    row = results.topics.index(topic)
    scores = {run: float(results.values[run]["nDCG@10"][row]) for run in results.runs}
    average = sum(scores.values()) / len(scores)
    own = scores.pop(SYSTEM)
    rank = 1 + sum(score > own for score in scores.values())
    standardized = results.values[SYSTEM]["snDCG@10"][row]
    left, right, line = 12, WIDTH - 12, top + 70

    def at(score: float) -> float:
        return round(left + (right - left) * score, 1)

    ticks = "".join(f'<path class="tick" d="M{at(s)} {line - 9}v18"/>' for s in scores.values())
    return (
        f'<text x="{left}" y="{top + 20}" class="strong">\u201c{query}\u201d</text>'
        f'<path class="axis" d="M{left} {line}H{right}"/>{ticks}'
        f'<path class="tick" d="M{at(average)} {line - 26}v26"/>'
        f'<text x="{at(average)}" y="{line - 32}" class="soft">average {average:.2f}</text>'
        f'<circle class="run" cx="{at(own)}" cy="{line}" r="7"/>'
        f'<text x="{at(own)}" y="{line - 14}" class="run strong">{own:.2f}</text>'
        f'<text x="{left}" y="{line + 26}" class="soft">0</text>'
        f'<text x="{right}" y="{line + 26}" class="soft">1</text>'
        f'<text x="{left}" y="{line + 48}"><tspan class="run strong">{ordinal(rank)} of '
        f"{len(scores) + 1}.</tspan> Standardized: "
        f'<tspan class="strong">{standardized:.2f}</tspan></text>'
    )


def write_command_pages(folder: Path) -> None:
    """Write a page for each command, on which each option has an address of its own."""
    folder.mkdir()
    for name in COMMANDS:
        (folder / f"{name}.md").write_text(command_page(CommandParser(name)), encoding="utf-8")
    (folder / "index.md").write_text(
        COMMAND_LINE + "\n```{toctree}\n:maxdepth: 1\n\n" + "\n".join(COMMANDS) + "\n```\n",
        encoding="utf-8",
    )


def command_page(parser: CommandParser) -> str:
    """Return the help of a command with a heading per group and an entry per option."""
    options = {option.text.strip(): option for option in parser.options}
    parts = [f"# {parser.prog}", f"```{{program}} {parser.prog}\n```"]
    for paragraph in parser.text.strip("\n").split("\n\n"):
        heading, _, entries = paragraph.partition(":\n")
        found = [option for text, option in options.items() if text in entries]
        if found:
            parts += [f"## {heading.capitalize()}", *map(option_entry, found)]
        elif paragraph.startswith(("usage:", "  ")):
            parts.append(f"```text\n{dedent(paragraph)}\n```")
        else:
            parts.append(escape(" ".join(paragraph.split())))
    return "\n\n".join(parts) + "\n"


def option_entry(option: Option) -> str:
    """Return an option's entry, to which ``{option}`` links."""
    text = " ".join(option.text.split())
    for word in (*option.flags, *option.values):
        text = text.partition(word)[2]
    names = " ".join((", ".join(option.flags), *option.values))
    return f"```{{option}} {names}\n{escape(text.strip())}\n```"


def escape(text: str) -> str:
    """Escape the characters that Markdown reads as markup."""
    return re.sub(r"([\\`*_$<\[{])", r"\\\1", text)
