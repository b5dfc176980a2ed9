"""Walks and samples as commands and as steps: several numbers, ids and frames of ids as options."""

from pathlib import Path

import pandas as pd
import pytest
from commands import call, refused, result

import dask_graphgpu  # noqa: F401  puts .graph on frames
from dask_graphgpu.jobs.warming import checked

EDGES = pd.DataFrame({"src": [0, 1, 2, 3, 0, 2, 4], "dst": [1, 2, 3, 0, 2, 0, 2]})
NAMED = EDGES.astype("str").rename(columns={"src": "a", "dst": "b"})


@pytest.fixture(autouse=True)
def edges(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    EDGES.to_parquet("edges.parquet")
    pd.DataFrame({"vertex": [2, 0]}).to_parquet("some.parquet")


def same(wanted):
    pd.testing.assert_frame_equal(result(), wanted, check_dtype=False)


@pytest.mark.parametrize(
    ("text", "fanout"), [("2,1", [2, 1]), ("1", [1]), ("-1,2", [-1, 2]), ("3,", [3])]
)
def test_several_numbers(text, fanout):
    call("neighbor-sample", "edges.parquet", "--seeds", 2, "--fanout", text, "--output", "out")
    same(EDGES.graph().neighbor_sample([2], fanout=fanout))
    Path("job.toml").write_text(
        'algorithm = "neighbor-sample"\nedges = "edges.parquet"\noutput = "out"\n'
        f"fanout = {fanout}\nseeds = [2, 0]\n"
    )
    call("run", "job.toml")
    same(EDGES.graph().neighbor_sample([2, 0], fanout=fanout))


@pytest.mark.parametrize("text", ["0,2", "2.5", "x,1", ","])
def test_no_such_numbers(text):
    words = ["neighbor-sample", "edges.parquet", "--output", "out", "--fanout", text]
    assert "number" in refused(*words, code=2)


def test_ids_and_frames_of_them():
    words = ["edges.parquet", "--output", "out"]
    call("random-walks", *words, "--length", 3, "--start", 2)
    same(EDGES.graph().random_walks(2, length=3))
    call("random-walks", *words, "--length", 3, "--start", 2, "--start", 0)
    same(EDGES.graph().random_walks([2, 0], length=3))
    call("random-walks", *words, "--length", 3, "--start", "some.parquet")
    same(EDGES.graph().random_walks([2, 0], length=3))
    call("similar", *words, "--between", 2)
    same(EDGES.graph().similar(between=[2]))
    call("similar", *words, "--between", "some.parquet")
    same(EDGES.graph().similar(between=[2, 0]))
    assert "start 'x' is not an integer" in refused(
        "random-walks", *words, "--length", 1, "--start", "x", code=2
    )


def test_text_ids():
    NAMED.to_parquet("named.parquet")
    words = ["named.parquet", "--columns", "a,b", "--output", "out", "--seeds", "2"]
    call("neighbor-sample", *words, "--fanout", "2,2")
    same(NAMED.graph(source="a", destination="b").neighbor_sample("2", fanout=[2, 2]))


def test_both_are_warmed():
    assert checked(["random-walks", "neighbor-sample"]) == ["random_walks", "neighbor_sample"]
