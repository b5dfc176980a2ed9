"""Result frames to Parquet folders, and what is refused."""

import os
import subprocess
import sys
import time

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from full_disks import full_disk, short_files

from dask_graphgpu.errors import GraphError, InvalidArgument, OutputError
from dask_graphgpu.io import output
from dask_graphgpu.io.output import write_parquet

FRAME = pd.DataFrame(
    {
        "vertex": pd.array(["a", "b", "c", "d"], dtype="string"),
        "distance": pd.array([0, 1, None, 2**62 + 1], dtype="Int64"),
        "rank": [0.25, 0.5, 0.125, 0.125],
    }
)


def part(i):
    """The i-th of four partitions; the third has no rows."""
    return FRAME.iloc[:2] if i == 0 else FRAME.iloc[2:] if i == 1 else FRAME.iloc[:0]


def lazy(function=part):
    return dd.from_map(function, range(4), meta=FRAME.iloc[:0])


def same(path):
    pd.testing.assert_frame_equal(pd.read_parquet(path).reset_index(drop=True), FRAME)


def test_pandas_frame(tmp_path):
    assert write_parquet(FRAME, tmp_path / "out") == tmp_path / "out"
    same(tmp_path / "out")


def test_dask_frame_gives_a_file_a_partition_with_one_schema(tmp_path):
    write_parquet(lazy(), tmp_path / "out")
    files = sorted((tmp_path / "out").iterdir())
    assert [f.name[:10] for f in files] == [f"part.{i:05d}" for i in range(4)]
    assert len({f.name[10:] for f in files}) == 1
    assert len({str(pq.read_schema(f).remove_metadata()) for f in files}) == 1
    same(tmp_path / "out")
    pd.testing.assert_frame_equal(
        dd.read_parquet(tmp_path / "out").compute().reset_index(drop=True), FRAME
    )


def test_a_large_partition_is_files_that_are_written_side_by_side(tmp_path, monkeypatch):
    monkeypatch.setattr(output, "_FEWEST_ROWS", 300)
    frame = pd.DataFrame({"vertex": np.arange(1000), "name": [f"n{i}" for i in range(1000)]})
    with dask.config.set({"graphgpu.threads": 3}):
        write_parquet(dd.concat([dd.from_pandas(frame, 1), lazy_few(frame)]), tmp_path / "out")
    files = sorted((tmp_path / "out").iterdir())
    assert [f.name.split(".")[1] for f in files] == [
        "00000-00000",
        "00000-00001",
        "00000-00002",
        "00001",
    ]
    assert [pq.read_metadata(f).num_rows for f in files] == [333, 333, 334, 20]
    pd.testing.assert_frame_equal(
        dd.read_parquet(tmp_path / "out").compute().reset_index(drop=True),
        pd.concat([frame, frame[:20]], ignore_index=True).astype({"name": "string"}),
        check_dtype=False,
    )


def lazy_few(frame):
    return dd.from_pandas(frame[:20], 1)


def test_object_ids_without_rows_are_strings(tmp_path):
    frame = pd.DataFrame({"vertex": pd.Series(["a", "b"], dtype=object), "degree": [1, 2]})
    with dask.config.set({"dataframe.convert-string": False}):
        write_parquet(
            dd.from_map(lambda n: frame.iloc[:n], [2, 0], meta=frame.iloc[:0]), tmp_path / "out"
        )
    types = {str(pq.read_schema(f).field("vertex").type) for f in (tmp_path / "out").iterdir()}
    assert types == {"string"}


