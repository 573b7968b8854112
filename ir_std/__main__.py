"""``python -m ir_std``, and what the script ``ir_std`` runs."""

import gc
import sys

from ir_std._signals import end_on_signals, ignore_signals
from ir_std.cli import main


def program() -> None:
    """Run the command line as a process of its own: signals end it."""
    end_on_signals()
    gc.freeze()  # what was imported stays, and need not be looked through, now or at the end
    gc.enable()
    try:
        sys.exit(main())
    finally:
        ignore_signals()


if __name__ == "__main__":
    program()
