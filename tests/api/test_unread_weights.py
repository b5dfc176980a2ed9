"""A weight column that a method does not read may hold anything, and comes back as it is."""

import re
from decimal import Decimal
from operator import methodcaller

import dask
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from strategies import partitioned

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.algorithms import ALGORITHMS

ENDS = pd.DataFrame({"src": [0, 1, 2, 2, 3, 3], "dst": [1, 2, 0, 3, 4, 4]})
ENDS["toll"] = 0.5
VERTICES = pd.DataFrame({"vertex": range(6), "p": [0.5, 0.2, 0.1, 0.0, 0.3, 0.4]})
PROGRAM = dg.VertexProgram(
    state={"h": dg.Field("int64", initial=0)},
    compute=lambda source_h, edge_toll: source_h,
    combine="max",
)

# Calls that make nothing of weights, of methods that need arguments for that; None: no call of the method is such.
UNREAD = {
    "bfs": lambda g: g.bfs(0, predecessor=True),
    "sssp": None,
    "sswp": None,
    "ssnsp": lambda g: g.ssnsp(0),
    "earliest_arrival": None,  # undirected rows have no times of their own
    "shortest_path": lambda g: g.shortest_path(0, 4, weighted=False),
    "k_shortest_paths": lambda g: g.k_shortest_paths(0, 4, 2, weighted=False),
    "distances": lambda g: g.distances([0], [4], weighted=False),
    "nearest": lambda g: g.nearest([4, 0], 2, weighted=False),
    "pagerank": lambda g: g.pagerank(weighted=False),
    "k_core": None,
    "hits": lambda g: g.hits(weighted=False),
    "louvain": lambda g: g.louvain(weighted=False),
    "leiden": lambda g: g.leiden(weighted=False),
    "minimum_spanning_forest": None,
    "best_links": None,
    "cluster_metrics": None,
    "partition_quality": lambda g: g.partition_quality("p", weighted=False),
    "ego": None,
    "belief_propagation": lambda g: g.belief_propagation(
        VERTICES[["vertex", "p"]].assign(p=lambda f: f["p"] / 10), homophily=0.51
    ),
    "weighted_degree": None,
    "khop_count": lambda g: g.khop_count(2),
    "neighbor_aggregate": lambda g: g.neighbor_aggregate("p"),
    "topological_order": None,  # there are cycles
    "project": None,  # it is not bipartite
    "random_walks": lambda g: g.random_walks(length=3),
    "neighbor_sample": None,
    "node2vec": lambda g: g.node2vec(3, length=3),
    "fastrp": lambda g: g.fastrp(3, weighted=False),
    "cycles": lambda g: g.cycles(3),
    "katz_centrality": lambda g: g.katz_centrality(alpha=0.01, weighted=False),
    "eigenvector_centrality": lambda g: g.eigenvector_centrality(weighted=False),
    "longest_path": None,
    "neural_network": lambda g: g.neural_network(initial=0.5, strength="toll"),
    "heat_simulation": None,
    "circuit_simulation": None,
    "run": lambda g: g.run(PROGRAM),
}
UNREAD_CALLS = {
    name: UNREAD.get(name, methodcaller(name))
    for name in ALGORITHMS
    if UNREAD.get(name, ...) is not None
}
# To these it matters how many edges the undirected rows between two vertices are.
OF_ALL_ROWS = (
    "pagerank hits eigenvector_centrality katz_centrality random_walks node2vec louvain leiden belief_propagation "
    "neural_network partition_quality run"
).split()
ONE_RANK = ("louvain", "leiden")  # give others on several

ODD = {
    "text": ["a", "b", "c", "d", "e", "f"],
    "dates": pd.date_range("2020", periods=6),
    "decimals": pd.array([Decimal("1.5")] * 6, pd.ArrowDtype(pa.decimal128(9, 2))),
    "truth": [True, False, True, False, True, False],
    "negative": [-1, 2, 3, -4, 5, 6],
    "missing": [np.nan, 2.5, np.nan, -4.0, 5.0, np.inf],
    "missing of Arrow": pd.array([None, 2.5, 3, 4, 5, 6], "double[pyarrow]"),
    "null integers": pd.array([None, 2, 3, 4, 5, 6], "Int64"),
    "too large": np.array([2**63 + 1, 2, 3, 4, 5, 6], np.uint64),
}
NO_NUMBERS = ("text", "dates", "decimals", "truth")
LOST = (*NO_NUMBERS, "null integers", "too large")


def frame_of(name):
    return ENDS.assign(weight=pd.Series(ODD[name]))


def graphs(name, folder, **options):
    """The same graph in all places, by their names."""
    edges, options = frame_of(name), {"vertices": VERTICES, **options}
    saved = edges.graph(**options).save(folder / "saved", columns="toll")
    return {
        "pandas": edges.graph(**options),
        "lazy": partitioned(edges, 3).graph(**options),
        "kept": edges.graph(**options).persist(columns="toll"),
        "kept lazily": partitioned(edges, 3).graph(**options).persist(columns="toll"),
        "saved": dg.load(saved),
        "saved, on ranks": dg.load(saved, ranks=2),
        "ranks": partitioned(edges, 3).graph(ranks=2, **options),
        "kept on ranks": edges.graph(ranks=2, **options).persist(columns="toll"),
    }


