"""The same work for many runs, in one process or several, with results in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any, TypeVar

from ir_std.errors import UsageError

Result = TypeVar("Result")

IN_FLIGHT = 128
"""Items given to an executor ahead of their turn; the others are not yet in memory."""

LOST = (CancelledError, OSError, TypeError)
"""What an executor raises of a task that it lost, which is then given to it once more: Dask's
raises TypeError if a worker dies just when its result has been fetched."""


def usual_jobs(n_items: int) -> int:
    """As many processes as pay: one costs about as much as evaluating sixteen runs."""
    return max(1, min(os.cpu_count() or 1, n_items // 16))


def in_order(function: Callable[[bytes, Any], Result], task: bytes, items: Iterable[Any],
             jobs: int = 1, executor: Executor | None = None) -> Iterator[Result]:
    """``function(task, item)`` for each item, in the order of the items.

    Parameters
    ----------
    function : callable
        Of the top level of a module, so that other processes find it.
    task : bytes
        What all items share, pickled: bytes are cheap to send.
    items : iterable
    jobs : int
        Number of processes; 1 is this one.
    executor : concurrent.futures.Executor, optional
        Work there instead.

    Raises
    ------
    UsageError
        If there is no process to work in, or one died.
    """
    if executor is not None:
        yield from _submitted(executor, function, task, items, IN_FLIGHT)
    elif jobs == 1:
        for item in items:
            yield function(task, item)
    elif jobs < 1:
        raise UsageError(f"jobs is {jobs}: give the number of processes, at least 1")
    else:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        try:
            # Forking a process that has threads, as numpy's has, may lock up.
            with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as own:
                yield from _submitted(own, function, task, items, 4 * jobs)
        except BrokenExecutor:
            raise UsageError("a process died, perhaps for want of memory: use fewer jobs; a "
                             "script must do this under if __name__ == '__main__':") from None


def _submitted(executor: Executor, function: Callable[[bytes, Any], Result], task: bytes,
               items: Iterable[Any], ahead: int) -> Iterator[Result]:
    pending: deque[tuple[Any, Future[Result]]] = deque()

    def first() -> Result:
        item, future = pending.popleft()
        try:
            return future.result()
        except LOST:
            return executor.submit(function, task, item).result()

    try:
        for item in items:
            pending.append((item, executor.submit(function, task, item)))
            if len(pending) == ahead:
                yield first()
        while pending:
            yield first()
    finally:
        for _, future in pending:
            future.cancel()
