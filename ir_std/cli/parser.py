"""The parser of each command's arguments."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import Any, NoReturn

from ir_std._version import __version__
from ir_std.cli.streams import PROGRAM, fail

ASKED_BY_SHELL = "_ARGCOMPLETE"
"""Set in the environment by a shell that asks what a word may become."""
COMMANDS = (
    "agree",
    "build",
    "compare",
    "demo",
    "diff",
    "factors",
    "leaderboard",
    "merge",
    "report",
)
"""First arguments that are commands; anything else is evaluated."""


class CommandParser(argparse.ArgumentParser):
    """Says what is wrong in one line, and takes options anywhere between the inputs."""

    made: Any = None

    def add_subparsers(self, **options: Any) -> Any:
        """As argparse does; they are kept."""
        self.made = super().add_subparsers(**options)
        return self.made

    @property
    def actions(self) -> tuple[CommandParser, ...]:
        """The parsers of the command's actions, if it has any."""
        return tuple(self.made.choices.values()) if self.made else ()

    def read(self, arguments: list[str]) -> argparse.Namespace:
        """The arguments, parsed."""
        if self.made:
            return self.parse_args(arguments)
        return self.parse_intermixed_args(arguments)

    def error(self, message: str) -> NoReturn:
        """Say it in one line, and exit with 2."""
        sys.exit(fail(f"{message}; see {self.prog} --help"))


class _ShowVersions(argparse.Action):
    """As argparse's own action, but the factor sets' version is read only if it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from ir_std.factors.catalog import data_version

        print(f"{PROGRAM} {__version__}, factor sets {data_version()}")
        parser.exit()


def command_parser(name: str) -> CommandParser:
    """The parser of a command; that of what runs without one is called ``evaluate``."""
    command = import_module(f"ir_std.cli.{name}")
    parser = CommandParser(
        prog=PROGRAM if name == "evaluate" else f"{PROGRAM} {name}",
        description=command.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.configure(parser)
    parser.set_defaults(quiet=False)
    for each in (parser, *parser.actions):
        # Behind an action, too; one that is not given there leaves what stands before it.
        each.add_argument(
            "--quiet",
            action="store_true",
            default=argparse.SUPPRESS,
            help="no notes; warnings stay",
        )
        each.add_argument("--version", action=_ShowVersions, nargs=0, help="show versions and exit")
    return parser