def same(found, wanted):
    (found,) = dask.compute(found)
    found, wanted = (each.reset_index(drop=True) for each in (found, wanted))
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False, rtol=1e-9)


def test_no_other_method_is_here():
    assert set(UNREAD) <= set(ALGORITHMS)


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("directed", [True, False])
def test_what_is_not_read_is_not_judged(odd, directed, tmp_path):
    """Each method in a few places, by turns: in every one with some weights, and with all weights somewhere."""
    # A weight tells rows in opposite directions apart: here there are none.
    plain = (
        ENDS.assign(weight=1).graph(directed=directed, vertices=VERTICES).persist(columns="toll")
    )
    places = list(graphs(odd, tmp_path, directed=directed).items())
    turn = [*ODD].index(odd) + directed
    for number, (name, call) in enumerate(UNREAD_CALLS.items()):
        wanted = call(plain)
        for place, graph in places[(number + turn) % 4 :: 4]:
            if "ranks" in place and name in ONE_RANK:
                continue
            if not directed and odd in LOST and name in OF_ALL_ROWS:
                with pytest.raises(errors.InvalidEdges, match="weight=None"):
                    dask.compute(call(graph))
                continue
            same(call(graph), wanted)


@pytest.mark.parametrize("odd", [name for name in ODD if name not in LOST])
@pytest.mark.parametrize("directed", [True, False])
def test_what_is_only_given_back_is_as_it_is(odd, directed, tmp_path):
    edges = frame_of(odd)
    wanted = edges[["src", "dst", "weight"]].sort_values(["src", "dst", "weight"])
    wanted["src"], wanted["dst"] = (
        (wanted["src"], wanted["dst"])
        if directed
        else (wanted[["src", "dst"]].min(axis=1), wanted[["src", "dst"]].max(axis=1))
    )
    wanted = wanted.sort_values(["src", "dst", "weight"], na_position="last")
    wanted["weight"] = wanted["weight"].to_numpy(
        "int64" if odd == "negative" else "float64", na_value=0 if odd == "negative" else np.nan
    )
    for graph in graphs(odd, tmp_path, directed=directed).values():
        same(graph.k_core(1), wanted)
        same(graph.ego(0, radius=5), wanted)


@pytest.mark.parametrize("odd", LOST)
def test_what_cannot_be_given_back_is_an_error(odd, tmp_path):
    for graph in graphs(odd, tmp_path).values():
        for call in (lambda g: g.k_core(1), lambda g: g.ego(0)):
            with pytest.raises(errors.InvalidEdges, match=r"'weight' .*weight=None"):
                dask.compute(call(graph))


@pytest.mark.parametrize("odd", ODD)
def test_what_is_read_is_judged(odd, tmp_path):
    said = {}
    for place, graph in graphs(odd, tmp_path).items():
        for call in (
            lambda g: g.sssp(0),
            lambda g: g.pagerank(),
            lambda g: g.minimum_spanning_forest(),
            lambda g: g.best_links(),
            lambda g: g.cluster_metrics(),
        ):
            with pytest.raises(errors.InvalidEdges, match=r"'weight' .*weight=None") as caught:
                dask.compute(call(graph))
            # Partitions that are lazy are small, and what is not carried is saved as objects.
            message = re.sub(r"has \d+|type .*?;|, with \.cast.* SQL", "", str(caught.value))
            said.setdefault(message, place)
    assert len(said) == 1


@pytest.mark.parametrize("rule", ["min", "max", "sum"])
def test_what_rules_compare_or_add_is_judged(rule):
    for call in (lambda g: g.k_core(1), lambda g: g.ego(0)):
        with pytest.raises(errors.InvalidEdges, match="1 negative weights in partition 0"):
            call(ENDS.assign(weight=[-1, 2, 3, 4, 5, 6]).graph(duplicates=rule))


def test_odd_weights_tell_undirected_rows_apart():
    values = [np.nan, np.nan, -2.0, -2.0, -1.0, np.inf, np.inf, np.inf, 1.0]
    edges = pd.DataFrame(
        {"src": [0, 1, 1, 2, 2, 3, 4, 4, 5], "dst": [1, 0, 2, 1, 1, 4, 3, 5, 4], "weight": values}
    )
    wanted = [(0, 1), (1, 2), (1, 2), (3, 4), (4, 5), (4, 5)]
    for graph in (edges.graph(directed=False), edges.graph(directed=False, ranks=2)):
        found = graph.k_core(1)
        assert list(zip(found["src"], found["dst"], strict=True)) == wanted
        np.testing.assert_array_equal(found["weight"], [np.nan, -2.0, -1.0, np.inf, 1.0, np.inf])
