"""Kinds of frames: pandas, Dask's, and cuDF's, which lie in the memory of a GPU."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import dask.dataframe as dd
import pandas as pd
from dask.base import is_dask_collection
from dask.dataframe.utils import UNKNOWN_CATEGORIES

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.arrow_frames import ArrowFrame


def is_frame(frame: Any) -> bool:
    """Whether it is a frame of any kind."""
    return isinstance(frame, (pd.DataFrame, dd.DataFrame, ArrowFrame)) or _is_cudf(frame)


def check_frame(frame: Any, what_is: str, error: type[Exception] = InvalidArgument) -> None:
    """Raise an error unless it is a frame; ``what_is``: what it is given as, and "is"."""
    if not is_frame(frame):
        raise error(
            f"{what_is} a {type(frame).__name__}; give a DataFrame of Dask, pandas, cuDF or polars, a table of pyarrow "
            "or a relation of DuckDB"
        )


def knows_rows(frame: Any) -> bool:
    """Whether how many rows a frame has is known without computing it."""
    return not (is_dask_collection(frame) or (isinstance(frame, ArrowFrame) and frame.is_query))


def meta_of(frame: Any) -> Any:
    """An empty frame with a Dask frame's or an Arrow frame's columns, or the frame itself.

    Of categories that Dask has not read it has the type, where that can be known.
    """
    if isinstance(frame, ArrowFrame):
        return frame.meta
    if not is_dask_collection(frame):
        return frame
    if any(map(_is_category, frame._meta.dtypes)):
        from dask_graphgpu.io.categories import with_types

        return with_types(frame)
    return frame._meta


def with_columns(frame: Any, names: Iterable[Any]) -> Any:
    """The frame with some of its columns only; an Arrow frame's are read."""
    names = list(names)
    _check_named(list(frame.columns), names)
    if isinstance(frame, ArrowFrame):
        return frame.read(names)
    if list(frame.columns) == names:
        return frame
    chosen = frame[names]
    if not is_dask_collection(frame):
        return chosen
    try:
        chosen.expr.simplify()
    except (
        Exception
    ):  # Dask has expressions into which it cannot push the choice, such as map_overlap
        return frame.map_partitions(_choose, names, meta=chosen._meta)
    return chosen


def _check_named(columns: list[Any], names: list[Any]) -> None:
    """Raise InvalidArgument unless each of some names stands for one column, whose name is text.

    Of a name that is no column at all says more who looks for it.
    """
    if columns == names:
        return
    texts = [str(column) for column in columns]
    for name in names:
        if columns.count(name) > 1:
            raise InvalidArgument(
                f"a frame has {columns.count(name)} columns named {name!r}; it has {texts}: rename them"
            )
        if name not in columns and name in texts:
            raise InvalidArgument(
                f"a frame has the column {columns[texts.index(name)]!r}, whose name is no text; it has {texts}: "
                "rename columns first, with .rename(columns=str)"
            )


def _choose(frame: Any, names: list[str]) -> Any:
    return frame[names]


def _is_category(dtype: Any) -> bool:
    return isinstance(dtype, pd.CategoricalDtype)


def has_unknown_categories(dtype: Any) -> bool:
    """Whether it is a dtype of categories that Dask has not read, so that it declares some of text."""
    return _is_category(dtype) and (
        dtype.categories is None or UNKNOWN_CATEGORIES in dtype.categories
    )


def on_device(frame: Any) -> bool:
    """Whether the rows of a frame lie, or will lie, in the memory of a GPU."""
    return _is_cudf(meta_of(frame))


def to_host(frame: Any) -> Any:
    """A cuDF frame as one of pandas whose columns are Arrow's, with its nulls; any other as it is."""
    if not on_device(frame):
        return frame
    return frame.to_arrow(preserve_index=False).to_pandas(types_mapper=pd.ArrowDtype)


def unlike(name: str, frame: Any) -> str:
    """What to say of a frame that is not of the kind of the edge frame."""
    if on_device(frame):
        return (
            f"{name} is of cuDF and the edge frame is not: convert one, such as with .to_pandas()"
        )
    return f"{name} is of pandas and the edge frame of cuDF: convert one, such as with cudf.from_pandas()"


def _is_cudf(frame: Any) -> bool:
    kind = getattr(sys.modules.get("cudf"), "DataFrame", None)  # who has such a frame has cuDF
    return kind is not None and isinstance(frame, kind)
