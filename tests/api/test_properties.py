"""What holds for any graph: answers of other methods, and changes of the input that change nothing."""

import math
from dataclasses import replace

import networkx as nx
import numpy as np
import oracles
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csgraph
from small_graphs import on_threads
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu import errors

NULL = pd.NA
WEIGHTS = ["int64", "float64"]


def values(frame, column):
    return [None if pd.isna(value) else value for value in frame[column]]


# Oracles


@given(graph=edge_lists(weights=[None, "int64"], kinds=KINDS))
def test_without_weights(graph):
    built = graph.graph(weight=None).persist()
    n, edges = graph.n, [edge[:2] for edge in graph.edges]
    found = built.bfs(graph.ids[0], predecessor=True).compute()
    hops = oracles.bfs(n, edges, 0, directed=graph.directed)
    assert graph.answers(found, "distance") == {v: hops.get(v) for v in range(n)}
    core = graph.answers(built.core_number(), "core_number")
    assert core == dict(enumerate(oracles.core_numbers(n, edges)))
    component = graph.answers(built.weakly_connected_components(), "component")
    smallest = oracles.components(n, edges, graph.rank)
    assert component == {v: graph.ids[smallest[v]] for v in range(n)}
    rank = graph.answers(built.pagerank(tolerance=1e-12, max_iterations=500), "rank")
    bare = replace(graph, edges=edges, weight=None).as_given
    wanted = oracles.pagerank(n, bare.edges, directed=graph.directed)
    assert [rank[v] for v in range(n)] == pytest.approx(list(wanted), rel=1e-8, abs=1e-12)


@given(graph=edge_lists(weights=["int64", "uint8", "Int32", "float64", "float32"], kinds=KINDS))
def test_shortest_paths(graph):
    found = graph.graph().sssp(graph.ids[0], predecessor=True).compute()
    distance = oracles.dijkstra(graph.n, graph.edges, 0, directed=graph.directed)
    answer = graph.answers(found, "distance")
    assert answer == {v: distance.get(v) for v in range(graph.n)}
    simple = lightest(graph)
    wanted = oracles.predecessors(
        graph.n, simple, 0, distance, directed=graph.directed, rank=graph.rank
    )
    before = graph.answers(found, "predecessor")
    assert before == {v: graph.ids[p] if p != v else None for v, p in enumerate(wanted)}


def lightest(graph):
    """Each edge once, with its least weight."""
    best = {}
    for u, v, weight in graph.edges:
        ends = (u, v) if graph.directed else (min(u, v), max(u, v))
        best[ends] = min(best.get(ends, weight), weight)
    return [(u, v, weight) for (u, v), weight in best.items()]


@given(graph=edge_lists(weights=["int64", "float64"]), data=st.data())
def test_targets_and_cutoff(graph, data):
    built = graph.graph().persist()
    source = graph.ids[0]
    target = data.draw(st.lists(st.sampled_from(graph.ids), min_size=1, unique=True))
    for method in (built.bfs, built.sssp):
        whole = method(source, predecessor=True).compute().set_index("vertex")
        some = method(source, predecessor=True, target=target).compute()
        assert some["vertex"].tolist() == target
        assert values(some, "distance") == values(whole.loc[target], "distance")
        assert values(some, "predecessor") == values(whole.loc[target], "predecessor")
        cutoff = data.draw(st.sampled_from([0, 1, 2.5, *whole["distance"].dropna()]))
        near = method(source, cutoff=cutoff).compute().set_index("vertex")["distance"]
        beyond = (whole["distance"] > cutoff).fillna(True)
        assert values(near.to_frame(), "distance") == [
            None if far else d for far, d in zip(beyond, values(whole, "distance"), strict=True)
        ]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_scipy_and_networkx_agree(directed, seed):
    rng = np.random.default_rng(seed)
    n, m = 400, 1500
    edges = pd.DataFrame({"src": rng.zipf(1.5, m) % n, "dst": rng.integers(0, n, m)})
    edges = pd.DataFrame(np.sort(edges, axis=1) if not directed else edges, columns=["src", "dst"])
    edges = edges[edges["src"] != edges["dst"]].drop_duplicates()
    edges["weight"] = rng.integers(1, 50, len(edges))
    kind = nx.DiGraph if directed else nx.Graph
    peer = nx.from_pandas_edgelist(edges, "src", "dst", "weight", create_using=kind)
    graph = partitioned(edges, 4).graph(directed=directed).persist()
    vertices = np.unique(edges[["src", "dst"]])
    place = {v: i for i, v in enumerate(vertices)}
    ends = [edges[name].map(place) for name in ("src", "dst")]
    matrix = sp.csr_matrix((edges["weight"], ends), shape=(len(vertices),) * 2)
    source = int(edges["src"].iloc[0])

    distance = graph.sssp(source).compute()["distance"].to_numpy("float64", na_value=np.inf)
    wanted = csgraph.dijkstra(matrix, directed=directed, indices=place[source])
    np.testing.assert_array_equal(distance, wanted)
    hops = graph.bfs(source).compute()["distance"].to_numpy("float64", na_value=np.inf)
    wanted = csgraph.dijkstra(matrix, directed=directed, indices=place[source], unweighted=True)
    np.testing.assert_array_equal(hops, wanted)

    count, labels = csgraph.connected_components(matrix, directed=False)
    component = graph.weakly_connected_components().compute()["component"]
    assert component.nunique() == count == len(set(zip(component, labels, strict=True)))
    core = graph.core_number().compute().set_index("vertex")["core_number"]
    assert core.to_dict() == nx.core_number(peer.to_undirected())
    inside = nx.k_core(peer.to_undirected(), 3)
    assert set(graph.k_core(3).compute()["src"]) <= set(inside)
    rank = graph.pagerank(tolerance=1e-12, max_iterations=500).compute().set_index("vertex")["rank"]
    wanted = nx.pagerank(peer, tol=1e-14, max_iter=500)
    np.testing.assert_allclose(rank, [wanted[v] for v in rank.index], rtol=1e-6)
    degree = graph.degree().compute().set_index("vertex")["degree"]
    assert degree.to_dict() == dict(peer.degree())


