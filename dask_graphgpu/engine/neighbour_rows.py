"""Statistics over neighbours: which rows have these, and what of no values is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

# What is added up, in the order in which kernels take it.
START = {"sum": 0.0, "weight": 0.0, "count": 0, "min": np.inf, "max": -np.inf}
RESULTS = {name: "int64" if name == "count" else "float64" for name in START}


def rows_along(view: Any, direction: str) -> Sequence[Any]:
    """The rows of a view that have the neighbours of a direction, "in", "out" or "both"."""
    if not view.directed:
        return [view.out]
    return {"in": [view.into], "out": [view.out], "both": [view.into, view.out]}[direction]
