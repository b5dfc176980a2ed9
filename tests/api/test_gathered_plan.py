"""What `explain` says of methods on the edges of all ranks, before they run."""

from dataclasses import replace

import dask
import pandas as pd
import pytest

import dask_graphgpu  # noqa: F401  registers .graph
from dask_graphgpu import where
from dask_graphgpu.engine.limits import bytes_of_gathered, bytes_to_gather
from dask_graphgpu.tiers import tiers_of

ON_HOST = "on the workers' processors"


def plan_of(gpu_bytes, **of):
    """The plan of a graph on two ranks, as if each had a GPU."""
    frame = pd.DataFrame({"src": [1, 2, 3, 1], "dst": [2, 3, 1, 3], "weight": [1, 2, 3, 4]})
    plan = frame.graph(ranks=2, **of).persist().explain()
    assert plan.on_gpu == ()
    return replace(plan, engine="gpu", gpu_bytes=gpu_bytes)


def said(plan):
    return dict(tiers_of(plan, ["louvain"]))


@pytest.mark.parametrize(("directed", "entries"), [(True, 4), (False, 8)])
def test_what_a_gpu_needs(directed, entries):
    plan = plan_of(10**9, directed=directed)
    assert (plan.num_edges, plan.id_bytes) == (entries, 4)
    assert plan.edge_bytes > 4
    lines = said(plan)
    for what, carried in (("all edges", plan.edge_bytes - 4), ("ids alone", 0)):
        sizes = 3, entries, 4, carried
        assert lines[what].startswith("on the GPUs, where so much is free: ")
        assert f"about {bytes_of_gathered(*sizes):,} bytes" in lines[what]
        assert f"{bytes_to_gather(*sizes):,} while" in lines[what]
    assert lines["all edges of"] == "louvain"


def test_no_room():
    """By the limit, of bytes or of a part of the memory, and by the memory of the GPU."""
    most = bytes_of_gathered(3, 4, 4, plan_of(None).edge_bytes - 4) - 1
    plan = plan_of(2 * most)
    for limit in (most, 0.5):
        with dask.config.set({"graphgpu.device-memory-limit": limit}):
            lines = said(plan)
        assert lines["all edges"].startswith(ON_HOST)
        assert f"graphgpu.device-memory-limit is {most:,}" in lines["all edges"]
        assert not lines["ids alone"].startswith(ON_HOST)
    needed = bytes_to_gather(3, 4, 4, 0)
    assert said(plan_of(needed - 1))["ids alone"].startswith(ON_HOST)
    assert not said(plan_of(needed))["ids alone"].startswith(ON_HOST)
    with dask.config.set({"graphgpu.device-memory-limit": 0.5}):  # of what nobody knows
        assert not said(plan_of(None))["all edges"].startswith(ON_HOST)


def test_which_methods():
    found = {*where.gathering()}
    assert {"louvain", "core_number", "minimum_spanning_forest", "bridges"} <= found
    assert not {"pagerank", "sssp", "run", "degree", "best_links"} & found
