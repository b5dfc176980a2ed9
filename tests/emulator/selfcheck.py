"""Kernels with faults, one each, and what the emulator says of them: ``run.py --script`` runs this.

Prints one line for each. GRAPHGPU_EMULATOR_SEED, _GUARD and _LAZY have to be set: all that they find
is among the faults.
"""

import gc
import tempfile
from pathlib import Path

import cupy
import cupyx
import numpy as np
from cupy import _memory

from dask_graphgpu.kernels import cuda_build
from dask_graphgpu.kernels.compile import cuda

KERNELS = """#include "common.cuh"
extern "C" __global__ void behind(uint32 *a, uint64 n) { if (threadIdx.x == 0) a[n] = 1; }
extern "C" __global__ void nowhere(uint32 *a) { if (threadIdx.x == 7) *(uint32 *)16 = 1; }
extern "C" __global__ void diverged(uint32 *a) {
    if (lane() < 4) a[0] = __ballot_sync(FULL_WARP, 1);
    else __syncthreads();
}
extern "C" __global__ void no_barrier(uint32 *a) {
    __shared__ uint32 s[64];
    s[threadIdx.x] = threadIdx.x;
    a[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void barrier(uint32 *a) {
    __shared__ uint32 s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    a[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void lost(uint32 *a) {
    for (int i = 0; i < 20; ++i) { uint32 old = fresh(a); *(volatile uint32 *)a = old + 1; }
}
extern "C" __global__ void added(uint32 *a) {
    for (int i = 0; i < 20; ++i) atomicAdd(a, 1);
}
"""
THREADS = 64


def error(module, name, *args):
    try:
        module.kernel(name).function(cooperative=False)((1,), (THREADS,), args)
        cupy.cuda.get_current_stream().synchronize()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return str(error)
    return "no error"


def copied_late(on_its_own):
    """What is copied of an array on a stream, its own or another, when its memory has been given to the next one."""
    own, other = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    with own:
        array = cupy.full(1, 9, np.uint32)
        own.synchronize()
    into = cupy.zeros(1, np.uint32)
    cupy.cuda.get_current_stream().synchronize()
    with own if on_its_own else other:
        into[...] = array
    del array
    gc.collect()
    with own:
        cupy.zeros(1, np.uint32)
    own.synchronize()
    other.synchronize()
    return int(into[0])


def main():
    common = (cuda_build.FOLDER / "common.cuh").read_text()
    with tempfile.TemporaryDirectory() as folder:
        cuda_build.FOLDER = Path(folder)
        (cuda_build.FOLDER / "common.cuh").write_text(common)
        (cuda_build.FOLDER / "faults.cu").write_text(KERNELS)
        module = cuda("faults")
        a = cupy.zeros(THREADS, np.uint32)
        for name in ("nowhere", "diverged"):
            print(f"{name}: {error(module, name, a)}")
        print(f"behind: {error(module, 'behind', a, np.uint64(THREADS))}")
        few = cupy.zeros(3, np.uint32)  # their page ends four bytes further on
        told = error(module, "behind", few, np.uint64(3))
        del few
        gc.collect()
        print(f"behind few: {told}, {_memory.problems}")
        backwards = np.arange(THREADS)[::-1]
        for name in ("no_barrier", "barrier"):
            told = error(module, name, a)
            print(f"{name}: {told}, {'right' if (a.get() == backwards).all() else 'wrong'}")
        for name in ("lost", "added"):
            a[:] = 0
            print(f"{name}: {error(module, name, a)}, {a[0]} of {20 * THREADS}")
        pinned = cupyx.empty_pinned(1, np.uint32)
        pinned[0] = 5
        cupy.full(1, 9, np.uint32).get(out=pinned, blocking=False)
        before = int(pinned[0])
        cupy.cuda.get_current_stream().synchronize()
        print(f"unwaited: {before}, then {pinned[0]}")
        for name, on_its_own in (("stale", False), ("in order", True)):
            print(f"{name}: {copied_late(on_its_own)}")
        into = cupy.empty(1, np.uint32)
        pinned[0] = 5
        into.set(pinned)
        del pinned
        gc.collect()
        print(f"unpinned: {int(into[0])}")


main()
