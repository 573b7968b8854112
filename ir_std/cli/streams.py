"""Standard output and standard error, which the command line writes and others read."""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from threading import RLock
from typing import Any, TextIO

from ir_std._system.signals import mark_line_started
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
        """Return True."""
        return True

    def isatty(self) -> bool:
        """Check whether people look at it."""
        return self.stream.isatty()

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


class _Shown:
    """Messages that were printed to standard error, and the notes that the user wants."""

    def __init__(self, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet, self.verbose = quiet, verbose and not quiet
        self.said: set[str] = set()


_shown: ContextVar[_Shown] = ContextVar("shown", default=_Shown())  # noqa: B039


class _LogLines(logging.Handler):
    """Prints what ir_std logs, such as which factor set is used."""

    def emit(self, record: logging.LogRecord) -> None:
        (warn if record.levelno >= logging.WARNING else note)(record.getMessage())


@contextmanager
def messages_shown(quiet: bool = False, verbose: bool = False) -> Iterator[None]:
    """Print what is logged inside, each message once; notes unless ``quiet``."""
    logger, handler = logging.getLogger("ir_std"), _LogLines()
    token, level = _shown.set(_Shown(quiet, verbose)), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)
        _shown.reset(token)


PROGRESS_DELAY = 1.0
"""Seconds of work before progress is shown."""


_bar: ContextVar[Any] = ContextVar("bar", default=None)


@contextmanager
def progress(total: int | None = None) -> Iterator[Callable[[Iterable[Any]], Iterator[Any]]]:
    """Show how many runs are done, of `total`, and yield a function that counts the runs.

    Nothing is shown in the first :data:`PROGRESS_DELAY` seconds, with ``--quiet``, or if standard
    error is not a terminal.
    """
    if _shown.get().quiet or sys.stderr is None or not sys.stderr.isatty():
        yield iter
        return
    bar = _progress_bar(total)
    token = _bar.set(bar)

    def count(items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            with suppress(OSError):  # The terminal may be gone.
                bar.update()
            yield item

    try:
        yield count
    finally:
        _bar.reset(token)
        with suppress(OSError):
            bar.close()
        mark_line_started(False)


def _progress_bar(total: int | None) -> Any:
    from tqdm import tqdm  # It comes with ir_datasets.

    class Bar(tqdm):
        is_drawn = False
        monitor_interval = 0  # A thread of its own could get signals.

        def display(self, *args: Any, **options: Any) -> None:
            self.is_drawn = True
            mark_line_started(True)
            super().display(*args, **options)

    Bar.set_lock(RLock())  # A lock that processes share may start a process.
    form = {"unit": " runs", "leave": False, "dynamic_ncols": True, "file": sys.stderr}
    return Bar(total=total, delay=PROGRESS_DELAY, **form)


def note(message: str) -> None:
    """Tell the user something about the results, next to them, unless ``--quiet``."""
    if not _shown.get().quiet:
        _print_once(message)


def detail(message: str) -> None:
    """Tell the user something that is printed with ``--verbose`` only."""
    if _shown.get().verbose:
        _print_once(message)


def warn(message: str) -> None:
    """Warn the user, even if notes are left out."""
    _print_once(f"warning: {message}")


def _print_once(message: str) -> None:
    said = _shown.get().said
    if message not in said:
        said.add(message)
        _print_message(message)


def _print_message(message: str) -> None:
    if sys.stderr is not None:  # print would take standard output instead
        with suppress(OSError):  # nobody is reading
            if (bar := _bar.get()) is not None and bar.is_drawn:
                bar.clear()
            print(f"{PROGRAM}: {escape_line(message)}", file=sys.stderr, flush=True)


def fail(message: str) -> int:
    """Print the error in one line, and return the exit status."""
    _print_message(f"error: {' '.join(str(message).split())}")
    return 2
