"""What `.graph` on Dask frames reads and builds, and when."""

import dask
import dask.dataframe as dd
import pandas as pd
import pytest
from accessor_calls import CALLS, EDGES, NULL, each_call, rows, same
from strategies import partitioned

import dask_graphgpu as dg
from dask_graphgpu import errors


def refuse(graph, keys, **kwargs):
    raise AssertionError(f"tasks run: {keys}")


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


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "how",
    [{"scheduler": "sync"}, {"scheduler": "threads", "num_workers": 1}, {"scheduler": "threads"}],
)
@pytest.mark.parametrize(
    ("names", "built", "reads"),
    [
        (("bfs predecessor", "degree", "core_number"), 1, 1),
        (("bfs", "bfs cutoff", "bfs"), 1, 1),  # searches share rows that nobody sorts
        (("bfs", "degree", "core_number"), 2, 2),
        (("degree", "wcc", "core_number", "wcc"), 1, 2),  # components share a list of edges
    ],
)
def test_results_computed_together_share_the_partition(
    how, names, built, reads, folder, builds, columns_read
):
    graph = dd.read_parquet(folder).graph()
    calls = {**CALLS, "bfs cutoff": lambda graph: graph.bfs(0, cutoff=1)}
    results = [calls[name](graph) for name in names]
    together = dask.compute(*results, **how)
    assert len(builds) == built
    assert len(columns_read) == 3 * reads
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


def test_a_kept_graph_is_used_where_results_of_its_frame_are_held(folder, builds):
    graph = dd.read_parquet(folder).graph()
    lazy = graph.sssp(0)  # reads what is kept
    kept = graph.persist()
    assert kept.sssp(0)._name != lazy._name  # or Dask would take them for one
    assert same(kept.sssp(0), EDGES.graph.sssp(0))
    assert len(builds) == 2  # that of pandas' frame
