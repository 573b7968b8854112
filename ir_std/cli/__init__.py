"""Command line, with one module per command.  Other packages hold the evaluation logic."""

from ir_std.cli.main import main

__all__ = ["main"]