# Changes that change nothing


def assume_weights_of_ranks(graph):
    """Weights that PageRank does not refuse as too little for float64, which another test has."""
    assume(min((weight for *_, weight in graph.edges if weight), default=1) > 1e-200)


def everything(graph, source):
    return {
        "bfs": graph.bfs(source, predecessor=True).compute(),
        "sssp": graph.sssp(source, predecessor=True).compute(),
        "wcc": graph.weakly_connected_components().compute(),
        "core": graph.core_number().compute(),
        "degree": graph.degree().compute(),
        "rank": graph.pagerank(tolerance=0, max_iterations=20).compute(),
    }


def assert_same(a, b):
    for name in a:
        left, right = (frame[name].reset_index(drop=True) for frame in (a, b))
        pd.testing.assert_frame_equal(left, right, obj=name, rtol=1e-9, check_exact=name != "rank")


@given(graph=edge_lists(weights=WEIGHTS), data=st.data())
def test_partitions_order_of_edges_and_threads(graph, data):
    assume_weights_of_ranks(graph)
    frame, vertices, source = graph.frame(), graph.vertices(), graph.ids[0]
    once = everything(graph.graph().persist(), source)
    shuffled = frame.iloc[data.draw(st.permutations(range(len(frame))))]
    parts = data.draw(st.integers(1, 6))
    order = data.draw(st.sampled_from(["auto", "input", "degree"]))
    with on_threads(data.draw(st.integers(1, 3))):
        other = partitioned(shuffled, parts).graph(
            directed=graph.directed, vertices=vertices, order=order
        )
        assert_same(once, everything(other.persist(), source))


@given(graph=edge_lists(weights=WEIGHTS), data=st.data())
def test_other_names_for_the_vertices(graph, data):
    """Ids mapped by an increasing function: the same answers under the new names."""
    assume_weights_of_ranks(graph)
    shift = data.draw(st.sampled_from([1, 3, 2**40]))
    offset = data.draw(st.integers(-(2**50), 2**50))
    names = {id: id * shift + offset for id in graph.ids}
    frame, vertices = graph.frame(), graph.vertices()
    renamed = frame.assign(src=frame["src"].map(names), dst=frame["dst"].map(names))
    renamed = renamed.astype({"src": "int64", "dst": "int64"})
    other = partitioned(renamed, 2).graph(
        directed=graph.directed, vertices=vertices.assign(vertex=vertices["vertex"].map(names))
    )
    once = everything(graph.graph().persist(), graph.ids[0])
    for answer in once.values():
        for column in ("vertex", "predecessor", "component"):
            if column in answer:
                mapped = answer[column].map(names, na_action="ignore")
                answer[column] = mapped.astype(answer[column].dtype)
    assert_same(once, everything(other.persist(), names[graph.ids[0]]))


