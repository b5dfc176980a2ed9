"""Communities by labels that spread along edges.

References
----------
.. [1] Raghavan, Albert, Kumara. Near linear time algorithm to detect community structures in large-scale networks.
   Physical Review E 76 (2007).
.. [2] Iosup et al. The LDBC Graphalytics benchmark. arXiv 2011.15028.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


def label_propagation(view: View, iterations: int, report: Report) -> np.ndarray:
    """The label of every vertex after some supersteps, in which all change together.

    Parameters
    ----------
    view : View
        Rows without repeats. Of a directed view out- and in-edges count, so that two vertices with
        an edge in each direction count each other twice.
    iterations : int
        Supersteps; fewer when one changes nothing.
    report : Report
        Gets a row a superstep, "pull".

    Returns
    -------
    ndarray of the type of the neighbours, shape (num_vertices,)
        Dense id of the vertex whose label it was at first.

    Notes
    -----
    Cost: O(V + E) a superstep, 4 V bytes a block at work for the counts of labels.
    """
    from dask_graphgpu.kernels.cpu import label_propagation as kernels

    out = view.out
    n, offsets = view.num_vertices, out.offsets
    into, more = np.empty(0, np.int64), out.neighbours[:0]
    if view.directed:
        into, more = view.into.offsets, view.into.neighbours
        offsets = offsets + into
    blocks = edge_blocks(offsets)
    rank = view.user_rank
    labels = np.arange(n, dtype=more.dtype) if rank is None else rank.astype(more.dtype)
    new = np.empty_like(labels)
    for _ in range(iterations):
        start = time.perf_counter()
        changed = sum(for_blocks(
            kernels.most_frequent, blocks, out.offsets, out.neighbours, into, more, labels, new
        ))  # fmt: skip
        labels, new = new, labels
        edges = int(offsets[-1])
        report.advance(
            "pull", supersteps=1, frontier=n, edges=edges,
            bytes=edges * 2 * (labels.itemsize + more.itemsize) + n * (16 + 2 * labels.itemsize),
            seconds=time.perf_counter() - start,
        )  # fmt: skip
        if not changed:
            break
    if rank is None:
        return labels
    holder = np.empty_like(labels)
    holder[rank] = np.arange(n, dtype=labels.dtype)
    return holder[labels]
