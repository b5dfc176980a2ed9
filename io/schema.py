"""Which columns of a frame are the graph, and of what types: known before any row is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from dask.base import tokenize

from dask_graphgpu.arguments import as_names, refuse
from dask_graphgpu.errors import InvalidEdges, InvalidVertices
from dask_graphgpu.io.frames import has_unknown_categories, on_device
from dask_graphgpu.io.hints import how_to_make_ids, how_to_make_weights
from dask_graphgpu.partition.ids import common_type

Columns = str | Sequence[str]


class Unset(Enum):
    """A default that no user's value can be mistaken for."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "<by name>"


UNSET = Unset.UNSET

_PAIRS = (("src", "dst"), ("source", "destination"))
_LIKELY = (
    ("source", "target"),
    ("from", "to"),
    ("src", "dest"),
    ("head", "tail"),
    ("Source", "Target"),
)

_WEIGHT = "weight"

# What errors about weights say at their end.
OR_NO_WEIGHTS = ", or leave weights out, with weight=None"


@dataclass(frozen=True)
class EdgeSchema:
    """Columns of the edge frame.

    Attributes
    ----------
    source, destination : tuple of str
        Id columns, one or several.
    weight : str or None
    dtypes : tuple of (name, dtype)
        What the frame declares for these and any other column.
    ids : tuple of dtype
        The dtype of each id column of a result: holds sources and destinations exactly.
    directed : bool
        Whether an edge leads one way only.
    on_device : bool
        Whether the frame is cuDF's.
    hidden_weight : str or None
        Column that would be the weight, which files may have though the frame, of which Dask takes the columns
        from the first file, has not.
    """

    source: tuple[str, ...]
    destination: tuple[str, ...]
    weight: str | None
    dtypes: tuple[tuple[str, Any], ...]
    ids: tuple[Any, ...]
    directed: bool = True
    on_device: bool = False
    hidden_weight: str | None = None

    def __dask_tokenize__(self) -> str:
        return self._token

    @cached_property
    def _token(self) -> str:
        """What tells it from others; dtypes take long, and every call asks."""
        values = (getattr(self, each.name) for each in fields(self))
        return str(tokenize(type(self).__name__, *values))

    @property
    def vertex(self) -> tuple[str, ...]:
        """Names of a result's id columns."""
        return ("vertex",) if len(self.source) == 1 else self.source

    def prefixed(self, prefix: str) -> tuple[str, ...]:
        """Names of the columns of a vertex in another role, such as a predecessor."""
        return (prefix,) if len(self.source) == 1 else tuple(f"{prefix}_{c}" for c in self.source)

    def describe(self) -> str:
        """The columns in words."""
        ends = [
            names[0] if len(names) == 1 else list(names)
            for names in (self.source, self.destination)
        ]
        weight = "no weights" if self.weight is None else f"weights in {self.weight}"
        return f"{ends[0]} -> {ends[1]}, {weight}"

    @property
    def arrow(self) -> bool:
        """Whether results are backed by Arrow arrays, as the frame's ids are."""
        return isinstance(self.ids[0], pd.ArrowDtype)

    @property
    def weight_kind(self) -> str | None:
        """Type in which weights are added up, "int64" or "float64"; None without weights."""
        if self.weight is None:
            return None
        return "int64" if is_integer(dict(self.dtypes)[self.weight]) else "float64"

    @property
    def carries_weight(self) -> bool:
        """Whether there is a weight column, and of a type that edges can carry."""
        return self.weight is not None and is_weight(dict(self.dtypes)[self.weight])


def default_ids() -> tuple[str, ...]:
    """Names of columns that are ids where none are named."""
    return tuple(name for pair in _PAIRS for name in pair)


