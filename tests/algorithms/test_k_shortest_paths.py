"""The k shortest paths without loops: all of them, in order, by looking at every path; and NetworkX's."""

from itertools import islice

import networkx as nx
import numpy as np
import oracles
import pandas as pd
import pytest
from engines import RANKS
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import grid
from places import rows_of, sparse
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu import errors
from dask_graphgpu.algorithms import k_shortest_paths
from dask_graphgpu.engine.simple_paths import SimplePaths


def paths_of(frame):
    """Each path of a result as the distance and the vertices."""
    assert frame["path"].is_monotonic_increasing
    found = []
    for number, path in frame.groupby("path"):
        assert number == len(found)
        assert path["position"].tolist() == [*range(len(path))]
        found.append((path["distance"].iloc[-1], path["vertex"].tolist()))
    return found


@given(
    graph=edge_lists(
        weights=[None, "int64", "uint8", "float32"], kinds=KINDS, max_vertices=7, max_edges=16
    ),
    data=st.data(),
    k=st.integers(1, 9),
    max_hops=st.one_of(st.none(), st.integers(1, 5)),
    weighted=st.booleans(),
    order=st.sampled_from(["input", "degree"]),
    duplicates=st.sampled_from(["auto", "keep"]),
    ranks=st.sampled_from([1, *RANKS]),
    at_first=st.sampled_from([1, 4096]),
)
def test_these_are_the_first_of_all_paths(
    graph, data, k, max_hops, weighted, order, duplicates, ranks, at_first
):
    weighted = weighted and graph.weight is not None
    if weighted and graph.weight == "float32":  # whole ones, so that sums are exact from either end
        graph.edges[:] = [(u, v, float(int(weight))) for u, v, weight in graph.edges]
    source, target = (data.draw(st.integers(0, graph.n - 1)) for _ in range(2))
    built = graph.graph(order=order, duplicates=duplicates, ranks=ranks)
    edges = [(graph.rank[u], graph.rank[v], *weight) for u, v, *weight in graph.edges]
    edges = edges if weighted else [edge[:2] for edge in edges]
    ends = graph.rank[source], graph.rank[target]
    wanted = oracles.simple_paths(edges, *ends, directed=graph.directed)
    wanted = [pair for pair in wanted if max_hops is None or len(pair[1]) <= max_hops + 1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(k_shortest_paths, "_LEAST", at_first)
        patch.setattr(k_shortest_paths, "_OF_PATH", at_first)
        call = built.k_shortest_paths(
            graph.ids[source], graph.ids[target], k, max_hops=max_hops, weighted=None if weighted else False
        )  # fmt: skip
        if not wanted:
            with pytest.raises(errors.NoPath, match="no path leads from"):
                call.compute()
            return
        found = call.compute()
    place = {id: graph.rank[v] for v, id in enumerate(graph.ids)}
    found["vertex"] = [place[id] for id in found["vertex"].tolist()]
    assert paths_of(found) == wanted[:k]
    least = {}
    for u, v, *weight in oracles._arcs(edges, graph.directed):
        least[u, v] = min(*weight, least.get((u, v), *weight))
    for _, path in found.groupby("path"):  # distances are those up to each vertex
        steps = zip(path["vertex"][:-1], path["vertex"][1:], strict=True)
        lengths = np.diff(path["distance"].to_numpy())  # pandas would make floats of them
        assert lengths.tolist() == [least[pair] for pair in steps]


def searched(n, source, destination, weight, ends, k):
    """What the search in memory finds."""
    edges = list(zip(destination.tolist(), source.tolist(), weight.tolist(), strict=True))
    rest = oracles.dijkstra(n, edges, ends[1])
    there = np.isin(source, [*rest]) & np.isin(destination, [*rest])
    far = np.array([rest.get(v, 0) for v in range(n)], weight.dtype)
    if ends[0] not in rest:
        return []
    search = SimplePaths(source[there], destination[there], weight[there], far, far, None)
    most = np.inf if weight.dtype.kind == "f" else np.iinfo(np.int64).max
    return search.best(*ends, k, most)


@pytest.mark.parametrize("kind", ["int64", "float64"])
def test_as_networkx_on_many_graphs(kind):
    rng = np.random.default_rng(5)
    for _ in range(500):
        n, k = int(rng.integers(2, 14)), int(rng.integers(1, 8))
        source, destination = np.unique(
            rng.integers(0, n, (2, int(rng.integers(n, 4 * n)))), axis=1
        )
        weight = rng.integers(0, 9, len(source)) if kind == "int64" else rng.random(len(source))
        found = searched(n, source, destination, weight, (0, n - 1), k)
        other = nx.DiGraph()
        other.add_nodes_from(range(n))
        other.add_weighted_edges_from(zip(source, destination, weight.tolist(), strict=True))
        try:
            paths = [*islice(nx.shortest_simple_paths(other, 0, n - 1, "weight"), k)]
        except nx.NetworkXNoPath:
            paths = []
        wanted = [nx.path_weight(other, path, "weight") for path in paths]
        assert [path.length[-1] for path in found] == pytest.approx(wanted, rel=1e-12)
        if len(set(wanted)) == len(wanted) and kind == "float64":
            assert [path.vertices.tolist() for path in found] == paths


def test_everywhere(programs_place):
    frame = sparse()
    far = frame.graph().bfs("v300").dropna().nlargest(1, "distance")["vertex"].iloc[0]
    programs_place.same(
        lambda g: g.k_shortest_paths("v300", far, 30),
        lambda g: g.k_shortest_paths("v300", "v310", 20, max_hops=3),
        lambda g: g.k_shortest_paths("v300", far, 9, weighted=False),
        frames=[sparse],
    )


def test_order_of_rows_does_not_matter():
    made = grid(30)
    frame = made.frame().assign(weight=1)
    found = rows_of(frame.graph(directed=False).k_shortest_paths(0, 65, 40))
    assert paths_of(found)[0] == (7, [0, 1, 2, 3, 4, 5, 35, 65])
    for seed in range(2):
        mixed = frame.sample(frac=1, random_state=seed)
        other = partitioned(mixed, 3).graph(directed=False, ranks=1 + seed)
        pd.testing.assert_frame_equal(rows_of(other.k_shortest_paths(0, 65, 40)), found)


def test_long_paths_beside_a_short_one():
    n = 3000  # a path whose vertices have a way around each, longer by 1, 2, 3 ...
    along = pd.DataFrame({"src": np.arange(n), "dst": np.arange(n) + 1, "weight": 5})
    left = pd.DataFrame({"src": np.arange(n), "dst": n + 1 + np.arange(n), "weight": 2})
    back = pd.DataFrame({"src": n + 1 + np.arange(n), "dst": np.arange(n) + 1})
    graph = pd.concat([along, left, back.assign(weight=4 + np.arange(n))]).graph()
    found = rows_of(graph.k_shortest_paths(0, n, 7))
    assert [distance - 5 * n for distance, _ in paths_of(found)] == [0, 1, 2, 3, 3, 4, 4]


@pytest.mark.parametrize("ranks", [1, 2])
def test_lengths_beyond_int64(ranks):
    # Two ways around, each of which fits: only a path that takes both does not.
    half = 2**62
    edges = pd.DataFrame({
        "src": [0, 1, 0, 3, 1, 4],
        "dst": [1, 2, 3, 1, 4, 2],
        "weight": [1, 1, half, 0, half, 0],
    })  # fmt: skip
    graph = edges.graph(ranks=ranks).persist()
    found = paths_of(rows_of(graph.k_shortest_paths(0, 2, 3)))
    assert found == [(2, [0, 1, 2]), (half + 1, [0, 1, 4, 2]), (half + 1, [0, 3, 1, 2])]
    with pytest.raises(errors.IntegerOverflow, match="longer than int64"):
        rows_of(graph.k_shortest_paths(0, 2, 4))
    floats = edges.astype({"weight": float}).graph(ranks=ranks)
    assert paths_of(rows_of(floats.k_shortest_paths(0, 2, 4)))[3] == (2.0**63, [0, 3, 1, 4, 2])


@pytest.mark.parametrize("ranks", [1, 2])
def test_few_and_none(ranks):
    edges = pd.DataFrame({"src": [1, 1, 5], "dst": [2, 1, 6]})
    graph = edges.graph(ranks=ranks)
    assert paths_of(rows_of(graph.k_shortest_paths(1, 2, 9))) == [(1, [1, 2])]
    assert paths_of(rows_of(graph.k_shortest_paths(1, 1, 9, max_hops=1))) == [(0, [1])]
    with pytest.raises(errors.NoPath, match="no path leads from 2 to 1"):
        graph.k_shortest_paths(2, 1, 9)
    with pytest.raises(errors.UnknownVertex):
        graph.k_shortest_paths(2, 7, 9)
    for wrong in ({"k": 0}, {"k": 1, "max_hops": 0}, {"k": 1, "weighted": True}):
        with pytest.raises(errors.InvalidArgument):
            graph.k_shortest_paths(1, 2, **wrong)
