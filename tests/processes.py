"""Processes whose output the tests check."""

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
"""Environment of a process that imports what the tests import."""


def run_process(
    command: Sequence[Any], *, check: bool = False, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Execute a command to its end, and keep what it prints."""
    return subprocess.run(command, capture_output=True, text=True, check=check, **options)
