"""Cycles on the GPU against the CPU engine: the same ones in the same order."""

import importlib

import numpy as np
import pandas as pd
import pytest
from device_rank_runs import SEVERAL
from made_graphs import random_small

from dask_graphgpu.engine import cpu
from dask_graphgpu.engine.cycle_search import CycleRule
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu.cycles")
device_cycles = importlib.import_module("dask_graphgpu.engine.device_ranks.cycles")


def edges_of(seed, *, timed):
    """A view, and its edges with times."""
    view = random_small(seed).view()
    out = view.out
    source = np.repeat(np.arange(view.num_vertices, dtype=out.neighbours.dtype), out.degrees)
    times = np.random.default_rng(seed).integers(-9, 30, len(source)) if timed else None
    return view, (source, out.neighbours, times)


def same(view, edges, rule):
    expected = cpu.cycles(view, edges, rule, Report("cycles"))
    found = gpu.cycles(view, edges, rule, Report("cycles"))
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, other)
    return len(expected[0])


@pytest.mark.parametrize("many", [256, 3])
def test_small_graphs(many, monkeypatch):
    monkeypatch.setattr(gpu, "MANY_WAYS", many)
    found = 0
    for seed in range(9):
        for length in (1, 2, 3, 4, 5):
            for within in (None, 9):
                found += same(
                    *edges_of(seed, timed=True), CycleRule(length, 10**6, True, within, True)
                )
            for directed in (True, False):
                found += same(
                    *edges_of(seed, timed=False), CycleRule(length, 10**6, False, None, directed)
                )
    assert found > 10_000


def test_more_than_the_limit():
    view, edges = edges_of(4, timed=False)
    with pytest.raises(InvalidArgument, match="cycles with max_length=5, and limit=3"):
        gpu.cycles(view, edges, CycleRule(5, 3, False, None, True), Report("cycles"))


@pytest.mark.skipif(not SEVERAL, reason="there is one GPU")
def test_several_gpus(monkeypatch):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.integers(0, 60, (150, 2)) * 3, columns=["src", "dst"])
    frame["day"] = rng.integers(0, 40, 150)
    found = [
        (graph.cycles(5), graph.cycles(5, time="day", within=30))
        for graph in (frame.graph(), frame.graph(engine="gpu"), frame.graph(engine="gpu", ranks=2))
    ]
    # Where the edges do not fit.
    monkeypatch.setattr(device_cycles, "BUILDING", 2**50)
    found.append((frame.graph(engine="gpu", ranks=2).cycles(5), found[0][1]))
    for other in found[1:]:
        for mine, wanted in zip(other, found[0], strict=True):
            assert len(mine) > 10
            pd.testing.assert_frame_equal(mine, wanted)
