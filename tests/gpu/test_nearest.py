"""Labels of the nearest targets on the device, as on the host."""

import importlib

import numpy as np
import pytest
from made_graphs import edgeless, random_small, star, weighted_small

from dask_graphgpu.engine import cpu
from dask_graphgpu.errors import IntegerOverflow
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu.nearest")


def same(view, number, k, limit=None):
    n = view.num_vertices
    targets = np.random.default_rng(k).permutation(n)[:number]
    if view.user_rank is not None:
        targets = targets[np.argsort(view.user_rank[targets])]
    found, wanted = (
        engine.nearest(view, targets, min(k, len(targets)), limit, Report("t"))
        for engine in (gpu, cpu)
    )
    np.testing.assert_array_equal(found[1], wanted[1])
    there = wanted[1] >= 0
    np.testing.assert_array_equal(found[0][there], wanted[0][there])


@pytest.mark.parametrize("kind", [None, "int64", "uint8", "float32", "zeros"])
def test_small_graphs(kind):
    for seed in range(6):
        made = random_small(seed) if kind is None else weighted_small(seed, kind)
        same(made.view(), 1 + 3 * seed, 1 + seed % 4, 60 if seed == 4 else None)


def test_long_rows_and_none():
    same(star(700).view(), 40, 5)
    same(edgeless(3).view(), 2, 2)


def test_lengths_beyond_int64():
    ends = np.arange(3, dtype=np.uint32)
    view = View.of(from_edges(3, ends[:2], ends[1:], {"weight": np.full(2, 2**62)}))
    with pytest.raises(IntegerOverflow, match="float weights"):
        gpu.nearest(view, ends[2:], 1, None, Report("t"))
    far, who = gpu.nearest(view, ends[2:], 1, 2**62, Report("t"))
    assert far[who >= 0].tolist() == [2**62, 0]
