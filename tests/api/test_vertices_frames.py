"""Frames of vertices: those without edges, values for programs, personalization."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from accessor_calls import EDGES, NULL, rows
from strategies import partitioned

import dask_graphgpu as dg
from dask_graphgpu import errors


@pytest.mark.parametrize("name", ["vertex", "id", "src"])
@pytest.mark.parametrize("lazy", [(False, False), (True, False), (False, True), (True, True)])
def test_vertices_without_edges(name, lazy):
    vertices = pd.DataFrame({name: [9, 0, 1, 2, 3, 4, 5, -3], "home": range(8)})
    given = partitioned(EDGES, 2) if lazy[0] else EDGES
    graph = given.graph(vertices=partitioned(vertices, 3) if lazy[1] else vertices)
    found = graph.bfs(9)
    assert isinstance(found, dd.DataFrame) == any(lazy)
    assert found.columns.tolist() == ["vertex", "distance"]
    assert rows(found)["vertex"].tolist() == [-3, 0, 1, 2, 3, 4, 5, 9]
    assert rows(found)["distance"].tolist() == [NULL] * 7 + [0]
    assert rows(graph.degree())["degree"].tolist() == [0, 2, 2, 3, 1, 1, 1, 0]
    assert rows(graph.core_number())["core_number"].tolist() == [0, 2, 2, 2, 1, 1, 1, 0]
    assert rows(graph.pagerank())["rank"].sum() == pytest.approx(1)


def test_a_vertices_frame_of_a_wider_type_keeps_its_ids():
    edges = EDGES.astype({"src": "int8", "dst": "int8"})
    vertices = pd.DataFrame({"vertex": [2**40, 0]})
    for given in (edges, partitioned(edges, 2)):
        found = given.graph(vertices=vertices).degree()
        assert found["vertex"].dtype == "int64"
        assert rows(found)["vertex"].tolist() == [0, 1, 2, 3, 4, 5, 2**40]


def test_a_vertices_frame_gives_values_to_programs():
    vertices = pd.DataFrame({"vertex": [5, 4, 3, 2, 1, 0], "load": [5, 4, 3, 2, 1, 0]})
    program = dg.VertexProgram(
        state={
            "largest": dg.Field("int64", initial=lambda load: load),
            "load": dg.Field("int64", vertices="load"),
        },
        compute=lambda source_largest: source_largest,
        combine="max",
    )
    graph = EDGES.graph(vertices=vertices, directed=False)
    found = graph.run(program)
    assert found.columns.tolist() == ["vertex", "largest"]
    assert found["largest"].tolist() == [3, 3, 3, 3, 5, 5]
    with pytest.raises(errors.InvalidVertices, match="no column 'load'; the graph has none"):
        EDGES.graph.run(program)
    gap = EDGES.graph(vertices=vertices.iloc[1:])
    with pytest.raises(errors.InvalidVertices, match="no value for 1 of 6 vertices"):
        gap.run(program)
    twice = EDGES.graph(vertices=pd.concat([vertices, vertices]))
    with pytest.raises(errors.InvalidVertices, match="6 ids more than once"):
        twice.run(program)


def test_personalization():
    """A frame, a column of the vertices frame, and the linear system they stand for."""
    import oracles

    edges = list(EDGES[["src", "dst", "weight"]].itertuples(index=False, name=None))
    jumps = [3, 0, 0, 0, 1, 0]
    wanted = oracles.pagerank(6, edges, personalization=jumps)
    frame = pd.DataFrame({"vertex": [4, 0], "often": [1, 3]})
    column = EDGES.graph(vertices=pd.DataFrame({"vertex": range(6), "often": jumps}))
    split = pd.DataFrame({"vertex": [0, 4, 0], "often": [1, 1, 2]})
    for found in (
        EDGES.graph.pagerank(personalization=frame, tolerance=1e-13),
        EDGES.graph.pagerank(personalization=split, tolerance=1e-13),
        EDGES.graph.pagerank(personalization=partitioned(split, 2), tolerance=1e-13),
        column.pagerank(personalization="often", tolerance=1e-13),
        column.persist().pagerank(personalization="often", tolerance=1e-13),
        partitioned(EDGES, 2).graph.pagerank(
            personalization=partitioned(frame, 2), tolerance=1e-13
        ),
    ):
        np.testing.assert_allclose(rows(found)["rank"], wanted, rtol=1e-9, atol=1e-15)
