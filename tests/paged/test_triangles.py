"""Triangles of graphs on disk, of which less and less fits memory at once: the answers are those of memory."""

from importlib import import_module
from unittest import mock

import dask
import numpy as np
import pandas as pd
import pytest
from engines import on_one_cpu
from places import sparse

from dask_graphgpu import last_report
from dask_graphgpu.errors import LimitTooSmall

pytestmark = on_one_cpu

hub_triangles = import_module("dask_graphgpu.engine.cpu.hub_triangles")


@pytest.fixture
def limited(tmp_path):
    return {
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": [str(tmp_path / "pages")],
    }


@pytest.fixture(scope="module")
def edges():
    """Skewed edges, a third of them both ways, repeats and loops, of vertices that stand in a random order."""
    rng, n = np.random.default_rng(5), 1_500
    ends = rng.permutation(n)[(n * rng.random((2, 300_000)) ** 1.2).astype(int)]
    return pd.DataFrame(np.c_[ends, ends[::-1, ::3]].T, columns=["src", "dst"])


@pytest.mark.parametrize(("limit", "parts"), [("4MB", 1), ("700kB", 2)])
@pytest.mark.parametrize("hubs", [False, True])
@pytest.mark.parametrize("method", ["triangle_count", "clustering_coefficient"])
def test_parts_that_fit(edges, limited, limit, parts, hubs, method):
    graph = edges.graph(directed=method == "clustering_coefficient")
    wanted = getattr(graph, method)()
    often = {"MUCH": 0, "OFTEN": 0} if hubs else {"MUCH": 1 << 62}
    limits = limited | {"graphgpu.host-memory-limit": limit}
    with dask.config.set(limits), mock.patch.multiple(hub_triangles, **often):
        found = getattr(graph, method)()
        passes = len(last_report()) - hubs
        read = last_report().attrs["disk_bytes"]
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)
    assert passes >= parts - hubs
    assert read > 0


def test_loops_only(limited):
    loops = pd.DataFrame({"src": np.arange(1000), "dst": np.arange(1000)})
    loops = pd.concat([loops] * 60, ignore_index=True)
    with dask.config.set(limited | {"graphgpu.host-memory-limit": "900kB"}):
        assert not loops.graph().triangle_count()["triangles"].any()


def test_a_limit_too_small_for_the_vertices_says_what_is_needed(limited):
    """The graph is there, and what the method needs beside it is not."""
    with (
        dask.config.set(limited | {"graphgpu.host-memory-limit": "270kB"}),
        pytest.raises(LimitTooSmall, match=r"of 1,9.. vertices needs [\d,]+ bytes"),
    ):
        sparse().graph().clustering_coefficient()
