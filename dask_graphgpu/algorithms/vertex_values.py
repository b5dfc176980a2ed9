"""Arguments that give every vertex a value: a number for all, a frame, or a vertices column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.arguments import check_real, is_real
from dask_graphgpu.errors import InvalidArgument, UnknownVertex
from dask_graphgpu.io.frames import is_frame
from dask_graphgpu.io.schema import EdgeSchema, find_vertex_columns
from dask_graphgpu.partition import rowwise
from dask_graphgpu.partition.chunk import VertexChunk
from dask_graphgpu.partition.device.masks import all_true, count_true
from dask_graphgpu.partition.ids import common_type

_IDS = "the graph's ids and those given"


@dataclass(frozen=True)
class FrameColumns:
    """Value columns of a frame that was given as an argument; its chunks are in ``Run.frames``.

    ``groups`` : columns of groups, which stand behind the ids in chunks; see `vertex_labels`.
    """

    names: tuple[str, ...]
    groups: int = 0


def check_values(name: str, value: Any, *, number: bool = False, several: bool = False) -> None:
    """Raise InvalidArgument unless ``value`` can give every vertex a value.

    Allowed are a frame, the name of a column of the vertices frame, where ``number`` a finite
    number for all vertices, and where ``several`` a list of names.
    """
    if isinstance(value, FrameColumns | str) or is_frame(value):
        return
    if number and is_real(value):
        check_real(name, value, "a finite number", np.isfinite)
        return
    if several and isinstance(value, Sequence) and all(isinstance(c, str) for c in value):
        return
    raise InvalidArgument(
        f"{name} is a {type(value).__name__}; give a frame with the id column(s) and "
        f"{'the' if several else 'one more'} numeric column{'s' if several else ''}, or the "
        f"name{'s of columns' if several else ' of a column'} of the vertices frame"
        + (", or a number" if number else "")
    )


def value_names(name: str, value: Any, schema: EdgeSchema) -> list[str]:
    """Names of the columns of values that an argument gives, also of a frame that is not taken yet."""
    if isinstance(value, FrameColumns):
        return list(value.names)
    if not hasattr(value, "columns"):
        return list(vertices_columns(value))
    ids = find_vertex_columns(getattr(value, "_meta", value), schema, name)
    return [str(c) for c in value.columns if c not in ids]


def vertices_columns(*values: Any) -> tuple[str, ...]:
    """The columns of the vertices frame that these arguments name."""
    named: list[str] = []
    for value in values:
        if isinstance(value, str):
            named.append(value)
        elif isinstance(value, list | tuple):
            named += value
    return tuple(dict.fromkeys(named))


def read_values(
    run: Run, name: str, value: Any, *, add: bool = False, gaps: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Values in dense order, float64 of shape (num_vertices, columns), and which vertices have some.

    Vertices that a frame does not name hold 0. Rows of the same vertex add up where ``add``. Where
    ``gaps``, a column of the vertices frame may have nulls.

    Raises
    ------
    InvalidArgument
        A value is null, or, unless they add up, a vertex has two.
    UnknownVertex
        The frame names an id that is not a vertex.
    """
    n, like = run.view.num_vertices, run.rows  # in the memory of the ids
    if is_real(value):
        everywhere = np.full_like(like, float(value), np.float64, shape=n)
        return everywhere[:, None], np.ones_like(like, bool, shape=n)
    if gaps and isinstance(value, str):
        column, known = run.view.vertex_columns.with_gaps(value)
        return np.where(known, column, 0).astype(np.float64)[:, None], known
    if not isinstance(value, FrameColumns):
        columns = [run.view.vertex_columns[column] for column in vertices_columns(value)]
        return np.stack(columns, axis=1).astype(np.float64), np.ones_like(like, bool, shape=n)
    values = np.zeros((n, len(value.names)), like=like)
    times = np.zeros(n, np.uint64, like=like)
    for rows, given in _rows_of_frame(run, name, value.names):
        add_at = rowwise.add_at if run.ranks is not None else run.view.rows.rowwise.add_at
        add_at(values, rows, given)
        add_at(times, rows, 1)
    if not add and (repeated := run.total(times > 1)):
        raise InvalidArgument(
            f"{name}: {repeated} vertices have more than one row; drop the repeats"
        )
    return values, times > 0


