"""Structs that kernels take by value."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np


def struct(words: Sequence[Any]) -> Any:
    """A struct of 8-byte members: integers, and arrays for pointers; None is the null pointer."""
    found = [
        0 if word is None else getattr(getattr(word, "data", None), "ptr", word) for word in words
    ]
    return np.array(found, np.uint64).view(_words(len(found)))[0]


@cache
def _words(number: int) -> np.dtype[Any]:
    """It takes longer to make than a launch."""
    return np.dtype([(f"word_{i}", np.uint64) for i in range(number)])
