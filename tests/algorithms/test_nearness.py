"""Closeness and harmonic centrality in every place, and against NetworkX."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from engines import RANKS
from hypothesis import given
from hypothesis import strategies as st
from places import FRAMES, rows_of
from small_graphs import on_threads
from strategies import KINDS, edge_lists

from dask_graphgpu import errors

METHODS = {"closeness_centrality": "closeness", "harmonic_centrality": "harmonic"}


def simple(graph, direction="in"):
    """NetworkX's graph of the least weights; vertices are 0 .. n - 1, paths to which are looked for."""
    peer = (nx.DiGraph if graph.directed else nx.Graph)()
    peer.add_nodes_from(range(graph.n))
    for u, v, weight in graph.edges:
        if not peer.has_edge(u, v) or weight < peer[u][v]["weight"]:
            peer.add_edge(u, v, weight=weight)
    return peer.reverse() if graph.directed and direction == "out" else peer


@given(
    graph=edge_lists(weights=["uint8", "float32"], kinds=KINDS),
    data=st.data(),
    direction=st.sampled_from(["in", "out"]),
    weighted=st.booleans(),
    number=st.sampled_from([1, 3]),
    ranks=st.sampled_from(RANKS),
)
def test_networkx(graph, data, direction, weighted, number, ranks):
    peer, length = simple(graph, direction), "weight" if weighted else None
    vertex = st.integers(0, graph.n - 1)
    some = data.draw(st.none() | st.lists(vertex, min_size=1, unique=True))
    target = None if some is None else [graph.ids[v] for v in some]
    improved = data.draw(st.booleans())
    how = {"target": target, "direction": direction, "weighted": weighted}
    built = graph.graph(weight="weight", ranks=ranks).persist()
    with on_threads(number):
        close = built.closeness_centrality(**how, wf_improved=improved).compute()
        found = built.harmonic_centrality(**how).compute()
    wanted = nx.closeness_centrality(peer, distance=length, wf_improved=improved)
    sums = nx.harmonic_centrality(peer, distance=length)
    if some is not None:
        assert close["vertex"].tolist() == found["vertex"].tolist() == target
        wanted, sums = ({v: of[v] for v in some} for of in (wanted, sums))
    assert graph.answers(close, "closeness") == pytest.approx(wanted, rel=1e-9)
    assert graph.answers(found, "harmonic") == pytest.approx(sums, rel=1e-9)


@given(graph=edge_lists(weights=["uint8"]), data=st.data(), ranks=st.sampled_from(RANKS))
def test_given_sources(graph, data, ranks):
    """Means over them, of each vertex those that are others; with all of them it is the exact value."""
    peer = simple(graph)
    some = data.draw(st.sets(st.integers(0, graph.n - 1), min_size=1))
    built = graph.graph(weight="weight", ranks=ranks)
    found = built.harmonic_centrality([graph.ids[v] for v in sorted(some)], normalized=True)
    sums, means = nx.harmonic_centrality(peer, sources=some), {}
    for v in range(graph.n):
        counted = len(some) - (v in some)
        means[v] = sums[v] / counted if counted else None if graph.n > 1 else 0.0
    assert graph.answers(found, "harmonic") == pytest.approx(means)


@pytest.mark.parametrize("directed", [True, False])
def test_every_place(place, directed):
    place.same(
        lambda graph: graph.closeness_centrality(130, seed=2),
        lambda graph: graph.harmonic_centrality(70, direction="out"),
        lambda graph: graph.closeness_centrality(3, seed=2, weighted=True),
        lambda graph: graph.harmonic_centrality(method="hyperball", precision=4),
        directed=directed,
        rtol=1e-9,
    )


@pytest.mark.parametrize("direction", ["in", "out"])
def test_targets_in_every_place(place, direction):
    for frame in FRAMES:
        how = {"target": frame()["src"].unique()[:9].tolist(), "direction": direction}
        place.same(
            lambda graph: graph.closeness_centrality(**how),  # noqa: B023
            lambda graph: graph.harmonic_centrality(**how, weighted=True),  # noqa: B023
            frames=[frame],
            rtol=1e-9,
        )


def test_small_graphs(memory_place):
    memory_place.same_small(
        lambda graph: graph.closeness_centrality(70, seed=3),
        lambda graph: graph.closeness_centrality(method="hyperball", precision=5, direction="out"),
        rtol=1e-9,
    )


def random_graph(directed=False):
    rng = np.random.default_rng(5)
    edges = pd.DataFrame({"src": rng.integers(0, 300, 700), "dst": rng.integers(0, 300, 700)})
    return edges, edges.graph(directed=directed, vertices=pd.DataFrame({"vertex": range(300)}))


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("closeness_centrality", {}),
        ("closeness_centrality", {"wf_improved": False}),
        ("harmonic_centrality", {}),
        ("harmonic_centrality", {"normalized": True}),
    ],
)
def test_errors_of_samples_are_what_they_are_said_to_be(method, options):
    """Over many samples: no bias to speak of, and the root of the mean square of errors is the mean error."""
    _, graph = random_graph(directed=True)
    graph, column = graph.persist(), METHODS[method]
    right = getattr(graph, method)(**options)[column].to_numpy()
    samples = [getattr(graph, method)(40, seed=seed, **options) for seed in range(150)]
    values, said = (np.array([f[name] for f in samples]) for name in (column, "error"))
    off = np.sqrt(np.mean((values - right) ** 2, axis=0))
    there = right > 0.1 * right.mean()
    assert 0.8 < np.median(np.sqrt(np.mean(said**2, axis=0))[there] / off[there]) < 1.2
    bias = np.abs(values.mean(axis=0) - right)[there]
    assert np.median(bias / off[there]) < 0.3
    whole = getattr(graph, method)(300, **options)
    np.testing.assert_allclose(whole[column], right, rtol=1e-9)
    assert whole["error"].abs().max() < 1e-6 * right.max()


