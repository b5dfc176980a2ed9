"""What of a folder is a table: as Spark and Hive have it."""

import datetime as dt
import os
from pathlib import Path

import kept_tables
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import call, refused, result

from dask_graphgpu import errors
from dask_graphgpu.io.tables.read import read_table

EDGES = pd.DataFrame({"src": [0, 1], "dst": [1, 2]})


def rows(path, **options):
    return read_table(str(path), **options).compute()


@pytest.fixture
def spark(tmp_path):
    """A folder as Spark leaves it, with what others put there."""
    EDGES.to_parquet(tmp_path / "part-00000.snappy.parquet")
    EDGES.to_parquet(tmp_path / "part-00001.parq")
    other = pd.DataFrame({"other": ["x"]})
    for name in ("_temporary/0/part.parquet", ".hive-staging/part.parquet", "_metadata.parquet"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        other.to_parquet(tmp_path / name)
    (tmp_path / "_SUCCESS").touch()
    (
        tmp_path / "part-00002.parquet"
    ).touch()  # without bytes, as an executor that was killed leaves it
    for name in ("_metadata", "_common_metadata", ".part-00000.snappy.parquet.crc", "README.txt"):
        (tmp_path / name).write_bytes(b"no Parquet")
    return tmp_path


def test_what_is_no_data_is_left_out(spark):
    for path in (spark, f"{spark}/*", f"{spark}*/part*"):
        assert rows(path)[["src", "dst"]].values.tolist() == 2 * EDGES.values.tolist()


def test_a_pattern_that_asks_for_what_is_hidden(spark):
    assert rows(f"{spark}/_t*/*/*").columns.tolist() == ["other"]
    assert rows(f"{spark}/.h*").columns.tolist() == ["other"]


def test_of_a_metadata_file_nothing_is_believed(tmp_path):
    written = []
    EDGES.to_parquet(tmp_path / "a.parquet")
    pq.write_table(pa.Table.from_pandas(EDGES), tmp_path / "b.parquet", metadata_collector=written)
    written[0].set_file_path("b.parquet")
    pq.write_metadata(pa.Table.from_pandas(EDGES).schema, tmp_path / "_metadata", written)
    assert len(rows(tmp_path)) == 4


def test_files_of_hive_have_no_suffix(tmp_path):
    for name in ("000000_0", "000001_0_copy_1"):
        EDGES.to_parquet(tmp_path / name)
    (tmp_path / "notes").write_text("no data")
    assert len(rows(tmp_path)) == 4
    EDGES.head(1).to_parquet(tmp_path / "named.parquet")
    assert len(rows(tmp_path)) == 1


def test_a_file_that_is_named_is_data_whatever_it_is_called(tmp_path):
    for name in ("_edges.parquet", "edges", "edges.bin"):
        EDGES.to_parquet(tmp_path / name)
        assert len(rows(tmp_path / name)) == 2
    for name, content in {"edges.bin": b"", "snap.txt": b"# from to\n1 2\n"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(
            errors.UnreadableTable, match=f"{name} is not Parquet.*--format edgelist"
        ):
            rows(tmp_path / name)


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "x" * 300 + "/*"])
def test_what_is_no_name_of_a_file(name):
    with pytest.raises(errors.UnreadableTable, match=r"[Nn]o file or folder"):
        rows(name)


def test_folders_without_data(tmp_path):
    with pytest.raises(errors.UnreadableTable, match=r"holds no file that ends in \.parquet"):
        rows(tmp_path)
    (tmp_path / "a.csv").write_text("src,dst\n1,2\n")
    assert len(rows(tmp_path)) == 1
    (tmp_path / "b.arrow").write_bytes(b"ARROW1")
    with pytest.raises(errors.UnreadableTable, match=r"several formats, arrow, csv: .*--format"):
        rows(tmp_path)
    assert len(rows(tmp_path, form="csv")) == 1
    EDGES.to_parquet(tmp_path / "c.parquet")
    assert len(rows(tmp_path)) == 2


# Partitions


