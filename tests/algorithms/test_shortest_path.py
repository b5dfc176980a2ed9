"""Single shortest paths: they are paths, and as short as distances say."""

import time

import networkx as nx
import numpy as np
import oracles
import pandas as pd
import pytest
from engines import RANKS, on_one_cpu
from hypothesis import given
from hypothesis import strategies as st
from places import FRAMES, sparse
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu import errors


@given(
    graph=edge_lists(weights=[None, "int64", "uint8", "float64"], kinds=KINDS),
    data=st.data(),
    weighted=st.booleans(),
    order=st.sampled_from(["input", "degree"]),
    duplicates=st.sampled_from(["auto", "keep"]),
    ranks=st.sampled_from([1, *RANKS]),
)
def test_path_is_one_and_the_shortest(graph, data, weighted, order, duplicates, ranks):
    weighted = weighted and graph.weight is not None
    source, target = (data.draw(st.integers(0, graph.n - 1)) for _ in range(2))
    ends = graph.ids[source], graph.ids[target]
    built = graph.graph(order=order, duplicates=duplicates, ranks=ranks)
    call = built.shortest_path(*ends, weighted=None if weighted else False)
    edges = graph.edges if weighted else [edge[:2] for edge in graph.edges]
    wanted = oracles.dijkstra(graph.n, edges, source, directed=graph.directed)
    if target not in wanted:
        with pytest.raises(errors.NoPath, match="no path leads from"):
            call.compute()
        return
    found = call.compute()
    place = {id: v for v, id in enumerate(graph.ids)}
    came, went = ([place[id] for id in found[name].tolist()] for name in ("src", "dst"))
    assert [source, *went] == [*came, target]
    assert found["distance"].tolist() == [wanted[v] for v in went]
    assert len({source, *went}) == len(went) + 1
    least = {}
    for u, v, weight in oracles._arcs(edges, graph.directed):
        least[u, v] = min(weight, least.get((u, v), weight))
    if weighted:
        assert found["weight"].tolist() == [least[pair] for pair in zip(came, went, strict=True)]
    else:
        assert list(found.columns) == ["src", "dst", "distance"]
        assert all(pair in least for pair in zip(came, went, strict=True))


@pytest.mark.parametrize("ranks", [1, *RANKS])
def test_of_edges_that_are_kept_it_has_the_lightest(ranks):
    edges = pd.DataFrame({"src": [0, 0, 0, 1], "dst": [1, 1, 1, 2], "weight": [5, 1, 3, 2]})
    graph = edges.graph(duplicates="keep", ranks=ranks).persist()
    for _ in range(2):  # the second is searched for from both ends
        found = graph.shortest_path(0, 2)
        assert found["weight"].tolist() == [1, 2]
        assert found["distance"].tolist() == [1, 3]


@on_one_cpu
def test_the_first_long_path_takes_about_as_long_as_others():
    def seconds(call):
        start = time.process_time()
        call()
        return time.process_time() - start

    n = 200_000
    frame = pd.DataFrame({"src": np.arange(n), "dst": np.arange(n) + 1, "weight": 1})
    frame[:9].graph().shortest_path(0, 9)  # compiles what there is to compile
    graph = frame.graph().persist()
    first, second = (seconds(lambda: graph.shortest_path(0, n)) for _ in range(2))
    assert first < 6 * (second + seconds(lambda: graph.sssp(0, predecessor=True)))


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("directed", [True, False])
def test_every_place(programs_place, weighted, directed):
    for frame in FRAMES:
        ids = frame()["src"]
        source, others = ids.iloc[0], ids.unique()[[5, 9]].tolist()

        def tree(graph):
            if not weighted:
                return graph.bfs(source, predecessor=True)  # noqa: B023
            return graph.sssp([source, others[0]], predecessor=True)  # noqa: B023

        def path(graph):
            return graph.shortest_path(source, far, weighted=weighted)  # noqa: B023

        (found,) = programs_place.same(tree, frames=[frame], directed=directed)
        far = found["vertex"][found["distance"].astype("Float64").idxmax()]
        (found,) = programs_place.same(path, frames=[frame], directed=directed)
        assert len(found) > (3 if frame is sparse else 1)