def test_too_few_sources_for_an_error():
    _, graph = random_graph()
    one = graph.closeness_centrality(1, seed=3)
    assert one["error"].isna().all()
    assert one["closeness"].isna().sum() == 1  # of the source, which is no other than itself


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(
    ("method", "options"),
    [(name, {}) for name in METHODS] + [("closeness_centrality", {"wf_improved": False})],
)
def test_hyperball_is_as_near_as_it_says(method, options, directed):
    _, graph = random_graph(directed)
    graph, column = graph.persist(), METHODS[method]
    right = getattr(graph, method)(**options)[column]
    ratios = []
    for seed in range(12):
        found = getattr(graph, method)(method="hyperball", seed=seed, **options)
        counted = found["error"] > 0
        # Of vertices whose ball does not grow after a step, the mean distance is exact.
        assert (counted <= (found[column] > 0)).all()
        assert (counted <= (right > 0)).all()
        ratios.append(((found[column] - right).abs() / found["error"])[counted])
    ratios = np.concatenate(ratios)
    assert 0.4 < np.sqrt(np.mean(ratios**2)) < 1.1
    assert np.mean(ratios < 2) > 0.9
    assert ratios.max() < 5


def test_hyperball_is_nearly_exact_with_many_registers_for_few_vertices():
    edges, graph = random_graph()
    right = nx.harmonic_centrality(nx.Graph(edges.to_numpy().tolist()))
    found = graph.harmonic_centrality(method="hyperball", precision=12)
    wanted = [right.get(v, 0) for v in range(300)]
    np.testing.assert_allclose(found["harmonic"], wanted, rtol=0.03)


def test_the_order_of_rows_changes_nothing():
    edges, _ = random_graph()
    how = {"method": "hyperball", "precision": 4, "seed": 7}
    found = edges.graph(order="degree").closeness_centrality(**how)
    other = edges.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(found, other.graph(order="input").closeness_centrality(**how))
    named = edges.map(lambda v: f"v{v:05}").graph().closeness_centrality(**how)
    assert named["closeness"].tolist() == found["closeness"].tolist()
    different = edges.graph().closeness_centrality(**how | {"seed": 8})
    assert (different["closeness"] != found["closeness"]).any()


def test_a_path_by_hand():
    edges = pd.DataFrame({"src": ["a", "b"], "dst": ["b", "c"]})
    graph = edges.graph()
    found = rows_of(graph.closeness_centrality())
    assert found["closeness"].tolist() == [0, 0.5, 2 / 3]
    assert graph.closeness_centrality(wf_improved=False)["closeness"].tolist() == [0, 1, 2 / 3]
    assert graph.harmonic_centrality(direction="out")["harmonic"].tolist() == [1.5, 1, 0]
    assert graph.harmonic_centrality(normalized=True)["harmonic"].tolist() == [0, 0.5, 0.75]
    assert graph.closeness_centrality(target="c")["closeness"].tolist() == [2 / 3]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weight", [0.0, 5e-324, 1e-300, 1e200, 1e308])
def test_extreme_weights(weight):
    edges = pd.DataFrame({"src": [1, 2, 3], "dst": [2, 3, 1], "weight": weight})
    peer = nx.from_pandas_edgelist(edges, "src", "dst", "weight", create_using=nx.DiGraph)
    for name, column in METHODS.items():
        found = getattr(edges.graph(), name)(3, weighted=True)
        wanted = getattr(nx, name)(peer, distance="weight")
        assert found[column].tolist() == pytest.approx(list(wanted.values()))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"sources": 4}, errors.InvalidArgument),
        ({"sources": 0}, errors.InvalidArgument),
        ({"sources": [1, 1]}, errors.InvalidArgument),
        ({"sources": [9]}, errors.UnknownVertex),
        ({"target": 9}, errors.UnknownVertex),
        ({"weighted": True}, errors.InvalidArgument),
        ({"direction": "both"}, errors.InvalidArgument),
        ({"method": "bfs"}, errors.InvalidArgument),
        ({"precision": 3}, errors.InvalidArgument),
        ({"precision": 13}, errors.InvalidArgument),
        ({"method": "hyperball", "sources": 2}, errors.InvalidArgument),
        ({"method": "hyperball", "weighted": True}, errors.InvalidArgument),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_refuses(method, arguments, error):
    edges = pd.DataFrame({"src": [1, 2], "dst": [2, 3]})
    with pytest.raises(error):
        getattr(edges.graph(), method)(**arguments)
