"""What a search for cycles is, the edges that it goes along, and cycles as rows; for arrays of NumPy and of CuPy."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from dask_graphgpu.engine.whole_edges import check_number, everywhere
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition.device.elements import counted_up, first_not_below
from dask_graphgpu.report import Report

_HALF, _LOW = np.uint64(32), np.uint64(2**32 - 1)


@dataclass(frozen=True)
class CycleRule:
    """Which cycles: see `algorithms.cycles`.

    Attributes
    ----------
    timed : bool
        Whether edges follow each other in growing time, at most ``within`` after the first; None: any time. Then edges
        have a direction.
    """

    max_length: int
    limit: int
    timed: bool
    within: int | float | None
    directed: bool

    def check(self, number: int) -> None:
        """Raise InvalidArgument where there are too many cycles."""
        if number > self.limit:
            fewer = "a shorter within" if self.timed else "time= and within="
            raise InvalidArgument(
                f"there are {number:,} or more cycles with max_length={self.max_length}, and limit={self.limit:,}: "
                f"give a smaller max_length, {fewer}, or a larger limit if memory holds so many"
            )


@dataclass(frozen=True, eq=False)
class Core:
    """Edges that cycles may go along, between vertices numbered in the order of the user's ids.

    An edge has a key: the place of its time among all times; without times the other end of it.

    Attributes
    ----------
    members : places of the vertices in the order of the user's ids
    out_offsets, out_ends, out_keys : rows by source, by key; offsets are int64, all others uint32
    in_offsets, in_ends, in_keys : rows by destination, by key
    near_ends, near_keys : the same rows by destination, by source and key
    last : of each key the last one that is within the time given; empty: any is
    times : the time of each key, or None
    """

    members: Any
    out_offsets: Any
    out_ends: Any
    out_keys: Any
    in_offsets: Any
    in_ends: Any
    in_keys: Any
    near_ends: Any
    near_keys: Any
    last: Any
    times: Any

    @classmethod
    def of(cls, xp: ModuleType, places: int, edges: tuple[Any, Any, Any], rule: CycleRule) -> Core:
        """The core of edges between ``places`` in the order of the user's ids; see `contract_patterns`."""
        source, destination, times = edges
        if not rule.directed:  # self-loops are made one again below
            source, destination = (
                xp.concatenate([source, destination]),
                xp.concatenate([destination, source]),
            )
        inside = xp.zeros(places, xp.bool_)
        for end in (source, destination):
            inside[end.astype(np.intp, copy=False)] = True
        members = xp.flatnonzero(inside)
        check_number(len(members), "cycles")
        number = xp.cumsum(inside, dtype=np.uint64) - np.uint64(1)
        source, destination = number.take(source), number.take(destination)
        if rule.timed:
            return cls._timed(xp, members, source, destination, times, rule)
        pairs = xp.unique((source << _HALF) | destination)
        source, destination = pairs >> _HALF, pairs & _LOW
        into = xp.argsort((destination << _HALF) | source)
        out_ends, in_ends = destination.astype(np.uint32), source[into].astype(np.uint32)
        return cls(
            members, _offsets(xp, len(members), source), out_ends, out_ends,
            _offsets(xp, len(members), destination[into]), in_ends, in_ends, in_ends, in_ends,
            out_ends[:0], None,
        )  # fmt: skip

    @classmethod
    def _timed(
        cls,
        xp: ModuleType,
        members: Any,
        source: Any,
        destination: Any,
        given: Any,
        rule: CycleRule,
    ) -> Core:
        times, keys = xp.unique(_wide(given), return_inverse=True)
        check_number(len(times), "cycles", "different times")
        keys = keys.astype(np.uint64)
        last = xp.empty(0, np.uint32)
        if rule.within is not None and len(times):
            last = _last_within(xp, times, rule.within)
        by_key = {}
        for name, row, end in (("out", source, destination), ("in", destination, source)):
            order = xp.argsort((row << _HALF) | keys)
            offsets = _offsets(xp, len(members), row[order])
            by_key[name] = offsets, end[order].astype(np.uint32), keys[order].astype(np.uint32)
        order = xp.argsort(keys, kind="stable")
        order = order[xp.argsort(((destination << _HALF) | source)[order], kind="stable")]
        near_ends, near_keys = source[order].astype(np.uint32), keys[order].astype(np.uint32)
        return cls(
            members, *by_key["out"], *by_key["in"], near_ends, near_keys, last, times,
        )  # fmt: skip

    def share(self, ranks: Ranks) -> tuple[int, int]:
        """From which first edge to which one a rank searches: all of some vertices."""
        edges = len(self.out_ends)
        cuts = np.arange(1, ranks.size) * edges // ranks.size
        offsets = self.out_offsets
        rows = [int((offsets <= cut).sum()) for cut in cuts.tolist()]
        bounds = [0, *(int(offsets[min(row, len(offsets) - 1)]) for row in rows), edges]
        return bounds[ranks.rank], bounds[ranks.rank + 1]


