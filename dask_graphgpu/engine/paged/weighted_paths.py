"""Shortest paths by weight over pages: distances, then the paths along edges that are tight."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.engine.cpu.nearest import Labels, spread_over_pages
from dask_graphgpu.engine.path_failures import check
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


@dataclass(frozen=True, eq=False)
class Paths:
    """Shortest paths from some sources; arrays of shape (sources, num_vertices).

    Attributes
    ----------
    level : int32
        Edges of a shortest path to each vertex, of several the most; -1 where there is none.
    count : float64
        Number of shortest paths.
    distance : array, optional
        Of the type that weights are added up in, and its largest value where there is no path. None: the level.
    """

    level: np.ndarray
    count: np.ndarray
    distance: np.ndarray | None = None


def weighted_paths(view: View, sources: np.ndarray, report: Report) -> Paths:
    """Shortest paths by weight from each of some sources.

    Raises
    ------
    InvalidEdges, IntegerOverflow, SpillError

    Notes
    -----
    For each source one after the other: runs of rows are gone over while they have vertices whose distance has become
    less; a pass counts the tight edges to each vertex; then runs are gone over while they have vertices to which all
    paths are counted, which hand them on.
    """
    rows, n = rows_on_disk(view.out), view.num_vertices
    assert rows.weight is not None
    kind: Any = np.float64 if rows.weight.dtype.kind == "f" else np.int64
    far = kind(np.inf if kind is np.float64 else np.iinfo(np.int64).max)
    shape = len(sources), n
    found = Paths(np.full(shape, -1, np.int32), np.zeros(shape), np.empty(shape, kind))
    assert found.distance is not None
    for s, source in enumerate(sources.tolist()):
        _search(rows, source, far, found.distance[s], report)
        _count(rows, source, far, found.distance[s], found.level[s], found.count[s], report)
    return found


def _search(rows: Adjacency, source: int, far: Any, distance: np.ndarray, report: Report) -> None:
    """Fill the distances from a source."""
    start, n = time.perf_counter(), len(distance)
    labels = Labels(distance.reshape(n, 1), np.full((n, 1), -1), far, 1)
    distance[:] = 0
    labels.who[source] = 0
    # A sum that is too large may be of a path that is no shortest one: the edges that lead on from final distances are
    # looked at when they are counted.
    steps, read, _ = spread_over_pages(rows, labels, np.array([source]), report)
    distance[labels.who[:, 0] < 0] = far
    report.advance(
        "search", supersteps=steps, frontier=1, edges=read, bytes=read * (rows.neighbours.itemsize + 16),
        seconds=time.perf_counter() - start,
    )  # fmt: skip


def _count(
    rows: Adjacency,
    source: int,
    far: Any,
    distance: np.ndarray,
    stage: np.ndarray,
    count: np.ndarray,
    report: Report,
) -> None:
    """Fill the number of shortest paths from a source, and the most edges of one."""
    start, n = time.perf_counter(), len(distance)
    waits, due = np.zeros(n, np.int64), np.zeros(n, bool)
    stage[source], count[source], due[source] = 0, 1, True
    given = distance, waits, stage, count, due

    def hand_on(some: np.ndarray, here: Adjacency) -> int:
        arrays = here.offsets.view(np.uint64), here.neighbours, here.weight
        return int(kernels.tight_paths.count_paths(some, *arrays, *given))

    with Paged(rows_on_disk(rows), report) as passes:
        for lo, hi, here in passes.over():
            blocks = lo + edge_blocks(here.offsets[lo : hi + 1])
            for code, least in for_blocks(
                kernels.tight_paths.count_tight, blocks, here.offsets.view(np.uint64), here.neighbours,
                here.weight, distance, far, waits,
            ):  # fmt: skip
                check(int(code), np.array([least]))
        steps, read = passes.until_quiet(lambda lo, hi: due[lo:hi], hand_on)
    report.advance(
        "count", supersteps=1 + steps, frontier=1, edges=rows.num_edges + read,
        bytes=(rows.num_edges + read) * (rows.neighbours.itemsize + 16), seconds=time.perf_counter() - start,
    )  # fmt: skip
