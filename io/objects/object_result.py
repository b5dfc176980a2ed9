"""A result on an object store: one Parquet object that is replaced by one request.

Readers that list a folder must never see a part of a result, and a store replaces no two objects as one step. So
partitions are written beside the folder, put together there, committed, and copied to ``result.parquet`` within the
store. There is nothing else in the folder: some readers of folders take whatever is in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from dask.base import is_dask_collection
from dask.delayed import delayed

from dask_graphgpu.errors import OutputError
from dask_graphgpu.io.by_values import check_number, sorted_by
from dask_graphgpu.io.computing import for_partitions
from dask_graphgpu.io.objects import commits
from dask_graphgpu.io.objects.commits import Commit, committing
from dask_graphgpu.io.objects.object_folder import ObjectFolder
from dask_graphgpu.io.result_table import as_table, encoding_of, is_stamped, schema_of

NAME = "result.parquet"
_STAGED = "_result"
_KIND = "result"
_PART, _GROUP = "dask_graphgpu part", "dask_graphgpu row group"  # columns beside those of values


def log_of(folder: ObjectFolder) -> ObjectFolder:
    """Where the commits of a result are, and what is not yet to be seen: beside it, hidden by its name."""
    return folder.beside(f"_{folder.name}.graphgpu")


def claim(folder: ObjectFolder) -> tuple[ObjectFolder, list[str]]:
    """A folder with the number that a writer finds there, and what is in it that is no result."""
    found, log = folder.sizes(), log_of(folder)
    others = sorted(found.keys() - {NAME})
    if NAME in found and not others and not _is_result(folder / NAME):
        others = [NAME]
    others += sorted(f"../{log.name}/{each}" for each in log.sizes() if not commits.is_ours(each))
    if others:
        return folder, others
    return commits.claimed(folder, log), []


def _is_result(place: ObjectFolder) -> bool:
    """Whether an object is one that we wrote."""
    while True:
        before = place.size()
        try:
            with place.opened("rb") as file:
                return is_stamped(pq.read_metadata(file))
        except pa.ArrowException:
            return False
        except OSError:
            if place.size() == before:  # else another one has taken its place meanwhile
                raise


def write_result(
    frame: Any, folder: ObjectFolder, by: tuple[str, ...] = (), about: Any = None
) -> None:
    """Compute a result frame, and write it in place of the one that is there.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame or pandas.DataFrame
        Partitions are written where they are computed; if there are several, one task puts them together, row group by
        row group.
    folder : ObjectFolder
        As `claim` gives it.
    by
        Columns: rows are in the order of their values, and those of each are row groups of their own, so that readers
        who ask for some of them read no others.
    about
        JSON values that are kept with it.

    Raises
    ------
    LostRace
        Another job has written there since.
    OutputError
        It is written and could not be put in its place: the next job does that first.
    OSError
        The store has failed; what was there is untouched.
    """
    log = log_of(folder)
    _put_in_place(folder, commits.latest(log))  # of a job that was killed before it had done so
    with committing(folder, log, _KIND) as made:
        here = made.folder
        schema = schema_of(frame._meta if is_dask_collection(frame) else frame, about)
        write = partial(_write, schema=schema, folder=here, by=by, output=str(folder))
        if not is_dask_collection(frame):
            write(frame, 0, names=[_STAGED])
        else:
            several = frame.npartitions > 1
            names = [f"_part-{i:05d}" for i in range(frame.npartitions)] if several else [_STAGED]
            for_partitions(partial(write, names=names), frame)
            if several:
                delayed(_put_together, pure=False)(here, names, by).compute()
        (here / _STAGED).size()  # that it is there: in a store that workers and this process share
    current = Commit((folder.began or 0) + 1, _KIND, made.name)
    try:
        _put_in_place(folder, current)
    except OSError as error:
        raise OutputError(
            f"the result is written to {here / _STAGED} and could not be put in its place, {folder / NAME}: "
            f"{error.strerror or error}; the next job with this output does that before it begins"
        ) from error
    commits.sweep(log, current)


def _write(
    partition: pd.DataFrame,
    i: int,
    *,
    schema: pa.Schema,
    folder: ObjectFolder,
    names: Sequence[str],
    by: tuple[str, ...],
    output: str,
) -> None:
    """Write a partition as one object."""
    table = as_table(partition, schema)
    sink = pa.BufferOutputStream()
    if not by:
        pq.write_table(table, sink, **encoding_of(table))
    else:
        table, starts = sorted_by(table, by)
        check_number(len(starts) - 1, by, output, "row group")
        with pq.ParquetWriter(sink, table.schema, **encoding_of(table)) as writer:
            for start, end in pairwise(starts.tolist()):
                writer.write_table(table.slice(start, end - start))
    (folder / names[i]).write(sink.getvalue().to_pybytes())


def _put_together(folder: ObjectFolder, names: Sequence[str], by: tuple[str, ...]) -> None:
    """Write the rows of some parts as one object, a few row groups at a time, in their order or that of values."""
    with ExitStack() as held:
        writer = None
        for table in _by_values(folder, names, by) if by else _in_order(folder, names):
            if writer is None:
                sink = held.enter_context((folder / _STAGED).opened("wb"))
                made = pq.ParquetWriter(sink, table.schema, **encoding_of(table))
                writer = held.enter_context(made)
            writer.write_table(table)


@contextmanager
def _part(folder: ObjectFolder, name: str) -> Iterator[pq.ParquetFile]:
    with (folder / name).opened("rb") as file, pq.ParquetFile(file) as part:
        yield part


def _in_order(folder: ObjectFolder, names: Sequence[str]) -> Iterator[pa.Table]:
    """The row groups of some parts."""
    for name in names:
        with _part(folder, name) as part:
            for i in range(part.num_row_groups):
                yield part.read_row_group(i)


def _by_values(
    folder: ObjectFolder, names: Sequence[str], by: tuple[str, ...]
) -> Iterator[pa.Table]:
    """The rows of each value, of all parts; a table without rows where there are none."""
    firsts = []
    for number, name in enumerate(names):
        with _part(folder, name) as part:
            rows = [part.metadata.row_group(i).num_rows for i in range(part.num_row_groups)]
            first = np.cumsum([0, *rows[:-1]])[: len(rows)]
            empty = part.schema_arrow.empty_table()
            keys = part.read(columns=list(by)).take(first)
        for column, values in ((_PART, [number] * len(rows)), (_GROUP, range(len(rows)))):
            keys = keys.append_column(column, pa.array(values, pa.int64()))
        firsts.append(keys)
    groups, starts = sorted_by(pa.concat_tables(firsts).unify_dictionaries(), by)
    if not len(groups):
        yield empty
    places = list(zip(groups[_PART].to_pylist(), groups[_GROUP].to_pylist(), strict=True))
    for start, end in pairwise(starts.tolist()):
        found = []
        for number, group in places[start:end]:
            with _part(folder, names[number]) as part:
                found.append(part.read_row_group(group))
        yield pa.concat_tables(found).unify_dictionaries()


def _put_in_place(folder: ObjectFolder, current: Commit | None) -> None:
    """Copy what a commit names to where readers look, then remove it: whoever comes later has nothing to copy."""
    if current is None or current.generation is None:
        return
    here = log_of(folder) / current.generation
    if _STAGED not in here.sizes():
        return  # done before
    with suppress(FileNotFoundError):  # another job has done it meanwhile
        (here / _STAGED).copy(folder / NAME)
    here.remove_all()
