"""Launches, the grid barrier, collectives and atomics of common.cuh, Python functions in kernels."""

import cupy
import numpy as np
import pytest

from dask_graphgpu.engine import module_cache
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.kernels import cuda_build
from dask_graphgpu.kernels.compile import DeviceFunction, cuda
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View

pytestmark = pytest.mark.gpu

COMMON = (cuda_build.FOLDER / "common.cuh").read_text()
ROUNDS = """
#include "common.cuh"
extern "C" __global__ void rounds(GridBarrier *barrier, uint32 *sums, uint32 *wrong, int n) {
    for (int i = 0; i < n; ++i) {
        uint32 total, before = block_exclusive_scan(1u, &total);
        if (before != threadIdx.x || total != blockDim.x || block_sum(1u) != blockDim.x)
            atomicAdd(wrong, 1);
        if (threadIdx.x == 0)
            atomic_add(&sums[i], total);
        grid_sync(barrier);
        if (fresh(&sums[i]) != num_threads())
            atomicAdd(wrong, 1);
    }
}
"""
ATOMICS = """
#include "common.cuh"
extern "C" __global__ void atomics(const VALUE *values, uint64 n, VALUE *smallest, VALUE *largest, VALUE *sum) {
    for (uint64 i = thread_rank(); i < n; i += num_threads()) {
        atomic_min(smallest, values[i]);
        atomic_max(largest, values[i]);
        atomic_add(sum, values[i]);
    }
}
"""
CALLS = """
#include "common.cuh"
extern "C" __device__ int64 scaled(int64 x, double by);
extern "C" __global__ void calls(int64 *values, uint64 n) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        values[i] = scaled(values[i], 2.5);
}
"""


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setattr(cuda_build, "FOLDER", tmp_path)
    (tmp_path / "common.cuh").write_text(COMMON)

    def write(text):
        (tmp_path / "tried.cu").write_text(text)
        return "tried"

    return write


@pytest.mark.parametrize("threads", [32, 256, 1024])
@pytest.mark.parametrize("blocks_per_sm", [1, None])
def test_grid_barriers_hold_all_blocks_together(source, threads, blocks_per_sm):
    kernel = cuda(source(ROUNDS)).kernel("rounds")
    n = 500
    sums, wrong = cupy.zeros(n, np.uint32), cupy.zeros(1, np.uint32)
    blocks = launch.cooperative(
        kernel,
        (launch.barrier(), sums, wrong, np.int32(n)),
        threads=threads,
        blocks_per_sm=blocks_per_sm,
    )
    assert blocks % launch.num_multiprocessors() == 0
    assert int(wrong[0]) == 0
    assert (sums.get() == blocks * threads).all()


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("uint8", np.uint8), ("int16", np.int16), ("int32", np.int32), ("uint32", np.uint32),
        ("int64", np.int64), ("uint64", np.uint64), ("float", np.float32), ("double", np.float64),
    ],
)  # fmt: skip
def test_atomics_of_every_type(source, name, dtype):
    kernel = cuda(source(ATOMICS), defines={"VALUE": name}).kernel("atomics")
    rng = np.random.default_rng(0)
    values = rng.integers(0 if np.dtype(dtype).kind == "u" else -100, 100, 10_007).astype(dtype)
    out = cupy.asarray(np.zeros(4 * 3, dtype))  # neighbours of a small type are left alone
    out[0], out[4] = values[0], values[0]
    args = (cupy.asarray(values), np.uint64(len(values)), out[0:1], out[4:5], out[8:9])
    launch.flat(kernel, len(values), args)
    found = out.get()
    assert found[[0, 4]].tolist() == [values.min(), values.max()]
    assert found[8] == values.sum(dtype=dtype)
    assert not found[[1, 2, 3, 5, 6, 7, 9, 10, 11]].any()


def test_a_python_function_in_a_kernel(source):
    module = module_cache.load("def f(x, by):\n    return int(x * by)\n")
    scaled = DeviceFunction("scaled", module.f, "int64(int64, float64)")
    kernel = cuda(source(CALLS), functions=[scaled]).kernel("calls")
    values = cupy.arange(1000)
    launch.flat(kernel, 1000, (values, np.uint64(1000)))
    assert values.get().tolist() == [int(x * 2.5) for x in range(1000)]


def test_a_view_is_brought_over_once():
    edges = from_edges(4, np.array([0, 0, 3]), np.array([1, 2, 0]), {"weight": np.array([5, 6, 7])})
    view = View.of(edges)
    device = DeviceView.of(view)
    assert device.out.offsets.get().tolist() == [0, 2, 2, 2, 3]
    assert device.out.offsets.dtype == np.uint32
    assert device.into.neighbours.get().tolist() == [3, 0, 0]
    assert device.into.weight.get().tolist() == [7, 5, 6]
    assert device.weighted_degrees("out").get().tolist() == [11, 0, 0, 7]
    assert device.degrees("both").get().tolist() == [3, 1, 1, 1]
    assert DeviceView.of(view).out is device.out
    assert isinstance(device.to_caller(cupy.arange(3)), np.ndarray)
