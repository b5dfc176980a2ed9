"""How files of text are to be read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from dask_graphgpu.errors import InvalidArgument

TYPES = {
    "int": pa.int64(),
    "float": pa.float64(),
    "text": pa.string(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}


@dataclass(frozen=True)
class TextOptions:
    """How files of text are read.

    Attributes
    ----------
    separator : str or None
        One character between columns; None: a tab in files that end in ``.tsv``, else a comma.
    header : bool
        Whether the first line names the columns; else they are called "0", "1" and so on.
    types : mapping of str to str
        Columns whose type is one of `TYPES`, whatever the beginning of the file looks like.
    alike : tuple of tuples of str
        Columns that hold the same ids: where one of them is text all are.
    text_ids : bool
        Whether ids are text, however they are written, as they are in another frame.

    Raises
    ------
    InvalidArgument
        The separator is not one character, or a type is none.
    """

    separator: str | None = None
    header: bool = True
    types: Mapping[str, str] = field(default_factory=dict)
    alike: tuple[tuple[str, ...], ...] = ()
    text_ids: bool = False

    def __post_init__(self) -> None:
        if self.separator is not None and (
            len(self.separator.encode()) != 1 or self.separator in '\r\n"'
        ):
            raise InvalidArgument(
                f"separator is {self.separator!r}; give one character, such as ;, or the format edgelist for columns "
                "with any number of spaces or tabs between them"
            )
        for name, kind in self.types.items():
            if kind not in TYPES:
                raise InvalidArgument(f"type is {name}={kind}; types are {', '.join(TYPES)}")

    def check_unused(self, columns: Collection[str], what: str) -> None:
        """Raise InvalidArgument where they say something of a table that is not of text."""
        typed = [name for name in self.types if name in columns]
        named = {
            "separator": self.separator is not None,
            "no-header": not self.header,
            f"type {typed[0] if typed else ''}": bool(typed),
        }
        for option, given in named.items():
            if given:
                raise InvalidArgument(
                    f"--{option} is for files of text, and {what} is none: leave it out, or name another format "
                    "with --format"
                )
