"""Names of a result's columns: the user's own stay; those of the method give way, or are chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from dask_graphgpu.arguments import as_mapping, refuse, said
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.results import ColumnType, names_of
from dask_graphgpu.io.schema import EdgeSchema

_OF_EDGES = ("edge source", "edge destination", "edge weight")


def named(
    columns: dict[str, ColumnType],
    schema: EdgeSchema,
    method: str,
    given: Mapping[str, str] | None = None,
) -> dict[str, ColumnType]:
    """A result's columns with the names that they have in its frame.

    Raises
    ------
    InvalidArgument
        ``given`` is no mapping of the method's columns to texts; two columns would have one name.
    """
    users = _users(columns, schema)
    if twice := _twice(users):
        raise InvalidArgument(
            f"the result would have two columns of the edge frame named {twice!r}: copy the column under "
            "another name, and give that as source=, destination= or weight="
        )
    names = own_names(columns, schema, method, given)
    if twice := _twice([*users, *names.values()]):
        own = next(name for name, shown in names.items() if shown == twice)
        raise InvalidArgument(
            f"the result would have two columns named {twice!r}: give {method}'s own another name, with "
            f"columns={{{own!r}: ...}}"
        )
    shown = iter(names.values())
    return {
        key: kind
        if _is_users(key, schema)
        else replace(kind, names=tuple(next(shown) for _ in names_of(key, kind, schema)))
        for key, kind in columns.items()
    }


def own_names(
    columns: dict[str, ColumnType],
    schema: EdgeSchema,
    method: str,
    given: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Names in the frame of the columns that are the method's, in their order.

    By the names that the user chose, in ``given``. Without a choice, a column that is called as
    one of the user's, or as one before it, is ``<method>_<column>``.

    Raises
    ------
    InvalidArgument
    """
    chosen = as_mapping("columns", {} if given is None else given, "names")
    taken = set(_users(columns, schema))
    names: dict[str, str] = {}
    for key, kind in columns.items():
        for name in () if _is_users(key, schema) else names_of(key, kind, schema):
            longer = f"{method}_{name}"
            called = longer if name in names else name
            names[called] = chosen.get(called, longer if name in taken else called)
    for name, new in chosen.items():
        if name not in names:
            raise InvalidArgument(
                f"columns= names {said(name)}, which is no column that {method} makes; it makes {list(names)}"
            )
        if not (isinstance(new, str) and new):
            refuse(f"columns[{name!r}]", new, "is the new name of the column")
    return names


def _users(columns: dict[str, ColumnType], schema: EdgeSchema) -> list[str]:
    """The columns that have a name of the edge frame."""
    found = [key for key in columns if _is_users(key, schema)]
    return [name for key in found for name in names_of(key, columns[key], schema)]


def _is_users(key: str, schema: EdgeSchema) -> bool:
    """Whether a column has a name of the edge frame; a vertex has, where ids are several columns."""
    return key in _OF_EDGES or (key == "vertex" and len(schema.source) > 1)


def _twice(names: list[str]) -> str | None:
    """The first name that is there more than once."""
    return next((name for name, times in Counter(names).items() if times > 1), None)
