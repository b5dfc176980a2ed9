"""Label propagation over pages: a pass over the rows an iteration, over both directions side by side.

References
----------
.. [1] Raghavan, Albert, Kumara. Near linear time algorithm to detect community structures in large-scale networks.
   Physical Review E 76 (2007).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.engine.cpu.label_propagation import Labelling, side_by_side
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks, num_threads
from dask_graphgpu.partition.paged.rowwise import cuts_of

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


def label_propagation(view: View, iterations: int, report: Report) -> np.ndarray:
    """The label of every vertex after some supersteps, as `engine.cpu.label_propagation`.

    Raises
    ------
    LimitTooSmall, SpillError

    Notes
    -----
    Of a directed graph both directions lie on disk, and a vertex's two rows are at hand together; a row that
    is longer than a page is so as a whole, as it was when rows were sorted. Beside pages, 8 bytes a vertex,
    where ids have 4, and 4 a vertex and thread for the counts of labels.
    """
    out = rows_on_disk(view.out)
    sides = [out, rows_on_disk(view.into)] if view.directed else [out]
    n, ids = view.num_vertices, out.neighbours.dtype
    offsets: np.ndarray = np.sum([rows.offsets for rows in sides], axis=0)
    # A page of both together is at most one of each.
    cuts = cuts_of(offsets, out.page_edges)
    passes = [Paged(rows, report, cuts) for rows in sides]
    edges = int(offsets[-1])
    labelling = Labelling(n, edges)
    count = 4 if edges < labelling.narrow else 8
    needed = sum(
        each.nbytes + each.rows.offsets.nbytes + each.rows.counts.nbytes for each in passes
    )
    needed += offsets.nbytes + n * (3 * ids.itemsize + count * num_threads())
    out.limits.require(needed, f"label_propagation of {n:,} vertices")
    rank = view.user_rank
    labels = np.arange(n, dtype=ids) if rank is None else rank.astype(ids)
    new = np.empty_like(labels)
    try:
        for _ in range(iterations):
            start, changed = time.perf_counter(), 0
            for runs in zip(*(each.over() for each in passes), strict=True):
                lo, hi, _ = runs[0]
                here = [array for *_, rows in runs for array in (rows.offsets, rows.neighbours)]
                blocks = edge_blocks(offsets[lo : hi + 1]) + lo
                changed += sum(for_blocks(labelling, blocks, side_by_side(*here), labels, new))
            labels, new = new, labels
            report.advance(
                "pull", supersteps=1, frontier=n, edges=edges,
                bytes=edges * 2 * (labels.itemsize + ids.itemsize) + n * (16 + 2 * labels.itemsize),
                seconds=time.perf_counter() - start,
            )  # fmt: skip
            if not changed:
                break
    finally:
        for each in passes:
            each.release()
    if rank is None:
        return labels
    holder = np.empty_like(labels)
    holder[rank] = np.arange(n, dtype=labels.dtype)
    return holder[labels]
