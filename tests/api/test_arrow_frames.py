"""Frames of polars, pyarrow and DuckDB give what pandas' give, in their own kind."""

import functools

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from method_calls import IN_PLACES, METHODS

import dask_graphgpu
from dask_graphgpu.errors import InvalidArgument, InvalidEdges, InvalidVertices, UnknownVertex

KINDS = {
    "polars": pl.from_arrow,
    "polars lazy": lambda table: pl.from_arrow(table).lazy(),
    "pyarrow": lambda table: table,
    "pyarrow batches": lambda table: table.to_batches()[0],
    "pyarrow stream": lambda table: table.to_reader(100),
    "duckdb": duckdb.from_arrow,
    "another": lambda table: Another(table),
}
RESULTS = {
    "polars": pl.DataFrame,
    "pyarrow": pa.Table,
    "duckdb": duckdb.DuckDBPyRelation,
    "another": pa.Table,
}


class Another:
    """A frame of a library that nobody knows."""

    def __init__(self, table):
        self._table = table
        self.columns = table.column_names

    def __arrow_c_stream__(self, requested=None):
        return self._table.__arrow_c_stream__(requested)


def edges(rows=4000, vertices=1000):
    made = np.random.default_rng(3)
    ends = made.integers(0, vertices, (2, rows))
    ends[:, :vertices] = np.arange(vertices), np.roll(np.arange(vertices), 1)
    weight = made.integers(1, 9, rows)
    return pa.table({"src": ends[0], "dst": ends[1], "weight": weight, "x": made.random(rows)})


def same(found, wanted):
    """A result of any library beside a frame of pandas."""
    frame = pa.table(found).to_pandas()
    wanted = pa.Table.from_pandas(wanted, preserve_index=False).to_pandas(ignore_metadata=True)
    pd.testing.assert_frame_equal(frame, wanted, check_dtype=False)


ALL = {**METHODS, **IN_PLACES}


@functools.cache
def of_pandas(method):
    return ALL[method](edges().to_pandas().graph(directed=False))


@pytest.mark.parametrize("library", RESULTS)
@pytest.mark.parametrize("method", ALL)
def test_every_method(library, method):
    """A library's kinds of frames, whose results are of one kind, come by turns."""
    kinds = [kind for kind in KINDS if kind.partition(" ")[0] == library]
    kind = kinds[[*ALL].index(method) % len(kinds)]
    found = ALL[method](dask_graphgpu.graph(KINDS[kind](edges()), directed=False))
    assert isinstance(found, RESULTS[library])
    same(found, of_pandas(method))


