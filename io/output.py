"""Result frames to Parquet: a folder that is there whole, or not at all."""

import secrets
import stat
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dask_graphgpu.arguments import said
from dask_graphgpu.errors import GraphError, InvalidArgument, OutputError
from dask_graphgpu.io.computing import for_partitions
from dask_graphgpu.io.generation import OpenFolder, of_one_generation
from dask_graphgpu.io.replace import NotOnDisk, replacing
from dask_graphgpu.kernels.cpu.threads import for_blocks, num_threads

_FEWEST_ROWS = 1 << 19  # of a file, where there are more of a partition
_SAMPLE = 1000  # floats that are looked at
# In the metadata of the files that we write: only those may be replaced.
STAMP = {b"dask_graphgpu": b"result"}


def write_parquet(frame: Any, path: str | Path) -> Path:
    """Compute a result frame and write it to a folder of Parquet files, in place of the one that is there.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame or pandas.DataFrame
        The result. Each partition becomes one file, in their order, or several that are written side by side, of
        at least half a million rows each; the index is not written.
    path
        Folder on a local or shared file system. It may be missing, empty, or hold an earlier result of this function.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    InvalidArgument
        ``path`` is empty or a URL.
    OutputError
        ``path`` holds something else, or cannot be written (no space, no permission). What was there is untouched.

    Notes
    -----
    The files carry a stamp in the metadata of their schema, by which an earlier result is known. Integers are encoded
    by their differences (DELTA_BINARY_PACKED), which readers of Parquet 2 know.

    The files of each result have names of their own, ``part.00000.`` or ``part.00000-00000.`` and so on with a token
    behind it. A reader that
    has listed the old files when the new ones come finds all of them or misses one, and never reads rows of both.

    Needs room for the old and the new result side by side. Readers that open the folder see the old result or the new
    one, also when this process is killed at any moment.
    """
    destination = check_destination(path)
    try:
        with replacing(destination, others_in) as folder:
            _write_partitions(frame, folder, destination)
    except GraphError:
        raise
    except OSError as error:
        raise failed(destination, error) from error
    return destination


def check_destination(path: str | Path) -> Path:
    """The folder to write to, behind links; refused unless it is new, empty or an earlier result.

    Raises
    ------
    InvalidArgument, OutputError
    """
    destination = local_path(path, "output")
    if destination == destination.parent:
        raise OutputError(f"Cannot write a result over {destination}. Name a folder of its own.")
    if not destination.exists():
        return destination
    if not destination.is_dir():
        raise OutputError(
            f"{destination} is a file, and a result is a folder of Parquet files. Name another folder; "
            "nothing was changed."
        )
    try:
        others = of_one_generation(destination, _others)
    except OSError as error:
        raise failed(destination, error) from error
    if others:
        raise OutputError(
            f"{destination} is not a result of dask_graphgpu: it holds {', '.join(others[:3])}"
            f"{' and more' if len(others) > 3 else ''}. Name a folder that is new, empty or an earlier result, or "
            "remove what is in this one; nothing was changed."
        )
    return destination


def write_text(path: str | Path, text: str) -> None:
    """Write a file, in place of the one that is there; what else has the same content by a hard link keeps it.

    What is no plain file, such as a pipe or a terminal, is written to.

    Raises
    ------
    OutputError
    """
    file = Path(path).expanduser().resolve()
    try:
        if file.exists() and not file.is_file():
            file.write_text(text)
            return
        made = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
        try:
            with made.open("x") as new:
                new.write(text)
            if file.exists():
                made.chmod(stat.S_IMODE(file.stat().st_mode))
            made.replace(file)
        finally:
            made.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(
            f"cannot write {path}: {error.strerror}; what was there before is untouched"
        ) from error


def local_path(path: str | Path, name: str) -> Path:
    """A path to write to, behind links; ``~`` is the user's home.

    Raises
    ------
    InvalidArgument
        It is empty, which would be the current folder, a URL, or cannot be one; ``name`` says of what.
    """
    if not isinstance(path, str | Path):
        raise InvalidArgument(f"{name}={said(path)}; allowed is a path")
    if not str(path):
        raise InvalidArgument(f"{name} is empty: give a path, such as ./{name}")
    if "://" in str(path):
        raise InvalidArgument(
            f"{name} {path} is a URL: give a path on a local or shared file system, and copy what is written there"
        )
    try:
        found = Path(path).expanduser().resolve()
        found.exists()  # raises for a name that is too long
    except (
        ValueError,
        RuntimeError,
    ) as error:  # a character that no name has, an unknown user's home
        raise InvalidArgument(f"{name}={said(path)} is no path: {error}") from None
    except OSError as error:
        raise InvalidArgument(f"{name}={said(path)} is no path: {error.strerror}") from None
    return found


