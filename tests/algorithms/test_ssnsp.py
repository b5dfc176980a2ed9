"""Numbers of shortest paths against walks counted edge by edge."""

import math

import numpy as np
import oracles
import pandas as pd
import pytest
from engines import bfs, of_the_cpu_engine, path_counts
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import layers as every_path
from places import rows_of, skewed, sparse
from small_graphs import on_threads, small_graphs
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu import errors
from dask_graphgpu.report import Report


@given(graph=edge_lists(weights=[None, "int64"], kinds=KINDS))
def test_distances_and_paths(graph):
    found = graph.graph().ssnsp(graph.ids[0]).compute()
    hops = oracles.bfs(graph.n, graph.edges, 0, directed=graph.directed)
    paths = oracles.path_counts(graph.n, graph.edges, 0, directed=graph.directed)
    assert graph.answers(found, "distance") == {v: hops.get(v) for v in range(graph.n)}
    assert graph.answers(found, "paths") == {v: paths.get(v, 0) for v in range(graph.n)}


@of_the_cpu_engine
@given(
    graph=small_graphs(),
    data=st.data(),
    number=st.sampled_from([1, 3]),
    into=st.booleans(),
    little=st.sampled_from([0, 1, 1 << 14]),
)
def test_pushed_pulled_and_on_threads(graph, data, number, into, little):
    source = data.draw(st.integers(0, graph.n - 1))
    simple = {(u, v) for u, v, *_ in graph.edges}
    if not graph.directed:
        simple = {(min(u, v), max(u, v)) for u, v in simple}
    graph = type(graph)(graph.n, sorted(simple), graph.directed, None, graph.rank, graph.ids)
    view, report = graph.view(into=into), Report("ssnsp")
    level = bfs(view, source, cutoff=None, targets=None, report=Report("bfs"))
    with on_threads(number, little_work=max(little, 1)):
        count = path_counts(view, source, level, dtype="int64", report=report)
    wanted = oracles.path_counts(graph.n, graph.edges, source, directed=graph.directed)
    assert count.tolist() == [wanted.get(v, 0) for v in range(graph.n)]
    assert {a.direction for a in report.advances} <= {"pull" if view.has_into else "push"}
    assert sum(a.supersteps for a in report.advances) == max(level.max(), 0)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_every_place(place, directed, dtype):
    for frame in (skewed, sparse):
        source = frame()["src"].iloc[0]
        paths = lambda graph: graph.ssnsp(source, dtype=dtype)  # noqa: B023, E731
        place.same(paths, frames=[frame], directed=directed)


@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("cutoff", [None, 3])
def test_small_graphs(memory_place, dtype, cutoff):
    """In a few of them there are too many paths for an integer."""

    def paths(graph):
        try:
            return graph.ssnsp(0, dtype=dtype, cutoff=cutoff)
        except errors.IntegerOverflow:
            return graph.degree()

    for bits in (None, 64):
        memory_place.same_small(paths, bits=bits, rtol=1e-9 if dtype == "float64" else 0)


@pytest.mark.parametrize(("width", "number"), [(2, 62), (4, 31), (3, 39)])
@pytest.mark.parametrize("beyond", [0, 1, 33])
def test_the_largest_number_and_beyond_in_every_place(place, width, number, beyond):
    """Among them sums that come back to zero."""
    frame = pd.concat([every_path(width, number + beyond).frame()] * 150, ignore_index=True)
    source, end = width * (number + beyond), width * (number + beyond) + 1
    found = rows_of(place.graph(frame).ssnsp(source, dtype="float64"))
    assert found["paths"][end] == pytest.approx(float(width) ** (number + beyond))
    if beyond:
        with pytest.raises(errors.IntegerOverflow, match="give dtype='float64'"):
            rows_of(place.graph(frame).ssnsp(source))
    else:
        assert rows_of(place.graph(frame).ssnsp(source))["paths"][end] == width**number


