"""Files out: whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ir_std.errors import InputError


def write_whole(file: str | os.PathLike[str], content: bytes,
                inputs: Iterable[str | os.PathLike[str]] = ()) -> None:
    """Write a file that appears whole or not at all; an older one is replaced.

    Parameters
    ----------
    file : str or path
    content : bytes
    inputs : iterable of str or path
        Files that must not be replaced.

    Raises
    ------
    InputError
        If ``file`` is one of the inputs or no regular file, or cannot be written.
    """
    import tempfile

    target = Path(file).resolve()
    if target in {Path(name).resolve() for name in inputs}:
        raise InputError.at(file, None, "is one of the inputs", "name a new file")
    if target.exists() and not target.is_file():
        raise InputError.at(file, None, "is not a regular file", "name a new file")
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as scratch:
            part = Path(scratch) / "part"
            part.write_bytes(content)
            os.replace(part, target)
    except OSError as failed:
        raise InputError.at(file, None, f"cannot be written ({failed.strerror or failed})",
                            "name a file in a folder that can be written to") from None
