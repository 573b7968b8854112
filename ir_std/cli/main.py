"""The command line: arguments in, lines out.

Results go to standard output; notes, warnings and errors, a line each, to standard error.
Exit status 0, 1 if a run is worse than ``--fail-if-worse`` allows, 2 for wrong use or bad input, or
128 and its number for a signal.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from ir_std._system.signals import end_on_signals, ignore_signals
from ir_std._version import __version__
from ir_std.cli.streams import (
    PROGRAM,
    ReaderGoneError,
    checked_output,
    fail,
    notes_suppressed,
    warn,
)
from ir_std.errors import IrStdError, StandardizationWarning

ASKED_BY_SHELL = "_ARGCOMPLETE"
"""Set in the environment by a shell that asks what a word may become."""
SIGPIPE = 13
"""The number of the signal; Windows has none of that name."""
COMMANDS = ("agree", "build", "compare", "demo", "factors", "leaderboard", "merge", "report")
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


def program() -> None:
    """Run the command line in a process of its own, which signals end."""
    end_on_signals()
    try:
        if ASKED_BY_SHELL in os.environ:
            import_module("ir_std.cli.completion").complete(os.environ)
        status = main()
    finally:
        ignore_signals()
    sys.exit(status)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit status.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process if not given.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        with warnings.catch_warnings(), checked_output():
            warnings.simplefilter("always", StandardizationWarning)
            warnings.showwarning = _show_warning
            return _run(arguments)
    except ReaderGoneError:  # as a filter that the signal ends
        return 128 + SIGPIPE
    except IrStdError as wrong:
        return fail(str(wrong))
    except OSError as failed:  # of what nobody asked about before: the disk, the number of files
        what = f"{failed.filename}: " if failed.filename else ""
        return fail(f"{what}{failed.strerror or failed}; see that it is there and may be used")
    except MemoryError:
        return fail("memory ran out: use fewer jobs, or smaller files")
    except KeyboardInterrupt:  # of a program that calls this; our own process just ends
        return fail("interrupted")


def _run(arguments: list[str]) -> int:
    name = arguments.pop(0) if arguments and arguments[0] in COMMANDS else "evaluate"
    args = command_parser(name).read(arguments)
    with notes_suppressed(args.quiet):
        status: int | None = import_module(f"ir_std.cli.{name}").run(args)
    return status or 0


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
        each.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    return parser


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    warn(f"{message}")
