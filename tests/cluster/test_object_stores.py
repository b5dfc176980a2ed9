"""Workers in processes of their own write to and read from an object store."""

import dask.dataframe as dd
import pandas as pd
import pytest
from object_places import EDGES, Here, is_result, same
from object_server import BUCKET, server

import dask_graphgpu as dg
from dask_graphgpu.io.output import write_parquet


@pytest.fixture(scope="module")
def s3():
    pytest.importorskip("s3fs")
    pytest.importorskip("moto")
    with server() as made:
        yield Here(f"s3://{BUCKET}/cluster", made.options, made.fs)


def test_results_are_written_by_workers(client, s3):
    edges = dd.read_parquet(f"{s3.url}/edges", storage_options=s3.options)
    write_parquet(edges.graph(ranks=2).degree(), f"{s3.url}/out", s3.options)
    assert is_result(s3)
    found = pd.read_parquet(f"{s3.url}/out", storage_options=s3.options)
    same(found, EDGES.graph().degree())


def test_saved_graphs(client, s3):
    edges = dd.read_parquet(f"{s3.url}/edges", storage_options=s3.options)
    place = edges.graph().save(f"{s3.url}/saved", storage_options=s3.options)
    graph = dg.load(place, storage_options=s3.options)
    same(graph.pagerank().compute(), EDGES.graph().pagerank())
    assert s3.options["secret"] not in str(graph.pagerank().dask)


def test_checkpoints(client, s3):
    edges = dd.read_parquet(f"{s3.url}/edges", storage_options=s3.options).graph(ranks=2)
    kept = {"checkpoint": dg.Checkpoint(f"{s3.url}/kept", None, 2, s3.options)}
    with pytest.raises(dg.errors.NotConverged):
        edges.pagerank(tolerance=1e-9, max_iterations=5, **kept).compute()
    assert len(s3.names("kept")) == 4  # a commit, a manifest, a part of each rank
    found = edges.pagerank(tolerance=1e-9, resume=True, **kept).compute()
    same(found, EDGES.graph().pagerank(tolerance=1e-9))
    assert s3.names("kept") == []


def test_memory_is_not_shared(client):
    edges = dd.from_pandas(EDGES, npartitions=2)
    with pytest.raises(dg.errors.OutputError, match="there is no object or folder memory://apart"):
        write_parquet(edges.graph().degree(), "memory://apart/out")
