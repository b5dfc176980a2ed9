"""Bare Parquet behind a Dask frame: read row group by row group, with errors that name the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq

from dask_graphgpu.errors import InvalidEdges, UnreadableParquet
from dask_graphgpu.io.frames import on_device

# Compressed bytes of a dictionary page that may have been given up on: writers do so at 1 MiB.
_LARGE_DICTIONARY = 1 << 18


@dataclass(frozen=True)
class Piece:
    """Some row groups (None: all) of one Parquet file; ``filesystem`` None: local."""

    path: str
    row_groups: tuple[int, ...] | None
    filesystem: Any = None


def pieces(frame: Any) -> list[Piece] | None:
    """The Parquet files behind a Dask frame, in the order of its partitions.

    None unless the frame is nothing but ``read_parquet`` and a choice of columns: what filters,
    renames or computes goes through the frame's own partitions, as does what cuDF reads.
    """
    expr = None if on_device(frame) else _reading(frame)
    if expr is None or expr.filters or expr.operand("_series"):
        return None
    chosen = expr.operand("_partitions")
    if hasattr(expr, "fragments"):
        found = [
            Piece(
                fragment.path,
                None if fragment.row_groups is None else tuple(g.id for g in fragment.row_groups),
                fragment.filesystem,
            )
            for fragment in expr.fragments
        ]
        stored = set(expr.fragments[0].physical_schema.names) if expr.fragments else set()
    else:
        info = expr._dataset_info
        stored = set(info["physical_schema"].names)
        found = []
        parts = expr._plan["parts"]  # lists where small row groups of a file are put together
        for part in (
            each for some in parts for each in (some if isinstance(some, list) else [some])
        ):
            for piece in part["piece"] if isinstance(part["piece"], list) else [part["piece"]]:
                path, groups, _ = piece
                groups = None if groups in (None, [None]) else tuple(groups)
                found.append(Piece(path, groups, info["fs"]))
    if chosen is not None or not set(frame.columns) <= stored:
        return None  # some partitions only, or columns that stand in folder names
    return [Piece(p.path, p.row_groups, _remote(p.filesystem)) for p in found]


def given_path(frame: Any) -> Any:
    """What ``read_parquet`` was given, of a frame that has `pieces`."""
    return _reading(frame).operand("path")


def _reading(frame: Any) -> Any:
    """The expression that reads Parquet, of a frame that is nothing else; None of any other."""
    from dask.dataframe.dask_expr._expr import Projection
    from dask.dataframe.dask_expr.io.parquet import ReadParquet

    expr = frame.expr.simplify()
    if isinstance(expr, Projection):  # columns in another order than in the files
        expr = expr.frame
    return expr if isinstance(expr, ReadParquet) else None


def split(found: Sequence[Piece], enough: int) -> list[Piece]:
    """Cut pieces into runs of row groups where there are fewer than ``enough``; reads footers."""
    if len(found) >= enough:
        return list(found)
    runs = -(-enough // max(len(found), 1))
    return [
        Piece(piece.path, tuple(int(group) for group in groups), piece.filesystem)
        for piece in found
        for groups in np.array_split(np.array(_groups(_open(piece), piece)), runs)
        if len(groups)
    ]


def row_groups(piece: Piece) -> list[tuple[int, int]]:
    """The row groups of a piece and how many rows each has, from the footer."""
    metadata = _open(piece).metadata
    groups = range(metadata.num_row_groups) if piece.row_groups is None else piece.row_groups
    return [(group, metadata.row_group(group).num_rows) for group in groups]


def num_rows(found: Sequence[Piece]) -> int:
    """Rows, from the footers."""
    return sum(rows for piece in found for _, rows in row_groups(piece))


def read_pieces(
    piece: Piece, columns: Sequence[str], strings: Sequence[str]
) -> Iterator[tuple[pd.DataFrame, str]]:
    """The columns of one row group after the other, as Arrow-backed frames, and where each stands.

    Columns of ``strings`` come dictionary-encoded where they are so in the file.

    Raises
    ------
    UnreadableParquet
        The file cannot be opened or decoded; the message names it.
    InvalidEdges
        It has no such column.
    """
    file = _open(piece)
    encoded = [name for name in strings if _is_dictionary(file, name)]
    if encoded:
        file = _open(piece, encoded)
    missing = [name for name in columns if name not in file.schema_arrow.names]
    if missing:
        raise InvalidEdges(
            f"{piece.path} has no column {missing[0]!r}; it has {file.schema_arrow.names}"
        )
    for group in _groups(file, piece):
        try:
            table = file.read_row_group(group, columns=list(columns), use_threads=False)
        except (OSError, pa.ArrowException) as error:
            raise UnreadableParquet(
                f"cannot read row group {group} of {piece.path}: {_line(error)}; the file is "
                "truncated or damaged: write it again"
            ) from error
        frame = table.select(list(columns)).to_pandas(
            types_mapper=pd.ArrowDtype, ignore_metadata=True
        )
        yield frame, f"row group {group} of {piece.path}"


def _is_dictionary(file: pq.ParquetFile, name: str) -> bool:
    """Whether a column is dictionary-encoded throughout.

    A writer gives up on a dictionary that grows large, and goes on in plain pages, which to read
    into a dictionary takes several times as long as to hash them later.
    """
    for group in range(file.num_row_groups):
        chunks = file.metadata.row_group(group).to_dict()["columns"]
        for chunk in (chunk for chunk in chunks if chunk["path_in_schema"] == name):
            start = chunk["dictionary_page_offset"]
            if start is None or chunk["data_page_offset"] - start > _LARGE_DICTIONARY:
                return False
    return True


def _groups(file: pq.ParquetFile, piece: Piece) -> Sequence[int]:
    return range(file.num_row_groups) if piece.row_groups is None else piece.row_groups


def _open(piece: Piece, strings: Sequence[str] = ()) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(
            piece.path, filesystem=piece.filesystem, read_dictionary=list(strings)
        )
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(piece.path, error) from error


def check_footer(path: str) -> None:
    """Raise UnreadableParquet unless a local file ends in the footer of a Parquet file."""
    _open(Piece(path, None)).close()


def _unreadable(path: str, error: Exception) -> UnreadableParquet:
    """The error of a file that cannot be opened as Parquet."""
    if getattr(error, "errno", None) is not None:  # from the system: the content has not been seen
        return UnreadableParquet(f"cannot read {path}: {_line(error)}")
    return UnreadableParquet(
        f"cannot read {path}: {_line(error)}; it is not a complete Parquet file: write it again, or "
        "move it elsewhere"
    )


def _remote(filesystem: Any) -> Any:
    """A filesystem for pyarrow; None for the local one, which it reads without Python's help."""
    from fsspec.implementations.local import LocalFileSystem

    if isinstance(filesystem, (LocalFileSystem, pa.fs.LocalFileSystem)) or filesystem is None:
        return None
    if isinstance(filesystem, pa.fs.FileSystem):
        return filesystem
    return pa.fs.PyFileSystem(pa.fs.FSSpecHandler(filesystem))


def _line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
