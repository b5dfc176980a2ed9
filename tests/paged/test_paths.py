"""Shortest paths over rows on disk: what is told of those that cannot be, and how often pages are read."""

import dask
import pandas as pd
import pytest
from engines import on_one_cpu
from long_paths import beside, path_beside_a_core, settings_of_pages

from dask_graphgpu import last_report
from dask_graphgpu.errors import IntegerOverflow

pytestmark = on_one_cpu

LARGE = 2**62


@pytest.fixture
def limited(tmp_path):
    return settings_of_pages(tmp_path)


CALLS = [
    lambda graph: graph.betweenness_centrality([0], weighted=True, normalized=False),
    lambda graph: graph.edge_betweenness_centrality([0], weighted=True, normalized=False),
]


@pytest.mark.parametrize("call", CALLS, ids=["vertices", "edges"])
def test_a_sum_on_no_shortest_path_may_be_too_large(limited, call):
    """Vertex 1 is found by a long edge first, from which it is too far to vertex 3."""
    long = pd.DataFrame({"src": [0, 0, 1, 2], "dst": [1, 2, 3, 1], "weight": [LARGE, 1, LARGE, 1]})
    frame = beside(long)
    wanted = call(frame.graph())
    with dask.config.set(limited):
        found = call(frame.graph())
        assert last_report().attrs["disk_bytes"] > 0
    pd.testing.assert_frame_equal(found, wanted)


@pytest.mark.parametrize("call", CALLS, ids=["vertices", "edges"])
def test_a_distance_that_is_too_large_is_told(limited, call):
    frame = beside(pd.DataFrame({"src": [0, 1], "dst": [1, 2], "weight": [LARGE, LARGE]}))
    for settings in ({}, limited):
        with dask.config.set(settings), pytest.raises(IntegerOverflow, match="does not fit int64"):
            call(frame.graph())


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_dependencies_along_a_long_path(limited, weighted, shuffled):
    """Levels of few vertices do not read a page each, where they lie in the order of the path."""
    frame, _ = path_beside_a_core(600, shuffled=shuffled)
    sources = frame["src"].drop_duplicates().iloc[[0, -1, -200]].tolist()
    for method in ("betweenness_centrality", "edge_betweenness_centrality"):
        call = lambda graph: getattr(graph, method)(sources, weighted=weighted)  # noqa: B023, E731
        wanted = call(frame.graph(directed=False))
        with dask.config.set(limited):
            found = call(frame.graph(directed=False))
        report = last_report()
        assert report.attrs["disk_bytes"] > 0
        pd.testing.assert_frame_equal(found, wanted, rtol=1e-9)
        if not shuffled:
            assert report["supersteps"].sum() < 200


@pytest.mark.parametrize("cutoff", [None, 100, 64])
def test_levels_of_many_searches_on_a_long_path(limited, cutoff):
    frame, _ = path_beside_a_core(600, shuffled=True)
    sources = frame["src"].drop_duplicates().iloc[[0, -1, -200]].tolist()
    call = lambda graph: graph.bfs(sources, cutoff=cutoff)  # noqa: E731
    wanted = call(frame.graph(directed=False))
    with dask.config.set(limited):
        found = call(frame.graph(directed=False))
        assert last_report().attrs["disk_bytes"] > 0
    pd.testing.assert_frame_equal(found, wanted)
