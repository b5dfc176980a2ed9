"""The process that tests fork others from: it has imported what each of these would take seconds for."""

import multiprocessing
import os
import pkgutil
import sys
from multiprocessing import forkserver
from unittest import mock

from dask_graphgpu.kernels import cpu

CONTEXT = multiprocessing.get_context("forkserver")


def ready():
    """Start it, unless it runs."""
    names = ("cluster.gang", "exchange.mesh", "engine.cpu", "engine.paged", "engine.ranks")
    ours = [f"dask_graphgpu.{name}" for name in names]
    kernels = [module.name for module in pkgutil.iter_modules(cpu.__path__, f"{cpu.__name__}.")]
    others = ["distributed.nanny", "dask.dataframe", "pytest", "numba_at_hand"]
    CONTEXT.set_forkserver_preload([*others, *ours, *kernels])
    # It looks for these where this process does.
    with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)):
        forkserver.ensure_running()


def begun(function, *arguments):
    """A process of its own that runs a function of a module. Its environment is that of the server's start."""
    ready()
    process = CONTEXT.Process(target=function, args=arguments)
    process.start()
    return process
