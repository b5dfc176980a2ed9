"""Sums by blocks of sources on several GPUs, while values travel or not."""

import dask
import pytest
from cut_graphs import cut
from device_rank_runs import SEVERAL, marks, on_gpus, on_ranks
from made_graphs import grid, rmat
from rank_programs import HOPS
from rank_runs import on_one, put_together, same

from dask_graphgpu import errors
from dask_graphgpu.algorithms.pagerank import power_program
from dask_graphgpu.engine import device_ranks
from dask_graphgpu.engine.device_ranks import superstep
from dask_graphgpu.engine.gpu import settings
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.exchange.nccl import DeviceLink
from dask_graphgpu.report import Report

pytestmark = marks


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("block", [16, 64, 4096])
@pytest.mark.parametrize("size", SEVERAL)
def test_sums_by_blocks_of_sources(size, block, overlap, monkeypatch):
    joins = []
    join = DeviceLink.join
    monkeypatch.setattr(DeviceLink, "join", lambda link: (joins.append(link), join(link)))
    monkeypatch.setattr(settings, "_MANY_EDGES", 0)
    monkeypatch.setattr(superstep, "sizes", lambda item: (block, 16 * block))
    program = power_program("float32", weighted=False, personal=False)
    given = {"max_supersteps": 12, "exact_supersteps": True, "constants": {"tolerance": 0.0}}
    for made in (rmat(9, directed=True), grid(12)):
        view = made.view(into=True)
        expected = on_one(program, view, **given)

        def work(share):
            share.by_degree = True
            return [
                device_ranks.run(program, share, RunOptions(report=Report("test"), **given))
                for _ in range(2)
            ]

        parts = cut(view, size, "random")
        with monkeypatch.context() as rows, dask.config.set({"graphgpu.overlap": overlap}):
            rows.setattr(superstep.RankSuperstep, "_pull_lists", None)  # not by rows
            found = on_gpus(parts, work)
        for states in zip(*found, strict=True):
            same(put_together(parts, states), expected, rtol=1e-5)
    assert bool(joins) == overlap


def test_overlap_is_true_or_false():
    parts = cut(rmat(5).view(), 2, "random")
    with (
        dask.config.set({"graphgpu.overlap": "yes"}),
        pytest.raises(errors.InvalidArgument, match="overlap is 'yes': give True or False"),
    ):
        on_ranks(HOPS, parts, sources=[0], max_supersteps=2)
