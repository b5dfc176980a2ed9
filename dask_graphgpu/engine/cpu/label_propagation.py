"""Communities by labels that spread along edges.

References
----------
.. [1] Raghavan, Albert, Kumara. Near linear time algorithm to detect community structures in large-scale networks.
   Physical Review E 76 (2007).
.. [2] Iosup et al. The LDBC Graphalytics benchmark. arXiv 2011.15028.
"""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dask_graphgpu.kernels.cpu.threads import LITTLE_WORK, for_blocks, num_threads, step_blocks

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


# Part of the labels that may differ from those of two steps ago if the neighbours of these are to be marked for the
# next step: with more there are few others.
MARKED = 0.5

BLOCKS_PER_THREAD = 16

_NONE = np.empty(0, np.uint8)


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
    Cost: O(V + E) a superstep, and the edges of `Stale` alone once half of the labels come and go; 4 or 8 V bytes a
    thread for the counts of labels.
    """
    out = view.out
    n, offsets = view.num_vertices, out.offsets
    into, more = np.empty(0, np.int64), out.neighbours[:0]
    if view.directed:
        into, more = view.into.offsets, view.into.neighbours
        offsets = offsets + into
    # Blocks that are stale here and there take unequal time.
    steps = (int(offsets[-1]) + n) // (num_threads() * BLOCKS_PER_THREAD)
    blocks = step_blocks(offsets, max(steps, LITTLE_WORK))
    labelling = Labelling(n, out.offsets, out.neighbours, into, more)
    rank = view.user_rank
    labels = np.arange(n, dtype=more.dtype) if rank is None else rank.astype(more.dtype)
    new = np.empty_like(labels)
    stale = Stale(n)
    for _ in range(iterations):
        start = time.perf_counter()
        made = for_blocks(labelling.of_stale, blocks, labels, new, *stale.arrays)
        changed, differ, edges = np.sum(made, axis=0).tolist()
        stale.next(differ)
        labels, new = new, labels
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


class Labelling:
    """One superstep of a block of the rows of two adjacencies, the second of which may be empty.

    Counters of labels are taken over by the block that comes next, whoever's it is: as many as there
    are threads. They are narrow while there are fewer edges than `narrow`, half of what they can count:
    the cache has room for more of them.
    """

    narrow: ClassVar[int] = 2**31

    def __init__(
        self,
        num_labels: int,
        offsets: np.ndarray,
        neighbours: np.ndarray,
        more_offsets: np.ndarray,
        more: np.ndarray,
    ) -> None:
        self._rows: tuple[np.ndarray, ...] = offsets, neighbours, more_offsets, more
        self._num_labels = num_labels
        small = len(neighbours) + len(more) < self.narrow
        self._dtype = np.uint32 if small else np.uint64
        self._free: list[tuple[np.ndarray, int]] = []

    def over(self, *rows: np.ndarray) -> Labelling:
        """The same, by the same counters, of other adjacencies of no more edges."""
        other = copy.copy(self)
        other._rows = rows
        return other

    def __call__(self, lo: int, hi: int, labels: np.ndarray, new: np.ndarray) -> int:
        """Write the new labels of the block; gives how many are others than before."""
        return self.of_stale(lo, hi, labels, new, _NONE, _NONE)[0]

    def of_stale(
        self,
        lo: int,
        hi: int,
        labels: np.ndarray,
        new: np.ndarray,
        stale: np.ndarray,
        mark: np.ndarray,
    ) -> tuple[int, int, int]:
        """The same by `Stale`; gives how many are others than before, and than two steps ago, and edges read."""
        from dask_graphgpu.kernels.cpu import label_propagation as kernels

        try:
            counts, base = self._free.pop()
        except IndexError:
            counts, base = np.zeros(self._num_labels, self._dtype), 0
        if base >= self.narrow and self._dtype == np.uint32:
            counts[:], base = 0, 0
        changed, differ, after = kernels.most_frequent_of_stale(
            lo, hi, *self._rows, labels, new, counts, np.uint64(base), stale, mark
        )
        self._free.append((counts, after))
        return int(changed), int(differ), int(after) - base


class Stale:
    """Whose label has to be looked for: who has a neighbour whose label is not that of two steps ago.

    The others take the labels that they had then. Labels that come and go every other step are many: all of an edge
    whose ends take each other's.
    """

    def __init__(self, num_vertices: int) -> None:
        self._n = num_vertices
        self._left = 2  # steps before labels of two steps ago are there
        self.arrays = _NONE, _NONE

    def next(self, differ: int) -> None:
        """Make `arrays`, what of this step and marks for the next one, those of the next step.

        ``differ`` : labels that are not those of two steps ago.
        """
        self._left = max(self._left - 1, 0)
        spare, marked = self.arrays
        if self._left or differ >= MARKED * self._n:
            spare = _NONE
        elif not len(spare):
            spare = np.zeros(self._n, np.uint8)
        self.arrays = marked, spare
