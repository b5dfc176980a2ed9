"""Runs over edges in host memory in which memory is refused: the k-th piece, k = 1, 2, 3 ..., or all beyond some."""

import gc
import weakref

import cupy
import dask
import numpy as np
import pandas as pd
import pytest
from made_graphs import rmat

from dask_graphgpu import last_report
from dask_graphgpu.engine.gpu.pinned import REFUSED
from dask_graphgpu.engine.tiered import link, supersteps
from dask_graphgpu.errors import OutOfDeviceMemory
from dask_graphgpu.partition.device.memory import drop_kept

pytestmark = pytest.mark.gpu

METHODS = {
    "sssp": ("sssp", {"source": 0}, {}),
    "sssp compacted": ("sssp", {"source": 0}, {"transfer": "compact"}),
    "sssp in rounds": ("sssp", {"source": 0}, {"rounds": "asynchronous", "transfer": "stream"}),
    "pagerank": ("pagerank", {"method": "delta", "tolerance": 1e-3}, {}),
    "paths": ("ssnsp", {"source": 3, "dtype": "float64"}, {}),
    "components": ("weakly_connected_components", {}, {}),
}
SHARED = {
    "pages of both": ("sssp", {"source": 0}, {"engine": "hybrid", "dispatch": "alternate"}),
    "in turn": ("sssp", {"source": 0}, {"engine": "hybrid", "dispatch": "supersteps"}),
    "rounds of both": (
        "sssp", {"source": 0},
        {"engine": "hybrid", "dispatch": "alternate", "rounds": "asynchronous"},
    ),
}  # fmt: skip
POWER = {"max_iterations": 3, "tolerance": 0}
# The other ways of transfer and orders of work.
WAYS = {
    "sssp streamed": ("sssp", {"source": 0}, {"transfer": "stream", "rounds": "synchronous"}),
    "sssp read": ("sssp", {"source": 0}, {"transfer": "zero-copy", "rounds": "synchronous"}),
    "sssp near-far": ("sssp", {"source": 0}, {"rounds": "near-far"}),
    "sssp from the resident": ("sssp", {"source": 0}, {"rounds": "resident-first"}),
    "ranks streamed": ("pagerank", POWER, {"transfer": "stream"}),
    "ranks read": ("pagerank", POWER, {"transfer": "zero-copy"}),
    "bfs": ("bfs", {"source": 3}, {"device-memory-limit": 300_000}),
    "predecessors": ("sssp", {"source": 0, "predecessor": True}, {}),
}
LAYERED = {"layered": ("sssp", {"source": 0}, {"layout": "layered", "root": 0})}
ON_DISK = {
    name: (method, given, settings | {"host-memory-limit": 3_000_000, "page-bytes": 65536})
    for name, (method, given, settings) in {
        "sssp on disk": ("sssp", {"source": 0}, {}),
        "ranks on disk": ("pagerank", POWER, {}),
        "components on disk": (
            "weakly_connected_components", {}, {"device-memory-limit": 300_000},
        ),
    }.items()
}  # fmt: skip
ALL = METHODS | SHARED | WAYS | LAYERED | ON_DISK
LIMITED = {"device-memory-limit": 750_000, "engine": "gpu"}


class Refusing:
    """Counts pieces of memory as they are asked for, and refuses one of them, or those beyond ``room``."""

    def __init__(self):
        self.asked, self.refused, self.room = 0, None, None

    def next(self, refused=None, room=None):
        self.asked, self.refused, self.room = 0, refused, room

    def refuses(self, size):
        self.asked += 1
        return self.asked == self.refused or (self.room is not None and size > self.room)


@pytest.fixture
def few_objects():
    """Only what is made from here on is looked at when garbage is collected: runs do so whenever memory is refused."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def device():
    """The GPU's memory."""
    refusing, pool = Refusing(), cupy.cuda.MemoryPool()

    def allocate(size):
        if refusing.refuses(pool.used_bytes() + size):
            raise cupy.cuda.memory.OutOfMemoryError(size, 0, 0)
        return pool.malloc(size)

    with cupy.cuda.using_allocator(allocate):
        yield refusing, pool.used_bytes


