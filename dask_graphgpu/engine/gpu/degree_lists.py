"""Memory of the worklists by degree of traversals (kernels/cuda/degree_lists.cuh)."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.schedule import configured_separators
from dask_graphgpu.kernels.sizes import SIZES
from dask_graphgpu.partition.csr import Adjacency

# Edges from which a row goes to a warp, and to blocks, unless the user says otherwise.
SEPARATORS = (32, 128)

# Edges of a block's piece of a long row.
PIECE = SIZES["degree_lists.cuh"]["PIECE"]


def degree_lists(
    rows: Adjacency, teams: int = 1, separators: tuple[int, int] = SEPARATORS
) -> tuple[tuple[Any, Any, Any], tuple[Any, Any]]:
    """The lists for one run over rows, in which each vertex enters them once at most.

    Of several ``teams`` each has a part, one after another. ``separators``: unless the user has others.

    Returns
    -------
    tuple
        Arrays: queue, rows of the pieces, pieces. And the separators that they are made for.
    """
    n, id_dtype = rows.num_vertices, rows.neighbours.dtype
    medium, large = configured_separators(separators)
    pieces = most_pieces(rows, large)
    arrays = (
        cupy.empty(teams * n, id_dtype),
        cupy.empty(teams * pieces, id_dtype),
        cupy.empty(teams * pieces, cupy.uint32),
    )
    return arrays, (np.uint32(medium), np.uint32(large))


def most_pieces(rows: Adjacency, large: int) -> int:
    """Pieces of the rows that have so many edges or more, at most."""
    # The last one of a row is a part of one.
    return rows.num_edges // PIECE + min(rows.num_vertices, rows.num_edges // large) + 1
