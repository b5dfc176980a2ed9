"""`.graph` on Dask and pandas frames: defaults, laziness, what is read, what comes back."""

import gc
import weakref

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from engines import of_one_rank
from strategies import partitioned

import dask_graphgpu as dg
from dask_graphgpu import errors, ingest
from dask_graphgpu.cluster import tasks
from dask_graphgpu.io import parquet

EDGES = pd.DataFrame(
    {
        "src": [0, 1, 2, 0, 4],
        "dst": [1, 2, 3, 2, 5],
        "weight": [1, 1, 1, 5, 1],
        "color": ["r", "g", "b", "r", "g"],
        "toll": [0.5, 0.5, 0.5, 0.5, 0.5],
    }
)
NULL = pd.NA

CALLS = {
    "bfs": lambda g: g.bfs(0),
    "bfs predecessor": lambda g: g.bfs([0, 1], predecessor=True, target=[3, 2], cutoff=5),
    "sssp": lambda g: g.sssp(0, predecessor=True),
    "pagerank": lambda g: g.pagerank(),
    "wcc": lambda g: g.weakly_connected_components(),
    "core_number": lambda g: g.core_number(),
    "k_core": lambda g: g.k_core(2),
    "degree": lambda g: g.degree(),
}
each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


@pytest.fixture
def folder(tmp_path):
    """The edges as three Parquet files."""
    partitioned(EDGES, 3).to_parquet(tmp_path / "edges", write_index=False)
    return tmp_path / "edges"


@pytest.fixture
def columns_read(monkeypatch):
    """The columns that every read of a row group asked for."""
    asked = []
    read = parquet.pq.ParquetFile.read_row_group

    def spy(self, group, columns=None, **kwargs):
        asked.append(columns)
        return read(self, group, columns=columns, **kwargs)

    monkeypatch.setattr(parquet.pq.ParquetFile, "read_row_group", spy)
    return asked


@pytest.fixture
def builds(monkeypatch):
    """One entry for each graph that was built."""
    made = []

    def spied(build):
        def spy(*args):
            made.append(args)
            return build(*args)

        return spy

    monkeypatch.setattr(ingest, "build", spied(ingest.build))
    monkeypatch.setattr(tasks, "_build_here", spied(tasks._build_here))  # with `--ranks`
    return made


def refuse(graph, keys, **kwargs):
    raise AssertionError(f"tasks run: {keys}")


def rows(frame):
    frame = frame.compute() if hasattr(frame, "compute") else frame
    return frame.reset_index(drop=True)


def same(a, b):
    """Whether two results have the same values, of NumPy or Arrow types; ranks to a rounding."""
    a, b = rows(a), rows(b)
    assert a.columns.tolist() == b.columns.tolist()
    if "rank" in a:
        return np.allclose(a["rank"].tolist(), b["rank"].tolist(), rtol=1e-12, atol=0)
    return all(a[name].tolist() == b[name].tolist() for name in a.columns)


# Defaults and names


@pytest.mark.parametrize("names", [("src", "dst"), ("source", "destination")])
@pytest.mark.parametrize("parts", [None, 2])
def test_default_columns(names, parts):
    frame = EDGES.rename(columns=dict(zip(["src", "dst"], names, strict=True)))
    given = frame if parts is None else partitioned(frame, parts)
    assert rows(given.graph.bfs(0))["distance"].tolist() == [0, 1, 1, 2, NULL, NULL]
    assert rows(given.graph.sssp(0))["distance"].tolist() == [0, 1, 2, 3, NULL, NULL]
    assert rows(given.graph().k_core(2)).columns.tolist() == [*names, "weight"]


def test_src_and_dst_come_before_source_and_destination():
    frame = EDGES.assign(source=7, destination=8)
    assert frame.graph.bfs(0)["vertex"].tolist() == [0, 1, 2, 3, 4, 5]
    other = frame.graph(source="source", destination="destination")
    assert other.bfs(7)["vertex"].tolist() == [7, 8]
    assert repr(other) == "<Graph: source -> destination, weight weight, directed>"


