"""Tables of Delta Lake and Iceberg on S3."""

import kept_tables
import pandas as pd
import pyarrow.compute as pc
import pytest
from commands import call
from deltalake import DeltaTable, write_deltalake

from dask_graphgpu.io.tables.read import read_table

TABLE = kept_tables.edges()


def delta(s3):
    options = {
        "AWS_ACCESS_KEY_ID": s3.options["key"],
        "AWS_SECRET_ACCESS_KEY": s3.options["secret"],
        "AWS_ENDPOINT_URL": s3.options["endpoint_url"],
        "AWS_ALLOW_HTTP": "true",
    }
    path = f"{s3.url}/delta"
    write_deltalake(path, TABLE, partition_by=["day"], storage_options=options)
    DeltaTable(path, storage_options=options).delete("src = 3")
    return path


def iceberg(s3, folder):
    options = {
        "s3.access-key-id": s3.options["key"],
        "s3.secret-access-key": s3.options["secret"],
        "s3.endpoint": s3.options["endpoint_url"],
    }
    table, path = kept_tables.iceberg(TABLE, s3.url, kept_tables.catalog(folder, s3.url, **options))
    table.delete("src == 3")
    return path


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_a_table_on_s3(s3, kind, tmp_path, monkeypatch):
    path = delta(s3) if kind == "delta" else iceberg(s3, tmp_path)
    expected = TABLE.filter(pc.not_equal(TABLE["src"], 3)).to_pandas()
    columns = ["src", "dst", "weight"]
    where = "day >= 2026-11-03 and weight > 4"
    found = read_table(path, where=where, storage_options=s3.options).compute()[columns]
    late = expected[(expected["day"] >= kept_tables.DAYS[2]) & (expected["weight"] > 4)]
    pd.testing.assert_frame_equal(
        *(f.sort_values(columns, ignore_index=True) for f in (found, late[columns])),
        check_dtype=False,
    )
    call("degree", path, "--output", f"{s3.url}/out", *s3.words)
    result = pd.read_parquet(f"{s3.url}/out", storage_options=s3.options)
    pd.testing.assert_frame_equal(result, expected.graph.degree(), check_dtype=False)
