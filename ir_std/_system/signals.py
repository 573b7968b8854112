"""End the program on a signal: at once, with one line, and nothing left behind.

Only our own process does this; a program that imports ir_std keeps its signal handlers.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

ENDING = frozenset(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Ctrl-C, a scheduler that ends a job, and a terminal that was closed."""

_clean_ups: list[Callable[[], object]] = []
_blocked = False
_line_begun = False
_pending: list[int] = []


def end_on_signals() -> None:
    """End this process on a signal, except for the signals that it was started to ignore."""
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)


def ignore_signals() -> None:
    """Let this process exit undisturbed once its work is done.

    Python puts the system's own handlers back before it is gone, but keeps a signal ignored.
    """
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def _end(number: int, _: FrameType | None) -> None:
    if _blocked:  # another thread, such as one of numpy's, let it through
        _pending.append(number)
        return
    # An exception may be swallowed, as in a finalizer or an import, or leave a lock locked.  So the
    # process ends here, once it has cleaned up.
    ignore_signals()
    with suppress(OSError):
        os.write(2, b"\n" * _line_begun + b"ir_std: error: interrupted\n")
    for clean_up in _clean_ups:
        with suppress(OSError):
            clean_up()
    os._exit(128 + number)


def mark_line_started(begun: bool) -> None:
    """Record whether the last message must begin on a new line of standard error."""
    global _line_begun  # noqa: PLW0603 - the handler has no other way to know
    _line_begun = begun


@contextmanager
def cleanup_on_exit(clean_up: Callable[[], object]) -> Iterator[None]:
    """Call ``clean_up`` on leaving the block, even if a signal ends the program."""
    _clean_ups.append(clean_up)
    try:
        yield
    finally:
        clean_up()
        _clean_ups.remove(clean_up)


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Hold signals back from this process and its children; for the main thread."""
    global _blocked  # noqa: PLW0603 - the handler has no other way to know
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    _blocked = True
    try:
        yield
    finally:
        _blocked = False
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if _pending:
            _end(_pending[0], None)
