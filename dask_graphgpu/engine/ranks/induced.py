"""Edges among some of the vertices, each rank's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphgpu.engine.cpu.induced import chosen_edges

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView


def edges_among(view: RankView, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray, Any]:
    """As `engine.cpu.edges_among`, of this rank's rows; the ends by their numbers.

    ``inside`` is right for copies of other ranks' vertices too.
    """
    source, destination, weight = chosen_edges(view, inside, view.numbers)
    return view.numbers[source], view.numbers[destination], weight
