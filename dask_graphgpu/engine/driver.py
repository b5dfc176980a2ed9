"""Whether this machine has a GPU that the GPU engine can use: the driver is asked, not a package."""

from __future__ import annotations

import ctypes
from functools import cache
from importlib.util import find_spec

# What the GPU engine imports, and what pip calls it.
_PACKAGES = {"cupy": "cupy-cuda13x", "numba_cuda": "numba-cuda", "cuda.core": "cuda-core"}


@cache
def num_gpus() -> int:
    """GPUs that the NVIDIA driver shows to this process; 0 without a driver."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return 0
    return count.value


def least_memory() -> int | None:
    """Bytes of the smallest of these GPUs; None where there is none."""
    if not num_gpus():
        return None
    driver, found = ctypes.CDLL("libcuda.so.1"), []
    for number in range(num_gpus()):
        device, size = ctypes.c_int(), ctypes.c_size_t()
        if driver.cuDeviceGet(ctypes.byref(device), number):
            return None
        if driver.cuDeviceTotalMem_v2(ctypes.byref(size), device):
            return None
        found.append(size.value)
    return min(found)


def missing() -> str | None:
    """What the GPU engine lacks here, in words; None when it can run."""
    if not num_gpus():
        return "the NVIDIA driver shows no GPU to this process (nvidia-smi lists those it has)"
    packages = [name for module, name in _PACKAGES.items() if not _installed(module)]
    if packages:
        return (
            f"there is a GPU, but not the package{'s' if len(packages) > 1 else ''} "
            f"{', '.join(packages)}: pip install 'dask-graphgpu[gpu]'"
        )
    return None


@cache  # a search along the whole path, which each call would make again
def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package that it is in
        return False
