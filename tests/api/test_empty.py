"""A frame without a row: empty results of the right schema, and an error of what names a vertex."""

from pathlib import Path

import dask
import dask.dataframe as dd
import pandas as pd
import pytest
from commands import call, refused
from strategies import partitioned

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.algorithms import ALGORITHMS

FULL = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0], "weight": [1.0, 2.0, 3.0], "toll": 0.5})
EMPTY = FULL.iloc[:0]
VALUES = pd.DataFrame({"vertex": [0], "p": [0.5]})
GROUPS = pd.DataFrame({"vertex": [0], "community": [1]})
PROGRAM = dg.VertexProgram(
    state={"h": dg.Field("int64", initial=0)},
    compute=lambda source_h, edge_toll: source_h,
    combine="max",
)
NEEDS = {
    "k_core": {"k": 2},
    "khop_count": {"k": 2},
    "belief_propagation": {"priors": VALUES, "homophily": 0.6},
    "neighbor_aggregate": {"values": VALUES},
    "partition_quality": {"communities": GROUPS},
    "neural_network": {"initial": 0.5},
    "heat_simulation": {"initial": 0.5, "step": 0.1},
    "circuit_simulation": {"terminals": VALUES},
    "run": {"program": PROGRAM},
    "random_walks": {"length": 2},
    "neighbor_sample": {"fanout": [2]},
    "cycles": {"max_length": 3},
}
OF_A_VERTEX = ("bfs", "sssp", "sswp", "ssnsp", "shortest_path", "earliest_arrival", "ego")
OF_VERTICES = ("distances", "k_shortest_paths", "nearest")
OF_NO_CYCLE = ("topological_order", "longest_path")
OF_TWO_SIDES = ("project",)
WITHOUT = [
    name
    for name in ALGORITHMS
    if name not in (*OF_A_VERTEX, *OF_VERTICES, *OF_NO_CYCLE, *OF_TWO_SIDES)
]


def nothing(value):
    """An argument without the rows of a frame."""
    return value.iloc[:0] if isinstance(value, pd.DataFrame) else value


@pytest.mark.parametrize("name", WITHOUT)
@pytest.mark.parametrize("options", [{}, {"directed": False}, {"ranks": 2}])
def test_results_have_no_row_and_the_schema_of_any_result(name, options):
    given = NEEDS.get(name, {})
    wanted = getattr(FULL.graph(**options), name)(**given).iloc[:0].reset_index(drop=True)
    for edges in (EMPTY, partitioned(EMPTY, 3)):
        found = getattr(edges.graph(**options), name)(**{k: nothing(v) for k, v in given.items()})
        if not isinstance(edges, pd.DataFrame):
            pd.testing.assert_frame_equal(found._meta, wanted)
            assert len(list(found.partitions)) == 3
            found = found.compute().reset_index(drop=True)
        pd.testing.assert_frame_equal(found, wanted)


@pytest.mark.parametrize("options", [{}, {"ranks": 2}])
@pytest.mark.parametrize(
    "call",
    [
        lambda g: g.bfs(0),
        lambda g: g.sssp([0, 1]),
        lambda g: g.shortest_path(0, 1),
        lambda g: g.k_shortest_paths(0, 1, 2),
        lambda g: g.distances([0], [1]),
        lambda g: g.nearest([0]),
        lambda g: g.distances(VALUES[["vertex"]], VALUES[["vertex"]]),
        lambda g: g.ego(0),
        lambda g: g.betweenness_centrality([0]),
        lambda g: g.pagerank(personalization=VALUES),
        lambda g: g.run(PROGRAM, source=[0]),
        lambda g: g.random_walks(0, length=1),
        lambda g: g.random_walks(VALUES[["vertex"]], length=1),
        lambda g: g.neighbor_sample([0], fanout=[1]),
        lambda g: g.similar(between=[0]),
    ],
)
def test_a_vertex_is_none_of_it(call, options):
    for edges in (EMPTY, partitioned(EMPTY, 2)):
        with pytest.raises(errors.UnknownVertex, match="edge frame is empty"):
            dask.compute(call(edges.graph(**options)))


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize(
    "call",
    [
        lambda g, none: g.distances([0], none),
        lambda g, none: g.distances(none, [0, 1], weighted=False),
        lambda g, none: g.nearest(none, 2),
        lambda g, none: g.similar(between=none),
        lambda g, none: g.random_walks(none, length=1),
        lambda g, none: g.neighbor_sample(none, fanout=[1]),
    ],
)
def test_a_frame_of_vertices_may_be_empty(call, ranks):
    some = VALUES[["vertex"]]
    wanted = call(FULL.graph(ranks=ranks), some).iloc[:0].reset_index(drop=True)
    pd.testing.assert_frame_equal(call(FULL.graph(ranks=ranks), some.iloc[:0]), wanted)
    lazy = call(partitioned(FULL, 2).graph(ranks=ranks), some.iloc[:0])
    pd.testing.assert_frame_equal(lazy.compute().reset_index(drop=True), wanted)


