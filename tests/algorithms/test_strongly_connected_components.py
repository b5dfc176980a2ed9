"""Strongly connected components against reachability, in every way in which they are found."""

from contextlib import contextmanager
from unittest import mock

import networkx as nx
import numpy as np
import oracles
import pandas as pd
import pytest
import scipy.sparse as sp
from engines import of_the_cpu_engine
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import SHAPES, MadeGraph, path
from scipy.sparse import csgraph
from small_graphs import on_threads, small_graphs
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu.engine import cpu
from dask_graphgpu.report import Report


@given(graph=edge_lists(weights=[None, "int64"], kinds=KINDS))
def test_label_is_the_smallest_member(graph):
    found = graph.answers(graph.graph().strongly_connected_components(), "component")
    edges = [edge[:2] for edge in graph.edges]
    wanted = oracles.strong_components(graph.n, edges, graph.rank, directed=graph.directed)
    assert found == {v: graph.ids[wanted[v]] for v in range(graph.n)}


@pytest.mark.parametrize("directed", [True, False])
def test_every_place(place, directed):
    found = place.same(lambda graph: graph.strongly_connected_components(), directed=directed)
    sizes = found[1]["component"].value_counts()
    assert (sizes > 1).sum() > 2
    assert len(sizes) > 100 or not directed


@contextmanager
def every_way(number, **constants):
    """On threads, with all ways taken of graphs of any size."""
    module = "dask_graphgpu.engine.cpu.strong_components"
    constants = {"MANY_VERTICES": 0, "LARGE_REST": 0, **constants}
    with on_threads(number):
        with mock.patch.multiple(module, **constants):
            yield


@of_the_cpu_engine
@given(
    graph=small_graphs(max_vertices=16),
    number=st.sampled_from([1, 2, 4]),
    into=st.booleans(),
    sweeps=st.sampled_from([0, 1, 32]),
    long_rows=st.sampled_from([0, 2, 100]),
)
def test_every_way(graph, number, into, sweeps, long_rows):
    simple = sorted({(u, v) for u, v, *_ in graph.edges})
    graph = type(graph)(graph.n, simple, True, None, graph.rank, graph.ids)
    report = Report("scc")
    with every_way(number, MOST_SWEEPS=sweeps, LONG_ROWS=long_rows):
        label = cpu.strong_components(graph.view(into=into), report)
    assert label.dtype == graph.ids
    assert label.tolist() == oracles.strong_components(graph.n, simple, graph.rank)
    ways = [advance.direction for advance in report.advances]
    assert ways[0] == "trim"
    assert number == 4 or "colour" not in ways
    assert "forward-backward" not in ways or (number > 1 and len(simple) >= long_rows * graph.n)


@of_the_cpu_engine
@given(graph=small_graphs(max_vertices=16))
def test_one_search(graph):
    """Of few vertices; a component has the label that the ranks of the ids give it."""
    simple = sorted({(u, v) for u, v, *_ in graph.edges})
    graph = type(graph)(graph.n, simple, True, None, graph.rank, graph.ids)
    report, view = Report("scc"), graph.view()
    label = cpu.strong_components(view, report)
    assert label.dtype == graph.ids
    assert label.tolist() == oracles.strong_components(graph.n, simple, graph.rank)
    assert [(a.direction, a.frontier, a.edges) for a in report.advances] == [
        ("depth-first", graph.n, len(simple))
    ]
    assert not view.has_into


def settled(graph, **constants):
    """Labels, and what is reported, where mutual edges are looked for in graphs of any size."""
    module = "dask_graphgpu.engine.cpu.strong_components"
    report = Report("scc")
    with mock.patch.multiple(module, MUTUAL_VERTICES=0, **constants):
        label = cpu.strong_components(graph.view(), report)
    return label, report.advances


