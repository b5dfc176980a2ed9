"""Minimum spanning forests against Kruskal's algorithm with the same order of edges."""

import dask
import networkx as nx
import numpy as np
import oracles
import pandas as pd
import pytest
import scipy.sparse as sp
from engines import of_the_cpu_engine
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import SHAPES
from scipy.sparse import csgraph
from small_graphs import on_threads
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu.engine import cpu
from dask_graphgpu.report import Report


@of_the_cpu_engine
@given(
    graph=edge_lists(weights=[None, "int64", "uint8", "Int32", "float64"], kinds=KINDS),
    number=st.sampled_from([1, 4]),
    order=st.sampled_from(["input", "degree"]),
    ranks=st.sampled_from([1, 1, 2, 3, 4]),
)
def test_forest_is_kruskals(graph, number, order, ranks):
    with on_threads(number):
        found = graph.graph(order=order, ranks=ranks).minimum_spanning_forest().compute()
    place = {id: v for v, id in enumerate(graph.ids)}
    ends = [[place[id] for id in found[name].tolist()] for name in ("src", "dst")]
    weights = found["weight"].tolist() if graph.weight else [1] * len(found)
    wanted = oracles.spanning_forest(graph.n, graph.edges, graph.rank)
    assert list(zip(*ends, weights, strict=True)) == wanted


@of_the_cpu_engine
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["int64", "float32"])
@pytest.mark.parametrize("number", [1, 4])
def test_total_is_scipys(shape, kind, number):
    size = len(SHAPES[shape]().source)
    weight = np.random.default_rng(2).integers(1, 1000, size).astype(kind)
    made = SHAPES[shape](weight=weight, directed=True)
    report = Report("msf")
    with on_threads(number, little_work=500):
        low, high, taken = cpu.spanning_forest(made.view(), report)
    assert (low < high).all()
    assert taken.dtype == kind
    best = {}
    for u, v, w in made.edges():
        ends = min(u, v), max(u, v)
        if u != v:
            best[ends] = min(best.get(ends, w), w)
    ends = np.array(list(best), int).reshape(-1, 2).T
    matrix = sp.coo_array((list(best.values()), tuple(ends)), shape=(made.n,) * 2).tocsr()
    tree = csgraph.minimum_spanning_tree(matrix) if best else matrix
    assert len(low) == tree.nnz
    assert taken.sum(dtype=float) == pytest.approx(tree.sum())
    joined = sp.coo_array((np.ones(len(low)), (low, high)), shape=(made.n,) * 2)
    assert csgraph.connected_components(joined)[0] == made.n - len(low)
    assert sum(a.frontier for a in report.advances) == len(low)


def forest(graph):
    return graph.minimum_spanning_forest()


@pytest.mark.parametrize("directed", [True, False])
def test_every_place(place, directed):
    place.same(forest, directed=directed)


@pytest.mark.parametrize("order", ["input", "degree"])
@pytest.mark.parametrize(
    ("kind", "bits"),
    [
        (None, 64),
        ("uint8", None),
        ("int64", 64),
        ("uint64", None),
        ("float32", 64),
        ("float64", None),
    ],
)
def test_small_graphs(memory_place, kind, bits, order):
    memory_place.same_small(forest, kind=kind, bits=bits, order=order)


def test_weights_of_all_sizes(memory_place):
    values = np.array([0, 3, 2**62, 2**63 - 1])
    floats = np.array([0.0, 1e-300, 2.0, 1e300])
    for weight in (values, values.astype(np.uint64), floats):
        rng = np.random.default_rng(1)
        frame = pd.DataFrame(rng.integers(30, size=(300, 2)), columns=["src", "dst"])
        drawn = frame.assign(weight=weight[rng.integers(len(weight), size=300)])
        memory_place.same(forest, frames=[drawn])


def test_long_chains_of_components(memory_place):
    """Every component but one takes the edge to the next."""
    n = 20_000
    place = np.random.default_rng(1).permutation(n)
    there = pd.DataFrame(
        {"src": np.arange(n - 1), "dst": np.arange(1, n), "weight": np.arange(n - 1)}
    )
    back = pd.DataFrame({"src": place[:-1], "dst": place[1:], "weight": np.arange(n - 1)[::-1]})
    with dask.config.set({"graphgpu.device-memory-limit": "4MB"}):
        found, _ = memory_place.same(forest, frames=[there, back])
    assert len(found) == n - 1


def test_networkx_and_several_id_columns():
    peer = nx.gnm_random_graph(200, 700, seed=1)
    for i, (u, v) in enumerate(peer.edges):
        peer[u][v]["cost"] = (i * 7919) % 1013  # no two are the same
    edges = nx.to_pandas_edgelist(peer)
    graph = partitioned(edges, 3).graph(
        source="source", destination="target", weight="cost", directed=False
    )
    found = graph.minimum_spanning_forest().compute()
    assert list(found.columns) == ["source", "target", "cost"]
    tree = nx.minimum_spanning_edges(peer, weight="cost", data=False)
    assert set(zip(found["source"], found["target"], strict=True)) == {
        tuple(sorted(ends)) for ends in tree
    }
    two = pd.DataFrame({"a": [1, 1, 1], "b": list("xyz"), "c": [1, 1, 1], "d": list("yzx")})
    found = two.graph(source=["a", "b"], destination=["c", "d"]).minimum_spanning_forest()
    assert found.to_numpy().tolist() == [[1, "x", 1, "y"], [1, "x", 1, "z"]]


def test_loops_repeats_and_no_edges():
    edges = pd.DataFrame({"src": [2, 1, 2, 3], "dst": [1, 2, 2, 3], "weight": [5, 3, 0, 0]})
    for directed in (True, False):
        found = edges.graph(directed=directed).minimum_spanning_forest()
        assert found.to_numpy().tolist() == [[1, 2, 3]]
    loops = edges.iloc[2:].graph().minimum_spanning_forest()
    assert loops.empty
    assert list(loops.columns) == ["src", "dst", "weight"]
