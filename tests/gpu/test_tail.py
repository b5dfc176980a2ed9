"""Changes that are pushed once most vertices have come to rest: sums stay right to the part asked for."""

import dask
import numpy as np
import pytest
from made_graphs import path, rmat, star

from dask_graphgpu.algorithms import pagerank
from dask_graphgpu.engine import cpu, gpu
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.fields import Field
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

SENT = VertexProgram(  # what is sent is no field
    state={"x": Field("float64", initial=lambda id: 1.0 / (1 + id))},  # noqa: A006
    compute=lambda source_x, source_degree: 0.7 * source_x / source_degree, combine="sum",
    apply=lambda message, id: message + 1.0 / (1 + id),  # noqa: A006
)  # fmt: skip
PROGRAMS = {
    "float64": pagerank.power_program("float64", weighted=False, personal=False),
    "float32": pagerank.power_program("float32", weighted=False, personal=False),
    "sent": SENT,
}
GRAPHS = {
    "rmat": rmat(9, directed=True), "undirected": rmat(8), "star": star(3_000), "path": path(600),
}  # fmt: skip


def ran(engine, program, view, **arguments):
    report = Report("test")
    return engine.run(program, view, RunOptions(report=report, **arguments)), report


@pytest.mark.parametrize("tail", [0, 1e-10, 1e-6])
@pytest.mark.parametrize("shape", GRAPHS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_tail_that_is_pushed(name, shape, tail):
    program, view = PROGRAMS[name], GRAPHS[shape].view(into=True)
    many = {"max_supersteps": 150, "exact_supersteps": True}
    if name != "sent":
        many["constants"] = {"tolerance": 0.0}
    expected, _ = ran(cpu, program, view, **many)
    with dask.config.set({"graphgpu.tail": tail}):
        found, report = ran(gpu, program, view, **many)
    assert found.supersteps == 150
    # Each sum is off by `tail` of itself, of which up to 0.85 goes into the next.
    rtol = 10 * tail + (1e-5 if name == "float32" else 1e-10)
    for field in expected:
        np.testing.assert_allclose(found[field], expected[field], rtol=rtol)
    rows = report.advances
    assert rows[0].direction == "pull"
    pushed = [row.edges for row in rows if row.direction == "push"]
    assert all(edges * 16 < view.num_edges for edges in pushed)
    if tail == 1e-6:  # what is sent has come to rest, but for what has waited
        assert pushed[-1] * 50 < view.num_edges


def test_what_has_no_tail_is_told():
    view = path(5).view(into=True)
    power = PROGRAMS["float64"]
    for settings, program, arguments, reason in (
        ({}, SSSP, {"sources": [0]}, "not all vertices send"),
        ({"gather": "shards"}, power, {"max_supersteps": 2}, "no sums"),
        ({"fusion": "all"}, power, {"max_supersteps": 2}, "fusion"),
        ({"tail": 2}, power, {"max_supersteps": 2}, "tail is 2"),
    ):
        forced = {"graphgpu": {"tail": 1e-9, **settings}}
        with dask.config.set(forced), pytest.raises(InvalidArgument, match=reason):
            ran(gpu, program, view, **arguments)