def layers(widths):
    """Every vertex of a layer joined to every one of the next."""
    bounds = np.cumsum([0, *widths])
    pairs = [
        (u, v)
        for i in range(len(widths) - 1)
        for u in range(bounds[i], bounds[i + 1])
        for v in range(bounds[i + 1], bounds[i + 2])
    ]
    return pd.DataFrame(pairs, columns=["src", "dst"])


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("number", [1, 3])
def test_large_levels(directed, number):
    edges = layers([1, 300, 400, 300, 2])
    with on_threads(number, little_work=100):
        found = edges.graph(directed=directed).ssnsp(0)
    wanted = [1] + [1] * 300 + [300] * 400 + [300 * 400] * 300 + [300 * 400 * 300] * 2
    assert found["paths"].tolist() == wanted


@pytest.mark.parametrize("directed", [True, False])
def test_the_largest_number_and_one_beyond(directed):
    fits = layers([1, 1, *[2] * 62, 1])  # 2**62 paths to the last vertex
    assert fits.graph(directed=directed).ssnsp(0)["paths"].iloc[-1] == 2**62
    beyond = partitioned(layers([1, 1, *[2] * 63, 1]), 2).graph(directed=directed)
    with pytest.raises(errors.IntegerOverflow, match="give dtype='float64'"):
        beyond.ssnsp(0).compute()
    rounded = beyond.ssnsp(0, dtype="float64").compute()["paths"]
    assert rounded.dtype == np.float64
    assert rounded.iloc[-1] == 2.0**63
    without_end = layers([1, *[8] * 400]).graph(directed=directed).ssnsp(0, dtype="float64")
    assert without_end["paths"].max() == math.inf


def test_grid():
    """Closed form: right and down in any order. From 36 x 36 on the numbers are beyond int64."""
    side = 40
    ids = np.arange(side * side).reshape(side, side)
    ends = [(ids[:, :-1], ids[:, 1:]), (ids[:-1], ids[1:])]
    edges = pd.DataFrame(
        np.concatenate([np.stack([a.ravel(), b.ravel()], 1) for a, b in ends]),
        columns=["src", "dst"],
    )
    graph = partitioned(edges, 3).graph(directed=False).persist()
    wanted = [math.comb(i + j, i) for i in range(side) for j in range(side)]
    found = graph.ssnsp(0, dtype="float64").compute()["paths"]
    np.testing.assert_allclose(found, np.array(wanted, float), rtol=1e-12)
    with pytest.raises(errors.IntegerOverflow, match="give dtype='float64'"):
        graph.ssnsp(0).compute()
    near = graph.ssnsp(0, cutoff=66).compute()["paths"]
    assert near.max() == math.comb(66, 33)
    assert math.comb(68, 34) > 2**63


def test_overflow_of_a_level_on_threads():
    edges = layers([1, *[2] * 60, 40, 40, 1])
    with on_threads(2), pytest.raises(errors.IntegerOverflow):
        edges.graph().ssnsp(0)


def test_targets_cutoff_and_several_sources():
    edges = layers([1, 2, 2, 2])
    graph = partitioned(edges, 3).graph().persist()
    some = graph.ssnsp(0, target=[4, 1]).compute()
    assert some[["vertex", "distance", "paths"]].to_numpy().tolist() == [[4, 2, 2], [1, 1, 1]]
    near = graph.ssnsp(0, cutoff=2).compute()
    assert near["paths"].tolist() == [1, 1, 1, 2, 2, 0, 0]
    assert near["distance"].isna().tolist() == [False] * 5 + [True] * 2
    both = graph.ssnsp([0, 1]).compute()
    assert both["source"].tolist() == [0] * 7 + [1] * 7
    assert both["paths"].tolist() == [1, 1, 1, 2, 2, 4, 4, 0, 1, 0, 1, 1, 2, 2]


def test_repeats_and_loops_count_once():
    edges = pd.DataFrame({"src": [0, 0, 0, 1, 1], "dst": [1, 1, 0, 1, 2]})
    assert edges.graph().ssnsp(0)["paths"].tolist() == [1, 1, 1]
    assert edges.graph(directed=False).ssnsp(0)["paths"].tolist() == [1, 1, 1]


def test_other_dtypes_are_refused():
    with pytest.raises(
        errors.InvalidArgument, match="dtype='int32'; allowed are 'int64', 'float64'"
    ):
        layers([1, 1]).graph().ssnsp(0, dtype="int32")
