"""Result frames to Parquet: a folder that is there whole, or not at all, locally or on an object store."""

import secrets
import stat
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from dask.base import is_dask_collection

from dask_graphgpu.errors import GraphError, OutputError
from dask_graphgpu.io.claims import claimed
from dask_graphgpu.io.computing import for_partitions
from dask_graphgpu.io.generation import OpenFolder, of_one_generation
from dask_graphgpu.io.objects.object_folder import ObjectFolder
from dask_graphgpu.io.objects.object_result import NAME, claim, write_result
from dask_graphgpu.io.place import Place, place_of
from dask_graphgpu.io.replace import NotOnDisk, replacing
from dask_graphgpu.io.result_table import (
    about_of,
    as_table,
    encoding_of,
    is_stamped,
    schema_of,
)
from dask_graphgpu.kernels.cpu.threads import for_blocks, num_threads
from dask_graphgpu.partition.host_memory import give_back

_FEWEST_ROWS = 1 << 19  # of a file, where there are more of a partition


def write_parquet(
    frame: Any,
    path: str | Place,
    options: Any = None,
    by: tuple[str, ...] = (),
    about: Any = None,
) -> Place:
    """Compute a result frame and write it to a folder of Parquet files, in place of the one that is there.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame or pandas.DataFrame
        The result. Each partition becomes one file, in their order, or several that are written side by side, of
        at least half a million rows each; the index is not written.
    path
        Folder on a local or shared file system, or URL of one on an object store, there with one file; see
        `object_result`. It may be missing, empty, or hold an earlier result of this function.
    options : mapping, optional
        Of the object store.
    by
        Columns; on an object store the rows of each of their values are row groups of their own.
    about
        JSON values that are kept in the files, for `about_result`.

    Returns
    -------
    Path or ObjectFolder
        The folder.

    Raises
    ------
    InvalidArgument
        ``path`` is empty, or a URL of a store that cannot be written to.
    OutputError
        ``path`` holds something else, cannot be written (no space, no permission), or another job has written there
        since this one began. What was there is untouched.

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
    destination = check_destination(path, options)
    try:
        if isinstance(destination, ObjectFolder):
            write_result(frame, destination, by, about)
            return destination
        with replacing(destination, others_in) as folder:
            _write_partitions(frame, folder, destination, about)
    except GraphError:
        raise
    except OSError as error:
        raise failed(destination, error) from error
    return Path(destination)


def check_destination(path: str | Place, options: Any = None) -> Place:
    """The folder to write to, behind links; refused unless it is new, empty or an earlier result.

    It comes with what a writer has to know of what is there now: give it to `write_parquet`.

    Raises
    ------
    InvalidArgument, OutputError
    """
    destination = place_of(path, "output", options)
    if isinstance(destination, ObjectFolder):
        return _claimed(destination)
    if destination == destination.parent:
        raise OutputError(f"Cannot write a result over {destination}. Name a folder of its own.")
    if not destination.exists():
        return claimed(destination)
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
        raise _foreign(destination, others)
    return claimed(destination)


def _claimed(destination: ObjectFolder) -> ObjectFolder:
    if destination.began is not None:
        return destination
    try:
        found, others = claim(destination)
    except OSError as error:
        raise failed(destination, error) from error
    if others:
        raise _foreign(destination, others)
    return found


def _foreign(destination: Place, others: list[str]) -> OutputError:
    return OutputError(
        f"{destination} is not a result of dask_graphgpu: it holds {', '.join(others[:3])}"
        f"{' and more' if len(others) > 3 else ''}. Name a folder that is new, empty or an earlier result, or "
        "remove what is in this one; nothing was changed."
    )


def num_rows(destination: Place) -> int:
    """How many rows a result has, from its footers."""
    if isinstance(destination, ObjectFolder):
        with (destination / NAME).opened("rb") as file:
            return int(pq.read_metadata(file).num_rows)
    return sum(pq.read_metadata(file).num_rows for file in destination.rglob("*.parquet"))


def about_result(destination: Place) -> Any:
    """What was kept beside the columns of a result; None: nothing, or there is no result that can be read."""
    try:
        if isinstance(destination, ObjectFolder):
            with (destination / NAME).opened("rb") as file:
                return about_of(pq.read_metadata(file))
        first = next(destination.glob("*.parquet"), None)
        return None if first is None else about_of(pq.read_metadata(first))
    except (OSError, pa.ArrowException):
        return None


def write_text(path: str | Path, text: str, options: Any = None) -> None:
    """Write a file or an object, in place of the one that is there.

    What else has the same content by a hard link keeps it. What is no plain file, such as a pipe or a terminal, is
    written to.

    Raises
    ------
    OutputError
    """
    place = place_of(path, "report", options)
    if isinstance(place, ObjectFolder):
        try:
            place.write(text.encode())
        except OSError as error:
            raise OutputError(f"cannot write {place}: {error.strerror}") from error
        return
    file = place
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
    """Whether a file is one that we wrote, or a folder, such as ``country=it``, of nothing but such files."""
    if not name.endswith(".parquet"):
        return "=" in name and isinstance(folder.path, Path) and _is_our_folder(folder.path / name)
    try:
        with folder.open(name) as file:
            return is_stamped(pq.read_metadata(file))
    except (OSError, pa.ArrowException):  # no Parquet, or not for us to read
        return False


def _is_our_folder(path: Path) -> bool:
    if path.is_symlink() or not path.is_dir():
        return False
    with OpenFolder(path) as folder:
        return all(_is_ours(folder, name) for name in folder.names())


def _write_partitions(frame: Any, folder: Path, destination: Path, about: Any) -> None:
    write = partial(
        _write_partition,
        folder=folder,
        token=secrets.token_hex(4),
        schema=schema_of(frame._meta if is_dask_collection(frame) else frame, about),
        destination=destination,
    )
    if not is_dask_collection(frame):
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
    give_back(len(partition))  # what the graph has left behind, which is gone now
    table = as_table(partition, schema)
    encoding = encoding_of(table)
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


def failed(path: Place, error: OSError) -> OutputError:
    """The error of a result that could not be written."""
    if isinstance(error, NotOnDisk):
        return OutputError(f"The result {error.strerror}. Write it again if you need to be sure.")
    reason = error.strerror or str(error)
    advice = (
        "Choose another folder"
        if isinstance(path, ObjectFolder)
        else "Free space or choose another folder"
    )
    return OutputError(
        f"The result could not be written to {path}: {reason}. {advice}; what was there before is untouched."
    )
