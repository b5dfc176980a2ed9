"""Result frames to folders by the values of columns, as in ``country=it/part.00000.1f2e3d4c-0.parquet``."""

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

from dask_graphgpu.errors import GraphError, InvalidArgument, OutputError
from dask_graphgpu.io.computing import for_partitions
from dask_graphgpu.io.output import check_destination, failed, others_in
from dask_graphgpu.io.place import Place
from dask_graphgpu.io.replace import replacing
from dask_graphgpu.io.result_table import as_table, schema_of, stamped

MOST_FOLDERS = 1024  # of a partition of the frame


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


def write_by(frame: Any, path: Place, names: Sequence[str]) -> Path:
    """Compute a result frame and write it to folders by the values of some columns, as `write_parquet` otherwise.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame or pandas.DataFrame
        Each partition becomes a file in each folder that it has rows for.
    path
        As of `write_parquet`: all folders are replaced together.
    names
        Columns, the outer folders first: ``name=value``, ``name=__HIVE_DEFAULT_PARTITION__`` for null, other
        characters than letters and digits as in URLs. The files do not have them.

    Raises
    ------
    InvalidArgument, OutputError
        As of `write_parquet`; a partition has rows for more than 1,024 folders.
    """
    destination = check_destination(path)
    if not isinstance(destination, Path):
        raise OutputError(
            f"cannot write folders by values of {', '.join(names)} to {destination}: an object store does not replace "
            "several files at once; leave partition_by out, or name a folder of a local or shared file system"
        )
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
    if found > MOST_FOLDERS:
        raise OutputError(
            f"the result could not be written to {destination}: {', '.join(names)} have {found:,} different values in "
            f"a part of it, and each would be a folder; at most {MOST_FOLDERS:,} are made. Name a column of few "
            "values; what was there before is untouched."
        )
    by = ds.partitioning(pa.schema([schema.field(name) for name in names]), flavor="hive")
    try:
        ds.write_dataset(
            table,
            folder,
            format="parquet",
            partitioning=by,
            basename_template=f"part.{i:05d}.{token}-{{i}}.parquet",
            existing_data_behavior="overwrite_or_ignore",
            max_partitions=MOST_FOLDERS,
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