def test_named_columns():
    frame = EDGES.rename(columns={"src": "from", "dst": "to", "weight": "km"})
    graph = frame.graph(source="from", destination="to", weight="km", directed=False)
    assert graph.sssp(3)["distance"].tolist() == [3, 2, 1, 0, NULL, NULL]
    assert graph.k_core(1).columns.tolist() == ["from", "to", "km"]
    turned = frame.graph(source="to", destination="from", weight="toll")
    assert turned.sssp(3)["distance"].tolist() == [1.0, 1.0, 0.5, 0.0, NULL, NULL]


def test_without_weights():
    assert EDGES.graph(weight=None).k_core(1).columns.tolist() == ["src", "dst"]
    plain = EDGES.graph(weight=None).pagerank()["rank"]
    np.testing.assert_allclose(plain, EDGES.graph.pagerank(weighted=False)["rank"])
    assert not np.allclose(plain, EDGES.graph.pagerank()["rank"])


# The columns of user frames do not get in the way of those of results.
@pytest.mark.parametrize(
    "names",
    [
        ("vertex", "distance"),
        ("distance", "predecessor"),
        ("predecessor", "source"),
        ("weight", "rank"),
        ("index", "level_0"),
        ("", " "),
        ("a b", "ü"),
        ("edge_weight", "id"),
    ],
)
@pytest.mark.parametrize("parts", [None, 2])
def test_columns_with_the_names_of_results(names, parts):
    frame = EDGES[["src", "dst"]].set_axis(names, axis=1).assign(w=EDGES["weight"])
    given = frame if parts is None else partitioned(frame, parts)
    graph = given.graph(source=names[0], destination=names[1], weight="w")
    found = rows(graph.sssp(0, predecessor=True))
    assert found.columns.tolist() == ["vertex", "distance", "predecessor"]
    assert found["distance"].tolist() == [0, 1, 2, 3, NULL, NULL]
    assert rows(graph.k_core(2)).columns.tolist() == [*names, "w"]


@pytest.mark.parametrize("parts", [None, 2])
def test_the_index_means_nothing(parts):
    for index in (
        EDGES["dst"].rename("src"),
        pd.Index([3, 3, 3, 3, 3]),
        pd.MultiIndex.from_arrays([[1] * 5, list("abcde")], names=["src", "x"]),
    ):
        frame = EDGES.set_axis(index, axis=0)
        if parts and isinstance(index, pd.MultiIndex):
            continue  # Dask has none
        given = frame if parts is None else partitioned(frame, parts)
        assert rows(given.graph.sssp(0))["distance"].tolist() == [0, 1, 2, 3, NULL, NULL]


def test_columns_whose_names_are_not_strings():
    frame = EDGES[["src", "dst", "weight"]].set_axis([0, 1, "weight"], axis=1)
    with pytest.raises(errors.InvalidEdges, match=r"has \['0', '1', 'weight'\]"):
        frame.graph.bfs(0)
    extra = EDGES.assign(**{"1": 5}).rename(columns={"1": 1})
    assert extra.graph.bfs(0)["distance"].tolist() == [0, 1, 1, 2, NULL, NULL]
    assert rows(partitioned(extra, 2).graph.bfs(0))["vertex"].tolist() == [0, 1, 2, 3, 4, 5]


# Laziness


@each_call
def test_no_task_runs_before_compute(call, folder, columns_read):
    with dask.config.set(scheduler=refuse):
        frame = dd.read_parquet(folder)
        for graph in (frame.graph(), frame[frame["weight"] < 9].graph(directed=False)):
            result = call(graph)
            assert isinstance(result, dd.DataFrame)
            assert len(result.columns) == len(result.dtypes) > 1
            assert "vertex" in result.columns or "src" in result.columns
            result = result[result.columns[:1]].rename(columns=str.upper)
        graph.explain()
        repr(graph)
        with pytest.raises(AssertionError, match="tasks run"):
            result.compute()
    assert not columns_read


@each_call
def test_partitions_are_as_declared(call, folder):
    frame = dd.read_parquet(folder)
    result = call(frame.graph())
    assert result.npartitions == frame.npartitions == 3
    pieces = dask.compute(*result.to_delayed())
    assert len(pieces) == 3
    for piece in pieces:
        pd.testing.assert_series_equal(piece.dtypes, result.dtypes)
    assert sum(map(len, pieces)) == len(rows(call(EDGES.graph())))


