"""Edges in host memory that are one word each with what they carry: as the CPU engine."""

import dask
import numpy as np
import pytest
from device_programs import equal, on
from made_graphs import rmat

from dask_graphgpu.engine import cpu, tiered, word_bytes
from dask_graphgpu.engine.gpu import pinned, sizes
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.run_cache import RunCache
from dask_graphgpu.engine.gpu.sizes import bytes_of_vertices
from dask_graphgpu.engine.limits import BLOCK, BUFFERS
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.engine.tiered import packed
from dask_graphgpu.fields import Field
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

FAR = 2**31 - 1
# Weights, and bytes of an edge with 256 vertices.
WEIGHTS = {
    "int64": (np.int64, 1, 64, 4),
    "below zero": (np.int64, -9, 9, 4),
    "int32": (np.int32, 1, 2**23, 4),
    "wide": (np.int32, 0, FAR, 8),
    "bytes": (np.uint8, 0, 255, 4),
    "large": (np.uint64, 2**40, 2**40 + 9, 4),
    "floats": (np.float32, 0, 9, 8),
    "doubles": (np.float64, 0, 9, 12),
    "whole floats": (np.float32, -3, 60, 4),
    "whole doubles": (np.float64, 1, 64, 4),
}


def weighted(name, directed=True):
    dtype, low, high, _ = WEIGHTS[name]
    rng = np.random.default_rng(5)
    values = rng.integers(low, high, 16 << 8, endpoint=True).astype(dtype)
    if values.dtype.kind == "f" and "whole" not in name:
        values += rng.random(len(values)).astype(dtype)
    return rmat(8, directed=directed, seed=4, weight=values).view()


def largest(weight_type):
    """The heaviest path of at most six edges, which looks at all edges."""
    return VertexProgram(
        state={"most": Field(weight_type, initial=0)},
        compute=lambda source_most, weight: source_most + weight, combine="max", edges="out",
    )  # fmt: skip


def ran(program, view, share, settings, **given):
    binding = Binding(program, view, given.get("constants", {}))
    edge = packed.bytes_of_edge(binding)
    room = max(int(share * binding.send.num_edges * edge), BUFFERS * BLOCK * edge)
    limit = {"device-memory-limit": bytes_of_vertices(binding) + room}
    report = Report("test")
    with dask.config.set({"graphgpu": limit | settings}):
        return tiered.run(program, view, RunOptions(report=report, **given)), report


@pytest.mark.parametrize("name", WEIGHTS)
def test_explained_are_the_bytes_of_a_run(name):
    view = weighted(name)
    binding = Binding(largest("int64"), view, {})
    told = word_bytes(view.num_vertices, view.given())
    assert packed.bytes_of_edge(binding) == WEIGHTS[name][3]
    assert (told or sizes.bytes_apart(binding)) == WEIGHTS[name][3]


@pytest.mark.parametrize("way", ["stream", "zero-copy", "compact"])
@pytest.mark.parametrize("name", WEIGHTS)
def test_supersteps(name, way):
    view = weighted(name)
    dtype = np.dtype(WEIGHTS[name][0])
    program = largest(dtype.name if dtype.kind == "f" else "int64")
    given = {"max_supersteps": 6, "exact_supersteps": True}
    assert packed.bytes_of_edge(Binding(program, view, {})) == WEIGHTS[name][3]
    expected = on(cpu, program, view, **given)
    for share in (0, 0.4, 1):
        found, report = ran(program, view, share, {"transfer": way}, **given)
        equal(found, expected)
        if way == "stream" and share == 0:
            assert report.moved[way]["bytes"] % (view.num_edges * WEIGHTS[name][3]) == 0


@pytest.mark.parametrize("rounds", ["near-far", "resident-first", "asynchronous"])
@pytest.mark.parametrize("name", [name for name in WEIGHTS if WEIGHTS[name][1] >= 0])
def test_shortest_paths(name, rounds):
    from dask_graphgpu.engine.known import DISTANCES

    for directed in (True, False):
        view = weighted(name, directed)
        expected = on(cpu, DISTANCES, view, sources=[0])
        for share in (0, 0.4, 1):
            equal(ran(DISTANCES, view, share, {"rounds": rounds}, sources=[0])[0], expected)


def test_several_columns():
    view = weighted("int64")
    rng = np.random.default_rng(2)
    columns = {
        "weight": view.out.columns["weight"],
        "open": rng.random(view.num_edges) < 0.5,
        "toll": rng.integers(-3, 3, view.num_edges).astype(np.int16),
    }
    view.out.columns.update(columns)
    program = VertexProgram(
        state={"cost": Field("int64", initial=100)},
        compute=lambda source_cost, weight, edge_open, edge_toll: (
            source_cost + weight + edge_toll if edge_open else 1000
        ),
        combine="min",
    )  # fmt: skip
    assert packed.bytes_of_edge(Binding(program, view, {})) == 4
    given = {"max_supersteps": 4, "exact_supersteps": True}
    expected = on(cpu, program, view, **given)
    for way in ("stream", "zero-copy"):
        equal(ran(program, view, 0.4, {"transfer": way}, **given)[0], expected)


def test_words_are_made_once():
    from dask_graphgpu.engine.known import DISTANCES

    view = weighted("int64")
    ran(DISTANCES, view, 0.4, {}, sources=[0])
    made = RunCache.of(DeviceView.of(view))._pinned
    words = list(made.values())
    assert [array.dtype for _, array in words] == [np.uint32]
    ran(DISTANCES, view, 0.2, {}, sources=[3])
    assert [found is kept for found, kept in zip(made.values(), words, strict=True)] == [True]


def test_a_graph_that_fits_as_words_does_not_cross_the_link():
    from dask_graphgpu.engine.known import DISTANCES

    view = weighted("int64")
    binding = Binding(DISTANCES, view, {})
    assert sizes.bytes_apart(binding) == 12
    found, report = ran(DISTANCES, view, 1, {}, sources=[0])
    assert report.moved == {}
    equal(found, on(cpu, DISTANCES, view, sources=[0]))


def test_words_that_are_all_on_the_device_are_not_pinned(monkeypatch):
    view, asked = weighted("int32"), []
    empty = pinned.empty

    def counted(size, dtype, *note):
        asked.append(size)
        return empty(size, dtype, *note)

    monkeypatch.setattr(pinned, "empty", counted)
    program = largest("int32")
    num_edges = Binding(program, view, {}).send.num_edges
    for share, expected in ((2, 0), (0.5, 1)):
        asked.clear()
        ran(program, view, share, {}, max_supersteps=6, exact_supersteps=True)
        assert asked.count(num_edges) == expected
