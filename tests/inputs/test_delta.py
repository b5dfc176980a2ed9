"""Tables of Delta Lake: what the last version has, whoever wrote it."""

import base64
import json
import struct
import sys
import time

import kept_tables
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyroaring
import pytest
from commands import call, refused, result
from deltalake import DeltaTable, write_deltalake

from dask_graphgpu import errors
from dask_graphgpu.io import parquet
from dask_graphgpu.io.tables.file_frames import parts_of
from dask_graphgpu.io.tables.read import read_table

TABLE = kept_tables.edges()


def rows(path, **options):
    found = read_table(str(path), **options).compute()
    return sorted(map(tuple, found[TABLE.column_names].astype(str).values.tolist()))


def of(table):
    return sorted(map(tuple, table.to_pandas()[TABLE.column_names].astype(str).values.tolist()))


@pytest.mark.parametrize("partitions", [None, ["day"], ["day", "kind"]])
def test_rows_come_and_go(tmp_path, partitions):
    path = tmp_path / "edges"
    write_deltalake(path, TABLE.slice(0, 200), partition_by=partitions)
    write_deltalake(path, TABLE.slice(200), mode="append")
    assert rows(path) == of(TABLE)
    assert (
        parquet.pieces(read_table(str(path))) is not None
    )  # row group by row group, as Parquet is
    table = DeltaTable(path)
    table.delete("src = 3")
    table.update(updates={"weight": "100"}, predicate="dst = 5")
    expected = TABLE.filter(pc.not_equal(TABLE["src"], 3))
    weight = pc.if_else(pc.equal(expected["dst"], 5), 100, expected["weight"])
    expected = expected.set_column(2, "weight", weight)
    assert rows(path) == of(expected)
    late = pc.greater(expected["day"], pa.scalar(kept_tables.DAYS[1]))
    kept = expected.filter(pc.and_(late, pc.equal(expected["weight"], 100)))
    assert rows(path, where="day > 2026-11-02 and weight = 100") == of(kept)
    rail = expected.filter(pc.equal(expected["kind"], "rail"))
    assert rows(path, where="kind >= 'b' and kind < 'rb'") == of(rail)
    table.optimize.compact()
    table.vacuum(0, dry_run=False, enforce_retention_duration=False)
    assert rows(path) == of(expected)


def test_partitions_leave_files_out(tmp_path):
    write_deltalake(tmp_path, TABLE, partition_by=["day"])
    frame = read_table(str(tmp_path), where="day = 2026-11-02 or day is null")
    (part,) = parts_of(frame)
    assert "day=2026-11-02" in part.path


def test_partitions_of_odd_values(tmp_path):
    days = ["a b=c/d%", "é", None, ""]
    table = pa.table({"src": [0, 1, 2, 3], "dst": [1, 2, 3, 0], "day": days})
    write_deltalake(tmp_path, table, partition_by=["day"])
    found = read_table(str(tmp_path)).compute().sort_values("src")
    assert found["day"].isna().tolist() == [False, False, True, True]  # as Delta has it
    assert found["day"].tolist()[:2] == days[:2]
    assert read_table(str(tmp_path), where="day = 'a b=c/d%'").compute()["src"].tolist() == [0]


def test_columns_that_came_later(tmp_path):
    table = pa.table({"src": [0, 1], "dst": [1, 2]})
    write_deltalake(tmp_path, table)
    later = table.append_column("weight", pa.array([5, 7]))
    write_deltalake(tmp_path, later, mode="append", schema_mode="merge")
    found = read_table(str(tmp_path)).compute()
    assert sorted(found["weight"].fillna(-1).tolist()) == [-1, -1, 5, 7]
    assert len(read_table(str(tmp_path), where="weight is null").compute()) == 2
    assert len(read_table(str(tmp_path), where="weight > 5").compute()) == 1
    with pytest.raises(errors.InvalidEdges, match="weight"):
        read_table(str(tmp_path)).graph().pagerank().compute()


def deletion_vector(positions):
    """Deleted rows as an entry of Delta's log holds them: a bitmap in the entry itself."""
    bitmap = pyroaring.BitMap(positions).serialize()
    data = struct.pack("<iqi", 1681511377, 1, 0) + bitmap
    padded = data + b"\0" * (-len(data) % 4)
    z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    b85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
    text = base64.b85encode(padded).decode().translate(str.maketrans(b85, z85))
    return {
        "storageType": "i",
        "pathOrInlineDv": text,
        "sizeInBytes": len(data),
        "cardinality": len(positions),
    }


def with_deleted(path, position):
    """Mark rows as deleted, as Spark does: the file stays, an entry of the log names its rows."""
    log = path / "_delta_log"
    first = [json.loads(line) for line in (log / f"{0:020}.json").read_text().splitlines()]
    add = next(entry["add"] for entry in first if "add" in entry)
    now = int(time.time() * 1000)
    remove = {"path": add["path"], "deletionTimestamp": now, "dataChange": True}
    marked = {**add, "deletionVector": deletion_vector(position), "modificationTime": now}
    entries = [{"remove": remove}, {"add": marked}]
    (log / f"{1:020}.json").write_text("\n".join(map(json.dumps, entries)))
    return add["path"]


def test_deletion_vectors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = {"delta.enableDeletionVectors": "true"}
    write_deltalake("edges", TABLE, configuration=options)
    name = with_deleted(tmp_path / "edges", [0, 7, 250])
    write_deltalake("edges", TABLE.slice(0, 5), mode="append")
    assert (tmp_path / "edges" / name).exists()
    left = [k for k in range(len(TABLE)) if k not in (0, 7, 250)]
    expected = pa.concat_tables([TABLE.take(left), TABLE.slice(0, 5)])
    assert of(pa.table(DeltaTable("edges").scan())) == of(expected)  # as deltalake reads it
    assert rows("edges") == of(expected)
    some = expected.filter(pc.greater(expected["weight"], 4))
    assert rows("edges", where="weight > 4") == of(some)
    call("degree", "edges", "--output", "out")
    pd.testing.assert_frame_equal(result(), expected.to_pandas().graph.degree(), check_dtype=False)


def test_a_saved_graph_knows_of_a_new_version(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_deltalake("edges", TABLE, partition_by=["kind"])
    call("build", "edges", "--output", "saved")
    call("degree", "saved", "--top", 1)
    DeltaTable("edges").delete("kind = 'rail'")  # writes no file but the log's
    line = refused("degree", "saved", "--top", 1, code=1)
    assert "_delta_log" in line
    assert "is new" in line


def test_what_is_no_table(tmp_path):
    (tmp_path / "_delta_log").mkdir()
    (tmp_path / "_delta_log" / f"{0:020}.json").write_text("{")
    with pytest.raises(errors.UnreadableTable, match="cannot read the Delta table"):
        read_table(str(tmp_path))


def test_without_the_package(tmp_path, monkeypatch):
    write_deltalake(tmp_path, TABLE)
    monkeypatch.setitem(sys.modules, "deltalake", None)
    monkeypatch.delitem(sys.modules, "dask_graphgpu.io.tables.delta_table", raising=False)
    with pytest.raises(errors.MissingPackage, match=r"pip install 'dask-graphgpu\[delta\]'"):
        read_table(str(tmp_path))
