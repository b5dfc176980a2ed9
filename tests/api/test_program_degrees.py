"""Whose degrees a vertex program sees: a mean over what neighbours send divides by what is received over."""

import numpy as np
import pandas as pd
import pytest
from strategies import partitioned

import dask_graphgpu as dg
from dask_graphgpu import errors

EDGES = pd.DataFrame({"src": [0, 0, 0, 1, 2, 2, 3], "dst": [1, 2, 3, 3, 3, 3, 0]})
VALUES = pd.DataFrame({"vertex": range(4), "x": [8.0, 2.0, 4.0, 6.0]})


def mean(edges, name):
    """One superstep in which a vertex takes the mean of what its neighbours have."""
    apply = {
        "in_degree": lambda message, in_degree: message / max(in_degree, 1),
        "out_degree": lambda message, out_degree: message / max(out_degree, 1),
    }[name]
    return dg.VertexProgram(
        state={
            "mean": dg.Field("float64", initial=0.0),
            "x": dg.Field("float64", vertices="x"),
        },
        compute=lambda source_x: source_x,
        combine="sum",
        apply=apply,
        stop=lambda superstep: superstep >= 1,
        edges=edges,
    )


@pytest.mark.parametrize(
    "options", [{}, {"engine": "interpreted"}, {"ranks": 2}, {"order": "degree"}]
)
@pytest.mark.parametrize(
    ("edges", "name", "ends"),
    [("out", "in_degree", ("src", "dst")), ("in", "out_degree", ("dst", "src"))],
)
def test_a_mean_over_neighbours_of_a_directed_graph(edges, name, ends, options):
    sender, receiver = ends
    sent = EDGES.assign(x=EDGES[sender].map(VALUES["x"]))
    wanted = sent.groupby(receiver)["x"].mean().reindex(range(4), fill_value=0.0)
    for frame in (EDGES, partitioned(EDGES, 2)):
        program = mean(edges, name)
        graph = frame.graph(vertices=VALUES, **options)
        found = graph.run(program)
        found = found.compute() if hasattr(found, "compute") else found
        assert found.columns.tolist() == ["vertex", "mean"]
        assert found["mean"].tolist() == pytest.approx(wanted.tolist())


@pytest.mark.parametrize("options", [{}, {"engine": "interpreted"}, {"ranks": 2}])
def test_at_both_ends_of_an_edge_and_from_the_start(options):
    degrees = EDGES.graph(duplicates="keep").degree().set_index("vertex")
    program = dg.VertexProgram(
        state={
            "x": dg.Field(
                "int64", initial=lambda in_degree, out_degree: in_degree * 100 + out_degree
            ),
            "y": dg.Field("int64", initial=0),
        },
        compute=lambda source_out_degree, destination_in_degree: (
            source_out_degree * 10 + destination_in_degree
        ),
        combine="sum",
        apply=lambda message, x: {"y": message, "x": x},
        stop=lambda superstep: superstep >= 1,
        message="int64",
    )
    found = EDGES.graph(**options).run(program)
    start = degrees["in_degree"] * 100 + degrees["out_degree"]
    assert found["x"].tolist() == start.tolist()
    sent = EDGES["src"].map(degrees["out_degree"]) * 10 + EDGES["dst"].map(degrees["in_degree"])
    assert found["y"].tolist() == sent.groupby(EDGES["dst"]).sum().tolist()


def test_on_an_undirected_graph_all_degrees_are_the_same():
    program = dg.VertexProgram(
        state={"same": dg.Field("int64", initial=0)},
        compute=lambda: 1,
        combine="sum",
        apply=lambda message, degree, in_degree, out_degree: (
            1 if message == degree == in_degree == out_degree else 0
        ),
        stop=lambda superstep: superstep >= 1,
    )
    found = EDGES.graph(directed=False).run(program)
    assert found["same"].tolist() == [1, 1, 1, 1]


def test_what_is_called_so_itself_is_what_is_meant():
    program = dg.VertexProgram(
        state={"in_degree": dg.Field("int64", initial=7)},
        compute=lambda source_in_degree: source_in_degree,
        combine="max",
        constants={"out_degree": 3},
        apply=lambda message, out_degree: message + out_degree,
        stop=lambda superstep: superstep >= 1,
    )
    found = EDGES.graph().run(program)
    assert found["in_degree"].tolist() == [10, 10, 10, 10]
    vertices = VALUES.assign(in_degree=[np.nan] * 4)
    found = EDGES.graph(vertices=vertices).run(mean("out", "in_degree"))
    assert found["mean"].tolist() == [6.0, 8.0, 8.0, 4.5]


def test_a_name_that_is_none_is_told_with_these():
    with pytest.raises(
        errors.ProgramError, match=r"'indegree' is unknown; allowed .*in_degree, out_"
    ):
        dg.VertexProgram(
            state={"x": dg.Field("int64", initial=0)},
            compute=lambda source_x: source_x,
            combine="sum",
            apply=lambda message, indegree: message,
        )