@of_the_cpu_engine
@given(
    graph=small_graphs(max_vertices=16),
    mutual=st.sampled_from([0, 0.5, 0.9, 1]),
    seed=st.integers(0, 99),
)
def test_mutual_edges(graph, mutual, seed):
    """Are contracted in any graph, with all edges the other way round or some of them."""
    back = np.random.default_rng(seed).random(len(graph.edges)) < mutual
    turned = [(v, u) for (u, v), turn in zip(graph.edges, back, strict=True) if turn]
    simple = sorted({*graph.edges, *turned})
    graph = type(graph)(graph.n, simple, True, None, graph.rank, graph.ids)
    label, advances = settled(graph, MUTUAL_SHARE=-1, MUTUAL_DEGREE=16, OTHER_SHARE=1)
    assert label.dtype == graph.ids
    assert label.tolist() == oracles.strong_components(graph.n, simple, graph.rank)
    ways = [advance.direction for advance in advances]
    assert ways == ["contract", "depth-first"] if simple else ["depth-first"]


@of_the_cpu_engine
@given(graph=small_graphs(max_vertices=16), share=st.sampled_from([0, 0.1, 0.25, 0.5]))
def test_given_up_where_too_few_are_mutual(graph, share):
    simple = sorted({(u, v) for u, v, *_ in graph.edges})
    graph = type(graph)(graph.n, simple, True, None, graph.rank, graph.ids)
    label, advances = settled(graph, MUTUAL_SHARE=-1, MUTUAL_DEGREE=16, OTHER_SHARE=share)
    assert label.tolist() == oracles.strong_components(graph.n, simple, graph.rank)
    others = sum((v, u) not in simple for u, v in simple)
    assert advances[0].direction == ("contract" if simple else "depth-first")
    if others > int(share * len(simple)):
        assert (advances[1].frontier, advances[1].edges) == (graph.n, len(simple))
    elif simple:
        assert advances[1].edges <= others


def scipy_labels(graph):
    matrix = sp.coo_array(
        (np.ones(len(graph.source)), (graph.source, graph.destination)), shape=(graph.n,) * 2
    )
    label = csgraph.connected_components(matrix.tocsr(), connection="strong")[1]
    smallest = np.full(graph.n, graph.n)
    np.minimum.at(smallest, label, np.arange(graph.n))
    return smallest[label]


@of_the_cpu_engine
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("number", [1, 4])
@pytest.mark.parametrize("many", [0, 1 << 20])
def test_shapes(shape, number, many):
    made = SHAPES[shape](directed=True)
    ends = np.unique(np.stack([made.source, made.destination]), axis=1)
    graph = MadeGraph(made.n, *ends, directed=True)
    with every_way(number, MANY_VERTICES=many):
        label = cpu.strong_components(graph.view(), Report("scc"))
    np.testing.assert_array_equal(label, scipy_labels(graph))


