"""Runs over edges in host memory in which the k-th piece of memory is refused, k = 1, 2, 3 ..."""

import gc
import weakref

import cupy
import dask
import numpy as np
import pandas as pd
import pytest
from made_graphs import rmat

from dask_graphgpu import last_report
from dask_graphgpu.engine.tiered.pinned import REFUSED
from dask_graphgpu.errors import OutOfDeviceMemory

pytestmark = pytest.mark.gpu

METHODS = {
    "sssp": ("sssp", {"source": 0}, {}),
    "sssp compacted": ("sssp", {"source": 0}, {"transfer": "compact"}),
    "sssp in rounds": ("sssp", {"source": 0}, {"rounds": "asynchronous", "transfer": "stream"}),
    "pagerank": ("pagerank", {"method": "delta"}, {}),
    "paths": ("ssnsp", {"source": 3, "dtype": "float64"}, {}),
    "components": ("weakly_connected_components", {}, {}),
}


class Refusing:
    """Counts pieces of memory as they are asked for, and refuses one of them."""

    def __init__(self):
        self.asked, self.refused = 0, None

    def next(self, refused):
        self.asked, self.refused = 0, refused

    def refuses(self):
        self.asked += 1
        return self.asked == self.refused


@pytest.fixture
def device():
    """The GPU's memory."""
    refusing, pool = Refusing(), cupy.cuda.MemoryPool()

    def allocate(size):
        if refusing.refuses():
            raise cupy.cuda.memory.OutOfMemoryError(size, 0, 0)
        return pool.malloc(size)

    with cupy.cuda.using_allocator(allocate):
        yield refusing, pool.used_bytes


@pytest.fixture
def pinned(monkeypatch):
    """Host memory that is pinned."""
    refusing, real, alive = Refusing(), cupy.cuda.PinnedMemory, weakref.WeakSet()

    def allocate(size):
        if refusing.refuses():
            raise cupy.cuda.runtime.CUDARuntimeError(REFUSED)
        memory = real(size)
        alive.add(memory)
        return memory

    monkeypatch.setattr(cupy.cuda, "PinnedMemory", allocate)
    return refusing, lambda: len(alive)


def edges():
    view = rmat(12, 64, directed=True, weight=np.arange(64 << 12) % 9 + 1).view()
    source = np.repeat(np.arange(view.num_vertices), view.out.degrees)
    weight = view.out.columns["weight"]
    return pd.DataFrame({"src": source, "dst": view.out.neighbours, "weight": weight})


def outcome(frame, method, given):
    """What a run gives, or the kind of its error; nothing else of it is left."""
    try:
        return getattr(frame.graph(engine="gpu"), method)(**given)
    except MemoryError as error:
        return type(error)


@pytest.mark.parametrize("memory", ["device", "pinned"])
@pytest.mark.parametrize("name", METHODS)
def test_a_run_ends_right_or_says_that_memory_is_short(name, memory, request):
    refusing, held = request.getfixturevalue(memory)
    method, given, settings = METHODS[name]
    frame = edges()
    with dask.config.set({"graphgpu": {"device-memory-limit": 750_000, **settings}}):
        expected = outcome(frame, method, given)
        assert last_report().attrs["moved"]
        refused, errors = 0, 0
        while True:
            refused += 1
            refusing.next(refused)
            found = outcome(frame, method, given)
            gc.collect()
            assert held() == 0, refused
            if refusing.asked < refused:
                break
            if isinstance(found, type):
                assert found is OutOfDeviceMemory, refused
                errors += 1
            else:
                pd.testing.assert_frame_equal(found, expected, rtol=1e-5)
    pd.testing.assert_frame_equal(found, expected, rtol=1e-5)
    assert errors > (10 if memory == "device" else 2)
