"""Hubs and authorities on several GPUs, each with the rows of its own vertices."""

from dataclasses import replace

import cupy
import numpy as np
import pandas as pd
import pytest
from cut_graphs import Cut, cut
from device_rank_runs import SEVERAL, marks, on_gpus
from made_graphs import SHAPES, path, star

import dask_graphgpu as dg
from dask_graphgpu.engine import cpu, device_ranks
from dask_graphgpu.errors import NotConverged
from dask_graphgpu.report import Report

pytestmark = marks


def check(view, parts, iterations, tolerance=0.0):
    """Scores of own vertices and ghosts are those of the CPU, twice: also from what the first run left."""
    told = Report("one")
    expected = np.stack(cpu.hits(view, tolerance, iterations, told), axis=1)

    def run(share):
        for stays in (False, True):
            here, report = (share.staying() if stays else share), Report("many")
            found = device_ranks.hits(here, tolerance, iterations, report)
            assert all(isinstance(each, cupy.ndarray if stays else np.ndarray) for each in found)
            made = np.stack([cupy.asnumpy(each) for each in found], axis=1)
            dense = np.argsort(parts.numbers)[share.numbers]
            np.testing.assert_allclose(made, expected[dense], rtol=1e-12, atol=1e-15)
            steps = [sum(row.supersteps for row in each.advances) for each in (report, told)]
            assert steps[0] == steps[1]
        return made

    on_gpus(parts, run)


@pytest.mark.parametrize("weight", [None, "int64", "float32"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("shape", ["skewed", "grid", "edgeless"])
def test_of_shapes(shape, directed, weight):
    made = SHAPES[shape](directed=directed)
    if weight is not None:
        sizes = np.random.default_rng(2).integers(1, 9, len(made.source))
        made = replace(made, weight=sizes.astype(weight))
    view = made.view()
    for size in SEVERAL:
        check(view, cut(view, size, "random"), 7)
        check(view, cut(view, size), 200, 1e-3)


def test_weights_that_cancel():
    """A sum of 0 is not scaled, and is no end where scores are not 0."""
    outward = star(3, directed=True, weight=np.array([1.0, -1.0])).view()
    check(outward, Cut(outward, [0, 1, 0], 2), 3)
    chain = path(4, weight=np.array([1.0, -2.0, 1.0])).view()
    for iterations in (1, 2, 3):
        check(chain, Cut(chain, [0, 1, 0, 1], 2), iterations)


def test_a_rank_may_own_nothing_and_a_row_be_a_blocks():
    view = star(6000, directed=True).view()
    check(view, Cut(view, np.zeros(6000, int), 2), 2)
    check(view, Cut(view, np.arange(6000) % 2, 2), 2)


def test_the_end_of_iterations_leaves_what_the_next_run_takes():
    view = SHAPES["skewed"](directed=True).view()
    parts = cut(view, 2, "random")

    def run(share):
        with pytest.raises(NotConverged, match="after 2 iterations the hub scores still change"):
            device_ranks.hits(share, 1e-12, 2, Report("test"))

    on_gpus(parts, run)
    check(view, parts, 3)


def test_frames():
    rng = np.random.default_rng(4)
    source, destination = rng.integers(0, 60, (2, 150)) * 3
    frame = pd.DataFrame({"src": source, "dst": destination})
    for directed in (False, True):
        one, several = (frame.graph(directed=directed, engine="gpu", ranks=size) for size in (1, 2))
        found = several.hits(max_iterations=300)
        assert "gather" not in dg.last_report()["direction"].tolist()
        expected = one.hits(max_iterations=300)
        pd.testing.assert_frame_equal(found, expected, rtol=1e-9, atol=1e-12)
