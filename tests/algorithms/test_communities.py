"""Louvain and Leiden in every place: their steps, modularity and quality by others, what the methods promise."""

import random
from dataclasses import replace
from itertools import pairwise

import dask
import dask.dataframe as dd
import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from engines import of_the_cpu_engine
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import apart, grid, path, random_small, rmat, star
from places import rows_of
from small_graphs import on_threads, small_graphs
from strategies import KINDS, edge_lists
from synchronous_louvain import leiden as leiden_in_python
from synchronous_louvain import louvain as louvain_in_python

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.engine.cpu import leiden, louvain
from dask_graphgpu.report import Report

METHODS = ["louvain", "leiden"]
IN_PYTHON = {"louvain": louvain_in_python, "leiden": leiden_in_python}


def peer(graph, *, weighted=True):
    """NetworkX's undirected graph of the same weights, directions and repeats added up."""
    made = nx.Graph()
    made.add_nodes_from(range(graph.n))
    for u, v, *weight in graph.edges:
        w = weight[0] if weight and weighted else 1
        before = made.get_edge_data(u, v, {"weight": 0})["weight"]
        made.add_edge(u, v, weight=before + w)
    return made


def groups(labels):
    """Sets of vertices by label."""
    found = {}
    for vertex, label in labels.items():
        found.setdefault(label, set()).add(vertex)
    return list(found.values())


def light(graph):
    """The same with weights of a size that sums do not lose."""
    edges = [(u, v, w % 5) for u, v, w in graph.edges]
    return type(graph)(
        graph.n, edges, graph.directed, graph.weight, graph.kind, graph.ids, graph.cuts
    )


@pytest.mark.parametrize("method", METHODS)
@given(
    graph=edge_lists(weights=[None, "int64", "float32"], kinds=KINDS),
    resolution=st.sampled_from([0.25, 1, 2.5]),
    seed=st.integers(0, 3),
)
def test_small_graphs(method, graph, resolution, seed):
    graph = light(graph) if graph.weight else graph
    built = graph.graph().persist()
    found = getattr(built, method)(resolution=resolution, seed=seed).compute()
    number = {id: v for v, id in enumerate(graph.ids)}
    label = {v: number[id] for v, id in graph.answers(found, "community").items()}
    modularity = set(found["modularity"])
    assert len(modularity) == 1
    other = peer(graph.as_given)
    parts = groups(label)
    for part in parts:  # a label is the smallest id
        assert {label[v] for v in part} == {min(part, key=graph.rank.__getitem__)}
    if other.size(weight="weight") == 0:
        assert modularity == {0.0}
        assert len(parts) == graph.n
        return
    expected = nx.community.modularity(other, parts, resolution=resolution)
    assert modularity.pop() == pytest.approx(expected, abs=1e-9)
    alone = nx.community.modularity(other, [{v} for v in other], resolution=resolution)
    assert expected >= alone - 1e-9
    if method == "leiden":
        heavy = nx.Graph((u, v) for u, v, w in other.edges(data="weight") if w > 0)
        heavy.add_nodes_from(other)
        assert all(nx.is_connected(heavy.subgraph(part)) for part in parts)


@of_the_cpu_engine
@given(graph=small_graphs(weights=(None, "uint8", "float32")), number=st.sampled_from([1, 3]))
def test_views_with_wide_ids_and_on_threads(graph, number):
    graph = replace(graph, edges=[(u, v, *(x % 8 for x in w)) for u, v, *w in graph.edges])
    with on_threads(number):
        found = [
            louvain(graph.view(), 1.0, 0, Report("")),
            leiden(graph.view(), 1.0, 0, 2, Report("")),
        ]
    other = peer(graph)
    for labels, modularity in found:
        if other.size(weight="weight"):
            parts = groups(dict(enumerate(labels.tolist())))
            expected = nx.community.modularity(other, parts)
            assert modularity == pytest.approx(expected, abs=1e-6)
        else:
            assert labels.tolist() == list(range(graph.n))


