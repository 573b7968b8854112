"""The same work for many runs, in one process or several, with results in order."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from ir_std._memory import keep_freed_memory
from ir_std._system.signals import cleanup_on_exit, signals_blocked
from ir_std.errors import UsageError

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future
    from multiprocessing.connection import Connection

Result = TypeVar("Result")

IN_FLIGHT = 128
"""Items given to an executor ahead of their turn; the others are not yet in memory."""


def default_jobs(n_items: int) -> int:
    """As many processes as pay: one costs about as much as evaluating sixteen runs."""
    return max(1, min(os.cpu_count() or 1, n_items // 16))


def map_in_order(
    function: Callable[[bytes, Any], Result],
    task: bytes,
    items: Iterable[Any],
    jobs: int = 1,
    executor: Executor | None = None,
) -> Iterator[Result]:
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
        yield from _submitted(executor, lambda item: (function, task, item), items, IN_FLIGHT)
    elif jobs == 1:
        for item in items:
            yield function(task, item)
    elif jobs < 1:
        raise UsageError(f"jobs is {jobs}: give the number of processes, at least 1")
    else:
        yield from _in_processes(function, task, items, jobs)


def _submitted(
    executor: Executor, call: Callable[[Any], tuple[Any, ...]], items: Iterable[Any], ahead: int
) -> Iterator[Any]:
    from concurrent.futures import CancelledError

    # What an executor raises of a task that it lost, which is then given to it once more: Dask's
    # takes the result for three parts of an error if a worker dies just when it has been fetched,
    # which is a TypeError as long as functions give no tuples.
    lost = (CancelledError, OSError, TypeError)
    pending: deque[tuple[Any, Future[Any]]] = deque()

    def first() -> Any:
        item, future = pending.popleft()
        try:
            return future.result()
        except lost:
            return executor.submit(*call(item)).result()

    try:
        for item in items:
            pending.append((item, executor.submit(*call(item))))
            if len(pending) == ahead:
                yield first()
        while pending:
            yield first()
    finally:
        for _, future in pending:
            future.cancel()


def _in_processes(
    function: Callable[[bytes, Any], Result], task: bytes, items: Iterable[Any], jobs: int
) -> Iterator[Result]:
    """As :func:`map_in_order`, in processes that end when this one does, however it ends.

    concurrent.futures' own pool waits for ever if it is interrupted while its processes start, and
    its processes outlive a parent that is killed.  Here each process has one pipe and, in this
    process, a thread that waits for it: no lock is shared, so none can stay locked.
    """
    from concurrent.futures import ThreadPoolExecutor
    from multiprocessing import resource_tracker
    from queue import SimpleQueue

    workers: list[_Worker] = []
    free: SimpleQueue[_Worker] = SimpleQueue()
    if hasattr(signal, "pthread_sigmask"):
        # It would let signals through while the first process starts.
        resource_tracker.ensure_running()

    def call(item: Any) -> tuple[Any, ...]:
        if len(workers) < jobs:
            with signals_blocked():
                workers.append(_Worker(function, task))
            free.put(workers[-1])
        return work, item

    def work(item: Any) -> Any:
        worker = free.get()
        try:
            return worker.ask(item)
        finally:
            free.put(worker)

    def end() -> None:
        for worker in workers:
            worker.process.kill()
        for worker in workers:
            worker.process.join()

    with ThreadPoolExecutor(jobs) as threads, cleanup_on_exit(end):
        yield from _submitted(threads, call, items, 4 * jobs)


class _Worker:
    """A process that answers, one item after the other, what ``function(task, item)`` is."""

    def __init__(self, function: Callable[[bytes, Any], Any], task: bytes) -> None:
        from multiprocessing import get_context

        # Forking a process that has threads, as numpy's has, may lock up.
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()  # so that the pipe ends with the process
        self.first: tuple[Any, ...] = function, task

    def ask(self, item: Any) -> Any:
        try:
            self.pipe.send((*self.first, item))
            self.first = ()
            done, answer, trace = self.pipe.recv()
        except (EOFError, OSError):
            raise UsageError(
                "a process died, perhaps for want of memory: use fewer jobs; a "
                "script must do this under if __name__ == '__main__':"
            ) from None
        if done:
            return answer
        raise answer from RuntimeError(f"in a process of its own:\n{trace}")


def _serve(pipe: Connection) -> None:
    """What a process does until its parent ends."""
    from traceback import format_exc

    threading.Thread(target=_end_with_parent, daemon=True).start()
    keep_freed_memory()
    if hasattr(signal, "pthread_sigmask"):
        # Ctrl-C reaches every process of a terminal, and is the parent's: it stays held back.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    else:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):  # the parent has ended
        function, task, item = pipe.recv()
        while True:
            try:
                answer = True, function(task, item), ""
            except Exception as failed:  # raised again by the parent
                answer = False, failed, format_exc()
            pipe.send(answer)
            (item,) = pipe.recv()


def _end_with_parent() -> None:
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
