"""Values that stay as they are: read-only mappings, sequences and arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

import numpy as np

Key = TypeVar("Key")
Value = TypeVar("Value")


class Frozen(dict[Key, Value]):
    """A dict that refuses changes; ``frozen | {...}`` gives an ordinary one."""

    def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError("a factor set is frozen: make another one")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return frozen, (dict(self),)


_AS_IT_IS = {str, int, float, bool, type(None), Frozen}


def frozen(value: Any) -> Any:
    """The same value, copied where it could be changed: deeply read-only."""
    if type(value) in _AS_IT_IS:
        return value
    if isinstance(value, Mapping):
        return Frozen({key: frozen(one) for key, one in value.items()})
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(map(frozen, value))
    if isinstance(value, (list, tuple)):
        return tuple(map(frozen, value))
    if isinstance(value, np.ndarray):
        if value.flags.writeable:
            value = value.copy()
            value.setflags(write=False)
        return value
    return value
