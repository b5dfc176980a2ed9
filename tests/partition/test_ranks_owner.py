"""Partitioners: every vertex has one owner, and edges are spread as evenly as they say."""

import sys

import numpy as np
import pandas as pd
import pytest
from made_graphs import edgeless, grid, path, rmat, star
from rank_parts import Chunks, shares

from dask_graphgpu.errors import EngineUnavailable, InvalidArgument
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.ranks.owner import NAMED

SIZES = (1, 2, 3, 4, 7)
UNDIRECTED = Layout(directed=False)


def chunks_of(made, cuts=8, vertices=None):
    frame = pd.DataFrame({"src": made.source, "dst": made.destination})
    return Chunks.of(frame, np.linspace(0, len(frame), cuts + 1).astype(int)[1:-1], vertices)


def needs(partitioner):
    if partitioner == "metis":
        pytest.importorskip("pymetis")
    return partitioner


def owners_of(parts):
    owners = np.full(parts[0].num_vertices, -1)
    for j, part in enumerate(parts):
        own = part.numbers[: part.num_owned]
        assert (owners[own] == -1).all()
        owners[own] = j
    return owners


@pytest.mark.parametrize("partitioner", NAMED)
@pytest.mark.parametrize("size", SIZES)
def test_every_vertex_has_one_owner_on_any_graph(partitioner, size):
    lonely = pd.DataFrame({"vertex": np.arange(70)})
    for chunks in (
        chunks_of(rmat(7, 4, by_degree=False)),
        chunks_of(star(200)),
        chunks_of(path(30), vertices=lonely),
        chunks_of(path(2), 1),
        chunks_of(edgeless(0), 1, lonely),
    ):
        parts = shares(size, chunks, UNDIRECTED, partitioner=needs(partitioner))
        owners = owners_of(parts)
        assert ((owners >= 0) & (owners < size)).all()
        again = shares(size, chunks, UNDIRECTED, partitioner=partitioner)
        np.testing.assert_array_equal(owners_of(again), owners)


@pytest.mark.parametrize("size", SIZES)
def test_owners_do_not_depend_on_where_chunks_are(size):
    made = rmat(8, 4, by_degree=False)
    for partitioner in ("balanced", "random", "biased_random"):
        dealt = [
            shares(size, Chunks(c.edges, [], at, []), UNDIRECTED, partitioner=partitioner)
            for c in [chunks_of(made)]
            for at in (range(8), [0] * 8, [7 * i % 5 for i in range(8)])
        ]
        for parts in dealt[1:]:
            np.testing.assert_array_equal(owners_of(parts), owners_of(dealt[0]))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("size", [2, 3, 4, 7, 16])
def test_no_rank_has_much_more_than_its_share_of_a_skewed_graph(size, directed):
    chunks = chunks_of(rmat(13, 16, by_degree=False))
    layout = Layout(directed=directed)
    rows = chunks.whole(layout).given.num_edges
    for partitioner, most in (("balanced", 1.02), ("biased_random", 1.2)):
        shown = shares(size, chunks, layout, partitioner=partitioner)[0].shares
        assert shown.imbalance < most
        assert shown.edges.sum() == rows * (2 if directed else 1)


@pytest.mark.parametrize("size", [2, 4, 7])
def test_ranges_where_the_order_has_locality(size):
    parts = shares(size, chunks_of(grid(60)), UNDIRECTED)
    owners = owners_of(parts)
    assert (np.diff(owners) >= 0).all()
    assert parts[0].shares.imbalance < 1.02
    assert parts[0].shares.border.max() <= 2 * 61


@pytest.mark.parametrize("size", [2, 4, 7])
def test_by_falling_degree_where_it_has_none(size):
    made = rmat(10, 8, by_degree=False)
    parts = shares(size, chunks_of(made), UNDIRECTED)
    _, degrees = np.unique(np.concatenate([made.source, made.destination]), return_counts=True)
    largest = np.argsort(-degrees, kind="stable")[:size]  # places in the order of the ids
    # The largest are on as many ranks, so that none has two of them.
    assert len(set(owners_of(parts)[largest])) == size


def test_a_vertex_that_is_more_than_a_share_has_a_rank_of_its_own_edges():
    parts = shares(4, chunks_of(star(1000)), UNDIRECTED)
    shown = parts[0].shares
    hub = owners_of(parts)[0]
    assert shown.vertices[hub] < 250
    rest = np.delete(shown.edges, hub)
    assert rest.max() - rest.min() <= 1


def test_random_owners_are_spread_and_follow_no_order():
    parts = shares(4, chunks_of(path(20_000)), UNDIRECTED, partitioner="random")
    owners = owners_of(parts)
    assert np.bincount(owners).min() > 4700
    assert 0.2 < (owners[1:] == owners[:-1]).mean() < 0.3


