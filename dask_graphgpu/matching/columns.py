"""Which columns of two frames are vertices and groups, and of what types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa

from dask_graphgpu.arguments import as_names
from dask_graphgpu.errors import InvalidArgument, InvalidEdges, InvalidVertices, briefly
from dask_graphgpu.io.columns import id_array
from dask_graphgpu.io.frames import to_host
from dask_graphgpu.io.label_rows import GROUPS
from dask_graphgpu.io.schema import arrow_id_type, common_dtype, id_type, is_integer
from dask_graphgpu.matching.renaming import Members
from dask_graphgpu.partition.ids import common_type


@dataclass(frozen=True)
class GroupColumns:
    """GroupColumns of vertices and groups, and the Arrow types that hold those of both frames.

    ``dtypes`` : of the groups in the result, of pandas.
    """

    vertex: tuple[str, ...]
    group: tuple[str, ...]
    vertex_types: tuple[pa.DataType, ...]
    group_types: tuple[pa.DataType, ...]
    dtypes: tuple[Any, ...]

    @property
    def read(self) -> list[str]:
        """The names of all."""
        return list(dict.fromkeys([*self.vertex, *self.group]))


def find(old: pd.DataFrame, new: pd.DataFrame, vertex: Any, group: Any) -> GroupColumns:
    """Find the columns of two frames, of which only the types are looked at.

    Raises
    ------
    InvalidArgument
        They cannot be told, or a frame has them not.
    InvalidVertices
        They are neither integers nor text, or of the one here and of the other there.
    """
    vertices, groups = _names(new, vertex, group)
    for what, frame in {"old": old, "new": new}.items():
        here = [str(name) for name in frame.columns]
        for option, names in {"vertex": vertices, "group": groups}.items():
            for name in names:
                if here.count(name) != 1:
                    raise InvalidArgument(
                        f"{what} has {'several columns' if name in here else 'no column'} {name!r}; it has {here}: "
                        f"name the columns that both frames have with {option}=, or rename those of one"
                    )
    if overlap := set(vertices) & set(groups):
        raise InvalidArgument(f"vertex= and group= both name {sorted(overlap)[0]!r}")
    types, dtypes = {}, {}
    for name in (*vertices, *groups):
        types[name], dtypes[name] = _types(name, old[name].dtype, new[name].dtype)
    return GroupColumns(
        vertices,
        groups,
        tuple(types[name] for name in vertices),
        tuple(types[name] for name in groups),
        tuple(dtypes[name] for name in groups),
    )


def _names(frame: pd.DataFrame, vertex: Any, group: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of vertices and of groups: those that the user names, else those with the names of results."""
    here = [str(name) for name in frame.columns]
    groups = None if group is None else as_names("group", group, InvalidArgument)
    vertices = None if vertex is None else as_names("vertex", vertex, InvalidArgument)
    parts = {}  # of ids of several columns, such as component_country beside country
    for name in GROUPS:
        if ids := [each for each in here if f"{name}_{each}" in here]:
            parts[name] = tuple(ids)
    found: dict[str, tuple[str, ...]] = {name: (name,) for name in GROUPS if name in here}
    found |= {name: tuple(f"{name}_{each}" for each in ids) for name, ids in parts.items()}
    if groups is None:
        if len(found) != 1:
            seen = f"new has {' and '.join(found)}" if found else f"new has {here}"
            raise InvalidArgument(
                f"which column says the group of a vertex? {seen}; name it with group="
            )
        (groups,) = found.values()
    if vertices is None:
        vertices = ("vertex",)
        if "vertex" not in here and (of := [n for n in parts if found[n] == groups]):
            vertices = parts[of[0]]
    for option, names in {"vertex": vertices, "group": groups}.items():
        if not names:
            raise InvalidArgument(f"{option}= names no column")
    return vertices, groups


def _types(name: str, old: Any, new: Any) -> tuple[pa.DataType, Any]:
    """The type that holds a column of both frames, of Arrow and of pandas."""
    try:
        if arrow_id_type(old) is None and not is_integer(new):  # objects, which are text
            old = new
        where = f"the columns {name!r} of new and old"
        return common_type([id_type(new), id_type(old)], where), common_dtype(new, old, where)
    except InvalidEdges as error:
        raise InvalidVertices(str(error)) from None


@briefly
def members_of(frame: Any, columns: GroupColumns, what: str, where: str) -> Members:
    """The vertices and groups of a partition, checked.

    Raises
    ------
    InvalidVertices
        Nulls, or values that are no ids of the declared type.
    """
    frame, place = to_host(frame), f"{where} of {what}"
    return Members(
        _arrays(frame, columns.vertex, columns.vertex_types, place),
        _arrays(frame, columns.group, columns.group_types, place),
    )


def _arrays(
    frame: pd.DataFrame, names: Sequence[str], types: Sequence[pa.DataType], where: str
) -> list[pa.Array]:
    made = []
    for name, kind in zip(names, types, strict=True):
        try:
            ids = id_array(frame[name], name, where)
        except InvalidEdges as error:
            raise InvalidVertices(str(error)) from None
        if pa.types.is_dictionary(ids.type):
            ids = ids.dictionary_decode()
        if len(ids) and pa.types.is_integer(ids.type) != pa.types.is_integer(kind):
            raise InvalidVertices(
                f"column {name!r} holds {ids.type} in {where}, where the frames have {kind}: cast it first"
            )
        made.append(ids.cast(kind))
    return made
