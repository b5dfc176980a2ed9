"""Several methods in one frame: the columns are those of each method, and the graph is built once."""

from dataclasses import MISSING, fields

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dask_graphgpu as dg
from dask_graphgpu.algorithms import ALGORITHMS
from dask_graphgpu.errors import GraphError, InvalidArgument, UnknownVertex
from dask_graphgpu.features import ALLOWED, beside, features_asked
from dask_graphgpu.io.partitions import BUILD

MADE = np.random.default_rng(4)
EDGES = pd.DataFrame(MADE.integers(0, 60, (300, 2)), columns=["src", "dst"]).assign(
    weight=MADE.integers(1, 9, 300)
)
ASKED = {"pagerank": {"damping": 0.5}, "degree": {}, "sssp": {"source": 7}, "core_number": {}}
OPTIONS = {"directed": False}


def frames():
    """The same edges as each kind of graph that gives results at once or later."""
    lazy = dd.from_pandas(EDGES, npartitions=3)
    return {
        "pandas": EDGES.graph(**OPTIONS),
        "persisted": EDGES.graph(**OPTIONS).persist(),
        "dask": lazy.graph(**OPTIONS),
        "dask persisted": lazy.graph(**OPTIONS).persist(),
        "polars": pl.from_pandas(EDGES).graph(**OPTIONS),
        "query": pl.from_pandas(EDGES).lazy().graph(**OPTIONS),
        "arrow": dg.graph(pa.Table.from_pandas(EDGES), **OPTIONS),
        "stream": dg.graph(pa.Table.from_pandas(EDGES).to_reader(), **OPTIONS),
        "pandas on ranks": EDGES.graph(ranks=2, **OPTIONS),
        "dask on ranks": lazy.graph(ranks=2, **OPTIONS),
    }


def as_pandas(frame):
    frame = frame.compute() if isinstance(frame, dd.DataFrame) else frame
    frame = frame.to_pandas() if isinstance(frame, pl.DataFrame | pa.Table) else frame
    return frame.reset_index(drop=True)


def one_by_one():
    graph = EDGES.graph(**OPTIONS)
    whole = graph.degree()[["vertex"]]
    for method, arguments in ASKED.items():
        found = getattr(graph, method)(**arguments)
        whole = whole.join(found.drop(columns="vertex"))
    return whole


@pytest.mark.parametrize("kind", frames())
def test_columns_are_those_of_each_method(kind):
    graph = frames()[kind]
    found = graph.features(ASKED)
    assert type(found) is type(graph.degree())
    wanted = one_by_one()
    assert list(found.columns if kind not in ("arrow", "stream") else found.column_names) == list(
        wanted
    )
    pd.testing.assert_frame_equal(as_pandas(found), wanted, check_dtype=False)


def test_of_a_saved_graph(tmp_path):
    graph = dg.load(EDGES.graph(**OPTIONS).save(tmp_path / "saved"))
    pd.testing.assert_frame_equal(as_pandas(graph.features(ASKED)), one_by_one(), check_dtype=False)


def test_several_id_columns_and_strings():
    ids = {"source": ["a", "b"], "destination": ["c", "d"]}
    edges = pd.DataFrame({"a": ["x", "x"], "b": [1, 2], "c": ["x", "y"], "d": [2, 1]})
    found = edges.graph(**ids).features(
        ["weakly_connected_components", "strongly_connected_components"]
    )
    assert list(found) == [
        *(
            "a",
            "b",
            "weakly_connected_components_component_a",
            "weakly_connected_components_component_b",
        ),
        *("strongly_connected_components_component_a", "strongly_connected_components_component_b"),
    ]


def test_names_that_two_methods_give():
    found = EDGES.graph(**OPTIONS).features(
        {"louvain": {}, "leiden": {"columns": {"community": "group"}}, "degree": {}}
    )
    modularity = ["louvain_modularity", "leiden_modularity"]
    assert list(found) == ["vertex", "community", modularity[0], "group", modularity[1], "degree"]
    both = EDGES.graph(**OPTIONS).features(["louvain", "leiden"])
    assert list(both) == [
        "vertex",
        *(f"{m}_{c}" for m in ("louvain", "leiden") for c in ("community", "modularity")),
    ]


def test_the_graph_is_built_once_and_nothing_is_shuffled(tmp_path):
    EDGES.to_parquet(tmp_path / "edges.parquet")
    graph = dd.read_parquet(tmp_path / "edges.parquet").graph(**OPTIONS)
    found = graph.features(ASKED)
    keys = [str(key) for key in found.optimize().dask]
    assert sum(BUILD in key for key in keys) == 1
    assert not any("shuffle" in key or "merge" in key for key in keys)
    assert graph.features(ASKED)._name == found._name
    with pytest.raises(ValueError, match="reading from"):
        found.to_parquet(tmp_path, overwrite=True)


