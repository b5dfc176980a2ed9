"""What methods find of edges, beside the two ends of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphgpu.partition.chunk import to_host


def beside_ends(view: Any, values: Any) -> tuple[Any, Any, Any]:
    """Sources and destinations of the edges of ``view.out``, by their dense ids, and a value of each."""
    source, destination = (view.named(each) for each in view.ends())
    return source, destination, values


def both_directions(
    view: Any, rows: Any, sums: Any, transposed: Callable[[Any, Any], Any], *, weighted: bool
) -> Any:
    """What the two entries of every edge of an undirected graph have, added up at both.

    ``rows`` : those of the view, where ``sums`` are. ``transposed`` : gives a column of rows in the order of their
    transpose, as `transpose_column`. Edges between the same two vertices may stand in another order there; with
    weights those of one weight belong together.
    """
    others = transposed(rows, sums)
    if not weighted:
        return sums + others
    weight, there = rows.weight, transposed(rows, rows.weight)
    if bool((weight == there).all()):
        return sums + others
    ends = [to_host(each) for each in reversed(view.ends())]
    here, opposite = (
        np.asarray(np.lexsort((to_host(each), *ends)), like=sums) for each in (weight, there)
    )
    added = np.empty_like(sums)
    added[here] = sums[here] + others[opposite]
    return added
