"""Launches of kernels with a thread an item, and structs that kernels take."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from dask_graphgpu.kernels.cuda_build import Kernel

# Blocks of a flat launch; a kernel over more goes on in steps of the grid.
_MOST_BLOCKS = 1 << 20


def flat(
    kernel: Kernel, n: int, args: Sequence[Any], *, threads: int = 256, shared: int = 0
) -> None:
    """Launch a thread for each of ``n`` items; of very many, each thread takes several."""
    if n:
        blocks = min(-(-n // threads), _MOST_BLOCKS)
        function = kernel.function(cooperative=False)
        allow(function, shared)
        function((blocks,), (threads,), tuple(args), shared_mem=shared)


def allow(function: Any, shared: int) -> None:
    """Give a kernel more shared memory than it has without asking."""
    if shared > 48 * 1024:
        function.max_dynamic_shared_size_bytes = shared


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
