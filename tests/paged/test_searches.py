"""Searches from a source over pages: how much is read for them, where they end, and which sums are too large."""

import dask
import numpy as np
import pandas as pd
import pytest
from engines import on_one_cpu
from long_paths import beside, path_beside_a_core, settings_of_pages

from dask_graphgpu import Field, VertexProgram, last_report
from dask_graphgpu.engine.paged import in_place
from dask_graphgpu.errors import IntegerOverflow

pytestmark = on_one_cpu

LARGE = 2**62

WIDEST = VertexProgram(  # without a priority
    state={"width": Field("float64", initial=None, at_source=np.inf)},
    compute=lambda source_width, weight: min(source_width, weight),
    combine="max",
)

SEARCHES = {
    "bfs": lambda graph, source: graph.bfs(source),
    "sssp": lambda graph, source: graph.sssp(source, predecessor=True),
    "sswp": lambda graph, source: graph.sswp(source),
    "program": lambda graph, source: graph.run(WIDEST, source=source),
    "all": lambda graph, source: graph.run(SMALLEST),
}
SMALLEST = VertexProgram(
    state={"smallest": Field("id", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_smallest: source_smallest,
    combine="min",
)


@pytest.fixture
def limited(tmp_path):
    return settings_of_pages(tmp_path)


def same(call, settings):
    """What a call gives in memory and on disk is the same; the report of the latter."""
    wanted = call()
    with dask.config.set(settings):
        found = call()
    pd.testing.assert_frame_equal(found, wanted)
    report = last_report()
    assert report.attrs["disk_bytes"] > 0
    return report


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("name", SEARCHES)
def test_a_long_path_reads_a_page_once(limited, name, shuffled):
    """Memory holds the pages once they are built, so that levels of one vertex do not read a page each."""
    limited["graphgpu.host-memory-limit"] = "1.8MB"
    frame, end = path_beside_a_core(1500, shuffled=shuffled)
    search = SEARCHES[name]
    with dask.config.set(limited):
        pages = frame.graph(directed=False).persist().explain().disk_bytes
    report = same(lambda: search(frame.graph(directed=False), end), limited)
    # Twice for directions of edges, once more for predecessors; pages are read in whole.
    assert report.attrs["disk_bytes"] < 3 * pages


@pytest.mark.parametrize("name", SEARCHES)
def test_pages_that_memory_does_not_hold(limited, name, monkeypatch):
    """Some runs stay, others come by; and those with many edges are gone along on all threads."""
    monkeypatch.setattr(in_place, "MANY_EDGES", 2000)
    frame, end = path_beside_a_core(40, shuffled=True, edges=100_000)
    limited["graphgpu.host-memory-limit"] = "500kB"
    wanted = SEARCHES[name](frame.graph(directed=False), end)
    with dask.config.set(limited):
        graph = frame.graph(directed=False).persist()
        for threads in (1, 2):
            with dask.config.set({"graphgpu.threads": threads}):
                found = SEARCHES[name](graph, end)
            pd.testing.assert_frame_equal(found, wanted)
            assert last_report().attrs["disk_bytes"] > 300_000


@pytest.mark.parametrize("edges", [60_000, 100_000])
def test_cutoff_and_target(limited, edges):
    frame, end = path_beside_a_core(300, edges=edges)
    graph = frame.graph(directed=False)
    with dask.config.set(limited):
        on_disk = graph.persist()

    def same_on(call):
        wanted = call(graph)
        pd.testing.assert_frame_equal(call(on_disk), wanted)
        return last_report()["edges"].sum()

    near = end - 10
    same_on(lambda graph: graph.bfs(end, cutoff=100))
    same_on(lambda graph: graph.bfs(end, cutoff=0))
    same_on(lambda graph: graph.sssp(end, cutoff=100.5))
    same_on(lambda graph: graph.sswp(end, cutoff=3))
    whole = same_on(lambda graph: graph.sssp(end))
    assert same_on(lambda graph: graph.sssp(end, target=[near, end])) < whole
    same_on(lambda graph: graph.bfs(end, target=[0, near]))
    same_on(lambda graph: graph.shortest_path(end, near))


CALLS = {
    "sssp": lambda graph: graph.sssp(0),
    "several": lambda graph: graph.sssp([0, 2]),
    "closeness": lambda graph: graph.closeness_centrality([0, 2], weighted=True),
    "shortest_path": lambda graph: graph.shortest_path(0, 3),
    "nearest": lambda graph: graph.nearest([3], weighted=True),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_sum_on_no_shortest_path_may_be_too_large(limited, name):
    """Vertex 1 is found by a long edge first, from which it is too far to vertex 3."""
    weights = {"src": [0, 0, 1, 2], "dst": [1, 2, 3, 1], "weight": [LARGE, 1, LARGE, 1]}
    if name == "nearest":  # against the edges
        weights = {"src": [1, 2, 0, 1], "dst": [3, 3, 1, 2], "weight": [LARGE, 1, LARGE, 1]}
    frame = beside(pd.DataFrame(weights))
    same(lambda: CALLS[name](frame.graph()), limited)


@pytest.mark.parametrize("name", CALLS)
def test_a_distance_that_is_too_large_is_told(limited, name):
    frame = beside(pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3], "weight": [LARGE, LARGE, 1]}))
    for settings in ({}, limited):
        with dask.config.set(settings), pytest.raises(IntegerOverflow, match="does not fit"):
            CALLS[name](frame.graph())


@pytest.mark.parametrize("light", [0, 1])
def test_weights_beside_the_source_may_be_any_part_of_others(limited, light):
    """The width of a bucket is found along the first rows that come: not each vertex gets a stretch of its own."""
    n, source = 20_000, 5
    rng = np.random.default_rng(8)
    ends = np.stack([np.arange(n - 1), np.arange(1, n)])
    weight = np.where(ends[0] < 6000, light, rng.integers(10**9, 2 * 10**9, n - 1))
    edges = pd.DataFrame({"src": ends[0], "dst": ends[1], "weight": weight})
    edges = pd.concat([edges] * 4, ignore_index=True)
    limited["graphgpu.host-memory-limit"] = "3MB"
    report = same(lambda: edges.graph(directed=False).sssp(source), limited)
    assert len(report) < 200
