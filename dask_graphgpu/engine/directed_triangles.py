"""Triangles by the directions of their edges, and pairs of edges of each vertex; whichever engine found the edges.

References
----------
.. [1] Batagelj, Mrvar. A subquadratic triad census algorithm for large sparse networks with small maximum degree.
   Social Networks 23 (2001).
.. [2] Ortmann, Brandes. Triangle listing algorithms: back from the diversion. ALENEX 2014.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphgpu.engine.joined_pairs import (
    BACK,
    BOTH,
    IN,
    OUT,
    by_degree,
    code_degrees,
    joined_pairs,
)
from dask_graphgpu.engine.room import require_room_for_all
from dask_graphgpu.engine.triads import TRIADS, TRIANGLE_OF
from dask_graphgpu.engine.whole_edges import check_number, everywhere
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.report import Report

_BUILDING = 80  # bytes an edge

Sums = dict[tuple[int, int], int]


def directed_triangles(
    view: AnyView, edges: tuple[Any, Any], report: Report
) -> tuple[Sums, list[int]]:
    """Triangles of each kind, and pairs of edges of one vertex; see the contract. Collective.

    Notes
    -----
    Each rank gets all edges, and looks for triangles from some vertices: from each along edges to those that have more
    neighbours [2]_. Triads of two edges are the pairs of edges that meet at a vertex, less the pairs within triangles
    [1]_.
    """
    start = time.perf_counter()
    check_number(view.graph_vertices, "triad_census")
    require_room_for_all(view, len(edges[0]), _BUILDING, "triads of")
    source, destination = (everywhere(view.ranks, to_host(each)) for each in edges)
    low, high, code = joined_pairs(source, destination, directed=view.directed)
    sums, up = _sums(view.graph_vertices, low, high, code)
    first, last = (len(up.offsets) - 1) * (view.ranks.rank + np.arange(2)) // view.ranks.size
    blocks = edge_blocks(up.offsets[first : last + 1]) + first
    found = np.zeros((len(blocks) - 1, 27), np.int64)
    rows = up.offsets, up.neighbours, up.columns["code"]
    for_blocks(kernels.triads.count, np.arange(len(blocks)), blocks, *rows, found)
    kinds = np.sum(view.ranks.all_gather(found.sum(axis=0)), axis=0).tolist()
    triangles = [0] * len(TRIADS)
    for kind, number in zip(TRIANGLE_OF.tolist(), kinds, strict=True):
        triangles[kind] += int(number)
    report.advance(
        "triangles", supersteps=1, frontier=view.num_vertices, edges=len(low),
        bytes=len(low) * 5, seconds=time.perf_counter() - start,
    )  # fmt: skip
    return sums, triangles


def _sums(n: int, low: np.ndarray, high: np.ndarray, code: np.ndarray) -> tuple[Sums, Any]:
    """Pairs of edges as of `triads.census`, and rows of the neighbours that have more neighbours."""
    degree = dict(zip((OUT, IN, BOTH), code_degrees(n, low, high, code), strict=True))
    sums = {(a, b): _products(degree[a], degree[b]) for a, b in ((1, 2), (1, 3), (2, 3))}
    sums |= {(a, a): (_products(degree[a], degree[a] - 1)) // 2 for a in degree}
    sums |= {
        (0, 1): int(np.count_nonzero(code != BOTH)),
        (0, 3): int(np.count_nonzero(code == BOTH)),
    }
    place = by_degree(degree[OUT] + degree[IN] + degree[BOTH])
    low, high = place[low], place[high]
    code = np.where(low < high, code, np.array(BACK, np.uint8).take(code))
    ends = np.minimum(low, high), np.maximum(low, high)
    return sums, from_edges(n, *ends, {"code": code})


def _products(first: np.ndarray, second: np.ndarray) -> int:
    """The sum of products of numbers below 2**32, exact beyond 64 bits."""
    products = first.astype(np.uint64) * np.maximum(second, 0).astype(np.uint64)
    high, low = products >> np.uint64(32), products & np.uint64(2**32 - 1)
    return (int(high.sum(dtype=np.uint64)) << 32) + int(low.sum(dtype=np.uint64))
