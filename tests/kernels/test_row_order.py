"""The order of rows: in each block those of a length together, as they lie."""

from itertools import pairwise
from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import path, rmat

from dask_graphgpu.engine.cpu import in_step
from dask_graphgpu.kernels.cpu import row_order


@given(st.lists(st.integers(0, 200), max_size=40), st.data())
def test_rows_of_a_block_by_length(lengths, data):
    n = len(lengths)
    inner = data.draw(st.lists(st.integers(0, n), max_size=5))
    bounds = np.array([0, *sorted(inner), n])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64)
    order = np.empty(n, np.uint32)
    row_order.by_length(0, len(bounds) - 1, bounds, offsets, order)
    wanted = []
    for lo, hi in pairwise(bounds):
        wanted += sorted(range(lo, hi), key=lambda v: min(lengths[v], row_order.LONGEST))
    assert order.tolist() == wanted
    shorter = np.minimum(lengths, row_order.LONGEST)
    # However rows are cut: by the threads that there are.
    parts = [row_order.length_changes(lo, hi, offsets) for lo, hi in pairwise(bounds) if lo < hi]
    assert sum(parts) == np.count_nonzero(np.diff(shorter))


def test_rows_that_are_alike_stay_as_they_lie():
    order = in_step.blocked_rows(path(3000).view().into)[1]
    assert len(order) == 0
    with mock.patch.object(in_step, "BLOCK", 64):
        rows = rmat(10, 8, by_degree=False).view().into
        bounds, order, *_ = in_step.blocked_rows(rows)
    assert len(bounds) > 10
    assert order.tolist() != sorted(order.tolist()) == list(range(rows.num_vertices))
