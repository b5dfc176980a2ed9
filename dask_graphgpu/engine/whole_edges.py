"""What methods share that have edges of all ranks in memory, of vertices numbered in 32 bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.errors import InvalidEdges
from dask_graphgpu.exchange.ranks import Ranks


def check_number(number: int, what: str, of: str = "vertices") -> None:
    """Raise InvalidEdges where there are too many to be numbered in 32 bits."""
    if number > 2**32:
        raise InvalidEdges(
            f"{what} numbers {of} in 32 bits, and there are {number:,}: take a part of the graph"
        )


def everywhere(ranks: Ranks, array: Any) -> Any:
    """What all ranks have of an array. Collective."""
    return array if ranks.size == 1 else np.concatenate(ranks.all_gather(array))
