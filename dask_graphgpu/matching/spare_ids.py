"""Ids of groups that cannot have their own, as an old group had it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dask_graphgpu.errors import InvalidVertices
from dask_graphgpu.matching.numbering import Ids, ranked
from dask_graphgpu.partition.ids import VertexIds


def spare_ids(
    groups: np.ndarray, ids: Ids, group_of: np.ndarray, vertices: Sequence[pa.Array]
) -> list[pa.Array]:
    """An id for each of some groups that no other group has or had, an array an id column.

    It is the smallest vertex of the group that is no id; where there is none, or ids are no vertices, the id of the
    group with its last column changed: a number to the next one above all, of a text ``a`` to ``a:2``, ``a:3`` and so
    on, the first that is neither an id nor a vertex.

    Parameters
    ----------
    groups
        Numbers of groups, ascending: rows of ``ids``.
    ids
        Ids of all old and new groups.
    group_of
        Number of the group of each row of ``vertices``.
    vertices
        Of the new frame, an array an id column.

    Raises
    ------
    InvalidVertices
        No larger number is left in the type of the ids.
    """
    are_vertices = [each.type for each in ids] == [each.type for each in vertices]
    named, members = np.empty(0, np.intp), [each[:0] for each in ids]
    if are_vertices:
        named, members = _members(groups, ids, group_of, vertices)
    others = np.flatnonzero(~np.isin(groups, groups[named]))
    made = [each.take(pa.array(groups[others])) for each in ids]
    if len(others):
        known = [ids, vertices] if are_vertices else [ids]
        numbers = pa.types.is_integer(ids[-1].type)
        made[-1] = (_above if numbers else _suffixed)(made, known)
    order = pa.array(np.argsort(np.concatenate([named, others])))
    return [
        pa.concat_arrays([first, second]).take(order)
        for first, second in zip(members, made, strict=True)
    ]


def _members(
    groups: np.ndarray, ids: Ids, group_of: np.ndarray, vertices: Sequence[pa.Array]
) -> tuple[np.ndarray, list[pa.Array]]:
    """Which of the groups have a vertex that is no id, and the smallest of each."""
    wanted = np.zeros(len(ids[0]), bool)
    wanted[groups] = True
    rows = np.flatnonzero(wanted[group_of])
    rows = rows[~_among([each.take(pa.array(rows)) for each in vertices], ids)]
    found = [each.take(pa.array(rows)) for each in vertices]
    rising = np.argsort(ranked(found, [each[:0] for each in found])[0][0])
    which, first = np.unique(group_of[rows[rising]], return_index=True)
    return np.searchsorted(groups, which), [each.take(pa.array(rising[first])) for each in found]


def _among(table: Ids, known: Ids) -> np.ndarray:
    """Which rows of a table of ids are among those of another."""
    return VertexIds(known, None).find_rows(table)[1]


def _above(ids: Ids, known: Sequence[Ids]) -> pa.Array:
    """Numbers in place of those in the last column, above all that are known there."""
    kind = ids[-1].type
    dtype = np.dtype(kind.to_pandas_dtype())
    first = max(pc.max(table[-1]).as_py() for table in known if len(table[-1])) + 1
    last = first + len(ids[-1])
    if last - 1 > np.iinfo(dtype).max:
        raise InvalidVertices(
            f"new groups need {len(ids[-1]):,} ids above {first - 1}, the largest that is used, and {kind} holds none: "
            "cast the ids of both frames to a wider type first"
        )
    return pa.array(np.arange(first, last, dtype=dtype))


def _suffixed(ids: Ids, known: Sequence[Ids]) -> pa.Array:
    """Texts in place of those in the last column, with the first number behind each that makes them unknown."""
    *others, base = ids
    made, left, number = [], np.arange(len(base)), 2
    places = []
    while len(left):
        rows = pa.array(left)
        ending = pa.scalar(f":{number}", base.type)
        texts = pc.binary_join_element_wise(base.take(rows), ending, pa.scalar("", base.type))
        table = [*(each.take(rows) for each in others), texts]
        free = ~np.any([_among(table, each) for each in known], axis=0)
        made.append(texts.filter(pa.array(free)))
        places.append(left[free])
        left, number = left[~free], number + 1
    return pa.concat_arrays(made).take(pa.array(np.argsort(np.concatenate(places))))