@each_call
@pytest.mark.parametrize("parts", [1, 2, 7])
def test_pandas_and_dask_frames_give_the_same(call, parts):
    now = call(EDGES.graph())
    assert type(now) is pd.DataFrame
    later = rows(call(partitioned(EDGES, parts).graph()))
    pd.testing.assert_frame_equal(now, later)


@pytest.mark.parametrize(
    ("call", "columns"),
    [
        ("bfs", ["src", "dst"]),
        ("wcc", ["src", "dst"]),
        ("core_number", ["src", "dst"]),
        ("degree", ["src", "dst"]),
        ("sssp", ["src", "dst", "weight"]),
        ("pagerank", ["src", "dst", "weight"]),
        ("k_core", ["src", "dst", "weight"]),
    ],
)
def test_only_what_is_needed_is_read(call, columns, folder, columns_read):
    CALLS[call](dd.read_parquet(folder).graph()).compute()
    assert columns_read == [columns] * 3


def test_a_program_reads_its_edge_columns(folder, columns_read):
    program = dg.VertexProgram(
        state={"cost": dg.Field("float64", initial=None, at_source=0.0)},
        compute=lambda source_cost, edge_toll: source_cost + edge_toll,
        combine="min",
    )
    graph = dd.read_parquet(folder).graph()
    found = graph.run(program, source=0).compute()
    assert found["cost"].tolist() == [0.0, 0.5, 0.5, 1.0, NULL, NULL]
    assert columns_read == [["src", "dst", "toll"]] * 3
    with pytest.raises(errors.InvalidArgument, match=r"persist\(columns=\['toll'\]\)"):
        graph.persist().run(program, source=0)
    kept = graph.persist(columns="toll")
    assert kept.run(program, source=0).compute()["cost"].tolist() == found["cost"].tolist()


def test_other_frames_are_projected_too():
    asked = []

    def load(i, columns=None):
        asked.append(columns)
        return EDGES if columns is None else EDGES[columns]

    frame = dd.from_map(load, [0, 1], meta=EDGES.iloc[:0], enforce_metadata=False)
    frame.graph.bfs(0).compute(scheduler="sync")
    assert asked == [["src", "dst"]] * 2


def test_a_frame_that_computes(folder):
    """Filters, new columns, concatenations: what is not bare Parquet goes through the frame."""
    frame = dd.read_parquet(folder)
    light = frame[frame["weight"] < 5]
    assert light.graph.degree().compute()["degree"].tolist() == [1, 2, 2, 1, 1, 1]
    double = frame.assign(weight=frame["weight"] * 2)
    assert double.graph.sssp(0).compute()["distance"].tolist() == [0, 2, 4, 6, NULL, NULL]
    renamed = frame.rename(columns={"src": "dst", "dst": "src"})
    assert renamed.graph.bfs(3).compute()["distance"].tolist() == [2, 2, 1, 0, NULL, NULL]
    both = dd.concat([frame, frame])
    assert both.graph(duplicates="sum").sssp(0).compute()["distance"].tolist()[:4] == [0, 2, 4, 6]
    assert frame.partitions[0].graph.degree().compute()["vertex"].tolist() == [0, 1]
    assert frame.partitions[1:].graph.degree().compute()["degree"].tolist() == [1, 1, 3, 1, 1, 1]


def test_a_frame_filtered_while_it_is_read(folder):
    frame = dd.read_parquet(folder, filters=[("weight", "<", 5)])
    assert frame.graph.degree().compute()["degree"].tolist() == [1, 2, 2, 1, 1, 1]


def test_files_that_changed_since_are_read_again(folder):
    before = dd.read_parquet(folder).graph.degree()
    assert len(before.compute()) == 6
    new = EDGES.assign(src=EDGES["src"] + 10)
    partitioned(new, 3).to_parquet(folder, write_index=False, overwrite=True)
    after = dd.read_parquet(folder).graph.degree()
    assert after.compute()["vertex"].tolist() == [1, 2, 3, 5, 10, 11, 12, 14]


