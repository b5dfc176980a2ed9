"""Parts of an adjacency that are balanced by edges: a row that is longer than a part is cut.

A merge path [1]: one walks the edges row by row, and an edge and the step to the next row count as
one each. A part is a stretch of this walk of fixed length, so its work does not depend on the
degrees, and where rows are cut does not depend on the threads: a float sum comes out the same for
any number of them. The first and the last row of a part may be cut; what the parts have of such a
row is put together afterwards, in their order [2].

[1] Merrill, Garland: Merge-based parallel sparse matrix-vector multiplication. SC 2016.
[2] Ma et al.: Garaph. USENIX ATC 2017, section 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dask_graphgpu.kernels.cpu.threads import even_blocks, first_rows

# Steps of the walk in a part: many parts a thread in a graph that is worth several, and few cut rows.
PART = 1 << 14


@dataclass(frozen=True, eq=False)
class Parts:
    """Where the parts of an adjacency start, and where the last one ends.

    Attributes
    ----------
    rows : uint64, shape (parts + 1,)
        Part p has edges of ``rows[p]`` to ``rows[p + 1]``, both included.
    edges : uint64, shape (parts + 1,)
        Those in ``edges[p]:edges[p + 1]``.
    blocks : int64
        Bounds of blocks of parts, for the threads.
    """

    rows: np.ndarray
    edges: np.ndarray
    blocks: np.ndarray

    def __len__(self) -> int:
        return len(self.rows) - 1


def edge_parts(offsets: np.ndarray) -> Parts:
    """Cut the rows that these offsets bound into parts."""
    # The walk ends at the last edge, in the last row: no part has a row beyond it.
    steps = max(int(offsets[-1]) + len(offsets) - 2, 0)
    number = -(-steps // PART) if steps else min(len(offsets) - 1, 1)
    walked = np.minimum(np.arange(number + 1) * PART, steps)
    # At a step, as many rows are done as end before it.
    rows = np.maximum(first_rows(offsets, walked + 1) - 1, 0)
    blocks = even_blocks(number, work=PART)
    return Parts(rows.astype(np.uint64), (walked - rows).astype(np.uint64), blocks)
