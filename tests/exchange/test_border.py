"""Owners' values at ghosts, against plain NumPy over the whole graph."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_graphgpu.errors import InvalidArgument, RanksAborted
from dask_graphgpu.exchange.border import Border
from dask_graphgpu.exchange.local import run_local

pytestmark = pytest.mark.timeout(120)


class Share:
    """A rank's local ids in a graph given as one array of owners and one of edges."""

    def __init__(self, owner, edges, rank, size, dtype):
        def owned(j):  # any order will do; this one is not ascending
            return np.flatnonzero(owner == j)[::-1]

        def seen_from(j):
            """Remote neighbours of rank j, by owner, then in the owner's order."""
            here = owner[edges] == j
            remote = np.unique(edges[here.any(axis=1)])
            return [
                np.array([v for v in owned(k) if v in remote and k != j], int) for k in range(size)
            ]

        own, seen = owned(rank), seen_from(rank)
        self.vertices = np.concatenate([own, *seen])
        self.num_owned = len(own)
        self.ghosts = np.cumsum([len(own), *map(len, seen)])
        place = {v: i for i, v in enumerate(own.tolist())}
        self.sends = [
            np.array([place[v] for v in seen_from(j)[rank].tolist()], dtype) for j in range(size)
        ]


@st.composite
def graphs(draw):
    size = draw(st.integers(1, 5))
    n = draw(st.integers(1, 30))
    vertex = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex), max_size=60))
    owner = draw(st.lists(st.integers(0, size - 1), min_size=n, max_size=n))
    return size, np.array(owner), np.array(edges, int).reshape(-1, 2)


def values(n, seed):
    """Arrays over all vertices, of the kinds that programs have."""
    random = np.random.default_rng(seed)
    return [
        random.integers(0, 2, n).astype(bool),
        random.random(n).astype(np.float32),
        random.integers(-(2**63), 2**63 - 1, n),
        random.integers(0, 2**64, (n, 3), np.uint64),
        random.random((n, 2)),
        random.integers(0, 255, n).astype(np.uint8),
    ]


@given(
    graphs(),
    st.sampled_from(["uint32", "uint64"]),
    st.one_of(st.none(), st.sampled_from([0.0, 0.05, 0.5, 1.0])),
    st.sampled_from([bool, np.uint8]),
    st.integers(0, 2**32),
)
def test_refresh(graph, dtype, share, flags, seed):
    size, owner, edges = graph
    n = len(owner)
    before, after = values(n, seed), values(n, seed + 1)
    changed = np.random.default_rng(seed).random(n) < (1.0 if share is None else share)

    def work(ranks):
        mine = Share(owner, edges, ranks.rank, ranks.size, dtype)
        border = Border(ranks, mine.num_owned, mine.ghosts, mine.sends)
        is_ghost = np.arange(len(mine.vertices)) >= mine.num_owned
        arrays = [
            np.where(
                is_ghost.reshape(-1, *[1] * (old.ndim - 1)), old[mine.vertices], new[mine.vertices]
            )
            for old, new in zip(before, after, strict=True)
        ]
        given = None if share is None else changed[mine.vertices].astype(flags)
        ids, scalars = border.refresh(arrays, given, np.array([ranks.rank, 7]))
        assert scalars.tolist() == [[j, 7] for j in range(size)]
        expected = np.flatnonzero(is_ghost & changed[mine.vertices])
        assert ids.dtype == dtype
        assert ids.tolist() == expected.tolist()
        fresh = ~is_ghost | changed[mine.vertices]
        for array, old, new in zip(arrays, before, after, strict=True):
            assert np.array_equal(array[fresh], new[mine.vertices][fresh])
            assert np.array_equal(array[~fresh], old[mine.vertices][~fresh])
        assert border.num_ghosts == is_ghost.sum()
        assert (border.sent_bytes == 0) == (
            not any(changed[mine.vertices[s]].any() for s in mine.sends if len(s))
        )

    run_local(size, work)


@given(
    graphs(),
    st.sampled_from(["uint32", "uint64"]),
    st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    st.integers(0, 6),
    st.integers(0, 2**32),
)
def test_owners_are_told_of_ghosts(graph, dtype, share, kind, seed):
    size, owner, edges = graph
    whole = [*values(len(owner), seed), np.empty((len(owner), 0), np.uint8)][kind]
    named = np.random.default_rng(seed).random((size, len(owner))) < share  # by which rank

    def work(ranks):
        mine = Share(owner, edges, ranks.rank, ranks.size, dtype)
        border = Border(ranks, mine.num_owned, mine.ghosts, mine.sends)
        ghosts = np.arange(mine.num_owned, len(mine.vertices))
        ghosts = ghosts[named[ranks.rank, mine.vertices[ghosts]]]
        told, every = border.tell_owners(
            ghosts.astype(dtype), whole[mine.vertices[ghosts]], np.array([ranks.rank + 0.5])
        )
        assert every[:, 0].tolist() == [rank + 0.5 for rank in range(size)]
        assert (border.sent_bytes > 0) == (len(ghosts) > 0)
        for ids, sent in told:
            assert ids.dtype == dtype
            np.testing.assert_array_equal(sent, whole[mine.vertices[ids]])
        named_to_me = [set(mine.vertices[ids].tolist()) for ids, _ in told]
        return set(mine.vertices[ghosts].tolist()), named_to_me

    found = run_local(size, work)
    for rank, (_, told) in enumerate(found):
        for other, ids in enumerate(told):
            assert ids == {v for v in found[other][0] if owner[v] == rank}


