"""What is around a run on several GPUs: its border and stream, and an end that no rank misses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.view import border_and_kept
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.errors import NotConverged
from dask_graphgpu.partition.ranks.view import RankView


@contextmanager
def connected(
    whole: RankView, key: Any = None, begin: Callable[[Any], None] | None = None
) -> Iterator[tuple[DeviceBorder, Any]]:
    """A current stream that is the link's own, for a border and what was kept; collective.

    What is taken and given is that of `border_and_kept`.

    Raises
    ------
    EngineUnavailable
        The ranks' GPUs cannot be connected.
    """
    border, kept = border_and_kept(whole, key, begin)
    with launch.own_stream(border.link.stream):
        try:
            yield border, kept
            border.link.forget()
            whole.ranks.barrier()  # nobody goes, and ends the connection, while a peer receives
        except NotConverged:  # on all ranks alike
            border.link.forget()
            raise
        except BaseException:
            border.link.abort()
            raise
