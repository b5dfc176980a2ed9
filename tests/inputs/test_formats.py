"""Every format gives the answer of the same table in Parquet."""

from pathlib import Path

import kept_tables
import pandas as pd
import pytest
from commands import call, refused, result

from dask_graphgpu.io.tables.read import read_table
from dask_graphgpu.jobs.cli import graph

TABLE = kept_tables.edges()
WHERE = "day >= 2026-11-03 and kind = 'road'"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def wanted(where=False):
    frame = TABLE.to_pandas()
    if where:
        frame = frame[(frame["day"] >= kept_tables.DAYS[2]) & (frame["kind"] == "road")]
    return frame.graph.sssp(3)


@pytest.mark.parametrize("keep", kept_tables.KINDS)
def test_the_command(here, keep):
    path = keep(TABLE, here)
    call("sssp", path, "--source", 3, "--output", "out")
    pd.testing.assert_frame_equal(result(), wanted(), check_dtype=False)
    call("sssp", path, "--source", 3, "--where", WHERE, "--output", "out")
    pd.testing.assert_frame_equal(result(), wanted(where=True), check_dtype=False)


@pytest.mark.parametrize("keep", kept_tables.KINDS)
def test_all_rows_and_columns(here, keep):
    found = read_table(str(here / keep(TABLE, here)), ["src", "dst"]).compute()
    columns = TABLE.column_names
    frame = found[columns].sort_values(columns).reset_index(drop=True)
    expected = TABLE.to_pandas().sort_values(columns).reset_index(drop=True)
    assert frame.astype(str).equals(expected.astype(str))


def test_a_job_file(here):
    for keep in (kept_tables.csv, kept_tables.hive):
        Path("job.toml").write_text(
            f'edges = "{keep(TABLE, here)}"\nwhere = "{WHERE}"\n'
            '[[step]]\nalgorithm = "sssp"\nsource = "3"\noutput = "out"\n'
            '[[step]]\nalgorithm = "pagerank"\noutput = "ranks"\ntop = 2\n'
        )
        call("run", "job.toml")
        pd.testing.assert_frame_equal(result(), wanted(where=True), check_dtype=False)
        assert len(result("ranks")) == len(result())


def test_types_in_a_job_file(here):
    Path("e.csv").write_text("1;2\n3;1\n")
    Path("job.toml").write_text(
        'edges = "e.csv"\nno-header = true\nseparator = ";"\ntype = {0 = "text", 1 = "text"}\n'
        '[[step]]\nalgorithm = "bfs"\nsource = "3"\noutput = "out"\n'
    )
    call("run", "job.toml")
    assert dict(zip(*result()[["vertex", "distance"]].values.T, strict=True)) == {
        "1": 1,
        "2": 2,
        "3": 0,
    }


@pytest.mark.parametrize("keep", [kept_tables.csv, kept_tables.hive, kept_tables.delta])
def test_a_filter_that_leaves_nothing(here, keep):
    path = keep(TABLE, here)
    done = call("pagerank", path, "--where", "day > 2030-01-01", "--output", "out")
    assert done.stderr.startswith("pagerank: 0 rows")
    assert result().dtypes.astype(str).to_dict() == {"vertex": "int64", "rank": "float64"}


def test_frames_of_vertices_and_arguments(here):
    kept_tables.csv(TABLE, here)
    ids = [*range(40), 99]
    pd.DataFrame({"vertex": ids, "p": 1.0}).to_csv("v.csv", index=False)
    pd.DataFrame({"vertex": [3], "personalization": [1.0]}).to_csv("jumps.csv", index=False)
    call("pagerank", "edges.csv", "--vertices", "v.csv", "--output", "out")
    assert result()["vertex"].tolist() == ids
    words = ["--personalization", "jumps.csv", "--output", "out"]
    call("pagerank", "edges.csv", *words)
    at_three = pd.DataFrame({"vertex": [3], "personalization": [1.0]})
    expected = TABLE.to_pandas().graph.pagerank(personalization=at_three)
    pd.testing.assert_frame_equal(result(), expected, check_dtype=False, atol=1e-6)


def test_ids_of_other_frames_are_of_the_type_of_the_edges(here):
    Path("e.csv").write_text("src,dst\n007,008\n008,009\n")
    Path("v.csv").write_text("vertex\n100\n200\n")
    call("bfs", "e.csv", "--source", "007", "--vertices", "v.csv", "--output", "out")
    assert result()["vertex"].tolist() == ["007", "008", "009", "100", "200"]


def test_a_saved_graph_is_of_what_was_kept(here):
    for path in (kept_tables.hive(TABLE, here), kept_tables.csv(TABLE, here)):
        call("build", path, "--where", WHERE, "--output", "saved")
        call("sssp", "saved", "--source", 3, "--output", "out")
        pd.testing.assert_frame_equal(result(), wanted(where=True), check_dtype=False)
        line = refused("sssp", "saved", "--source", 3, "--where", WHERE, "--top", 1, code=2)
        assert "where says how a table is read, and saved is a saved graph" in line
    Path("edges.csv").write_text("src,dst\n1,2\n")
    assert "edges.csv was written again" in refused("degree", "saved", "--top", 1, code=1)


def test_on_ranks(here):
    for path in (kept_tables.hive(TABLE, here), kept_tables.csv_folder(TABLE, here)):
        words = ["--where", WHERE, "--source", 3, "--ranks", 3, "--output", "out"]
        call("sssp", path, *words)
        pd.testing.assert_frame_equal(result(), wanted(where=True), check_dtype=False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--where", "toll > 1"], "names 'toll', and edges.parquet has no such column"),
        (["--where", "kind > 1"], "column 'kind' is text, and 1 is a number: give a text"),
        (["--where", "day = 5"], "is no date: give one such as 2026-11-01"),
        (["--where", "day >"], "expected a value"),
        (["--separator", ";"], "--separator is for files of text, and edges.parquet is none"),
        (["--no-header"], "--no-header is for files of text"),
        (["--type", "weight=float"], "--type weight is for files of text"),
        (["--type", "toll=float"], "type names 'toll', and edges.parquet has ['src'"),
        (["--type", "weight=double"], "give a column and one of int, float, text"),
        (["--format", "xml"], "'xml' is not one of 'parquet', 'csv'"),
    ],
)
def test_what_is_refused(here, words, said):
    kept_tables.parquet(TABLE, here)
    assert said in refused("degree", "edges.parquet", *words, "--output", "out", code=2)
    assert not Path("out").exists()


@pytest.mark.parametrize("kind", ["arrow", "csv", "edgelist", "delta", "iceberg"])
def test_a_format_that_it_is_not(here, kind):
    kept_tables.parquet(TABLE, here)
    assert "edges.parquet" in refused(
        "degree", "edges.parquet", "--format", kind, "--top", 1, code=1
    )


def test_help_names_the_options():
    assert {"--format", "--where", "--separator", "--no-header", "--type"} <= {
        name for parameter in graph.get_command(None, "bfs").params for name in parameter.opts
    }
