"""What is written to an object store is what is read from there, in Python and on the command line."""

import dask.dataframe as dd
import duckdb
import fsspec
import pandas as pd
import polars as pl
import pyarrow.dataset
import pytest
import s3fs
from commands import call, refused
from object_places import EDGES, is_result, same

import dask_graphgpu as dg


def ranks(graph=None):
    found = (graph or EDGES.graph()).pagerank()
    return found.compute() if hasattr(found, "compute") else found


def test_result(store, tmp_path):
    words = ["pagerank", f"{store.url}/edges", "--output", f"{store.url}/out", *store.words]
    told = call(*words).stderr
    assert f"60 rows in {store.url}/out" in told
    assert is_result(store)
    same(pd.read_parquet(f"{store.url}/out", storage_options=store.options), ranks())
    again = call(*words, "--damping", "0.5", "--top", "3").stdout  # reads it back
    assert is_result(store)
    found = pd.read_parquet(f"{store.url}/out", storage_options=store.options)
    same(found, EDGES.graph().pagerank(damping=0.5))
    assert str(found["rank"].max())[:6] in again


def test_ids_of_the_result_that_is_replaced(store):
    words = ["weakly-connected-components", f"{store.url}/edges", "--output", f"{store.url}/out"]
    words += ["--keep-ids", f"{store.url}/out", "--changes", f"{store.url}/changes", *store.words]
    assert "no ids to keep yet" in call(*words).stderr
    before = pd.read_parquet(f"{store.url}/out", storage_options=store.options)
    more = pd.DataFrame({"src": [-1], "dst": [EDGES["src"][0]]})  # a smaller id than all
    more.to_parquet(f"{store.url}/edges/3.parquet", storage_options=store.options)
    assert "ids kept: " in call(*words).stderr
    found = pd.read_parquet(f"{store.url}/out", storage_options=store.options)
    same(found[found["vertex"] >= 0], before)
    changes = pd.read_parquet(f"{store.url}/changes", storage_options=store.options)
    assert changes["change"][changes["size_new"].idxmax()] == "grown"


def test_what_readers_see_that_know_nothing(s3, s3_server):
    call("degree", f"{s3.url}/edges", "--output", f"{s3.url}/out", *s3.words)
    s3.fs.pipe_file(f"{s3.url}/_out.graphgpu/{0:020d}-{0:016x}/_part-00000", b"half")
    folder, wanted = s3.url.removeprefix("s3://"), EDGES.graph().degree()
    same(dd.read_parquet(f"{s3.url}/out", storage_options=s3.options).compute(), wanted)
    same(pyarrow.dataset.dataset(f"{folder}/out", filesystem=s3.fs).to_table().to_pandas(), wanted)
    keys = {
        "aws_endpoint_url": s3_server.address,
        "aws_access_key_id": s3.options["key"],
        "aws_secret_access_key": s3.options["secret"],
        "aws_region": "us-east-1",
        "aws_allow_http": "true",
    }
    found = pl.scan_parquet(f"{s3.url}/out/*.parquet", storage_options=keys).collect()
    same(found.to_pandas(), wanted)
    same(pl.read_parquet(f"{s3.url}/out/", storage_options=keys).to_pandas(), wanted)
    with duckdb.connect() as database:
        database.register_filesystem(s3.fs)
        found = database.sql(f"from read_parquet('s3://{folder}/out/*.parquet')")
        same(found.df(), wanted)


def test_saved_graph(store):
    place, options = f"{store.url}/saved", {"storage_options": store.options}
    for number in (1, 2):
        assert EDGES.graph().save(place, **options) == place
        commits = [name for name in store.names("saved") if name.startswith("commit")]
        assert commits == [f"commit-{number:020d}.json"]
        assert len({name.split("/")[0] for name in store.names("saved")}) == 2
    graph = dg.load(place, verify=True, **options)
    assert f"mapped from {place}" in str(graph.explain())
    same(ranks(graph), ranks())
    same(ranks(graph), ranks())  # what was downloaded is gone; what is mapped is not
    told = call("degree", place, "--top", "2", *store.words).stdout
    assert len(told.splitlines()) == 3
    told = call("build", f"{store.url}/edges", "--output", place, *store.words).stderr
    assert f"400 edges and 60 vertices in {place}" in told


def test_checkpoint(store):
    place, options = f"{store.url}/kept", {"storage_options": store.options}
    kept = dg.Checkpoint(place, seconds=None, supersteps=2, **options)
    with pytest.raises(dg.errors.NotConverged):
        EDGES.graph().pagerank(tolerance=1e-9, max_iterations=5, checkpoint=kept)
    assert len(store.names("kept")) == 3  # a commit, a manifest, a part
    found = EDGES.graph().pagerank(tolerance=1e-9, checkpoint=kept, resume=True)
    going_on = dg.last_report()["supersteps"].sum()
    same(found, ranks9())
    assert going_on < dg.last_report()["supersteps"].sum()
    assert store.names("kept") == []


