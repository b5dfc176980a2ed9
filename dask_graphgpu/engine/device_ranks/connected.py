"""What is around a run on several GPUs: its border and stream, and an end that no rank misses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.view import border_of
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.errors import NotConverged
from dask_graphgpu.partition.ranks.view import RankView


@contextmanager
def connected(whole: RankView) -> Iterator[DeviceBorder]:
    """The border of a share on the device, and a current stream that is the run's own; collective.

    Raises
    ------
    EngineUnavailable
        The ranks' GPUs cannot be connected.
    """
    border = border_of(whole)
    with launch.own_stream():
        try:
            yield border
            border.link.forget()
            whole.ranks.barrier()  # nobody goes, and ends the connection, while a peer receives
        except NotConverged:  # on all ranks alike
            border.link.forget()
            raise
        except BaseException:
            border.link.abort()
            raise
