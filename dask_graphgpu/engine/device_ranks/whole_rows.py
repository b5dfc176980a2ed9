"""Methods on the gathered graph that give rows of edges: each rank takes its part of the result from the whole answer.

Every rank finds all edges, in the same order, and gives those that its partitions of the result have. So rows need
neither be sorted nor sent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.device_ranks.gathered import Gathered, on_whole
from dask_graphgpu.engine.device_ranks.whole import one_gpu, own_sums, processors
from dask_graphgpu.exchange.nccl import DeviceLink
from dask_graphgpu.partition.device.arrays import choose
from dask_graphgpu.partition.device.host import to_new_memory
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.report import Report


def trussness(view: RankView, report: Report) -> Any:
    """Edges and their trussness; as `engine.gpu.trussness`. Collective."""
    return _of_edges(view, report, one_gpu.trussness, processors.trussness)


def bridges(view: RankView, report: Report) -> Any:
    """Bridges; as `engine.gpu.bridges`. Collective."""
    return _of_edges(view, report, one_gpu.bridges, processors.bridges)


def biconnected_edges(view: RankView, report: Report) -> Any:
    """Edges and their components; as `engine.gpu.biconnected_edges`. Collective."""
    return _of_edges(view, report, one_gpu.biconnected_edges, processors.biconnected_edges)


def jaccard_two_hop(view: RankView, report: Report) -> Any:
    """Pairs with a common neighbour and their coefficients; as `engine.gpu.jaccard_two_hop`. Collective."""
    return _of_edges(view, report, one_gpu.jaccard_two_hop, processors.jaccard_two_hop)


def edge_betweenness(view: RankView, sources: Any, *, weighted: bool, report: Report) -> Any:
    """Edges and sums of the sources' dependencies on them, each source on one of the GPUs. Collective.

    As `engine.gpu.edge_betweenness`.
    """
    how: dict[str, Any] = {"weighted": weighted, "endpoints": False, "edges": True}

    def work(whole: Gathered, given: Any) -> Any:
        return own_sums(
            view,
            sources,
            lambda some: one_gpu.betweenness(whole.view, some, **how, report=report),
        )

    def end(whole: Gathered, link: DeviceLink, room: Any) -> Any:
        sums = whole.sum(link, room)
        edges = (*whole.view.ends(), sums)
        if not view.directed:
            once = edges[0] <= edges[1]
            edges = tuple(choose(each, once) for each in edges)
        return whole.given_rows(view, edges)

    def on_host() -> Any:
        return processors.edge_betweenness(view, sources, weighted=weighted, report=report)

    return on_whole(view, report, work, on_host, end=end)


def spanning_forest(view: RankView, report: Report, *, largest: bool = False) -> Any:
    """The edges of the forest; as `engine.gpu.spanning_forest`. Collective.

    All on the first rank, but of a view that is `RankView.answering`: each has those of its partitions, in order.
    """

    def work(whole: Gathered, given: Any) -> Any:
        found = one_gpu.spanning_forest(whole.view, report, largest=largest)
        if view.answers is not None:
            return whole.given_rows(view, found)
        return tuple(to_new_memory(each if view.ranks.rank == 0 else each[:0]) for each in found)

    def on_host() -> Any:
        return processors.spanning_forest(view, report, largest=largest)

    return on_whole(view, report, work, on_host)


def edges_among(view: RankView, inside: Any) -> Any:
    """Edges with both ends in a set; as `engine.gpu.edges_among`. Collective.

    On the processors where no run has gathered the graph: one pass over the edges takes less than that. A set on the
    device need not be right for ghosts.
    """

    def begin(whole: Gathered, link: DeviceLink) -> Any:
        return whole.everywhere(link, inside)

    def work(whole: Gathered, everywhere: Any) -> Any:
        return whole.given_rows(view, one_gpu.edges_among(whole.view, everywhere))

    def on_host() -> Any:
        if isinstance(inside, np.ndarray):
            return processors.edges_among(view, inside)
        return processors.edges_among(view, view.at_ghosts(cupy.asnumpy(inside)))

    return on_whole(view, None, work, on_host, begin=begin, make=False)


def _of_edges(
    view: RankView, report: Report, on_gpu: Callable[..., Any], on_host: Callable[..., Any]
) -> Any:
    """Edges with their values that `Gathered.given_rows` has this rank give."""

    def work(whole: Gathered, given: Any) -> Any:
        return whole.given_rows(view, on_gpu(whole.view, report))

    return on_whole(view, report, work, lambda: on_host(view, report))
