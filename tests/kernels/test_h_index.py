"""Estimates of core numbers under ghosts that stand still, against the rule applied until it holds."""

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_graphgpu.kernels.cpu import h_index
from dask_graphgpu.partition.csr import from_edges

N = 12
UNLIMITED = 2**62

vertex = st.integers(0, N - 1)
# Not between ghosts, which are the vertices from `owned` on.
edge_sets = st.sets(st.tuples(vertex, vertex).filter(lambda edge: edge[0] < edge[1]))
estimates = st.lists(st.integers(0, N), min_size=N, max_size=N)
ids = st.sampled_from(["uint32", "uint64"])


class Case:
    def __init__(self, edges, owned, ghosts, ids="uint32"):
        self.edges = sorted(edge for edge in edges if edge[0] < owned)
        self.owned = owned
        source, destination = np.array(self.edges, ids).reshape(-1, 2).T
        self.rows = from_edges(N, np.r_[source, destination], np.r_[destination, source])
        self.ids = self.rows.neighbours.dtype
        self.estimate = np.array(ghosts, np.int32)
        self.enough = np.full(owned, -1, np.int32)
        self.lowered = np.zeros(owned, bool)

    def peel(self, most=N, shuffle=None):
        self.estimate[: self.owned] = self.rows.degrees[: self.owned]
        self.estimate[self.owned :] = np.minimum(self.estimate[self.owned :], most)
        alive = np.arange(N, dtype=self.ids)
        if shuffle is not None:
            shuffle.shuffle(alive)
        return h_index.peel(
            self.rows.offsets, self.rows.neighbours, self.owned, most, self.estimate, self.enough, alive
        )  # fmt: skip

    def lower(self, now, limit=UNLIMITED):
        """Ghosts come down to `now`, where that is lower."""
        before = self.estimate[self.owned :].copy()
        self.estimate[self.owned :] = np.minimum(before, now[self.owned :])
        fallen = self.owned + np.flatnonzero(self.estimate[self.owned :] < before)
        waiting = np.zeros(self.owned, bool)
        counts = np.zeros(self.estimate[: self.owned].max(initial=0) + 1, np.int32)
        looks, read, done = h_index.lower(
            fallen.astype(self.ids), before, limit, self.rows.offsets, self.rows.neighbours,
            self.owned, self.estimate, self.enough, self.lowered, waiting,
            np.empty(self.owned, self.ids), counts,
        )  # fmt: skip
        assert not counts.any()
        assert done or read > limit
        assert done == (not waiting.any())
        return looks, read, done

    def expected(self, most=N):
        """Own estimates brought down one by one until every one has as many neighbours as high."""
        found = self.estimate.tolist()
        found[: self.owned] = [most] * self.owned
        around = [[] for _ in range(N)]
        for u, v in self.edges:
            around[u].append(v)
            around[v].append(u)
        down = True
        while down:
            down = [
                v
                for v in range(self.owned)
                if sum(found[u] >= found[v] for u in around[v]) < found[v]
            ]
            for v in down:
                found[v] -= 1
        return found, [sum(found[u] >= found[v] for u in around[v]) for v in range(self.owned)]

    def check(self, most=N):
        found, enough = self.expected(most)
        assert self.estimate.tolist() == found
        assert self.enough.tolist() == enough


@given(edge_sets, st.randoms(), ids)
def test_without_ghosts_they_are_core_numbers(edges, random, ids):
    case = Case(edges, N, [0] * N, ids)
    read = case.peel(shuffle=random)
    assert case.estimate.tolist() == oracles.core_numbers(N, edges)
    assert read == case.rows.num_edges
    case.check()


@given(edge_sets, st.integers(0, N), estimates, st.integers(0, N), st.randoms(), ids)
def test_peeled_under_ghosts(edges, owned, ghosts, most, random, ids):
    case = Case(edges, owned, ghosts, ids)
    assert case.peel(most, random) <= case.rows.num_edges
    case.check(most)


@given(
    edge_sets, st.integers(0, N), estimates, st.integers(0, N), st.lists(estimates, max_size=3), ids
)
def test_lowered_after_ghosts(edges, owned, ghosts, most, steps, ids):
    case = Case(edges, owned, ghosts, ids)
    case.peel(most)
    first = case.estimate.copy()
    for now in steps:
        assert case.lower(now)[2]
        case.check(most)
    assert case.lowered.tolist() == (case.estimate < first)[:owned].tolist()


@given(edge_sets, st.integers(0, N), estimates, estimates)
def test_given_up_and_peeled_anew(edges, owned, ghosts, now):
    case = Case(edges, owned, ghosts)
    case.peel()
    case.lower(now, limit=0)
    case.peel()
    case.check()


def test_only_those_with_too_few_are_looked_at():
    # A triangle of own vertices 0, 1, 2; between 0 and the ghosts 10 and 11 are 3 and 4.
    case = Case([(0, 1), (1, 2), (0, 2), (0, 3), (0, 4), (3, 10), (4, 11)], 10, [5] * N)
    case.peel()
    assert case.estimate[:5].tolist() == [2, 2, 2, 2, 2]
    looks, read, _ = case.lower([*[0] * 10, 1, 5])
    assert (looks, read) == (1, 1 + 2 * 2)  # vertex 3; 0 still has three others
    assert case.estimate[:5].tolist() == [2, 2, 2, 1, 2]
    assert np.flatnonzero(case.lowered).tolist() == [3]


@pytest.mark.parametrize("length", [1, 5, 9])
def test_a_path_falls_from_its_end(length):
    """Each vertex of it is looked at once."""
    path = [(v, v + 1) for v in range(length)] + [(0, 11)]
    case = Case(path, length, [2] * N)
    case.peel()
    assert case.estimate[:length].tolist() == [2] * length
    looks, read, _ = case.lower([*[2] * 11, 1])
    assert looks == length
    assert read == 1 + 2 * 2 * length
    assert case.estimate[:length].tolist() == [1] * length