Found = tuple[Any, Any, Any, Any]


class Search(Protocol):
    """Searches from some edges of a core, twice."""

    def count(self) -> tuple[int, int]:
        """How many cycles there are, or more than the limit, and how long the longest is."""

    def listed(self, number: int, longest: int) -> tuple[Any, Any]:
        """The vertices of each and, of times, the keys of the edges that leave them; see `_as_rows`."""


def search(
    xp: ModuleType,
    view: Any,
    edges: tuple[Any, Any, Any],
    rule: CycleRule,
    report: Report,
    made: Callable[[Core, CycleRule, int, int], Search],
) -> Found:
    """Simple cycles of some edges; see `contract_patterns`. Collective.

    ``made`` : what searches from the edges of a core from one to another. Each rank gets all edges, and searches from
    those of some vertices.
    """
    begun, ranks = time.perf_counter(), view.ranks
    source, destination, times = (
        None if each is None else xp.asarray(everywhere(ranks, each)) for each in edges
    )
    core = Core.of(xp, view.graph_vertices, (source, destination, times), rule)
    first, last = core.share(ranks)
    report.advance(
        "sort", supersteps=1, frontier=len(core.members), edges=len(core.out_ends),
        bytes=24 * len(core.out_ends), seconds=time.perf_counter() - begun,
    )  # fmt: skip
    begun = time.perf_counter()
    searching = made(core, rule, first, last)
    number, longest = searching.count()
    every = ranks.scalars([number])[:, 0] if ranks.size > 1 else np.array([number])
    rule.check(int(every.sum()))
    vertices, keys = searching.listed(number, longest)
    report.advance(
        "search", supersteps=2, frontier=last - first, edges=last - first,
        bytes=vertices.nbytes * (1 if keys is None else 2), seconds=time.perf_counter() - begun,
    )  # fmt: skip
    return _as_rows(xp, core, vertices, keys, int(every[: ranks.rank].sum()))


def _as_rows(xp: ModuleType, core: Core, vertices: Any, keys: Any, first: int) -> Found:
    """Cycles as `contract_patterns` gives them, numbered from ``first`` on.

    Parameters
    ----------
    vertices : array of shape (cycles, length)
        Numbers of vertices and 1 more; 0 behind the end of a cycle.
    keys : array of the same shape, or None
        Of the edges that leave them.
    """
    length = vertices.shape[1]
    if len(vertices) > 1:
        by = [vertices] if keys is None else [keys, vertices]
        columns = [each[:, i] for i in reversed(range(length)) for each in by]
        order = xp.lexsort(xp.stack(columns))
        vertices, keys = vertices[order], None if keys is None else keys[order]
    there = vertices > 0
    cycle, position = xp.nonzero(there)
    members = core.members.take(vertices[there] - np.uint32(1))
    times = None if keys is None else core.times[keys[there]]
    return cycle.astype(np.int64) + first, position.astype(np.int32), members, times


def _offsets(xp: ModuleType, number: int, rows: Any) -> Any:
    """Where rows begin, of the row of each edge in ascending order."""
    return first_not_below(rows, counted_up(xp, number + 1, np.uint64), np.int64)


def _wide(times: Any) -> Any:
    """Times in the largest type of their kind."""
    return times.astype(f"{times.dtype.kind}8", copy=False)


def _last_within(xp: ModuleType, times: Any, within: int | float) -> Any:
    """The place of the last time that is at most ``within`` after each; ``times`` ascend."""
    if times.dtype.kind == "f":
        ends = times + within
    else:  # from the first on, as integers without a sign, which hold all differences
        first, most = int(times[0]), int(times[-1])
        times = times.astype(np.uint64) - np.uint64(first % 2**64)
        span = most - first
        more = min(int(within), span)
        ends = xp.minimum(times, np.uint64(span - more)) + np.uint64(more)
    return (xp.searchsorted(times, ends, "right") - 1).astype(np.uint32)
