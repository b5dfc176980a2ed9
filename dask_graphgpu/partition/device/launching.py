"""How kernels of ``kernels/cuda`` are launched on columns of any type, by what builds partitions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.kernels.sizes import SIZES

TILE = SIZES["column.cuh"]["TILE"]


class Struct(tuple[Any, ...]):
    """Words of a struct: integers, and arrays for pointers; None is the null pointer."""


def launch(source: str, name: str, n: int, *arguments: Any, threads: int = 256) -> None:
    """Launch a thread for each of ``n`` items; Python's integers are of 64 bits."""
    from dask_graphgpu.kernels import compile as compilers
    from dask_graphgpu.kernels import device_launch

    words = [
        device_launch.struct(each)
        if isinstance(each, Struct)
        else np.uint64(each)
        if isinstance(each, int)
        else each
        for each in arguments
    ]
    device_launch.flat(compilers.cuda(source).kernel(name), n, words, threads=threads)


def column(array: Any) -> Struct:
    """Struct Column or Output; None: an empty one."""
    return Struct((None, 0) if array is None else (array, array.dtype.itemsize))


def contiguous(array: Any) -> Any:
    """The array, or a copy whose elements stand side by side."""
    return array if array.flags.c_contiguous else array.copy()
