"""What clusters look like within: edges, the weakest of them, bridges, bounds of the diameter.

What is on the host, on all engines. On several ranks each cluster is looked at by one of them.

References
----------
.. [1] Tarjan. A note on finding the bridges of a graph. Information Processing Letters 2 (1974).
.. [2] Magnien, Latapy, Habib. Fast computation of empirically tight bounds for the diameter of massive graphs.
   J. Experimental Algorithmics 13 (2009).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.partition.csr import Adjacency, at_ends, from_edges
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.rowwise import merge_repeats
from dask_graphgpu.report import Report

# Bytes an edge of what it takes to list edges and to look at clusters.
_OF_EDGE = 160


@dataclass(frozen=True, eq=False)
class Shapes:
    """Of each cluster, arrays of one length; on several ranks of those that a rank has looked at.

    Attributes
    ----------
    first : place of the smallest member in the order of the user's ids
    vertices, edges : int64; edges within, without repeats, directions and self-loops
    degree : int64, the largest number of neighbours within
    weakest : the least weight within, 0 without edges; None without weights
    bridges : int64
    connected : bool, whether edges within join all of it
    at_least, at_most : int64, bounds of the diameter where it is connected
    """

    first: np.ndarray
    vertices: np.ndarray
    edges: np.ndarray
    degree: np.ndarray
    weakest: np.ndarray | None
    bridges: np.ndarray
    connected: np.ndarray
    at_least: np.ndarray
    at_most: np.ndarray

    def beside(self, others: Sequence[Shapes]) -> Shapes:
        """These clusters and those of others."""
        columns = [
            None if values[0] is None else np.concatenate(values)
            for values in zip(*(vars(each).values() for each in (self, *others)), strict=True)
        ]
        return Shapes(*columns)  # type: ignore[arg-type]


def cluster_batches(view: Any, cluster: Any) -> Iterator[np.ndarray]:
    """Sets of vertices of whole clusters, of which the edges fit memory: all at once, unless edges lie on disk.

    Notes
    -----
    Of edges on disk as many clusters are taken together as have edges for a quarter of the memory, and each
    batch is a pass over the pages that have its rows. A cluster that is larger is a batch of its own.
    """
    if not view.paged:
        yield np.ones(view.num_vertices, bool)
        return
    rows = view.out
    _, number = np.unique(to_host(cluster), return_inverse=True)
    ends = np.cumsum(np.bincount(number, np.diff(rows.offsets)))
    batch = (ends // max(rows.limits.memory // (4 * _OF_EDGE), 1)).astype(np.int64)[number]
    for each in distinct(batch):
        yield batch == each


def cluster_shapes(
    view: Any, edges: tuple[Any, Any, Any], cluster: Any, inside: np.ndarray, report: Report
) -> Shapes:
    """What each cluster looks like within.

    Notes
    -----
    Edges within clusters are brought together by cluster, so that each is looked at where it fits a cache: for bridges
    by a depth-first search [1]_, for the diameter by three breadth-first ones [2]_. O(V + E) but for a sort of the
    vertices by cluster; threads share the clusters. Some 100 bytes an edge and 60 a vertex.
    """
    start = time.perf_counter()
    place, code, ends, weight = _by_cluster(view, edges, cluster, inside)
    order = np.argsort(code, kind="stable")
    place, code = place[order], code[order]
    cuts = np.flatnonzero(np.append(True, code[1:] != code[:-1])[: len(code)])
    bounds = np.append(cuts, len(code)).astype(np.int64)
    rows = _rows_within(view.graph_vertices, place, ends, weight)
    shapes = _shapes(place, bounds, rows)
    report.advance(
        "look", supersteps=1, frontier=len(place), edges=rows.num_edges,
        bytes=8 * rows.num_edges * rows.neighbours.itemsize, seconds=time.perf_counter() - start,
    )  # fmt: skip
    return shapes


def _by_cluster(
    view: Any, edges: tuple[Any, Any, Any], cluster: Any, inside: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray], np.ndarray | None]:
    """Vertices by place, ascending, their clusters, and the edges within clusters, of the clusters of this rank."""
    cluster = to_host(cluster).astype(np.int64, copy=False)
    source, destination = (to_host(each) for each in edges[:2])
    weight = None if edges[2] is None else to_host(edges[2])
    rank = view.user_rank
    place = np.arange(view.num_vertices) if rank is None else to_host(rank)
    if view.on_ranks:
        source, destination = (view.places(each)[0] for each in (source, destination))
    within = at_ends(cluster, source) == at_ends(cluster, destination)
    within &= source != destination
    source, destination = source[within], destination[within]
    weight = None if weight is None else weight[within]
    ends = [at_ends(place, each) for each in (source, destination)]
    those = np.flatnonzero(inside[: view.num_owned])
    place, own = place[those], cluster[those]
    ranks = view.ranks
    if ranks.size > 1:
        place, own = _sent(ranks, own, [place, own])
        carried = ends if weight is None else [*ends, weight]
        low, high, *rest = _sent(ranks, at_ends(cluster, source), carried)
        ends, weight = [low, high], rest[0] if rest else None
    order = np.argsort(place)
    return place[order], own[order], ends, weight


def _sent(ranks: Any, code: np.ndarray, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Entries of arrays at the ranks that look at the clusters ``code`` of these."""
    to = code.view(np.uint64) % np.uint64(ranks.size)
    order = np.argsort(to, kind="stable")
    cuts = np.searchsorted(to[order], np.arange(1, ranks.size, dtype=np.uint64))
    return [np.concatenate(ranks.all_to_all(np.split(array[order], cuts))) for array in arrays]