@of_the_cpu_engine
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("number", [2, 4])
def test_many_components_of_many_sizes(seed, number):
    """Cycles of random lengths with edges forward between them: trimming and one pivot settle little."""
    rng = np.random.default_rng(seed)
    n = 20_000
    bounds = np.unique(np.r_[0, rng.integers(n, size=n // 12), n])
    last = np.zeros(n, bool)
    last[bounds[1:] - 1] = True
    after = np.arange(1, n + 1)
    after[last] = bounds[:-1]
    forward = np.sort(rng.integers(n, size=(2, n)), axis=0)
    name = rng.permutation(n)
    ends = np.unique(name[np.c_[[np.arange(n), after], forward]], axis=1)
    graph = MadeGraph(n, *ends, directed=True)
    report = Report("scc")
    with every_way(number):
        label = cpu.strong_components(graph.view(), report)
    np.testing.assert_array_equal(label, scipy_labels(graph))
    assert ("colour" in {a.direction for a in report.advances}) == (number == 4)


@of_the_cpu_engine
def test_what_is_reported():
    n = 2_000
    report = Report("scc")
    with every_way(1):
        label = cpu.strong_components(path(n, directed=True).view(), report)
    np.testing.assert_array_equal(label, np.arange(n))
    (trim,) = report.advances
    assert (trim.direction, trim.frontier, trim.edges) == ("trim", n, n - 1)


def both_ways(ends):
    return np.c_[ends, ends[::-1]]


def streets(side):
    """A grid of streets that lead one way, every other one the other way."""
    at = np.arange(side * side).reshape(side, side)
    along = np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()])
    down = np.stack([at[:-1].ravel(), at[1:].ravel()])
    along = np.where(along[0] // side % 2, along, along[::-1])
    down = np.where(down[0] % side % 2, down, down[::-1])
    return side * side, np.c_[along, down]


def ring(lengths):
    """Paths both ways, one after another by an edge one way, and the last to the first."""
    n = sum(lengths)
    bounds = np.cumsum([0, *lengths])
    inner = np.setdiff1d(np.arange(n - 1), bounds[1:] - 1)
    joints = np.stack([bounds[1:] - 1, bounds[1:] % n])
    return n, np.c_[both_ways(np.stack([inner, inner + 1])), joints]


def mostly_mutual(shape):
    """Vertices and edges of a shape of which most edges are mutual, and whether the sample finds that."""
    rng = np.random.default_rng(7)
    if shape == "ring of paths":
        return *ring(rng.integers(1, 200, 100).tolist()), True
    if shape == "chain of paths":
        n, ends = ring([50] * 100)
        return n, ends[:, :-1], True
    if shape == "cycle":
        vertices = np.arange(6_000)
        return 6_000, np.stack([vertices, np.roll(vertices, -1)]), False
    if shape == "streets":
        return *streets(70), False
    if shape == "streets and roads":
        n, ends = streets(70)
        return n, np.c_[both_ways(ends[:, rng.random(ends.shape[1]) < 0.9]), ends], True
    if shape == "star":
        leaves = np.arange(1, 5_000)
        return 5_000, np.c_[both_ways(np.stack([0 * leaves, leaves])), [[5, 6], [6, 7]]], True
    if shape == "loops":
        n, ends = ring([3] * 2_000)
        return n, np.c_[ends, [np.arange(n)] * 2], True
    if shape == "dense":
        return 5_000, both_ways(rng.integers(5_000, size=(2, 40_000))), False
    assert shape == "skewed"
    made = SHAPES["skewed"](directed=True)
    return made.n, np.stack([made.source, made.destination]), False


@of_the_cpu_engine
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize(
    "shape",
    [
        "ring of paths", "chain of paths", "cycle", "streets", "streets and roads", "star", "loops", "dense",
        "skewed",
    ],
)  # fmt: skip
def test_contracted_where_most_edges_are_mutual(shape, ordered):
    n, ends, contracts = mostly_mutual(shape)
    if not ordered:
        ends = np.random.default_rng(3).permutation(n)[ends]
    graph = MadeGraph(n, *np.unique(ends, axis=1), directed=True)
    report = Report("scc")
    label = cpu.strong_components(graph.view(), report)
    np.testing.assert_array_equal(label, scipy_labels(graph))
    ways = [advance.direction for advance in report.advances]
    assert ways == ["contract", "depth-first"] if contracts else ["depth-first"]
    # The same where it is not asked what pays.
    label, advances = settled(graph, MUTUAL_SHARE=-1, MUTUAL_DEGREE=n, OTHER_SHARE=1)
    np.testing.assert_array_equal(label, scipy_labels(graph))
    assert advances[0].direction == "contract"


def test_networkx_agrees():
    peer = nx.gnp_random_graph(300, 0.006, seed=4, directed=True)
    edges = nx.to_pandas_edgelist(peer)
    graph = partitioned(edges, 3).graph(
        source="source", destination="target", vertices=pd.DataFrame({"vertex": range(300)})
    )
    found = graph.strongly_connected_components().compute()
    parts = {frozenset(group["vertex"]) for _, group in found.groupby("component")}
    assert parts == set(map(frozenset, nx.strongly_connected_components(peer)))


def test_no_edges():
    edges = pd.DataFrame({"src": [], "dst": []}, dtype="int64")
    found = edges.graph(vertices=pd.DataFrame({"vertex": [5, 3]})).strongly_connected_components()
    assert found.to_numpy().tolist() == [[3, 3], [5, 5]]
