"""Structs that kernels take by value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def struct(words: Sequence[Any]) -> Any:
    """A struct of 8-byte members: integers, and arrays for pointers; None is the null pointer."""
    dtype = np.dtype([(f"word_{i}", np.uint64) for i in range(len(words))])
    found = np.zeros(1, dtype)
    for i, word in enumerate(words):
        data = getattr(word, "data", None)
        found[f"word_{i}"] = 0 if word is None else getattr(data, "ptr", word)
    return found[0]
