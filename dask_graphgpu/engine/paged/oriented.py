"""Every edge once, at its end of fewer neighbours: rows that are written to disk beside the graph's.

References
----------
.. [1] Hu, Tao, Chung. Massive graph triangulation. SIGMOD 2013.
"""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.engine.cpu.triangles import oriented, ways_of
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.paged.sort import PagedAdjacency, RowWriter, give_back
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Bytes of a vertex meanwhile: lengths and counts of rows that are written, their offsets, the degree.
_OF_VERTEX = 32


def oriented_on_disk(view: View, report: Report, *, ways: bool) -> PagedAdjacency:
    """The higher neighbours of each vertex, as of `engine.cpu.triangles.oriented`, on disk.

    Parameters
    ----------
    ways : bool
        Whether edges have a column "ways": directions, 1 or 2, in which their ends are joined.

    Raises
    ------
    LimitTooSmall, SpillError

    Notes
    -----
    One pass over the edges in both directions, of which half is written [1]_; with ``ways`` beside one over the
    out-edges and one over the in-edges.
    """
    rows, n = rows_on_disk(view.symmetric), view.num_vertices
    kinds = {"ways": np.dtype(np.uint8)} if ways else {}
    with ExitStack() as stack:
        passes = [stack.enter_context(Paged(rows, report))]
        for one_way in (view.out, view.into) if ways else ():
            bare = rows_on_disk(one_way).with_columns(())
            passes.append(stack.enter_context(Paged(bare, report, passes[0].cuts)))
        held = sum(each.held for each in passes) + n * _OF_VERTEX
        buffers = (2 + len(kinds)) * rows.limits.page_bytes
        rows.limits.require(held + buffers, f"oriented edges of {n:,} vertices")
        degree = np.diff(rows.offsets).astype(rows.neighbours.dtype)
        made = RowWriter(n, rows.neighbours.dtype, kinds, rows.folder, rows.limits)
        for runs in zip(*(each.over() for each in passes), strict=True):
            lo, hi, _ = runs[0]
            here = [_of_run(each, lo, hi) for _, _, each in runs]
            up, _ = oriented(here[0], degree, first=lo)
            columns = {"ways": ways_of(up, *here[1:])} if ways else {}
            made.append(lo, Adjacency(up.offsets, up.neighbours, columns))
    found = made.close()
    give_back()
    return found


def _of_run(rows: Adjacency, lo: int, hi: int) -> Adjacency:
    """Rows of a run that is at hand, by themselves."""
    offsets = rows.offsets[lo : hi + 1]
    begin, stop = int(offsets[0]), int(offsets[-1])
    return Adjacency(offsets - begin, rows.neighbours[begin:stop])