# Several results at once


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "how",
    [{"scheduler": "sync"}, {"scheduler": "threads", "num_workers": 1}, {"scheduler": "threads"}],
)
def test_results_computed_together_share_the_partition(how, folder, builds, columns_read):
    graph = dd.read_parquet(folder).graph()
    results = [CALLS[name](graph) for name in ("bfs", "bfs predecessor", "wcc", "core_number")]
    together = dask.compute(*results, **how)
    assert len(builds) == 1
    assert len(columns_read) == 3
    for frame, result in zip(together, results, strict=True):
        pd.testing.assert_frame_equal(frame, result.compute())


@pytest.mark.timeout(60)
def test_results_of_all_methods_on_one_thread(folder):
    graph = dd.read_parquet(folder).graph()
    results = dask.compute(*(call(graph) for call in CALLS.values()), num_workers=1)
    for found, call in zip(results, CALLS.values(), strict=True):
        assert same(found, call(EDGES.graph()))


def test_persist_builds_once(folder, builds):
    wanted = [call(EDGES.graph()) for call in CALLS.values()]
    builds.clear()
    graph = dd.read_parquet(folder).graph().persist()
    assert len(builds) == 1
    for call, now in zip(CALLS.values(), wanted, strict=True):
        assert same(call(graph), now)
    assert len(builds) == 1
    kept = EDGES.graph().persist()
    assert kept.sssp(0)["distance"].tolist() == [0, 1, 2, 3, NULL, NULL]
    assert kept.bfs(0)["distance"].tolist() == [0, 1, 1, 2, NULL, NULL]
    assert len(builds) == 2
    assert EDGES.graph.persist().degree()["degree"].sum() == 10


def test_a_result_is_a_frame_like_any_other(folder, tmp_path):
    found = dd.read_parquet(folder).graph.bfs(0)
    near = found[found["distance"] < 2].nsmallest(2, "distance")
    assert near.compute()["vertex"].tolist() in ([0, 1], [0, 2])
    found.to_parquet(tmp_path / "out", write_index=False)
    again = pd.read_parquet(tmp_path / "out")
    assert again["distance"].isna().sum() == 2
    joined = found.merge(dd.read_parquet(folder), left_on="vertex", right_on="src")
    assert len(joined.compute()) == 5
    sizes = dd.read_parquet(folder).graph.weakly_connected_components()
    assert sizes.groupby("component").size().compute().to_dict() == {0: 4, 4: 2}


# What results are made of


def test_numpy_frames_give_masked_columns():
    found = EDGES.graph.sssp(0, predecessor=True)
    assert found.dtypes.astype(str).tolist() == ["int64", "Int64", "Int64"]
    floats = EDGES.graph(weight="toll").sssp(0)
    assert floats.dtypes.astype(str).tolist() == ["int64", "Float64"]
    assert EDGES.graph.bfs(0)["distance"].dtype == "Int64"
    assert EDGES.graph.pagerank()["rank"].dtype == "float64"
    assert EDGES.graph.pagerank(dtype="float32")["rank"].dtype == "float32"
    assert EDGES.graph.core_number()["core_number"].dtype == "int64"
    assert EDGES.graph.degree().dtypes.astype(str).tolist() == ["int64"] * 4


@pytest.mark.parametrize("parts", [None, 2])
def test_arrow_frames_give_arrow_columns(parts):
    arrow = EDGES.convert_dtypes(dtype_backend="pyarrow")
    given = arrow if parts is None else partitioned(arrow, parts)
    for name, call in CALLS.items():
        found = rows(call(given.graph()))
        for dtype in found.dtypes:
            assert isinstance(dtype, pd.ArrowDtype), (name, found.dtypes)
        assert same(found, call(EDGES.graph()))
    assert given.graph.bfs(0)["distance"].dtype == pd.ArrowDtype(pa.int64())


def test_float_weights_of_all_widths():
    for dtype in ("float16", "float32", "float64", "Float32", pd.ArrowDtype(pa.float32())):
        frame = EDGES.astype({"weight": dtype})
        assert rows(frame.graph.sssp(0))["distance"].tolist() == [0, 1, 2, 3, NULL, NULL]


# Vertices


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


# explain and last_report


