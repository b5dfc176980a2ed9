"""Metrics of clusters against NetworkX, cluster by cluster."""

import dask
import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import path
from small_graphs import on_threads
from strategies import KINDS, edge_lists

import dask_graphgpu as dg


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


@given(
    graph=edge_lists(weights=[None, "int64"], kinds=KINDS),
    ranks=st.sampled_from([1, 1, 2, 3]),
    labels=st.lists(st.integers(0, 9), min_size=10, max_size=10),
    left_out=st.booleans(),
    numbered=st.booleans(),
)
def test_clusters_that_are_given(graph, ranks, labels, left_out, numbered):
    """Each named by a vertex, which need not be in it, or by what is none; vertices that are left out are alone."""
    made = graph.graph(ranks=ranks)
    vertices = graph.graph().vertices().compute()
    n = len(vertices)
    if not n:
        return
    named = [labels[i] % n for i in range(n)]
    names = vertices["vertex"].iloc[named].to_numpy()
    given = vertices.assign(other=0.5, component=np.array(named) - 7 if numbered else names)
    given = given.iloc[int(left_out) :]
    found = made.cluster_metrics(given).compute()
    place = {each: v for v, each in enumerate(graph.ids)}
    plain = simple(graph.edges)
    groups = {}
    for i, each in enumerate(vertices["vertex"]):
        alone = left_out and i == 0
        groups.setdefault(("alone", i) if alone else named[i], []).append(place[each])
        plain.add_node(place[each])
    clusters = {min(part, key=graph.rank.__getitem__): part for part in groups.values()}
    assert {place[each] for each in found["cluster"]} == set(clusters)
    for row in rows_of(found):
        assert_metrics(row, plain.subgraph(clusters[place[row["cluster"]]]))


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


def test_edges_on_disk_are_looked_at_some_clusters_at_a_time(tmp_path):
    rng = np.random.default_rng(1)
    ends = rng.integers(0, 2000, (2, 60_000))
    frame = pd.DataFrame({"src": ends[0], "dst": ends[1], "weight": rng.integers(1, 99, 60_000)})
    vertices = pd.DataFrame({"vertex": np.arange(2000), "of_five": np.arange(2000) % 400})
    wanted = frame.graph(vertices=vertices).cluster_metrics("of_five")
    limits = {
        "host-memory-limit": "900kB",
        "page-bytes": 4096,
        "spill-directories": [str(tmp_path)],
    }
    for directed in (True, False):
        with dask.config.set({"graphgpu": limits}):
            graph = frame.graph(vertices=vertices, directed=directed)
            pd.testing.assert_frame_equal(graph.cluster_metrics("of_five"), wanted)
            looked = dg.last_report()
            assert len(looked[looked["direction"] == "look"]) > 1
            with pytest.raises(dg.errors.LimitTooSmall):
                graph.cluster_metrics()  # one cluster, of all edges


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


def test_a_column_of_the_vertices_frame_or_frames_of_results():
    pairs = [(1, 2, 0.9), (2, 3, 0.4), (3, 4, 0.8), (5, 6, 0.7)]
    frame = pd.DataFrame(pairs, columns=["src", "dst", "weight"])
    vertices = pd.DataFrame(
        {"vertex": range(1, 7), "half": [2.5, 2.5, 0.5, 0.5, -1, -1], "n": range(6)}
    )
    graph = frame.graph(vertices=vertices)
    wanted = graph.cluster_metrics("half")
    assert wanted[["cluster", "edges"]].to_numpy().tolist() == [[1, 1], [3, 1], [5, 1]]
    assert graph.cluster_metrics("n")["vertices"].eq(1).all()
    for clusters in (
        graph.weakly_connected_components(thresholds=0.5),
        graph.weakly_connected_components(max_size=2),
        dd.from_pandas(graph.weakly_connected_components(thresholds=[0.5]), npartitions=3),
    ):
        pd.testing.assert_frame_equal(graph.cluster_metrics(clusters), wanted)
    graph.cluster_metrics(graph.louvain())
    lazy = dd.from_pandas(frame, npartitions=2).graph()
    found = lazy.cluster_metrics(lazy.weakly_connected_components(thresholds=[0.5])).compute()
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False)


def test_wrong_clusters():
    graph = pd.DataFrame({"src": [1, 2], "dst": [2, 3]}).graph()
    two = pd.DataFrame({"vertex": [1, 1], "component": [1, 1]})
    with pytest.raises(dg.errors.InvalidArgument, match="1 of its rows name a vertex again"):
        graph.cluster_metrics(two)
    with pytest.raises(dg.errors.InvalidArgument, match="clusters is a int"):
        graph.cluster_metrics(3)
    with pytest.raises(dg.errors.InvalidArgument, match="one other column of labels"):
        graph.cluster_metrics(two.assign(x=1, y=2).drop(columns="component"))


@pytest.mark.parametrize("ranks", [1, 2])
def test_clusters_that_have_kept_their_ids(ranks):
    """Which need be no vertices any more, as may vertices of the frame."""
    old = pd.DataFrame({"vertex": list("abxy"), "component": list("aaxx")})
    frame = pd.DataFrame({"src": ["b", "y"], "dst": ["c", "z"], "weight": [1.5, 2.5]})
    graph = frame.graph(directed=False, ranks=ranks)
    clusters = dg.match_ids(old, graph.weakly_connected_components()).frame
    assert clusters["component"].tolist() == list("aaxx")
    wanted = rows_of(graph.cluster_metrics())
    assert rows_of(graph.cluster_metrics(clusters)) == wanted
    more = pd.concat([clusters, old.iloc[:1], old.iloc[2:3]])
    assert rows_of(graph.cluster_metrics(more)) == wanted
    assert dg.last_report().attrs["ignored"] == {"clusters": 2}


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_both_zeros_are_one_cluster(ranks):
    frame = pd.DataFrame({"src": [1, 2, 3], "dst": [2, 3, 4]})
    vertices = pd.DataFrame({"vertex": [1, 2, 3, 4], "c": [0.0, -0.0, -0.0, 0.0]})
    graph = frame.graph(vertices=vertices, ranks=ranks)
    assert graph.cluster_metrics("c")["vertices"].tolist() == [4]
    assert graph.label_propagation(initial="c")["label"].tolist() == [1] * 4
