"""Parquet frames in, checked before any work is done."""

from glob import glob
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pyarrow as pa

from dask_graphgpu.errors import UnreadableParquet
from dask_graphgpu.io.parquet_file import check_footer


def read_parquet(path: str) -> Any:
    """A Parquet file, folder or URL as a lazy Dask frame.

    Parameters
    ----------
    path
        As `dask.dataframe.read_parquet` takes it. With a ``*`` it is a pattern, in which ``?`` and
        ``[`` have a meaning too; without one they stand for themselves. The files of a local
        folder are those that end in ``.parquet``.

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
    if "://" not in path:
        for file in local_files(path):
            check_footer(str(file))
    try:
        return dd.read_parquet(path)
    except (OSError, pa.ArrowException) as error:
        raise UnreadableParquet(f"cannot read {path}: {error}") from error


def local_files(path: str) -> list[Path]:
    """The files of a local path or pattern, sorted.

    Raises
    ------
    UnreadableParquet
        There are none.
    """
    found = [Path(name) for name in sorted(glob(path))] if "*" in path else [Path(path)]
    if not found:
        raise UnreadableParquet(
            f"No file or folder matches {path}; in a pattern, write [[] for a [ of a name."
        )
    files = []
    for entry in found:
        if not entry.exists():
            raise UnreadableParquet(f"There is no file or folder {entry}.")
        inside = [entry]
        if entry.is_dir():
            inside = sorted(p for p in entry.rglob("*.parquet") if p.is_file())
        if not inside:
            raise UnreadableParquet(f"The folder {entry} holds no file that ends in .parquet.")
        files += inside
    return files
