"""Pinned memory within the limit of host memory: less of it, or an error before the run."""

import copy
import gc
import re
import weakref

import cupy
import dask
import numpy as np
import pandas as pd
import pytest
from made_graphs import rmat

from dask_graphgpu import last_report
from dask_graphgpu.engine import limits, link_rates
from dask_graphgpu.engine.gpu import host
from dask_graphgpu.engine.gpu.run_cache import RunCache
from dask_graphgpu.engine.tiered import link, supersteps
from dask_graphgpu.errors import LimitTooSmall

pytestmark = pytest.mark.gpu

METHODS = {
    "sssp": ("sssp", {"source": 0}, {}),
    "sssp compacted": ("sssp", {"source": 0}, {"transfer": "compact"}),
    "sssp in rounds": ("sssp", {"source": 0}, {"rounds": "asynchronous", "transfer": "stream"}),
    "sssp near-far": ("sssp", {"source": 0}, {"rounds": "near-far"}),
    "pagerank": ("pagerank", {"max_iterations": 5, "tolerance": 0}, {}),
    "pagerank read": ("pagerank", {"max_iterations": 5, "tolerance": 0}, {"transfer": "zero-copy"}),
    "delta": ("pagerank", {"method": "delta", "tolerance": 1e-3}, {}),
    "paths": ("ssnsp", {"source": 3, "dtype": "float64"}, {"device-memory-limit": 300_000}),
    "components": ("weakly_connected_components", {}, {"device-memory-limit": 300_000}),
    "bfs": ("bfs", {"source": 3}, {"device-memory-limit": 300_000}),
}
LIMITED = {"graphgpu.device-memory-limit": 750_000}


@pytest.fixture
def pinned(monkeypatch):
    """Bytes of host memory that are pinned, and the most there were; those of the link's measurement aside."""
    link.rates(cupy.cuda.Device().id)
    real, held = cupy.cuda.PinnedMemory, {"now": 0, "most": 0}

    def gone(size):
        held["now"] -= size

    def allocate(size):
        memory = real(size)
        held["now"] += size
        held["most"] = max(held["most"], held["now"])
        weakref.finalize(memory, gone, size)
        return memory

    monkeypatch.setattr(cupy.cuda, "PinnedMemory", allocate)
    return held


@pytest.fixture
def graph():
    view = rmat(12, 48, directed=True, weight=np.arange(48 << 12) % 9 + 1).view()
    source = np.repeat(np.arange(view.num_vertices), view.out.degrees)
    weight = view.out.columns["weight"]
    frame = pd.DataFrame({"src": source, "dst": view.out.neighbours, "weight": weight})
    return frame.graph(engine="gpu").persist()


def ran(graph, name, limit=None):
    """An answer that nobody else has, in a frame."""
    method, given, settings = METHODS[name]
    settings = {f"graphgpu.{key}": value for key, value in settings.items()}
    with dask.config.set({**LIMITED, **settings, "graphgpu.host-memory-limit": limit}):
        found = getattr(graph, method)(**given)
    moved = last_report().attrs["moved"]
    assert sum(way["bytes"] for way in moved.values()) > 0
    return found


def needed(graph, name):
    """Bytes that the error says a run needs, and those of them that are pinned."""
    with pytest.raises(LimitTooSmall, match=r"graphgpu.host-memory-limit is 1,000,000: ") as told:
        ran(graph, name, 1_000_000)
    numbers = re.search(r"needs ([\d,]+) bytes of host memory, ([\d,]+) of them", str(told.value))
    return [int(number.replace(",", "")) for number in numbers.groups()]


@pytest.mark.parametrize("name", METHODS)
def test_a_limit_that_is_just_enough(name, graph, pinned):
    """What the error says is needed is enough, and no more of it is ever pinned."""
    expected = ran(graph, name)
    gc.collect()
    before = pinned["now"]
    pinned["most"] = 0
    whole, part = needed(graph, name)
    assert pinned["most"] == 0, "it is told before anything is pinned"
    assert before
    answers = []
    for more in (0, 0, 40_000_000, 0):
        found = ran(graph, name, whole + more)
        pd.testing.assert_frame_equal(found, expected, rtol=1e-5)
        answers.append(found)  # stays, with what memory it is in
        assert pinned["most"] <= part + more
        pinned["most"] = 0
    with pytest.raises(LimitTooSmall):
        ran(graph, name, whole - 1)


def test_copies_for_another_program_go_first(graph, pinned):
    """Words of edges with weights make way for edges without them, and come again."""
    both = max(needed(graph, name)[0] for name in ("sssp", "pagerank"))
    room = both - (needed(graph, "sssp")[0] - needed(graph, "sssp")[1])
    expected = {name: ran(graph, name) for name in ("sssp", "pagerank")}
    pinned["most"] = 0
    for name in ("sssp", "pagerank", "sssp", "pagerank"):
        found = ran(graph, name, both)
        pd.testing.assert_frame_equal(found, expected[name], rtol=1e-5)
        del found
        gc.collect()
        assert pinned["now"] <= room