def _rows_of_frame(run: Run, name: str, names: Sequence[str]) -> Iterator[tuple[Any, Any]]:
    """Where the rows of a frame belong in arrays, and their values of shape (rows, columns)."""
    chunks = [chunk for chunk in run.frames[name] if len(chunk)]
    for chunk in chunks:
        for nulls in chunk.nulls.values():
            raise InvalidArgument(
                f"{name}: {nulls.sum()} of its values are null; fill or drop them"
            )
    values = [np.stack([chunk.columns[c] for c in names], axis=1) for chunk in chunks]
    if run.ranks is None:
        for chunk, given in zip(chunks, values, strict=True):
            dense, known = run.ids.find_rows(chunk.ids())
            if not all_true(known):
                first = chunk.id_at(int(np.flatnonzero(~known)[0]))
                raise _unknown(name, len(known) - count_true(known), first)
            yield dense, given
        return
    dense = _numbers(run, name, chunks)
    given = np.concatenate([*values, np.zeros((0, len(names)))])
    rows, columns = run.ids.to_owners(dense, [given])
    yield rows, columns[0]


def dense_ids(run: Run, name: str) -> np.ndarray:
    """Dense ids of the vertices that the rows of a frame name, in their order; on one rank.

    Raises
    ------
    UnknownVertex
        One of them is not a vertex.
    """
    found = [run.rows[:0].astype(np.int64)]  # CuPy's empty_like takes a shape of 0 for none
    for chunk in run.frames[name]:
        if len(chunk):
            dense, known = run.ids.find_rows(chunk.ids())
            if not all_true(known):
                first = chunk.id_at(int(np.flatnonzero(~known)[0]))
                raise _unknown(name, len(known) - count_true(known), first)
            found.append(dense)
    return np.concatenate(found)


def mark_rows(run: Run, name: str, value: Any, marks: Any) -> None:
    """Set ``marks``, an array over vertices, at those that an argument names: a list of ids, or a frame; collective.

    Raises
    ------
    UnknownVertex
        One of them is not a vertex.
    """
    if not isinstance(value, FrameColumns):
        rows, _ = run.rows_of(run.ids.find(value))
    elif run.ranks is None:
        rows = dense_ids(run, name)
    else:
        chunks = [chunk for chunk in run.frames[name] if len(chunk)]
        rows, _ = run.ids.to_owners(_numbers(run, name, chunks), [])
    marks[rows] = True


def numbers_by_row(
    run: Run, names: Sequence[str], values: Sequence[str] = ()
) -> tuple[np.ndarray, int, list[np.ndarray]]:
    """Numbers of the vertices that the rows of frames of one length name; on several ranks.

    ``values`` : columns of the frames that are wanted, too.

    Returns
    -------
    rows : int64
        Places in the frames of the rows that this rank gets, ascending: equal shares, the first ones
        for the first rank.
    total : int
        Rows, of all ranks.
    list of arrays
        Of each frame the numbers of those rows, int64, and their values in each column, float64 or int64.

    Raises
    ------
    UnknownVertex
        One of them is not a vertex.
    """
    assert run.ranks is not None
    ranks, found = run.ranks, []
    total, rows = 0, np.empty(0, np.int64)
    for name in names:
        chunks = [chunk for chunk in run.frames[name] if len(chunk)]
        numbers = _numbers(run, name, chunks)
        places = [chunk.first_row + np.arange(len(chunk)) for chunk in chunks]
        rows = np.concatenate([rows[:0], *places])
        total = int(ranks.sum(len(rows)))
        order = np.argsort(rows)
        bounds = np.arange(1, ranks.size) * total // ranks.size
        cuts = np.searchsorted(rows[order], bounds)
        given = [column_of(run, name, column) for column in values]
        rows, *moved = (
            np.concatenate(ranks.all_to_all(np.split(each[order], cuts)))
            for each in (rows, numbers, *given)
        )
        order = np.argsort(rows)
        rows = rows[order]
        found += [each[order] for each in moved]
    return rows, total, found


