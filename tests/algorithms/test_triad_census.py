"""Triads against NetworkX, in every place."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import small
from strategies import edge_lists

from dask_graphgpu import errors
from dask_graphgpu.engine.triads import TRIADS, census


@given(graph=edge_lists(weights=[None]), ranks=st.sampled_from([1, 1, 3]))
def test_networkx_agrees(graph, ranks):
    """Of an undirected graph NetworkX is given both directions."""
    peer = nx.DiGraph()
    peer.add_nodes_from(range(graph.n))
    peer.add_edges_from((u, v) for u, v in graph.edges)
    if not graph.directed:
        peer.add_edges_from((v, u) for u, v in graph.edges)
    found = graph.graph(ranks=ranks).triad_census().compute()
    assert found["triad"].tolist() == list(TRIADS)
    assert dict(zip(found["triad"], found["count"], strict=True)) == nx.triadic_census(peer)


def test_random_graphs():
    """Of each pair of vertices the edges there may be, in all ways in which three can be joined and more."""
    rng = np.random.default_rng(1)
    for n in (3, 5, 8):
        ends = [(u, v) for u in range(n) for v in range(n) if u != v]
        for _ in range(12):
            edges = [ends[i] for i in rng.permutation(len(ends))[: rng.integers(1, len(ends))]]
            frame = pd.DataFrame(edges, columns=["src", "dst"])
            peer = nx.DiGraph(edges)
            found = frame.graph.triad_census()["count"].tolist()
            expected = nx.triadic_census(peer)
            assert found == [expected[name] for name in TRIADS]


def test_every_place(place):
    methods = [lambda graph: graph.triad_census()]
    place.same(*methods, frames=[frame for frame in small() if len(frame) < 2000][::2])
    place.same(*methods, frames=[frame for frame in small() if len(frame) < 500], directed=False)


def test_large_edges():
    """Sums beyond what a vertex or a block of them has, by sums over all triads."""
    rng = np.random.default_rng(3)
    ends = (3000 * rng.random((2, 60_000)) ** 2).astype(int)
    frame = pd.DataFrame(ends.T, columns=["src", "dst"])
    n = frame.stack().nunique()
    for options in ({}, {"ranks": 2}):
        counts = dict(frame.graph(**options).triad_census().to_numpy())
        assert sum(counts.values()) == n * (n - 1) * (n - 2) // 6
        pairs = nx.DiGraph(ends.T[ends[0] != ends[1]].tolist())
        mutual = sum(pairs.has_edge(v, u) for u, v in pairs.edges) // 2
        assert sum(int(name[0]) * count for name, count in counts.items()) == mutual * (n - 2)
        triangles = sum(nx.triangles(pairs.to_undirected()).values()) // 3
        assert sum(count for name, count in counts.items() if name[2] == "0") == triangles


def test_counts_beyond_int64():
    none = {(0, 1): 1, (0, 3): 0} | dict.fromkeys(
        [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)], 0
    )
    counts = dict(zip(TRIADS, census(10**7, none, [0] * 16), strict=True))
    assert counts["003"] is None
    assert counts["012"] == 10**7 - 2
    with pytest.raises(errors.IntegerOverflow, match="triads 021D are beyond 64 bits"):
        census(10**7, none | {(1, 1): 2**63}, [0] * 16)
