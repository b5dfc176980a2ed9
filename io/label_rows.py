"""One partition of a frame that puts vertices into groups: ids, and labels of any type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dask_graphgpu.errors import InvalidArgument, InvalidEdges, InvalidVertices
from dask_graphgpu.io.arrow_frames import settled
from dask_graphgpu.io.columns import check_text, id_array
from dask_graphgpu.io.frames import meta_of, on_device, to_host, unlike, with_columns
from dask_graphgpu.io.schema import (
    EdgeSchema,
    find_vertex_columns,
    is_run_end_encoded,
    plain_type,
)
from dask_graphgpu.partition.ids import common_type

# Columns of results that say which group a vertex is in; of several the first counts.
GROUPS = ("community", "label", "component")


@dataclass(frozen=True, eq=False)
class LabelRows:
    """Arrow columns of one length, without nulls, strings as large ones: of ``ids`` and of ``labels``."""

    ids: tuple[pa.ChunkedArray, ...]
    labels: tuple[pa.ChunkedArray, ...]

    def __sizeof__(self) -> int:  # by which Dask places tasks and spills
        return sum(int(column.nbytes) for column in (*self.ids, *self.labels))


def found_labels(
    frame: Any, schema: EdgeSchema, usual: Sequence[str], what: str
) -> tuple[Any, tuple[str, ...], tuple[str, ...]]:
    """A frame that is given as labels, as one that is read, with its columns of ids and of labels.

    Raises
    ------
    InvalidArgument, InvalidVertices
        It is of another kind than the edge frame, or has not the columns; see `find_label_columns`.
    """
    if on_device(frame) != schema.on_device:
        raise InvalidArgument(unlike(what, frame))
    frame = settled(frame)
    ids = find_vertex_columns(meta_of(frame), schema, what)
    labels = find_label_columns([str(c) for c in frame.columns], ids, schema, usual, what)
    return with_columns(frame, [*ids, *labels]), ids, labels


def find_label_columns(
    columns: Sequence[str], ids: Sequence[str], schema: EdgeSchema, usual: Sequence[str], what: str
) -> tuple[str, ...]:
    """The columns of a frame that say a vertex's group: those of a result that are called ``usual``, else the only one.

    ``usual`` : the first that is there counts.

    Raises
    ------
    InvalidArgument
        There are several others, or none.
    """
    rest = [name for name in columns if name not in ids]
    for name in usual:
        for names in (schema.prefixed(name), (name,)):
            if set(names) <= set(rest):
                return names
    if len(rest) == 1:
        return (rest[0],)
    called = " or ".join(map(repr, usual))
    raise InvalidArgument(
        f"{what}: a frame with the id column(s) {list(ids)} and a column {called}, or one other column of labels; it "
        f"has {list(columns)}: rename the column of labels to {usual[0]!r}, or leave the others out"
    )


def read_labels(
    frame: Any, ids: Sequence[str], labels: Sequence[str], what: str, where: str
) -> LabelRows:
    """Check a partition of a frame of labels.

    Raises
    ------
    InvalidVertices
        A column is missing; ids are null or neither integers nor strings.
    InvalidArgument
        A label is null.
    """
    frame = to_host(frame)
    for name in (*ids, *labels):
        if name not in frame.columns:
            raise InvalidVertices(
                f"{what} has no column {name!r} in {where}; it has {[str(c) for c in frame.columns]}"
            )
    try:
        found = [_plain(id_array(frame[name], name, where)) for name in ids]
        for column in found:
            check_text(tuple(column.chunks), f"text of the id columns {list(ids)}", where)
    except InvalidEdges as error:
        raise InvalidVertices(f"{what}: {error}") from error
    return LabelRows(
        tuple(found), tuple(_labels(frame[name], name, what, where) for name in labels)
    )


def _labels(series: Any, name: str, what: str, where: str) -> pa.ChunkedArray:
    try:
        values = _plain(pa.array(series, from_pandas=True))
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise InvalidArgument(
            f"{what}: column {name!r} mixes types in {where} ({error}): cast it first"
        ) from error
    nulls = values.null_count
    if pa.types.is_nested(values.type):
        raise InvalidArgument(
            f"{what}: column {name!r} holds {values.type} in {where}; labels are single values, such as integers or "
            "strings: cast the column first"
        )
    if pa.types.is_floating(values.type):
        nulls += pc.sum(pc.is_nan(values)).as_py() or 0  # pandas sees no NaN in Arrow
        values = pc.add(values, pa.scalar(0.0, values.type))  # both zeros are one label
    if nulls:
        raise InvalidArgument(
            f"{what}: {nulls} labels in column {name!r} are null in {where}; drop these rows: a vertex without a label "
            "is where its edges lead"
        )
    return values


def _plain(values: pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    """Values however they were laid out, as chunks of plain ones."""
    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    if is_run_end_encoded(values.type):
        chunks = [pc.run_end_decode(chunk) for chunk in chunks]
    kind = plain_type(values.type)
    kind = pa.large_string() if pa.types.is_null(kind) else kind  # of objects without rows
    return pa.chunked_array([chunk.cast(kind) for chunk in chunks], kind)


def joined(parts: Sequence[LabelRows], what: str) -> tuple[list[pa.Array], list[pa.Array]]:
    """The columns of ids and of labels of all parts, of which there is one at least.

    Raises
    ------
    InvalidArgument
        Columns of parts are of types that do not go together.
    """
    filled = [part for part in parts if len(part.ids[0])] or parts[:1]
    try:
        ids, labels = (
            list(map(_joined, zip(*columns, strict=True)))
            for columns in ([part.ids for part in filled], [part.labels for part in filled])
        )
    except InvalidEdges as error:
        raise InvalidArgument(f"{what}: {error}") from error
    return ids, labels


def _joined(columns: Sequence[pa.ChunkedArray]) -> pa.Array:
    kind = common_type([column.type for column in columns], "its partitions")
    chunks = [chunk.cast(kind) for column in columns for chunk in column.chunks if len(chunk)]
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays([pa.array([], kind), *chunks])
