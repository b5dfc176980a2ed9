"""Weakly connected components on several GPUs: trees on each, and labels of trees that all agree on.

As the ranks of the CPU engine do (`engine.ranks.components`): each links trees, a ghost says which
trees of two ranks meet, and all join the same pairs of labels.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from dask_graphgpu.engine.device_ranks.component_forest import Joined
from dask_graphgpu.engine.device_ranks.connected import connected

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView
    from dask_graphgpu.report import Report


def components(view: RankView, report: Report) -> Any:
    """Component of every vertex, the direction of edges ignored. Collective.

    Returns
    -------
    array of the dtype of numbers, shape (num_vertices,)
        The smallest number in the component; right for own vertices. On the host, but of a view that
        is `RankView.staying`.

    Notes
    -----
    Own vertices are linked first, of which nearly all are in one tree then, on each rank. A bit of each
    border vertex tells whether it is. Only those that are not look at their ghosts: to one in its owner's
    largest tree they are linked, and to no more where the largest trees of all have met; to another one
    if there is none. What is still outside is told by its
    label, and pairs of labels that meet are joined by all ranks alike: three exchanges, whatever the
    graph. Each rank holds a word for every vertex of the graph meanwhile.
    """
    start = time.perf_counter()
    toward = view.toward("both")
    key = "components", toward.rows
    with connected(view, key, lambda kept: kept.begin()) as (border, joined):
        if joined is None:
            joined = Joined(view, toward, border)
            view.ranks.barrier()  # to allocate waits for devices, and a peer's may wait for this one
        joined.read = 0
        joined.run()
        n, item, read = view.num_vertices, view.id_dtype.itemsize, joined.read
        report.advance(
            "link", supersteps=1, frontier=n, edges=read,
            bytes=read * 2 * item + n * (3 * item + 16), seconds=time.perf_counter() - start,
        )  # fmt: skip
        labels = joined.labels(stays=view.stays)
        border.leave(key, joined)
    return labels
