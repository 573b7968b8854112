"""The file of a factor set: an ``.npz`` file that holds arrays and a description.

The description is in ``set.json``.  numpy can open the file in one line:
``np.load("factors/trec8-adhoc.npz")["scores/AP"]``.  The whole file is read at once, and each array
is unpacked when it is first used.
"""

import json
import math
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import BytesIO
from tokenize import TokenError
from typing import Any, NoReturn, TypeVar
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np

from ir_std._arrays import Array
from ir_std._system.files import read_bounded
from ir_std.errors import InputError

Value = TypeVar("Value")

SUFFIX = ".npz"
DESCRIPTION = "set.json"
SAME_SCORES = "same_scores"
"""Field of ``set.json`` that maps a measure to a measure with the same scores, which are stored
only once."""
LARGEST = 1 << 26
"""Maximum size of a file in bytes (64 MiB)."""
LARGEST_UNPACKED = 1 << 28
"""Maximum size of all arrays of a file in bytes (256 MiB)."""
LARGEST_JSON = 1 << 22
"""Maximum size of a JSON text in bytes.  The parsed JSON needs up to 30 times as much memory as the
text."""
MOST_ARRAYS = 10_000
LEVEL = 9
"""Compression level of deflate."""

_ADVICE = "expected a factor set that ir_std wrote"
_DAMAGE = (
    BadZipFile,
    EOFError,
    KeyError,
    MemoryError,
    NotImplementedError,
    OSError,
    RuntimeError,
    SyntaxError,
    TokenError,
    ValueError,
    struct.error,
    zlib.error,
)
"""Exceptions that zipfile, zlib and numpy raise on a damaged file."""
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class FrozenDict(dict[str, Value]):
    """A dict that refuses changes; ``frozen | {...}`` makes an ordinary dict."""

    def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError("a factor set is frozen; make another one")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return FrozenDict, (dict(self),)


def freeze(value: Any) -> Any:
    """Return a read-only copy of a value, including all values inside it."""
    if isinstance(value, Mapping):
        return FrozenDict({key: freeze(item) for key, item in value.items()})
    if isinstance(value, (list, tuple)):
        return tuple(map(freeze, value))
    return value


class LazyDict(Mapping[str, Value]):
    """A read-only mapping that computes each value when it is first used."""

    def __init__(self, names: Iterable[str], compute: Callable[[str], Value]) -> None:
        self._names, self._compute = dict.fromkeys(names), compute
        self._known: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        if name not in self._known:
            if name not in self._names:
                raise KeyError(name)
            self._known[name] = self._compute(name)
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def check_suffix(file: str | os.PathLike[str]) -> None:
    """Raise an InputError if the name of a set's file does not end with ``.npz``."""
    if not os.fspath(file).endswith(SUFFIX):
        raise InputError.at(file, f"does not end with {SUFFIX}", f"name a file NAME{SUFFIX}")


def parse_file(content: bytes, file: object) -> tuple[dict[str, Any], Mapping[str, Array]]:
    """Parse the content of a factor set's file into its description and its arrays.

    Raises
    ------
    InputError
        If the file is damaged.  If an array is damaged, the error is raised when the array is first
        used.
    """
    try:
        archive = ZipFile(BytesIO(content))
        members = {member.filename: member for member in archive.infolist()}
        _check_members(archive.infolist(), members)
        description = parse_json(_unpack(archive, members.pop(DESCRIPTION)), file)
    except _DAMAGE as broken:
        raise _damaged(file, broken) from None

    if not isinstance(description, dict):
        raise InputError.at(file, f"{DESCRIPTION} is not an object", _ADVICE)
    names = {name.removesuffix(".npy") for name in members}
    same = description.pop(SAME_SCORES, {})
    if not isinstance(same, dict) or any(f"scores/{measure}" in names for measure in same):
        raise InputError.at(file, f"{SAME_SCORES} is wrong", _ADVICE)
    copies = {f"scores/{measure}": f"scores/{original}" for measure, original in same.items()}
    names |= {copy for copy, original in copies.items() if original in names}

    def array(name: str) -> Array:
        if name in copies:
            return arrays[copies[name]]
        try:
            return _parse_array(_unpack(archive, members[f"{name}.npy"]))
        except _DAMAGE as broken:
            raise _damaged(f"{file}, {name}", broken) from None

    arrays = LazyDict(sorted(names), array)
    return description, arrays


def _damaged(file: object, broken: Exception) -> InputError:
    if isinstance(broken, InputError):
        return broken
    reason = quoted(str(broken) or type(broken).__name__)[1:-1]
    return InputError.at(file, f"cannot be read ({reason})", _ADVICE)


