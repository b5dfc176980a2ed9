"""Label propagation on many ranks: labels of border vertices travel after every superstep.

References
----------
.. [1] Raghavan, Albert, Kumara. Near linear time algorithm to detect community structures in large-scale networks.
   Physical Review E 76 (2007).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.cpu.label_propagation import Labelling, side_by_side
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView
    from dask_graphgpu.report import Report


def label_propagation(view: RankView, iterations: int, report: Report) -> np.ndarray:
    """The label of every vertex after some supersteps, as `cpu.label_propagation`. Collective.

    Returns
    -------
    array of the dtype of numbers, shape (num_vertices,)
        Number of the vertex whose label it was at first; right for ghosts too.

    Notes
    -----
    One exchange a superstep, of the labels that have changed. Labels are counted under the places that
    they have among those that are here, so that no array is as long as the graph has vertices.
    """
    own, out, labels = view.num_owned, view.out, view.numbers.copy()
    offsets, rows = out.offsets, side_by_side(out.offsets, out.neighbours)
    if view.directed:
        into = view.into
        offsets = offsets + into.offsets
        rows = side_by_side(out.offsets, out.neighbours, into.offsets, into.neighbours)
    blocks = edge_blocks(offsets[: own + 1])
    edges = int(offsets[own])
    labelling, ids = Labelling(len(labels), int(offsets[-1])), out.neighbours.dtype
    for _ in range(iterations):
        start = time.perf_counter()
        here, places = np.unique(labels, return_inverse=True)
        places = places.astype(ids)
        new = places.copy()
        for_blocks(labelling, blocks, rows, places, new)
        changed = new[:own] != places[:own]
        labels[:own] = here[new[:own]]
        _, every = view.border.refresh([labels], changed, np.array([changed.sum()]))
        report.advance(
            "pull", supersteps=1, frontier=own, edges=edges,
            bytes=edges * 2 * (labels.itemsize + ids.itemsize) + own * (16 + 4 * labels.itemsize),
            seconds=time.perf_counter() - start,
        )  # fmt: skip
        if not every.any():
            break
    return labels
