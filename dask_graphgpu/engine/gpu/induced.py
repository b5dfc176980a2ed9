"""Edges among some of the vertices, in the order of the user's ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.kernels.sizes import SIZES
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View

_CHUNK = SIZES["induced.cu"]["CHUNK"]
_THREADS = 256


def edges_among(view: View, inside: Any) -> tuple[Any, Any, Any]:
    """Edges with both ends in a set of vertices; as `engine.cpu.edges_among`.

    Notes
    -----
    Each edge is read twice. Where the user's order is another than that of the rows, the edges are
    brought into it once, by a sort, and kept with the graph: 4 bytes an edge of up to 2^32
    vertices, half of the edges of an undirected graph, and as much again where they have weights.
    """
    here = DeviceView.of(view)
    weight = view.out.weight
    weighted = weight is not None
    if here.user_rank is None:
        out = here.out
        rows = _Rows(out.offsets, out.neighbours, None, None, once=not view.directed)
    else:
        rows = here.made(
            ("user order", view.directed, weighted), lambda: _in_user_order(here, weighted=weighted)
        )
    source, destination, edge = _chosen(here, rows, _bits(cupy.asarray(inside)), edges=weighted)
    if edge is not None and rows.edge is not None:
        edge = rows.edge[edge]
    return (
        here.to_caller(source),
        here.to_caller(destination),
        None if edge is None or weight is None else weight[here.to_caller(edge)],
    )


@dataclass(frozen=True)
class _Rows:
    """Rows of edges; ``ids``: of their vertices, ``edge``: places of the edges in the view's rows."""

    offsets: Any
    neighbours: Any
    ids: Any = None
    edge: Any = None
    rank: Any = None
    once: bool = False


def _in_user_order(here: DeviceView, *, weighted: bool) -> _Rows:
    """The edges by the user's order of both ends; of an undirected graph each once."""
    n, out = here.n, here.out
    rank = here.user_rank.astype(here.id_dtype, copy=False)
    rows = _Rows(out.offsets, out.neighbours, rank=rank, once=not here.directed)
    source, destination, edge = _chosen(here, rows, None, edges=weighted)
    bits = max(n - 1, 1).bit_length()
    require(3 * 8 * len(source), f"ordering {len(source):,} edges by the user's ids")
    if 2 * bits <= 64:
        key = (rank[source].astype(np.uint64) << np.uint64(bits)) | rank[destination]
        del source, destination
        if edge is None:
            key.sort()
        else:
            order = cupy.argsort(key, kind="stable")  # equal edges stay in their order
            key, edge = key[order], edge[order]
        first, second = key >> np.uint64(bits), key & np.uint64((1 << bits) - 1)
    else:
        order = cupy.lexsort(cupy.stack([rank[destination], rank[source]]))
        first, second = rank[source[order]], rank[destination[order]]
        edge = None if edge is None else edge[order]
    position = cupy.empty_like(rank)
    position[rank] = cupy.arange(n, dtype=rank.dtype)
    offsets = cupy.searchsorted(first, cupy.arange(n + 1, dtype=first.dtype))
    neighbours = position[second.astype(rank.dtype)]
    return _Rows(offsets.astype(out.offsets.dtype), neighbours, position, edge)


def _chosen(here: DeviceView, rows: _Rows, inside: Any, *, edges: bool) -> tuple[Any, Any, Any]:
    """Ends of the edges with both ends ``inside``, and their places where ``edges``."""
    num_edges = len(rows.neighbours)
    chunks = -(-num_edges // _CHUNK)
    given = launch.struct([
        rows.offsets, rows.neighbours, rows.ids, rows.rank, inside, here.n, num_edges,
        np.uint32(rows.once),
    ])  # fmt: skip
    kernels = cuda("induced", defines=here.defines)
    counts = cupy.zeros(chunks, np.uint32)
    launch.flat(kernels.kernel("count_chosen"), 32 * chunks, (given, counts), threads=_THREADS)
    ends = cupy.cumsum(counts, dtype=np.uint64)
    total = int(ends[-1]) if chunks else 0
    width = rows.neighbours.dtype.itemsize
    require(total * (2 * width + edges * rows.offsets.dtype.itemsize), f"{total:,} edges")
    source, destination = (cupy.empty(total, rows.neighbours.dtype) for _ in range(2))
    edge = cupy.empty(total, rows.offsets.dtype) if edges else None
    written = (given, ends, source, destination, launch.or_null(edge))
    launch.flat(kernels.kernel("write_chosen"), 32 * chunks, written, threads=_THREADS)
    return source, destination, edge


def _bits(inside: Any) -> Any:
    """A bool a vertex as a bitmap of 32-bit words."""
    words = cupy.zeros(-(-len(inside) // 32), np.uint32)
    packed = cupy.packbits(inside, bitorder="little")
    words.view(np.uint8)[: len(packed)] = packed
    return words
