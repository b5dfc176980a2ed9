"""Views: one rule for repeats, each direction on demand."""

import threading
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from small_graphs import on_threads

from dask_graphgpu.errors import IntegerOverflow
from dask_graphgpu.kernels.cpu.threads import LITTLE_WORK
from dask_graphgpu.partition import rowwise
from dask_graphgpu.partition.build import build
from dask_graphgpu.partition.chunk import EdgeChunk
from dask_graphgpu.partition.csr import Adjacency, from_edges, transpose
from dask_graphgpu.partition.ids import Names
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.rows import Rows
from dask_graphgpu.partition.view import View


def undirected(src, dst, weight, rule):
    """Sources, destinations and weights of the view of an undirected partition."""
    names = Names((pa.int64(),), 4, first=0)
    ends = np.array(src, np.uint32), np.array(dst, np.uint32)
    columns = {} if weight is None else {"weight": np.array(weight)}
    chunk = EdgeChunk(*ends, names, columns)
    out = build([chunk], [], Layout(directed=False)).view(rule).out
    weights = [] if out.weight is None else [out.weight.tolist()]
    sources = np.repeat(np.arange(out.num_vertices), out.degrees)
    return sorted(zip(sources.tolist(), out.neighbours.tolist(), *weights, strict=True))


@pytest.mark.parametrize("rule", ["min", "max", "sum", "keep"])
def test_each_edge_once_or_in_both_directions_is_the_same_graph(rule):
    once = undirected([0, 1, 2], [1, 2, 2], [5, 7, 9], rule)
    both = undirected([0, 1, 1, 2, 2], [1, 0, 2, 1, 2], [5, 5, 7, 7, 9], rule)
    assert once == both == [(0, 1, 5), (1, 0, 5), (1, 2, 7), (2, 1, 7), (2, 2, 9)]


def test_opposite_rows_of_other_weight_are_repeats_of_one_edge():
    assert undirected([0, 1], [1, 0], [5, 7], "sum") == [(0, 1, 12), (1, 0, 12)]
    assert undirected([0, 1], [1, 0], [5, 7], "min") == [(0, 1, 5), (1, 0, 5)]


def test_repeats_of_edges_without_weights_are_counted_when_summed():
    assert undirected([0, 1], [1, 2], None, "sum") == [(0, 1), (1, 0), (1, 2), (2, 1)]
    repeated = undirected([0, 0, 1], [1, 1, 2], None, "sum")
    assert repeated == [(0, 1, 2), (1, 0, 2), (1, 2, 1), (2, 1, 1)]
    assert undirected([0, 1, 1], [1, 0, 2], None, "one") == [(0, 1), (1, 0), (1, 2), (2, 1)]


@pytest.mark.parametrize("by", ["source", "destination"])
def test_directions_and_degrees(by):
    src, dst, weight = np.array([0, 0, 2, 3]), np.array([1, 2, 1, 3]), np.array([1, 2, 3, 4])
    ends = (src, dst) if by == "source" else (dst, src)
    view = View(Rows(from_edges(4, *ends, {"weight": weight}), by=by))
    for _ in range(2):  # before and after both directions are made
        assert view.degrees("out").tolist() == [2, 0, 1, 1]
        assert view.degrees("in").tolist() == [0, 2, 1, 1]
        assert view.degrees("both").tolist() == [2, 2, 2, 2]
        assert view.weighted_degrees("out").tolist() == [3, 0, 3, 4]
        assert view.weighted_degrees("in").tolist() == [0, 4, 2, 4]
        assert view.out.neighbours.tolist() == [1, 2, 1, 3]
        assert view.into.neighbours.tolist() == [0, 2, 0, 3]
    assert view.loops().tolist() == [0, 0, 0, 1]
    assert view.max_weight == 4
    assert view.symmetric.neighbours.tolist() == [1, 2, 0, 2, 0, 1]


def test_a_direction_is_made_once_for_all_threads():
    rng = np.random.default_rng(0)
    view = View.of(from_edges(100, rng.integers(0, 100, 999), rng.integers(0, 100, 999)))
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(view.into)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(into) for into in seen}) == 1


