"""Rows of undirected graphs, on the host and by the rules of the device, against a plain statement."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mixed_directions import TOLERANCES, once

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition import undirected as host
from dask_graphgpu.partition.csr import Coo
from dask_graphgpu.partition.device import undirected as device
from dask_graphgpu.partition.device.csr import Pairs


@st.composite
def lists(draw, weights=("int64", "uint8", "float64", "float32", None)):
    """Rows with many repeats in both directions, with few weights, some the same but for rounding."""
    n = draw(st.integers(1, 5))
    kind = draw(st.sampled_from(weights))
    values = [1, 2, 5]
    if kind in TOLERANCES:
        values = [np.dtype(kind).type(value) / np.dtype(kind).type(3) for value in values]
        values += [np.nextafter(value, np.dtype(kind).type(9)) for value in values] + [np.inf]
    vertex = st.integers(0, n - 1)
    row = st.tuples(vertex, vertex, st.sampled_from(values if kind else [None]))
    return n, draw(st.lists(row, max_size=30)), kind


def made(module, n, rows, kind, rank=None, cut=0):
    """The entries of rows as tuples, in the order of the rows; made of two runs."""
    runs = []
    for part in (rows[:cut], rows[cut:]):
        source, destination = np.array([row[:2] for row in part], np.uint32).reshape(-1, 2).T.copy()
        columns = {"place": np.array([rows.index(row) for row in part], np.int64)}
        if kind is not None:
            columns = {"weight": np.array([row[2] for row in part], kind)} | columns
        if module is host:
            runs.append(Coo(source, destination, np.empty(0, np.uint32), columns))
        else:
            runs.append(Pairs(source, destination, None, columns))
    found, _ = module.undirected(n, runs, np.uint32, rank)
    assert found.neighbours.dtype == np.uint32
    ends = np.repeat(np.arange(n), np.diff(found.offsets.astype(np.int64)))
    for v in range(n):
        assert (np.diff(found.neighbours[ends == v].astype(np.int64)) >= 0).all()
    weight = [None] * len(ends) if kind is None else found.columns["weight"].tolist()
    places = found.columns["place"].tolist()  # every column belongs to the same row
    entries = list(zip(ends.tolist(), found.neighbours.tolist(), weight, strict=True))
    for place, (end, neighbour, w) in zip(places, entries, strict=True):
        assert {end, neighbour} == set(rows[place][:2])
        assert rows[place][2] == w
    return entries


def in_order(entry):
    return entry[:2], entry[2] or 0


def wanted(rows, kind, order=None):
    """Entries at both ends of each edge, a loop's once."""
    order = order or {v: v for row in rows for v in row[:2]}
    back = {place: v for v, place in order.items()}
    ranked = [(order[u], order[v], w) for u, v, w in rows]
    edges = [(back[u], back[v], w) for u, v, w in once(ranked, TOLERANCES.get(kind, 0.0))]
    entries = edges + [(v, u, w) for u, v, w in edges if u != v]
    return sorted(entries, key=in_order)


@pytest.mark.parametrize("module", [host, device], ids=["host", "device"])
@given(given=lists(), data=st.data())
def test_each_pair_of_ends_is_decided_for_itself(module, given, data):
    n, rows, kind = given
    cut = data.draw(st.integers(0, len(rows)))
    assert sorted(made(module, n, rows, kind, cut=cut), key=in_order) == wanted(rows, kind)


@pytest.mark.parametrize("module", [host, device], ids=["host", "device"])
@given(given=lists(), data=st.data())
def test_the_smaller_vertex_is_that_of_the_users_order(module, given, data):
    n, rows, kind = given
    rank = data.draw(st.permutations(range(n)))
    found = made(module, n, rows, kind, rank=np.array(rank, np.uint32))
    assert sorted(found, key=in_order) == wanted(rows, kind, dict(enumerate(rank)))


@pytest.mark.parametrize("module", [host, device], ids=["host", "device"])
def test_two_vertices_with_many_rows(module):
    rng = np.random.default_rng(2)
    ends = rng.permuted([[0, 1]] * 3000, axis=1)
    rows = list(map(tuple, np.column_stack([ends, rng.integers(0, 40, 3000)]).tolist()))
    assert sorted(made(module, 2, rows, "int64"), key=in_order) == wanted(rows, "int64")


def test_the_kernel_is_compiled_once_with_and_without_the_users_order():
    for rank in (None, np.array([1, 0], np.uint32)):
        made(host, 2, [(0, 1, 5), (1, 0, 5)], "int64", rank=rank)
    place = [*inspect.signature(kernels.undirected.keep_once.py_func).parameters].index("rank")
    types = {str(each[place].dtype) for each in kernels.undirected.keep_once.signatures}
    assert "uint32" in types
    assert "uint8" not in types  # of no order, once


def test_marks_beyond_half_of_32_bits_take_64():
    assert host.marked_dtype(2**31, np.uint32) == np.uint32
    assert host.marked_dtype(2**31 + 1, np.uint32) == np.uint64
    assert host.marked_dtype(10, np.uint64) == np.uint64
