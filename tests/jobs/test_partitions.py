"""Partitions of results: as many as asked for, in jobs not more than the edges are large."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from commands import call, refused

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.jobs import step_graph

RNG = np.random.default_rng(2)
EDGES = pd.DataFrame(RNG.integers(0, 200, (800, 2)), columns=["src", "dst"])
PARTS = dd.from_pandas(EDGES, npartitions=8)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges").mkdir()
    for i in range(8):
        EDGES[100 * i : 100 * (i + 1)].to_parquet(f"edges/{i}.parquet")
    return tmp_path


def parts(folder):
    return [len(pd.read_parquet(file)) for file in sorted(folder.glob("*.parquet"))]


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("number", [1, 3, 20])
def test_of_a_graph(ranks, number, tmp_path):
    wanted = EDGES.graph().pagerank()
    graph = PARTS.graph(npartitions=number, ranks=ranks)
    for made in (
        graph,
        graph.persist(),
        dg.load(PARTS.graph(npartitions=number).save(tmp_path / "s")),
    ):
        found = made.pagerank()
        assert found.npartitions == number
        pd.testing.assert_frame_equal(found.compute().reset_index(drop=True), wanted, rtol=1e-9)
    assert graph.features(["degree", "pagerank"]).npartitions == number
    assert PARTS.graph(ranks=ranks).k_core(2).npartitions == 8


def test_of_frames_that_are_none_of_dask():
    with pytest.raises(errors.InvalidArgument, match="npartitions=2 is of Dask frames"):
        EDGES.graph(npartitions=2)
    for wrong in (0, 2.5, "many", 1 << 21):
        with pytest.raises(errors.InvalidArgument, match="npartitions"):
            PARTS.graph(npartitions=wrong)


def test_small_edges_give_one_file_whatever_their_files(folder, monkeypatch):
    call("degree", "edges", "--output", "out")
    assert len(parts(folder / "out")) == 1
    call("degree", "edges", "--npartitions", 5, "--output", "five")
    assert len(parts(folder / "five")) == 5
    pd.testing.assert_frame_equal(pd.read_parquet("five"), pd.read_parquet("out"))
    size = sum(file.stat().st_size for file in (folder / "edges").iterdir())
    monkeypatch.setattr(step_graph, "_PIECE", -(-size // 3))
    call("degree", "edges", "--output", "three")
    assert len(parts(folder / "three")) == 3
    monkeypatch.setattr(step_graph, "_PIECE", 1)
    call("degree", "edges", "--output", "eight")
    assert len(parts(folder / "eight")) == 8
    assert "--npartitions 0; allowed is" in refused(
        "degree", "edges", "--npartitions", 0, "--output", "out", code=2
    )


def test_of_saved_graphs_and_job_files(folder):
    call("build", "edges", "--output", "saved")
    call("degree", "saved", "--output", "out")
    call("degree", "saved", "--npartitions", 4, "--output", "four")
    assert [len(parts(folder / name)) for name in ("out", "four")] == [1, 4]
    job = 'edges = "edges"\nnpartitions = 2\n[[step]]\nalgorithm = "degree"\noutput = "two"\n'
    (folder / "job.toml").write_text(job)
    call("run", "job.toml")
    assert len(parts(folder / "two")) == 2
