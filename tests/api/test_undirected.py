"""Undirected edges given once, in both directions, or some so and some so: NetworkX' answers, everywhere."""

import dask
import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from engines import on_one_cpu
from hypothesis import given
from hypothesis import strategies as st
from mixed_directions import TOLERANCES, check_as_networkx, mixtures, once, rows, values

import dask_graphgpu as dg
from dask_graphgpu import Field, VertexProgram

COUNT = VertexProgram(
    state={"seen": Field("int64", initial=0)},
    compute=lambda num_vertices: 1,
    combine="sum",
    apply=lambda message: message,
    active=lambda superstep: superstep < 1,
)


def in_memory(frame, folder):
    return frame.graph(directed=False)


def persisted(frame, folder):
    return frame.graph(directed=False).persist()


def by_degree(frame, folder):
    return frame.graph(directed=False, order="degree").persist()


def partitions(frame, folder):
    return dd.from_pandas(frame, npartitions=3).graph(directed=False)


def on_ranks(frame, folder):
    return frame.graph(directed=False, ranks=3)


def on_ranks_by_degree(frame, folder):
    return frame.graph(directed=False, ranks=2, order="degree", partitioner="random").persist()


def saved(frame, folder):
    return dg.load(frame.graph(directed=False, ranks=1).save(folder / "saved"))


PLACES = [in_memory, persisted, by_degree, partitions, on_ranks, on_ranks_by_degree, saved]


@pytest.mark.parametrize("place", PLACES)
@given(given=mixtures())
def test_every_mixture_is_networkxs_graph(place, given, tmp_path_factory):
    frame, simple = given
    graph = place(frame, tmp_path_factory.mktemp("graph"))
    check_as_networkx(graph, simple, "weight" in frame)


@on_one_cpu
@given(data=st.data())
def test_mixtures_on_disk(data, tmp_path_factory):
    """Rows of many pages and buckets: a mixture many times over, on vertices of its own each time."""
    frame, simple = data.draw(mixtures())
    size, copies = int(frame[["src", "dst"]].to_numpy().max()) + 1, 300
    many = pd.concat(
        [frame.assign(src=frame.src + i * size, dst=frame.dst + i * size) for i in range(copies)]
    )
    folder = tmp_path_factory.mktemp("pages")
    limits = {
        "graphgpu.host-memory-limit": "400kB",
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": [str(folder)],
    }
    wanted = many.graph(directed=False).pagerank()
    with dask.config.set(limits):
        found = many.graph(directed=False).pagerank()
        cores = many.graph(directed=False).k_core(0)
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-12)
    assert len(cores) == copies * simple.number_of_edges()


@pytest.mark.parametrize("place", PLACES)
@given(data=st.data())
def test_repeats_and_other_weights_are_edges_of_their_own(place, data, tmp_path_factory):
    """Every direction and weight any number of times, as the reference says."""
    vertex, weight = st.integers(0, 3), st.sampled_from([0, 1, 2, 3])
    drawn = data.draw(st.lists(st.tuples(vertex, vertex, weight), min_size=1, max_size=20))
    kind = data.draw(st.sampled_from(["int64", "float64"]))
    frame = pd.DataFrame(drawn, columns=["src", "dst", "weight"]).astype({"weight": kind})
    graph = place(frame, tmp_path_factory.mktemp("graph"))
    edges = once(drawn)
    listed = rows(graph.k_core(0)).to_numpy().tolist()
    assert sorted([min(u, v), max(u, v), w] for u, v, w in listed) == sorted(map(list, edges))
    seen = values(graph.run(COUNT, max_supersteps=2), "seen")
    ends = [v for u, w, _ in edges for v in {u, w}]
    assert seen == {v: ends.count(v) for v in seen}
    total = np.zeros(4)
    for u, v, w in edges:
        total[list({u, v})] += w
    held = values(graph.pagerank(), "rank")
    plain = pd.DataFrame(edges, columns=["src", "dst", "weight"]).astype({"weight": kind})
    wanted = values(plain.graph(directed=False).pagerank(), "rank")
    assert held == pytest.approx(wanted, rel=1e-9)


def test_one_row_less_changes_one_edge():
    """A list in both directions, and the same without its last row."""
    karate = nx.karate_club_graph()
    both = [row for u, v in karate.edges for row in ((u, v), (v, u))]
    frame = pd.DataFrame(both, columns=["src", "dst"])
    wanted = frame.graph(directed=False)
    for less in (frame.iloc[:-1], frame.iloc[1:], frame.drop(index=[3, 10, 77])):
        graph = less.graph(directed=False)
        for call in (
            lambda g: g.pagerank(),
            lambda g: g.hits(max_iterations=500),
            lambda g: g.k_core(0),
            lambda g: g.degree(),
            lambda g: g.louvain(),
            lambda g: g.triangle_count(),
        ):
            pd.testing.assert_frame_equal(call(graph), call(wanted), rtol=1e-10)


@pytest.mark.parametrize("kind", TOLERANCES)
def test_weights_that_differ_by_rounding_are_one_edge(kind):
    weight = np.dtype(kind).type(1.5)
    near = np.nextafter(weight, np.dtype(kind).type(2))
    far = weight * np.dtype(kind).type(1 + 1e-3)
    for other, number in ((weight, 1), (near, 1), (far, 2)):
        frame = pd.DataFrame({"src": [0, 1, 1], "dst": [1, 0, 2]})
        frame["weight"] = np.array([weight, other, weight], kind)
        listed = frame.graph(directed=False).k_core(0)
        assert len(listed) == number + 1
        assert frame.graph(directed=False).degree()["degree"].tolist() == [1, 2, 1]


def test_edge_columns_of_which_values_would_be_lost_are_an_error(tmp_path):
    """Where rows of both directions are one edge, and say different things of it."""
    frame = pd.DataFrame({"src": ["b", "a", "c"], "dst": ["a", "b", "a"], "lanes": [3, 2, 1]})
    most = VertexProgram(
        state={"x": Field("int64", initial=0)},
        compute=lambda edge_lanes: edge_lanes,
        combine="sum",
        apply=lambda message: message,
        active=lambda superstep: superstep < 1,
    )
    limit = {"host-memory-limit": "900kB", "page-bytes": 4096, "spill-directories": str(tmp_path)}
    ends = np.random.default_rng(0).integers(0, 50, (2, 60_000)).astype(str)
    long = pd.DataFrame({"src": ends[0], "dst": ends[1], "lanes": 0})
    for options in ({"order": "degree"}, {"ranks": 2}, {"pages": True}):
        pages = options.pop("pages", False)
        for edges, fits in ((frame, False), (frame.assign(lanes=[2, 2, 1]), True)):
            edges = pd.concat([edges[::-1], long]) if pages else edges
            with dask.config.set({"graphgpu": limit if pages else {}}):
                graph = edges.graph(directed=False, **options).persist(columns="lanes")
                if fits:
                    found = graph.run(most, max_supersteps=2).set_index("vertex")["x"]
                    assert found[["a", "b", "c"]].tolist() == [3, 2, 1]
                else:
                    with pytest.raises(dg.errors.InvalidArgument, match="'lanes' has other values"):
                        graph.run(most, max_supersteps=2)
