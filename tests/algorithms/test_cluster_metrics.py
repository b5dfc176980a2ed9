"""Metrics of clusters against NetworkX, cluster by cluster."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_graphs import path
from small_graphs import on_threads
from strategies import KINDS, edge_lists

import dask_graphgpu  # noqa: F401  puts .graph on frames


def metrics(graph):
    """What a connected graph of NetworkX or one in parts has as a cluster, but for bounds of the diameter."""
    n, m = len(graph), graph.number_of_edges()
    degrees = [d for _, d in graph.degree]
    spread = sum(max(degrees) - d for d in degrees)
    weights = [w for *_, w in graph.edges(data="weight") if w is not None]
    return {
        "vertices": n,
        "edges": m,
        "density": nx.density(graph) if n > 1 else None,
        "weakest": min(weights, default=None),
        "bridges": len(list(nx.bridges(graph))),
        "centralization": spread / ((n - 1) * (n - 2)) if n > 2 else None,
    }


def simple(edges):
    """The simple graph of edges with weights, of which the largest counts."""
    graph = nx.Graph()
    for u, v, *weight in edges:
        graph.add_nodes_from((u, v))
        if u != v:
            before = graph.get_edge_data(u, v, {}).get("weight", -1)
            graph.add_edge(u, v, **({"weight": max(before, *weight)} if weight else {}))
    return graph


def assert_metrics(row, cluster):
    """Hold a row of the result against a cluster as a graph of NetworkX."""
    for name, wanted in metrics(cluster).items():
        if name == "weakest" and name not in row:
            continue
        found = None if pd.isna(row[name]) else row[name]
        assert found == pytest.approx(wanted), name
    bounds = row["diameter_at_least"], row["diameter_at_most"]
    if not nx.is_connected(cluster):
        assert all(map(pd.isna, bounds))
        return
    diameter = nx.diameter(cluster)
    assert bounds[0] <= diameter <= bounds[1] <= 2 * bounds[0]
    if nx.is_tree(cluster) or nx.density(cluster) in (0, 1):
        assert bounds == (diameter, diameter)


def rows_of(found):
    return found.astype(object).to_dict("records")


@settings(max_examples=40)
@given(
    graph=edge_lists(weights=[None, "int64", "float64"], kinds=KINDS),
    threads=st.sampled_from([1, 4]),
    order=st.sampled_from(["input", "degree"]),
    ranks=st.sampled_from([1, 1, 2, 3]),
)
def test_components(graph, threads, order, ranks):
    with on_threads(threads):
        found = graph.graph(order=order, ranks=ranks).cluster_metrics().compute()
    place = {each: v for v, each in enumerate(graph.ids)}
    plain = simple(graph.edges)
    parts = {min(p, key=graph.rank.__getitem__): p for p in nx.connected_components(plain)}
    clusters = [place[each] for each in found["cluster"]]
    assert set(parts) <= set(clusters)
    assert [graph.rank[c] for c in clusters] == sorted(graph.rank[c] for c in clusters)
    for row, cluster in zip(rows_of(found), clusters, strict=True):
        alone = nx.empty_graph([cluster])
        assert_metrics(row, plain.subgraph(parts[cluster]) if cluster in parts else alone)


@pytest.mark.parametrize("directed", [True, False])
def test_every_place_with_room(memory_place, directed):
    memory_place.same(lambda graph: graph.cluster_metrics(), directed=directed)


def test_random_clusters_and_known_shapes():
    """A graph of each shape beside the others: one run, a row for each."""
    rng = np.random.default_rng(3)
    shapes = [nx.complete_graph(5), nx.star_graph(6), nx.cycle_graph(9), nx.path_graph(12)]
    shapes += [nx.barbell_graph(4, 3), nx.petersen_graph(), nx.balanced_tree(3, 3)]
    shapes += [nx.gnm_random_graph(n, 2 * n, seed=n) for n in rng.integers(3, 40, 60).tolist()]
    parts = [g.subgraph(max(nx.connected_components(g), key=len)) for g in shapes]
    parts = [nx.convert_node_labels_to_integers(part, 100 * i) for i, part in enumerate(parts)]
    whole = nx.compose_all(parts)
    frame = nx.to_pandas_edgelist(whole).sample(frac=1, random_state=1)
    frame["weight"] = rng.random(len(frame))
    whole = simple(frame[["source", "target", "weight"]].itertuples(index=False))
    found = frame.graph(source="source", destination="target", weight="weight").cluster_metrics()
    assert found["cluster"].tolist() == [100 * i for i in range(len(parts))]
    for row, part in zip(rows_of(found), parts, strict=True):
        assert_metrics(row, whole.subgraph(part))
    exact = found["diameter_at_least"] == found["diameter_at_most"]
    assert exact[[0, 1, 3, 6]].all()


def test_rows_in_both_directions_are_one_pair():
    frame = pd.DataFrame(
        [(1, 2, 0.9), (2, 1, 0.2), (2, 3, 0.5), (2, 3, 0.1), (3, 3, 0.0)],
        columns=["src", "dst", "weight"],
    )
    (row,) = rows_of(frame.graph().cluster_metrics())
    assert (row["edges"], row["weakest"], row["bridges"]) == (2, 0.5, 2)
    assert row["density"] == pytest.approx(2 / 3)


def test_a_long_path_and_a_large_star():
    n = 300_000
    (row,) = rows_of(path(n).frame().graph().cluster_metrics())
    assert row["bridges"] == row["diameter_at_least"] == row["diameter_at_most"] == n - 1
    star = pd.DataFrame({"src": np.zeros(n, np.int64), "dst": np.arange(1, n + 1)})
    (row,) = rows_of(star.graph().cluster_metrics())
    assert (row["centralization"], row["diameter_at_most"]) == (1.0, 2)


def test_no_edges():
    none = pd.DataFrame({"src": [1], "dst": [1], "weight": [0.5]})
    found = none.graph().cluster_metrics()
    assert found["vertices"].tolist() == [1]
    assert found.isna().loc[0, ["density", "weakest", "centralization"]].all()
    assert found.loc[0, ["diameter_at_least", "diameter_at_most"]].tolist() == [0, 0]
    assert none.iloc[:0].graph().cluster_metrics().empty
