"""What the command line's own process does before anything else is imported.

A program that imports ir_std keeps its signals and its filters of warnings.
"""

from __future__ import annotations

import gc
import os
import sys
import warnings

from ir_std._memory import keep_freed_memory
from ir_std._system.signals import end_on_signals


def is_program() -> bool:
    """Whether this process was started as ir_std: by its script, or by ``python -m``."""
    given, whole = getattr(sys, "argv", []), sys.orig_argv
    if not 0 < len(given) < len(whole):
        return False
    # Before the arguments stands the script or, while Python looks for a module, its name.
    started = whole[-len(given)]
    return given[0] in ("-m", started) and os.path.basename(started).removeprefix("-m") in (
        "ir_std",
        "ir_std.exe",
    )


IS_PROGRAM = is_program()
"""What :func:`is_program` is before anything changes it."""

if IS_PROGRAM:
    end_on_signals()  # importing takes long enough to be interrupted
    gc.disable()  # what is imported stays; program() enables it
    keep_freed_memory()
    # What is multiplied here is small, and to start a thread for each processor takes numpy longer.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if not sys.warnoptions:
        # cwl-eval 1.0.12 has strings that Python warns of when it compiles them.  The option is
        # for the processes that this one starts.
        sys.warnoptions.append("ignore::SyntaxWarning")
        warnings.simplefilter("ignore", SyntaxWarning)
