"""Kernels of breadth-first search: one direction, one level, one block at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_graphgpu.kernels.cpu import bfs
from dask_graphgpu.partition.csr import from_edges, transpose

NO_TARGETS = np.empty(0, np.int64)
NO_CUTOFF = -1
NO_LIMIT = 1 << 60


def start(rows, source):
    level = np.full(rows.num_vertices, -1, np.int32)
    queue = np.zeros(rows.num_vertices + 1, rows.neighbours.dtype)
    level[source] = 0
    queue[0] = source
    return level, queue


@pytest.fixture(params=[True, False], ids=["branches", "none"])
def push(request):
    def call(
        rows, level, queue, head, tail, depth, cutoff=NO_CUTOFF, targets=NO_TARGETS, limit=NO_LIMIT
    ):
        return bfs.push(
            rows.offsets, rows.neighbours, level, queue, head, tail, depth, cutoff, targets, 0,
            limit, request.param,
        )  # fmt: skip

    return call


@pytest.fixture
def star():
    """0 -> 1, 1 -> 2 .. 101, each of those -> 102."""
    middle = np.arange(2, 102)
    source = np.r_[0, np.full(100, 1), middle]
    destination = np.r_[1, middle, np.full(100, 102)]
    return from_edges(103, source, destination)


def test_push_to_the_end(star, push):
    level, queue = start(star, 0)
    head, tail, depth, missing, read, ahead = push(star, level, queue, 0, 1, 0)
    assert (head, tail, missing, read, ahead) == (103, 103, 0, 201, 0)
    assert depth == 4  # the last superstep finds nothing
    assert level.tolist() == [0, 1, *[2] * 100, 3]
    assert sorted(queue[:103]) == list(range(103))


def test_push_comes_back_before_a_large_level_and_goes_on(star, push):
    level, queue = start(star, 0)
    head, tail, depth, _, read, ahead = push(star, level, queue, 0, 1, 0, limit=99)
    assert (head, tail, depth, read, ahead) == (1, 2, 1, 1, 100)
    assert level.max() == 1
    push(star, level, queue, head, tail, depth)
    assert level.tolist() == [0, 1, *[2] * 100, 3]


def test_push_stops_at_the_cutoff_and_at_the_last_target(star, push):
    for stop in ({"cutoff": 2}, {"targets": np.array([0, 50])}):
        level, queue = start(star, 0)
        *_, ahead = push(star, level, queue, 0, 1, 0, **stop)
        assert ahead == 0
        assert level.tolist() == [0, 1, *[2] * 100, -1]


def test_blocks_of_a_level_append_each_vertex_once():
    n = 5_000
    rng = np.random.default_rng(0)
    rows = from_edges(n, rng.integers(100, size=50_000), rng.integers(n, size=50_000))
    level = np.where(np.arange(n) < 100, 0, -1).astype(np.int32)
    queue = np.arange(n, dtype=rows.neighbours.dtype)
    tail = np.array([100])
    for lo, hi in ((0, 37), (37, 37), (37, 100)):
        bfs.push_block(lo, hi, rows.offsets, rows.neighbours, level, queue, 1, tail)
    found = queue[100 : tail[0]]
    assert len(found) > 2 * bfs._BUFFER  # buffers were emptied on the way
    expected = np.unique(rows.neighbours)
    assert sorted(found) == expected[expected >= 100].tolist()
    assert (level[found] == 1).all()


@given(st.sets(st.integers(0, 199)))
def test_collect_gives_what_mark_marked(vertices):
    queue = np.array(sorted(vertices), np.uint32)
    frontier = np.zeros(4, np.uint64)
    bfs.mark(0, len(queue), queue, frontier)
    collected = np.zeros(200, np.uint32)
    tail = bfs.collect(0, 4, frontier, collected, 0)
    assert collected[:tail].tolist() == queue.tolist()


@given(st.data())
def test_a_pull_finds_what_a_push_finds_and_reads_no_more_than_it_must(data):
    n = data.draw(st.integers(1, 150))
    vertex = st.integers(0, n - 1)
    edges = np.array(data.draw(st.lists(st.tuples(vertex, vertex), max_size=60)), np.int64)
    out = from_edges(n, *edges.reshape(-1, 2).T)
    into = transpose(out)
    old = data.draw(st.sets(vertex))
    now = data.draw(st.sets(vertex)) - old
    level = np.full(n, -1, np.int32)
    level[list(old)] = 3
    level[list(now)] = 4
    frontier, found, done = np.zeros((3, 3), np.uint64)
    bfs.mark(0, len(now), np.array(sorted(now), np.uint32), frontier)
    expected = {v for u, v in edges.tolist() if u in now} - old - now
    before = level.copy()
    counts = [
        bfs.pull_block(
            lo,
            hi,
            into.offsets,
            into.neighbours,
            out.offsets,
            level,
            5,
            frontier,
            found,
            done,
            True,
        )
        for lo, hi in ((0, min(64, n)), (min(64, n), n))
    ]
    count, read, ahead = np.sum(counts, axis=0)
    assert set(np.flatnonzero(level == 5)) == expected
    assert (level[before >= 0] == before[before >= 0]).all()
    assert count == len(expected)
    assert ahead == sum(out.degrees[v] for v in expected)
    rows = {v: into.neighbours[into.offsets[v] : into.offsets[v + 1]].tolist() for v in range(n)}
    assert read == sum(
        next((i + 1 for i, u in enumerate(rows[v]) if u in now), len(rows[v]))
        for v in range(n)
        if before[v] < 0
    )
    bits = np.unpackbits(np.stack([found, done]).view(np.uint8), axis=1, bitorder="little")[:, :n]
    assert set(np.flatnonzero(bits[0])) == expected
    assert set(np.flatnonzero(bits[1])) == expected | old | now | {
        v for v in range(n) if not rows[v]
    }
