"""The process that tests fork others from: it has imported what each of these would take seconds for."""

import multiprocessing
from multiprocessing import forkserver

CONTEXT = multiprocessing.get_context("forkserver")


def ready():
    """Start it, unless it runs."""
    CONTEXT.set_forkserver_preload(
        ["distributed.nanny", "dask.dataframe", "numba", "pytest"]
        + ["dask_graphgpu.cluster.gang", "dask_graphgpu.exchange.mesh", "dask_graphgpu.graph"]
    )
    forkserver.ensure_running()
