"""Shortest paths on several GPUs in near-far order, and their predecessors."""

from dataclasses import replace

import numpy as np
import pytest
from cut_graphs import cut
from device_rank_runs import SEVERAL, SIZES, marks, on_gpus, on_ranks
from made_graphs import edgeless, grid, rmat, star
from rank_runs import on_one, same

from dask_graphgpu.engine import cpu, device_ranks
from dask_graphgpu.engine.device_ranks import near_far as rank_near_far
from dask_graphgpu.engine.gpu import near_far
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.report import Report

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


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("least", [0, 1])  # of weights: with 0 there are plateaus
@pytest.mark.parametrize("kind", ["int64", "float32"])
def test_predecessors(size, least, kind):
    rng = np.random.default_rng(size)
    for made in (rmat(8), rmat(8, directed=True), grid(12), star(40), edgeless(9)):
        weight = rng.integers(least, 4, len(made.source)).astype(kind)
        rank = rng.permutation(made.n).astype(np.uint32)
        view = replace(made, weight=weight, rank=rank).view(into=True)
        report, source = Report("test"), made.n // 2
        state = on_one(SSSP, view, sources=[source])
        level = cpu.bfs(view, source, cutoff=None, targets=None, report=report)
        parts = cut(view, size, "random", 3)
        for hops, distance, reached in (
            (False, state["distance"], state.reached),
            (True, level, level >= 0),
        ):
            expected = cpu.predecessors(view, source, distance, reached, hops=hops, report=report)

            def work(share, hops=hops, values=(distance, reached), parts=parts, source=source):
                own, ghosts = parts.owned[share.ranks.rank], share.border.num_ghosts
                given = [np.r_[each[own], np.ones(ghosts, each.dtype)] for each in values]
                given = share, int(parts.numbers[source]), *given
                return device_ranks.predecessors(*given, hops=hops, report=Report("test"))

            found = parts.dense(parts.whole(on_gpus(parts, work)))
            np.testing.assert_array_equal(found, expected)
