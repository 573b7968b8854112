"""End the program at once on a signal: print one line and remove temporary files.

Only the program ``ir_std`` does this; a program that imports ir_std keeps its signal handlers.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

ENDING = frozenset(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Signals that are sent by Ctrl-C, by a scheduler that ends a job, and by a closed terminal."""

_clean_ups: list[Callable[[], object]] = []
_blocked = False
_line_begun = False
_pending: list[int] = []


def end_on_signals() -> None:
    """End this process on a signal, unless the process ignored the signal from the start."""
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)


def ignore_signals() -> None:
    """Ignore signals, so that this process can exit undisturbed once its work is done.

    Before Python exits, it restores the system's default handlers, but ignored signals stay
    ignored.
    """
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def _end(number: int, _: FrameType | None) -> None:
    if _blocked:  # the signal arrived in another thread, such as numpy's
        _pending.append(number)
        return
    # An exception could be swallowed, for example in a finalizer or during an import, or it could
    # leave a lock locked.  So no exception is raised: the process cleans up and ends here.
    ignore_signals()
    with suppress(OSError):
        os.write(2, b"\n" * _line_begun + b"ir_std: error: interrupted\n")
    for clean_up in _clean_ups:
        with suppress(OSError):
            clean_up()
    os._exit(128 + number)


def mark_line_started(begun: bool) -> None:
    """Record whether a line has begun, because the last message must be on a new line."""
    global _line_begun  # noqa: PLW0603 - the handler has no other way to know
    _line_begun = begun


@contextmanager
def cleanup_on_exit(clean_up: Callable[[], object]) -> Iterator[None]:
    """Call ``clean_up`` at the end of the block, even if a signal ends the program."""
    _clean_ups.append(clean_up)
    try:
        yield
    finally:
        clean_up()
        _clean_ups.remove(clean_up)


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Block signals in this process and in its new child processes; call it in the main thread."""
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
