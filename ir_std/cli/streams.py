"""Standard output and standard error, which the command line writes and others read."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import Any, TextIO

from ir_std._system.signals import set_line_begun
from ir_std._system.text import escape_controls, escape_line, escape_unencodable
from ir_std.errors import UsageError

PROGRAM = "ir_std"


class ReaderGoneError(Exception):
    """Nobody reads standard output any more, as behind ``head``: there is nothing left to do."""


class Output(io.TextIOBase):
    """Standard output whose failures are errors, and whose text can be shown.

    Control characters, and what the stream's encoding lacks, are written as escapes.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]  # that of io is an attribute
        """The stream's."""
        return self.stream.encoding or "utf-8"

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, text: str) -> int:
        """Write text; a UsageError if that fails, but a ReaderGoneError if nobody reads it."""
        try:
            self.stream.write(escape_unencodable(escape_controls(text), self.encoding))
        except OSError as failed:
            raise self._failed(failed) from None
        return len(text)

    def flush(self) -> None:
        """Write what is held; errors as of :meth:`write`."""
        if self.stream.closed:  # Python flushes once more when this object goes
            return
        try:
            self.stream.flush()
        except OSError as failed:
            raise self._failed(failed) from None

    def _failed(self, failed: OSError) -> Exception:
        # What is still held would fail again when Python ends.
        with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), self.stream.fileno())
        if isinstance(failed, BrokenPipeError):
            return ReaderGoneError()
        return UsageError(f"standard output cannot be written ({failed.strerror})")


@contextmanager
def checked_output() -> Iterator[None]:
    """Let what is printed inside go through :class:`Output`, and be written in the end."""
    stdout = sys.stdout
    with ExitStack() as stack:
        # Where standard output is closed Python has none, and print would be silent.
        out = Output(
            stdout or stack.enter_context(os.fdopen(os.open(os.devnull, os.O_RDONLY), "w"))
        )
        sys.stdout = out
        try:
            yield
        finally:
            sys.stdout = stdout
            out.flush()


_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def notes_suppressed(quiet: bool) -> Iterator[None]:
    """Leave out notes inside, if ``quiet``; warnings and errors stay."""
    token = _quiet.set(quiet)
    try:
        yield
    finally:
        _quiet.reset(token)


AFTER = 1.0
"""Seconds of work before progress is shown."""


class _Progress:
    """Counts runs, and draws that on standard error once the work takes its time."""

    def __init__(self, total: int | None) -> None:
        self.total, self.done, self.began = total, 0, monotonic()
        self.bar: Any = None

    def count(self, items: Iterable[Any]) -> Iterator[Any]:
        """The items; may be called again for more of them."""
        for item in items:
            self.done += 1
            with suppress(OSError):  # nobody is there to look
                if self.bar is not None:
                    self.bar.update()
                elif monotonic() - self.began >= AFTER:
                    self.bar = self._drawn()
            yield item

    def _drawn(self) -> Any:
        from tqdm import tqdm  # comes with ir_datasets

        class Bar(tqdm):
            monitor_interval = 0  # no thread of its own, which signals could reach

        Bar.set_lock(RLock())  # not one shared by processes, which may start one
        set_line_begun(True)
        return Bar(
            total=self.total,
            initial=self.done,
            unit=" runs",
            leave=False,
            dynamic_ncols=True,
            file=sys.stderr,
        )

    def clear(self) -> None:
        """Leave the line to something else; the next run draws it again."""
        if self.bar is not None:
            self.bar.clear()

    def close(self) -> None:
        if self.bar is not None:
            with suppress(OSError):
                self.bar.close()
            set_line_begun(False)


_progress: ContextVar[_Progress | None] = ContextVar("progress", default=None)


@contextmanager
def progress(total: int | None = None) -> Iterator[Callable[[Iterable[Any]], Iterator[Any]]]:
    """Show how many runs are done, of ``total``: gives what counts those that come through it.

    Nothing is shown before :data:`AFTER` seconds, where standard error is no terminal, and where
    notes are left out.
    """
    if _quiet.get() or sys.stderr is None or not sys.stderr.isatty():
        yield iter
        return
    shown = _Progress(total)
    token = _progress.set(shown)
    try:
        yield shown.count
    finally:
        _progress.reset(token)
        shown.close()


def note(message: str) -> None:
    """Tell the user something about the results, beside them."""
    if not _quiet.get():
        _print_message(message)


def warn(message: str) -> None:
    """Warn the user, even if notes are left out."""
    _print_message(f"warning: {message}")


def _print_message(message: str) -> None:
    if sys.stderr is not None:  # print would take standard output instead
        with suppress(OSError):  # nobody is reading
            if shown := _progress.get():
                shown.clear()
            print(f"{PROGRAM}: {escape_line(message)}", file=sys.stderr, flush=True)


def fail(message: str) -> int:
    """Say what is wrong in one line; the exit status."""
    _print_message(f"error: {' '.join(str(message).split())}")
    return 2
