"""Result frames by the values of columns: to folders, as in ``country=it/part.00000.1f2e3d4c-0.parquet``.

An object store replaces no two objects as one step: there a result stays one object, with row groups by the values.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from dask.base import is_dask_collection

from dask_graphgpu.errors import GraphError, InvalidArgument
from dask_graphgpu.io.by_values import MOST_VALUES, check_number
from dask_graphgpu.io.computing import for_partitions
from dask_graphgpu.io.objects.object_folder import ObjectFolder
from dask_graphgpu.io.output import check_destination, failed, others_in, write_parquet
from dask_graphgpu.io.place import Place
from dask_graphgpu.io.replace import replacing
from dask_graphgpu.io.result_table import as_table, schema_of, stamped


def check_partition_columns(names: Sequence[str], frame: Any) -> None:
    """Refuse columns that no folders can be made by.

    Raises
    ------
    InvalidArgument
        The result has no such column, or has no other; it is named twice, or holds floats.
    """
    schema = schema_of(frame)
    for i, name in enumerate(names):
        if name not in schema.names:
            raise InvalidArgument(f"partition_by names {name!r}, and the result has {schema.names}")
        if name in names[:i]:
            raise InvalidArgument(f"partition_by names {name!r} twice")
        if pa.types.is_floating(schema.field(name).type):
            raise InvalidArgument(
                f"partition_by names {name!r}, whose values are floats: there would be a folder for nearly each row; "
                "name a column of few values"
            )
    if len(names) == len(schema.names):
        raise InvalidArgument(
            f"partition_by names all columns of the result, {schema.names}: leave one out"
        )


def write_by(frame: Any, path: Place, names: Sequence[str]) -> Place:
    """Compute a result frame and write it to folders by the values of some columns, as `write_parquet` otherwise.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame or pandas.DataFrame
        Each partition becomes a file in each folder that it has rows for.
    path
        As of `write_parquet`: all folders are replaced together. On an object store the result is one object all the
        same, with the rows of each value in row groups of their own, in ascending order, and all columns.
    names
        Columns, the outer folders first: ``name=value``, ``name=__HIVE_DEFAULT_PARTITION__`` for null, other
        characters than letters and digits as in URLs. The files in them do not have these columns.

    Raises
    ------
    InvalidArgument, OutputError
        As of `write_parquet`; a partition has rows of more than 1,024 values.
    """
    destination = check_destination(path)
    if isinstance(destination, ObjectFolder):
        return write_parquet(frame, destination, by=tuple(names))
    schema = schema_of(frame._meta if is_dask_collection(frame) else frame)
    token = secrets.token_hex(4)
    try:
        with replacing(destination, others_in) as folder:
            write = partial(_write_partition, folder, destination, schema, tuple(names), token)
            if not is_dask_collection(frame):
                write(frame, 0)
            else:
                for_partitions(write, frame)
            if not any(folder.iterdir()):  # readers find the columns at least
                pq.write_table(
                    stamped(schema.empty_table()), folder / f"part.00000.{token}.parquet"
                )
    except GraphError:
        raise
    except OSError as error:
        raise failed(destination, error) from error
    return Path(destination)


def _write_partition(
    folder: Path,
    destination: Path,
    schema: pa.Schema,
    names: tuple[str, ...],
    token: str,
    part: pd.DataFrame,
    i: int,
) -> None:
    if not len(part):
        return
    table = _without(as_table(part, schema), names)
    found = table.group_by(list(names)).aggregate([]).num_rows
    check_number(found, names, destination, "folder")
    by = ds.partitioning(pa.schema([schema.field(name) for name in names]), flavor="hive")
    try:
        ds.write_dataset(
            table,
            folder,
            format="parquet",
            partitioning=by,
            basename_template=f"part.{i:05d}.{token}-{{i}}.parquet",
            existing_data_behavior="overwrite_or_ignore",
            max_partitions=MOST_VALUES,
        )
    except OSError as error:
        raise failed(destination, error) from error


def _without(table: pa.Table, names: tuple[str, ...]) -> pa.Table:
    """A table whose metadata for pandas leave out columns that are not going to be in its files."""
    metadata = dict(table.schema.metadata)
    if b"pandas" in metadata:
        told = json.loads(metadata[b"pandas"])
        told["columns"] = [column for column in told["columns"] if column["name"] not in names]
        metadata[b"pandas"] = json.dumps(told).encode()
    return table.replace_schema_metadata(metadata)
