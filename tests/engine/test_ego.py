"""The edges near a vertex, found in one call, are those of a search and a pass over the edges."""

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import WEIGHTS, on_threads, small_graphs

from dask_graphgpu.engine.cpu import bfs, edges_among, small_ego
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def in_two_steps(view, center, radius):
    """The edges, and how many the vertices near have in all."""
    level = bfs(view, center, cutoff=radius, targets=None, report=Report("ego"))
    return edges_among(view, level >= 0), int(view.out.degrees[level >= 0].sum())


@given(
    st.data(), small_graphs(weights=(None, *WEIGHTS)), st.integers(0, 5), st.sampled_from([1, 10])
)
def test_small_graphs(data, graph, radius, little):
    view, center = graph.view(), data.draw(st.integers(0, graph.n - 1))
    expected, edges = in_two_steps(view, center, radius)
    report = Report("ego")
    with on_threads(2, little_work=little):
        found = small_ego(view, center, radius, report)
    assert (found is None) == (edges > 2 * little)
    assert len(report.advances) == (found is not None)
    for ours, other in zip(found or (), expected, strict=found is not None):
        if other is None:
            assert ours is None
        else:
            assert ours.dtype == other.dtype
            np.testing.assert_array_equal(ours, other)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 128, 1000])
def test_words_of_the_bitmap(n):
    ring = np.arange(n)
    view = View.of(from_edges(n, ring, np.roll(ring, -1), {}), directed=True)
    for center in {0, n - 1, n // 2, min(63, n - 1)}:
        for radius in (0, 1, 70, n):
            found = small_ego(view, center, radius, Report("ego"))
            expected, _ = in_two_steps(view, center, radius)
            np.testing.assert_array_equal(found[:2], expected[:2])
            assert len(found[0]) == (n if radius + 1 >= n else radius)


def test_pulling_is_not_replaced():
    view = View.of(from_edges(2, np.array([0, 1]), np.array([1, 0]), {}), directed=True)
    assert small_ego(view, 0, 1, Report("ego")) is not None
    with dask.config.set({"graphgpu.direction": "pull"}):
        assert small_ego(view, 0, 1, Report("ego")) is None