def others_in(path: Path) -> list[str]:
    """The files in a folder that we have not written."""
    with OpenFolder(path) as folder:
        return _others(folder)


def _others(folder: OpenFolder) -> list[str]:
    """The files of a folder that we have not written."""
    found = [name for name in folder.names() if not _is_ours(folder, name)]
    if found:
        folder.require_current()
    return found


def _is_ours(folder: OpenFolder, name: str) -> bool:
    """Whether a file is one that we wrote, or a folder such as ``country=it`` holds nothing else."""
    if not name.endswith(".parquet"):
        return "=" in name and _is_our_folder(folder.path / name)
    try:
        with folder.open(name) as file:
            stamps = pq.read_metadata(file).metadata or {}
    except (OSError, pa.ArrowException):  # no Parquet, or not for us to read
        return False
    return STAMP.items() <= stamps.items()


def _is_our_folder(path: Path) -> bool:
    if path.is_symlink() or not path.is_dir():
        return False
    with OpenFolder(path) as folder:
        return all(_is_ours(folder, name) for name in folder.names())


def _write_partitions(frame: Any, folder: Path, destination: Path) -> None:
    write = partial(
        _write_partition,
        folder=folder,
        token=secrets.token_hex(4),
        schema=schema_of(frame if isinstance(frame, pd.DataFrame) else frame._meta),
        destination=destination,
    )
    if isinstance(frame, pd.DataFrame):
        write(frame, 0)
    else:
        for_partitions(write, frame)


def _write_partition(
    partition: pd.DataFrame,
    i: int,
    *,
    folder: Path,
    token: str,
    schema: pa.Schema,
    destination: Path,
) -> None:
    """Write one file, or a large partition as several, one a thread.

    Its OSErrors are about the output, whatever else fails in the same graph.
    """
    table = pa.Table.from_pandas(partition, schema=schema, preserve_index=False)
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), **STAMP})
    encoding = _encoding(table)
    files = max(min(len(table) // _FEWEST_ROWS, num_threads()), 1)
    cuts = np.arange(files + 1) * len(table) // files
    number = {int(lo): f"-{n:05d}" if files > 1 else "" for n, lo in enumerate(cuts[:-1])}

    def write(lo: int, hi: int) -> None:
        path = folder / f"part.{i:05d}{number[lo]}.{token}.parquet"
        pq.write_table(table.slice(lo, hi - lo), path, **encoding)

    try:
        for_blocks(write, cuts)
    except OSError as error:
        raise failed(destination, error) from error


def _encoding(table: pa.Table) -> dict[str, Any]:
    """How columns are written: integers by their differences; a dictionary of floats, if they repeat, and of the rest.

    Ids ascend and labels repeat, so that differences are few bits: ids take less than half of the time that they take
    as they are, and hardly room. A dictionary of floats that are all different takes twice the time.
    """
    integers, repeating = {}, []
    for field in table.schema:
        if pa.types.is_integer(field.type):
            integers[field.name] = "DELTA_BINARY_PACKED"
        elif not pa.types.is_floating(field.type) or _repeats(table[field.name]):
            repeating.append(field.name)
    return {"use_dictionary": repeating, "column_encoding": integers}


def _repeats(column: pa.ChunkedArray) -> bool:
    """Whether fewer than half of a sample of the values are different ones."""
    sample = column.take(np.linspace(0, len(column) - 1, min(len(column), _SAMPLE)).astype(int))
    return bool(2 * pc.count_distinct(sample, mode="all").as_py() < len(sample))


def schema_of(empty: pd.DataFrame) -> pa.Schema:
    """One schema of Arrow for all files, so that a partition without rows or values has the types of the others."""
    schema = pa.Schema.from_pandas(empty, preserve_index=False)
    for i, field in enumerate(schema):
        if pa.types.is_null(field.type):  # an object column: of ids, only strings come as objects
            schema = schema.set(i, field.with_type(pa.string()))
    return schema


def failed(path: Path, error: OSError) -> OutputError:
    """The error of a result that could not be written."""
    if isinstance(error, NotOnDisk):
        return OutputError(f"The result {error.strerror}. Write it again if you need to be sure.")
    reason = error.strerror or str(error)
    return OutputError(
        f"The result could not be written to {path}: {reason}. Free space or choose another folder; what was there "
        "before is untouched."
    )