@given(graph=edge_lists(weights=WEIGHTS, directed=True), data=st.data())
def test_every_edge_turned(graph, data):
    turned = graph.graph(source="dst", destination="src").persist()
    built = graph.graph().persist()
    a, b = (data.draw(st.sampled_from(graph.ids)) for _ in "ab")
    there = values(built.bfs(a, target=b).compute(), "distance")
    assert values(turned.bfs(b, target=a).compute(), "distance") == there
    if graph.weight == "int64":
        there = values(built.sssp(a, target=b).compute(), "distance")
        assert values(turned.sssp(b, target=a).compute(), "distance") == there
    for method in ("weakly_connected_components", "core_number"):
        pd.testing.assert_frame_equal(
            getattr(built, method)().compute(), getattr(turned, method)().compute()
        )
    degrees, other = built.degree().compute(), turned.degree().compute()
    assert degrees["in_degree"].tolist() == other["out_degree"].tolist()
    assert degrees["degree"].tolist() == other["degree"].tolist()


@given(graph=edge_lists(weights=["uint8"]), factor=st.sampled_from([2, 2**20, 2**50]))
def test_weights_times_a_number(graph, factor):
    heavy = graph.frame().astype({"weight": "int64"})
    heavy["weight"] *= factor
    options = {"directed": graph.directed, "vertices": graph.vertices()}
    once = graph.graph().sssp(graph.ids[0], predecessor=True).compute()
    scaled = heavy.graph(**options).sssp(graph.ids[0], predecessor=True)
    pd.testing.assert_series_equal(scaled["distance"], once["distance"] * factor)
    pd.testing.assert_series_equal(scaled["predecessor"], once["predecessor"])
    np.testing.assert_allclose(
        heavy.graph(**options).pagerank(max_iterations=500)["rank"],
        graph.graph().pagerank(max_iterations=500).compute()["rank"],
        rtol=1e-9,
    )


@given(graph=edge_lists(weights=["int64"]), k=st.integers(0, 5))
def test_k_core_is_the_edges_between_vertices_of_that_core(graph, k):
    built = graph.graph().persist()
    core = graph.answers(built.core_number(), "core_number")
    found = built.k_core(k).compute()
    number = {id: v for v, id in enumerate(graph.ids)}
    rows = list(found.itertuples(index=False))
    assert rows == sorted(rows)  # repeated ones by weight
    edges = [(number[u], number[v], w) for u, v, w in rows]
    wanted = [edge for edge in graph.as_given.edges if min(core[edge[0]], core[edge[1]]) >= k]
    assert sorted(edges) == sorted(wanted)


# Exactness


@pytest.mark.parametrize("parts", [1, 3])
def test_integers_around_2_to_the_53(parts):
    """float64 cannot tell 2**53 + 1 from 2**53."""
    big = 2**53
    frame = pd.DataFrame(
        {"src": [0, 1, 0, 2, 3], "dst": [1, 2, 2, 3, 4], "weight": [big, 1, big + 2, big, 1]}
    )
    found = partitioned(frame, parts).graph.sssp(0, predecessor=True).compute()
    assert found["distance"].tolist() == [0, big, big + 1, 2 * big + 1, 2 * big + 2]
    assert found["predecessor"].tolist() == [NULL, 0, 1, 2, 3]
    floats = partitioned(frame.astype({"weight": "float64"}), parts).graph.sssp(0).compute()
    assert floats["distance"].tolist()[2] == float(big)


@given(
    weights=st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=5),
    shortcut=st.integers(0, 2**63 - 1),
)
def test_sums_near_2_to_the_63(weights, shortcut):
    """A chain beside one long edge: exact, or an error when a message does not fit."""
    n = len(weights)
    frame = pd.DataFrame(
        {"src": [*range(n), 0], "dst": [*range(1, n + 1), n], "weight": [*weights, shortcut]}
    )
    sums = [sum(weights[:i]) for i in range(n + 1)]
    try:
        found = frame.graph.sssp(0)["distance"].tolist()
    except errors.IntegerOverflow:
        assert sums[-1] >= 2**63
    else:
        assert found[:-1] == sums[:-1]
        assert found[-1] == min(sums[-1], shortcut)


def test_the_largest_distance():
    top = 2**63 - 1
    frame = pd.DataFrame({"src": [0, 1, 5], "dst": [1, 2, 6], "weight": [top - 1, 1, 3]})
    found = frame.graph.sssp(0, predecessor=True)
    assert found["distance"].tolist() == [0, top - 1, top, NULL, NULL]
    assert found["predecessor"].tolist() == [NULL, 0, 1, NULL, NULL]


def test_floats_from_tiny_to_huge():
    weight = [5e-324, 1e-300, 1.0, 1e16, 1e300]
    frame = pd.DataFrame({"src": range(5), "dst": range(1, 6), "weight": weight})
    found = frame.graph.sssp(0, predecessor=True)
    wanted = [0.0]
    for w in weight:
        wanted.append(wanted[-1] + w)
    assert found["distance"].tolist() == wanted
    assert found["predecessor"].tolist() == [NULL, 0, 1, 2, 3, 4]


