"""Launches: how many blocks, kernels that need all of their blocks at once, what they take, a stream of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.errors import GraphError
from dask_graphgpu.kernels.cuda_build import Kernel
from dask_graphgpu.kernels.device_launch import allow
from dask_graphgpu.kernels.device_launch import flat as flat
from dask_graphgpu.kernels.device_launch import struct as struct
from dask_graphgpu.kernels.device_streams import lent_stream
from dask_graphgpu.kernels.sizes import THREADS as THREADS
from dask_graphgpu.partition.csr import Adjacency


def cooperative(
    kernel: Kernel,
    args: Sequence[Any],
    *,
    threads: int = THREADS,
    shared: int = 0,
    blocks_per_sm: int | None = None,
) -> int:
    """Launch as many blocks as can be resident at once, so that a grid barrier cannot hang.

    Parameters
    ----------
    kernel : Kernel
    args : sequence of CuPy arrays and NumPy scalars
    threads : int
        Of a block.
    shared : int
        Bytes of dynamic shared memory of a block.
    blocks_per_sm : int, optional
        Fewer blocks on a multiprocessor than fit.

    Returns
    -------
    int
        The number of blocks.

    Raises
    ------
    GraphError
        Not even one block fits.
    """
    function = kernel.function(cooperative=True)
    blocks = resident_blocks(kernel, threads=threads, shared=shared)
    if blocks_per_sm is not None:
        blocks = min(blocks, blocks_per_sm * num_multiprocessors())
    function((blocks,), (threads,), tuple(args), shared_mem=shared)
    return blocks


def resident_blocks(kernel: Kernel, *, threads: int = THREADS, shared: int = 0) -> int:
    """Blocks that the device holds at once, by its occupancy calculator."""
    device = cupy.cuda.Device().id
    if (device, threads, shared) not in kernel.resident:
        function = kernel.function(cooperative=True)
        allow(function, shared)
        per_sm = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(
            function.kernel.ptr, threads, shared
        )
        if not per_sm:
            raise GraphError(
                f"kernel {kernel.name!r} does not fit a multiprocessor with {threads} threads "
                f"({function.num_regs} registers each) and {shared} bytes of shared memory a block"
            )
        kernel.resident[device, threads, shared] = per_sm * num_multiprocessors()
    return kernel.resident[device, threads, shared]


@contextmanager
def own_stream(given: Any = None) -> Iterator[None]:
    """A current stream on which launches can be recorded, ``given`` or one of its own; at the end it is done."""
    cupy.cuda.get_current_stream().synchronize()
    with lent_stream() if given is None else nullcontext(given) as stream, stream:
        try:
            yield
        except BaseException:
            with suppress(cupy.cuda.runtime.CUDARuntimeError):  # there is an error already
                stream.synchronize()
            raise
        stream.synchronize()


def loaded(kernel: Kernel) -> Kernel:
    """The kernel, loaded on the current device: a first launch would wait for what the device does."""
    _ = kernel.function(cooperative=False).kernel
    return kernel


def num_multiprocessors() -> int:
    """Multiprocessors of the current device."""
    count: int = cupy.cuda.Device().attributes["MultiProcessorCount"]
    return count


def barrier() -> Any:
    """The memory of a grid barrier; each launch needs one of its own."""
    return cupy.zeros(1, cupy.uint32)


NULL = np.uint64(0)  # a null pointer


def or_null(array: Any) -> Any:
    """A kernel's argument that may be missing."""
    return NULL if array is None else array


def ends_or_null(rows: Adjacency | None) -> tuple[Any, Any]:
    """Offsets and neighbours of rows that may be missing."""
    return (NULL, NULL) if rows is None else (rows.offsets, rows.neighbours)