def test_predecessors_are_those_of_sssp():
    peer = nx.gnm_random_graph(300, 900, seed=2)
    edges = nx.to_pandas_edgelist(peer).assign(weight=1)
    graph = partitioned(edges, 3).graph(source="source", destination="target", directed=False)
    before = graph.sssp(0, predecessor=True).compute().set_index("vertex")
    for target in (5, 17, 150):
        path = graph.shortest_path(0, target).compute()
        assert path["source"].tolist() == before.loc[path["target"], "predecessor"].tolist()
        assert len(path) == nx.shortest_path_length(peer, 0, target)
        assert path["distance"].tolist() == list(range(1, len(path) + 1))


@pytest.mark.parametrize("partitioner", ["balanced", "random"])
@pytest.mark.parametrize("weighted", [True, False])
def test_on_ranks_it_is_that_of_one(weighted, partitioner):
    peer = nx.grid_2d_graph(40, 25)
    edges = nx.to_pandas_edgelist(nx.convert_node_labels_to_integers(peer))
    edges["weight"] = [1 + i * 7919 % 5 for i in range(len(edges))]
    options = {"source": "source", "destination": "target", "directed": False}
    wanted = edges.graph(**options, ranks=1).shortest_path(3, 990, weighted=weighted)
    for ranks in RANKS[1:]:
        graph = partitioned(edges, 3).graph(**options, ranks=ranks, partitioner=partitioner)
        found = graph.shortest_path(3, 990, weighted=weighted)
        assert found.npartitions == 3
        pd.testing.assert_frame_equal(found.compute(), wanted)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_across_weights_of_zero_it_is_that_of_sssp(seed, directed):
    """Other vertices at the distance of the target count, too: one may come before it on the path."""
    rng = np.random.default_rng(seed)
    n, m = 30, 80
    edges = pd.DataFrame(rng.integers(0, n, (m, 2)), columns=["src", "dst"])
    edges["weight"] = rng.integers(0, 2, m)
    before = edges.graph(directed=directed, ranks=1).sssp(0, predecessor=True)
    before = before.set_index("vertex")
    graphs = [edges.graph(directed=directed, ranks=1, order=order) for order in ("input", "degree")]
    for ranks in RANKS[1:]:
        graph = edges.graph(directed=directed, ranks=ranks, partitioner="random")
        graphs.append(graph.persist())
    for target in before.index[before["distance"].notna() & (before.index != 0)][seed::3]:
        wanted = before.loc[[target], "predecessor"]
        for graph in graphs:
            path = graph.shortest_path(0, target)
            assert path["src"].tolist() == before.loc[path["dst"], "predecessor"].tolist()
            found = graph.sssp(0, target=[target], predecessor=True)
            assert found["predecessor"].tolist() == wanted.tolist()


def test_strings_and_several_id_columns():
    edges = pd.DataFrame({"from": list("aab"), "to": list("bcc"), "km": [1.5, 4.0, 2.0]})
    graph = edges.graph(source="from", destination="to", weight="km")
    assert graph.shortest_path("a", "c").to_numpy().tolist() == [
        ["a", "b", 1.5, 1.5],
        ["b", "c", 2.0, 3.5],
    ]
    assert graph.shortest_path("a", "c", weighted=False).to_numpy().tolist() == [["a", "c", 1]]
    same = graph.shortest_path("b", "b")
    assert same.empty
    assert same["distance"].dtype == "float64"
    two = pd.DataFrame({"a": [1, 1], "b": list("xy"), "c": [1, 1], "d": list("yz")})
    found = two.graph(source=["a", "b"], destination=["c", "d"]).shortest_path((1, "x"), (1, "z"))
    assert found.to_numpy().tolist() == [[1, "x", 1, "y", 1], [1, "y", 1, "z", 2]]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((None, 1), errors.InvalidArgument, "source=None; give one vertex id"),
        ((0, [1]), errors.InvalidArgument, r"target=\[1\]; give one vertex id"),
        ((0, 9), errors.UnknownVertex, "9"),
        ((1, 0), errors.NoPath, "no path leads from 1 to 0"),
    ],
)
def test_what_is_refused(arguments, error, words):
    graph = pd.DataFrame({"src": [0], "dst": [1]}).graph()
    with pytest.raises(error, match=words):
        graph.shortest_path(*arguments)
    with pytest.raises(errors.InvalidArgument, match="with weighted=True needs weights"):
        graph.shortest_path(0, 1, weighted=True)