def test_divisions_stay_known():
    found = dd.from_pandas(EDGES, npartitions=3).graph().persist().features(["degree", "hits"])
    assert found.known_divisions
    dd.utils.assert_divisions(found)


def test_frames_among_the_arguments_are_read_once():
    jumps = pa.table({"vertex": [1, 2], "p": [1.0, 2.0]})
    found = EDGES.graph().features(
        {"pagerank": {"personalization": jumps.to_reader()}, "degree": {}}
    )
    wanted = EDGES.graph().pagerank(personalization=jumps)
    pd.testing.assert_series_equal(found["rank"], wanted["rank"])


def test_of_a_frame_itself():
    wanted = EDGES.graph().features(["degree"])
    pd.testing.assert_frame_equal(EDGES.graph.features(["degree"]), wanted)


def test_no_edges():
    found = EDGES[:0].graph(**OPTIONS).features(["degree", "hits"])
    assert list(found) == ["vertex", "degree", "hub", "authority"]
    assert len(found) == 0


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ("pagerank", "give a list of names such as"),
        (3, "methods=3; give a list"),
        ([], "name at least one of bfs, "),
        (["nope"], "'nope' is no method; allowed are bfs, "),
        ([3], "3 is no method"),
        (["k_core"], "k_core gives a row for each edge, .* allowed are bfs, "),
        (["jaccard"], "a row for each pair"),
        (["degree", "degree"], "degree is given twice"),
        ({"bfs": {"source": [1, 2]}}, "bfs: .* give one source, not a list, and no target"),
        ({"bfs": {"source": 1, "target": 2}}, "no target"),
        ({"degree": 3}, "degree=3; give a dict"),
        ({"pagerank": {"damping": 3}}, "pagerank: damping=3; allowed is"),
        ({"degree": {"columns": {"vertex": "v"}}}, "'vertex' is that of all methods"),
        ({"degree": {"columns": {"degree": "vertex"}}}, "several columns named 'vertex'"),
        ({"hits": {"columns": {"hub": "x"}}, "degree": {"columns": {"degree": "x"}}}, "named 'x'"),
    ],
)
def test_refusals(methods, message):
    with pytest.raises(InvalidArgument, match=message):
        EDGES.graph(**OPTIONS).features(methods)


def test_errors_of_methods():
    graph = EDGES.graph()
    with pytest.raises(TypeError, match=r"bfs\(\): missing a required argument: 'source'"):
        graph.features(["bfs"])
    with pytest.raises(UnknownVertex):
        graph.features({"degree": {}, "bfs": {"source": 99}})


def test_other_rows_are_an_error():
    """As where files change between two methods that read them."""
    graph, other = EDGES.graph(), EDGES[EDGES["src"] != 3].graph()
    asked = features_asked(["degree", "hits"], graph._input.schema)
    with pytest.raises(GraphError, match="results of one graph have other rows"):
        beside([graph.degree(), other.hits()[1:]], asked, graph._input.schema)


def required(kind):
    return [each.name for each in fields(kind) if each.default is MISSING]


OF_NO_CYCLE = ["topological_order", "longest_path"]
PLAIN = [name for name in ALLOWED if not required(ALGORITHMS[name]) and name not in OF_NO_CYCLE]
OF_SOURCES = ["bfs", "sssp", "sswp", "ssnsp"]


def test_methods_of_graphs_without_cycles():
    edges = pd.DataFrame({"src": [1, 1, 2], "dst": [2, 3, 3]})
    found = edges.graph().features([*OF_NO_CYCLE, "degree"])
    assert found["position"].tolist() == found["distance"].tolist() == [0, 1, 2]
    with pytest.raises(InvalidArgument, match="with these arguments"):
        edges.graph().features({"longest_path": {"path": True}})


@pytest.mark.parametrize("name", [*PLAIN, *OF_SOURCES])
def test_allowed_methods_have_a_row_for_each_vertex(name):
    graph = EDGES.assign(dst=lambda frame: frame["dst"] % 59 + 2).graph(**OPTIONS)
    given = {"source": 7} if name in OF_SOURCES else {}
    if name == "katz_centrality":
        given = {"alpha": 0.001}
    found = graph.features({name: given, "degree": {}})
    assert found["vertex"].tolist() == graph.degree()["vertex"].tolist()


def test_those_that_are_not_tried_need_more_than_a_source():
    others = {*ALLOWED} - {*PLAIN, *OF_SOURCES, *OF_NO_CYCLE}
    assert others == {
        "belief_propagation", "neural_network", "heat_simulation", "circuit_simulation", "run",
        "neighbor_aggregate", "khop_count", "earliest_arrival",
    }  # fmt: skip
