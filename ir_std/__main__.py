"""``python -m ir_std``; the console script sets up its process first, in ``ir_std_program``."""

import sys

from ir_std._system.signals import end_on_signals, ignore_signals
from ir_std.cli import main


def program() -> None:
    """Run the command line in a process of its own, which signals end."""
    end_on_signals()
    try:
        status = main()
    finally:
        ignore_signals()
    sys.exit(status)


if __name__ == "__main__":
    program()
