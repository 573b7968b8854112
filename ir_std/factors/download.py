"""Factor sets downloaded by HTTP, never more than is allowed."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from urllib.parse import urlsplit

from ir_std._system.files import temporary_folder_beside
from ir_std.errors import InputError, UsageError
from ir_std.factors.store import LARGEST

LONGEST = 600
"""Seconds that a download may take."""


def is_url(place: str) -> bool:
    """Whether a place is a URL, not a path."""
    return "://" in place


def fetch(source: str) -> bytes:
    """Return the content of ``URL#sha256=HEX``.

    Raises
    ------
    InputError
        If it cannot be downloaded, is too large, or has another SHA-256.
    UsageError
        If the URL is not of http or https, has no hash, or pooch is not installed.
    """
    place, _, sha256 = source.partition("#sha256=")
    try:
        scheme = urlsplit(place).scheme
    except ValueError as wrong:
        raise UsageError(f"{place}: {wrong}; give an address of http or https") from None
    if scheme not in ("http", "https"):
        raise UsageError(f"{place}: only http and https are supported")
    if not re.fullmatch("[0-9a-f]{64}", sha256):
        raise UsageError(
            f"{place} has no SHA-256; write URL#sha256=HEX, as its author states it "
            "(ir_std factors show FILE)"
        )
    try:
        import pooch
    except ImportError:
        raise UsageError("sets at a URL need pooch: pip install 'ir-std[packs]'") from None
    from requests import RequestException

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")  # it would print hashes that are checked here
    limit = _Limit(place)
    try:
        with temporary_folder_beside(Path(tempfile.gettempdir(), "ir_std")) as scratch:
            retrieve = partial(
                pooch.retrieve,
                place,
                f"sha256:{sha256}",
                fname="download",
                path=scratch,
                downloader=pooch.HTTPDownloader(progressbar=limit, timeout=60),
            )
            return Path(_within(limit, retrieve)).read_bytes()
    except (RequestException, OSError, ValueError) as failed:
        if isinstance(failed, InputError):
            raise
        raise InputError.at(
            place, f"cannot be downloaded ({failed})", "check the address"
        ) from None
    finally:
        logger.setLevel(level)


def _within(limit: _Limit, retrieve: Callable[[], str]) -> str:
    """What ``retrieve`` gives, if it does so in time: a server may send a byte now and then."""
    done: SimpleQueue[str | Exception] = SimpleQueue()

    def work() -> None:
        try:
            done.put(retrieve())
        except Exception as failed:  # raised again below
            done.put(failed)

    Thread(target=work, daemon=True).start()
    try:
        result = done.get(timeout=LONGEST)
    except Empty:
        limit.over = True
        raise limit.too_slow() from None
    if isinstance(result, Exception):
        try:
            raise result
        finally:
            del result  # it holds this frame, and the connection with it
    return result


class _Limit:
    """Ends a download that is too large or too slow; takes the place of pooch's progress bar."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.received = self.total = 0
        self.over = False

    def too_slow(self) -> InputError:
        return InputError.at(
            self.place, f"takes more than {LONGEST} seconds", "download it, and add the file"
        )

    def update(self, size: int) -> None:
        self.received += size
        if self.over:
            raise self.too_slow()
        if self.received > LARGEST:
            raise InputError.at(
                self.place, f"is larger than {LARGEST} bytes", "a file holds one factor set"
            )

    def reset(self) -> None:
        self.received = 0

    def close(self) -> None:
        pass
