"""PageRank by handing out residuals: the same ranks, with fewer and fewer active vertices."""

import numpy as np
import oracles
import pandas as pd
import pytest
from engines import of_one_rank
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import web
from strategies import edge_lists

import dask_graphgpu as dg
from dask_graphgpu import errors


@given(graph=edge_lists(weights=[None, "uint8", "float32"], directed=True), data=st.data())
def test_ranks_solve_the_linear_system(graph, data):
    damping = data.draw(st.sampled_from([0.0, 0.5, 0.85]))
    jumps = data.draw(st.none() | st.lists(st.integers(0, 3), min_size=graph.n, max_size=graph.n))
    if jumps is not None and sum(jumps) == 0:
        jumps = None
    wanted = oracles.pagerank(graph.n, graph.edges, damping=damping, personalization=jumps)
    frame = None if jumps is None else graph.vertices().assign(jump=jumps)
    found = graph.graph().pagerank(
        method="delta", damping=damping, tolerance=1e-12, max_iterations=400, personalization=frame
    )
    rank = graph.answers(found, "rank")
    assert [rank[v] for v in range(graph.n)] == pytest.approx(list(wanted), rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-8])
def test_error_is_within_what_is_documented(directed, tolerance):
    graph = web().graph(directed=directed)
    exact = graph.pagerank(tolerance=1e-15, max_iterations=400)["rank"]
    rank = graph.pagerank(method="delta", tolerance=tolerance, max_iterations=200)["rank"]
    assert rank.sum() == pytest.approx(1)
    assert abs(rank - exact).sum() <= 2 * tolerance * 0.85 / 0.15


@of_one_rank  # the report is that of one of them
def test_vertices_fall_silent():
    graph = web().graph()
    graph.pagerank(method="delta", max_iterations=200)
    report = dg.last_report()
    assert report["frontier"].iloc[0] > 2000
    assert report["frontier"].iloc[-1] < report["frontier"].iloc[0] / 2


@of_one_rank
def test_few_vertices_send_where_ranks_stay_near():
    """A long ring, and all jumps to one vertex of it: power iteration reads every edge in each iteration."""
    n = 5000
    ring = pd.DataFrame({"src": range(n), "dst": np.roll(range(n), -1)}).graph(directed=False)
    home = pd.DataFrame({"vertex": [17], "jump": [1.0]})
    delta = ring.pagerank(method="delta", personalization=home)["rank"]
    report = dg.last_report()
    assert report["frontier"].iloc[1:].max() < n / 20
    assert report["edges"].iloc[1:].sum() < 10 * n  # the first has everybody active
    power = ring.pagerank(personalization=home)["rank"]
    assert abs(delta - power).sum() < 2e-5
    assert dg.last_report()["edges"].sum() > 100 * n


def test_a_graph_without_cycles_ends_after_its_longest_path():
    path = pd.DataFrame({"src": range(9), "dst": range(1, 10)})
    found = path.graph().pagerank(method="delta", tolerance=1e-15)
    assert len(dg.last_report()) == 10
    wanted = oracles.pagerank(10, [(i, i + 1) for i in range(9)])
    np.testing.assert_allclose(found["rank"], wanted, rtol=1e-12)


def test_exactly_so_many_iterations():
    graph = web().graph(directed=False)
    found = graph.pagerank(method="delta", tolerance=0, max_iterations=10)
    assert len(dg.last_report()) == 10
    exact = graph.pagerank(tolerance=1e-15, max_iterations=400)
    assert 1e-6 < abs(found["rank"] - exact["rank"]).sum() < 0.85**10 * 2


def test_single_precision():
    graph = web().graph()
    single = graph.pagerank(method="delta", dtype="float32", tolerance=1e-5)["rank"]
    assert single.dtype == np.float32
    double = graph.pagerank(method="delta", tolerance=1e-9, max_iterations=200)["rank"]
    assert abs(single - double).sum() < 1e-4


def test_too_few_iterations():
    with pytest.raises(errors.NotConverged, match=r"left = 0.*handed_out"):
        web().graph(directed=False).pagerank(method="delta", max_iterations=3)


def test_an_unknown_method():
    with pytest.raises(errors.InvalidArgument, match="method='push'; allowed are 'power', 'delta'"):
        web().graph().pagerank(method="push")
