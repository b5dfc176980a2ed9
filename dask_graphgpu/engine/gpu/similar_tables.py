"""The best partners of each vertex: its walks of two edges in a table of a block; see kernels/cuda/similar.cu."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import integer_types
from dask_graphgpu.engine.similarity import Similarity
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.device.memory import free_bytes, require

# The most walks of a vertex, None: any number; threads of the block that takes such a vertex; and how many such blocks
# are on a multiprocessor at once.
_SIZES: tuple[tuple[int | None, int, int], ...] = (
    (1 << 8, 32, 32),
    (1 << 12, 128, 16),
    (1 << 16, 512, 4),
    (1 << 20, 1024, 2),
    (None, 1024, 2),
)

_ORDERING = 40  # bytes of a row while rows are put in order


def best(
    rows: Adjacency,
    rank: Any,
    amount: Any,
    asked: Similarity,
    scale: float,
    vertices: Any,
    walks: Any,
    most: int,
) -> tuple[Any, Any, Any]:
    """Ranks of some vertices and of their best partners, and the scores, in the order of results.

    Parameters
    ----------
    rows : Adjacency
        Symmetric, on the device.
    rank : id array
        Of every vertex, in the order of the user's ids.
    amount : uint64 array
        What every vertex counts as a neighbour in common; 0: it is passed over.
    asked : Similarity
        With `top_k`.
    scale : float
        What to multiply sums of amounts by.
    vertices : id array
        By rank.
    walks : uint64 array
        Of two edges that each of these has, over vertices that count.
    most : int
        Rows that there may be.
    """
    ids, n = rows.neighbours.dtype, len(rows.offsets) - 1
    require(_ORDERING * most, f"{most:,} rows of similar vertices")
    kernel = cuda("similar", defines=integer_types(ids, rows.offsets.dtype)).kernel("best")
    graph = launch.struct([rows.offsets, rows.neighbours, rank, amount, n])
    assert asked.top_k is not None
    numbers = [asked.kind, min(asked.top_k, n), int(asked.later), asked.least_common]
    reals = np.array([asked.least_score, scale]).view(np.uint64)
    wanted = launch.struct([*numbers, *map(int, reals)])
    first, second = (cupy.empty(most, ids) for _ in range(2))
    score, size = cupy.empty(most, np.float64), cupy.zeros(1, np.uint64)
    out = launch.struct([first, second, score, size])
    least = 0
    for limit, threads, per_multiprocessor in _SIZES:
        most_walks = None if limit is None else limit + 1
        places = elements.places_of(elements.between(walks, least + 1, most_walks))
        least = limit or 0
        if not len(places):
            continue
        longest = limit
        if longest is None:  # those of most walks first, so that none of them is begun last
            falling = elements.turned(elements.gathered(walks, places))
            places = elements.gathered(places, cupy.argsort(falling))
            longest = int(walks[places[0]])
        room = 1 << max((2 * min(longest, n) - 1).bit_length(), 5)
        blocks = min(len(places), per_multiprocessor * launch.num_multiprocessors())
        of_one = room * (ids.itemsize + 8)
        blocks = max(min(blocks, free_bytes() // 2 // of_one), 1)
        require(blocks * of_one, "tables of similar vertices")
        tables = cupy.empty(blocks * room, ids), cupy.empty(blocks * room, np.uint64)
        given = (graph, wanted, vertices, walks, places, np.uint64(len(places)), *tables)
        rest = (np.uint64(room), cupy.zeros(1, np.uint64), out)
        launch.flat(kernel, blocks * threads, (*given, *rest), threads=threads)
    written = int(size[0])
    first, second, score = (array[:written] for array in (first, second, score))
    at = elements.gathered
    order = cupy.argsort(second)
    # Scores are above 0: their bits are in the order of the numbers.
    order = at(order, cupy.argsort(elements.turned(at(score.view(np.uint64), order))))
    order = at(order, cupy.argsort(at(first, order)))
    return at(rank, at(vertices, at(first, order))), at(second, order), at(score, order)
