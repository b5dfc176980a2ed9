"""Projections of bipartite graphs in every place, and against NetworkX and a product of matrices."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from dask_graphgpu import errors, last_report


def bipartite(customers=400, products=60, rows=1500, seed=1):
    rng = np.random.default_rng(seed)
    bought = (products * rng.random(rows) ** 2).astype(int)
    return pd.DataFrame({"src": rng.integers(0, customers, rows), "dst": 1000 + bought})


def rows(frame):
    frame = frame.compute() if hasattr(frame, "compute") else frame
    return [tuple(row) for row in frame.itertuples(index=False)]


@given(
    pairs=st.lists(st.tuples(st.integers(0, 6), st.integers(10, 15)), min_size=1, max_size=30),
    side=st.sampled_from(["source", "destination"]),
    least=st.integers(1, 3),
)
def test_networkx_agrees(pairs, side, least):
    frame = pd.DataFrame(pairs, columns=["src", "dst"])
    peer = nx.Graph(pairs)
    nodes = set(frame["src" if side == "source" else "dst"])
    projected = nx.bipartite.weighted_projected_graph(peer, nodes)
    expected = sorted(
        (min(u, v), max(u, v), w) for u, v, w in projected.edges(data="weight") if w >= least
    )
    assert rows(frame.graph.project(side, min_shared=least)) == expected
    overlap = nx.bipartite.overlap_weighted_projected_graph(peer, nodes)
    expected = sorted((min(u, v), max(u, v), w) for u, v, w in overlap.edges(data="weight"))
    assert rows(frame.graph.project(side, metric="jaccard")) == expected


def test_a_product_of_matrices_agrees():
    frame = bipartite()
    matrix = sp.csr_matrix((np.ones(len(frame)), (frame["src"], frame["dst"] - 1000)))
    matrix.data[:] = 1
    common = sp.triu(matrix @ matrix.T, 1).tocoo()
    degree = np.asarray(matrix.sum(axis=1)).ravel()
    cosine = common.data / np.sqrt(degree[common.row] * degree[common.col])
    expected = pd.DataFrame({"src": common.row, "dst": common.col, "weight": cosine})
    expected = expected.sort_values(["src", "dst"], ignore_index=True)
    found = frame.graph.project("source", metric="cosine")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)


def test_every_place(rows_place):
    rows_place.same(
        lambda graph: graph.project("source", min_shared=2),
        lambda graph: graph.project("destination", metric="overlap", degree_cutoff=5),
        frames=[bipartite()],
    )


def test_names_and_cut_off():
    frame = pd.DataFrame({"c": ["a", "a", "b", "b", "d"], "p": ["x", "y", "x", "y", "y"]})
    graph = frame.graph(source="c", destination="p")
    assert rows(graph.project("source")) == [("a", "b", 2), ("a", "d", 1), ("b", "d", 1)]
    found = graph.project("source", degree_cutoff=2, columns={"weight": "shared"})
    assert list(found) == ["c", "p", "shared"]
    assert rows(found) == [("a", "b", 1)]
    assert last_report().attrs["left_out"] == {"vertices": 1, "pairs": 6}
    assert found["shared"].dtype == "int64"


def test_what_is_not_bipartite():
    chain = pd.DataFrame({"src": [1, 2], "dst": [2, 3]})
    with pytest.raises(errors.InvalidEdges, match=r"not bipartite: 1 of its vertices"):
        chain.graph.project("source")
    with pytest.raises(errors.InvalidEdges, match=r"not bipartite: 1 of its vertices"):
        chain.graph(ranks=2).project("source")
    with pytest.raises(errors.InvalidEdges, match="undirected: leave out directed=False"):
        chain.graph(directed=False).project("source")


def test_bad_arguments():
    graph = bipartite().graph
    for wrong, told in (
        ({"side": "left"}, "side='left'; allowed are 'source', 'destination'"),
        ({"side": "source", "min_shared": 0}, "min_shared=0"),
        ({"side": "source", "metric": "adamic_adar"}, "metric='adamic_adar'; allowed are 'count'"),
        ({"side": "source", "degree_cutoff": 0}, "degree_cutoff=0"),
    ):
        with pytest.raises(errors.InvalidArgument, match=told):
            graph.project(**wrong)
