"""Programs from several sources as one run on the GPU, against the CPU engine's runs one by one."""

import importlib
from dataclasses import replace

import numpy as np
import pytest
from made_graphs import grid, random_small, star

from dask_graphgpu.algorithms.sswp import program as widest
from dask_graphgpu.engine import cpu
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.errors import IntegerOverflow
from dask_graphgpu.fields import Field
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu.multi_source")


def weighted(graph, dtype, seed=0):
    weight = np.random.default_rng(seed).integers(0, 9, len(graph.source)).astype(dtype)
    return type(graph)(
        graph.n, graph.source, graph.destination, directed=graph.directed, ids=graph.ids,
        rank=graph.rank, weight=weight,
    )  # fmt: skip


def check(view, sources, program=SSSP, *, cutoff=None, targets=None):
    """As many runs as rows of the report."""
    report = Report("sssp")
    asked = RunOptions(report=report, cutoff=cutoff, targets=targets)
    found = gpu.run_each(program, view, sources, asked)
    assert len(found) == len(sources)
    for state, source in zip(found, sources, strict=True):
        wanted = cpu.run(program, view, replace(asked, report=Report("one"), sources=[source]))
        chosen = slice(None) if targets is None else targets
        for name in wanted:
            assert state[name].dtype == wanted[name].dtype
            np.testing.assert_array_equal(state[name][chosen], wanted[name][chosen])
        np.testing.assert_array_equal(state.reached[chosen], wanted.reached[chosen])
    return len(report.advances)


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32"])
@pytest.mark.parametrize("number", [2, 3, 17])
def test_small_graphs(dtype, number):
    for seed in range(8):
        graph = weighted(random_small(seed), dtype, seed)
        rng = np.random.default_rng(seed)
        sources = rng.integers(graph.n, size=number)
        cutoff = None if seed % 2 else 6
        targets = None if seed % 3 else rng.integers(graph.n, size=2)
        assert check(graph.view(), sources, cutoff=cutoff, targets=targets) == 1


def test_rows_that_are_cut_and_ends_of_the_lists(monkeypatch):
    module = importlib.import_module("dask_graphgpu.engine.gpu.near_far")
    for name, value in {"FAR_SHARE": 1 / 16, "FAR_LEAST": 8, "ALONE_LIST": 4, "WIDTH": 0.1}.items():
        monkeypatch.setattr(module, name, value)
    assert check(weighted(star(1500), "uint8").view(), np.array([0, 7, 1499])) == 1
    assert check(weighted(grid(20), "int64").view(), np.arange(0, 400, 57)) == 1


def test_widest_paths():
    view = weighted(grid(6), "int64").view()
    assert check(view, np.arange(3), widest(9)) == 1


def test_as_many_at_once_as_there_is_room_for(monkeypatch):
    view = weighted(grid(6), "int64").view()
    monkeypatch.setattr(gpu, "MOST_VALUES", 4 * view.num_vertices + 1)
    assert check(view, np.arange(9)) == 3
    monkeypatch.setattr(gpu, "MOST_VALUES", view.num_vertices)
    assert check(view, np.arange(3)) == 3


def test_what_does_not_go_in_columns_runs_one_by_one(monkeypatch):
    view = weighted(grid(6), "int64").view()
    sources = np.arange(3)
    by_degree = VertexProgram(
        state={"cost": Field("int64", initial=None, at_source=0)},
        compute=lambda source_cost, source_degree: source_cost + source_degree,
        combine="min",
        priority=lambda cost: cost,
    )
    assert check(view, sources, by_degree) == 3
    monkeypatch.setattr(gpu, "LONG_ROWS", 0)
    monkeypatch.setattr(gpu, "FEW_EDGES", 0)
    assert check(view, sources) == 3


def test_an_overflow_in_one_run_is_an_error_of_all():
    graph = random_small(3)
    weight = np.full(len(graph.source), 2**62)
    view = type(graph)(
        graph.n, graph.source, graph.destination, directed=True, weight=weight
    ).view()
    with pytest.raises(IntegerOverflow):
        gpu.run_each(SSSP, view, np.arange(graph.n), RunOptions(report=Report("sssp")))
