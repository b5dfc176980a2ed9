"""A method of each window of a graph, in one frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.base import is_dask_collection
from dask.delayed import Delayed, delayed

from dask_graphgpu.algorithms import ALGORITHMS
from dask_graphgpu.arguments import check_flag
from dask_graphgpu.cluster.waiting import begun, waited_for
from dask_graphgpu.errors import InvalidArgument, briefly, guess
from dask_graphgpu.inputs import Built
from dask_graphgpu.io.times import as_times, is_time
from dask_graphgpu.partition import empty
from dask_graphgpu.partition.empty import EmptyPartition
from dask_graphgpu.partition.filtered import SomeRows, by_windows, least_and_most
from dask_graphgpu.partition.partition import Partition

WINDOW = "window"
_MOST = 10_000
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
        """Where windows begin and end that hold all values, also where floats are rounded."""
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
        return edges if most < edges[-1] else [*edges, math.nextafter(most, math.inf)]


class Windows:
    """Windows of a graph by an edge column; made by `Graph.windows`.

    It has the methods of `Graph` that run algorithms. Each gives one frame: the rows of the method for every window, in
    the order of windows, with the window's least value in the column ``window``, the first one.
    """

    def __init__(self, graph: Any, made: Built, spacing: Spacing, warm: bool) -> None:
        check_flag("warm", warm)
        self._graph, self._made, self._spacing, self._warm = graph, made, spacing, warm

    def graphs(self) -> Iterator[tuple[Any, Any]]:
        """The least value of each window and its graph, in memory; windows without a row are left out.

        Waits for a graph that is being built on a cluster.
        """
        made = self._made
        cut: Any = delayed(_cut, pure=False) if made.lazy else _cut
        found = cut(made.held, self._spacing)
        found = begun(found) if made.lazy else found
        lows: Any = delayed(_lows, pure=False) if made.lazy else _lows
        lows = lows(found)
        for number, low in waited_for(lows, "windows()") if isinstance(lows, Delayed) else lows:
            part: Any = delayed(_part, pure=False) if made.lazy else _part
            held = part(found, number)
            low = self._spacing.shown(low)
            state = f"{self._spacing.column} from {low}"
            new = replace(
                made, held=held, saved=None, vertices=None, token=uuid4().hex, state=state
            )
            yield low, self._graph._of(new, self._graph._engine)

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
        graph, found = self._graph, []
        last: dict[str, Any] = {}
        for low, part in self.graphs():
            result = getattr(part, name)(*args, **(kwargs | last))
            if self._warm:
                ids = len(self._made.schema.vertex)
                last = {_FROM[name]: result[list(result.columns[: ids + 1])]}
            found.append(_with_window(result, low))
        if not found:  # of a graph without a row: the columns
            part = graph._of(self._made, graph._engine)
            found = [_with_window(getattr(part, name)(*args, **kwargs), 0)]
        if is_dask_collection(found[0]):
            return dd.concat(found)
        return graph._back(pd.concat(found, ignore_index=True))

    def __repr__(self) -> str:
        return f"<Windows: {self._spacing.column} by {self._spacing.every} of {self._graph!r}>"


Pieces = list[tuple[int | float, SomeRows]]


@briefly
def _cut(partition: Partition | EmptyPartition, spacing: Spacing) -> Pieces:
    """The least value and the rows of each window."""
    if isinstance(partition, EmptyPartition):
        return []
    found = least_and_most(partition, spacing.carried)
    if found is None:
        return []
    edges = spacing.edges(*found)
    return list(zip(edges[:-1], by_windows(partition, spacing.carried, edges), strict=True))


def _lows(pieces: Pieces) -> Sequence[tuple[int, int | float]]:
    """Of windows that have rows, the number and the least value."""
    return [(number, low) for number, (low, rows) in enumerate(pieces) if len(rows)]


def _part(pieces: Pieces, number: int) -> Partition | EmptyPartition:
    found: Partition | EmptyPartition = empty.built(pieces[number][1].partition)
    return found


def _with_window(frame: Any, low: Any) -> Any:
    if WINDOW in frame.columns:
        raise InvalidArgument(
            f"the result has a column {WINDOW!r} already: give it another name with columns="
        )
    return frame.assign(**{WINDOW: low})[[WINDOW, *frame.columns]]
