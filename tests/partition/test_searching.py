"""Searches in rows and among ids that ascend, and merging ids, beside Python's own."""

from bisect import bisect_left
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import dask_graphgpu as dg
from dask_graphgpu.partition import grown_vertices, ids, searching
from dask_graphgpu.partition.as_given import find_cells
from dask_graphgpu.partition.csr import Adjacency, offsets_of
from dask_graphgpu.partition.ids import VertexIds, find_strings

TEXT = st.text(st.sampled_from("ab\0é"), max_size=20)
ROWS = st.lists(
    st.lists(st.integers(0, 5).map(np.uint32), max_size=8).map(sorted), min_size=1, max_size=4
)


@given(st.sets(st.integers(0, 2**64 - 1)), st.lists(st.integers(0, 2**64 - 1)), st.booleans())
def test_integers_among_those_that_ascend(there, wanted, many):
    """Whether or not they are so many that they are sorted."""
    ascending = np.array(sorted(there), np.uint64)
    values = np.array([*wanted, *there], np.uint64)
    least = 0 if many else 1 << 20
    with mock.patch.multiple(searching, _FEW=least, _SMALL=least):
        places = searching.first_places(ascending, values)
        turned = np.arange(len(ascending))[::-1]
        np.testing.assert_array_equal(
            searching.first_places(ascending[::-1], values, turned), places
        )
    assert places.tolist() == [bisect_left(sorted(there), value) for value in values.tolist()]


@given(st.sets(TEXT), st.lists(TEXT))
def test_strings_among_those_that_ascend(there, wanted):
    ascending = sorted(text.encode() for text in there)
    kept = pa.array([text.decode() for text in ascending], pa.large_string())
    places, known = find_strings(kept, pa.array(wanted, pa.large_string()))
    assert places.tolist() == [bisect_left(ascending, text.encode()) for text in wanted]
    assert known.tolist() == [text in there for text in wanted]


def test_few_strings_are_searched_for_and_many_hashed():
    own = pa.array([f"v{i:02}" for i in range(20)], pa.large_string())
    wanted = [pa.array(["v07", "v7", "v00", "w"], pa.large_string())]
    held = VertexIds([own], np.arange(20, dtype=np.uint32)[::-1].copy())
    hashed = held.find_rows(wanted)
    with mock.patch.object(ids, "_MANY", 0), mock.patch.object(ids, "_SEARCHED", 1):
        searched = held.find_rows(wanted)
    for found in (hashed, searched):
        assert found[1].tolist() == [True, False, True, False]
        assert found[0][found[1]].tolist() == [12, 19]


@given(ROWS, st.data())
def test_edges_in_rows(rows, data):
    flat = np.array([w for row in rows for w in row], np.uint32)
    held = Adjacency(offsets_of(np.array([len(row) for row in rows])), flat, {})
    asked = data.draw(st.lists(st.tuples(st.integers(0, len(rows) - 1), st.integers(0, 5))))
    at = np.array(asked, np.int64).reshape(-1, 2)
    first, end = find_cells(held, at[:, 0], at[:, 1])
    for (row, wanted), lo, hi in zip(asked, first, end, strict=True):
        assert flat[lo:hi].tolist() == [w for w in rows[row] if w == wanted]
        assert held.offsets[row] <= lo <= hi <= held.offsets[row + 1]


def test_new_ids_are_merged_with_old_ones(tmp_path):
    """As building anew, also where that is done by the way of many ids."""
    old = pd.DataFrame({"src": [1, 5, 9], "dst": [5, 9, 12]})
    new = pd.DataFrame({"src": [0, 5, 20], "dst": [5, 7, 9]})
    for kind in ("int64", "str"):
        edges = [frame.astype(kind) for frame in (old, new)]
        edges[0].graph(directed=False).save(tmp_path / kind)
        with mock.patch.object(grown_vertices, "_MANY", 0):
            found = dg.load(tmp_path / kind).append(edges[1]).bfs(edges[1]["src"][0]).compute()
        built = pd.concat(edges).graph(directed=False).bfs(edges[1]["src"][0])
        pd.testing.assert_frame_equal(found, built)
