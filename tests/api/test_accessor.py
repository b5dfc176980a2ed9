"""`.graph` itself: its life, its methods, what it explains and reports; on other processes."""

import dataclasses
import gc
import inspect
import re
import subprocess
import sys
import weakref

import dask
import dask.dataframe as dd
import pandas as pd
import pytest
from accessor_calls import CALLS, EDGES, NULL, rows, same
from cluster_cases import addresses, started
from commands import with_package
from engines import of_one_rank
from strategies import partitioned

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.algorithms import ALGORITHMS, Resumable

ENVIRONMENT = with_package()
# These run many programs, or some of a superstep or two, and keep nothing.
KEEP_NOTHING = "neighbor_aggregate partition_quality k_shortest_paths distances fastrp".split()


def test_explain(folder):
    graph = dd.read_parquet(folder).graph(duplicates="min")
    before = graph.explain()
    assert (before.rows, before.vertices, before.exact) == (5, 10, False)
    assert "5 rows of src -> dst, weights in weight" in str(before)
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


@pytest.mark.parametrize("name", ALGORITHMS)
def test_methods_show_all_that_they_take(name):
    """To `inspect`, `help`, completion and the reference, of a class, a graph and a frame."""
    kind = ALGORITHMS[name]
    method, keeps = getattr(dg.Graph, name), issubclass(kind, Resumable)
    shared = ["columns", *["checkpoint", "resume"] * keeps]
    fields = sorted(dataclasses.fields(kind), key=lambda field: field.kw_only)
    own = [each.name for each in fields if each.name not in shared]
    assert method.__name__ == name
    assert next(iter(inspect.signature(method).parameters)) == "self"
    assert name in dir(EDGES.graph)
    for bound in (getattr(EDGES.graph(), name), getattr(EDGES.graph, name)):
        shown = inspect.signature(bound)
        assert list(shown.parameters) == [*own, *shared]
        needed = [p.name for p in shown.parameters.values() if p.default is p.empty]
        for each in dataclasses.fields(kind):
            assert (each.name in needed) == (each.default is dataclasses.MISSING)
        assert shown.return_annotation == "DataFrame"
        assert all(p.annotation is not p.empty for p in shown.parameters.values())
        for parameter in shown.parameters:
            assert re.search(
                rf"^({parameter}|\w+, {parameter}) : |^{parameter}$", bound.__doc__, re.M
            ), parameter
        assert "\nReturns\n-------\n" in bound.__doc__
    assert keeps == ("run" in engine_functions_of(kind)) or name in KEEP_NOTHING


def engine_functions_of(kind):
    """What it asks of an engine, made without arguments."""
    return object.__new__(kind).engine_functions()


def test_the_accessor_shows_the_options_of_graphs():
    shown = inspect.signature(EDGES.graph)
    assert list(shown.parameters) == list(inspect.signature(dg.Graph).parameters)[1:]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: EDGES.graph(source="src", target="dst"),
            r"did you mean destination=\?\); it is called",
        ),
        (
            lambda: EDGES.graph("src", "dst"),
            r"too many .*graph\(\*, source=<by name>, destination=",
        ),
        (lambda: EDGES.graph().pagerank(alpha=0.5), "did you mean damping="),
        (lambda: EDGES.graph().pagerank(dampin=0.5), "did you mean damping="),
        (lambda: EDGES.graph().pagerank(max_iter=5), "did you mean max_iterations="),
        (
            lambda: EDGES.graph().degree(what=5),
            r"'what'; it is called as degree\(\*, columns=None\)",
        ),
    ],
)
def test_mistaken_arguments_get_the_call_and_a_guess(call, words):
    with pytest.raises(TypeError, match=words):
        call()


# A cluster


@pytest.fixture(scope="module")
def client():
    with started(2) as client:
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