def ranks9():
    return EDGES.graph().pagerank(tolerance=1e-9)


def test_checkpoint_of_ranks(s3):
    place = dg.Checkpoint(f"{s3.url}/kept", None, 2, s3.options)
    frame = dd.from_pandas(EDGES, npartitions=4)
    with pytest.raises(dg.errors.NotConverged):
        frame.graph(ranks=2).pagerank(tolerance=1e-9, max_iterations=5, checkpoint=place).compute()
    assert len(s3.names("kept")) == 4
    going_on = frame.graph(ranks=3).pagerank(tolerance=1e-9, checkpoint=place, resume=True)
    same(going_on.compute(), ranks9())
    assert s3.names("kept") == []


def test_job_file(store):
    options = "".join(f'{k} = "{v}"\n' for k, v in (store.options or {}).items())
    text = f"""
        edges = "{store.url}/edges/*.parquet"
        vertices = "{store.url}/vertices"
        [storage_options]
        {options}
        [[step]]
        algorithm = "pagerank"
        personalization = "{store.url}/jumps.parquet"
        output = "{store.url}/ranks"
        report = "{store.url}/report.csv"
        checkpoint = "{store.url}/kept"
        [[step]]
        algorithm = "build"
        output = "{store.url}/saved"
        [[step]]
        algorithm = "degree"
        vertices = "{store.url}/ranks"
        output = "{store.url}/degrees"
    """
    given = {"storage_options": store.options}
    pd.DataFrame({"vertex": [0, 99]}).to_parquet(f"{store.url}/vertices/0.parquet", **given)
    jumps = pd.DataFrame({"vertex": [0], "p": [1.0]})
    jumps.to_parquet(f"{store.url}/jumps.parquet", **given)
    with fsspec.open(f"{store.url}/job.toml", "w", **(store.options or {})) as file:
        file.write(text)
    told = call("run", f"{store.url}/job.toml", *store.words).stderr
    assert [line.split(":")[0] for line in told.splitlines()] == ["pagerank", "build", "degree"]
    found = pd.read_parquet(f"{store.url}/ranks", **given)
    assert 99 in set(found["vertex"])
    assert found["rank"].idxmax() == found.index[found["vertex"] == 0][0]
    report = pd.read_csv(f"{store.url}/report.csv", **given)
    assert len(report) > 3
    assert len(pd.read_parquet(f"{store.url}/degrees", **given)) == 61
    assert store.names("kept") == []


def test_credentials_of_the_environment(s3, s3_server, monkeypatch):
    s3fs.S3FileSystem.clear_instance_cache()  # one that has seen no credentials
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    call("degree", f"{s3.url}/edges", "--output", f"{s3.url}/out")
    assert is_result(s3)


def test_file_urls(tmp_path):
    EDGES.to_parquet(tmp_path / "edges.parquet")
    call("degree", f"file://{tmp_path}/edges.parquet", "--output", f"file://{tmp_path}/out")
    same(pd.read_parquet(tmp_path / "out"), EDGES.graph().degree())
    EDGES.graph().save(f"file://{tmp_path}/saved")
    same(ranks(dg.load(f"file://{tmp_path}/saved")), ranks())


def test_what_would_be_overwritten(store):
    words = ["degree", f"{store.url}/edges", *store.words, "--output"]
    assert "is the edges" in refused(*words, f"{store.url}/edges", code=2)
    assert "contains the edges" in refused(*words, store.url, code=2)
    assert "lies within the edges" in refused(*words, f"{store.url}/edges/x", code=2)
    call(*words, f"{store.url}/out")
    store.fs.pipe_file(f"{store.url}/out/_SUCCESS", b"")
    line = refused(*words, f"{store.url}/out", code=1)
    assert "is not a result of dask_graphgpu: it holds _SUCCESS." in line
    EDGES.to_parquet(f"{store.url}/foreign/result.parquet", storage_options=store.options)
    assert "it holds result.parquet" in refused(*words, f"{store.url}/foreign", code=1)
    with pytest.raises(dg.errors.OutputError, match="is not a saved graph"):
        EDGES.graph().save(f"{store.url}/out", storage_options=store.options)
    kept = dg.Checkpoint(f"{store.url}/out", storage_options=store.options)
    with pytest.raises(dg.errors.OutputError, match="is not a checkpoint"):
        EDGES.graph().pagerank(checkpoint=kept)