def test_views_with_and_without_weights_share_their_rows():
    rows = Rows(from_edges(3, np.array([0, 1]), np.array([1, 2]), {"weight": np.array([4, 5])}))
    weighted, bare = View(rows), View(rows, names=())
    assert bare.into.columns == {}
    assert not bare.is_weighted
    assert weighted.into.neighbours is bare.into.neighbours
    assert weighted.into.weight.tolist() == [4, 5]
    assert weighted.into is weighted.into


@pytest.mark.parametrize("by", ["source", "destination"])
def test_undirected(by):
    """Both directions of every edge with its columns; a self-loop is in its row twice."""
    given = from_edges(3, np.array([0, 1, 2]), np.array([1, 2, 2]), {"weight": np.array([5, 6, 7])})
    rows = Rows(given if by == "source" else transpose(given), by=by)
    view = View(rows, user_rank=np.array([2, 0, 1]))
    both = view.undirected()
    assert not both.directed
    assert both.undirected() is both
    assert both.user_rank is view.user_rank
    neighbours = [both.out.neighbours[a:b].tolist() for a, b in pairwise(both.out.offsets)]
    assert neighbours == [[1], [0, 2], [1, 2, 2]]
    assert both.out.weight.tolist() == [5, 5, 6, 6, 7, 7]
    assert both.degrees("out").tolist() == [1, 2, 3]


@pytest.mark.parametrize("by", ["source", "destination"])
def test_one_edge_column_under_another_name(by):
    columns = {"weight": np.array([5, 6]), "toll": np.array([0.5, 0.25])}
    given = from_edges(3, np.array([0, 1]), np.array([2, 0]), columns)
    view = View(Rows(given if by == "source" else transpose(given), by=by))
    other = view.with_edge_column("price", "toll")
    assert not other.is_weighted
    assert {name: c.tolist() for name, c in other.out.columns.items()} == {"price": [0.5, 0.25]}
    assert other.into.columns["price"].tolist() == [0.25, 0.5]
    assert other.directed


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("vertices", [300, 6_000, 40_000])
def test_degrees_are_counted_in_parts(threads, vertices):
    """Each thread has counters of its own, some share them, all do; sums of floats are the same on any number."""
    rng = np.random.default_rng(vertices)
    source, destination = (vertices * rng.random((2, 90_000)) ** 3).astype(np.uint32)
    names = Names((pa.int64(),), vertices, first=7)
    weight = rng.random(len(source))

    def degrees(number, weight):
        chunks = [
            EdgeChunk(source[part], destination[part], names, {"weight": weight[part]})
            for part in (slice(None, 50_000), slice(50_000, None))
        ]
        with on_threads(number, little_work=LITTLE_WORK):
            made = build(chunks, [], Layout(order="input"))
            view = made.view("keep")
            counted = view.degrees("out"), view.degrees("in")
            sums = view.weighted_degrees("out"), view.weighted_degrees("in")
        ids = np.asarray(made.ids.columns[0]) - 7
        return ids, *counted, *sums

    ids, out, into, out_sum, into_sum = degrees(threads, weight)
    assert ids.tolist() == np.unique([source, destination]).tolist()
    assert out.tolist() == np.bincount(source, minlength=vertices)[ids].tolist()
    assert into.tolist() == np.bincount(destination, minlength=vertices)[ids].tolist()
    assert out_sum == pytest.approx(np.bincount(source, weight, vertices)[ids])
    assert into_sum == pytest.approx(np.bincount(destination, weight, vertices)[ids])
    *_, of_one = degrees(1, weight)
    assert into_sum.tolist() == of_one.tolist()
    *_, of_integers = degrees(threads, np.arange(len(source)))
    assert of_integers.tolist() == [
        int(x) for x in np.bincount(destination, np.arange(len(source)), vertices)[ids]
    ]


def test_a_sum_overflows_that_none_of_its_parts_does():
    rows = from_edges(3, np.zeros(90_000, np.uint32), np.ones(90_000, np.uint32))
    weight = np.full(90_000, 2**63 // 60_000)
    with pytest.raises(IntegerOverflow, match="a vertex's"):
        rowwise.sum_neighbours(Adjacency(rows.offsets, rows.neighbours, {"weight": weight}))
