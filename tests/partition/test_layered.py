"""Layers of vertices, and edges in their order, against networkx; the same on any number of ranks."""

import networkx as nx
import numpy as np
import pytest
from cut_graphs import cut
from hypothesis import given
from hypothesis import strategies as st
from layered_views import layered, layered_share
from made_graphs import SHAPES, apart, edgeless, path, random_small
from small_graphs import on_threads, small_graphs

from dask_graphgpu.partition.layered import order_edges
from dask_graphgpu.partition.rowwise import row_ids
from dask_graphgpu.partition.view import View


def digraph(view):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(view.num_vertices))
    graph.add_edges_from(zip(row_ids(view.out).tolist(), view.out.neighbours.tolist(), strict=True))
    return graph


def check_levels(view, levels, root):
    """Levels of the root's tree are its distances; of the others, those from the others' roots."""
    graph, level = digraph(view), levels.level.tolist()
    numbers = range(view.num_vertices) if view.user_rank is None else view.user_rank.tolist()
    assert numbers[level.index(0)] == levels.root == root
    reached = nx.single_source_shortest_path_length(graph, level.index(0))
    assert {v: level[v] for v in reached} == reached
    rest = graph.subgraph(set(graph) - set(reached))
    if rest:
        behind = max(reached.values()) + 1
        roots = [v for v in rest if level[v] == behind]
        found = nx.multi_source_dijkstra_path_length(rest, roots)
        assert {v: level[v] - behind for v in rest} == found
    assert levels.num_layers == max(level) + 1


def highest(view):
    degree = np.diff(view.out.offsets)
    numbers = np.arange(len(degree)) if view.user_rank is None else view.user_rank
    return int(min(numbers[degree == degree.max()]))


def check_edges(view, made, levels):
    """All edges, each with its columns, in the order of layers, and of sources in each."""
    out = view.out
    layer = levels.level[made.sources]
    bounds = np.searchsorted(layer, np.arange(levels.num_layers + 1))
    np.testing.assert_array_equal(made.starts, bounds)
    order = np.lexsort((made.neighbours, made.sources, layer))
    np.testing.assert_array_equal(made.sources, made.sources[order])
    names = list(out.columns)
    rows = zip(
        made.sources.tolist(), made.neighbours.tolist(), *(made.columns[n].tolist() for n in names),
        strict=True,
    )  # fmt: skip
    given = zip(
        row_ids(out).tolist(), out.neighbours.tolist(), *(out.columns[n].tolist() for n in names),
        strict=True,
    )  # fmt: skip
    assert sorted(rows) == sorted(given)


@given(
    small_graphs(weights=(None, "int64", "float32")), st.integers(0, 11), st.sampled_from([1, 2])
)
def test_every_vertex_has_its_layer_and_every_edge_its_place(graph, root, threads):
    view = graph.view()
    with on_threads(threads):
        by_degree, chosen = layered(view), layered(view, root % graph.n)
        check_levels(view, by_degree.levels, highest(view))
        check_levels(view, chosen.levels, root % graph.n)
        check_edges(view, chosen.layered("source"), chosen.levels)


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape):
    view = SHAPES[shape]().view()
    made = layered(view)
    check_levels(view, made.levels, highest(view))
    check_edges(view, made.layered("source"), made.levels)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("way", ["random", "blocks", "last"])
def test_ranks_agree_on_layers(size, way):
    for seed in range(12):
        view = random_small(seed).view()
        root = None if seed % 2 else seed % view.num_vertices
        expected = layered(view, root)
        parts = cut(view, size, way, seed)

        def found(share, root=root):
            made = layered_share(share, root)
            toward = made.toward("out")
            edges = toward.layered("source")
            source, destination = (made.numbers[ends] for ends in (edges.sources, edges.neighbours))
            layer = made.levels.level[edges.sources]
            assert (np.diff(layer) >= 0).all()
            return made.levels, np.stack([layer, source, destination])

        levels, edges = zip(*parts.run(found), strict=True)
        assert {(each.root, each.num_layers) for each in levels} == {
            (expected.levels.root, expected.levels.num_layers)
        }
        here = [parts.run(lambda share: share.numbers)[rank] for rank in range(size)]
        for each, numbers in zip(levels, here, strict=True):  # of ghosts too
            want = expected.levels.level[parts.dense(numbers)]
            np.testing.assert_array_equal(each.level, want)
        rows = expected.layered("source")
        layer = expected.levels.level[rows.sources]
        wanted = np.stack([layer, parts.numbers[rows.sources], parts.numbers[rows.neighbours]])
        together = np.concatenate(edges, axis=1)
        assert sorted(together.T.tolist()) == sorted(wanted.T.tolist())


def test_many_trees_are_grown_at_once():
    view = apart(parts=300, size=6).view()
    made = layered(view)
    assert made.levels.num_layers <= 2 * 6
    check_levels(view, made.levels, highest(view))


def test_no_vertices_and_no_edges():
    view = edgeless(0).view()
    made = layered(view)
    assert (made.levels.root, made.levels.num_layers) == (-1, 0)
    assert made.layered("source").starts.tolist() == [0]
    made = layered(edgeless(3).view())
    assert made.levels.level.tolist() == [0, 1, 1]
    assert made.layered("source").lengths.tolist() == [0, 0]


def test_against_the_edges():
    """Senders are the destinations; rows the other way are not made for it."""
    view = path(50, directed=True).view()
    made = layered(view)
    edges = made.layered("destination")
    check_edges(View.of(view.into), edges, made.levels)
    rows = View.of(view.out)
    rows.levels = made.levels
    assert rows.layered("destination").num_edges == 49
    assert not rows.has_into


def test_edges_are_ordered_once_and_show_columns():
    weight = np.arange(199)
    view = layered(path(200, directed=True, weight=weight).view())
    edges = view.layered("source")
    assert view.layered("source").sources is edges.sources
    assert list(edges.showing(()).columns) == []
    assert edges.columns["weight"].tolist() == weight.tolist()
    assert order_edges(view.out, view.levels).arrays()[1].tolist() == edges.sources.tolist()
    held = {id(array) for array in view.rows.arrays()}
    assert {id(array) for array in edges.arrays()} <= held