@pytest.fixture
def pinned(monkeypatch):
    """Host memory that is pinned; what tests before have left would be given back for the first piece."""
    drop_kept()
    refusing, real, alive = Refusing(), cupy.cuda.PinnedMemory, weakref.WeakSet()

    def allocate(size):
        if refusing.refuses(size):
            raise cupy.cuda.runtime.CUDARuntimeError(REFUSED)
        memory = real(size)
        alive.add(memory)
        return memory

    register, unregister = cupy.cuda.runtime.hostRegister, cupy.cuda.runtime.hostUnregister
    registered = set()

    def pin(place, size, flags):
        if refusing.refuses(size):
            raise cupy.cuda.runtime.CUDARuntimeError(REFUSED)
        register(place, size, flags)
        registered.add(place)

    def let_go(place):
        registered.remove(place)
        unregister(place)

    monkeypatch.setattr(cupy.cuda, "PinnedMemory", allocate)
    monkeypatch.setattr(cupy.cuda.runtime, "hostRegister", pin)
    monkeypatch.setattr(cupy.cuda.runtime, "hostUnregister", let_go)
    return refusing, lambda: len(alive) + len(registered)


def edges():
    view = rmat(12, 64, directed=True, weight=np.arange(64 << 12) % 9 + 1).view()
    source = np.repeat(np.arange(view.num_vertices), view.out.degrees)
    weight = view.out.columns["weight"]
    return pd.DataFrame({"src": source, "dst": view.out.neighbours, "weight": weight})


def outcome(frame, method, given, **graph):
    """What a run gives, or the kind of its error; nothing else of it is left."""
    try:
        return getattr(frame.graph(**graph), method)(**given)
    except MemoryError as error:
        return type(error)


@pytest.mark.parametrize("memory", ["device", "pinned"])
@pytest.mark.parametrize("name", ALL)
@pytest.mark.usefixtures("few_objects")
def test_every_piece_refused_once(name, memory, request, tmp_path, monkeypatch):
    """Of the device's memory: the run goes on with less of it. Of host memory: it says so."""
    monkeypatch.setattr(supersteps, "FEW", -1)  # for frontiers of few edges nothing is asked for
    refusing, held = request.getfixturevalue(memory)
    method, given, settings = ALL[name]
    frame = edges()
    graph = {key: value for key, value in settings.items() if key in ("layout", "root")}
    settings = {key: value for key, value in settings.items() if key not in graph}
    settings["spill-directories"] = [str(tmp_path)]
    with dask.config.set({"graphgpu": {**LIMITED, **settings}}):
        expected = outcome(frame, method, given, **graph)
        assert not isinstance(expected, type)
        told = last_report().attrs
        assert told["moved"]
        assert (told["disk_bytes"] > 0) == (name in ON_DISK)
        gc.collect()  # else what it has kept is given back for the first piece that is refused
        refused, errors = 0, 0
        while True:
            refused += 1
            refusing.next(refused)
            found = outcome(frame, method, given, **graph)
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
    assert not any(folder.iterdir() for folder in tmp_path.iterdir() if folder.is_dir())
    if memory == "device":
        assert refused > 5
        assert errors == 0
    else:
        assert errors


def test_a_link_is_measured_again_if_there_is_room(device, monkeypatch):
    """Else the run goes on with what was measured before, in the first attempt."""
    refusing, held = device
    frame, rates = edges(), link.rates(cupy.cuda.Device().id)
    monkeypatch.setattr(rates, "copies", rates.reads / 10)
    found = []
    for again, room in ((0, None), (3, 5_000_000)):
        monkeypatch.setattr(rates, "again", again)
        refusing.next(room=room)
        with dask.config.set({"graphgpu": {**LIMITED, "rounds": "synchronous"}}):
            found.append(outcome(frame, "sssp", {"source": 0}))
        gc.collect()
        assert held() == 0
    pd.testing.assert_frame_equal(*found)
    assert (rates.copies, rates.again) == (rates.reads / 10, 2)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.usefixtures("few_objects")
def test_less_memory_than_the_limit_allows(name, device):
    """Fewer edges stay on the device, down to none; then the run says that there is too little."""
    refusing, held = device
    method, given, settings = METHODS[name]
    graph = edges().graph(engine="gpu").persist()
    limit = 1_400_000 if name == "pagerank" else 750_000  # some edges fit beside the vertices
    moved, errors = [], 0

    def note_moved():
        moved.append(sum(way["bytes"] for way in last_report().attrs["moved"].values()))

    with dask.config.set({"graphgpu": {"device-memory-limit": limit, **settings}}):
        expected = getattr(graph, method)(**given)
        note_moved()
        for room in range(limit - 50_000, 0, -limit // 12):
            refusing.next(room=room)
            try:
                found = getattr(graph, method)(**given)
            except OutOfDeviceMemory:
                errors += 1
                continue
            assert not errors, room  # less is not enough where more was not
            pd.testing.assert_frame_equal(found, expected, rtol=1e-5)
            assert held() <= room
            note_moved()
    assert len(moved) >= 3
    assert moved[-1] > moved[0]
    assert errors
