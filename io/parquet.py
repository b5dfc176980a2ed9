"""Bare Parquet behind a Dask frame: read row group by row group, with errors that name the file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
from dask.dataframe.dask_expr._expr import Projection
from dask.dataframe.dask_expr.io.parquet import ReadParquetFSSpec, ReadParquetPyarrowFS
from dask.dataframe.io.parquet.arrow import ArrowDatasetEngine

from dask_graphgpu.errors import InvalidEdges
from dask_graphgpu.io.frames import on_device
from dask_graphgpu.io.objects.remote_files import arrow_filesystem
from dask_graphgpu.io.parquet_file import (
    filled_groups,
    groups_where,
    open_file,
    read_group,
    small_dictionaries,
    told,
)
from dask_graphgpu.io.tables.file_frames import ReadFiles
from dask_graphgpu.io.tables.file_rows import FileRows

READERS = ReadParquetFSSpec, ReadParquetPyarrowFS, ReadFiles


@dataclass(frozen=True)
class Piece:
    """Some row groups (None: all) of one Parquet file; ``filesystem`` None: local.

    ``metadata`` : what its footer says, where that has been read. ``without`` : a column that it is
    not to have. ``rows`` : what is made of its rows; None: nothing. ``stamp`` : changes
    with the file and with where it lies.
    """

    path: str
    row_groups: tuple[int, ...] | None
    filesystem: Any = None
    metadata: Any = field(default=None, repr=False, compare=False)
    without: str | None = None
    rows: FileRows | None = None
    stamp: str = ""

    def __dask_tokenize__(self) -> Any:
        where = getattr(self.filesystem, "type_name", None)
        return where, self.path, self.row_groups, self.stamp, self.without, str(self.rows)

    def read(self, columns: Sequence[str]) -> pa.Table | None:
        """Columns of all its rows; None: it has no rows."""
        tables = [table for table, _ in read_tables(self, columns, [])]
        return pa.concat_tables(tables, promote_options="permissive") if tables else None


def pieces(frame: Any, columns: Collection[str] | None = None) -> list[Piece] | None:
    """The Parquet files behind a Dask frame, in the order of its partitions.

    ``columns`` : those of it that are to be read; None: all.

    None unless the frame is nothing but ``read_parquet`` and a choice of columns: what filters,
    renames or computes goes through the frame's own partitions, as does what cuDF reads, and what
    is read in a way of the user's.
    """
    expr = None if on_device(frame) else _reading(frame)
    if isinstance(expr, ReadFiles):
        parts = [part for part in expr.parts if isinstance(part, Piece)]
        return parts if len(parts) == len(expr.parts) else None
    if expr is None or expr.filters or expr.operand("_series") or expr.operand("_partitions"):
        return None
    made = _of_arrow(expr) if isinstance(expr, ReadParquetPyarrowFS) else _of_fsspec(expr)
    if made is None:
        return None
    found, stored = made
    read = set(frame.columns if columns is None else columns)
    if not read <= stored:
        return None  # some stand in folder names
    # In the name are the state of the files and where they lie: equal paths may be of two buckets or servers.
    return [replace(piece, stamp=f"{expr._name} {piece.stamp}") for piece in found]


def _of_arrow(expr: ReadParquetPyarrowFS) -> tuple[list[Piece], set[str]] | None:
    """The pieces that Arrow's reader reads, and the columns in them."""
    if expr.operand("arrow_to_pandas") or _others(expr):
        return None
    known = expr._dataset_info["using_metadata_file"]  # else row groups are asked of footers
    found, folders = [], set()
    for fragment in expr.fragments:
        groups = tuple(group.id for group in fragment.row_groups) if known else None
        found.append(Piece(fragment.path, groups, arrow_filesystem(expr.fs)))
        folders |= set(pa.dataset.get_partition_keys(fragment.partition_expression))
    return found, set(expr._dataset_info["schema"].names) - folders


def _of_fsspec(expr: ReadParquetFSSpec) -> tuple[list[Piece], set[str]] | None:
    """The pieces that Dask's own reader reads, and the columns in them."""
    if expr.engine is not ArrowDatasetEngine or _others(expr):
        return None
    info, plan = expr._dataset_info, expr._plan
    stored = set(info["schema"].names) - set(info["partition_names"])
    if plan["empty"]:
        return [], stored
    found = []
    # Lists where small row groups of a file are put together.
    parts = [
        each for some in plan["parts"] for each in (some if isinstance(some, list) else [some])
    ]
    for part in parts:
        for piece in part["piece"] if isinstance(part["piece"], list) else [part["piece"]]:
            path, groups, _ = piece
            groups = None if groups in (None, [None]) else tuple(groups)
            found.append(Piece(path, groups, arrow_filesystem(info["fs"])))
    return found, stored


