"""A saved graph that several ranks open: what it gives there is what its frame gives on as many ranks."""

from dataclasses import replace

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import KINDS, edge_lists

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.exchange.local import run_local
from dask_graphgpu.partition.ranks.dealt import deal
from dask_graphgpu.store.saved import open_partition, read

RNG = np.random.default_rng(5)
EDGES = pd.DataFrame({"src": RNG.integers(0, 90, 400), "dst": RNG.integers(0, 90, 400)})
EDGES["weight"], EDGES["toll"] = RNG.integers(1, 9, 400), RNG.random(400)
VERTICES = pd.DataFrame({"vertex": range(95), "p": np.arange(95.0)})
PROGRAM = dg.VertexProgram(
    state={"x": dg.Field("float64", vertices="p")},
    compute=lambda source_x, edge_toll: source_x * edge_toll,
    combine="sum",
    apply=lambda message: message,
    stop=lambda superstep: superstep >= 2,
)


def same(found, wanted):
    found, wanted = (each.reset_index(drop=True) for each in dask.compute(found, wanted))
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False, rtol=1e-9)


@given(
    graph=edge_lists(weights=[None, "int64"], kinds=KINDS),
    ranks=st.integers(2, 4),
    order=st.sampled_from(["input", "degree"]),
    duplicates=st.sampled_from(["auto", "keep"]),
)
def test_any_graph(tmp_path_factory, graph, ranks, order, duplicates):
    """Any ids, directions, repeats and cuts: every row of the frame is on some rank, once."""
    path = tmp_path_factory.mktemp("dealt") / "saved"
    built = graph.graph(order=order, duplicates=duplicates)
    saved, opened = dg.load(built.save(path)), dg.load(path, ranks=ranks)
    for method in ("degree", "weakly_connected_components", "triangle_count", "pagerank"):
        same(getattr(opened, method)(), getattr(saved, method)())
    assert opened.explain().rows == saved.explain().rows == len(graph.edges)
    if graph.n and graph.weight:
        same(opened.sssp(graph.ids[0]), saved.sssp(graph.ids[0]))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("layout", ["rows", "layered"])
def test_columns_layers_and_partitioners(tmp_path, directed, layout):
    options = {"directed": directed, "layout": layout, "vertices": VERTICES, "duplicates": "keep"}
    path = EDGES.graph(**options).save(tmp_path / "saved", columns="toll")
    wanted = EDGES.graph(**options, ranks=3).persist(columns="toll")
    for partitioner in ("balanced", "random"):
        opened = dg.load(path, ranks=3, partitioner=partitioner)
        for call in (
            lambda g: g.run(PROGRAM),
            lambda g: g.sssp(3),
            lambda g: g.louvain(),
            lambda g: g.heat_simulation("p", step=1e-3, tolerance=0, max_iterations=3),
        ):
            same(call(opened), call(wanted))
    plan = opened.explain()
    assert (plan.ranks, plan.rows) == (3, 400)
    assert f"opened from {path}" in repr(opened)


def test_gaps_of_the_vertices_frame(tmp_path):
    vertices = VERTICES.assign(p=VERTICES["p"].where(VERTICES["vertex"] % 3 > 0))
    path = EDGES.graph(vertices=vertices).save(tmp_path / "saved")
    wanted = dg.load(path).neighbor_aggregate("p")
    same(dg.load(path, ranks=2).neighbor_aggregate("p"), wanted)
    with pytest.raises(errors.InvalidVertices, match="no value for 32 of 95 vertices"):
        dg.load(path, ranks=2).heat_simulation("p", step=0.1).compute()


@pytest.mark.parametrize("directed", [True, False])
def test_after_updates(tmp_path, directed):
    path = EDGES[:300].graph(directed=directed).save(tmp_path / "saved")
    dg.load(path).append(EDGES[300:].assign(src=EDGES["src"][300:] + 50))
    same(dg.load(path, ranks=3).pagerank(), dg.load(path).pagerank())
    opened = dg.load(path, ranks=2)
    with pytest.raises(errors.InvalidArgument, match="is of saved graphs"):
        opened.append(EDGES)


def test_a_graph_without_edges(tmp_path):
    path = EDGES[:0].graph().save(tmp_path / "saved")
    assert len(dg.load(path, ranks=2).degree().compute()) == 0
    path = EDGES[:0].graph(vertices=VERTICES).save(tmp_path / "vertices")
    same(dg.load(path, ranks=2).degree(), dg.load(path).degree())


@pytest.mark.parametrize("directed", [True, False])
def test_neighbours_are_looked_at_by_one_rank(tmp_path, directed):
    path = EDGES.graph(order="degree", directed=directed).save(tmp_path / "saved")
    fingerprint, looked = read(path).fingerprint, []

    def work(ranks):
        whole = open_partition(str(path), fingerprint)

        def before_use(*arrays):
            looked.extend(each is whole.given.neighbours for each in arrays)

        whole.origin = replace(whole.origin, before_use=before_use)
        deal(ranks, whole)

    run_local(3, work)
    assert looked.count(True) == 1
    assert len(looked) == (6 if directed else 10)


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_damaged_file_is_found_by_all(tmp_path, ranks):
    path = EDGES.graph().save(tmp_path / "saved")
    file = path / "given-neighbours.arrow"
    content = file.read_bytes()
    file.write_bytes(content.replace(content[-600:-500], bytes(100)))
    with pytest.raises(errors.InvalidSavedGraph, match="it is not what was written"):
        dg.load(path, ranks=ranks).degree().compute()


def test_bad_arguments(tmp_path):
    path = EDGES.graph().save(tmp_path / "saved")
    with pytest.raises(errors.InvalidArgument, match="ranks=0"):
        dg.load(path, ranks=0)
    with pytest.raises(errors.InvalidArgument, match="partitioner"):
        dg.load(path, ranks=2, partitioner="by hand")
    with pytest.raises(errors.EngineUnavailable, match="runs on one rank"):
        dg.load(path, ranks=2, engine="interpreted")
