"""Kernels of the closing pass: preference, early exit, counts."""

import numpy as np
import pytest
from numba import njit

from dask_graphgpu.kernels.cpu import predecessors as kernels
from dask_graphgpu.partition.csr import from_edges, transpose

NOTHING = np.empty(0, np.int64)


@njit
def better(u, other, degree, rank):
    return kernels.better(u, other, degree, rank)


@pytest.mark.parametrize(
    ("rank", "order"), [(NOTHING, [2, 0, 3, 1]), (np.array([9, 0, 5, 2]), [2, 3, 0, 1])]
)
def test_higher_degree_then_smaller_rank(rank, order):
    degree = np.array([4, 1, 7, 4])
    for i, u in enumerate(order):
        for j, v in enumerate(order):
            assert better(u, v, degree, rank) == (i < j)


def test_in_order():
    degree = np.array([5, 4, 4, 1])
    assert kernels.in_order(0, 4, degree, NOTHING)
    assert kernels.in_order(0, 4, degree, np.array([3, 0, 1, 2]))
    assert not kernels.in_order(0, 4, degree, np.array([3, 1, 0, 2]))
    assert not kernels.in_order(1, 3, degree[::-1].copy(), NOTHING)
    # a block looks at the vertex after it
    assert not kernels.in_order(0, 1, np.array([1, 2]), NOTHING)
    assert kernels.in_order(1, 2, np.array([1, 2]), NOTHING)


def test_rows_in_the_order_of_preference_are_left_at_the_first_hit():
    out = from_edges(5, np.array([0, 0, 0, 1, 2, 3]), np.array([1, 2, 3, 4, 4, 4]))
    into = transpose(out)
    level, reached = np.array([0, 1, 1, 1, 2], np.int32), np.ones(5, bool)
    degree = np.array([9, 8, 7, 6, 5])
    for early, edges in ((True, 4), (False, 6)):
        predecessor = np.arange(5, dtype=np.uint32)
        without, read = kernels.pull(
            0, 5, into.offsets, into.neighbours, NOTHING, level, reached, degree, NOTHING, early,
            predecessor,
        )  # fmt: skip
        assert predecessor.tolist() == [0, 0, 0, 0, 1]
        assert (without, read) == (1, edges)


def test_push_and_pull_agree_and_leave_unreached_vertices_alone():
    n = 300
    rng = np.random.default_rng(2)
    out = from_edges(n, *rng.integers(n, size=(2, 3000)), {"weight": rng.integers(4, size=3000)})
    into = transpose(out)
    distance, reached = rng.integers(6, size=n), rng.random(n) < 0.8
    degree, rank = rng.integers(3, size=n), rng.permutation(n)
    pushed, pulled = np.arange(n, dtype=np.uint32), np.arange(n, dtype=np.uint32)
    kernels.push(
        0, n, out.offsets, out.neighbours, out.weight, distance, reached, degree, rank, pushed
    )
    without, _ = kernels.pull(
        0, n, into.offsets, into.neighbours, into.weight, distance, reached, degree, rank, False,
        pulled,
    )  # fmt: skip
    assert (pushed == pulled).all()
    assert (pulled[~reached] == np.arange(n)[~reached]).all()
    assert without == kernels.count_without(0, n, reached, pushed)
    assert 0 < without < reached.sum()


def test_in_degrees_adds_to_what_is_there():
    degree = np.array([10, 20, 30])
    kernels.in_degrees(1, 4, np.array([0, 0, 2, 2, 1], np.uint32), degree)
    assert degree.tolist() == [11, 20, 32]


def test_a_plateau_is_crossed_level_by_level():
    # 0 -> 1 -> 2 -> 3 and 0 -> 3, all of weight zero; 2 has the higher degree but comes a level too late
    edges = np.array([(0, 1), (1, 2), (2, 3), (0, 3)])
    rows = from_edges(4, *edges.T, {"weight": np.zeros(4, np.int64)})
    predecessor = np.arange(4, dtype=np.uint32)
    rounds, read = kernels.cross_plateaus(
        0, rows.offsets, rows.neighbours, rows.weight, np.zeros(4, np.int64), np.ones(4, bool),
        np.array([0, 0, 9, 0]), NOTHING, predecessor,
    )  # fmt: skip
    assert predecessor.tolist() == [0, 0, 1, 0]
    assert (rounds, read) == (3, 4)