def _rows_within(
    n: int, place: np.ndarray, ends: list[np.ndarray], weight: np.ndarray | None
) -> Adjacency:
    """Both directions of edges within clusters, between vertices as they stand in ``place``; of repeats the largest."""
    index = np.empty(n, np.uint32 if len(place) <= 2**32 else np.uint64)
    index[place.astype(np.intp)] = np.arange(len(place), dtype=index.dtype)
    low, high = (at_ends(index, each) for each in ends)
    columns = {} if weight is None else {"weight": np.concatenate([weight, weight])}
    both = np.concatenate([low, high]), np.concatenate([high, low])
    return merge_repeats(from_edges(len(place), *both, columns), "max" if columns else "one")


def _shapes(place: np.ndarray, bounds: np.ndarray, rows: Adjacency) -> Shapes:
    """Of clusters of vertices that stand side by side."""
    n, k = rows.num_vertices, len(bounds) - 1
    offsets, neighbours = rows.offsets.astype(np.int64, copy=False), rows.neighbours
    if neighbours.itemsize == 8:  # kernels mix them with places, which are signed
        neighbours = neighbours.view(np.int64)
    weights = np.empty(0, np.uint8) if rows.weight is None else rows.weight
    degree, bridges, at_least, at_most = np.zeros((4, k), np.int64)
    weakest, connected = np.zeros(k, weights.dtype), np.zeros(k, bool)
    blocks = edge_blocks(offsets[bounds])
    for_blocks(
        kernels.cluster_shapes.least_and_most, blocks, bounds, offsets, weights, weakest, degree
    )
    cursor = np.empty(n, np.int64)
    number, low, parent = np.zeros(n, neighbours.dtype), *np.empty((2, n), neighbours.dtype)
    for_blocks(
        kernels.cluster_shapes.count_bridges, blocks,
        bounds, offsets, neighbours, number, low, cursor, parent, bridges, connected,
    )  # fmt: skip
    del cursor, number
    level = np.empty(n, np.int64)
    for_blocks(
        kernels.cluster_shapes.bound_diameters, blocks,
        bounds, offsets, neighbours, connected, level, low, at_least, at_most,
    )  # fmt: skip
    return Shapes(
        first=place[bounds[:-1]],
        vertices=np.diff(bounds),
        edges=np.diff(offsets[bounds]) // 2,
        degree=degree,
        weakest=None if rows.weight is None else weakest,
        bridges=bridges,
        connected=connected,
        at_least=at_least,
        at_most=at_most,
    )
