"""Parquet frames in, checked before any work is done."""

from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pyarrow as pa
import pyarrow.parquet as pq

from dask_graphgpu.errors import UnreadableParquet


def read_parquet(path: str) -> Any:
    """A Parquet file, folder or URL as a lazy Dask frame.

    Parameters
    ----------
    path
        As `dask.dataframe.read_parquet` takes it. The files of a local folder are those that end in ``.parquet``.

    Returns
    -------
    dask.dataframe.DataFrame

    Raises
    ------
    UnreadableParquet
        There is no such file or folder, or a local file in it is truncated or not Parquet.

    Notes
    -----
    Reads the footer of every local file, which stands at its end: a file that was cut off is found before any work is
    done.
    """
    if "://" not in path and not any(c in path for c in "*?["):
        _check(Path(path))
    try:
        return dd.read_parquet(path)
    except (OSError, pa.ArrowException) as error:
        raise UnreadableParquet(f"{path} cannot be read as Parquet: {error}") from error


def _check(path: Path) -> None:
    if not path.exists():
        raise UnreadableParquet(f"There is no file or folder {path}.")
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    if not files:
        raise UnreadableParquet(f"The folder {path} holds no file that ends in .parquet.")
    for file in files:
        try:
            pq.read_metadata(file)
        except (OSError, pa.ArrowException) as error:
            raise UnreadableParquet(
                f"{file} cannot be read as Parquet ({error}). It may be truncated: write it again, or move it out of "
                "the folder."
            ) from error
