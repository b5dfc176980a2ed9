"""Rows of a result that are kept, and outputs that are folders by the values of columns."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from commands import call, refused, result

MADE = np.random.default_rng(4)
NAMES = np.array(["it/1", "fr", "b=c", "ä", ""])
EDGES = pd.DataFrame(MADE.integers(0, 60, (200, 2)), columns=["src", "dst"])
DEGREES = EDGES.graph().degree()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    EDGES.to_parquet("edges.parquet")


def sorted_result(path="out"):
    frame = pd.read_parquet(path)
    return (
        frame.astype(dict.fromkeys(DEGREES, "int64")).sort_values("vertex").reset_index(drop=True)
    )


@pytest.mark.parametrize("ranks", [1, 2])
def test_rows_that_are_kept(ranks):
    words = ["degree", "edges.parquet", "--ranks", ranks, "--keep", "degree > 7 and vertex != 3"]
    done = call(*words, "--output", "out", "--top", 100)
    wanted = DEGREES.query("degree > 7 and vertex != 3").reset_index(drop=True)
    assert 0 < len(wanted) < len(DEGREES)
    pd.testing.assert_frame_equal(result(), wanted, check_dtype=False)
    assert len(done.stdout.splitlines()) == len(wanted) + 1
    assert done.stderr.startswith(
        f"degree: {len(wanted)} rows in out, from {len(DEGREES)} vertices"
    )


def test_folders_by_values():
    words = ["degree", "edges.parquet", "--partition-by", "in_degree,out_degree", "--output", "out"]
    line = call(*words).stderr
    assert line.startswith(f"degree: {len(DEGREES)} rows in out, ")
    pd.testing.assert_frame_equal(sorted_result()[list(DEGREES)], DEGREES, check_dtype=False)
    folders = {path.parent.relative_to("out").as_posix() for path in Path("out").rglob("*.parquet")}
    assert folders == {
        f"in_degree={a}/out_degree={b}" for a, b in DEGREES[["in_degree", "out_degree"]].to_numpy()
    }
    (first, *_) = Path("out").rglob("*.parquet")
    assert pq.read_schema(first).names == ["vertex", "degree"]
    before = {*Path("out").rglob("*")}
    done = call(*words, "--keep", "degree > 7", "--top", 3)  # replaces what is there
    assert not before & {p for p in Path("out").rglob("*") if p.is_file()}
    assert len(done.stdout.splitlines()) == 4
    call("degree", "edges.parquet", "--output", "out")  # of another kind
    pd.testing.assert_frame_equal(result(), DEGREES, check_dtype=False)
    call(*words)
    call(
        "degree",
        "edges.parquet",
        "--keep",
        "degree > 10000",
        "--partition-by",
        "degree",
        "--output",
        "out",
    )
    assert list(pd.read_parquet("out").columns) == list(DEGREES)
    assert len(pd.read_parquet("out")) == 0
    assert sorted(os.listdir()) == ["edges.parquet", "out"]


def test_values_that_are_no_names_of_folders():
    edges = EDGES.assign(src=NAMES[EDGES["src"] % 5], dst=NAMES[EDGES["dst"] % 5])
    edges.to_parquet("names.parquet")
    words = [
        "weakly-connected-components",
        "names.parquet",
        "--partition-by",
        "vertex",
        "--output",
        "out",
    ]
    call(*words)
    call(*words)
    assert set(pd.read_parquet("out")["vertex"]) == set(NAMES)


def test_in_job_files():
    Path("job.toml").write_text("""
    algorithm = "features"
    edges = "edges.parquet"
    methods = ["degree", "weakly_connected_components"]
    keep = "degree > 7"
    partition-by = ["component"]
    output = "out"
    """)
    call("run", "job.toml")
    assert len(pd.read_parquet("out")) == (DEGREES["degree"] > 7).sum()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--keep degre>1 --output out", "keep names 'degre', and the result has no such column"),
        ("--keep degree>> --output out", "keep: expected a value"),
        ("--keep degree='x' --output out", "keep: column 'degree' is int64, and 'x' is a text"),
        ("--partition-by degre --output out", "partition_by names 'degre', and the result has"),
        ("--partition-by degree,degree --output out", "names 'degree' twice"),
        ("--partition-by vertex,in_degree,out_degree,degree --output out", "leave one out"),
        (
            "--partition-by degree --top 1",
            "--partition-by is of what is written: give --output DIR",
        ),
    ],
)
def test_refusals(words, message):
    assert message in refused("degree", "edges.parquet", *words.split(), code=2)
    assert not Path("out").exists()


def test_pandas_reads_folders_by_values_that_may_be_null():
    words = ["--partition-by", "distance", "--keep", "distance is not null", "--output", "out"]
    call("bfs", "edges.parquet", "--source", 0, *words)
    found = pd.read_parquet("out")
    assert found["vertex"].dtype == "int64"
    distances = found.set_index("vertex")["distance"].astype("int64")
    expected = (
        pd.read_parquet("edges.parquet").graph.bfs(0).dropna().set_index("vertex")["distance"]
    )
    assert distances.sort_index().tolist() == expected.tolist()


def test_refusals_of_columns_with_many_values():
    assert "whose values are floats" in refused(
        "pagerank", "edges.parquet", "--partition-by", "rank", "--output", "out", code=2
    )
    many = pd.DataFrame({"src": range(1100), "dst": range(1, 1101)})
    many.to_parquet("many.parquet")
    line = refused("degree", "many.parquet", "--partition-by", "vertex", "--output", "out", code=1)
    assert "1,101 different values" in line
    assert not Path("out").exists()


@pytest.mark.parametrize("foreign", ["file", "folder", "link"])
def test_what_others_put_there_is_not_replaced(foreign):
    words = ["degree", "edges.parquet", "--partition-by", "degree", "--output", "out"]
    call(*words)
    place = Path("out/degree=99")
    if foreign == "link":
        Path("elsewhere").mkdir()
        place.symlink_to(Path("elsewhere").resolve())
    else:
        place.mkdir()
        (place / "notes.txt").touch() if foreign == "file" else (place / "more").mkdir()
    assert "it holds degree=99" in refused(*words, code=1)
    assert place.exists()
