"""Shares that are built by the passes over edges on GPUs, run here on NumPy's arrays."""

import numpy as np
import pandas as pd
import pytest
from rank_parts import Chunks, HostLink, assert_same_shares

from dask_graphgpu.exchange.local import run_local
from dask_graphgpu.partition.device import arrays
from dask_graphgpu.partition.device.on_ranks import OnDevice
from dask_graphgpu.partition.layout import Layout


@pytest.fixture(params=[1 << 26, 50])
def block(request, monkeypatch):
    monkeypatch.setattr(arrays, "BLOCK", request.param)


def made_frame(seed, n=60, m=400, weight="int64", first=0, loops=True):
    rng = np.random.default_rng(seed)
    ends = (n * rng.random((2, m)) ** 3).astype(np.int64)
    if not loops:
        ends = ends[:, ends[0] != ends[1]]
    frame = pd.DataFrame({"src": ends[0] + first, "dst": ends[1] + first})
    if weight:
        frame["weight"] = rng.integers(1, 9, len(frame)).astype(weight)
    return frame


def both_ways(size, chunks, layout, **options):
    """Shares by the passes on the host and by those of the device."""

    def on_host(ranks):
        return chunks.share(ranks, layout, **options)

    def on_device(ranks):
        return chunks.share(ranks, layout, **options, link=HostLink(ranks))

    return run_local(size, on_host), run_local(size, on_device)


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weight", [None, "int64", "float32"])
def test_shares_are_those_of_the_host(size, directed, weight):
    frame = made_frame(size, weight=weight, first=7)
    chunks = Chunks.of(frame, cuts=(90, 90, 250))
    for partitioner in ("balanced", "random"):
        assert_same_shares(
            *both_ways(size, chunks, Layout(directed=directed), partitioner=partitioner)
        )


@pytest.mark.parametrize("duplication", ["neighbours", "all"])
def test_edges_in_both_directions_are_seen(duplication):
    once = made_frame(5, loops=False)
    once[["src", "dst"]] = np.sort(once[["src", "dst"]], axis=1)
    both = pd.concat([once, once.rename(columns={"src": "dst", "dst": "src"})], ignore_index=True)
    for frame in (once, both):
        chunks = Chunks.of(frame, cuts=(300,))
        mine, others = both_ways(2, chunks, Layout(directed=False), duplication=duplication)
        assert_same_shares(mine, others)
        assert sum(share.out.num_edges for share in others) == 2 * len(once)


def test_a_rank_without_edges_and_one_with_vertices_only():
    frame = made_frame(3, n=20, m=30)
    vertices = pd.DataFrame({"vertex": np.arange(25), "x": np.arange(25.0)})
    chunks = Chunks.of(frame, vertices=vertices, vertex_columns=["x"])
    mine, others = both_ways(3, chunks, Layout(directed=True))
    assert_same_shares(mine, others)
    for one, other in zip(mine, others, strict=True):
        np.testing.assert_array_equal(
            one.vertex_columns.columns["x"], other.vertex_columns.columns["x"]
        )


def test_columns_of_two_kinds_and_of_two_widths():
    frame = made_frame(8, weight="int32")
    frame["far"] = np.arange(len(frame)) / 7
    assert_same_shares(*both_ways(2, Chunks.of(frame, cuts=(100,), columns=["far"]), Layout()))


def test_ids_of_a_wide_range_are_numbered_on_the_host(monkeypatch):
    frame = made_frame(4)
    frame[["src", "dst"]] *= 10**12
    monkeypatch.setattr(OnDevice, "shuffle", None)
    assert_same_shares(*both_ways(2, Chunks.of(frame, cuts=(100,)), Layout()))