def test_a_float_distance_beyond_the_largest_float():
    """Reached, infinitely far; not the same as unreached."""
    frame = pd.DataFrame({"src": [0, 1, 2, 9], "dst": [1, 2, 3, 8], "weight": [1e308] * 4})
    found = frame.graph.sssp(0)
    assert found["distance"].tolist() == [0.0, 1e308, math.inf, math.inf, NULL, NULL]


@given(graph=edge_lists(weights=["int64"], kinds=["int64 dense"]), data=st.data())
def test_predecessors_form_a_tree_with_weights_of_zero(graph, data):
    zeros = data.draw(st.sampled_from([0, 1]))
    frame = graph.frame()
    frame["weight"] = (frame["weight"] % 2) * zeros
    built = frame.graph(directed=graph.directed, vertices=graph.vertices())
    source = graph.ids[0]
    found = built.sssp(source, predecessor=True).set_index("vertex")
    distance = dict(zip(found.index, values(found, "distance"), strict=True))
    before = dict(zip(found.index, values(found, "predecessor"), strict=True))
    lightest = {}
    for u, v, weight in frame.itertuples(index=False):
        for ends in [(u, v)] if graph.directed else [(u, v), (v, u)]:
            lightest[ends] = min(lightest.get(ends, weight), weight)
    for v, d in distance.items():
        assert (before[v] is None) == (d is None or v == source)
        if before[v] is not None:
            assert distance[before[v]] + lightest[before[v], v] == d
        steps = 0
        while v is not None and d is not None and v != source:
            v, steps = before[v], steps + 1
            assert steps <= graph.n
        assert d is None or v == source


# Small and odd graphs


def test_one_vertex():
    frame = pd.DataFrame({"src": [7], "dst": [7], "weight": [3]})
    for edges in (frame, partitioned(frame, 1)):
        for directed in (True, False):
            graph = edges.graph(directed=directed).persist()

            def only(result):
                result = result.compute() if hasattr(result, "compute") else result
                assert len(result) == 1
                return result.iloc[0].tolist()

            assert only(graph.bfs(7)) == [7, 0]
            assert only(graph.sssp(7, predecessor=True)) == [7, 0, NULL]
            assert only(graph.pagerank()) == [7, 1.0]
            assert only(graph.core_number()) == [7, 0]
            assert only(graph.weakly_connected_components()) == [7, 7]
            assert only(graph.k_core(0)) == [7, 7, 3]
            assert only(graph.degree()) == ([7, 1, 1, 2] if directed else [7, 2])


def test_arguments_at_their_bounds():
    frame = pd.DataFrame({"src": [0, 1], "dst": [1, 2], "weight": [0, 1]})
    assert frame.graph.bfs(0, cutoff=0)["distance"].tolist() == [0, NULL, NULL]
    assert frame.graph.sssp(0, cutoff=0)["distance"].tolist() == [0, 0, NULL]
    assert frame.graph.sssp(0, cutoff=np.int64(1))["distance"].tolist() == [0, 0, 1]
    assert frame.graph.sssp(0, cutoff=0.5)["distance"].tolist() == [0, 0, NULL]
    assert frame.graph.sssp(0, cutoff=math.inf)["distance"].tolist() == [0, 0, 1]
    assert frame.graph.sssp(0, cutoff=2**80)["distance"].tolist() == [0, 0, 1]
    assert frame.graph.bfs(0, cutoff=math.inf)["distance"].tolist() == [0, 1, 2]
    assert frame.graph.bfs(0, target=0)["distance"].tolist() == [0]
    assert frame.graph.bfs(0, target=[2, 2])["vertex"].tolist() == [2, 2]
    assert frame.graph.k_core(0).values.tolist() == [[0, 1, 0], [1, 2, 1]]
    assert len(frame.graph.k_core(10**12)) == 0
    flat = frame.graph.pagerank(damping=0)["rank"].tolist()
    assert flat == pytest.approx([1 / 3] * 3)
    once = frame.graph.pagerank(tolerance=0, max_iterations=np.int64(1))["rank"]
    assert once.sum() == pytest.approx(1)
    assert frame.graph.pagerank(tolerance=1e9)["rank"].sum() == pytest.approx(1)


def test_weights_of_zero_only():
    frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0], "weight": [0.0, 0.0, -0.0]})
    assert frame.graph.sssp(1)["distance"].tolist() == [0.0, 0.0, 0.0]
    assert frame.graph.pagerank()["rank"].tolist() == pytest.approx([1 / 3] * 3)