def test_replaces_an_earlier_result_and_an_empty_folder(tmp_path):
    (tmp_path / "out").mkdir()
    write_parquet(FRAME.iloc[:1], tmp_path / "out")
    write_parquet(lazy(), tmp_path / "out")
    same(tmp_path / "out")
    write_parquet(FRAME, tmp_path / "out")
    same(tmp_path / "out")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_replaces_the_folder_behind_a_link(tmp_path):
    write_parquet(FRAME.iloc[:1], tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    write_parquet(FRAME, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    same(tmp_path / "real")


def test_reads_the_folder_that_it_replaces(tmp_path):
    write_parquet(FRAME, tmp_path / "out")
    write_parquet(dd.read_parquet(tmp_path / "out"), tmp_path / "out")
    same(tmp_path / "out")


def test_refuses_a_folder_of_something_else(tmp_path):
    (tmp_path / "thesis.tex").write_text("ten years")
    with pytest.raises(OutputError, match="it holds thesis"):
        write_parquet(FRAME, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_refuses_a_folder_of_folders(tmp_path):
    (tmp_path / "year=2026.parquet").mkdir()
    with pytest.raises(OutputError, match="not a result of dask_graphgpu"):
        write_parquet(FRAME, tmp_path)


def foreign_parquet(folder):
    FRAME.to_parquet(folder / "part.00000.parquet")


def ours_among_others(folder):
    write_parquet(FRAME, folder)
    FRAME.to_parquet(folder / "part.00001.parquet")


def no_parquet(folder):
    (folder / "part.00000.parquet").write_text("ten years")


def ours_read_and_written_by_pandas(folder):
    write_parquet(FRAME, folder)
    (written,) = folder.iterdir()
    pd.read_parquet(folder).to_parquet(folder / "part.00000.parquet")
    written.unlink()


@pytest.mark.parametrize(
    "fill", [foreign_parquet, ours_among_others, no_parquet, ours_read_and_written_by_pandas]
)
def test_refuses_parquet_that_is_not_a_result(tmp_path, fill):
    (tmp_path / "out").mkdir()
    fill(tmp_path / "out")
    before = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}
    with pytest.raises(OutputError, match=r"holds part\.0000.*new, empty or an earlier result"):
        write_parquet(FRAME.iloc[:1], tmp_path / "out")
    assert {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()} == before


@pytest.mark.parametrize("path", ["", "ftp://host/out", "s3://bucket"])
def test_refuses_no_path_and_urls(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgument, match=r"output is empty|is a URL|names no folder"):
        write_parquet(FRAME, path)
    assert list(tmp_path.iterdir()) == []


def test_refuses_a_file(tmp_path):
    (tmp_path / "out").write_text("x")
    with pytest.raises(OutputError, match="is a file"):
        write_parquet(FRAME, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "x"


def test_refuses_the_root():
    with pytest.raises(OutputError, match="folder of its own"):
        write_parquet(FRAME, "/")


def fails(i):
    raise GraphError("no answer")


def test_failed_computation_leaves_the_old_result(tmp_path):
    write_parquet(FRAME, tmp_path / "out")
    with pytest.raises(GraphError, match="no answer"), dask.config.set(scheduler="sync"):
        write_parquet(lazy(fails), tmp_path / "out")
    same(tmp_path / "out")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


BIG = pd.DataFrame({"vertex": np.random.default_rng(0).integers(0, 2**62, 200_000)})


def failing_write(path, target):
    write_parquet(FRAME, path)
    with pytest.raises(OutputError, match=target) as caught:
        write_parquet(BIG, path)
    assert str(path) in str(caught.value)
    same(path)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_full_disk(tmp_path):
    with full_disk(tmp_path, "400k"):
        failing_write(tmp_path / "out", "No space left on device")


def test_file_too_large(tmp_path):
    with short_files(200_000):
        failing_write(tmp_path / "out", "File too large")


def test_no_permission(tmp_path):
    if not os.geteuid():
        pytest.skip("root may write anywhere")
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="Permission denied"):
        write_parquet(FRAME, tmp_path / "out")
    tmp_path.chmod(0o700)


SLOW_WRITER = """
import sys, time
import dask, dask.dataframe as dd, pandas as pd
from dask_graphgpu.io.output import write_parquet

def part(i):
    time.sleep(0 if i == 0 else 60)
    return pd.DataFrame({"vertex": [i]})

dask.config.set(scheduler="threads", num_workers=3)
write_parquet(dd.from_map(part, range(3), meta=pd.DataFrame({"vertex": [0]})), sys.argv[1])
"""


def test_killed_job_leaves_the_old_result_and_the_next_one_cleans_up(tmp_path):
    write_parquet(FRAME, tmp_path / "out")
    job = subprocess.Popen([sys.executable, "-c", SLOW_WRITER, str(tmp_path / "out")])
    try:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob(".out.*/new/part.00000.*.parquet")):
            assert job.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        job.kill()
        job.wait()
    same(tmp_path / "out")
    assert len(list(tmp_path.iterdir())) == 2
    write_parquet(FRAME, tmp_path / "out")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_columns_are_encoded_by_what_they_hold(tmp_path):
    n = 3000
    frame = pd.DataFrame(
        {
            "vertex": np.arange(n) * 5,
            "small": (np.arange(n) % 7).astype(np.uint8),
            "rank": np.random.default_rng(1).random(n),
            "distance": (np.arange(n) % 20) / 2,
            "name": pd.array([f"id {i}" for i in range(n)], "string[pyarrow]"),
        }
    )
    frame.loc[5, ["rank", "distance"]] = np.nan
    write_parquet(frame, tmp_path / "out")
    (path,) = (tmp_path / "out").glob("*.parquet")
    group = pq.read_metadata(path).row_group(0)
    found = [group.column(i).encodings for i in range(group.num_columns)]
    delta, coded = "DELTA_BINARY_PACKED", "RLE_DICTIONARY"
    assert [delta in each for each in found] == [True, True, False, False, False]
    assert [coded in each for each in found] == [False, False, False, True, True]
    assert group.column(0).total_compressed_size < n
    pd.testing.assert_frame_equal(pd.read_parquet(path), frame, check_dtype=False)


@pytest.mark.parametrize("rows", [0, 1])
def test_no_rows_and_one(tmp_path, rows):
    frame = pd.DataFrame({"vertex": np.arange(rows), "rank": np.ones(rows)})
    write_parquet(frame, tmp_path / "out")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out"), frame)
