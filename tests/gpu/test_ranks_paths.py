"""Shortest paths on several GPUs in near-far order."""

from dataclasses import replace

import numpy as np
import pytest
from cut_graphs import cut
from device_rank_runs import SEVERAL, marks, on_ranks
from made_graphs import grid, rmat
from rank_runs import on_one, same

from dask_graphgpu.engine.device_ranks import near_far as rank_near_far
from dask_graphgpu.engine.gpu import near_far
from dask_graphgpu.engine.known import DISTANCES as SSSP

pytestmark = marks


@pytest.mark.parametrize("far", [1 / 8, 1 / 64])
@pytest.mark.parametrize("way", ["blocks", "random", "cyclic"])
def test_shortest_paths_in_short_stretches(way, far, monkeypatch):
    monkeypatch.setattr(near_far, "FAR_SHARE", far)
    monkeypatch.setattr(near_far, "FAR_LEAST", 8)
    few = replace(rank_near_far.STRETCHES, few_edges=64)
    monkeypatch.setattr(rank_near_far, "STRETCHES", few)
    for made in (grid(30), rmat(9)):
        for kind in ("int64", "float32"):
            weight = np.random.default_rng(1).integers(0, 65, len(made.source)).astype(kind)
            view = replace(made, weight=weight).view()
            expected = on_one(SSSP, view, sources=[3])
            found = on_ranks(SSSP, cut(view, SEVERAL[-1], way, 2), sources=[3])
            same(found, expected, rtol=1e-5 if kind == "float32" else 0)
