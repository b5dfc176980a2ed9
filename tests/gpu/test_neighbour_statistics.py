"""Values of neighbours on the device beside the host's: any number of columns, rows of any length."""

import importlib

import numpy as np
import pytest
from made_graphs import edgeless, random_small, rmat

from dask_graphgpu.engine import cpu
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu.neighbour_statistics")

EVERYTHING = ("sum", "weight", "count", "min", "max")


def same(view, width, direction, wanted=EVERYTHING):
    rng = np.random.default_rng(width)
    values = rng.standard_normal((view.num_vertices, width))
    values[rng.random(values.shape) < 0.2] = np.nan
    found, expected = (
        engine.neighbour_statistics(view, values, direction, wanted, Report("t"))
        for engine in (gpu, cpu)
    )
    assert list(found) == list(expected) == list(wanted)
    for name in wanted:
        assert found[name].dtype == expected[name].dtype
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, atol=1e-9)


def test_small_graphs():
    for seed in range(12):
        for direction in ("in", "out", "both"):
            same(random_small(seed).view(), 1 + seed % 5, direction)


@pytest.mark.parametrize("width", [1, 3, 8, 35])
def test_rows_of_blocks(width):
    view = rmat(10, 40).view()
    assert view.into.degrees.max() > 2 * gpu.LONG
    same(view, width, "in")


def test_what_is_not_asked_for_is_not_made():
    same(random_small(2).view(), 2, "in", ("min",))


def test_no_edges():
    same(edgeless(3).view(), 2, "both")
