"""Columns that files have and a frame has not, which has those of the first file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dask.dataframe.dask_expr.io.parquet import ReadParquetPyarrowFS

from dask_graphgpu.io.objects.remote_files import arrow_filesystem
from dask_graphgpu.io.parquet import READERS, Piece, open_piece, refuse_column
from dask_graphgpu.io.tables.file_frames import ReadFiles

# Expressions that give the columns of a frame on as they are, all of them; after others somebody has chosen.
_KEEPING_COLUMNS = {
    *(
        "Assign",
        "AsType",
        "Concat",
        "DropDuplicates",
        "DropnaFrame",
        "Fillna",
        "Filter",
        "Head",
        "LocUnknown",
    ),
    *(
        "Partitions",
        "Query",
        "RearrangeByColumn",
        "Repartition",
        "Replace",
        "ResetIndex",
        "Sample",
        "SortValues",
    ),
    *("Tail", "ToPandasBackend", "Where", "Mask", "Drop", "RenameFrame", "SetIndex"),
}


def takes_all_columns(frame: Any) -> bool:
    """Whether a frame has the columns of files, of which nobody has chosen some."""
    return next(_with_all_columns(frame.expr), None) is not None


def check_without(frame: Any, name: str) -> None:
    """Raise InvalidEdges where a file has a column that the frame would have if it had been in the first file.

    Of frames that are nothing but `pieces` this is looked at when they are read. Cost: the footers of all files, once
    for each ``read_parquet``.
    """
    for reading in _with_all_columns(frame.expr):
        looked_at = reading._name, name  # in which is the checksum of the files
        if looked_at in _without:
            continue
        for path, filesystem in _files(reading):
            piece = Piece(path, None, filesystem, without=name)
            refuse_column(piece, open_piece(piece).schema_arrow.names)
        _without[looked_at] = None
        while len(_without) > _MOST:
            _without.pop(next(iter(_without)), None)


_without: dict[tuple[str, str], None] = {}  # readings no file of which has a column
_MOST = 256


def _files(reading: Any) -> list[tuple[str, Any]]:
    """All files behind an expression that reads Parquet, each with its filesystem."""
    if isinstance(reading, ReadFiles):
        return [(part.path, part.filesystem) for part in reading.parts if isinstance(part, Piece)]
    if isinstance(reading, ReadParquetPyarrowFS):
        return [(fragment.path, arrow_filesystem(reading.fs)) for fragment in reading.fragments]
    info = reading._dataset_info
    return [(path, arrow_filesystem(info["fs"])) for path in info["ds"].files]


def _with_all_columns(expr: Any) -> Iterator[Any]:
    """Readings of Parquet whose columns an expression takes as they are."""
    left, seen = [expr], {expr._name}
    while left:
        each = left.pop()
        if type(each) in READERS:
            if not each.operand("columns"):
                yield each
        elif type(each).__name__ in _KEEPING_COLUMNS:
            new = [other for other in each.dependencies() if other._name not in seen]
            seen.update(other._name for other in new)
            left += new