def test_explain(folder):
    graph = dd.read_parquet(folder).graph(duplicates="min")
    before = graph.explain()
    assert (before.rows, before.vertices, before.exact) == (5, 10, False)
    assert "5 rows of src -> dst, weight weight" in str(before)
    assert "<= 10" in str(before)
    assert "min" in before.duplicates
    after = graph.persist().explain()
    assert (after.rows, after.vertices, after.exact) == (5, 6, True)
    assert after.bytes > 0
    assert "<=" not in str(after)
    assert after.order == "of the ids"
    assert str(EDGES.graph.explain()).startswith("edges       5 rows")
    assert EDGES.graph(order="degree").persist().explain().order == "falling degree"
    assert partitioned(EDGES, 2).graph.explain().rows is None
    assert "unknown" in str(partitioned(EDGES, 2).graph.explain())


def test_last_report():
    found = EDGES.graph.bfs(0)
    report = dg.last_report()
    assert report.attrs["algorithm"] == "bfs"
    assert report.columns.tolist() == [
        *["superstep", "direction", "supersteps", "frontier", "edges", "bytes", "seconds"]
    ]
    assert len(report) >= 1
    assert report["supersteps"].sum() >= found["distance"].max()
    assert (report["seconds"] >= 0).all()
    EDGES.graph.pagerank(tolerance=0, max_iterations=7)
    report = dg.last_report()
    assert report.attrs["algorithm"] == "pagerank"
    assert report["supersteps"].sum() == 7
    assert report["superstep"].iloc[0] == 1


# The accessor itself


def test_the_accessor_keeps_no_frame_alive():
    frame = partitioned(EDGES, 2).persist()
    result = frame.graph.bfs(0)
    dead = weakref.ref(frame)
    gc.collect()
    gc.disable()
    try:
        del frame
        assert dead() is None
    finally:
        gc.enable()
    assert len(result.compute()) == 6


def test_the_accessor_sees_columns_that_came_later():
    frame = partitioned(EDGES.drop(columns="weight"), 2)
    with pytest.raises(errors.InvalidArgument, match="needs weights"):
        frame.graph.sssp(0)
    frame["weight"] = 2
    assert frame.graph.sssp(0).compute()["distance"].tolist() == [0, 2, 2, 4, NULL, NULL]
    plain = EDGES.drop(columns="weight")
    assert plain.graph.bfs(0)["distance"].tolist()[:4] == [0, 1, 1, 2]
    plain["weight"] = 2
    assert plain.graph.sssp(0)["distance"].tolist() == [0, 2, 2, 4, NULL, NULL]


def test_an_accessor_outlives_its_frame():
    accessor = partitioned(EDGES, 2).graph
    gc.collect()
    assert len(accessor.bfs(0).compute()) == 6


def test_methods_have_names_signatures_and_documentation():
    import inspect

    accessor = EDGES.graph
    for name in ("bfs", "sssp", "pagerank", "core_number", "k_core", "degree", "run"):
        method = getattr(dg.Graph, name)
        assert name in dir(accessor)
        assert method.__name__ == name
        assert "Returns" in method.__doc__
    parameters = list(inspect.signature(dg.Graph.sssp).parameters)
    assert parameters == ["source", "target", "cutoff", "predecessor"]


# A cluster


@pytest.fixture(scope="module")
def client():
    from distributed import Client

    with Client(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as client:
        yield client


@of_one_rank  # on two workers
@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_on_workers_in_other_processes(client, tmp_path):
    partitioned(EDGES, 3).to_parquet(tmp_path / "edges", write_index=False)
    graph = dd.read_parquet(tmp_path / "edges").graph()
    wanted = [rows(call(EDGES.graph())) for call in CALLS.values()]
    kept = graph.persist()
    for found in (
        dask.compute(*(call(graph) for call in CALLS.values())),
        dask.compute(*(call(kept) for call in CALLS.values())),
    ):
        assert all(same(frame, plain) for frame, plain in zip(found, wanted, strict=True))
    assert kept.explain().vertices == 6
    with pytest.raises(errors.UnknownVertex, match="77 is not a vertex"):
        graph.bfs(77).compute()


@of_one_rank  # on two workers
@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_a_kept_graph_may_move_between_workers(client):
    """A partition is sent when a worker other than its own runs a method on it."""
    kept = partitioned(EDGES, 3).graph().persist()
    wanted = EDGES.graph.core_number()["core_number"].tolist()
    for address in client.scheduler_info()["workers"]:
        found = client.compute(kept.core_number(), workers=[address], allow_other_workers=False)
        assert found.result()["core_number"].tolist() == wanted
