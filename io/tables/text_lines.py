"""Lines of text as tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.csv

# Fields without quotes that are null.
_NULLS = ["", r"\N"]
_COMMENT = re.compile(rb"(?m)^[ \t]*[#%][^\n]*\n?")
_SPACES = re.compile(rb"[ \t]+")
_AT_ENDS = re.compile(rb"(?m)^ | (?=\r?$)")


def table_of(
    data: bytes,
    names: list[str] | None,
    separator: str,
    types: Mapping[str, pa.DataType],
    chosen: list[str] | None = None,
    *,
    spaced: bool = False,
) -> pa.Table:
    r"""Whole lines as a table; an empty field, and ``\N``, is null.

    Parameters
    ----------
    data : bytes
        Lines.
    names : list of str or None
        The columns; None: the first line names them.
    separator : str
    types : mapping of str to type
        Types of columns; those of others are found out.
    chosen : list of str or None
        Which columns are read.
    spaced : bool
        Whether columns stand between any number of spaces and tabs, and lines that begin with # or % are none.

    Raises
    ------
    pyarrow.ArrowInvalid
        A line has too few or too many columns, or a value is not of its type.
    """
    if spaced:
        data = _AT_ENDS.sub(b"", _SPACES.sub(b" ", _COMMENT.sub(b"", data)))
    if not data.strip():
        kinds = [(name, types.get(name, pa.null())) for name in chosen or names or ()]
        return pa.schema(kinds).empty_table()
    # All at once: what is found out of types is found out of all lines.
    reading = pyarrow.csv.ReadOptions(
        use_threads=False, block_size=len(data) + 1, column_names=names or None
    )
    parsing = pyarrow.csv.ParseOptions(
        delimiter=separator, quote_char=False if spaced else '"', newlines_in_values=not spaced
    )
    converting = pyarrow.csv.ConvertOptions(
        column_types=dict(types),
        include_columns=chosen,
        null_values=_NULLS,
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    return pyarrow.csv.read_csv(pa.BufferReader(data), reading, parsing, converting)


def chunks_of(file: Any, size: int, *, spaced: bool) -> Iterator[bytes]:
    """A file that is read once, as whole lines of about so many bytes; none ends within quotes."""
    rest = b""
    while data := file.read(size):
        rest += data
        cut = rest.rfind(b"\n") + 1
        if cut and (spaced or rest.count(b'"', 0, cut) % 2 == 0):
            yield rest[:cut]
            rest = rest[cut:]
    if rest:
        yield rest