def _check_members(listed: list[ZipInfo], members: Mapping[str, ZipInfo]) -> None:
    if DESCRIPTION not in members:
        raise ValueError(f"it has no {DESCRIPTION}")
    if len(members) < len(listed) or len(listed) > MOST_ARRAYS:
        raise ValueError("an array occurs twice, or there are too many arrays")
    if sum(member.file_size for member in listed) > LARGEST_UNPACKED:
        raise ValueError(f"its arrays have more than {LARGEST_UNPACKED:,} bytes")
    for member in listed:
        if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise ValueError(f"{member.filename} uses an unsupported compression")
        if member.filename != DESCRIPTION and not member.filename.endswith(".npy"):
            raise ValueError(f"it has an unexpected file, {member.filename}")


def _unpack(archive: ZipFile, member: ZipInfo) -> bytes:
    """Return the content of a member, and check its length and its checksum."""
    with archive.open(member) as stream:
        content = stream.read(member.file_size)
        if len(content) != member.file_size or stream.read(1):
            raise ValueError("it ends early")
    return content


def _parse_array(content: bytes) -> Array:
    stream = BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version not in _HEADERS:
        raise ValueError(f"an array has the unsupported version {version}")
    shape, by_column, dtype = _HEADERS[version](stream)
    rest = len(content) - stream.tell()
    if dtype.kind not in "fiuU" or (dtype.kind != "U" and dtype.itemsize > 8) or not dtype.itemsize:
        raise ValueError(f"an array has the unsupported type {dtype}")
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != rest:
        raise ValueError(f"an array of shape {shape} cannot have {rest} bytes")
    array = np.frombuffer(content, dtype, offset=stream.tell())
    return array.reshape(shape, order="F" if by_column else "C")


def to_bytes(description: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """Return the content of a factor set's file.

    The same set always gives the same bytes, because names are sorted, times are fixed, and nothing
    is pickled.
    """
    content = BytesIO()
    with ZipFile(content, "w", ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        for name, member in _members(description, arrays):
            entry = ZipInfo(name)
            entry.compress_type, entry.create_system = ZIP_DEFLATED, 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, member)
    return content.getvalue()


def content_hash(description: Mapping[str, Any], arrays: Mapping[str, Array]) -> str:
    """Return the SHA-256 of the description and arrays, independent of compression."""
    import hashlib  # slow, and reading a set does not need it

    digest = hashlib.sha256()
    for name, member in _members(description, arrays):
        digest.update(f"{name}\n{len(member)}\n".encode())
        digest.update(member)
    return digest.hexdigest()


def _members(
    description: Mapping[str, Any], arrays: Mapping[str, Array]
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file in the set's file."""
    first: dict[bytes, str] = {}
    same: dict[str, str] = {}
    for name in sorted(name for name in arrays if name.startswith("scores/")):
        original = first.setdefault(arrays[name].tobytes(), name)
        if original != name:
            same[name.removeprefix("scores/")] = original.removeprefix("scores/")
    described = {**description, SAME_SCORES: same} if same else description
    text = json.dumps(described, indent=1, ensure_ascii=False)
    yield DESCRIPTION, f"{text}\n".encode()
    stored = [name for name in arrays if name.removeprefix("scores/") not in same]
    for name in sorted(stored, key=lambda name: ("/" in name, name)):
        stream = BytesIO()
        array = np.ascontiguousarray(arrays[name])
        np.lib.format.write_array(
            stream, array.astype(array.dtype.newbyteorder("<")), allow_pickle=False
        )
        yield f"{name}.npy", stream.getvalue()


def parse_json(content: bytes, file: object) -> Any:
    """Parse a JSON text in UTF-8.

    Raises
    ------
    InputError
        If the text is not JSON, or is larger than :data:`LARGEST_JSON`.
    """
    if len(content) > LARGEST_JSON:
        raise InputError.at(
            file, f"has more than {LARGEST_JSON:,} bytes", "name a file that is one JSON object"
        )
    try:
        return json.loads(content.decode())
    except (ValueError, RecursionError) as broken:  # ValueError also for huge numbers
        raise InputError.at(
            file,
            f"cannot be read as JSON in UTF-8 ({broken})",
            "expected one JSON object",
            line=getattr(broken, "lineno", None),
        ) from None


def read_text(file: str | os.PathLike[str], advice: str = "name a readable file") -> str:
    """Read a file of UTF-8 text.

    Raises
    ------
    InputError
        If the file cannot be read, is too large, or is not UTF-8.
    """
    try:
        return read_bounded(file, LARGEST, advice).decode()
    except UnicodeDecodeError:
        raise InputError.at(file, "not UTF-8", "expected UTF-8 text") from None


def quoted(value: object) -> str:
    """Quote a value for messages, and shorten long values."""
    try:
        written = repr(value)
    except (ValueError, RecursionError):  # huge numbers, or deeply nested lists
        return "a value that cannot be shown"
    return written if len(written) <= 80 else f"{written[:77]}..."
