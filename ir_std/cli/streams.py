"""Standard output and standard error, which the command line writes and others read."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TextIO

from ir_std._text import encodable, one_line, visible
from ir_std.errors import UsageError

PROGRAM = "ir_std"


class Output(io.TextIOBase):
    """Standard output whose failures are errors, and whose text can be shown.

    Control characters, and what the stream's encoding lacks, are written as escapes.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, text: str) -> int:
        """Write text; a UsageError if that fails."""
        try:
            self.stream.write(encodable(visible(text), self.stream.encoding or "utf-8"))
        except OSError as failed:
            raise self._failed(failed) from None
        return len(text)

    def flush(self) -> None:
        """Write what is held; a UsageError if that fails."""
        if self.stream.closed:  # Python flushes once more when this object goes
            return
        try:
            self.stream.flush()
        except OSError as failed:
            raise self._failed(failed) from None

    def _failed(self, failed: OSError) -> UsageError:
        # What is still held would fail again when Python ends.
        with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), self.stream.fileno())
        return UsageError(f"standard output cannot be written ({failed.strerror})")


@contextmanager
def checked_output() -> Iterator[None]:
    """Let what is printed inside go through :class:`Output`, and be written in the end."""
    given = sys.stdout
    with ExitStack() as ends:
        # Where standard output is closed Python has none, and print would be silent.
        out = Output(given or ends.enter_context(os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")))
        sys.stdout = out
        try:
            yield
        finally:
            sys.stdout = given
            out.flush()


_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def quietly(quiet: bool) -> Iterator[None]:
    """Leave out notes inside, if ``quiet``; warnings and errors stay."""
    token = _quiet.set(quiet)
    try:
        yield
    finally:
        _quiet.reset(token)


def note(message: str) -> None:
    """Tell the user something about the results, beside them."""
    if not _quiet.get():
        _tell(message)


def warn(message: str) -> None:
    """Warn the user, even if notes are left out."""
    _tell(f"warning: {message}")


def _tell(message: str) -> None:
    if sys.stderr is not None:  # print would take standard output instead
        with suppress(OSError):  # nobody is there to be told
            print(f"{PROGRAM}: {one_line(message)}", file=sys.stderr, flush=True)


def fail(message: str) -> int:
    """Say what is wrong in one line; the exit status."""
    _tell(f"error: {' '.join(str(message).split())}")
    return 2
