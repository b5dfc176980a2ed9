"""Graphs of pandas frames on the GPU: answers are put into the user's order there, and are the CPU engine's."""

import gc
import pickle
import weakref
from types import SimpleNamespace

import cupy
import dask
import dask.dataframe
import numpy as np
import pandas as pd
import pytest

import dask_graphgpu  # noqa: F401
from dask_graphgpu.partition.device import memory
from dask_graphgpu.partition.ids import VertexIds
from dask_graphgpu.partition.ranks.ids import RankIds

pytestmark = pytest.mark.gpu

SOME = [7, 12, 30]
CALLS = {
    "bfs": lambda g: g.bfs(7, predecessor=True),
    "bfs to some": lambda g: g.bfs(7, target=SOME),
    "bfs from some": lambda g: g.bfs(SOME),
    "sssp": lambda g: g.sssp(7),
    "sssp from some": lambda g: g.sssp(SOME, predecessor=True),
    "components": lambda g: g.weakly_connected_components(),
    "strong components": lambda g: g.strongly_connected_components(),
    "cores": lambda g: g.core_number(),
    "degrees": lambda g: g.degree(),
    "forest": lambda g: g.minimum_spanning_forest(),
    "pagerank": lambda g: g.pagerank(weighted=True),
    "triangles": lambda g: g.triangle_count(),
    "labels": lambda g: g.label_propagation(3),
    "betweenness": lambda g: g.betweenness_centrality(SOME),
}


@pytest.fixture(params=[True, False], ids=["directed", "undirected"])
def graphs(request):
    """By degree on both engines, so that dense ids are not in the order of the user's."""
    rng = np.random.default_rng(0)
    edges = pd.DataFrame({"src": rng.zipf(1.5, 4000) % 700 + 7, "dst": rng.integers(7, 707, 4000)})
    edges["weight"] = rng.integers(1, 9, len(edges)).astype("float32")
    return [
        edges.graph(engine=engine, directed=request.param).persist() for engine in ("gpu", "cpu")
    ]


def test_answers_are_those_of_the_cpu(graphs):
    for name, call in CALLS.items():
        found, wanted = (call(graph) for graph in graphs)
        pd.testing.assert_frame_equal(found, wanted, rtol=1e-6, obj=name)


KINDS = {
    "narrow": lambda ids: ids.astype("int16"),
    "masked": lambda ids: ids.astype("Int64"),
    "Arrow": lambda ids: ids.astype("uint32[pyarrow]"),
    "words": lambda ids: "v" + ids.astype(str),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lazy", [False, True])
def test_ids_of_any_kind(kind, lazy):
    """Integers are looked up on the GPU, others on the host; whole answers, and a part for each partition."""
    rng = np.random.default_rng(1)
    edges = pd.DataFrame({"src": rng.zipf(1.5, 300) % 90, "dst": rng.integers(0, 90, 300)})
    edges = edges.apply(KINDS[kind]).assign(weight=rng.random(300))
    given = dask.dataframe.from_pandas(edges, npartitions=3) if lazy else edges
    for name in ("forest", "strong components", "components", "labels"):
        found, wanted = (CALLS[name](given.graph(engine=engine)) for engine in ("gpu", "cpu"))
        if lazy:
            found, wanted = dask.compute(found, wanted)
        pd.testing.assert_frame_equal(found, wanted, obj=name)


def test_a_frame_may_be_written_to(graphs):
    for name, call in CALLS.items():
        found = call(graphs[0])
        before = found.copy()
        for column in found.columns:
            found.loc[:, column] = found[column].iloc[0]
        pd.testing.assert_frame_equal(call(graphs[0]), before, obj=name)


@pytest.mark.parametrize("kind", ["one rank", "ranks"])
def test_a_full_gpu_drops_the_order_of_answers(kind):
    order = np.array([2, 0, 1], np.uint32)
    ids = VertexIds([], order)
    if kind == "ranks":
        ids = RankIds(None, [], [], SimpleNamespace(ascending=order))
    values = cupy.zeros(3)
    made = ids.in_user_order_beside(values)
    assert ids.in_user_order_beside(values) is made
    there = weakref.ref(made)
    del made
    assert memory.drop_kept()
    gc.collect()
    assert there() is None
    again = pickle.loads(pickle.dumps(ids)).in_user_order_beside(values)
    np.testing.assert_array_equal(again.get(), order)
