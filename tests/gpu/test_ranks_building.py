"""Shares that are built of edges on GPUs, against those of the same edges in host memory."""

from dataclasses import replace

import cupy
import numpy as np
import pandas as pd
import pytest
from device_rank_runs import SEVERAL, marks
from rank_parts import Chunks, assert_same_shares

from dask_graphgpu.exchange.local import run_local
from dask_graphgpu.exchange.nccl import DeviceLink
from dask_graphgpu.partition.device import host
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.ranks.build import build

pytestmark = marks


def made_frame(skewed):
    """Degrees that fall, or ends that are close in the order of the ids."""
    rng = np.random.default_rng(3)
    ends = (90 * rng.random((2, 900)) ** 3).astype(np.int64)
    if not skewed:
        ends[1] = (ends[0] + rng.integers(0, 3, 900)) % 90
    return pd.DataFrame({"src": ends[0] + 7, "dst": ends[1] + 7, "weight": rng.integers(1, 9, 900)})


def to_device(chunk):
    columns = {name: cupy.asarray(column) for name, column in chunk.columns.items()}
    ends = cupy.asarray(chunk.source), cupy.asarray(chunk.destination)
    return replace(chunk, source=ends[0], destination=ends[1], columns=columns)


@pytest.mark.parametrize("skewed", [True, False])
@pytest.mark.parametrize("partitioner", ["balanced", "random"])
@pytest.mark.parametrize("directed", [True, False])
def test_shares_are_those_of_the_host(skewed, partitioner, directed, monkeypatch):
    monkeypatch.setattr(host, "_PIECE", 1 << 9)  # rows come in many pieces
    size, layout = SEVERAL[0], Layout(directed=directed)
    chunks = Chunks.of(made_frame(skewed), cuts=(300, 310, 700))

    def on_gpu(ranks):
        with cupy.cuda.Device(ranks.rank):
            link = DeviceLink(ranks)
            edges, rows = chunks.on(ranks.rank, ranks.size)
            given = [to_device(chunk) for chunk in edges], rows, layout
            share = build(ranks, *given, partitioner=partitioner, link=link)
            ranks.barrier()  # nobody ends the connection while a peer receives
            link.close()
            return share

    on_host = run_local(size, lambda ranks: chunks.share(ranks, layout, partitioner=partitioner))
    made = run_local(size, on_gpu)
    assert {share.order for share in made} == {"degree" if skewed else "input"}
    assert_same_shares(on_host, made)
