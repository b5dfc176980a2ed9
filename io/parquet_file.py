"""One Parquet file: whatever is asked of it, it answers or there is an error with its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.fs
import pyarrow.parquet as pq

from dask_graphgpu.errors import GraphError, UnreadableParquet
from dask_graphgpu.io.footer import page_offsets

# Compressed bytes of a dictionary page that may have been given up on: writers do so at 1 MiB.
_LARGE_DICTIONARY = 1 << 18
_FIRST_GROUPS = 2  # that are looked at: footers may have thousands


@contextmanager
def told(path: str, part: str = "") -> Iterator[None]:
    """Make an UnreadableParquet that names the file of whatever goes wrong inside.

    Damage takes every form there: of Arrow's errors, and of those of the decoders of text and of JSON
    that names and metadata go through.
    """
    try:
        yield
    except GraphError:
        raise
    except Exception as error:
        line = str(error).splitlines()[0] if str(error) else type(error).__name__
        if (
            getattr(error, "errno", None) is not None
        ):  # of the system: the content has not been seen
            raise UnreadableParquet(f"cannot read {part}{path}: {line}") from error
        reason = "it is not a complete Parquet file: write it again, or move it elsewhere"
        if part:
            reason = "the file is truncated or damaged: write it again"
        if isinstance(error, MemoryError):  # what damage says of lengths, or so it is
            reason += "; or there is too little memory"
        raise UnreadableParquet(f"cannot read {part}{path}: {line}; {reason}") from error


def open_file(
    path: str, filesystem: Any = None, metadata: Any = None, encoded: Sequence[str] = ()
) -> pq.ParquetFile:
    """Open a file, whose ``metadata`` may be known.

    ``encoded`` : columns of strings that come as dictionaries.
    """
    with told(path):
        file = pq.ParquetFile(
            path, filesystem=filesystem, metadata=metadata, read_dictionary=list(encoded)
        )
        _ = file.schema_arrow.names  # which may be damaged text
        return file


def footer_schema(path: str, filesystem: Any = None) -> pa.Schema:
    """Columns of a file; raises UnreadableParquet unless it ends in a footer of Parquet."""
    with open_file(path, filesystem) as file:
        schema: pa.Schema = file.schema_arrow
        return schema


def filled_groups(file: pq.ParquetFile, path: str) -> list[tuple[int, int]]:
    """The row groups that have rows, and how many."""
    with told(path):
        metadata = file.metadata
        rows = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    return [(group, number) for group, number in enumerate(rows) if number]


def small_dictionaries(file: pq.ParquetFile, names: Sequence[str], path: str) -> list[str]:
    """Those columns of strings that are dictionary-encoded throughout, as the first row groups have it.

    A writer gives up on a dictionary that grows large, and goes on in plain pages, which to read
    into a dictionary takes several times as long as to hash them later.
    """
    with told(path):
        places = {file.schema.column(i).path: i for i in range(len(file.schema))}
        texts = [
            name
            for name in names
            if name in places and _is_text(file.schema_arrow.field(name).type)
        ]
        groups = page_offsets(file.metadata, _FIRST_GROUPS) if texts else []
        return [name for name in texts if all(_is_small(*group[places[name]]) for group in groups)]


def read_group(
    file: pq.ParquetFile, group: int, columns: Sequence[str], path: str, *, threads: bool = False
) -> pa.Table:
    """Columns of a row group; with ``threads`` decoded side by side, by threads of Arrow's."""
    with told(path, f"row group {group} of "):
        table = file.read_row_group(group, columns=list(columns), use_threads=threads)
        return table.select(list(columns)).replace_schema_metadata()


def groups_where(file: pq.ParquetFile, path: str, filesystem: Any, condition: Any) -> set[int]:
    """The row groups whose statistics do not rule out that an expression of Arrow's is true for some row."""
    with told(path):
        where = pa.fs.LocalFileSystem() if filesystem is None else filesystem
        fragment = pa.dataset.ParquetFileFormat().make_fragment(path, filesystem=where)
        some = fragment.subset(condition, schema=file.schema_arrow)
        return {group.id for group in some.row_groups}


def _is_small(dictionary: int | None, data: int) -> bool:
    return dictionary is not None and data - dictionary <= _LARGE_DICTIONARY


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
