"""The peeling kernel: core numbers, what it reads, and the rounds it needs."""

import numpy as np
import oracles
from hypothesis import given
from hypothesis import strategies as st

from dask_graphgpu.kernels.cpu import peeling
from dask_graphgpu.partition.csr import from_edges

vertex = st.integers(0, 11)


@given(st.sets(st.tuples(vertex, vertex).filter(lambda e: e[0] < e[1])), st.randoms())
def test_core_numbers_whatever_the_order_of_the_vertices(edges, random):
    source, destination = np.array(sorted(edges), np.int64).reshape(-1, 2).T
    rows = from_edges(12, np.r_[source, destination], np.r_[destination, source])
    degree = rows.degrees.astype(np.int32)
    alive = np.arange(12, dtype=np.uint32)
    random.shuffle(alive)
    rounds, read = peeling.peel(rows.offsets, rows.neighbours, degree, alive)
    assert degree.tolist() == oracles.core_numbers(12, edges)
    assert rounds == len(set(degree.tolist()))
    assert read == rows.num_edges