def partitioned(folder, *names, frame=EDGES, suffix="parquet"):
    for name in names:
        (folder / name).mkdir(parents=True)
        write = frame.to_parquet if suffix == "parquet" else frame.to_csv
        write(folder / name / f"part.{suffix}", index=False)
    return folder


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("names", "values"),
    [
        (["x=1", "x=-20"], [-20, 1]),
        (["x=07", "x=8"], [7, 8]),
        (["x=2026-11-01", "x=2026-11-02"], [dt.date(2026, 11, 1), dt.date(2026, 11, 2)]),
        (["x=2026-11-01", "x=2026-13-01"], ["2026-11-01", "2026-13-01"]),
        (["x=0.5", "x=1"], [0.5, 1.0]),
        (["x=a%2Fb%20c", "x=é=1"], ["a/b c", "é=1"]),
        (["x=1", "x=__HIVE_DEFAULT_PARTITION__"], [1, None]),
        (["_x=1"], [1]),
    ],
)
def test_types_of_partitions(tmp_path, names, values, suffix):
    found = rows(partitioned(tmp_path, *names, suffix=suffix))
    column = found[names[0].partition("=")[0]]
    assert len(found) == 2 * len(names)
    present = sorted(set(column.dropna()))
    assert present == [value for value in values if value is not None]
    assert column.isna().sum() == 2 * values.count(None)


def test_partitions_are_ids_and_weights(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = EDGES[["dst"]]
    partitioned(Path("e"), "src=5/weight=2", "src=7/weight=3", frame=frame)
    call("sssp", "e", "--source", 5, "--output", "out")
    assert dict(result().dropna().values.tolist()) == {5: 0, 1: 2, 2: 2}
    partitioned(Path("t"), "src=005/w=2", "src=7/w=3", frame=frame.astype(str))
    call("sssp", "t", "--source", "005", "--weight", "w", "--output", "out")
    assert dict(result().dropna().values.tolist()) == {"005": 0, "1": 2, "2": 2}
    partitioned(Path("n"), "src=5/weight=__HIVE_DEFAULT_PARTITION__", "src=7/weight=3", frame=frame)
    assert "nulls" in refused("sssp", "n", "--source", 5, "--output", "out", code=1)
    call("sssp", "n", "--source", 7, "--where", "weight is not null", "--output", "out")
    assert dict(result().dropna().values.tolist()) == {7: 0, 1: 3, 2: 3}


def test_what_a_folder_says_goes_before_what_its_files_say(tmp_path):
    partitioned(tmp_path, "src=9", frame=EDGES)
    assert rows(tmp_path)["src"].tolist() == [9, 9]
    assert rows(tmp_path, where="src = 9 and dst = 2")["dst"].tolist() == [2]
    assert not len(rows(tmp_path, where="src = 1"))


def test_folders_that_do_not_stand_alike(tmp_path):
    partitioned(tmp_path, "x=1", "y=1")
    with pytest.raises(errors.UnreadableTable, match=r"different columns, \['x'\] and \['y'\]"):
        rows(tmp_path)


def test_a_folder_of_one_partition_is_a_table_too(tmp_path):
    partitioned(tmp_path, "x=1", "x=2")
    assert rows(tmp_path / "x=1").columns.tolist() == ["src", "dst"]
    assert rows(f"{tmp_path}/x=1/*").columns.tolist() == ["src", "dst"]
    assert rows(f"{tmp_path}/x=*/*").columns.tolist() == ["src", "dst", "x"]


# At URLs


@pytest.fixture
def memory():
    import fsspec

    filesystem = fsspec.filesystem("memory")
    yield filesystem
    filesystem.rm("/", recursive=True)


def test_the_same_at_urls(tmp_path, memory, monkeypatch):
    table = kept_tables.edges()
    for keep in (kept_tables.hive, kept_tables.csv_folder, kept_tables.feather):
        kept = keep(table, tmp_path)
        memory.put(str(tmp_path / kept), f"/{kept}", recursive=True)
        memory.pipe(f"/{kept}/_SUCCESS" if os.path.isdir(tmp_path / kept) else "/_x", b"")
        for where in (None, "day = 2026-11-02 and kind != 'rail'"):
            columns = table.column_names
            sort = {"by": columns, "ignore_index": True}
            here = rows(tmp_path / kept, where=where)[columns].sort_values(**sort)
            there = rows(f"memory://{kept}", where=where)[columns].sort_values(**sort)
            assert len(here)
            pd.testing.assert_frame_equal(here, there)


def test_nothing_at_a_url(memory):
    with pytest.raises(errors.UnreadableTable, match="There is no object or folder memory://nope"):
        rows("memory://nope")
    with pytest.raises(errors.UnreadableTable, match="nothing://x"):
        rows("nothing://x")


# Graphs that are saved


def test_a_saved_graph_knows_of_new_data_and_of_nothing_else(spark, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))
    call("build", spark, "--output", "saved")
    for name in ("_more", ".more.parquet", "more.txt", "_temporary/more.parquet"):
        (spark / name).write_bytes(b"x")
    call("degree", "saved", "--top", 1)
    EDGES.to_parquet(spark / "part-00009.parquet")
    assert "part-00009.parquet is new" in refused("degree", "saved", "--top", 1, code=1)
