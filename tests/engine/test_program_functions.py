"""What the functions of a vertex program may use, and what they are given."""

import numpy as np
import pytest
from engine_programs import chain, compiled, dijkstra, interpreted, random_view, same, star

from dask_graphgpu.errors import InvalidArgument, InvalidVertices, ProgramError
from dask_graphgpu.fields import Field, Max, Min, Sum
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram


def shifted(x, by):
    return x + by


def doubled(x):
    return shifted(x, 0) * 2


@pytest.mark.parametrize("factor", [2, 3])
def test_closures_and_helpers_and_math(factor):
    import math

    def compute(source_distance, weight):
        return shifted(source_distance, doubled(weight) * factor) + math.floor(0.5)

    program = VertexProgram(
        state={"distance": Field("weight", at_source=0)}, compute=compute, combine="min"
    )
    view = random_view(12)
    expected = {v: 2 * factor * d for v, d in dijkstra(view, 0).items()}
    state = compiled(program, view, sources=[0])
    assert {v: state["distance"][v] for v in np.flatnonzero(state.reached).tolist()} == expected


def test_a_new_constant_needs_no_compilation():
    program = VertexProgram(
        state={"x": Field("float64", initial=1.0)},
        compute=lambda source_x, factor: source_x * factor,
        combine="sum",
        constants={"factor": 1.0},
    )
    view = star([1, 1, 1])
    results = [
        compiled(program, view, constants={"factor": factor}, max_supersteps=1)["x"][0]
        for factor in (1.0, 2.0, 5.0)
    ]
    assert results == [3.0, 6.0, 15.0]
    with pytest.raises(InvalidArgument, match="declares"):
        compiled(program, view, constants={"speed": 1.0}, max_supersteps=1)


def test_edge_columns_and_ids_and_degrees():
    program = VertexProgram(
        state={"x": Field("float64", initial=0.0)},
        compute=lambda edge_toll, source_id, destination_id, source_degree, weight: (
            edge_toll * 1000.0 + source_id * 10.0 + destination_id + source_degree / weight
        ),
        combine="max",
        message="float64",
        monotone=False,
    )
    columns = {"weight": np.array([1, 2, 4]), "toll": np.array([0.5, 3.0, 2.0], np.float32)}
    view = View.of(from_edges(4, np.array([0, 1, 1]), np.array([3, 3, 2]), columns))
    for engine in (compiled, interpreted):
        assert engine(program, view)["x"].tolist() == [0.0, 0.0, 2012.5, 3014.0]
    with pytest.raises(ProgramError, match=r"edge_toll.*\['weight'\]"):
        compiled(program, random_view(0))


@pytest.mark.parametrize("engine", [compiled, interpreted])
def test_fields_from_the_vertices_frame(engine):
    program = VertexProgram(
        state={
            "heat": Field("float64", vertices="start"),
            "loss": Field("float64", vertices="loss"),
            "double": Field("float64", initial=lambda loss, id: 2 * loss + id),  # noqa: A006
        },
        compute=lambda source_heat, source_degree: source_heat / source_degree,
        combine="sum",
        apply=lambda message, loss, double: message * loss + double,
    )
    columns = {"start": np.array([1.0, 2, 3, 4]), "loss": np.array([0.5, 1.0, 1.0, 1.0])}
    rows = from_edges(4, np.array([1, 2, 3]), np.zeros(3, np.int64), {})
    state = engine(program, View.of(rows, vertex_columns=columns), max_supersteps=1)
    assert state["heat"].tolist() == [5.5, 3.0, 4.0, 5.0]
    assert state["loss"].tolist() == columns["loss"].tolist()
    with pytest.raises(InvalidVertices, match="'start'"):
        engine(program, View.of(rows), max_supersteps=1)


@pytest.mark.parametrize("edges", ["out", "in", "both"])
def test_edges_say_which_way_messages_go(edges):
    program = VertexProgram(
        state={"hops": Field("int64", at_source=0)},
        compute=lambda source_hops: source_hops + 1,
        combine="min",
        edges=edges,
    )
    view = chain([1, 1, 1])
    expected = {"out": [0, 0, 0, 1], "in": [2, 1, 0, 0], "both": [2, 1, 0, 1]}[edges]
    for engine in (compiled, interpreted):
        state = engine(program, view, sources=[2])
        assert state["hops"].tolist() == expected


def test_aggregates_and_stop(direction):
    program = VertexProgram(
        state={"x": Field("int64", initial=lambda id: id)},  # noqa: A006
        compute=lambda source_x: source_x + 1,
        combine="max",
        aggregates={
            "least": Min(lambda x: x),
            "most": Max(lambda new_x: new_x),
            "total": Sum(lambda new_x, degree: new_x * degree),
        },
        stop=lambda most, superstep: most >= 20 or superstep == 50,
    )
    view = View.of(from_edges(3, np.array([0, 1, 2]), np.array([1, 2, 0]), {}))
    found, expected = compiled(program, view), interpreted(program, view)
    same(found, expected)
    assert found.aggregates == expected.aggregates
    assert found.aggregates["most"] == 20
    assert found.supersteps == expected.supersteps == 18