def _others(expr: Any) -> bool:
    """Whether a reader is told more than what types its columns have."""
    asked = {name: value for name, value in (expr.operand("kwargs") or {}).items() if value}
    schema_only = set(asked.pop("dataset", ())) <= {"schema"}
    return not schema_only or not set(asked) <= {"dtype_backend"}


def given_path(frame: Any) -> Any:
    """The path that a frame that has `pieces` was read from."""
    expr = _reading(frame)
    return expr.operand("given" if isinstance(expr, ReadFiles) else "path")


def refuse_column(piece: Piece, names: Sequence[str]) -> None:
    """Raise InvalidEdges where a file has a column that its piece is not to have."""
    if piece.without in names:
        raise InvalidEdges(
            f"{piece.path} has a column {piece.without!r} and the frame has none: Dask takes the columns of the "
            f"first file; write all files with one, or leave weights out, with weight=None"
        )


def _reading(frame: Any) -> Any:
    """The expression that reads Parquet, of a frame that is nothing else; None of any other."""
    expr = frame.expr
    if type(expr) not in READERS:
        expr = expr.simplify()
    if isinstance(expr, Projection):  # columns in another order than in the files
        expr = expr.frame
    return expr if type(expr) in READERS else None


def split(found: Sequence[Piece], enough: int) -> list[Piece]:
    """Cut pieces into runs of row groups where there are fewer than ``enough``; reads footers."""
    if len(found) >= enough:
        return list(found)
    runs = -(-enough // max(len(found), 1))
    made = []
    for piece in found:
        file = open_piece(piece)
        groups = [group for group, _ in _groups(file, piece)]
        made += [
            replace(piece, row_groups=tuple(int(g) for g in run), metadata=file.metadata)
            for run in np.array_split(np.array(groups, np.int64), runs)
            if len(run)
        ]
    return made


def row_groups(piece: Piece) -> list[tuple[int, int]]:
    """The row groups of a piece that have rows, and how many each has, from the footer."""
    return _groups(open_piece(piece), piece)


def num_rows(found: Sequence[Piece]) -> int:
    """Rows, from the footers."""
    return sum(rows for piece in found for _, rows in row_groups(piece))


def most_rows(found: Sequence[Piece]) -> int:
    """At most how many rows there are, from the footers that have been read; 2**32 of others."""
    return sum(map(_most_rows, found)) if all(piece.metadata for piece in found) else 1 << 32


def _most_rows(piece: Piece) -> int:
    """Rows of the row groups of a piece, whatever its condition rules out."""
    groups = range(piece.metadata.num_row_groups) if piece.row_groups is None else piece.row_groups
    return sum(piece.metadata.row_group(group).num_rows for group in groups)


def read_tables(
    piece: Piece, columns: Sequence[str], strings: Sequence[str], *, threads: bool = False
) -> Iterator[tuple[pa.Table, str]]:
    """The columns of one row group after the other, and where each stands.

    Columns of ``strings`` come dictionary-encoded where they are so in the file. A piece without
    rows may have any columns. With ``threads`` the columns of a row group are decoded side by side.

    Raises
    ------
    UnreadableParquet
        The file cannot be opened or decoded; the message names it.
    InvalidEdges
        It has no such column, or two.
    """
    file = open_piece(piece)
    groups = _groups(file, piece)
    if not groups:
        return
    names, rows = file.schema_arrow.names, piece.rows
    with told(piece.path):
        stored = list(columns) if rows is None else rows.stored(columns, file.schema_arrow)
    for name in stored:
        if names.count(name) != 1:
            number = f"{names.count(name)} columns" if name in names else "no column"
            raise InvalidEdges(f"{piece.path} has {number} {name!r}; it has {names}")
    refuse_column(piece, names)
    compared = set() if rows is None or rows.where is None else set(rows.where.columns)
    encoded = small_dictionaries(
        file, [n for n in strings if n in stored and n not in compared], piece.path
    )
    if encoded:
        file = open_file(piece.path, piece.filesystem, file.metadata, encoded)
    for group, _ in groups:
        table = read_group(file, group, stored, piece.path, threads=threads)
        where = f"row group {group} of {piece.path}"
        if rows is not None:
            with told(piece.path, f"row group {group} of "):
                table = rows.made(table, columns)
        if len(table):
            yield table, where


def _groups(file: pq.ParquetFile, piece: Piece) -> list[tuple[int, int]]:
    """Row groups of a piece that have rows, and how many; without those that its condition rules out."""
    found = filled_groups(file, piece.path)
    chosen = None if piece.row_groups is None else set(piece.row_groups)
    if chosen is None and piece.rows is not None and piece.rows.where is not None and found:
        bounds = piece.rows.bounds(file.schema_arrow)
        chosen = groups_where(file, piece.path, piece.filesystem, bounds)
    return [each for each in found if chosen is None or each[0] in chosen]


def open_piece(piece: Piece) -> pq.ParquetFile:
    """The file of a piece."""
    return open_file(piece.path, piece.filesystem, piece.metadata)
