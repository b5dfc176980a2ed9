"""How a run of a vertex program ends, and what its report says."""

import numpy as np
import pytest
from engine_programs import (
    LABELS,
    PAGERANK,
    SSSP,
    WEIGHT_SUM,
    chain,
    compiled,
    dijkstra,
    interpreted,
    random_view,
    same,
    star,
)
from engines import of_the_cpu_engine, run

from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.errors import InvalidArgument, NotConverged
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


@pytest.mark.parametrize("engine", [compiled, interpreted])
def test_not_converged_tells_the_aggregates(engine):
    with pytest.raises(NotConverged, match=r"after 3 supersteps .*change = 0"):
        engine(PAGERANK, random_view(0), max_supersteps=3)
    state = engine(PAGERANK, random_view(0), max_supersteps=3, exact_supersteps=True)
    assert state.supersteps == 3


@pytest.mark.parametrize("engine", [compiled, interpreted])
def test_what_can_never_end_is_refused(engine):
    with pytest.raises(InvalidArgument, match="max_supersteps"):
        engine(WEIGHT_SUM, star([1]))
    with pytest.raises(InvalidArgument, match="source="):
        engine(SSSP, star([1]))
    with pytest.raises(InvalidArgument, match="priority"):
        engine(LABELS, star([1]), cutoff=3)
    with pytest.raises(InvalidArgument, match="dense ids"):
        engine(SSSP, star([1]), sources=[2])


@pytest.mark.parametrize("cutoff", [0, 5, 5.5, 1000])
def test_cutoff_drops_what_lies_beyond(cutoff, direction):
    for weight in ("int64", "float64"):
        view = random_view(13, weight=weight)
        expected = {v: d for v, d in dijkstra(view, 0).items() if d <= cutoff}
        state = compiled(SSSP, view, sources=[0], cutoff=cutoff)
        found = {v: state["distance"][v] for v in np.flatnonzero(state.reached).tolist()}
        assert found == pytest.approx(expected)
        same(interpreted(SSSP, view, sources=[0], cutoff=cutoff), state)


def test_targets_are_final_and_end_the_run_early(monkeypatch):
    view = chain([1] * 3000)
    report = Report("test")
    state = run(SSSP, view, RunOptions(sources=[0], targets=[5, 40], report=report))
    assert state["distance"][[5, 40]].tolist() == [5, 40]
    assert sum(row.edges for row in report.advances) < 200
    # a target that cannot be reached: everything else is
    state = compiled(SSSP, View.of(view.out), sources=[10], targets=[3])
    assert not state.reached[3]
    assert state.reached.sum() == 2991


@of_the_cpu_engine
def test_report_rows_say_what_was_done(eager):
    view = random_view(14, directed=False)
    for program, arguments, expected in [
        (SSSP, {"sources": [0]}, {"near-far"}),
        (LABELS, {}, {"pull", "push"}),
        (PAGERANK, {"max_supersteps": 300}, {"pull"}),
    ]:
        report = Report("test")
        state = run(program, view, RunOptions(report=report, **arguments))
        assert {row.direction for row in report.advances} == expected
        assert sum(row.supersteps for row in report.advances) == state.supersteps
        assert all(row.edges >= 0 and row.bytes >= row.edges * 4 for row in report.advances)
        assert report.advances[0].frontier == len(arguments.get("sources", range(60)))
