"""What a frame says of the vertices in a picture, and which values have colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dask.base import is_dask_collection

from dask_graphgpu.as_networkx import ids_of
from dask_graphgpu.errors import InvalidArgument, InvalidVertices
from dask_graphgpu.io.arrow_frames import taken
from dask_graphgpu.io.frames import is_frame, meta_of, with_columns
from dask_graphgpu.io.schema import EdgeSchema, find_vertex_columns

_TEXTS, NUMBERS = 20, 10  # different values of a column that have a colour each, at most


class VertexValues:
    """Columns of a frame with an id column.

    Parameters
    ----------
    frame : frame
        Of any library that `graph` takes.
    names : sequence of str
        Columns that are asked for.
    schema : EdgeSchema
        Says what the id column is called.

    Raises
    ------
    InvalidVertices
        It is no frame, or has no such column.
    """

    def __init__(self, frame: Any, names: Sequence[str], schema: EdgeSchema) -> None:
        frame = taken(frame)
        if not is_frame(frame):
            raise InvalidVertices(
                f"vertices is a {type(frame).__name__}; give a frame with the id column and {names[0]!r}, such as "
                "the result of a method"
            )
        meta = meta_of(frame)
        self._ids = find_vertex_columns(meta, schema)
        for name in names:
            if name not in meta.columns:
                raise InvalidVertices(
                    f"the vertices frame has no column {name!r}; it has {[str(c) for c in meta.columns]}"
                )
        chosen = with_columns(frame, list(dict.fromkeys([*self._ids, *names])))
        chosen = chosen.compute() if is_dask_collection(chosen) else chosen
        self._rows = chosen.to_pandas() if hasattr(chosen, "to_pandas") else chosen

    def of(self, name: str, vertices: Sequence[Any]) -> list[Any]:
        """The value of each vertex in a column; None: it has none.

        Raises
        ------
        InvalidVertices
            No vertex has a value, or one is neither a text nor a truth value nor a number.
        """
        rows = self._rows.dropna(subset=[*self._ids, name])
        known = dict(zip(ids_of(rows, self._ids), rows[name].tolist(), strict=True))
        found = [known.get(each) for each in vertices]
        odd = [value for value in found if not isinstance(value, str | int | float | None)]
        if odd:
            raise InvalidVertices(
                f"column {name!r} of the vertices frame has values of {type(odd[0]).__name__}; colours and labels "
                "are of texts, truth values and numbers"
            )
        if vertices and all(value is None for value in found):
            raise InvalidVertices(
                f"none of the {len(found):,} vertices that are drawn has a value of {name!r} in the vertices frame: "
                "are its ids those of the edges?"
            )
        return found


def colour_values(columns: VertexValues, name: str, vertices: Sequence[Any]) -> list[Any]:
    """The values of vertices by which they are coloured; None: it has none.

    Raises
    ------
    InvalidVertices
        As of `VertexValues.of`.
    InvalidArgument
        There are no colours for so many.
    """
    found = columns.of(name, vertices)
    kinds = different(found)
    if any(isinstance(value, str) for value in kinds) and len(kinds) > _TEXTS:
        raise InvalidArgument(
            f"color={name!r} has {len(kinds)} different texts, and a picture has colours for {_TEXTS}: keep the "
            "largest groups, or draw fewer vertices"
        )
    return found


def different(found: list[Any]) -> list[Any]:
    """The different values in order, texts behind numbers."""
    return sorted(
        {value for value in found if value is not None},
        key=lambda value: (isinstance(value, str), value),
    )


def have_colours(kinds: list[Any]) -> bool:
    """Whether values have a colour each, and are not numbers on a scale."""
    if any(isinstance(value, str) for value in kinds):
        return True
    return all(isinstance(value, int) for value in kinds) and len(kinds) <= NUMBERS