def test_a_graph_says_how_large_and_where_it_is(tmp_path):
    lazy = partitioned(EDGES, 2).graph(directed=False)
    assert (
        repr(EDGES.graph()) == "<Graph: src -> dst, weights in weight, directed, 5 rows, not built>"
    )
    assert repr(lazy) == "<Graph: src -> dst, weights in weight, undirected, not built>"
    assert repr(lazy.persist()).endswith("undirected, persisted>")
    for ranks in (1, 2):
        kept = EDGES.graph().persist(ranks=ranks)
        assert repr(kept).endswith("directed, 5 rows, 6 vertices, persisted>")
    lazy.save(tmp_path / "saved")
    assert repr(dg.load(tmp_path / "saved")).endswith(f"undirected, saved in {tmp_path / 'saved'}>")
    assert "built by" not in str(lazy.persist().explain())
    assert "the graph is built when a method runs" in str(lazy.explain())


@pytest.mark.parametrize("directed", [True, False])
def test_numbers_of_vertices_and_edges(directed, tmp_path):
    edges = pd.DataFrame({"src": [7, 7, 7, 9, 3, 3], "dst": [9, 9, 7, 7, 5, 9]})
    for frame in (edges, partitioned(edges, 2)):
        for options in ({}, {"ranks": 2}):
            graph = frame.graph(directed=directed, **options)
            saved = dg.load(graph.save(tmp_path / "saved"))
            for each in (graph, graph.persist(), saved):
                assert (each.num_vertices(), each.num_edges()) == (4, 6)
        graph = frame[frame["src"] > 100].graph(directed=directed)
        assert (graph.num_vertices(), graph.num_edges()) == (0, 0)


def test_notebooks_show_tables():
    graph = EDGES.rename(columns={"src": "<b>"}).graph(source="<b>", destination="dst")
    for shown in (graph, graph.explain()):
        html = shown._repr_html_()
        assert html.startswith("<div")
        assert html.endswith("</div>")
        assert "&lt;b&gt; -&gt; dst" in html
        assert "<b>" not in html


def test_completion_offers_what_is_public():
    assert dir(dg) == sorted(dg.__all__)
    assert dg.graphs.Graph is dg.Graph  # what is not offered is there


@of_one_rank  # in a worker
@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_last_report_is_of_the_run_on_the_cluster(client):
    EDGES.graph().core_number()
    for edges in (partitioned(EDGES, 3), partitioned(EDGES, 3).iloc[:, :2]):
        found = edges.graph().bfs(0).compute()
        assert len(found) == 6
        report = dg.last_report()
        assert report.attrs["algorithm"] == "bfs"
        assert report["edges"].sum() > 0
    EDGES.graph().core_number()
    assert dg.last_report().attrs["algorithm"] == "core_number"
    partitioned(EDGES.iloc[:0], 3).graph().degree().compute()
    assert dg.last_report().attrs["algorithm"] == "degree"
    code = (
        "import dask_graphgpu as dg, pandas as pd, dask.dataframe as dd, distributed\n"
        "edges = pd.DataFrame({'src': [0], 'dst': [1]})\n"
        "edges.graph.core_number()\n"
        f"with distributed.Client({client.scheduler.address!r}):\n"
        "    dd.from_pandas(edges, npartitions=2).graph.bfs(0).compute()\n"
        "    assert dg.last_report().attrs['algorithm'] == 'bfs'\n"
        "try:\n"
        "    dg.last_report()\n"
        "except dg.errors.GraphError as error:\n"
        "    assert 'its client is closed' in str(error), error\n"
        "else:\n"
        "    raise AssertionError('it is the report of another run')\n"
        "edges.graph.degree()\n"
        "assert dg.last_report().attrs['algorithm'] == 'degree'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=100, env=ENVIRONMENT)


@of_one_rank  # on two workers
@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_a_kept_graph_may_move_between_workers(client):
    """A partition is sent when a worker other than its own runs a method on it."""
    kept = partitioned(EDGES, 3).graph().persist()
    wanted = EDGES.graph.core_number()["core_number"].tolist()
    for address in addresses(client):
        found = client.compute(kept.core_number(), workers=[address], allow_other_workers=False)
        assert found.result()["core_number"].tolist() == wanted
