"""Results by the values of columns, on an object store: one object, whose row groups have rows of one value each."""

import dask.dataframe as dd
import duckdb
import pandas as pd
import pyarrow.parquet as pq
import pytest
from commands import call, refused
from object_places import EDGES, is_result, same

from dask_graphgpu.errors import OutputError
from dask_graphgpu.io.by_values import sorted_by
from dask_graphgpu.io.hive_output import write_by
from dask_graphgpu.io.place import place_of
from dask_graphgpu.io.result_table import arrow_of

DEGREE = EDGES.graph().degree()
MIXED = pd.DataFrame(
    {
        "kind": pd.Categorical(["b", None, "a", "b", "a", None, "c"]),
        "flag": [True, False, True, True, False, False, True],
        "number": pd.array([3, None, 3, 3, 1, None, 3], dtype="Int64"),
        "row": range(7),
    }
)


def groups(store, names):
    """The values of each row group, in their order; and that it has no other."""
    found = []
    with store.fs.open(f"{store.url}/out/result.parquet") as file:
        part = pq.ParquetFile(file)
        for i in range(part.num_row_groups):
            rows = part.read_row_group(i, columns=names).to_pylist()
            assert all(row == rows[0] for row in rows)
            found.append(tuple(rows[0].values()))
    return found


def test_a_job(store):
    words = ["degree", f"{store.url}/edges", "--output", f"{store.url}/out", *store.words]
    told = call(*words, "--partition-by", "in_degree,out_degree").stderr
    assert told.startswith(f"degree: {len(DEGREE)} rows in ")
    assert is_result(store)
    by = ["in_degree", "out_degree"]
    assert groups(store, by) == sorted(set(DEGREE[by].itertuples(index=False, name=None)))
    found = pd.read_parquet(f"{store.url}/out", storage_options=store.options)
    assert list(found) == list(DEGREE)
    same(found, DEGREE.sort_values(by, kind="stable").reset_index(drop=True))
    few = pd.read_parquet(
        f"{store.url}/out", storage_options=store.options, filters=[("in_degree", "==", 7)]
    )
    assert sorted(few["vertex"]) == sorted(DEGREE["vertex"][DEGREE["in_degree"] == 7])
    call(*words)  # of another kind, and back
    call(*words, "--partition-by", "degree", "--keep", "degree > 10000")
    assert is_result(store)
    assert len(pd.read_parquet(f"{store.url}/out", storage_options=store.options)) == 0


@pytest.mark.parametrize("partitions", [0, 1, 3])
@pytest.mark.parametrize("by", [["kind"], ["flag", "kind"], ["number"]])
def test_values_of_all_kinds(memory, partitions, by):
    frame = dd.from_pandas(MIXED, npartitions=partitions) if partitions else MIXED
    write_by(frame, place_of(f"{memory.url}/out", "output"), by)
    wanted = MIXED.sort_values(by, kind="stable", na_position="last")
    found = pd.read_parquet(f"{memory.url}/out")
    assert found["row"].tolist() == wanted["row"].tolist()
    assert found["kind"].astype(object).fillna("").tolist() == (
        wanted["kind"].astype(object).fillna("").tolist()
    )
    assert len(groups(memory, by)) == len(MIXED[by].drop_duplicates())


def test_sorted_by_ties_stay_in_order():
    frame = pd.DataFrame({"a": [1, 0] * 5000, "row": range(10_000)})
    table, starts = sorted_by(arrow_of(frame), ["a"])
    assert starts.tolist() == [0, 5000, 10_000]
    assert table["row"].to_pylist() == [*range(1, 10_000, 2), *range(0, 10_000, 2)]


def test_too_many_values(memory):
    frame = pd.DataFrame({"a": range(1025), "b": 0})
    with pytest.raises(OutputError, match=r"1,025 different values .* each would be a row group"):
        write_by(frame, place_of(f"{memory.url}/out", "output"), ["a"])
    assert not [name for name in memory.names() if "out" in name]
    line = refused(
        "degree",
        f"{memory.url}/edges",
        "--partition-by",
        "x",
        "--output",
        f"{memory.url}/o",
        code=2,
    )
    assert "partition_by names 'x'" in line


def test_a_reader_reads_what_it_asks_for(s3):
    call(
        "degree", f"{s3.url}/edges", "--output", f"{s3.url}/out", *s3.words, "--partition-by", "degree"
    )  # fmt: skip
    folder = s3.url.removeprefix("s3://")
    with duckdb.connect() as database:
        database.register_filesystem(s3.fs)
        found = database.sql(
            f"from read_parquet('s3://{folder}/out/*.parquet') where degree = 14 order by vertex"
        ).df()
    assert found["vertex"].tolist() == DEGREE["vertex"][DEGREE["degree"] == 14].tolist()
