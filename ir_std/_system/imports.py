"""What waits for another library to be imported, without importing it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType


def when_imported(name: str, action: Callable[[], None]) -> None:
    """Call ``action`` once a top-level module is imported; now if it is already."""
    if name in sys.modules:
        action()
    else:
        sys.meta_path.insert(0, _Waiting(name, action))


class _Waiting:
    """A finder that leaves finding to the others, and leaves when its module is there."""

    def __init__(self, name: str, action: Callable[[], None]) -> None:
        self.name, self.action = name, action
        self.asking = False

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self.name or self.asking:
            return None
        self.asking = True  # the others, of whom this is one
        try:
            spec = find_spec(name)
        finally:
            self.asking = False
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def execute_and_act(module: ModuleType) -> None:
                execute(module)
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                    self.action()

            spec.loader.exec_module = execute_and_act  # type: ignore[method-assign]
        return spec