def find_columns(
    meta: pd.DataFrame,
    source: Columns | Unset = UNSET,
    destination: Columns | Unset = UNSET,
    weight: str | Unset | None = UNSET,
) -> EdgeSchema:
    """Find the graph in the columns of an edge frame.

    Without names the ids are ``src`` and ``dst``, or ``source`` and ``destination``; the weight is
    ``weight`` where there is such a column.

    Raises
    ------
    InvalidEdges
        A column is missing (the message lists those there are), or of a type that cannot be an id
        or, if it is named, a weight.
    """
    given = [str(c) for c in meta.columns]
    if isinstance(source, Unset) or isinstance(destination, Unset):
        if isinstance(source, Unset) != isinstance(destination, Unset):
            raise InvalidEdges("give both source= and destination=, or neither")
        pairs = [pair for pair in _PAIRS if set(pair) <= set(given)]
        if not pairs:
            likely = next((pair for pair in _LIKELY if set(pair) <= set(given)), None)
            how = "source=..., destination=..."
            if likely is not None:
                how = f"source={likely[0]!r}, destination={likely[1]!r}"
            raise InvalidEdges(
                "the frame has neither columns 'src' and 'dst' nor 'source' and 'destination'; it "
                f"has {list(meta.columns)}; name them with .graph({how}){_of_names(meta)}"
            )
        source, destination = pairs[0]
    sources = as_names("source", source, InvalidEdges)
    destinations = as_names("destination", destination, InvalidEdges)
    if len(sources) != len(destinations) or not sources:
        raise InvalidEdges(
            f"source= names {len(sources)} columns and destination= {len(destinations)}; an edge "
            "joins two ids of as many columns"
        )
    named = not isinstance(weight, Unset)
    if isinstance(weight, Unset):
        weight = _WEIGHT if _WEIGHT in given else None
    if not (weight is None or isinstance(weight, str)):
        refuse("weight", weight, "are the name of a column and None", InvalidEdges)
    require_columns(meta, [*sources, *destinations, *([] if weight is None else [weight])])
    if named and weight is not None:  # else it is judged by what reads it
        check_weight(weight, meta[weight].dtype)
    ids = tuple(
        common_dtype(meta[a].dtype, meta[b].dtype, f"columns {a!r} and {b!r}")
        for a, b in zip(sources, destinations, strict=True)
    )
    dtypes = tuple((str(name), dtype) for name, dtype in meta.dtypes.items())
    hidden = None if named or weight is not None else _WEIGHT
    return EdgeSchema(
        sources, destinations, weight, dtypes, ids, on_device=on_device(meta), hidden_weight=hidden
    )


def find_vertex_columns(
    meta: pd.DataFrame, edges: EdgeSchema, what: str = "the vertices frame"
) -> tuple[str, ...]:
    """The id columns of a vertices frame, or of another with values of vertices, ``what``.

    The names that results have (``vertex``, or those of several source columns); for a single id
    also ``id`` or the name of the source column.
    """
    wanted = [edges.vertex]
    if len(edges.source) == 1:
        wanted += [("id",), edges.source]
    for names in wanted:
        if set(names) <= set(meta.columns):
            holding_vertices(edges, meta, names, what)
            return names
    raise InvalidVertices(
        f"{what} has no id column {' or '.join(map(str, map(list, wanted)))}; it has "
        f"{list(meta.columns)}; rename its id column to {list(edges.vertex)}{_of_names(meta)}"
    )


def holding_vertices(
    edges: EdgeSchema, meta: pd.DataFrame, names: Sequence[str], what: str = "the vertices frame"
) -> EdgeSchema:
    """The schema whose ids also hold the id columns ``names`` of a vertices frame exactly."""
    try:
        ids = tuple(
            common_dtype(dtype, meta[name].dtype, f"the edges' ids and its column {name!r}")
            for name, dtype in zip(names, edges.ids, strict=True)
        )
    except InvalidEdges as error:
        raise InvalidVertices(f"{what}: {error}") from None
    return replace(edges, ids=ids)


def _of_names(meta: Any) -> str:
    """What to say of columns that cannot be named, as their names are no text or they are the frame's index."""
    said = ""
    if getattr(meta.columns, "nlevels", 1) > 1:
        said = "; names of several levels are no text: set others first, as frame.columns = ['src', ...]"
    elif not all(isinstance(name, str) for name in meta.columns):
        said = "; columns whose names are no text are renamed first, with .rename(columns=str)"
    index = [str(name) for name in getattr(meta.index, "names", ()) if name is not None]
    return f"{said}; its index {index} is no column: use .reset_index()" if index else said


