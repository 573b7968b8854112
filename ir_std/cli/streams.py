"""Write to the command line's standard output and standard error."""

import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from contextvars import ContextVar
from pathlib import Path
from threading import RLock
from typing import Any, TextIO, cast

from ir_std._system.signals import mark_line_started
from ir_std._system.text import escape_controls, escape_line, escape_unencodable
from ir_std.errors import UsageError

PROGRAM = "ir_std"


class ReaderGoneError(Exception):
    """Error if the program that reads the output, such as ``head``, has ended."""


class Output:
    """Wrapper for standard output that raises ir_std's own errors if writing fails.

    Control characters, and characters that the stream's encoding lacks, are escaped.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        """Return any other attribute of the stream, such as its encoding."""
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Write text.

        Raises
        ------
        ReaderGoneError
            If nobody reads the output any more.
        UsageError
            If writing fails for another reason.
        """
        encoding = self.stream.encoding or "utf-8"
        try:
            self.stream.write(escape_unencodable(escape_controls(text), encoding))
        except OSError as failed:
            raise self._failed(failed) from None
        return len(text)

    def flush(self) -> None:
        """Write the buffered text; raise the same errors as :meth:`write`."""
        try:
            self.stream.flush()
        except OSError as failed:
            raise self._failed(failed) from None

    def _failed(self, failed: OSError) -> Exception:
        # When Python ends, it writes the rest of the buffer, and that would fail again.
        with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), self.stream.fileno())
        if isinstance(failed, BrokenPipeError):
            return ReaderGoneError()
        return UsageError(f"standard output cannot be written ({failed.strerror})")


@contextmanager
def checked_output() -> Iterator[None]:
    """Send all printed text through :class:`Output`, and flush it at the end."""
    with ExitStack() as stack:
        # If standard output is closed, sys.stdout is None, and print would fail silently.
        out = Output(
            sys.stdout or stack.enter_context(os.fdopen(os.open(os.devnull, os.O_RDONLY), "w"))
        )
        stack.callback(out.flush)
        stack.enter_context(redirect_stdout(cast("TextIO", out)))
        yield


class _Shown:
    """Record of the messages printed so far, the notes to print, and the progress bar."""

    def __init__(self, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet, self.verbose = quiet, verbose and not quiet
        self.said: set[str] = set()
        self.bar: Any = None


_shown: ContextVar[_Shown] = ContextVar("shown", default=_Shown())  # noqa: B039


class _LogLines(logging.Handler):
    """Handler that prints ir_std's log messages, such as the factor set in use."""

    def emit(self, record: logging.LogRecord) -> None:
        (warn if record.levelno >= logging.WARNING else note)(record.getMessage())


@contextmanager
def messages_shown(quiet: bool = False, verbose: bool = False) -> Iterator[None]:
    """Print each logged message once; if ``quiet`` is True, print no notes."""
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


@contextmanager
def progress(total: int | None = None) -> Iterator[Callable[[Iterable[Any]], Iterator[Any]]]:
    """Show how many of `total` runs are done, and yield a function that counts the runs.

    Nothing is shown in the first :data:`PROGRESS_DELAY` seconds, with ``--quiet``, or if standard
    error is not a terminal.
    """
    shown = _shown.get()
    if shown.quiet or sys.stderr is None or not sys.stderr.isatty():
        yield iter
        return
    bar = shown.bar = _progress_bar(total)

    def count(items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            with suppress(OSError):  # The terminal may be gone.
                bar.update()
            yield item

    try:
        yield count
    finally:
        shown.bar = None
        with suppress(OSError):
            bar.close()
        mark_line_started(False)


def _progress_bar(total: int | None) -> Any:
    from tqdm import tqdm  # ir_datasets requires tqdm.

    class Bar(tqdm):
        is_drawn = False
        monitor_interval = 0  # A monitor thread could receive signals.

        def display(self, *args: Any, **options: Any) -> None:
            self.is_drawn = True
            mark_line_started(True)
            super().display(*args, **options)

    Bar.set_lock(RLock())  # tqdm's own lock is shared by processes, and may start a process.
    form = {"unit": " runs", "leave": False, "dynamic_ncols": True, "file": sys.stderr}
    return Bar(total=total, delay=PROGRESS_DELAY, **form)


def note(message: str) -> None:
    """Print a note about the results to standard error, unless ``--quiet`` is given."""
    if not _shown.get().quiet:
        _print_once(message)


def detail(message: str) -> None:
    """Print a note only if ``--verbose`` is given."""
    if _shown.get().verbose:
        _print_once(message)


def warn(message: str) -> None:
    """Print a warning, even if ``--quiet`` suppresses notes."""
    _print_once(f"warning: {message}")


def _print_once(message: str) -> None:
    said = _shown.get().said
    if message not in said:
        said.add(message)
        _print_message(message)


def _print_message(message: str) -> None:
    if sys.stderr is not None:  # With file=None, print would use standard output.
        with suppress(OSError):  # Standard error may have no reader.
            if (bar := _shown.get().bar) is not None and bar.is_drawn:
                bar.clear()
            print(f"{PROGRAM}: {escape_line(message)}", file=sys.stderr, flush=True)


def fail(message: str) -> int:
    """Print an error on one line, and return the exit status."""
    _print_message(f"error: {' '.join(str(message).split())}")
    return 2
