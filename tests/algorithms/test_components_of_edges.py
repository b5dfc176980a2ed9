"""Components in one call, for which no rows are built, beside those of a graph that is kept."""

import importlib

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from small_graphs import on_threads
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu import last_report
from dask_graphgpu.algorithms import Degree, WeaklyConnectedComponents
from dask_graphgpu.errors import InvalidEdges
from dask_graphgpu.execute import needs_of
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.edge_list import EdgeList
from dask_graphgpu.partition.partition import Partition

linking = importlib.import_module("dask_graphgpu.engine.cpu.components")


def same_as_kept(graph):
    """The answer in one call, which is that of the graph that is kept."""
    found = graph.weakly_connected_components().compute()
    kept = graph.persist().weakly_connected_components().compute()
    pd.testing.assert_frame_equal(found, kept)
    return found


@given(
    edge_lists(weights=(None, "float64"), kinds=KINDS, max_vertices=6, max_edges=40),
    st.sampled_from([1, 3]),
    st.sampled_from(["auto", "sum"]),
)
def test_as_of_a_graph_that_is_kept(graph, piece, duplicates):
    options = {} if graph.weight is None else {"weight": "weight", "duplicates": duplicates}
    with pytest.MonkeyPatch.context() as patch, on_threads(2):
        patch.setattr(linking, "PIECE", piece)
        same_as_kept(graph.graph(**options))


@given(edge_lists(kinds=("uint8", "str"), max_edges=20), edge_lists(kinds=("int64 dense",)))
def test_several_id_columns(one, other):
    rows = min(len(one.edges), len(other.edges))
    frames = [each.frame().head(rows).add_suffix(f"_{i}") for i, each in enumerate((one, other))]
    frame = partitioned(pd.concat(frames, axis=1), 2)
    ends = {"source": ["src_0", "src_1"], "destination": ["dst_0", "dst_1"]}
    same_as_kept(frame.graph(**ends, directed=one.directed))


@pytest.mark.parametrize("per_vertex", [0.4, 1.0, 8.0])
@pytest.mark.parametrize("kind", ["all", "some", "wide", "str"])
def test_large_random_graphs(tmp_path, per_vertex, kind):
    """Of files whose ids begin elsewhere and have other types, with vertices that no edge names."""
    n = 40_000
    rng = np.random.default_rng(int(10 * per_vertex))
    ends = np.sort(rng.integers(n, size=(int(per_vertex * n), 2)), axis=0)
    ids = {
        "all": np.arange(n) - 7,
        "some": np.arange(n) * 3 + 2**40,
        "wide": np.sort(rng.choice(2**62, n, replace=False)),
        "str": np.sort(np.char.add("v", np.arange(n).astype(str))),
    }[kind]
    for i, part in enumerate(np.array_split(ends, 3)):
        frame = pd.DataFrame(ids[part], columns=["src", "dst"])
        if i == 2 and kind == "all":
            frame = frame.astype("int32")
        frame.to_parquet(tmp_path / f"{i}.parquet", row_group_size=30_000)
    vertices = pd.DataFrame({"vertex": ids})
    graph = dd.read_parquet(tmp_path).graph(vertices=vertices)
    ones = np.ones(len(ends), np.int8)
    _, groups = connected_components(coo_array((ones, ends.T), shape=(n, n)), directed=False)
    smallest = pd.Series(ids).groupby(groups).transform("min")
    with dask.config.set({"graphgpu.threads": 3}):
        found = same_as_kept(graph)
    assert found["vertex"].tolist() == ids.tolist()
    assert found["component"].tolist() == smallest.tolist()


@pytest.mark.parametrize("lazy", [True, False])
def test_rows_are_built_for_what_reads_them(lazy):
    frame = pd.DataFrame({"src": [3, 1], "dst": [1, 9], "weight": [1.0, 2.0]})
    frame = dd.from_pandas(frame, npartitions=1) if lazy else frame
    graph, plain = frame.graph(weight="weight"), WeaklyConnectedComponents()

    def kind(graph, algorithm, engine="auto"):
        made = graph._input.partition(needs_of(algorithm, graph._input, engine))
        return type(made.compute() if lazy else made)

    assert kind(graph, plain) is EdgeList
    assert kind(graph, WeaklyConnectedComponents(thresholds=1)) is Partition
    assert kind(graph, WeaklyConnectedComponents(max_size=2)) is Partition
    assert kind(graph, plain, "hybrid") is Partition
    assert kind(graph, Degree()) is Partition
    layered = frame.graph(weight="weight", layout="layered")
    assert kind(layered, plain) is Partition


def test_the_report():
    frame = pd.DataFrame({"src": [5, 5, 7, 5], "dst": [6, 6, 7, 6]})
    found = frame.graph().weakly_connected_components()
    assert found["component"].tolist() == [5, 5, 7]
    report = last_report()
    assert {name: report.attrs["graph"][name] for name in ("edges", "vertices")} == {
        "edges": 4,
        "vertices": 3,
    }
    assert report.attrs["graph"]["bytes"] >= 4 * 2 * 4
    assert report["edges"].sum() == 4


def test_beside_another_method():
    frame = dd.from_pandas(pd.DataFrame({"src": [1, 2, 8], "dst": [2, 3, 9]}), npartitions=2)
    graph = frame.graph()
    components, degrees = dask.compute(graph.weakly_connected_components(), graph.degree())
    assert components["component"].tolist() == [1, 1, 1, 8, 8]
    assert degrees["vertex"].tolist() == [1, 2, 3, 8, 9]


def test_no_edges():
    frame = pd.DataFrame({"src": [1], "dst": [2]}).head(0)
    assert len(frame.graph().weakly_connected_components()) == 0
    vertices = pd.DataFrame({"vertex": [4, 2]})
    found = frame.graph(vertices=vertices).weakly_connected_components()
    assert found["component"].tolist() == [2, 4]


def test_bad_frames():
    frame = pd.DataFrame({"src": pd.array([1, None], "Int64"), "dst": [2, 3]})
    with pytest.raises(InvalidEdges, match="null"):
        frame.graph().weakly_connected_components()
    mixed = dd.from_map(
        lambda ids: pd.DataFrame({"src": ids, "dst": ids}),
        [pd.array([1], "uint64"), pd.array([-1], "int64")],
        meta=pd.DataFrame({"src": pd.array([], "int64"), "dst": pd.array([], "int64")}),
    )
    assert mixed.graph().weakly_connected_components().compute()["vertex"].tolist() == [-1, 1]


def test_a_long_way_up_is_not_gone_twice():
    """A path that is linked from its end on is as deep as it is long; a look at its last vertex halves that."""
    n = 1000
    parent = np.arange(n, dtype=np.uint32)
    last = np.arange(n - 1, 1, -1, dtype=np.uint32)
    kernels.components.link_pairs(0, n - 2, last, last - 1, parent)
    assert depth(parent, n - 1) == n - 2
    kernels.components.link_pairs(0, 1, last[:1], np.zeros(1, np.uint32), parent)
    assert depth(parent, n - 1) <= n // 2 + 1


def depth(parent, v):
    steps = 0
    while parent[v] != v:
        v, steps = parent[v], steps + 1
    return steps
