"""Where device memory comes from: RMM, which cuDF shares with CuPy, made a pool."""

from __future__ import annotations

from functools import cache


@cache
def use_pool() -> None:
    """Put CUDA's own pool behind RMM unless somebody has chosen a resource.

    As cuDF comes, every array is asked of the driver and given back to it, which stops the device
    and takes longer than a search does.
    """
    import rmm.mr

    if type(rmm.mr.get_current_device_resource()) is rmm.mr.CudaMemoryResource:
        rmm.mr.set_current_device_resource(rmm.mr.CudaAsyncMemoryResource())