def require_columns(meta: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise InvalidEdges unless every name is a column, once."""
    for name in names:
        here = [c for c in meta.columns if c == name]
        if not here:
            raise InvalidEdges(
                f"the frame has no column {name!r}; it has {list(meta.columns)}{_of_names(meta)}"
            )
        if len(here) > 1:
            raise InvalidEdges(f"the frame has {len(here)} columns named {name!r}; rename them")


def is_integer(dtype: Any) -> bool:
    """Whether a dtype of any kind holds integers."""
    kind = value_type(dtype)
    return kind is not None and bool(pa.types.is_integer(kind))


def is_number(dtype: Any) -> bool:
    """Whether a NumPy, masked or Arrow dtype holds integers, floats or booleans of up to 64 bits."""
    kind = None if hasattr(dtype, "categories") else value_type(dtype)
    types = pa.types
    return kind is not None and (
        types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    )


def arrow_id_type(dtype: Any, users: Any = None) -> pa.DataType | None:
    """Arrow type of ids of a pandas dtype: an integer, or large_string; None: look at the values.

    ``users`` : the dtype that users know of the column, where it is another.

    Raises
    ------
    InvalidEdges
        Neither integers nor strings.
    """
    kind = value_type(dtype)
    if kind is None or pa.types.is_integer(kind) or pa.types.is_large_string(kind):
        return kind
    real = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    hint = how_to_make_ids(dtype if users is None else users) if real else ""
    raise InvalidEdges(f"ids of type {dtype} are not supported: use integers or strings{hint}")


def value_type(dtype: Any) -> pa.DataType | None:
    """Arrow type of the values of a pandas dtype, all kinds of strings being one.

    None: objects, and categories that Dask has not read. Null: Arrow has no such type, as of sparse
    columns and of floats of 128 bits.
    """
    if hasattr(dtype, "categories"):  # pandas' or cuDF's
        return None if has_unknown_categories(dtype) else value_type(dtype.categories.dtype)
    if isinstance(dtype, pd.StringDtype):
        return pa.large_string()
    if isinstance(dtype, pd.ArrowDtype):
        return plain_type(dtype.pyarrow_dtype)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return pa.array(pd.Series(dtype=dtype)).type
    try:
        numpy = np.dtype(getattr(dtype, "numpy_dtype", dtype))
        return None if numpy.kind == "O" else pa.from_numpy_dtype(numpy.newbyteorder("="))
    except (TypeError, pa.ArrowNotImplementedError):
        return pa.null()


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values of a column, however they are laid out."""
    kind = _values_of(kind)
    text = pa.types.is_string(kind) or is_string_view(kind)
    return pa.large_string() if text else kind


def id_type(dtype: Any) -> pa.DataType:
    """`arrow_id_type`, where values may be looked at: of objects only strings are ids."""
    return arrow_id_type(dtype) or pa.large_string()


def is_string_view(kind: pa.DataType) -> bool:
    """Whether it is Arrow's layout of strings by views, which not every Arrow has."""
    return hasattr(pa, "string_view") and kind == pa.string_view()


def is_run_end_encoded(kind: pa.DataType) -> bool:
    """Whether it is Arrow's layout of runs of equal values."""
    return isinstance(kind, pa.RunEndEncodedType)


def _values_of(kind: pa.DataType) -> pa.DataType:
    """The type of the values that a dictionary or runs hold; another as it is."""
    held = pa.types.is_dictionary(kind) or is_run_end_encoded(kind)
    return _values_of(kind.value_type) if held else kind


def common_dtype(a: Any, b: Any, where: str) -> Any:
    """The pandas dtype that holds the ids of both columns."""
    a, b = _decategorized(a), _decategorized(b)
    types = [arrow_id_type(a), arrow_id_type(b)]
    if None in types:
        if is_integer(a) or is_integer(b):
            raise InvalidEdges(
                f"{where} mix the id types {a} and {b}; cast the columns to one type first"
            )
        return np.dtype(object)
    common = common_type([t for t in types if t is not None], where)
    if common == pa.large_string():
        return a
    if isinstance(a, pd.ArrowDtype) or isinstance(b, pd.ArrowDtype):
        return pd.ArrowDtype(common)
    numpy = np.dtype(common.to_pandas_dtype())
    if isinstance(a, np.dtype) and isinstance(b, np.dtype):
        return numpy
    return pd.api.types.pandas_dtype(numpy.name.replace("uint", "UInt").replace("int", "Int"))


def _decategorized(dtype: Any) -> Any:
    """The dtype of the same ids in plain columns, as results have them."""
    if has_unknown_categories(dtype):
        return np.dtype(object)
    if hasattr(dtype, "categories"):
        return dtype.categories.dtype
    if isinstance(dtype, pd.ArrowDtype):
        kind = _values_of(dtype.pyarrow_dtype)
        return pd.ArrowDtype(pa.large_string() if is_string_view(kind) else kind)
    return dtype


def is_weight(dtype: Any) -> bool:
    """Whether a column of this dtype can be the weight."""
    return is_number(dtype) and not pd.api.types.is_bool_dtype(dtype)


def check_weight(name: str, dtype: Any) -> None:
    """Raise InvalidEdges unless a column of this dtype can be the weight."""
    if not is_weight(dtype):
        raise InvalidEdges(
            f"weight column {name!r} is of type {dtype}; weights are integers or floats of up to 64 "
            f"bits, not negative: {how_to_make_weights(dtype)}{OR_NO_WEIGHTS}"
        )
