"""A real Dask cluster that may lose a worker."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def dask_cluster() -> Iterator[tuple[Any, list[int]]]:
    """The client of a cluster of two worker processes, and their numbers."""
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
        # Losing a worker is what the cluster warns of.
        warnings.simplefilter("ignore")
        pids = sorted(client.run(os.getpid).values())
        assert len(pids) == 2
        yield client, pids
