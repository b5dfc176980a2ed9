"""Runs on several GPUs, each a thread's of this process."""

import cupy
import pytest
from rank_runs import put_together

from dask_graphgpu.engine import device_ranks, driver
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.report import Report

SIZES = [size for size in (1, 2, 4, 8) if size <= driver.num_gpus()]
SEVERAL = SIZES[1:]
marks = [pytest.mark.gpu, pytest.mark.skipif(not SEVERAL, reason="there is one GPU")]


def on_gpus(parts, function):
    """What ``function(share)`` gives on each rank, a GPU each."""

    def work(share):
        with cupy.cuda.Device(share.ranks.rank):
            return function(share)

    return parts.run(work)


def on_ranks(program, parts, **arguments):
    """The state of the whole graph, put together of all ranks'."""
    report = Report("test")
    states = on_gpus(
        parts,
        lambda share: device_ranks.run(program, share, RunOptions(report=report, **arguments)),
    )
    return put_together(parts, states)