def planted(groups_of, size, inside, outside, seed=0):
    """Edges of a graph with planted communities, ids shuffled, and the community of each vertex."""
    made = nx.planted_partition_graph(groups_of, size, inside, outside, seed=seed)
    names = np.random.default_rng(seed).permutation(len(made)) + 100
    edges = pd.DataFrame(names[np.array(made.edges)], columns=["src", "dst"])
    return edges, dict(zip(names.tolist(), (np.arange(len(made)) // size).tolist(), strict=True))


# Of sizes that plain Python is soon through with.
SMALLER = [star(300), path(150), grid(12), apart(6, 30), rmat(7), rmat(7, by_degree=False)]


def frames(directed, kind):
    """Without repeats, which undirected edges would be taken for the other direction of; weights are whole."""
    rng = np.random.default_rng(3)
    made = [*map(random_small, range(1, 9)), *SMALLER]
    drawn = [np.stack([each.source, each.destination]) for each in made if len(each.source)]
    for ends in [*drawn, planted(6, 20, 0.4, 0.02)[0].to_numpy().T]:
        ends = np.unique(ends if directed else np.sort(ends, axis=0), axis=1)
        frame = pd.DataFrame(ends.T, columns=["src", "dst"])
        if kind is not None:
            frame["weight"] = rng.integers(0, 4, len(frame)).astype(kind)
        yield frame
    yield frame.assign(src="v" + frame["src"].astype(str), dst="v" + frame["dst"].astype(str))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("directed", "kind", "bits", "resolution"),
    [
        (True, None, 64, 1),
        (False, "int64", None, 2.5),
        (False, "float64", None, 0.3),
    ],
)
def test_every_place(rows_place, method, directed, kind, bits, resolution):
    """Vertex by vertex in the host's memory; on ranks and GPUs the steps of plain Python."""
    with dask.config.set({"graphgpu.dense-id-bits": bits}):
        for frame in frames(directed, kind):
            call = lambda graph: getattr(graph, method)(resolution=resolution, seed=3)  # noqa: E731
            if rows_place.name in ("host", "threads", "pages"):
                rows_place.same(call, frames=[frame], directed=directed)
                continue
            found = rows_of(call(rows_place.graph(frame, directed=directed)))
            place = {id: v for v, id in enumerate(found["vertex"])}
            columns = [frame[end].map(place).tolist() for end in ("src", "dst")]
            columns += [] if kind is None else [frame["weight"].tolist()]
            expected, modularity = IN_PYTHON[method](
                len(place), list(zip(*columns, strict=True)), resolution=resolution, seed=3
            )
            assert found["community"].map(place).tolist() == expected
            assert found["modularity"].tolist() == pytest.approx(
                [modularity] * len(place), abs=1e-14
            )


@pytest.mark.parametrize("method", METHODS)
def test_planted_communities_are_found(rows_place, method):
    edges, truth = planted(12, 60, 0.4, 0.01)
    graph = rows_place.graph(edges, directed=False)
    found = rows_of(getattr(graph, method)(seed=5)).set_index("vertex")
    assert len({(truth[v], c) for v, c in found["community"].items()}) == 12
    both = nx.Graph(edges.to_numpy().tolist())
    expected = nx.community.modularity(both, groups(found["community"].to_dict()))
    assert found["modularity"].iloc[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["facebook-combined", "email-enron", "cugraph-netscience"])
@pytest.mark.parametrize("method", METHODS)
def test_quality_beside_igraph(graphs, method, name):
    """Both vary by about a hundredth between runs."""
    edges = pd.read_parquet(graphs / f"{name}.parquet", columns=["src", "dst"])
    call = getattr(edges.graph(directed=False, weight=None).persist(), method)
    best = max(call(seed=seed)["modularity"].iloc[0] for seed in range(3))
    simple = np.unique(np.sort(edges.to_numpy(), axis=1), axis=0).tolist()
    other = igraph.Graph(edges.max(axis=None) + 1, simple)
    if method == "louvain":
        wanted = other.community_multilevel().modularity
    else:
        wanted = other.community_leiden("modularity", n_iterations=2).modularity
    assert best > wanted - 0.01


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("method", METHODS)
def test_quality_beside_igraph_where_little_is_to_be_found(method, ranks):
    """R-MAT has no communities to speak of, so a method that stops early or moves badly falls behind.

    In the mean of some runs, of which each varies by about a hundredth.
    """
    made = rmat(12)
    ends = np.unique(np.sort(np.stack([made.source, made.destination]), axis=0), axis=1).T
    ends = ends[ends[:, 0] != ends[:, 1]]
    other = igraph.Graph(made.n, ends)
    graph = pd.DataFrame(ends, columns=["src", "dst"]).graph(directed=False, ranks=ranks)
    random.seed(1)  # igraph draws from it
    own, wanted = [], []
    for seed in range(4):
        found = getattr(graph, method)(seed=seed)
        label = np.arange(made.n)
        label[found["vertex"]] = found["community"]
        own.append(other.modularity(label.tolist()))
        assert found["modularity"].iloc[0] == pytest.approx(own[-1], abs=1e-9)
        if method == "louvain":
            wanted.append(other.community_multilevel().modularity)
        else:
            wanted.append(other.community_leiden("modularity", n_iterations=2).modularity)
    assert np.mean(own) > 0.98 * np.mean(wanted) > 0.1


def test_deterministic_for_a_seed():
    edges, _ = planted(10, 50, 0.12, 0.03)
    graph = edges.graph(directed=False).persist()
    for method in METHODS:
        call = getattr(graph, method)
        pd.testing.assert_frame_equal(call(seed=3), call(seed=3), check_exact=True)
        answers = [call(seed=seed)["community"].tolist() for seed in range(5)]
        assert len({tuple(answer) for answer in answers}) > 1


def test_resolution_makes_communities_smaller():
    edges, _ = planted(6, 40, 0.5, 0.05)
    for method in METHODS:
        call = getattr(edges.graph(directed=False), method)
        numbers = [call(resolution=r)["community"].nunique() for r in (1e-3, 1, 50)]
        assert numbers[0] == 1
        assert numbers[1] == 6
        assert numbers[2] > 100


@pytest.mark.parametrize("method", METHODS)
def test_several_resolutions(rows_place, method):
    edges, _ = planted(6, 20, 0.5, 0.05)
    call = getattr(rows_place.graph(edges, directed=False), method)
    found = rows_of(call(resolution=[1, 0.5, 3], seed=2))
    names = [f"{column}_{r}" for r in ("1", "0.5", "3") for column in ("community", "modularity")]
    assert [*found] == ["vertex", *names]
    for resolution in (1, 0.5, 3):
        alone = rows_of(call(resolution=resolution, seed=2))
        for column in ("community", "modularity"):
            assert found[f"{column}_{resolution}"].tolist() == alone[column].tolist()


@pytest.mark.parametrize("method", METHODS)
def test_levels(rows_place, method):
    """Each level divides the one before, level 0 is the answer without levels, labels are smallest members."""
    made = grid(12)
    ends = np.unique(np.sort(np.stack([made.source, made.destination]), axis=0), axis=1)
    edges = pd.DataFrame(ends.T, columns=["src", "dst"])
    call = getattr(rows_place.graph(edges, directed=False), method)
    found = rows_of(call(levels=True, seed=2))
    assert [*found] == ["vertex", "level", "community", "parent"]
    of_level = [rows.set_index("vertex") for _, rows in found.groupby("level")]
    assert len(of_level) > 1
    assert found["level"].tolist() == [*range(len(of_level))] * made.n
    alone = rows_of(call(seed=2)).set_index("vertex")
    assert of_level[0]["community"].to_dict() == alone["community"].to_dict()
    assert of_level[0]["parent"].isna().all()
    for before, level in pairwise(of_level):
        assert level["parent"].astype("int64").to_dict() == before["community"].to_dict()
        assert (level.groupby("community")["parent"].nunique() == 1).all()
        assert level["community"].nunique() > before["community"].nunique()
        assert all(label == min(part) for label, part in level.groupby("community").groups.items())


def test_levels_of_no_communities_and_refused():
    edges = pd.DataFrame({"src": ["a", "b"], "dst": ["b", "c"], "weight": [0.0, 0.0]})
    for graph in (edges.graph(), dd.from_pandas(edges, npartitions=2).graph()):
        found = rows_of(graph.leiden(levels=True))
        assert found[["vertex", "level", "community"]].to_numpy().tolist() == [
            [v, 0, v] for v in "abc"
        ]
    assert edges.iloc[:0].graph.louvain(levels=True).shape == (0, 4)
    with pytest.raises(errors.InvalidArgument, match="give one resolution"):
        edges.graph.leiden(levels=True, resolution=[1, 2])
    with pytest.raises(errors.InvalidArgument, match="levels=1; allowed are True, False"):
        edges.graph.leiden(levels=1)
    with pytest.raises(errors.InvalidArgument, match="levels= has one for each level"):
        edges.graph.features({"leiden": {"levels": True}})


@pytest.mark.parametrize("method", METHODS)
@given(data=st.data(), partitions=st.integers(1, 4), graph=edge_lists(weights=[None, "float32"]))
def test_the_order_of_rows_means_nothing(method, data, partitions, graph):
    """Nor does how the rows are cut, to the last bit where sums of weights are exact."""
    edges = pd.DataFrame([row[:2] for row in graph.edges], columns=["src", "dst"], dtype="int64")
    if graph.weight:
        edges["weight"] = [w % 5 + 0.5 for _, _, w in graph.edges]
    order = data.draw(st.permutations(range(len(edges))))
    shuffled = edges.iloc[list(order)].reset_index(drop=True)
    call = lambda frame: getattr(frame.graph(directed=graph.directed), method)(seed=1)  # noqa: E731
    wanted = call(edges)
    pd.testing.assert_frame_equal(call(shuffled), wanted, check_exact=True)
    cut = call(dd.from_pandas(shuffled, npartitions=partitions)).compute()
    pd.testing.assert_frame_equal(cut, wanted, check_exact=True)


def test_two_cliques_and_a_bridge():
    """Closed form: 2 (6 / 13 - (13 / 26)^2) of two 4-cliques and an edge between them."""
    clique = [(u, v) for u in range(4) for v in range(u)]
    rows = [*clique, *((u + 4, v + 4) for u, v in clique), (0, 4)]
    edges = pd.DataFrame(rows, columns=["src", "dst"])
    for method in METHODS:
        found = getattr(edges.graph(directed=False), method)()
        assert found["community"].tolist() == [0] * 4 + [4] * 4
        assert found["modularity"].iloc[0] == pytest.approx(2 * (6 / 13 - 0.25), abs=1e-15)


def test_weights_repeats_loops_and_directions():
    once = pd.DataFrame({"src": [0, 1, 2, 3, 1], "dst": [1, 2, 3, 3, 0], "weight": [3, 1, 2, 1, 0]})
    repeated = once.loc[once.index.repeat(once["weight"]), ["src", "dst"]]
    for method in METHODS:
        for directed in (True, False):
            weighted = getattr(once.graph(directed=directed), method)()
            plain = getattr(repeated.graph(directed=directed), method)()
            pd.testing.assert_frame_equal(weighted, plain)
            unweighted = getattr(once.graph(directed=directed), method)(weighted=False)
            assert unweighted["modularity"].iloc[0] != weighted["modularity"].iloc[0]


def test_no_weight_at_all():
    edges = pd.DataFrame({"src": ["a", "b"], "dst": ["b", "c"], "weight": [0.0, 0.0]})
    for method in METHODS:
        found = getattr(edges.graph, method)()
        assert found["community"].tolist() == ["a", "b", "c"]
        assert found["modularity"].tolist() == [0, 0, 0]


def test_report_and_bad_arguments():
    edges, _ = planted(3, 20, 0.5, 0.05)
    edges.graph.louvain()
    assert set(dg.last_report()["direction"]) == {"move"}
    for bad in (
        {"resolution": 0},
        {"resolution": True},
        {"resolution": [1, np.inf]},
        {"resolution": []},
        {"seed": -1},
    ):
        for method in METHODS:
            with pytest.raises(errors.InvalidArgument, match="allowed is"):
                getattr(edges.graph, method)(**bad)
    with pytest.raises(errors.InvalidArgument, match="has 2 more than once"):
        edges.graph.louvain(resolution=[2, 1, 2.0])
    with pytest.raises(errors.InvalidArgument, match="max_iterations=0; allowed is a whole number"):
        edges.graph.leiden(max_iterations=0)
    with pytest.raises(errors.InvalidArgument, match="needs weights"):
        edges.graph.leiden(weighted=True)
