"""Packs and indexes fetched from disk or by HTTP, never more than is allowed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from ir_std._system.files import read_bounded
from ir_std.errors import InputError, UsageError


def is_url(place: str) -> bool:
    """Whether a place is a URL, not a path."""
    return "://" in place


def fetch(place: str, largest: int, sha256: str | None = None) -> bytes:
    """The content of a file or URL, of at most ``largest`` bytes.

    Raises
    ------
    InputError
        If it cannot be read, or is larger, or has another SHA-256.
    UsageError
        If the URL is not of http or https, or pooch is not installed.
    """
    if not is_url(place):
        return read_bounded(place, largest, "name a pack or an index that can be read")
    if urlsplit(place).scheme not in ("http", "https"):
        raise UsageError(f"{place}: http and https are read")
    try:
        import pooch
    except ImportError:
        raise UsageError("packs at a URL need pooch: pip install 'ir-std[packs]'") from None
    from requests import RequestException

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")  # it would print hashes that are checked here
    try:
        with tempfile.TemporaryDirectory() as scratch:
            file = pooch.retrieve(
                place,
                f"sha256:{sha256}" if sha256 else None,
                fname="download",
                path=scratch,
                downloader=pooch.HTTPDownloader(progressbar=_SizeLimit(place, largest), timeout=60),
            )
            return Path(file).read_bytes()
    except (RequestException, OSError, ValueError) as failed:
        if isinstance(failed, InputError):
            raise
        raise InputError.at(
            place, None, f"cannot be downloaded ({failed})", "check the address"
        ) from None
    finally:
        logger.setLevel(level)


class _SizeLimit:
    """Ends a download that is too large; takes the place of pooch's progress bar."""

    def __init__(self, place: str, largest: int) -> None:
        self.place, self.largest = place, largest
        self.received = self.total = 0

    def update(self, size: int) -> None:
        self.received += size
        if self.received > self.largest:
            raise InputError.at(
                self.place,
                None,
                f"is larger than {self.largest} bytes",
                "a pack holds one factor set",
            )

    def reset(self) -> None:
        self.received = 0

    def close(self) -> None:
        pass
