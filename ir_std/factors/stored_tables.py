"""The tables of a factor set as they are stored: read as late as possible, not verified."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy.typing as npt

from ir_std.errors import InputError
from ir_std.factors.description import Description
from ir_std.factors.files import DESCRIPTION, snapshot
from ir_std.factors.storage import parse_info, parse_table, parse_topics

Arrays = Mapping[str, npt.NDArray[Any]]
FLOATS = ("scores.npz", "means.npz")

Set = TypeVar("Set", bound="StoredTables")


class StoredTables(Description):
    """A factor set with its tables as they are stored; see :class:`.FactorSet`."""

    _stored: Mapping[str, bytes | Arrays]

    @classmethod
    def load(cls: type[Set], path: str | os.PathLike[str]) -> Set:
        """Read a set's folder: all files as they are now; tables are parsed when first used.

        Raises
        ------
        InputError
            Naming file and line if a file is missing or broken.
        """
        return cls._read(Path(path), snapshot(path))

    @classmethod
    def described(cls: type[Set], path: str | os.PathLike[str]) -> Set:
        """As :meth:`load`, but the tables' files are read when a table is first used.

        That is refused if the set has been changed by then.
        """
        return cls._read(Path(path), snapshot(path, DESCRIPTION))

    def loaded(self: Set) -> Set:
        """A described set as :meth:`load` reads it now."""
        assert self.path is not None
        now = snapshot(self.path)
        if any(now[name] != self._stored[name] for name in DESCRIPTION):
            return self._read(self.path, now)
        loaded = self.__new__(type(self))
        loaded.__dict__.update(self.__dict__, _stored=now)
        return loaded

    @classmethod
    def _read(cls: type[Set], folder: Path, files: Mapping[str, bytes]) -> Set:
        info, topics = (files[name] for name in DESCRIPTION)
        factors = cls.__new__(cls)
        factors._describe(
            folder,
            parse_info(info, folder / "set.json"),
            parse_topics(topics, folder / "topics.csv"),
        )
        factors.__dict__["_stored"] = files
        return factors

    def stored(self, file: str) -> Arrays:
        """A table as it is stored, not verified; empty where there is none.

        Raises
        ------
        InputError
            Naming file and line, if it cannot be parsed.
        """
        content = self._tables.get(file, {})
        if not isinstance(content, bytes):
            return content
        location = self._location(file)
        if file.endswith(".csv"):
            return parse_table(content, location, self.topics)
        from ir_std.factors.arrays import parse_arrays  # only some schemes need them

        return parse_arrays(content, location, "f" if file in FLOATS else "iu")

    @cached_property
    def _tables(self) -> Mapping[str, bytes | Arrays]:
        if self.path is None or len(self._stored) > len(DESCRIPTION):
            return self._stored
        now = snapshot(self.path)
        if any(now[name] != self._stored[name] for name in DESCRIPTION):
            raise InputError.at(self.path, "has changed since it was found", "load it again")
        return now
