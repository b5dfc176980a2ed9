"""PageRank from given ranks: the same answer from any, and sooner from those that are nearly right."""

import dask.dataframe as dd
import numpy as np
import oracles
import pandas as pd
import pytest
from commands import call, result
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import web
from strategies import edge_lists

import dask_graphgpu as dg
from dask_graphgpu import errors

METHODS = pytest.mark.parametrize("method", ["power", "delta"])
# Of every third vertex, and of some that there are not; the edges that `programs_place` has are of 0 .. 999 or text.
VERTICES = np.arange(0, 3000, 3)
START = pd.DataFrame({"vertex": VERTICES, "rank": 1.0 + VERTICES % 7})
TEXTS = START.assign(vertex="v" + START["vertex"].astype(str))


@given(
    graph=edge_lists(weights=[None, "uint8", "float32"], directed=True),
    method=st.sampled_from(["power", "delta"]),
    data=st.data(),
)
def test_any_start_comes_to_the_same_ranks(graph, method, data):
    damping = data.draw(st.sampled_from([0.0, 0.5, 0.85]))
    numbers = st.lists(st.integers(0, 3), min_size=graph.n, max_size=graph.n)
    jumps = data.draw(st.none() | numbers.filter(any))
    first = data.draw(numbers.filter(any))
    wanted = oracles.pagerank(graph.n, graph.edges, damping=damping, personalization=jumps)
    frame = None if jumps is None else graph.vertices().assign(jump=jumps)
    found = graph.graph().pagerank(
        method=method, damping=damping, tolerance=1e-12, max_iterations=400,
        personalization=frame, start=graph.vertices().assign(rank=first),
    )  # fmt: skip
    rank = graph.answers(found, "rank")
    assert [rank[v] for v in range(graph.n)] == pytest.approx(list(wanted), rel=1e-9, abs=1e-11)


@METHODS
def test_every_place(programs_place, method):
    for frame, start in zip((web(), web().map("v{}".format)), (START, TEXTS), strict=True):
        weighted = frame.assign(weight=1 + np.arange(len(frame)) % 5)
        programs_place.same(
            lambda graph, start=start: graph.pagerank(method=method, start=start, tolerance=1e-9),
            lambda graph, start=start: graph.pagerank(
                method=method, start=start, tolerance=0, max_iterations=7, weighted=False
            ),
            frames=[weighted],
            rtol=1e-8,
        )


@METHODS
@pytest.mark.parametrize("directed", [True, False])
def test_from_the_answer_one_pass_is_enough(method, directed):
    graph = web().graph(directed=directed)
    exact = graph.pagerank(tolerance=1e-14, max_iterations=400)
    found = graph.pagerank(method=method, start=exact)
    assert dg.last_report()["supersteps"].sum() == 1
    np.testing.assert_allclose(found["rank"], exact["rank"], rtol=1e-12)


@METHODS
@pytest.mark.parametrize("directed", [True, False])
def test_new_edges_take_fewer_iterations(method, directed):
    edges = web()
    options = {"method": method, "tolerance": 1e-8, "max_iterations": 400}
    graph = edges.graph(directed=directed)
    cold = graph.pagerank(**options)
    steps = dg.last_report()["supersteps"].sum()
    old = edges[:-90].graph(directed=directed).pagerank(**options)
    warm = graph.pagerank(start=old, **options)
    assert dg.last_report()["supersteps"].sum() < 0.9 * steps
    assert abs(warm["rank"] - cold["rank"]).sum() <= 4 * 1e-8 * 0.85 / 0.15
    assert warm["rank"].sum() == pytest.approx(1)


def test_edges_that_are_gone_lower_ranks():
    """Residuals are negative then."""
    edges = web()
    old = edges.graph().pagerank()
    found = (
        edges[100:].graph().pagerank(method="delta", start=old, tolerance=1e-10, max_iterations=400)
    )
    wanted = edges[100:].graph().pagerank(tolerance=1e-10, max_iterations=400)
    np.testing.assert_allclose(found["rank"], wanted["rank"], rtol=1e-6)
    assert (found["rank"] > 0).all()


def test_delta_looks_at_edges_near_a_change():
    """Two rings: an edge is new in the smaller one."""
    n, few = 5000, 200
    rings = [
        (np.arange(k) + base, np.roll(np.arange(k), -1) + base) for k, base in ((n, 0), (few, n))
    ]
    src, dst = np.concatenate(rings, axis=1)
    old = pd.DataFrame({"src": src, "dst": dst}).graph(directed=False).pagerank(tolerance=1e-12)
    edges = pd.DataFrame({"src": [*src, n], "dst": [*dst, n + 50]})
    edges.graph(directed=False).pagerank(method="delta", start=old)
    report = dg.last_report()
    assert report["edges"].iloc[1:].sum() < 40 * 2 * few  # behind the pass that finds where
    assert report["frontier"].iloc[2:].max() <= few


