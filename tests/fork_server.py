"""The process that tests fork others from: it has imported what each of these would take seconds for."""

import multiprocessing
from multiprocessing import forkserver

CONTEXT = multiprocessing.get_context("forkserver")


def ready():
    """Start it, unless it runs."""
    ours = [f"dask_graphgpu.{name}" for name in ("cluster.gang", "exchange.mesh", "graph")]
    CONTEXT.set_forkserver_preload(
        ["distributed.nanny", "dask.dataframe", "numba", "pytest", *ours]
    )
    forkserver.ensure_running()
