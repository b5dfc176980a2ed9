"""Tables of Iceberg: what the current snapshot has."""

import json
import os
import pickle
import sys
from pathlib import Path

import kept_tables
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from commands import call, refused, result
from pyiceberg import catalog as catalogs
from pyiceberg import manifest as manifests
from pyiceberg import transforms
from pyiceberg.table.update import snapshot as snapshots
from pyiceberg.types import LongType

from dask_graphgpu import errors
from dask_graphgpu.io import parquet
from dask_graphgpu.io.tables.file_frames import parts_of
from dask_graphgpu.io.tables.read import read_table

TABLE = kept_tables.edges()


def rows(path, names=tuple(TABLE.column_names), **options):
    found = read_table(str(path), **options).compute()
    return sorted(map(tuple, found[list(names)].astype(str).values.tolist()))


def of(table):
    return sorted(map(tuple, table.to_pandas().astype(str).values.tolist()))


def test_rows_come_and_go(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table, path = kept_tables.iceberg(TABLE.slice(0, 200), tmp_path)
    table.append(TABLE.slice(200))
    assert rows(path) == of(TABLE)
    assert rows(table.metadata_location) == of(TABLE)
    assert parquet.pieces(read_table(path)) is not None  # row group by row group, as Parquet is
    table.delete("src == 3")
    expected = TABLE.filter(pc.not_equal(TABLE["src"], 3))
    assert rows(path) == of(expected)
    late = pc.greater(expected["day"], pa.scalar(kept_tables.DAYS[1]))
    assert rows(path, where="day > 2026-11-02") == of(expected.filter(late))
    call("degree", os.path.relpath(path), "--output", "out")
    frame = expected.to_pandas().graph.degree()
    pd.testing.assert_frame_equal(result(), frame, check_dtype=False)


def test_a_table_of_a_catalog(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept_tables.iceberg(TABLE, tmp_path)
    name = "PYICEBERG_CATALOG__C__"
    monkeypatch.setenv(f"{name}URI", f"sqlite:///{tmp_path}/c.db")
    monkeypatch.setenv(f"{name}TYPE", "sql")
    monkeypatch.setattr(catalogs, "_ENV_CONFIG", catalogs.Config())
    assert rows("c.n.edges", form="iceberg") == of(TABLE)
    call("degree", "c.n.edges", "--format", "iceberg", "--output", "out")
    line = refused("degree", "c.n.other", "--format", "iceberg", "--top", 1, code=1)
    assert "cannot read the Iceberg table c.n.other: Table does not exist" in line


def test_columns_are_known_by_their_numbers(tmp_path):
    table, path = kept_tables.iceberg(TABLE, tmp_path)
    with table.update_schema() as change:
        change.rename_column("weight", "old")
        change.delete_column("kind")
    with table.update_schema() as change:
        change.add_column("weight", LongType())
    later = TABLE.slice(0, 3).drop(["kind"]).rename_columns(["src", "dst", "old", "day"])
    table.append(later.append_column("weight", pa.array([7, 8, 9])))
    found = read_table(path).compute()
    assert sorted(found.columns) == ["day", "dst", "old", "src", "weight"]
    assert (
        found["old"].tolist().sort()
        == [*TABLE["weight"].to_pylist(), *later["old"].to_pylist()].sort()
    )
    assert found["weight"].notna().sum() == 3
    assert len(read_table(path, where="weight is null and old >= 5").compute()) == sum(
        weight >= 5 for weight in TABLE["weight"].to_pylist()
    )
    assert sorted(read_table(path, where="weight > 7").compute()["weight"]) == [8, 9]


@pytest.mark.parametrize("transform", [transforms.IdentityTransform(), transforms.DayTransform()])
def test_partitions_leave_files_out(tmp_path, transform):
    table = kept_tables.catalog(tmp_path).create_table("n.edges", TABLE.schema)
    with table.update_spec() as change:
        change.add_field("day", transform, "by_day")
    table.append(TABLE)
    path = f"{tmp_path}/n/edges"
    wanted = TABLE.filter(pc.equal(TABLE["day"], pa.scalar(kept_tables.DAYS[1])))
    frame = read_table(path, where="day = 2026-11-02")
    assert len(parts_of(frame)) == 1
    assert rows(path, where="day = 2026-11-02") == of(wanted)
    assert rows(path) == of(TABLE)
    days = len(parts_of(read_table(path, where="day > 2026-11-02 or day < 2026-10-01")))
    assert days == 2


CONDITIONS = ["src = 3", "kind != 'road'", "kind in ('rail', 'x') and src not in (1, 2)", "day is null",
    "weight is not null or src > 1e30", "day < 2026-11-02T12:00"]  # fmt: skip


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_are_those_of_parquet(tmp_path, condition):
    _, path = kept_tables.iceberg(TABLE, tmp_path)
    pq.write_table(TABLE, tmp_path / "same.parquet")
    assert rows(path, where=condition) == rows(tmp_path / "same.parquet", where=condition)


class Deletes(snapshots._FastAppendFiles):
    """A snapshot with files of deletes, which pyiceberg reads and does not write yet."""

    def __init__(self, deleted, *given):
        super().__init__(*given)
        self._deletes = deleted

    def _existing_manifests(self):
        metadata = self._transaction.table_metadata
        with manifests.write_manifest(
            2,
            metadata.spec(),
            metadata.schema(),
            self.new_manifest_output(),
            self._snapshot_id,
            "null",
        ) as writer:
            writer.content = lambda: manifests.ManifestContent.DELETES
            added = {
                "status": manifests.ManifestEntryStatus.ADDED,
                "snapshot_id": self._snapshot_id,
            }
            writer.add(manifests.ManifestEntry.from_args(**added, data_file=self._deletes))
        return [*super()._existing_manifests(), writer.to_manifest_file()]


def delete_rows(table, positions):
    """Commit a file that says which rows of a table's one file are deleted, as Spark does that merges on read."""
    (task,) = table.scan().plan_files()
    name, path = task.file.file_path, f"{table.location()}/data/deletes.parquet"
    numbers = {"file_path": ("2147483546", pa.string()), "pos": ("2147483545", pa.int64())}
    fields = [
        pa.field(column, kind, False, {"PARQUET:field_id": number})
        for column, (number, kind) in numbers.items()
    ]
    given = pa.table([[name] * len(positions), positions], schema=pa.schema(fields))
    local = path.removeprefix("file://")
    pq.write_table(given, local)
    counts = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts")
    file = manifests.DataFile.from_args(
        content=manifests.DataFileContent.POSITION_DELETES,
        file_path=path,
        file_format=manifests.FileFormat.PARQUET,
        partition=task.file.partition,
        record_count=len(positions),
        file_size_in_bytes=os.path.getsize(local),
        lower_bounds={2147483546: name.encode()},
        upper_bounds={2147483546: name.encode()},
        spec_id=0,
        **{name: {} for name in counts},
    )
    with table.transaction() as transaction:
        Deletes(file, snapshots.Operation.APPEND, transaction, table.io).commit()


def test_files_of_deletes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table, path = kept_tables.iceberg(TABLE, tmp_path)
    delete_rows(table, [0, 7, 250])
    assert [len(task.delete_files) for task in table.scan().plan_files()] == [1]
    left = [k for k in range(len(TABLE)) if k not in (0, 7, 250)]
    expected = TABLE.take(left)
    assert of(table.scan().to_arrow()) == of(expected)  # as pyiceberg reads it
    assert rows(path) == of(expected)
    assert rows(path, where="weight > 4") == of(expected.filter(pc.greater(expected["weight"], 4)))
    parts = parts_of(read_table(path))
    assert len(pickle.loads(pickle.dumps(parts))) == 1  # they travel to workers
    call("degree", path, "--output", "out")
    frame = expected.to_pandas().graph.degree()
    pd.testing.assert_frame_equal(result(), frame, check_dtype=False)


def test_files_that_were_there_before_the_table(tmp_path):
    """They have no field numbers: names say which columns are which, and pyiceberg reads them."""
    pq.write_table(TABLE, tmp_path / "before.parquet")
    table, path = kept_tables.iceberg(TABLE.slice(0, 0), tmp_path)
    table.add_files([f"file://{tmp_path}/before.parquet"])
    assert rows(path) == of(TABLE)
    assert len(rows(path, where="src = 3")) == TABLE["src"].to_pylist().count(3)


def test_no_rows(tmp_path):
    _, path = kept_tables.iceberg(TABLE.slice(0, 0), tmp_path)
    found = read_table(path)
    assert len(found.graph().pagerank().compute()) == 0
    assert found.columns.tolist() == TABLE.column_names


def test_two_metadata_files_of_one_version(tmp_path):
    table, path = kept_tables.iceberg(TABLE, tmp_path)
    last = Path(table.metadata_location.removeprefix("file://"))
    other = last.with_name(last.name.replace("-", "-0", 1))
    other.write_text(last.read_text())
    with pytest.raises(errors.UnreadableTable, match="several metadata files of one version"):
        read_table(path)
    other.unlink()
    last.write_text(json.dumps({"format-version": 2}))
    with pytest.raises(errors.UnreadableTable, match="cannot read the Iceberg table"):
        read_table(path)


def test_without_the_package(tmp_path, monkeypatch):
    _, path = kept_tables.iceberg(TABLE, tmp_path)
    monkeypatch.setitem(sys.modules, "pyiceberg", None)
    monkeypatch.delitem(sys.modules, "dask_graphgpu.io.tables.iceberg_table", raising=False)
    with pytest.raises(errors.MissingPackage, match=r"pip install 'dask-graphgpu\[iceberg\]'"):
        read_table(path)
