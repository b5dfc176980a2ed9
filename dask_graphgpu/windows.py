"""A method of each window of a graph, in one frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import dask.dataframe as dd
import numpy as np
from dask.base import is_dask_collection
from dask.dataframe.dispatch import concat

from dask_graphgpu.algorithms import ALGORITHMS
from dask_graphgpu.arguments import check_flag
from dask_graphgpu.errors import InvalidArgument, briefly, guess
from dask_graphgpu.graph_parts import windows_of
from dask_graphgpu.inputs import Built, BuiltOnRanks
from dask_graphgpu.io.lazy_frames import rows_of
from dask_graphgpu.io.times import as_times, is_time

WINDOW = "window"
_MOST = 10_000
_APART = 1 << 48  # between indexes of two windows, where nobody knows how many rows one has
# What methods take an earlier result by.
_FROM = {
    "pagerank": "start",
    "louvain": "initial",
    "leiden": "initial",
    "label_propagation": "initial",
}


@dataclass(frozen=True)
class Spacing:
    """How windows are cut: by a column, called ``carried`` in partitions, so many units long, one of them at ``start``.

    ``start`` None: at the least value. ``kind`` is the column's dtype; of times numbers are those that edges carry.
    """

    column: str
    carried: str
    every: int | float
    start: int | float | None
    kind: Any

    def shown(self, low: int | float) -> Any:
        """Where a window begins, as the column has it."""
        return as_times(np.array([int(low)]), self.kind).iloc[0] if is_time(self.kind) else low

    def edges(self, least: int | float, most: int | float) -> list[int | float]:
        """Where windows begin and end that hold all values, as the column has them: floats are rounded to its type."""
        if not (math.isfinite(least) and math.isfinite(most)):
            raise InvalidArgument(
                f"{self.column!r} has infinite values, {least} to {most}, which are in no window: leave them out, by "
                "where() or before the graph is made"
            )
        start = least if self.start is None else self.start
        first, last = ((value - start) // self.every for value in (least, most))
        if not last - first < _MOST:  # of the smallest lengths these are infinite
            raise InvalidArgument(
                f"every={self.every} makes {last - first + 1:,} windows of the values {self.shown(least)} to "
                f"{self.shown(most)} of {self.column!r}; at most {_MOST:,} are allowed: give a larger one"
            )
        numbers = range(math.floor(first), math.floor(last) + 2)
        edges = [start + number * self.every for number in numbers]
        edges[0] = min(edges[0], least)
        if all(isinstance(edge, int) for edge in edges):
            if edges[0] < 0 and most >= 2**63:
                raise InvalidArgument(
                    f"start={start} makes a window from {edges[0]} on, below 0, and {self.column!r} has {most}: no "
                    "integers of 64 bits hold both, as the column of windows has to; give a start from 0 to "
                    f"{least}"
                )
            return edges
        floats = np.dtype(getattr(self.kind, "numpy_dtype", self.kind))
        floats = floats if floats.kind == "f" else np.dtype(np.float64)
        edges = np.array(edges, floats).tolist()
        beyond = np.nextafter(floats.type(most), floats.type(np.inf)).item()
        return edges if most < edges[-1] else [*edges, beyond]


class Windows:
    """Windows of a graph by an edge column; made by `Graph.windows`.

    It has the methods of `Graph` that run algorithms. Each gives one frame: the rows of the method for every window, in
    the order of windows, with the window's least value in the column ``window``, the first one.
    """

    def __init__(
        self, graph: Any, made: Built | BuiltOnRanks, spacing: Spacing, warm: bool
    ) -> None:
        check_flag("warm", warm)
        self._graph, self._made, self._spacing, self._warm = graph, made, spacing, warm

    def graphs(self) -> Iterator[tuple[Any, Any]]:
        """The least value of each window and its graph; windows without a row are left out.

        Waits for a graph that is being built on a cluster.
        """
        spacing = self._spacing

        def state(low: int | float) -> str:
            return f"{spacing.column} from {spacing.shown(low)}"

        for low, made in windows_of(self._made, spacing.carried, spacing.edges, state):
            yield spacing.shown(low), self._graph._of(made, self._graph._engine)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in ALGORITHMS:
            meant = "" if name.startswith("_") else guess(name, list(ALGORITHMS))
            raise AttributeError(f"windows have no method {name!r}.{meant}")

        @briefly
        def method(*args: Any, **kwargs: Any) -> Any:
            return self._called(name, *args, **kwargs)

        return method

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *ALGORITHMS]

    def _called(self, name: str, *args: Any, **kwargs: Any) -> Any:
        if self._warm and name not in _FROM:
            raise InvalidArgument(
                f"warm=True is of {', '.join(_FROM)}, which start from an earlier result; {name} does not"
            )
        graph, lows, found = self._graph, [], []
        last: dict[str, Any] = {}
        for low, part in self.graphs():
            result = getattr(part, name)(*args, **(kwargs | last))
            if self._warm:
                ids = len(self._made.schema.vertex)
                last = {_FROM[name]: result[list(result.columns[: ids + 1])]}
            lows.append(low)
            found.append(result)
        if not found:  # of a graph without a row: the columns
            lows.append(0)
            found.append(getattr(graph._of(self._made, graph._engine), name)(*args, **kwargs))
        if not is_time(self._spacing.kind):
            lows = _of_one_type(lows)
        starts = _starts(found)
        found = [_with_window(each, low) for each, low in zip(found, lows, strict=True)]
        if is_dask_collection(found[0]):
            return dd.concat([
                each.map_partitions(_counted_from, start, meta=each._meta, clear_divisions=True)
                for each, start in zip(found, starts, strict=True)
            ])  # fmt: skip
        return graph._back(concat(found).reset_index(drop=True))

    def __repr__(self) -> str:
        return f"<Windows: {self._spacing.column} by {self._spacing.every} of {self._graph!r}>"


def _of_one_type(lows: list[int | float]) -> list[np.generic]:
    """Numbers as a column has them: whole ones stay so on both sides of 2**63."""
    if all(isinstance(low, int) for low in lows):
        return [*np.array(lows, np.uint64 if max(lows) >= 2**63 else np.int64)]
    return [*np.array(lows, np.float64)]


def _starts(found: list[Any]) -> list[int]:
    """Where the index of each window's rows begins, so that no two rows have the same one.

    Rows are counted through all windows where their number is known; else each window has more than it can take.
    """
    rows = [rows_of(each) for each in found]
    known = [number for number in rows if number is not None]
    if len(known) < len(rows):
        return [number * _APART for number in range(len(rows))]
    return [0, *accumulate(known[:-1])]


def _counted_from(frame: Any, start: int) -> Any:
    made = frame.copy(deep=False)
    made.index = frame.index + start
    return made


def _with_window(frame: Any, low: Any) -> Any:
    if WINDOW in frame.columns:
        raise InvalidArgument(
            f"the result has a column {WINDOW!r} already: give it another name with columns="
        )
    return frame.assign(**{WINDOW: low})[[WINDOW, *frame.columns]]
