"""One table of edges kept in every format that a job reads."""

import datetime as dt
import os

import deltalake
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog

DAYS = [dt.date(2026, 11, 1) + dt.timedelta(days=k) for k in range(4)]


def edges(seed=0, number=300):
    """Edges with integer ids and weights, a day and a kind."""
    drawn = np.random.default_rng(seed)
    return pa.table(
        {
            "src": drawn.integers(0, 40, number),
            "dst": drawn.integers(0, 40, number),
            "weight": drawn.integers(1, 9, number),
            "day": [DAYS[k] for k in np.sort(drawn.integers(0, 4, number))],
            "kind": [("road", "rail")[k] for k in drawn.integers(0, 2, number)],
        }
    )


def catalog(folder, warehouse=None, **options):
    """An Iceberg catalog of its own, with a namespace "n", whose tables lie beside it or at a URL."""
    os.makedirs(folder, exist_ok=True)
    where = warehouse or f"file://{folder}"
    made = SqlCatalog("c", uri=f"sqlite:///{folder}/c.db", warehouse=where, **options)
    made.create_namespace_if_not_exists("n")
    return made


def iceberg(table, folder, of=None):
    """An Iceberg table, and the path of its folder."""
    made = (of or catalog(folder)).create_table("n.edges", table.schema)
    made.append(table)
    return made, f"{folder}/n/edges"


def parquet(table, folder):
    pq.write_table(table, f"{folder}/edges.parquet", row_group_size=50)
    return "edges.parquet"


def csv(table, folder):
    table.to_pandas().to_csv(f"{folder}/edges.csv", index=False)
    return "edges.csv"


def csv_gz(table, folder):
    table.to_pandas().to_csv(f"{folder}/edges.csv.gz", index=False)
    return "edges.csv.gz"


def tsv(table, folder):
    table.to_pandas().to_csv(f"{folder}/edges.tsv", index=False, sep="\t")
    return "edges.tsv"


def csv_folder(table, folder):
    os.mkdir(f"{folder}/csv")
    for k in range(3):
        part = table.slice(k * 100, 100).to_pandas()
        part.to_csv(f"{folder}/csv/part-{k}.csv{'.gz' if k == 1 else ''}", index=False)
    return "csv"


def feather(table, folder):
    pyarrow.feather.write_feather(table, f"{folder}/edges.arrow", chunksize=50)
    return "edges.arrow"


def stream(table, folder):
    with pa.ipc.new_stream(f"{folder}/edges.arrows", table.schema) as file:
        file.write_table(table, 50)
    return "edges.arrows"


def hive(table, folder):
    pq.write_to_dataset(table, f"{folder}/hive", partition_cols=["day"])
    return "hive"


def delta(table, folder):
    deltalake.write_deltalake(f"{folder}/delta", table, partition_by=["day"])
    return "delta"


def iceberg_folder(table, folder):
    return iceberg(table, f"{folder}/warehouse")[1]


KINDS = (
    parquet,
    csv,
    csv_gz,
    tsv,
    csv_folder,
    feather,
    stream,
    hive,
    delta,
    iceberg_folder,
)