# -- which form ------------------------------------------------------------------------------------

N = 10_000  # vertices of rank 0, all of them ghosts of rank 1
ROW = 8 + 4


def sent(changed):
    """Bytes that rank 0 sends of an int64 and a float32 array; they are compared as well."""

    def work(ranks):
        ghosts = np.array([0, 0, 0]) if ranks.rank == 0 else np.array([0, N, N])
        here = np.arange(N, dtype=np.uint32)
        nowhere = here[:0]
        sends = [nowhere, here[::-1]] if ranks.rank == 0 else [nowhere, nowhere]
        border = Border(ranks, N if ranks.rank == 0 else 0, ghosts + N * (ranks.rank == 0), sends)
        wide = np.arange(N) if ranks.rank == 0 else np.full(N, -1)
        narrow = wide.astype(np.float32)
        mask = changed if changed is None or ranks.rank == 0 else changed[:0]
        ids, _ = border.refresh([narrow, wide], mask)
        if ranks.rank == 1:
            expected = np.arange(N) if changed is None else np.flatnonzero(changed[::-1])
            assert np.array_equal(ids, expected)
            assert np.array_equal(wide[expected], N - 1 - expected)
            assert np.array_equal(narrow, wide.astype(np.float32))
            assert np.count_nonzero(wide >= 0) == len(expected)
        return border.sent_bytes

    mine, other = run_local(2, work)
    assert other == 0
    return mine


@pytest.mark.parametrize("count", [1, 7, 600])
def test_few_go_as_a_list(count):
    changed = np.zeros(N, bool)
    changed[np.random.default_rng(count).permutation(N)[:count]] = True
    assert sent(changed) == 8 + count * (ROW + 2)  # places among 10,000 fit two bytes


@pytest.mark.parametrize("count", [700, 5000, N - 1])
def test_many_go_as_a_bit_each(count):
    changed = np.zeros(N, bool)
    changed[np.random.default_rng(count).permutation(N)[:count]] = True
    assert sent(changed) == 8 + count * ROW + N // 8


@pytest.mark.parametrize("changed", [None, np.ones(N, bool), np.ones(N, np.uint8)])
def test_all_go_without_names(changed):
    assert sent(changed) == 8 + N * ROW


def test_nothing_goes_when_nothing_changed():
    assert sent(np.zeros(N, bool)) == 0


def test_refresh_adds_up_bytes_and_needs_no_arrays():
    def work(ranks):
        n = 3
        ghosts = np.array([n, n, 2 * n]) if ranks.rank == 0 else np.array([n, 2 * n, 2 * n])
        own, none = np.arange(n, dtype=np.uint64), np.empty(0, np.uint64)
        border = Border(ranks, n, ghosts, [none, own] if ranks.rank == 0 else [own, none])
        changed = np.array([False, True, False])
        ids, scalars = border.refresh([], changed)
        assert ids.tolist() == [n + 1]
        assert scalars.shape == (2, 0)
        first = border.sent_bytes
        border.refresh([], changed)
        assert border.sent_bytes == 2 * first
        return first

    assert run_local(2, work) == [9, 9]  # the head and one place


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ghosts", "sends", "words"),
    [
        ([2, 2, 3, 3], ["u4"] * 2, "one more than ranks"),
        ([1, 1, 3], ["u4"] * 2, "num_owned=2"),
        ([2, 3, 3], ["u4"] * 2, "no ghosts of this rank"),
        ([2, 2, 1], ["u4"] * 2, "ascending"),
        ([2, 2, 3], ["u4"], "an array for each rank"),
        ([2, 2, 3], ["u4", "u8"], "all of one dtype"),
    ],
)
def test_borders_that_are_refused(ghosts, sends, words):
    def work(ranks):
        if ranks.rank == 0:
            Border(ranks, 2, np.array(ghosts), [np.empty(0, dtype) for dtype in sends])

    with pytest.raises(InvalidArgument, match=words):
        run_local(2, work)


def test_refresh_of_other_dtypes_elsewhere_is_an_error():
    def work(ranks):
        ghosts = np.array([1, 1, 2]) if ranks.rank == 0 else np.array([1, 2, 2])
        own, none = np.zeros(1, np.uint32), np.empty(0, np.uint32)
        border = Border(ranks, 1, ghosts, [none, own] if ranks.rank == 0 else [own, none])
        border.refresh([np.zeros(2, "f8" if ranks.rank == 0 else "f4")])

    with pytest.raises(RanksAborted, match="same dtypes"):
        run_local(2, work)
