"""Weighted degrees against NetworkX and Python's integers, in every place."""

from collections import Counter

import networkx as nx
import pandas as pd
import pytest
from engines import RANKS
from hypothesis import given
from hypothesis import strategies as st
from places import FRAMES
from strategies import KINDS, edge_lists

from dask_graphgpu import errors


@given(
    graph=edge_lists(weights=["int64", "uint8", "float32"], kinds=KINDS),
    ranks=st.sampled_from(RANKS),
)
def test_any_graph(graph, ranks):
    graph = graph.as_given
    into, out = Counter(), Counter()
    for u, v, weight in graph.edges:
        out[u] += weight
        into[v] += weight
    built = graph.graph(weight="weight", ranks=ranks)
    found = built.weighted_degree().compute()
    wanted = {"weighted_degree": into + out}
    if graph.directed:
        wanted |= {"weighted_in_degree": into, "weighted_out_degree": out}
    assert sorted(found) == sorted(["vertex", *wanted])
    kind = "float64" if graph.weight == "float32" else "int64"
    for name, degree in wanted.items():
        assert str(found[name].dtype).replace("double", "float64").startswith(kind)
        answers = graph.answers(found, name)
        if kind == "int64":
            assert answers == {v: degree[v] for v in range(graph.n)}
        else:
            assert answers == pytest.approx({v: degree[v] for v in range(graph.n)}, rel=1e-6)


@pytest.mark.parametrize("directed", [True, False])
def test_every_place(place, directed):
    frames = [frame() for frame in FRAMES]
    place.same(lambda graph: graph.weighted_degree(), frames=frames, directed=directed)


def test_networkx():
    edges = pd.DataFrame({"src": [1, 2, 2, 3], "dst": [2, 3, 2, 1], "weight": [1.5, 2, 4, 8]})
    peer = nx.from_pandas_edgelist(edges, "src", "dst", "weight")
    found = edges.graph(directed=False).weighted_degree()
    assert dict(zip(*found.to_numpy().T, strict=True)) == dict(peer.degree(weight="weight"))


def test_sums_that_do_not_fit():
    most = 2**63 - 1
    edges = pd.DataFrame({"src": [1, 2], "dst": [2, 3], "weight": [most, 1]})
    for frame in (edges, edges.assign(dst=2), pd.DataFrame({"src": [1], "dst": 1, "weight": most})):
        with pytest.raises(errors.IntegerOverflow, match="give the weights as float64"):
            frame.graph(directed=True).weighted_degree()
    with pytest.raises(errors.IntegerOverflow):
        edges.graph(directed=False).weighted_degree()
    found = edges.astype({"weight": float}).graph().weighted_degree()
    assert found["weighted_degree"].tolist() == [2.0**63] * 2 + [1]


def test_needs_weights():
    with pytest.raises(errors.InvalidArgument, match="use degree"):
        pd.DataFrame({"src": [1], "dst": [2]}).graph().weighted_degree()