def test_biased_owners_have_a_smaller_border():
    made = grid(70)
    ids = np.random.default_rng(0).permutation(made.n)
    made = type(made)(made.n, ids[made.source], ids[made.destination])
    for size in (2, 4):
        biased, even = (
            shares(size, chunks_of(made), UNDIRECTED, partitioner=name)[0].shares
            for name in ("biased_random", "random")
        )
        assert biased.border.sum() < 0.95 * even.border.sum()
        assert biased.imbalance < 1.1


@pytest.mark.parametrize("size", [2, 4, 7])
def test_metis_finds_the_grid_behind_shuffled_ids(size):
    pytest.importorskip("pymetis")
    made = grid(60)
    ids = np.random.default_rng(0).permutation(made.n)
    made = type(made)(made.n, ids[made.source], ids[made.destination])
    shown = shares(size, chunks_of(made), UNDIRECTED, partitioner="metis")[0].shares
    assert shown.imbalance < 1.1
    assert shown.border.max() < 300
    dealt = shares(size, chunks_of(made), UNDIRECTED)[0].shares
    assert shown.border.sum() < dealt.border.sum() / 10


@pytest.mark.parametrize("size", [1, 3])
def test_metis_that_is_not_installed(size, monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(EngineUnavailable, match=r"pip install pymetis.*one process.*2\*\*30 edges"):
        shares(size, chunks_of(path(5)), partitioner="metis")


def test_a_graph_that_metis_cannot_count(monkeypatch):
    pytest.importorskip("pymetis")
    monkeypatch.setattr("dask_graphgpu.partition.ranks.metis._MOST", 500)
    with pytest.raises(InvalidArgument, match=r"up to 500 vertices and ends.*there are 598"):
        shares(2, chunks_of(path(200)), partitioner="metis")


@pytest.mark.parametrize("size", SIZES)
def test_a_function_of_the_user(size):
    made = rmat(6, 4, by_degree=False)
    degrees = np.bincount(np.r_[made.source, made.destination], minlength=64)
    present = np.flatnonzero(degrees)
    asked = []

    def function(numbers, given, ranks):
        assert ranks == size
        np.testing.assert_array_equal(given, degrees[present[numbers]])
        asked.extend(numbers.tolist())
        return (numbers // 3 % ranks).astype(np.int32)

    parts = shares(size, chunks_of(made), UNDIRECTED, partitioner=function)
    assert sorted(asked) == list(range(len(present)))
    np.testing.assert_array_equal(owners_of(parts), np.arange(len(present)) // 3 % size)


def test_all_vertices_to_one_rank():
    parts = shares(
        3, chunks_of(path(50)), partitioner=lambda numbers, degrees, ranks: np.full(len(numbers), 1)
    )
    assert [part.num_owned for part in parts] == [0, 50, 0]
    assert [part.shares.border.tolist() for part in parts] == [[0, 0, 0]] * 3
    parts = shares(3, chunks_of(path(50)), partitioner=lambda n, d, r: n * 0, duplication="all")
    assert [len(part.numbers) for part in parts] == [50] * 3


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda n, d, r: np.zeros(len(n)), r"dtype float64 and shape \(\d+,\) for \d+ vertices"),
        (
            lambda n, d, r: np.zeros(len(n) + 1, int),
            r"shape \(\d+,\) for \d+ vertices; give an int",
        ),
        (lambda n, d, r: 0, r"dtype int64 and shape \(\) for"),
        (lambda n, d, r: n.astype(int) % (r + 1), "ranks that there are not, the first to 2"),
        (lambda n, d, r: -n.astype(int) % 2 - 1, "less than 2"),
    ],
)
def test_owners_that_are_none(function, why):
    with pytest.raises(InvalidArgument, match=why):
        shares(2, chunks_of(path(50)), partitioner=function)


def test_a_function_that_raises_is_heard_of_once():
    def function(numbers, degrees, ranks):
        if numbers[0] == 0:
            raise ZeroDivisionError("mine")
        return np.zeros(len(numbers), int)

    with pytest.raises(ZeroDivisionError, match="mine"):
        shares(3, chunks_of(path(50)), partitioner=function)


@pytest.mark.parametrize("wrong", ["hash", None, 3])
def test_unknown_partitioners_are_refused(wrong):
    with pytest.raises(InvalidArgument, match=r"partitioner=.*'balanced', 'random', 'biased"):
        shares(2, chunks_of(path(5)), partitioner=wrong)


def test_unknown_duplication_is_refused():
    with pytest.raises(
        InvalidArgument, match="duplication='some'; allowed are 'neighbours', 'all'"
    ):
        shares(2, chunks_of(path(5)), duplication="some")