@METHODS
@pytest.mark.parametrize("ranks", [1, 3])
def test_ids_that_are_no_vertices_are_counted(method, ranks):
    edges = web()
    old = edges.graph().pagerank()
    gone = pd.DataFrame({"vertex": [-1, 10**6, 10**7], "rank": [0.1, 0.2, 0.3]})
    found = edges.graph(ranks=ranks).pagerank(method=method, start=pd.concat([old, gone]))
    assert dg.last_report().attrs["ignored"] == {"start": 3}
    np.testing.assert_allclose(found["rank"], old["rank"], rtol=1e-4)
    edges.graph().pagerank()
    assert dg.last_report().attrs["ignored"] == {}


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_graph_without_edges(ranks):
    assert not len(web()[:0].graph(ranks=ranks).pagerank(start=START))


def test_who_is_not_named_has_the_mean():
    edges = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0]})
    start = pd.DataFrame({"vertex": [0, 1], "rank": [2 / 3, 1.0]})
    found = edges.graph().pagerank(start=start, damping=0.5, tolerance=0, max_iterations=1)["rank"]
    # 1/3, 1/2 and 1/6 of all, of which a half goes on
    np.testing.assert_allclose(found, [1 / 6 + 1 / 12, 1 / 6 + 1 / 6, 1 / 6 + 1 / 4])


@METHODS
def test_a_column_of_the_vertices_frame(method):
    edges = web()
    old = edges.graph().pagerank()
    graph = edges.graph(vertices=old.rename(columns={"rank": "before"}))
    found = graph.pagerank(method=method, start="before")
    pd.testing.assert_frame_equal(found, edges.graph().pagerank(method=method, start=old))


@METHODS
def test_single_precision(method):
    graph = web().graph()
    exact = graph.pagerank(tolerance=1e-12, max_iterations=400)
    found = graph.pagerank(
        method=method, start=exact.sample(frac=0.9, random_state=1), dtype="float32", tolerance=1e-5
    )
    assert found["rank"].dtype == np.float32
    assert abs(found["rank"] - exact["rank"]).sum() < 1e-4


@METHODS
def test_a_run_that_is_cut_short_goes_on(method, tmp_path):
    graph = web().graph()
    keep = dg.Checkpoint(tmp_path / "kept", supersteps=1, seconds=None)
    options = {"method": method, "start": START, "tolerance": 1e-9}
    wanted = graph.pagerank(max_iterations=400, **options)
    with pytest.raises(errors.NotConverged):
        graph.pagerank(max_iterations=8, checkpoint=keep, **options)
    found = graph.pagerank(max_iterations=400, checkpoint=keep, resume=True, **options)
    np.testing.assert_allclose(found["rank"], wanted["rank"], rtol=1e-7)


def test_lazily_and_from_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    edges = web()
    edges.to_parquet("edges.parquet")
    old = edges.graph().pagerank()
    old.to_parquet("old.parquet")
    wanted = edges.graph().pagerank(start=old)
    found = dd.read_parquet("edges.parquet").graph().pagerank(start=dd.read_parquet("old.parquet"))
    pd.testing.assert_frame_equal(
        found.compute().reset_index(drop=True).astype(wanted.dtypes), wanted
    )
    call("pagerank", "edges.parquet", "--start", "old.parquet", "--output", "out")
    pd.testing.assert_frame_equal(result().astype(wanted.dtypes), wanted)


WRONG = {
    "negative": (START.assign(rank=-1.0), r"start: values from -1.0 with sum .*; allowed are finite values"),
    "null": (START.assign(rank=[None, *START["rank"][1:]]), "start: 1 of its values are null"),
    "infinite": (START.assign(rank=np.inf), "start: values from .* with sum inf"),
    "zeros": (pd.DataFrame({"vertex": range(3000), "rank": 0.0}), "not all 0"),
    "two rows": (pd.concat([START, START[:5]]), "start: 5 vertices have more than one row"),
    "two columns": (START.assign(other=1), "start: a frame with the id column"),
    "a number": (3.5, "start is a float"),
}  # fmt: skip


@METHODS
@pytest.mark.parametrize("case", WRONG)
def test_a_start_that_is_refused(method, case):
    start, message = WRONG[case]
    with pytest.raises(errors.InvalidArgument, match=message):
        web().graph().pagerank(method=method, start=start)
