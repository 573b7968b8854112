"""Processes whose output the tests check."""

import subprocess
from collections.abc import Sequence
from typing import Any


def run_process(
    command: Sequence[Any], *, check: bool = False, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Execute a command to its end, and keep what it prints."""
    return subprocess.run(command, capture_output=True, text=True, check=check, **options)
