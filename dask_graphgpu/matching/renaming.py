"""New groups get the ids of the old ones that they go on; what has become of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dask_graphgpu.errors import briefly
from dask_graphgpu.matching.groups import CHANGES, NONE, Fates, Overlaps, fates
from dask_graphgpu.matching.numbering import Ids, numbered, ranked
from dask_graphgpu.matching.spare_ids import spare_ids
from dask_graphgpu.partition.ids import VertexIds
from dask_graphgpu.partition.string_entries import taken


@dataclass(frozen=True, eq=False)
class Members:
    """Rows of a partition: vertices and their groups, an Arrow array an id column each."""

    vertices: Ids
    groups: Ids

    def __len__(self) -> int:
        return len(self.vertices[0])


@dataclass(frozen=True, eq=False)
class Renamed:
    """The ids of the groups in each new partition, and a row a group of what has changed.

    ``report`` : columns in the order of `REPORT`, those of ids as many as an id has.
    """

    ids: list[list[pa.Array]]
    report: list[list[pa.Array]]


REPORT = ("old", "new", "id", "change", "size_old", "size_new", "overlap")


@briefly
def renamed(old: Sequence[Members], new: Sequence[Members]) -> Renamed:
    """Match the groups of two frames, given as their partitions.

    Raises
    ------
    InvalidVertices
        A vertex is in two rows of a frame.
    """
    before, now = _whole(old), _whole(new)
    of_vertex, vertices = numbered(before.vertices, now.vertices)
    of_group, ids = ranked(before.groups, now.groups)
    groups = len(ids[0])
    sizes = [np.bincount(each, minlength=groups) for each in of_group]
    found = fates(Overlaps.of(of_vertex, of_group, vertices, groups), *sizes)
    table, id_of = _ids(found, ids, sizes[0], now, of_group[1])
    ends = np.cumsum([len(part) for part in new])[:-1]
    return Renamed(
        [[taken(each, rows) for each in table] for rows in np.split(id_of.take(of_group[1]), ends)],
        _report(found, table, id_of, sizes),
    )


def _whole(parts: Sequence[Members]) -> Members:
    """The rows of all partitions."""
    if len(parts) == 1:
        return parts[0]
    return Members(
        [pa.concat_arrays(each) for each in zip(*(part.vertices for part in parts), strict=True)],
        [pa.concat_arrays(each) for each in zip(*(part.groups for part in parts), strict=True)],
    )


def _ids(
    found: Fates, ids: Ids, old_sizes: np.ndarray, new: Members, group_of: np.ndarray
) -> tuple[list[pa.Array], np.ndarray]:
    """All ids, and which of them each new group has."""
    is_new = found.change != CHANGES.index("gone")
    id_of = np.arange(len(ids[0]))
    goes_on = found.matched & is_new
    id_of[found.new[goes_on]] = found.old[goes_on]
    others = found.new[is_new & ~found.matched]
    others = others[old_sizes[others] > 0]
    if not len(others):
        return list(ids), id_of
    id_of[others] = len(ids[0]) + np.arange(len(others))
    spare = spare_ids(others, ids, group_of, new.vertices)
    return [pa.concat_arrays(pair) for pair in zip(ids, spare, strict=True)], id_of


def _report(
    found: Fates, ids: Ids, id_of: np.ndarray, sizes: Sequence[np.ndarray]
) -> list[list[pa.Array]]:
    """The columns of the report; see `REPORT`."""
    table = VertexIds(ids, None)
    old, new = found.old, found.new
    has_old, has_new = old != NONE, new != NONE
    padded = [np.append(each, 0) for each in (id_of, *sizes)]
    words = pa.DictionaryArray.from_arrays(pa.array(found.change, pa.int8()), list(CHANGES))
    return [
        table.take(old, has_old),
        table.take(new, has_new),
        table.take(padded[0][new], has_new),
        [words.cast(pa.large_string())],
        [pa.array(padded[1][old])],
        [pa.array(padded[2][new])],
        [pa.array(found.overlap)],
    ]
