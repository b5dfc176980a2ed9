"""Predecessors of a finished path search on several GPUs: the same tree as on one."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.device_ranks.view import RankDeviceView, connected
from dask_graphgpu.engine.gpu.predecessors import pulled
from dask_graphgpu.engine.ranks import predecessors as on_host
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.partition.device.masks import count_true
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.report import Report


def predecessors(
    view: RankView, source: int, distance: Any, reached: Any, *, hops: bool, report: Report
) -> Any:
    """Predecessor of every vertex on a shortest path; as `engine.ranks.predecessors`. Collective.

    Returns
    -------
    array of the dtype of numbers, shape (num_vertices,)
        Right for own vertices. On the host, but of a view that is `RankView.staying`.

    Notes
    -----
    One exchange, and one read of the own vertices' in-edges. Where there are plateaus, on which edges
    add nothing, all of it is done again by the ranks' processors.
    """
    ranks, own = view.ranks, view.num_owned
    degree = view.degrees("both")  # collective at first
    with connected(view) as (border, _):
        here = RankDeviceView.of(view.toward("out"))
        values = cupy.array(distance), cupy.array(reached).view(np.uint8)
        numbers = here.made("numbers", lambda: cupy.asarray(view.numbers))
        degrees = here.made("degrees of both", lambda: cupy.asarray(degree))
        rows = here.into
        border.make_room(values)
        ranks.barrier()  # to allocate waits for devices, and a peer's may wait for this one
        border.refresh(values)
        border.link.settle()
        ranks.barrier()
        found = cupy.arange(here.n, dtype=here.id_dtype)
        if here.n:
            given = values[0], values[1].view(bool)
            found = pulled(here, rows, *given, degrees, numbers, hops=hops, report=report)[0]
        alone = values[1][:own].view(bool) & (found[:own] == cupy.arange(own, dtype=found.dtype))
        without = ranks.sum(count_true(alone))
        before = numbers[found]
    if without > 1:  # one is the source
        host = to_host(distance), to_host(reached)
        return on_host(view, source, *host, hops=hops, report=report)
    return before if view.stays else cupy.asnumpy(before)