def test_what_is_not_known_before_is_told_in_the_run():
    kept = RunCache()
    gc.collect()
    kept.bound(host.pinned_bytes() + 10_000)
    first = kept.take(1000, np.uint64)
    with pytest.raises(LimitTooSmall, match=r"needs 8,000 more bytes .* leaves 2,000 beside"):
        kept.take(1000, np.uint64)
    assert kept.lend(1000, np.uint64) is None
    kept.give_back(first)
    del first
    assert kept.left() == 10_000
    held = kept.take(1200, np.uint32)  # what is spare goes
    assert kept.left() == 10_000 - held.nbytes


def test_nothing_is_gathered_without_room(graph):
    """By the engine's own choice; where it is asked for, buffers are smaller."""
    whole, _ = needed(graph, "sssp compacted")
    slow = link_rates.Rates(1e6, 1e6, 1e12)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(link, "rates", lambda device: slow)
        patched.setattr(link_rates, "_SUBGRAPH", 0.0)
        patched.setattr(limits, "_SHARE", 2)
        patched.setattr(supersteps, "FEW", -1)
        for limit, gathers in ((None, True), (whole, False)):
            with dask.config.set({"graphgpu.rounds": "synchronous"}):
                ran(graph, "sssp", limit)
            assert ("compact" in last_report().attrs["moved"]) == gathers
        ran(graph, "sssp compacted", whole)
        few = last_report().attrs["moved"]["compact"]["parts"]
        ran(graph, "sssp compacted")
        assert last_report().attrs["moved"]["compact"]["parts"] < few


def test_pages_at_hand_are_within_the_limit(tmp_path, monkeypatch):
    """Memory that pages are read to, from which the device copies, and answers that a caller has."""
    rng = np.random.default_rng(6)
    source = (600 * rng.random(40_000) ** 2).astype(np.int64)
    frame = pd.DataFrame({"src": source, "dst": rng.integers(0, 600, 40_000)})
    settings = {
        "host-memory-limit": 610_000,
        "device-memory-limit": 420_000,
        "page-bytes": 4096,
        "spill-directories": [str(tmp_path)],
    }
    most, count = [], host.count

    def noted(memory, num_bytes):
        count(memory, num_bytes)
        most.append(host.pinned_bytes())

    gc.collect()
    before = host.pinned_bytes()
    monkeypatch.setattr(host, "count", noted)
    monkeypatch.setattr(limits, "_MOST", 8192)
    with dask.config.set({"graphgpu": settings}):
        answers = [
            frame.graph(engine="gpu").pagerank(max_iterations=3, tolerance=0) for _ in range(6)
        ]
    assert last_report().attrs["disk_bytes"] > 0
    vertices = 2 * 8 * 601
    assert 0 < max(most) - before <= 610_000 - vertices
    for found in answers[1:]:
        pd.testing.assert_frame_equal(found, answers[0], rtol=1e-6)


def test_room(graph):
    rows = graph._input.held.view("keep").out
    with dask.config.set({"graphgpu.host-memory-limit": None}):
        assert host.room(rows) is None
    with dask.config.set({"graphgpu.host-memory-limit": "1GB"}):
        held = rows.offsets.nbytes + rows.neighbours.nbytes + rows.columns["weight"].nbytes
        assert host.room(rows) == 10**9 - held
    with dask.config.set({"graphgpu.host-memory-limit": 1000}):
        assert host.room(rows) == 1000 - held


def test_both_sides_of_a_hybrid_are_told_of_before(graph, pinned):
    """The CPU's too, if it is asked for; else the run is left to the GPU."""
    wanted, (whole, _) = ran(graph, "pagerank"), needed(graph, "pagerank")
    both = copy.copy(graph)
    both._engine = "hybrid"
    gc.collect()
    for way in ("cpu", "alternate", "supersteps"):
        pinned["most"] = 0
        with (
            dask.config.set({"graphgpu.dispatch": way}),
            pytest.raises(LimitTooSmall, match=r"on both sides, needs .* pinned") as told,
        ):
            ran(both, "pagerank", whole)
        assert pinned["most"] == 0
    more = int(re.search(r"needs ([\d,]+) bytes of pinned", str(told.value))[1].replace(",", ""))
    left = int(re.search(r"leaves ([\d,]+) beside", str(told.value))[1].replace(",", ""))
    with dask.config.set({"graphgpu.dispatch": "supersteps"}):
        found = ran(both, "pagerank", whole + more - left)
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-5)
    assert last_report().attrs["sides"]["cpu"]["supersteps"] > 0
    pd.testing.assert_frame_equal(ran(both, "pagerank", whole), wanted, rtol=1e-5)
    assert last_report().attrs["sides"]["cpu"]["supersteps"] == 0
