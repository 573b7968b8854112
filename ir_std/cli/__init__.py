"""The command line: a module per command, no logic of evaluation."""

from ir_std.cli.main import main

__all__ = ["main"]
