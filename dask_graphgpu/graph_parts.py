"""Parts of a graph that is built, by an edge column, where its edges lie: in this process, a worker or on ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

from dask.base import tokenize

from dask_graphgpu.cluster.parts import cut_graph, part_graph
from dask_graphgpu.cluster.waiting import begun, waited_for
from dask_graphgpu.errors import briefly
from dask_graphgpu.inputs import Built, BuiltOnRanks
from dask_graphgpu.io.partitions import BUILD, called
from dask_graphgpu.partition import empty
from dask_graphgpu.partition.bounds import Bound, Cut
from dask_graphgpu.partition.empty import EmptyPartition
from dask_graphgpu.partition.partition import Partition
from dask_graphgpu.partition.parts import FrameRows, part, windows


def part_of(
    made: Built | BuiltOnRanks, column: str, low: Bound, high: Bound, state: str
) -> Built | BuiltOnRanks:
    """The graph of the rows with ``low <= column < high``; ``state`` says in words which they are."""
    if isinstance(made, BuiltOnRanks):
        return _kept(
            made, _done(made, part_graph, made.spread, made.held, column, low, high), state
        )
    return _kept(made, _done(made, _part, made.held, column, low, high), state)


def windows_of(
    made: Built | BuiltOnRanks, column: str, cut: Cut, state: Callable[[int | float], str]
) -> Iterator[tuple[int | float, Built | BuiltOnRanks]]:
    """The least value of each window that has a row, and its graph; waits for a graph that is being built.

    ``cut`` gives the edges of windows that hold two values.
    """
    if isinstance(made, BuiltOnRanks):
        found = _done(made, cut_graph, made.spread, made.held, column, cut)
        for low, high, number in _known(made, found):
            if number:
                yield low, part_of(made, column, low, high, state(low))
        return
    found = _done(made, _cut, made.held, column, cut)
    for i, low in _known(made, _then(made, _with_rows, found)):
        yield low, _kept(made, _done(made, _window, found, i), state(low))


def _done(made: Built | BuiltOnRanks, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives; of a lazy graph it is begun, and kept."""
    if not made.lazy:
        return function(*arguments)
    return begun(_then(made, function, *arguments))


def _then(made: Built | BuiltOnRanks, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives; of a lazy graph, when it is computed."""
    if not made.lazy:
        return function(*arguments)
    return called(function, *arguments, key=BUILD + tokenize("part", uuid4().hex))


def _known(made: Built | BuiltOnRanks, found: Any) -> Any:
    return waited_for(found, "windows()") if made.lazy else found


def _kept(made: Built | BuiltOnRanks, held: Any, state: str) -> Built | BuiltOnRanks:
    token = uuid4().hex
    if isinstance(made, BuiltOnRanks):
        return replace(made, held=held, token=token, state=state)
    in_memory = not made.lazy and not getattr(held, "paged", False)
    beyond = None if in_memory else made.beyond
    return replace(
        made, held=held, beyond=beyond, saved=None, vertices=None, token=token, state=state
    )


@briefly
def _part(
    partition: Partition | EmptyPartition, column: str, low: Bound, high: Bound
) -> Partition | EmptyPartition:
    if isinstance(partition, EmptyPartition):
        return partition
    found: Partition | EmptyPartition = empty.built(part, partition, column, low, high)
    return found


Pieces = Sequence[tuple[int | float, FrameRows]]


@briefly
def _cut(partition: Partition | EmptyPartition, column: str, cut: Cut) -> Pieces:
    return [] if isinstance(partition, EmptyPartition) else windows(partition, column, cut)


def _with_rows(pieces: Pieces) -> list[tuple[int, int | float]]:
    """Of windows that have rows, the number and the least value."""
    return [(i, low) for i, (low, rows) in enumerate(pieces) if len(rows)]


def _window(pieces: Pieces, i: int) -> Partition | EmptyPartition:
    found: Partition | EmptyPartition = empty.built(pieces[i][1].partition)
    return found