def test_a_frame_of_vertices_and_a_graph_may_be_empty():
    none = VALUES[["vertex"]].iloc[:0]
    assert EMPTY.graph().similar(between=none).empty
    assert EMPTY.graph().random_walks(none, length=1).empty
    assert EMPTY.graph().neighbor_sample(none, fanout=[1]).empty
    assert EMPTY.graph().nearest(none).empty


def test_there_are_no_sources_to_draw():
    with pytest.raises(errors.InvalidArgument, match="sources=2; the graph has 0 vertices"):
        EMPTY.graph().betweenness_centrality(2)


@pytest.mark.parametrize("ranks", [1, 2])
def test_it_is_kept_and_explained(ranks):
    for edges in (EMPTY, partitioned(EMPTY, 2)):
        graph = edges.graph().persist(ranks=ranks)
        plan = graph.explain()
        assert (plan.rows, plan.vertices, plan.exact) == (0, 0, True)
        assert "0 rows" in str(plan)
        assert len(graph.degree()) == 0


def test_its_run_reports_nothing():
    EMPTY.graph().pagerank()
    report = dg.last_report()
    assert len(report) == 0
    assert report.attrs["algorithm"] == "pagerank"


@pytest.mark.parametrize("options", [{}, {"directed": False}, {"layout": "layered"}])
def test_it_is_saved_and_loaded(tmp_path, options):
    for edges in (EMPTY, partitioned(EMPTY, 2)):
        saved = dg.load(edges.graph(**options).save(tmp_path / "saved", columns="toll"))
        assert (saved.num_vertices(), saved.num_edges()) == (0, 0)
        for name in WITHOUT:
            given = {k: nothing(v) for k, v in NEEDS.get(name, {}).items()}
            wanted = getattr(EMPTY.graph(**options), name)(**given)
            found = getattr(saved, name)(**given).compute().reset_index(drop=True)
            pd.testing.assert_frame_equal(found, wanted)
        with pytest.raises(errors.UnknownVertex, match="edge frame is empty"):
            saved.bfs(0).compute()


def test_an_empty_day_is_built_by_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("files").mkdir()
    EMPTY.to_parquet("files/part.parquet")
    call("build", "files", "--output", "day")
    Path("job.toml").write_text(JOB)
    call("run", "job.toml")
    assert pd.read_parquet("ranks").columns.tolist() == ["vertex", "rank"]
    assert len(pd.read_parquet("components")) == 0


def test_a_filter_that_leaves_nothing(tmp_path):
    partitioned(FULL, 3).to_parquet(tmp_path / "edges", write_index=False)
    edges = dd.read_parquet(tmp_path / "edges")
    assert len(edges[edges["weight"] > 9].graph.weakly_connected_components()) == 0


JOB = """
edges = "day"
[[step]]
algorithm = "pagerank"
output = "ranks"
top = 3
report = "-"
[[step]]
algorithm = "weakly_connected_components"
output = "components"
top = 1
"""


def test_a_job_of_an_empty_day(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("day").mkdir()
    EMPTY.to_parquet("day/part.parquet")
    Path("job.toml").write_text(JOB)
    done = call("run", "job.toml")
    assert done.stderr.startswith("pagerank: 0 rows in ranks, ")
    assert pd.read_parquet("ranks").dtypes.astype(str).to_dict() == {
        "vertex": "int64",
        "rank": "float64",
    }
    assert len(pd.read_parquet("components")) == 0
    words = ["bfs", "day", "--source", 0, "--output", "out"]
    assert "the edge frame is empty" in refused(*words, code=1)


def test_columns_that_no_edge_carries_have_their_types():
    """A program of integers compiles where only isolated vertices are."""
    program = dg.VertexProgram(
        state={"x": dg.Field("int64", initial=7)},
        compute=lambda source_x, edge_toll, weight: source_x + edge_toll * weight,
        combine="sum",
        apply=lambda x, message, received: x + message if received else x,
        stop=lambda superstep: superstep >= 1,
    )
    edges = pd.DataFrame({"src": [1], "dst": [2], "toll": [3], "weight": [1]})
    vertices = pd.DataFrame({"vertex": [1, 2, 3]})
    found = edges.iloc[:0].graph(vertices=vertices).run(program)
    assert found["x"].tolist() == [7, 7, 7]
    assert edges.graph(vertices=vertices).run(program)["x"].tolist() == [7, 17, 7]
