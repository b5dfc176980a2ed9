"""Files that are damaged, gone or unlike each other get an error that names them."""

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dask_graphgpu import errors

GOOD = pd.DataFrame({"src": [0, 1, 2, 3], "dst": [1, 2, 3, 0], "weight": [1.0, 2.0, 3.0, 4.0]})


@pytest.fixture
def files(tmp_path):
    """A folder of three Parquet files."""
    for i in range(3):
        edges = GOOD.assign(src=GOOD["src"] + 4 * i, dst=GOOD["dst"] + 4 * i)
        edges = pd.concat([edges] * 500, ignore_index=True)
        pq.write_table(pa.Table.from_pandas(edges), tmp_path / f"part-{i}.parquet")
    return tmp_path


def test_a_truncated_file(files):
    bad = files / "part-1.parquet"
    frame = dd.read_parquet(files)
    bad.write_bytes(bad.read_bytes()[:-100])
    with pytest.raises(
        errors.UnreadableParquet, match=r"part-1\.parquet.*not a complete Parquet file"
    ):
        frame.graph.bfs(0).compute()


def test_a_damaged_file(files):
    bad = files / "part-2.parquet"
    whole = bad.read_bytes()
    bad.write_bytes(whole[:4] + b"\xff" * 60 + whole[64:])  # the footer is well
    with pytest.raises(
        errors.UnreadableParquet, match=r"row group 0 of .*part-2\.parquet.*damaged"
    ):
        dd.read_parquet(files).graph.sssp(0).compute()


def test_a_file_that_is_gone(files):
    frame = dd.read_parquet(files)
    graph = frame.graph
    (files / "part-0.parquet").unlink()
    with pytest.raises(errors.UnreadableParquet, match=r"part-0\.parquet"):
        graph.degree().compute()


def test_files_that_disagree_on_types(files):
    frame = dd.read_parquet(files)
    pq.write_table(pa.Table.from_pandas(GOOD.astype({"src": "str"})), files / "part-2.parquet")
    with pytest.raises(
        errors.InvalidEdges,
        match=r"'src' is (large_)?string.* in row group 0 of .*part-2.parquet but the frame declares int64",
    ):
        frame.graph.bfs(0).compute()


def test_files_of_other_widths(tmp_path):
    GOOD.to_parquet(tmp_path / "2025.parquet")
    later = GOOD.assign(src=GOOD["src"] + 4, dst=GOOD["dst"] + 4)
    later.astype({"src": "int32", "dst": "uint16", "weight": "int8"}).to_parquet(
        tmp_path / "2026.parquet"
    )
    found = dd.read_parquet(tmp_path).graph.sssp(0).compute()
    pd.testing.assert_frame_equal(
        found.reset_index(drop=True), pd.concat([GOOD, later]).graph.sssp(0)
    )


def test_a_file_of_wider_ids_than_the_first(tmp_path):
    GOOD.astype({"src": "int32"}).to_parquet(tmp_path / "a.parquet")
    GOOD.assign(src=GOOD["src"] + 2**40).to_parquet(tmp_path / "b.parquet")
    frame = dd.read_parquet(tmp_path)
    with pytest.raises(
        errors.InvalidEdges,
        match=r"'src' is int64 in row group 0 of .*b\.parquet .*declares int32, which does not hold",
    ):
        frame.graph.bfs(0).compute()
    found = frame.astype({"src": "int64"}).graph.degree().compute()
    assert found["vertex"].tolist() == [0, 1, 2, 3, *range(2**40, 2**40 + 4)]


def test_a_file_without_the_column(files):
    frame = dd.read_parquet(files)
    pq.write_table(pa.Table.from_pandas(GOOD.drop(columns="weight")), files / "part-1.parquet")
    with pytest.raises(
        errors.InvalidEdges, match=r"part-1\.parquet has no column 'weight'; it has \['src'"
    ):
        frame.graph.sssp(0).compute()


@pytest.mark.parametrize("dtype", [pd.ArrowDtype(pa.float64()), "float64"])
def test_nan_that_pandas_does_not_see(tmp_path, dtype):
    """Of Arrow-backed columns, as Parquet gives them, isna() tells nulls only."""
    path = tmp_path / "edges.parquet"
    table = pa.table({"src": [0, 1, 2], "dst": [1, 2, 3], "weight": [1.0, float("nan"), 3.0]})
    pq.write_table(table, path)
    message = r"'weight' has 1 NaN in row group 0 of .*edges.parquet"
    with pytest.raises(errors.InvalidEdges, match=message):
        dd.read_parquet(path).graph.sssp(0).compute()
    with pytest.raises(errors.InvalidEdges, match=r"'weight' has 1 (nulls or )?NaN in partition 0"):
        table.to_pandas().astype({"weight": dtype}).graph.sssp(0)
