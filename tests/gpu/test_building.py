"""Partitions of arrays on the device, by the kernels of a build, are those of the host."""

import cupy
import numpy as np
import pandas as pd
import pytest
from device_builds import assert_same, both_builds, frame_of

from dask_graphgpu.errors import UnknownVertex
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.device import host as host_memory
from dask_graphgpu.partition.device.arrays import count, segments
from dask_graphgpu.partition.device.build import DeviceEdges, DeviceVertices, build
from dask_graphgpu.partition.device.moved import moved
from dask_graphgpu.partition.layout import Layout

pytestmark = pytest.mark.gpu


def on_host(adjacency):
    columns = {name: cupy.asnumpy(column) for name, column in adjacency.columns.items()}
    return Adjacency(
        cupy.asnumpy(adjacency.offsets).astype(np.int64),
        cupy.asnumpy(adjacency.neighbours),
        columns,
    )


def check(host, device):
    assert host.order == device.order
    assert device.ids.columns[0].tolist() == host.ids.columns[0].to_pylist()
    np.testing.assert_array_equal(
        host.ids.in_user_order(), cupy.asnumpy(device.ids.in_user_order())
    )
    assert_same(host.given, on_host(device.given))
    for rule in ("keep", "one", "min", "max", "sum"):
        for way in ("out", "into"):
            made = on_host(getattr(device.view(rule), way))
            assert_same(getattr(host.view(rule), way), made)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("kind", ["random", "skewed", "local", "negative", "mirrored"])
def test_partition_is_that_of_the_host(kind, directed, parts):
    frame = frame_of(kind, edges=3000)
    check(*both_builds(frame, Layout(directed=directed), parts=parts, xp=cupy))


@pytest.mark.parametrize("weight", ["uint8", "uint32", "int64", "float32", "float64"])
@pytest.mark.parametrize("directed", [True, False])
def test_weights_of_any_type(weight, directed):
    frame = frame_of("random", weight=weight)
    check(*both_builds(frame, Layout(directed=directed, by="destination"), xp=cupy))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "uint64"])
def test_ids_of_any_width(dtype):
    check(*both_builds(frame_of("random", dtype=dtype), Layout(), xp=cupy))


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64"])
@pytest.mark.parametrize("order", ["id", "degree"])
def test_many_ids_are_found_by_few_launches(dtype, order, monkeypatch):
    frame = frame_of("negative" if dtype[0] == "i" else "random", dtype=dtype)
    host, device = both_builds(frame, Layout(order=order), xp=cupy)
    wanted = frame["src"].tolist()
    expected = host.ids.find(wanted)
    monkeypatch.setattr(elements, "find_id", None)  # which finds one, and reads it back
    np.testing.assert_array_equal(device.ids.find(wanted), expected)
    with pytest.raises(UnknownVertex, match="127 is not a vertex"):
        device.ids.find([*wanted, 127])


def test_ids_near_the_ends_of_their_type():
    for low, dtype in ((2**64 - 60, np.uint64), (-(2**63), np.int64), (2**63 - 60, np.int64)):
        ends = np.array([low, low + 40, low + 7], dtype)
        check(*both_builds(pd.DataFrame({"src": ends, "dst": ends[::-1]}), Layout(), xp=cupy))


def test_columns_that_are_not_contiguous():
    frame = frame_of("random")
    host, _ = both_builds(frame, Layout())
    pairs = cupy.asarray(frame[["src", "dst"]].to_numpy())
    weight = cupy.asarray(frame["weight"].to_numpy().astype(np.uint32))
    given = DeviceEdges((pairs[:, 0],), (pairs[:, 1],), {"weight": weight})
    check(host, build([given], [], Layout()))


def test_a_range_of_many_tiles_and_vertices_that_only_the_vertices_frame_has():
    random = np.random.default_rng(3)
    ends = random.integers(0, 50_000, (2, 4000))
    frame = pd.DataFrame({"src": ends[0], "dst": ends[1]})
    vertices = pd.DataFrame({"vertex": [7, 49_999, 60_000], "value": [1.5, 2.0, 3.0]})
    host, device = both_builds(frame, Layout(), vertices, xp=cupy)
    check(host, device)
    given = device.vertex_columns.columns["value"]
    np.testing.assert_array_equal(host.vertex_columns.columns["value"], cupy.asnumpy(given))


def test_vertices_without_edges():
    device = build([], [DeviceVertices((cupy.asarray([4, 2]),))], Layout())
    assert device.ids.columns[0].tolist() == [2, 4]
    assert device.view("one").out.offsets.tolist() == [0, 0, 0]


@pytest.mark.parametrize("piece", [1000, 1 << 25])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("kind", ["random", "skewed"])
def test_a_partition_of_the_host_moves(kind, directed, piece, monkeypatch):
    monkeypatch.setattr(host_memory, "_PIECE", piece)
    vertices = pd.DataFrame({"vertex": [3, -7, 1000], "value": [1.5, np.nan, 3.0]})
    host, _ = both_builds(frame_of(kind, edges=3000), Layout(directed=directed), vertices)
    device = moved(host)
    check(host, device)
    assert device.vertex_columns.missing == host.vertex_columns.missing
    back = device.on_host()
    assert_same(host.given, back.given)
    assert back.ids.columns == host.ids.columns
    wanted, known = host.vertex_columns.with_gaps("value")
    found, there = back.vertex_columns.with_gaps("value")
    np.testing.assert_array_equal(found[there], wanted[known])


TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("old", [*TYPES, "bool", "float32", "float64"])
def test_values_in_another_type(old):
    values = np.array([0, 1, 100, -1, -100]).astype(old)
    for new in (*TYPES, "float64") if old[0] != "f" else ("float32", "float64"):
        made = elements.converted(cupy.asarray(values), new)
        assert made.dtype == np.dtype(new)
        np.testing.assert_array_equal(cupy.asnumpy(made), values.astype(new))


@pytest.mark.parametrize("dtype", TYPES)
def test_ids_are_found(dtype):
    info = np.iinfo(dtype)
    ids = np.array([info.min, info.min + 1, 5, 5, 5, 9, info.max], dtype)
    given = cupy.asarray(ids)
    for value in (info.min, 0, 5, 6, 9, info.max - 1, info.max):
        wanted = tuple(int(ids.searchsorted(ids.dtype.type(value), s)) for s in ("left", "right"))
        assert elements.find_id(given, value) == wanted


def test_elements_of_segments():
    offsets = np.array([0, 0, 3, 3, 3, 7, 8, 8], np.uint32)
    made = segments(cupy.asarray(offsets), 8, np.uint32)
    np.testing.assert_array_equal(cupy.asnumpy(made), segments(offsets, 8, np.uint32))
    assert count(made, 9).tolist() == [0, 3, 0, 0, 4, 1, 0, 0, 0]
    level = cupy.asarray(np.array([[3, -1], [0, -7]], np.int32))
    assert elements.not_negative(level).tolist() == [[True, False], [True, False]]


@pytest.mark.parametrize("size", [0, 1, 1023, 1024, 1025, 5000])
def test_places_where_a_mask_holds(size):
    mask = np.random.default_rng(size).random(size) < 0.3
    for behind in (True, False):
        found = elements.places_of(cupy.asarray(mask), behind=behind)
        np.testing.assert_array_equal(cupy.asnumpy(found), elements.places_of(mask, behind=behind))


@pytest.mark.parametrize("dtype", [*TYPES, "float32", "float64"])
def test_the_least_and_the_largest_of_segments(dtype):
    random = np.random.default_rng(5)
    values = (200 * random.random(3000) - 100).astype(dtype)
    ends = np.unique(np.r_[0, random.integers(0, 3000, 400), 3000])
    given = cupy.asarray(values), cupy.asarray(ends)
    for most, combine in ((False, np.minimum), (True, np.maximum)):
        found = elements.extremes(*given, most=most)
        assert found.dtype == values.dtype
        np.testing.assert_array_equal(cupy.asnumpy(found), combine.reduceat(values, ends[:-1]))


@pytest.mark.parametrize("value", [0, 7, 255])
@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "float64"])
def test_arrays_of_one_value(dtype, value):
    made = elements.filled(cupy, 2000, value, dtype)
    np.testing.assert_array_equal(cupy.asnumpy(made), np.full(2000, value, dtype))


@pytest.mark.parametrize("dtype", [*TYPES, "float32", "float64"])
def test_sums_of_segments(dtype):
    random = np.random.default_rng(6)
    values = (200 * random.random(40_000) - 100).astype(dtype)
    ends = np.sort(np.r_[0, 0, random.integers(0, 3000, 700), 12_000, 40_000]).astype(np.uint32)
    found = elements.sums(cupy.asarray(values), cupy.asarray(ends))
    wide = values.astype("float64" if dtype[0] == "f" else "int64")
    before = np.r_[0, np.cumsum(wide)]
    np.testing.assert_allclose(cupy.asnumpy(found), before[ends[1:]] - before[ends[:-1]], atol=1e-6)


def test_some_values_are_copied_marked_and_kept():
    values = np.array([np.inf, 2.0, np.inf, 4.0])
    marks = cupy.asarray(np.array([1, 0, 0, 0], np.uint8))
    given = cupy.asarray(values)
    elements.mark_others(given, np.inf, marks)
    assert marks.tolist() == [1, 1, 0, 1]
    assert elements.kept(given, marks).tolist() == [np.inf, 2.0, 0.0, 4.0]
    elements.copy_some(given, cupy.asarray([1, 3]), out := cupy.zeros(4))
    assert out.tolist() == [0.0, 2.0, 0.0, 4.0]
    elements.mark(cupy.asarray([2]), marks)
    assert marks.tolist() == [1, 1, 1, 1]
    elements.fill_some(out, cupy.asarray([0, 3], np.uint32), -np.inf)
    assert out.tolist() == [-np.inf, 2.0, 0.0, -np.inf]
    elements.fill(out, 0.5)
    assert out.tolist() == [0.5] * 4
