"""How good communities are, worked out from the labels alone: what a library says of its own is not asked."""

from __future__ import annotations

from typing import Any

import numpy as np


def modularity(source: Any, destination: Any, label: Any) -> float:
    """Modularity of labels, one a vertex id; edges in both directions, 1 each. Arrays of NumPy or of CuPy."""
    own = label[source]
    part = np.bincount(own) / len(source)
    return float((own == label[destination]).mean() - part @ part)
