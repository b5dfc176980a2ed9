"""The vertices of a partition with the changes since it was built: their ids."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dask_graphgpu.partition.build import dense_dtype
from dask_graphgpu.partition.growth import Growth
from dask_graphgpu.partition.ids import composite
from dask_graphgpu.partition.ranks.merging import merged

_MANY = 1 << 16  # ids, for which what merges them is worth compiling


def merged_ids(growth: Growth) -> tuple[list[pa.Array], np.ndarray, np.ndarray]:
    """The ids that are left and new, ascending, the place of each number among them, and which numbers are there.

    Of those that are not the place is anything.
    """
    base, old = growth.base, growth.base.num_vertices
    dense = np.ones(old, bool)
    dense[growth.vanished] = False
    ranked = base.ids.rank
    left = dense if ranked is None else dense[base.ids.in_user_order()]  # by the user's order
    kept = [column if left.all() else column.filter(pa.array(left)) for column in base.ids.columns]
    used = np.zeros(growth.num_numbered - old, bool)
    for ends in (growth.source, growth.destination):
        used[ends[ends >= old] - old] = True
    fresh = [column.filter(pa.array(used)) for column in growth.fresh]
    dtype = dense_dtype(len(kept[0]) + len(fresh[0]))
    place: np.ndarray = np.zeros(growth.num_numbered, dtype)
    if len(fresh[0]):
        ids, (of_kept, of_fresh) = _merged(kept, fresh)
        place[old:][used] = of_fresh
    else:
        ids, of_kept = kept, np.arange(len(kept[0]), dtype=dtype)
    in_order: np.ndarray = np.zeros(old, dtype)
    in_order[left] = of_kept
    place[:old] = in_order if ranked is None else in_order[ranked]
    return ids, place, np.concatenate([dense, used])


def _merged(kept: list[pa.Array], fresh: list[pa.Array]) -> tuple[list[pa.Array], list[np.ndarray]]:
    """Ids of two tables, each of distinct ones in ascending order, as one such table, and the places of both there."""
    if len(kept) > 1 or len(kept[0]) < _MANY:
        return composite([list(both) for both in zip(kept, fresh, strict=True)])
    ids, places = merged([kept[0], fresh[0]])
    return [ids], places
