"""Where the ascending ids of all ranks are cut, a range for each home."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition.ids import bisect, composite
from dask_graphgpu.partition.ranks.wire import tables_to_all

# Ids that a rank shows for the ranges of the homes to be cut: 1/256 is how far these may differ.
_SAMPLES = 256


def splits_of(ranks: Ranks, distinct: Sequence[pa.Array]) -> list[tuple[Any, ...]]:
    """Ids that cut those of all ranks into about equal parts, the same on every rank. Collective.

    ``distinct`` : ascending ids of this rank, a column each; some id of any rank at least.
    """
    total = int(ranks.sum(len(distinct[0])))
    step = max(total // (_SAMPLES * ranks.size), 1)
    shown = pa.array(np.arange(step // 2, len(distinct[0]), step))
    samples = tables_to_all(ranks, [[column.take(shown) for column in distinct]] * ranks.size)
    ids, _ = composite([[table[k] for table in samples] for k in range(len(distinct))])
    places = [len(ids[0]) * h // ranks.size for h in range(1, ranks.size)]
    return [tuple(column[place].as_py() for column in ids) for place in places]


def cuts_of(columns: Sequence[pa.Array], splits: Sequence[tuple[Any, ...]]) -> list[int]:
    """Where the rows for each home start in ascending ids, and where they end."""
    return [0, *(_below(columns, split) for split in splits), len(columns[0])]


def _below(columns: Sequence[pa.Array], split: tuple[Any, ...]) -> int:
    """How many of the ascending ids stand before another one."""
    lo, hi = 0, len(columns[0])
    for column, value in zip(columns, split, strict=True):
        lo, hi = bisect(column, value, lo, hi, False), bisect(column, value, lo, hi, True)
        if lo == hi:
            break
    return lo
