"""Weights in the other order."""

from __future__ import annotations

from typing import Any


def turned(weights: Any) -> Any:
    """Numbers of the same type that are smaller where the weights are larger; of these, the weights again."""
    return -weights if weights.dtype.kind == "f" else ~weights
