"""The rules by which partitions are built on the device, run on NumPy arrays, against the host's."""

import numpy as np
import pandas as pd
import pytest
from device_builds import assert_same, both_builds, frame_of

from dask_graphgpu.errors import IntegerOverflow
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device import arrays, rowwise
from dask_graphgpu.partition.device.build import DeviceVertices, build
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.parts import part, windows

RULES = ("one", "min", "max", "sum", "keep")


@pytest.fixture(autouse=True, params=[7, 1 << 26])
def block(request, monkeypatch):
    """Blocks shorter than most arrays, and as they are."""
    monkeypatch.setattr(arrays, "BLOCK", request.param)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("kind", ["random", "skewed", "local", "sparse", "negative", "mirrored"])
def test_partition_is_that_of_the_host(kind, directed, parts):
    frame = frame_of(kind)
    host, device = both_builds(frame, Layout(directed=directed), parts=parts)
    assert host.order == device.order
    assert device.ids.columns[0].tolist() == host.ids.columns[0].to_pylist()
    assert device.ids.columns[0].dtype == frame["src"].dtype
    np.testing.assert_array_equal(host.ids.in_user_order(), device.ids.in_user_order())
    assert_same(host.given, device.given)
    for rule in RULES:
        a, b = host.view(rule), device.view(rule)
        assert_same(a.out, b.out)
        assert_same(a.into, b.into)
        assert_same(a.symmetric, b.symmetric)
        for direction in ("out", "in", "both"):
            np.testing.assert_array_equal(a.degrees(direction), b.degrees(direction))
            assert b.degrees(direction).dtype == np.int64
            np.testing.assert_array_equal(
                a.weighted_degrees(direction), b.weighted_degrees(direction)
            )
        np.testing.assert_array_equal(a.loops(), b.loops())
        np.testing.assert_array_equal(a.ends()[0], b.ends()[0])
        assert_same(a.undirected().out, b.undirected().out)


@pytest.mark.parametrize("weight", ["uint8", "uint32", "float32", "float64"])
@pytest.mark.parametrize("by", ["source", "destination"])
def test_weights_of_any_type(weight, by):
    host, device = both_builds(frame_of("random", weight=weight), Layout(by=by))
    assert_same(host.given, device.given)
    for rule in RULES:
        assert_same(host.view(rule).out, device.view(rule).out)
        assert_same(host.view(rule).into, device.view(rule).into)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64"])
def test_ids_of_any_width(dtype):
    frame = frame_of("random", dtype=dtype)
    host, device = both_builds(frame, Layout())
    assert device.ids.columns[0].dtype == np.dtype(dtype)
    assert_same(host.given, device.given)
    for wanted in ([3, np.int64(39), 1], [3, 39, 1] * 10):
        np.testing.assert_array_equal(host.ids.find(wanted), device.ids.find(wanted))


def test_ids_near_the_ends_of_their_type():
    for low, dtype in ((2**64 - 60, np.uint64), (-(2**63), np.int64), (2**63 - 60, np.int64)):
        ends = np.array([low, low + 40, low + 7], dtype)
        frame = pd.DataFrame({"src": ends, "dst": ends[::-1]})
        host, device = both_builds(frame, Layout())
        assert device.ids.columns[0].tolist() == host.ids.columns[0].to_pylist()
        assert_same(host.given, device.given)
        np.testing.assert_array_equal(host.ids.find(ends[1:2]), device.ids.find(ends[1:2]))


def test_ids_are_found_or_not():
    _, device = both_builds(frame_of("skewed"), Layout(order="degree"))
    ids = device.ids
    there = ids.columns[0][[0, 5, 3]]
    found, known = ids.find_rows([np.append(there, 10**9)])
    assert known.tolist() == [True, True, True, False]
    np.testing.assert_array_equal(found[:3], ids.find(there.tolist()))
    for wrong in (10**9, -1, 2**70, "a", 1.0, None, True):
        for many in ([wrong], [*there.tolist() * 10, wrong]):
            with pytest.raises(Exception, match="is not a vertex"):
                ids.find(many)


def test_vertices_frame():
    vertices = pd.DataFrame({"vertex": [0, 7, 1000], "value": [1.5, np.nan, 3.0]})
    host, device = both_builds(frame_of("random"), Layout(), vertices)
    assert device.num_vertices == host.num_vertices
    assert host.vertex_columns.missing == device.vertex_columns.missing
    for a, b in zip(
        host.vertex_columns.with_gaps("value"),
        device.vertex_columns.with_gaps("value"),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtypes", [("int64", "uint8"), ("uint32", "int8"), ("int32", "uint32")])
def test_negative_ids_beside_unsigned_ones(dtypes):
    ends = [np.array([-3, 4, 4]), np.array([9, 0, 9])]
    if dtypes[0].startswith("u"):
        ends.reverse()
    frame = pd.DataFrame({"src": ends[0].astype(dtypes[0]), "dst": ends[1].astype(dtypes[1])})
    host, device = both_builds(frame, Layout())
    assert device.ids.columns[0].tolist() == host.ids.columns[0].to_pylist() == [-3, 0, 4, 9]
    assert_same(host.given, device.given)


@pytest.mark.parametrize("directed", [True, False])
def test_vertices_without_edges(directed):
    layout = Layout(directed=directed)
    device = build([], [DeviceVertices((np.array([4, 2]),))], layout)
    assert device.ids.columns[0].tolist() == [2, 4]
    assert device.view("one").out.offsets.tolist() == [0, 0, 0]


def test_sums_that_leave_int64_are_refused():
    most = 2**62
    given = Adjacency(
        np.array([0, 3], np.uint32),
        np.array([0, 0, 0], np.uint32),
        {"weight": np.array([most, most, 1])},
    )
    for refused in (
        lambda: rowwise.merge_repeats(given, "sum"),
        lambda: rowwise.sum_rows(given),
        lambda: rowwise.sum_neighbours(given),
    ):
        with pytest.raises(IntegerOverflow):
            refused()


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("kind", ["random", "skewed", "sparse", "mirrored"])
def test_parts_are_those_of_the_host(kind, directed):
    frame = frame_of(kind)
    vertices = pd.DataFrame({"vertex": frame["src"].unique()[5:9], "value": [1.5, 2, None, 4]})
    for by in ("source", "destination")[: 1 + directed]:
        whole = both_builds(frame, Layout(directed=directed, by=by), vertices)
        for low, high in ((3, 6), (None, 4), (0.5, None), (20, None)):
            assert_same_parts(*(part(each, "weight", low, high) for each in whole))
        again = [part(part(each, "weight", 1, 6), "weight", 2, None) for each in whole]
        assert_same_parts(*again)
        cuts = [windows(each, "weight", lambda *_: [0, 4, 7, 9]) for each in whole]
        for (low, first), (other, second) in zip(*cuts, strict=True):
            assert (low, len(first)) == (other, len(second))
            assert_same_parts(first.partition(), second.partition())


def assert_same_parts(host, device):
    assert device.ids.columns[0].tolist() == host.ids.columns[0].to_pylist()
    assert (host.order, host.num_rows) == (device.order, device.num_rows)
    np.testing.assert_array_equal(host.ids.in_user_order(), device.ids.in_user_order())
    assert_same(host.given, device.given)
    mine, others = host.vertex_columns, device.vertex_columns
    assert mine.missing == others.missing
    np.testing.assert_array_equal(mine.listed, others.listed)
    np.testing.assert_array_equal(mine.columns["value"], others.columns["value"])
    assert_same(device.on_host().given, host.given)
