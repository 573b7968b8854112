"""``python -m ir_std``, and what the script ``ir_std`` runs."""

import atexit
import gc
import os
import sys
from typing import NoReturn

from ir_std._start import IS_PROGRAM
from ir_std._system.signals import end_on_signals, ignore_signals
from ir_std.cli import main


def program() -> None:
    """Run the command line as a process of its own: signals end it."""
    end_on_signals()
    gc.freeze()  # what was imported stays, and need not be looked through, now or at the end
    gc.enable()
    try:
        status = main()
    finally:
        ignore_signals()
    if not IS_PROGRAM or sys.flags.inspect:  # profiled, or looked at afterwards
        sys.exit(status)
    _end(status)


def _end(status: int) -> NoReturn:
    """End at once, as mypy does: to free what is held piece by piece takes longer."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    program()
