"""Vertices within some hops against NetworkX, and against products of matrices."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import random_small
from places import rows_of, skewed
from scipy import sparse

from dask_graphgpu import errors


def counts(edges, k, *, directed=True):
    graph = (nx.DiGraph if directed else nx.Graph)(edges[["src", "dst"]].to_numpy().tolist())
    return {v: len(nx.single_source_shortest_path_length(graph, v, k)) - 1 for v in graph}


@given(seed=st.integers(0, 500), k=st.integers(1, 4), ranks=st.sampled_from([1, 1, 3]))
def test_any_graph(seed, k, ranks):
    edges, directed = random_small(seed).frame(), bool(seed % 2)
    if len(edges):
        found = rows_of(edges.graph(directed=directed, ranks=ranks).khop_count(k))
        assert found.set_index("vertex")["count"].to_dict() == counts(edges, k, directed=directed)


def test_everywhere(place):
    edges = skewed()
    near = sparse.csr_array((np.ones(len(edges)), (edges["src"], edges["dst"])), (1000, 1000))
    wanted = ((near + near @ near).toarray() > 0).sum(1, where=~np.eye(1000, dtype=bool))
    sources = [*range(0, 990, 11)]
    graph = place.graph(edges).persist()
    for some in (sources, sources[3:4]):
        found = rows_of(graph.khop_count(2, sources=some))
        assert found["vertex"].tolist() == some
        assert found["count"].tolist() == [wanted[v] for v in some]


def test_some_are_drawn():
    edges = pd.DataFrame({"src": range(200), "dst": np.roll(range(200), 1)})
    graph = edges.graph()
    found = graph.khop_count(3, sources=70, seed=2)
    assert found["vertex"].is_monotonic_increasing
    assert found["vertex"].nunique() == 70
    assert found["count"].eq(3).all()
    pd.testing.assert_frame_equal(found, graph.khop_count(3, sources=70, seed=2))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"k": 0}, errors.InvalidArgument),
        ({"k": 1.5}, errors.InvalidArgument),
        ({"k": 1, "sources": [1, 1]}, errors.InvalidArgument),
        ({"k": 1, "sources": 3}, errors.InvalidArgument),
        ({"k": 1, "sources": [7]}, errors.UnknownVertex),
    ],
)
def test_refuses(arguments, error):
    edges = pd.DataFrame({"src": [1], "dst": [2]})
    with pytest.raises(error):
        edges.graph().khop_count(**arguments)
