"""The command line: arguments in, lines out.

Results go to standard output; notes, warnings and errors, a line each, to standard error.
Exit status 0, or 2 for wrong use or bad input.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NoReturn

from ir_std.errors import IrStdError

PROGRAM = "ir_std"
COMMANDS = ("build", "compare", "demo", "factors", "merge", "report")
"""First arguments that are commands; anything else is evaluated."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and takes options anywhere between the inputs."""

    has_actions = False

    def add_subparsers(self, **options: Any) -> Any:
        self.has_actions = True
        return super().add_subparsers(**options)

    def read(self, arguments: list[str]) -> argparse.Namespace:
        if self.has_actions:
            return self.parse_args(arguments)
        return self.parse_intermixed_args(arguments)

    def error(self, message: str) -> NoReturn:
        sys.exit(fail(f"{message}; see {self.prog} --help"))


def note(message: str) -> None:
    """Tell the user something about the results, beside them."""
    print(f"{PROGRAM}: {message}", file=sys.stderr)


def fail(message: str) -> int:
    """Say what is wrong in one line; the exit status."""
    note(f"error: {' '.join(str(message).split())}")
    return 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit status.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process if not given.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = arguments.pop(0) if arguments and arguments[0] in COMMANDS else "evaluate"
    command = import_module(f"ir_std.cli.{name}")
    prog = PROGRAM if name == "evaluate" else f"{PROGRAM} {name}"
    parser = _Parser(prog=prog, description=command.__doc__,
                     formatter_class=argparse.RawDescriptionHelpFormatter)
    command.configure(parser)
    gc.freeze()  # what the imports made stays; looking through it again and again costs time
    with warnings.catch_warnings(), _ended_like_interrupted():
        warnings.simplefilter("always")
        warnings.showwarning = _show_warning
        try:
            command.run(parser.read(arguments))
            sys.stdout.flush()
        except IrStdError as wrong:
            return fail(str(wrong))
        except BrokenPipeError:
            # The reader (such as head) has enough; keep Python from complaining at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except KeyboardInterrupt:
            return fail("interrupted")
    return 0


@contextmanager
def _ended_like_interrupted() -> Iterator[None]:
    """A scheduler that ends the program must leave neither processes nor parts of files."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    note(f"warning: {message}")
