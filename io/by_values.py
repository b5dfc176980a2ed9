"""The rows of a table by the values of some columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dask_graphgpu.errors import OutputError

MOST_VALUES = 1024  # of a partition of the frame


def sorted_by(table: pa.Table, names: Sequence[str]) -> tuple[pa.Table, np.ndarray]:
    """The rows by ascending values of some columns, null last, those of equal values in their order.

    Returns
    -------
    pyarrow.Table
    ndarray of int64
        Where the rows of each value start, and where the last ones end.
    """
    keys = _plain(table.select(list(names)))
    order = pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in names])
    keys, table = keys.take(order), table.take(order)
    first = np.zeros(len(table), bool)
    first[:1] = True
    for column in keys.columns:
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        codes = encoded.indices.to_numpy()
        first[1:] |= codes[1:] != codes[:-1]
    return table, np.append(np.flatnonzero(first), len(table))


def _plain(table: pa.Table) -> pa.Table:
    """A table with values in place of numbers of categories."""
    for i, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = table[field.name].cast(field.type.value_type)
            table = table.set_column(i, field.name, plain)
    return table


def check_number(found: int, names: Sequence[str], destination: object, each: str) -> None:
    """Raise OutputError where a partition has rows of too many values, ``each`` of which would be something."""
    if found > MOST_VALUES:
        raise OutputError(
            f"the result could not be written to {destination}: {', '.join(names)} have {found:,} different values in "
            f"a part of it, and each would be a {each}; at most {MOST_VALUES:,} are made. Name a column of few "
            "values; what was there before is untouched."
        )
