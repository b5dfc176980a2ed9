"""What runs leave with a rank's share of a graph, and answers that stay on its GPU."""

import gc
import weakref
from dataclasses import replace

import cupy
import numpy as np
import pytest
from cut_graphs import cut
from device_rank_runs import SEVERAL, marks, on_gpus
from made_graphs import rmat
from rank_programs import CASES, HOPS
from rank_runs import made_view, on_one, put_together, same

from dask_graphgpu.algorithms.pagerank import power_program
from dask_graphgpu.engine import device_ranks
from dask_graphgpu.engine.device_ranks.view import border_of
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.report import Report

pytestmark = marks


@pytest.mark.parametrize("name", CASES)
def test_a_run_again_on_the_same_share(name):
    """It has another one's arrays and recorded launches, and leaves that one's answer as it is."""
    case = CASES[name]
    view = made_view(4, case)
    parts = cut(view, SEVERAL[-1], "random", 4)
    given = case.arguments(view.num_vertices)
    others = given | ({"sources": [view.num_vertices // 2]} if "sources" in given else {})
    asked = [given, others, given]

    def work(share):
        report = Report("test")
        return [
            device_ranks.run(case.program, share, RunOptions(report=report, **each))
            for each in asked
        ]

    found = on_gpus(parts, work)
    for each, *states in zip(asked, *found, strict=True):
        expected = on_one(case.program, view, **each)
        same(put_together(parts, states), expected, rtol=max(case.rtol, 1e-12))


def test_what_runs_leave_goes_with_the_share():
    def work(share):
        given = RunOptions(report=Report("test"), max_supersteps=2, exact_supersteps=True)
        device_ranks.run(power_program("float64", weighted=False, personal=False), share, given)
        device_ranks.bfs(share, 0, cutoff=None, targets=None, report=Report("test"))
        device_ranks.components(share, Report("test"))
        device_ranks.run(HOPS, share, RunOptions(sources=[0], report=Report("test")))
        return weakref.ref(border_of(share))

    left = on_gpus(cut(rmat(7).view(), 2, "random"), work)
    gc.collect()
    assert [each() for each in left] == [None, None]


def test_answers_that_stay_on_the_gpu():
    """They are as those on the host, and no later run writes to them."""
    made = rmat(8)
    weight = np.random.default_rng(2).integers(1, 9, len(made.source))
    view = replace(made, weight=weight).view()

    def asked(view):
        report = Report("test")
        power = power_program("float64", weighted=False, personal=False)
        steps = RunOptions(report=report, max_supersteps=3, exact_supersteps=True)
        found = []
        for source in (0, 5):
            state = device_ranks.run(SSSP, view, RunOptions(sources=[source], report=report))
            found += [state["distance"], state.reached]
            found.append(device_ranks.bfs(view, source, cutoff=None, targets=None, report=report))
            found.append(device_ranks.components(view, report))
            found.append(device_ranks.run(power, view, steps)["rank"])
        return found

    def work(share):
        stayed, host = asked(share.staying()), asked(share)
        assert all(isinstance(each, cupy.ndarray) for each in stayed)
        given = {"hops": True, "report": Report("test")}
        before = [
            device_ranks.predecessors(share, 0, x, x >= 0, **given) for x in (stayed[2], host[2])
        ]
        return [cupy.asnumpy(each) for each in stayed], host, before

    for stayed, host, before in on_gpus(cut(view, SEVERAL[-1], "random"), work):
        for one, other in zip(stayed, host, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(*before)
