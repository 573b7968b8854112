"""The command line: arguments in, lines out.

Results go to standard output; notes, warnings and errors, a line each, to standard error.  What is
wrong is raised where it is seen, a UsageError of arguments, an InputError of files, and said here.
Exit status 0, 1 if a run is worse than ``--fail-if-worse`` allows, 2 for wrong use or bad input, or
128 and its number for a signal.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module

from ir_std._system.signals import end_on_signals, ignore_signals
from ir_std.cli.parser import ASKED_BY_SHELL, COMMANDS, command_parser
from ir_std.cli.streams import ReaderGoneError, checked_output, fail, notes_suppressed, warn
from ir_std.errors import IrStdError, StandardizationWarning

SIGPIPE = 13
"""The number of the signal; Windows has none of that name."""


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


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    warn(f"{message}")