def column_of(run: Run, name: str, column: str) -> Any:
    """A column of a frame by rows, float64, or int64 where all ranks have integers; collective.

    Raises
    ------
    InvalidArgument
        A value is null.
    """
    chunks = [chunk for chunk in run.frames[name] if len(chunk)]
    for chunk in chunks:
        if column in chunk.nulls:
            raise InvalidArgument(
                f"{name}: {chunk.nulls[column].sum()} of the values in {column!r} are null; fill or drop them"
            )
    floats = any(chunk.columns[column].dtype.kind == "f" for chunk in chunks)
    if run.ranks is not None:
        floats = bool(run.ranks.max(int(floats)))
    kind = np.float64 if floats else np.int64
    return np.concatenate(
        [run.rows[:0].astype(kind), *(chunk.columns[column].astype(kind) for chunk in chunks)]
    )


def _numbers(run: Run, name: str, chunks: Sequence[VertexChunk]) -> np.ndarray:
    """Numbers of the rows of a frame's chunks, which are those of this rank; collective."""
    assert run.ranks is not None
    table = _one_table(run, [chunk.ids() for chunk in chunks])
    dense: np.ndarray
    dense, known = run.ids.find_rows(table)
    unknown = run.ranks.sum(len(known) - count_true(known))
    if not all_true(known):
        row = int(np.flatnonzero(~known)[0])
        raise _unknown(name, unknown, tuple(column[row].as_py() for column in table))
    return dense


def numbers_of(run: Run, tables: Sequence[Sequence[Any]]) -> tuple[Any, Any]:
    """Dense ids, on ranks numbers, of the rows of tables of ids, and which rows are vertices at all; collective."""
    if run.ranks is not None:
        pairs = [run.ids.find_rows(_one_table(run, tables))]
    else:
        pairs = [run.ids.find_rows(table) for table in tables]
    none = run.rows[:0]
    dense = np.concatenate([none.astype(np.int64), *(each for each, _ in pairs)])
    return dense, np.concatenate([none.astype(bool), *(known for _, known in pairs)])


def _one_table(run: Run, tables: Sequence[Sequence[pa.Array]]) -> list[pa.Array]:
    """Tables of ids of a rank, which may have none, as one; collective."""
    none = run.ids.take(np.empty(0, run.view.numbers.dtype))
    return [joined(column, _IDS) for column in zip(*tables, none, strict=True)]


def joined(columns: Sequence[pa.Array], what: str) -> pa.Array:
    """Arrays of ids, one after the other, in the type that holds all; ``what`` they are, as errors say it."""
    kind = common_type([column.type for column in columns], what)
    return pa.concat_arrays([column.cast(kind) for column in columns])


def _unknown(name: str, unknown: float, first: tuple[Any, ...]) -> UnknownVertex:
    return UnknownVertex(
        f"{name}: {unknown} of its ids are not vertices of this graph, the first is "
        f"{first[0] if len(first) == 1 else first!r}"
    )


def finite_values(run: Run, name: str, value: Any, *, missing: float) -> np.ndarray:
    """One finite value a vertex in dense order, float64; ``missing`` where a frame gives none."""
    values, known = read_values(run, name, value)
    check_finite(run, name, values)
    filled: np.ndarray = np.where(known, values[:, 0], missing)
    return filled


def check_finite(run: Run, name: str, values: np.ndarray) -> None:
    """Raise InvalidArgument for infinities and NaN."""
    if bad := run.total(~np.isfinite(values)):
        raise InvalidArgument(f"{name}: {bad} of its values are infinite or NaN")
