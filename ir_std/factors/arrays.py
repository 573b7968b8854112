"""The arrays among a factor set's files: parsed with clear errors, written at full precision."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from tokenize import TokenError
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
import numpy.typing as npt

from ir_std.errors import InputError
from ir_std.factors.files import LARGEST
from ir_std.factors.storage import quoted
from ir_std.reading import ARCHIVE_ERRORS, read_zip

SAME = ";"
"""Stands between the names of arrays that are the same, and stored once."""
_MOST = 10_000
"""Arrays that a file may have."""
_ARRAY_ERRORS = (ValueError, SyntaxError, TokenError, MemoryError, struct.error)
"""What numpy raises on an array that is damaged."""


def parse_arrays(content: bytes, file: object, kinds: str) -> dict[str, npt.NDArray[Any]]:
    """Parse an ``.npz``: arrays by name.

    Parameters
    ----------
    content : bytes
    file : path
    kinds : str
        The kinds of numbers allowed, as numpy codes them: ``"f"`` or ``"iu"``.

    Raises
    ------
    InputError
        If it is no ``.npz`` of such arrays, or larger than a factor set can be.
    """
    try:
        members = read_zip(
            BytesIO(content), file, LARGEST, _MOST, "an array of numbers a measure is expected"
        )
        if not members:
            raise ValueError("it is empty")
        arrays = {name: _array(member, name, kinds) for name, member in members}
        return {
            measure: array
            for name, array in arrays.items()
            for measure in name.removesuffix(".npy").split(SAME)
        }
    except InputError:
        raise
    except (*ARCHIVE_ERRORS, *_ARRAY_ERRORS) as broken:
        raise InputError.at(
            file,
            f"cannot be read ({quoted(str(broken))[1:-1]})",
            "an .npz of one array of numbers a measure is expected",
        ) from None


def _array(content: bytes, name: str, kinds: str) -> npt.NDArray[Any]:
    if not name.endswith(".npy"):
        raise ValueError(f"{quoted(name)} is no .npy")
    stream = BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version not in _HEADERS:
        raise ValueError(f"{quoted(name)} is of version {version}")
    shape, by_column, dtype = _HEADERS[version](stream)
    rest = len(content) - stream.tell()
    if dtype.kind not in kinds or dtype.itemsize > 8:
        raise ValueError(f"{quoted(name)} holds {dtype}")
    if len(shape) not in (1, 2) or math.prod(shape) * dtype.itemsize != rest or min(shape) < 0:
        raise ValueError(f"{quoted(name)} has shape {quoted(shape)} and {rest} bytes")
    array = np.frombuffer(content, dtype, offset=stream.tell())
    return array.reshape(shape, order="F" if by_column else "C")


_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def write_arrays(
    file: Path, arrays: Mapping[str, npt.NDArray[Any]], compression: int = ZIP_DEFLATED
) -> None:
    """Write an ``.npz``, without pickles and times: the same arrays give the same bytes."""
    names: dict[tuple[object, ...], list[str]] = {}
    for name, array in arrays.items():
        names.setdefault((array.dtype.str, array.shape, array.tobytes()), []).append(name)
    with ZipFile(file, "w") as archive:
        for same in names.values():
            content = BytesIO()
            np.lib.format.write_array(content, arrays[same[0]], allow_pickle=False)
            member = ZipInfo(f"{SAME.join(same)}.npy")
            member.compress_type, member.create_system = compression, 3
            archive.writestr(member, content.getvalue())
