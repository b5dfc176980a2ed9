"""Linking and compressing trees, also while two threads do it at once."""

import threading

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_graphgpu.kernels.cpu import components as kernels
from dask_graphgpu.partition.csr import from_edges

pairs = st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15)), max_size=30)


@given(pairs, st.sampled_from([np.uint32, np.uint64]))
def test_parents_are_never_larger_and_roots_are_smallest_members(edges, dtype):
    parent = np.arange(16, dtype=dtype)
    rows = from_edges(16, *np.array(edges, dtype).reshape(-1, 2).T)
    kernels.link_rest(0, 16, rows.offsets, rows.neighbours, parent, 0, 16)
    assert (parent <= np.arange(16)).all()
    kernels.compress(0, 16, parent)
    assert parent.tolist() == oracles.components(16, edges)


@given(pairs)
def test_skipping_a_tree_reads_none_of_its_edges(edges):
    parent = np.arange(16, dtype=np.uint32)
    rows = from_edges(16, *np.array(edges, np.int64).reshape(-1, 2).T)
    parent[:8] = 0  # one tree
    outside = int(rows.degrees[8:].sum())
    assert kernels.link_rest(8, 16, rows.offsets, rows.neighbours, parent.copy(), 0, 0) <= outside
    assert kernels.link_rest(0, 8, rows.offsets, rows.neighbours, parent, 0, 0) == 0


@given(pairs, st.sampled_from([np.uint32, np.uint64]), st.integers(0, 30), st.integers(0, 15))
def test_edges_are_linked_whatever_is_known_before(edges, dtype, known, root):
    """Cut anywhere; bits of the vertices that are known to be together by then save looks, not links."""
    rows = from_edges(16, *np.array(edges, dtype).reshape(-1, 2).T)
    parent, cut = np.arange(16, dtype=dtype), min(known, rows.num_edges)
    inside = np.zeros(1, np.uint64)
    kernels.link_edges(0, cut, rows.offsets, rows.neighbours, parent, inside)
    kernels.compress(0, 16, parent)
    kernels.mark_inside(0, 16, parent[:0], parent, root, inside)
    assert int(inside[0]) == sum(1 << v for v in range(16) if parent[v] == root)
    kernels.link_edges(cut, rows.num_edges, rows.offsets, rows.neighbours, parent, inside)
    kernels.compress(0, 16, parent)
    assert parent.tolist() == oracles.components(16, edges)


@pytest.mark.parametrize("degree", [63, 64, 65, 200])
def test_edges_between_vertices_that_are_inside_are_not_looked_at(degree):
    """The bits are believed: only a neighbour whose bit is not set is linked."""
    n = 300
    rows = from_edges(n, np.full(degree, 7), np.arange(50, 50 + degree))
    parent = np.arange(n, dtype=np.uint32)
    inside = np.full(5, 2**64 - 1, np.uint64)
    kernels.link_edges(0, degree, rows.offsets, rows.neighbours, parent, inside)
    assert parent.tolist() == list(range(n))
    last = 50 + degree - 1
    inside[last // 64] ^= np.uint64(1 << last % 64)
    kernels.link_edges(0, degree, rows.offsets, rows.neighbours, parent, inside)
    assert parent[last] == 7
    inside[:] = 2**64 - 1
    inside[0] ^= np.uint64(1 << 7)  # of the row itself: all its edges are looked at
    kernels.link_edges(0, degree, rows.offsets, rows.neighbours, parent, inside)
    assert (parent[50 : 50 + degree] == 7).all()


def test_members_are_marked_in_words_of_their_own():
    parent = np.random.default_rng(0).integers(0, 2, 1000).astype(np.uint32)
    inside = np.full(16, 2**64 - 1, np.uint64)
    for lo, hi in ((0, 128), (128, 640), (640, 1000)):
        kernels.mark_inside(lo, hi, parent[:0], parent, 1, inside)
    bits = np.unpackbits(inside.view(np.uint8), bitorder="little")
    assert bits[:1000].tolist() == parent.tolist()
    assert not bits[1000:].any()


def test_sampled_links_take_one_place_of_each_row():
    rows = from_edges(4, np.array([0, 0, 3]), np.array([1, 2, 1]))
    parent = np.arange(4, dtype=np.uint32)
    kernels.link_sampled(0, 4, rows.offsets, rows.neighbours, parent, 1)
    assert parent.tolist() == [0, 1, 0, 3]
    kernels.link_sampled(0, 4, rows.offsets, rows.neighbours, parent, 0)
    assert parent.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("seed", range(3))
def test_two_threads_link_a_long_path_at_once(seed):
    n = 200_000
    place = np.random.default_rng(seed).permutation(n)
    rows = from_edges(n, place[:-1], place[1:])
    parent = np.arange(n, dtype=np.uint32)
    start = threading.Barrier(2)

    def work(lo, hi):
        start.wait()
        kernels.link_rest(lo, hi, rows.offsets, rows.neighbours, parent, 0, n)
        kernels.compress(lo, hi, parent)  # while the other still links

    threads = [threading.Thread(target=work, args=b) for b in ((0, n // 2), (n // 2, n))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    kernels.compress(0, n, parent)
    assert not parent.any()


def test_labels_follow_the_rank():
    parent = np.array([0, 0, 2, 0, 2], np.uint32)
    rank = np.array([4, 3, 0, 2, 1])
    best, holder, labels = rank.copy(), np.zeros_like(parent), np.zeros_like(parent)
    kernels.smallest_rank(0, 5, parent, rank, best)
    kernels.holder_of_rank(0, 5, parent, rank, best, holder)
    kernels.relabel(0, 5, parent, holder, labels)
    assert labels.tolist() == [3, 3, 2, 3, 2]
