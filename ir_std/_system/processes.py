"""Do the same work for many runs, in one or several processes."""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from traceback import format_exc
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from ir_std._system.signals import cleanup_on_exit, signals_blocked
from ir_std.errors import UsageError

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future
    from multiprocessing.connection import Connection

Result = TypeVar("Result")

IN_FLIGHT = 128
"""Number of items that are submitted to an executor in advance, so that not all items are in
memory."""
_CHECK_EVERY = 1.0
"""Seconds between two checks of whether a result can still arrive."""


def default_jobs(n_items: int) -> int:
    """Choose the number of processes; starting a process takes as long as about 16 runs."""
    return max(1, min(os.cpu_count() or 1, n_items // 16))


def map_in_order(
    function: Callable[[bytes, Any], Result],
    task: bytes,
    items: Iterable[Any],
    jobs: int = 1,
    executor: Executor | None = None,
) -> Iterator[Result]:
    """Compute ``function(task, item)`` for each item, in the order of the items.

    Parameters
    ----------
    function : callable
        A function at the top level of a module, so that other processes can import it.
    task : bytes
        Pickled object that is passed with each item, because bytes are cheap to send.
    items : iterable
    jobs : int
        Number of processes; 1 means this process only.
    executor : concurrent.futures.Executor, optional
        Executor that does the work; ``jobs`` is then ignored.

    Raises
    ------
    UsageError
        If ``jobs`` is less than 1, or if a worker process or the executor's scheduler ended
        unexpectedly.
    """
    if executor is not None:
        yield from _in_executor(function, task, items, executor)
    elif jobs == 1:
        for item in items:
            yield function(task, item)
    elif jobs < 1:
        raise UsageError(f"jobs is {jobs}; expected at least 1 process")
    else:
        yield from _in_processes(function, task, items, jobs)


class _Answer(NamedTuple):
    """Result of a call, or its error with the traceback."""

    value: Any
    error: Exception | None = None
    trace: str = ""

    def result(self) -> Any:
        if self.error is None:
            return self.value
        try:
            raise self.error from RuntimeError(f"in a worker process:\n{self.trace}")
        finally:
            # An error refers to the frames that it passed through.  If a frame also referred to the
            # error, the caller's files would stay open until the garbage collector runs.
            del self


def _call(function: Callable[[bytes, Any], Any], task: bytes, item: Any, _: bytes = b"") -> _Answer:
    """Call the function, and return its result or its error."""
    try:
        return _Answer(function(task, item))
    except Exception as error:  # raised again by ``_Answer.result``
        trace = format_exc()
        return _Answer(None, error.with_traceback(None), trace)


def _in_executor(
    function: Callable[[bytes, Any], Result], task: bytes, items: Iterable[Any], executor: Executor
) -> Iterator[Result]:
    """Compute the results with an executor; submit an item again if the executor loses it.

    A task returns its own errors, so any error that a future raises comes from the executor.  For
    example, if a worker of a Dask cluster dies with its results, some futures are cancelled, and
    others raise a TypeError of Dask.
    """
    check = partial(_check_connected, executor)

    def submit(item: Any) -> Future[_Answer]:
        check()
        try:
            # Dask computes equal calls only once, even if the result is lost.  Random bytes make
            # the calls differ.
            return executor.submit(_call, function, task, item, os.urandom(8))
        except Exception as failed:
            raise _executor_failed(repr(failed)) from failed

    def result(item: Any, future: Future[_Answer]) -> Result:
        answer = _wait(future, check)
        try:
            if not isinstance(answer, _Answer):
                answer = _wait(submit(item), check)
            if not isinstance(answer, _Answer):
                raise _executor_failed(repr(answer)) from answer
            return cast("Result", answer.result())
        finally:
            del answer, future  # for the same reason as in ``_Answer.result``

    yield from _in_order(submit, result, items, IN_FLIGHT)


def _check_connected(executor: Executor) -> None:
    """Raise an error if the scheduler of a Dask cluster is gone.

    Dask's client may wait for a new scheduler until a timeout, and may wait for results forever.
    But pending results are lost as soon as the connection is lost.
    """
    distributed = sys.modules.get("distributed")
    client = getattr(executor, "_client", None)
    if distributed and isinstance(client, distributed.Client) and client.status != "running":
        raise _executor_failed("its scheduler is gone")


def _executor_failed(reason: str) -> UsageError:
    return UsageError(f"the executor failed ({reason}); start it again")


def _wait(future: Future[_Answer], check: Callable[[], None] = lambda: None) -> _Answer | Exception:
    """Return the answer of a call, or the error of the executor that lost the call.

    This function calls ``check`` once a second while it waits.
    """
    from concurrent.futures import TimeoutError as StillRunning  # Python 3.10's is not TimeoutError

    while True:
        done = future.done()
        try:
            return future.result(_CHECK_EVERY)
        except Exception as failed:
            if done or not isinstance(failed, StillRunning):
                return failed
        check()


def _in_order(
    submit: Callable[[Any], Future[_Answer]],
    result: Callable[[Any, Future[_Answer]], Result],
    items: Iterable[Any],
    ahead: int,
) -> Iterator[Result]:
    """Submit items and yield their results, with at most ``ahead`` pending items."""
    pending: deque[tuple[Any, Future[_Answer]]] = deque()
    try:
        for item in items:
            pending.append((item, submit(item)))
            if len(pending) == ahead:
                yield result(*pending.popleft())
        while pending:
            yield result(*pending.popleft())
    finally:
        for _, future in pending:
            future.cancel()


def _in_processes(
    function: Callable[[bytes, Any], Result], task: bytes, items: Iterable[Any], jobs: int
) -> Iterator[Result]:
    """Compute the results in worker processes, which end when this process ends in any way.

    Each worker process has a pipe, and a thread in this process waits for the pipe.  The process
    pools of concurrent.futures and loky use shared semaphores instead of pipes.  If a program with
    such a pool is interrupted, semaphores are left over, and Python prints a warning about them
    after ir_std's last line.  If such a program is killed, its workers wait for locks that no
    process will release.  Pipes do not have these problems, because the system closes a pipe when
    its process ends.
    """
    from concurrent.futures import ThreadPoolExecutor
    from multiprocessing import resource_tracker
    from queue import SimpleQueue

    workers: list[_Worker] = []
    idle: SimpleQueue[_Worker] = SimpleQueue()
    with _start_errors():
        if hasattr(signal, "pthread_sigmask"):
            # The tracker unblocks signals when it starts.  The tracker must start here, and not
            # with the first process, because signals are blocked at that time.
            resource_tracker.ensure_running()

    def submit(item: Any) -> Future[_Answer]:
        with _start_errors():
            if len(workers) < jobs:
                with signals_blocked():
                    workers.append(_Worker(function, task))
                idle.put(workers[-1])
            return threads.submit(ask_idle_worker, item)

    def ask_idle_worker(item: Any) -> _Answer:
        worker = idle.get()
        try:
            return worker.ask(item)
        finally:
            idle.put(worker)

    def result(_: Any, future: Future[_Answer]) -> Result:
        answer = _wait(future)
        try:
            if not isinstance(answer, _Answer):
                raise answer
            return cast("Result", answer.result())
        finally:
            del answer, future  # for the same reason as in ``_Answer.result``

    def kill_workers() -> None:
        for worker in workers:
            worker.process.kill()
        for worker in workers:
            worker.process.join()

    with ThreadPoolExecutor(jobs) as threads, cleanup_on_exit(kill_workers):
        yield from _in_order(submit, result, items, 4 * jobs)


@contextmanager
def _start_errors() -> Iterator[None]:
    """Raise a helpful error if the system cannot start another process or thread."""
    try:
        yield
    except (OSError, RuntimeError) as failed:
        raise UsageError(f"no process can be started ({failed}); use fewer jobs") from None


class _Worker:
    """Worker process that computes ``function(task, item)`` for one item after another."""

    def __init__(self, function: Callable[[bytes, Any], Any], task: bytes) -> None:
        from multiprocessing import get_context

        # Forking a process with threads, such as numpy's, can cause a deadlock.
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()  # so that the pipe ends with the process
        self.unsent: tuple[Any, ...] = function, task  # sent with the first item

    def ask(self, item: Any) -> _Answer:
        try:
            self.pipe.send((*self.unsent, item))
            self.unsent = ()
            return cast("_Answer", self.pipe.recv())
        except (EOFError, OSError):
            raise UsageError(
                "a process died, perhaps because memory ran out; use fewer jobs, and in a "
                "script call ir_std under if __name__ == '__main__':"
            ) from None


def _serve(pipe: Connection) -> None:
    """Answer requests from the pipe until the parent ends or kills this process."""
    if hasattr(signal, "pthread_sigmask"):
        # Ctrl-C sends SIGINT to every process of a terminal, but only the parent must handle it.
        # So SIGINT stays blocked in this process.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    else:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):  # the parent has ended
        function, task, item = pipe.recv()
        while True:
            pipe.send(_call(function, task, item))
            (item,) = pipe.recv()
