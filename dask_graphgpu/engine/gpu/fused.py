"""Many supersteps in a launch (kernels/cuda/program_fused.cu)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from dask_graphgpu.engine.gpu import launch

THREADS = 256

# Supersteps of a launch, at most: the host can be interrupted between two.
MOST = 1 << 16


def kernels(module: Any, fusion: str, *, pushes: bool, pulls: bool) -> list[Any]:
    """The kernels of a fusion, in the order in which they are queued."""
    if fusion == "all":
        return [module.kernel("everything")]
    names = ["push_run"] * pushes + ["pull_run"] * pulls
    return [module.kernel(name) for name in names]


def most_blocks(kernels: Sequence[Any]) -> int:
    """Of the launch of any of them."""
    return max(launch.resident_blocks(kernel, threads=THREADS) for kernel in kernels)


def launches(kernels: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """Calls that launch them."""
    return [partial(launch.cooperative, kernel, args, threads=THREADS) for kernel in kernels]
