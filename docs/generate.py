"""Writes the pages that are made from the program: its command line, and a page for each set."""

from __future__ import annotations

import shutil
from pathlib import Path

from set_pages import write_pages

import ir_std
from ir_std.cli.options import COMMANDS, CommandParser
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
WIDTH, ROW = 520, 128
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
        f'font-family="system-ui, sans-serif" font-size="14" fill="#1b1d21">{"".join(rows)}</svg>'
    )


def _scores_on_topic(results: ir_std.Results, topic: str, query: str, top: int) -> str:
    row = results.topics.index(topic)
    scores = {run: float(results.values[run]["nDCG@10"][row]) for run in results.runs}
    own = scores.pop(SYSTEM)
    rank = 1 + sum(score > own for score in scores.values())
    standardized = results.values[SYSTEM]["snDCG@10"][row]
    left, right, line = 12, WIDTH - 12, top + 66

    def at(score: float) -> float:
        return round(left + (right - left) * score, 1)

    ticks = "".join(
        f'<path d="M{at(score)} {line - 9}v18" stroke="#8f959e" stroke-width="2"/>'
        for score in scores.values()
    )
    return (
        f'<text x="{left}" y="{top + 20}" font-weight="650">\u201c{query}\u201d</text>'
        f'<path d="M{left} {line}H{right}" stroke="#dedcd6"/>{ticks}'
        f'<circle cx="{at(own)}" cy="{line}" r="7" fill="#1257b8"/>'
        f'<text x="{at(own)}" y="{line - 16}" fill="#1257b8" font-weight="650" '
        f'text-anchor="middle">{own:.2f}</text>'
        f'<text x="{left}" y="{line + 28}" fill="#595d66" font-size="12">0</text>'
        f'<text x="{right}" y="{line + 28}" fill="#595d66" font-size="12" '
        f'text-anchor="end">1</text>'
        f'<text x="{WIDTH / 2}" y="{line + 32}" text-anchor="middle"><tspan fill="#1257b8" '
        f'font-weight="650">{ordinal(rank)} of {len(scores) + 1}.</tspan> Standardized: '
        f'<tspan font-weight="650">{standardized:.2f}</tspan></text>'
    )


def write_command_pages(folder: Path) -> None:
    """Write a page for each command, with what ``--help`` prints and an address for each option."""
    folder.mkdir()
    for name in COMMANDS:
        parser = CommandParser(name)
        anchors = "".join(
            f'<a id="{flag.lstrip("-")}"></a>' for option in parser.options for flag in option.flags
        )
        (folder / f"{name}.md").write_text(
            f"# {parser.prog}\n\n{anchors}\n\n```text\n{parser.format_help().rstrip()}\n```\n",
            encoding="utf-8",
        )
    (folder / "index.md").write_text(
        COMMAND_LINE + "\n```{toctree}\n:maxdepth: 1\n\n" + "\n".join(COMMANDS) + "\n```\n",
        encoding="utf-8",
    )
