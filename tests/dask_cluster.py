"""Real Dask clusters that may lose a worker or their scheduler."""

import logging
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def dask_cluster() -> Iterator[tuple[Any, list[int]]]:
    """Start a cluster of two worker processes; return its client, and their numbers."""
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        # The cluster warns if it loses a worker.
        warnings.simplefilter("ignore")
        pids = sorted(client.run(os.getpid).values())
        assert len(pids) == 2
        yield client, pids


@contextmanager
def dask_scheduler(folder: Path) -> Iterator[tuple[Any, subprocess.Popen[bytes]]]:
    """Start a cluster of one worker; return its client, and the process of its scheduler."""
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    address = folder / "scheduler.json"
    common = ["--scheduler-file", str(address), "--no-dashboard"]
    with ExitStack() as stack:
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{part}", *common, *options.split()],
                stderr=subprocess.DEVNULL,
            )
            for part, options in (
                ("scheduler", "--host 127.0.0.1 --port 0"),
                ("worker", "--no-nanny --nthreads 1"),
            )
        ]
        for process in processes:
            stack.callback(process.wait)
            stack.callback(process.kill)
        # If the client loses its scheduler, it writes long traces.
        logging.disable(logging.CRITICAL)
        stack.callback(logging.disable, logging.NOTSET)
        client = distributed.Client(scheduler_file=str(address), timeout="30s")
        stack.callback(client.close, timeout=1)
        client.wait_for_workers(1, timeout=30)
        yield client, processes[0]
