"""Levels of a peeling under ghosts that go when they are said to, against vertices taken away one by one."""

import numpy as np
import oracles
from hypothesis import given
from hypothesis import strategies as st

from dask_graphgpu.kernels.cpu import rank_peeling as kernels
from dask_graphgpu.partition.csr import from_edges

N = 12
vertex = st.integers(0, N - 1)
edge_sets = st.sets(st.tuples(vertex, vertex).filter(lambda edge: edge[0] < edge[1]))


class Case:
    """Own vertices are those below `owned`; there are no edges between ghosts."""

    def __init__(self, edges, owned, ids="uint32"):
        self.edges = sorted(edge for edge in edges if edge[0] < owned)
        source, destination = np.array(self.edges, ids).reshape(-1, 2).T
        self.rows = from_edges(N, np.r_[source, destination], np.r_[destination, source])
        self.owned, self.ids = owned, self.rows.neighbours.dtype
        self.degree = self.rows.degrees[:owned].astype(np.int32)
        self.counts = np.bincount(self.degree, minlength=1)
        self.alive, self.left = np.arange(owned, dtype=self.ids), owned

    def level(self, k, fallen, shared):
        """Peel once; the vertices that are told, and how many have gone."""
        stack, told = np.empty((2, self.owned), self.ids)
        self.left, top = kernels.begin_level(k, self.alive, self.left, self.degree, stack)
        gone, number, _ = kernels.peel(
            k, stack, top, np.array(fallen, self.ids), self.rows.offsets, self.rows.neighbours,
            self.owned, self.degree, self.counts, shared, told,
        )  # fmt: skip
        return told[:number].tolist(), gone


@given(edge_sets, st.sampled_from(["uint32", "uint64"]))
def test_without_ghosts_they_are_core_numbers(edges, ids):
    case, k, gone = Case(edges, N, ids), -1, 0
    while (k := kernels.next_level(k, case.counts, N)) < N:
        gone += case.level(k, [], np.zeros(N, bool))[1]
    assert gone == N
    assert case.degree.tolist() == oracles.core_numbers(N, edges)


@given(edge_sets, st.integers(0, N), st.data())
def test_ghosts_that_go(edges, owned, data):
    """After each level degrees are those among own vertices and ghosts that are left, but not below the level."""
    case = Case(edges, owned)
    shared = np.array([data.draw(st.booleans()) for _ in range(owned)], bool)
    left, ghosts = set(range(owned)), set(range(owned, N))
    around = {v: {u + w - v for u, w in case.edges if v in (u, w)} for v in range(N)}
    for k in range(N):
        fallen = data.draw(st.sets(st.sampled_from(sorted(ghosts)))) if ghosts else set()
        ghosts -= fallen
        before = set(left)
        while low := {v for v in left if len(around[v] & (left | ghosts)) <= k}:
            left -= low
        told, gone = case.level(k, sorted(fallen), shared)
        assert gone == len(before - left)
        assert set(told) == {v for v in before - left if shared[v]}
        for v in left:
            assert case.degree[v] == len(around[v] & (left | ghosts))
        for v in before - left:
            assert case.degree[v] == k


def test_places_go_to_every_holder():
    offsets, peers = np.array([0, 2, 2, 3]), np.array([0, 2, 2], np.uint16)
    places, told = np.array([7, 1, 5], np.uint32), np.array([2, 0], np.uint32)
    lengths = np.empty(3, np.int64)
    kernels.count_peers(told, offsets, peers, lengths)
    assert lengths.tolist() == [1, 0, 2]
    ends, out = np.cumsum(lengths), np.empty(3, np.uint32)
    kernels.address(told, offsets, places, peers, ends - lengths, out)
    assert out.tolist() == [7, 5, 1]