TYPES = {
    "strings": lambda ids: pa.array([f"id {i}" for i in ids]),
    "large strings": lambda ids: pa.array([f"id {i}" for i in ids], pa.large_string()),
    "views": lambda ids: pa.array([f"id {i}, which is long" for i in ids], pa.string_view()),
    "dictionaries": lambda ids: pa.array([f"id {i}" for i in ids]).dictionary_encode(),
    "wide integers": lambda ids: pa.array(np.asarray(ids) << 40),
    "unsigned": lambda ids: pa.array(np.asarray(ids), pa.uint32()),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ids", TYPES)
def test_ids_of_every_type(kind, ids):
    given = edges(300, 90).select(["src", "dst"])
    made = pa.table({name: TYPES[ids](given[name].to_pylist()) for name in given.column_names})
    wanted = given.to_pandas().graph().weakly_connected_components()
    graph = dask_graphgpu.graph(KINDS[kind](made))
    found = pa.table(graph.weakly_connected_components()).to_pydict()
    place = dict(zip(TYPES[ids](range(90)).to_pylist(), range(90), strict=True))
    labels = {place[v]: place[c] for v, c in zip(found["vertex"], found["component"], strict=True)}
    groups = pd.Series(labels).groupby(pd.Series(labels)).groups.values()
    expected = wanted.groupby("component")["vertex"].groups.values()
    assert sorted(map(len, groups)) == sorted(map(len, expected))
    assert labels.keys() == set(wanted["vertex"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_graph_that_is_kept_gives_the_same_kind(kind):
    kept = dask_graphgpu.graph(KINDS[kind](edges())).persist()
    for _ in range(2):
        assert isinstance(kept.degree(), RESULTS[kind.partition(" ")[0]])
    same(kept.bfs(3), edges().to_pandas().graph().bfs(3))


@pytest.mark.parametrize("kind", ["polars", "duckdb", "pyarrow stream"])
def test_frames_of_vertices_and_arguments(kind):
    some = pa.table({"vertex": [3, 5, 9, 5000], "x": [0.5, 0.2, 0.1, 0.2]})
    graph = dask_graphgpu.graph(KINDS[kind](edges()), vertices=KINDS[kind](some))
    wanted = edges().to_pandas().graph(vertices=some.to_pandas())
    personal = some.rename_columns(["vertex", "p"])
    found = graph.pagerank(personalization=KINDS[kind](personal))
    same(found, wanted.pagerank(personalization=personal.to_pandas()))
    assert len(pa.table(found)) == 1001


def test_attributes_of_polars():
    made = pl.from_arrow(edges())
    same(made.graph.pagerank(), edges().to_pandas().graph.pagerank())
    same(made.lazy().graph(weight=None).bfs(3), edges().to_pandas().graph(weight=None).bfs(3))


def test_a_query_is_run_for_the_columns_that_are_needed():
    def refuse(frame):
        raise AssertionError("this column is not needed")

    made = pl.from_arrow(edges()).lazy()
    made = made.with_columns(x=pl.col("x").map_batches(refuse, return_dtype=pl.Float64))
    graph = dask_graphgpu.graph(made)
    assert "rows" not in repr(graph)
    same(graph.sssp(3), edges().to_pandas().graph().sssp(3))


@pytest.mark.parametrize(
    ("call", "runs"),
    [
        (repr, 0),
        (lambda graph: graph.bfs(3), 1),
        (lambda graph: graph.explain(), 1),
        (lambda graph: graph.persist(), 1),
        (lambda graph: graph.num_edges(), 1),
    ],
)
def test_a_query_is_run_once_by_a_call(call, runs):
    counted = []
    made = pl.from_arrow(edges()).lazy().map_batches(lambda f: counted.append(len(f)) or f)
    call(dask_graphgpu.graph(made))
    assert [n for n in counted if n] == [4000] * runs


def test_both_ends_of_pairs_are_of_one_run():
    """A query gives its rows in any order."""
    graph = dask_graphgpu.graph(pl.from_arrow(edges()), directed=False)
    pairs = pl.from_arrow(edges()).lazy().select("src", "dst").unique()
    found = graph.jaccard(pairs=pairs).select("src", "dst")
    assert set(found.rows()) == set(pairs.collect().rows())


def test_relations_of_a_connection_of_their_own():
    connection = duckdb.connect()
    table = edges()
    relation = connection.from_arrow(table)
    found = dask_graphgpu.graph(relation).pagerank()
    joined = relation.join(found, "src = vertex").aggregate("count(*)").fetchall()
    assert joined == [(4000,)]
    assert connection.sql("select count(*) from found").fetchall() == [(1000,)]
    assert connection.sql("show tables").fetchall() == []


def test_two_columns_of_one_name_in_a_relation():
    joined = duckdb.sql("select * from (values (1, 2)) a(src, dst), (values (7, 8)) b(src, dst)")
    with pytest.raises(InvalidEdges, match="2 columns named 'src'"):
        dask_graphgpu.graph(joined).bfs(1)


class Pandas(pd.DataFrame):
    @property
    def _constructor(self):
        return Pandas


class Polars(pl.DataFrame):
    """Of a user's own."""


def test_subclasses():
    frame = Pandas(edges().to_pandas()).assign(thing=[object()] * 4000)
    assert isinstance(dask_graphgpu.graph(frame).bfs(3), pd.DataFrame)
    assert isinstance(frame.graph().bfs(3), pd.DataFrame)
    assert isinstance(dask_graphgpu.graph(Polars(edges())).bfs(3), pl.DataFrame)


def test_values_of_vertices_that_are_kept():
    query = """
        select range as vertex, 0.5 as part, range = 3 as chosen, interval 1 day as lasts
        from range(1000)
    """
    graph = dask_graphgpu.graph(edges(), vertices=duckdb.sql(query)).persist()
    plain = edges().to_pandas().graph()
    same(graph.pagerank(personalization="part"), plain.pagerank())
    only = pd.DataFrame({"vertex": [3], "chosen": [1]})
    same(graph.pagerank(personalization="chosen"), plain.pagerank(personalization=only))


@pytest.mark.parametrize("lazy", [False, True])
def test_a_column_that_arrow_has_no_type_for(lazy):
    made = pl.from_arrow(edges()).with_columns(wide=pl.lit(1, pl.Int128))
    made = made.lazy() if lazy else made
    same(dask_graphgpu.graph(made).bfs(3), edges().to_pandas().graph().bfs(3))
    with pytest.raises(InvalidEdges, match=r"'wide' is of type decimal.*Int128 of polars"):
        dask_graphgpu.graph(made, weight="wide").sssp(3)
    with pytest.raises(InvalidEdges, match="ids of type decimal"):
        dask_graphgpu.graph(made, source="wide", destination="dst").bfs(3)
    with pytest.raises(InvalidEdges, match="'wide' is of type decimal"):
        dask_graphgpu.graph(made).persist(columns="wide")
    values = made.select(vertex=pl.col("wide"), part=pl.lit(1.0))
    with pytest.raises(InvalidVertices, match=r"personalization.*Int128 of polars"):
        dask_graphgpu.graph(edges()).pagerank(personalization=values)


def test_errors_name_what_was_given():
    graph = dask_graphgpu.graph(edges())
    with pytest.raises(InvalidArgument, match="source=<polars DataFrame>"):
        graph.bfs(pl.DataFrame({"vertex": [1]}))
    with pytest.raises(TypeError, match="did you mean source="):
        dask_graphgpu.graph(edges(), sourc="src")


def test_a_stream_is_read_once():
    reader = edges().to_reader(100)
    graph = dask_graphgpu.graph(reader)
    with pytest.raises(InvalidArgument, match=r"has been read .*read_all\(\)"):
        dask_graphgpu.graph(reader)
    wanted = edges().to_pandas().graph()
    same(graph.sssp(3), wanted.sssp(3))
    same(graph.degree(), wanted.degree())


def test_saved(tmp_path):
    dask_graphgpu.graph(pl.from_arrow(edges())).save(tmp_path / "saved")
    found = dask_graphgpu.load(tmp_path / "saved").bfs(3).compute()
    same(found, edges().to_pandas().graph().bfs(3))


def test_what_is_no_frame():
    for given in ([1, 2], pl.Series([1]), pa.array([1]), edges()["src"], {"src": [1]}, None):
        with pytest.raises(InvalidEdges, match="give a DataFrame of Dask, pandas, cuDF or polars"):
            dask_graphgpu.graph(given)
    with pytest.raises(InvalidEdges, match="heft"):
        dask_graphgpu.graph(edges(), weight="heft")


def test_a_series_of_sources_is_no_frame():
    graph = dask_graphgpu.graph(edges())
    same(graph.bfs(pl.Series([3, 5])), edges().to_pandas().graph().bfs([3, 5]))
    with pytest.raises(UnknownVertex, match="'a' is not a vertex"):
        graph.bfs(pl.Series(["a"]))
