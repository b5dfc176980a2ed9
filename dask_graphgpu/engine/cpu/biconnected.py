"""Bridges and biconnected components, by a spanning tree and one look at every edge.

References
----------
.. [1] Tarjan, Vishkin. An efficient parallel biconnectivity algorithm. SIAM J. Computing 14 (1985).
"""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.engine.blocks import Blocks, WalkedTrees
from dask_graphgpu.engine.cpu.edges import passes_over
from dask_graphgpu.engine.cpu.induced import chosen_of, in_order
from dask_graphgpu.engine.cpu.spanning_forest import spanning_forest
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency, at_ends
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.report import Report

# Bytes a vertex of a traversal and of what is found, where ids have 8.
_OF_VERTEX = 112


def bridges(view: AnyView, report: Report) -> tuple[np.ndarray, np.ndarray]:
    """Edges without which their ends are not joined.

    Notes
    -----
    The first rank has them all [1]_. Cost: the forest, as of `spanning_forest`, a pass over the edges, and some 50
    bytes a vertex of the whole graph on each rank.
    """
    low, high = _blocks(view, report)[0].bridges()
    return (low, high) if view.ranks.rank == 0 else (low[:0], high[:0])


def num_blocks(view: AnyView, report: Report) -> np.ndarray:
    """How many biconnected components each vertex is in. As of `bridges`."""
    blocks, place = _blocks(view, report)
    return at_ends(blocks.number(), place)


def biconnected_edges(view: AnyView, report: Report) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every edge, and its biconnected component.

    Notes
    -----
    As of `bridges`, and a second pass over the edges. Of an edge, the end with the later place is below the other one
    or not related to it, and the edge to its parent is in the same component.
    """
    return edges_with_blocks(view, *_blocks(view, report), report)


def edges_with_blocks(
    view: AnyView, blocks: Blocks, place: np.ndarray, report: Report
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every edge, and its component, where these and the place of each vertex are known."""
    rows, rank = view.symmetric, view.user_rank
    everybody = np.ones(view.num_vertices, np.bool_)
    none = np.empty(0, rows.neighbours.dtype)
    parts = [(none, none)]
    with passes_over(rows, report) as passes:
        for lo, hi, here in passes.over():
            own = np.arange(lo, min(hi, view.num_owned))
            plain = Adjacency(here.offsets, here.neighbours)
            parts.append(chosen_of(plain, own, everybody, rank, once=True)[:2])
    first, second = (np.concatenate(each) for each in zip(*parts, strict=True))
    first, second, _ = in_order((first, second, None), rank)
    later = np.maximum(at_ends(place, first), at_ends(place, second))
    names = at_ends(blocks.block, later)
    ends = (first, second) if rank is None else (at_ends(rank, first), at_ends(rank, second))
    return view.named(first), view.named(second), _numbered(names, ends, view.ranks)


def _numbered(names: np.ndarray, ends: tuple[np.ndarray, np.ndarray], ranks: Ranks) -> np.ndarray:
    """Components as numbers from 0 on, in the order of the first edge of each on all ranks.

    Parameters
    ----------
    names : of the component of each edge of this rank
    ends : the edge's, in ascending order
    """
    known, where = np.unique(names, return_index=True)
    told = [np.concatenate(ranks.all_gather(each)) for each in (known, *(e[where] for e in ends))]
    order = np.lexsort(told[::-1])  # by component; of each the first edge comes first
    name, first, second = (each[order] for each in told)
    new = np.flatnonzero(np.append(True, name[1:] != name[:-1])[: len(name)])
    number = np.empty(len(new), np.int64)
    number[np.lexsort((second[new], first[new]))] = np.arange(len(new))
    return number[np.searchsorted(name[new], names)]


def _blocks(view: AnyView, report: Report) -> tuple[Blocks, np.ndarray]:
    """The components of a graph, and the place of each vertex that is here. Collective."""
    n = view.graph_vertices if view.on_ranks else view.num_vertices
    ids = view.out.neighbours.dtype
    forest = spanning_forest(view, report)[:2]
    start = time.perf_counter()
    low_end, high_end = (view.ranks.all_gather(each)[0] for each in forest)  # the first rank's
    tree = WalkedTrees.of(n, low_end, high_end, ids)
    report.advance(
        "traverse", supersteps=1, frontier=n, edges=len(low_end), bytes=n * 9 * ids.itemsize,
        seconds=time.perf_counter() - start,
    )  # fmt: skip
    numbers = view.user_rank
    place = tree.place if numbers is None else at_ends(tree.place, numbers)
    low, high, pairs = _look(view, report, place, tree)
    return Blocks(tree, low, high, pairs), place


def _look(
    view: AnyView, report: Report, place: np.ndarray, tree: WalkedTrees
) -> tuple[np.ndarray, np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """Look at all edges of all ranks: see `Blocks`."""
    here = [at_ends(each, place) for each in (tree.up, tree.last)]
    low, high = place.copy(), place.copy()
    union = np.arange(view.num_vertices, dtype=place.dtype)
    with passes_over(view.out, report) as passes:
        passes.require(_OF_VERTEX * view.num_vertices, f"a tree of {view.num_vertices:,} vertices")
        start, edges = time.perf_counter(), 0
        for lo, hi, rows in passes.over():
            end = min(hi, view.num_owned)
            blocks = edge_blocks(rows.offsets[lo : end + 1]) + lo
            given = rows.offsets.view(np.uint64), rows.neighbours, not view.directed
            for_blocks(kernels.biconnected.look, blocks, *given, place, *here, low, high, union)
            edges += int(rows.offsets[end] - rows.offsets[lo])
    for_blocks(kernels.components.compress, even_blocks(len(union)), union)
    report.advance(
        "look", supersteps=1, frontier=len(place), edges=edges, bytes=3 * edges * place.itemsize,
        seconds=time.perf_counter() - start,
    )  # fmt: skip
    joined = np.flatnonzero(union != np.arange(len(union), dtype=union.dtype))
    ends = place[joined], at_ends(place, union[joined])
    gather = view.ranks.all_gather
    lowest, highest = (np.arange(len(tree.up), dtype=place.dtype) for _ in range(2))
    for where, first, last in zip(gather(place), gather(low), gather(high), strict=True):
        at = where.astype(np.intp)
        lowest[at] = np.minimum(lowest[at], first)
        highest[at] = np.maximum(highest[at], last)
    return lowest, highest, list(zip(*(gather(each) for each in ends), strict=True))
