"""The part of a graph that paths of a limited length from one vertex to another can go through."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.traversal import hops, length
from dask_graphgpu.engine.hops import PROGRAM
from dask_graphgpu.engine.known import DISTANCES_TO
from dask_graphgpu.partition.chunk import to_host

# Hops against the edges, also where these have weights.
HOPS_TO = replace(PROGRAM, edges="in")

_LARGEST = 2**63 - 1


@dataclass(frozen=True, eq=False)
class PathEdges:
    """Vertices and the edges among them, in host memory, on the first rank; on others nothing.

    Attributes
    ----------
    places : integer array
        Of the vertices, in the order of the user's ids, ascending.
    source, destination : int64 arrays
        Of the edges, as indices of `places`; both directions of an undirected one.
    weight : int64 or float64 array
    rest, rest_hops : arrays
        Of the vertices: length, and if hops are limited hops, of a shortest path to the target.
    ends : tuple of int
        Indices of the source and the target of paths.
    """

    places: np.ndarray
    source: np.ndarray
    destination: np.ndarray
    weight: np.ndarray
    rest: np.ndarray
    rest_hops: np.ndarray
    ends: tuple[int, int]


class BetweenEnds:
    """Distances of the (own) vertices from a source and to a target. Collective.

    Parameters
    ----------
    run : Run
    source, target : int
        Dense ids.
    weighted : bool
    most_hops : int, optional
        Edges that a path has at most.

    Attributes
    ----------
    weighted : bool
    may : bool array, shape (num_vertices,)
        Which vertices can be on a path.
    too_long : int
        Vertices that could be, if lengths beyond int64 were possible.
    """

    def __init__(
        self, run: Run, source: int, target: int, *, weighted: bool, most_hops: int | None
    ) -> None:
        self._run, self._ends, self.weighted = run, np.array([source, target]), weighted
        if weighted:
            self._before, there = _on_host(length(run, source, None, None))
            self._after, back = _on_host(length(run, target, None, None, DISTANCES_TO))
        else:
            self._before, there = _on_host(hops(run, source, None, None))
            self._after, back = _on_host(_hops_to(run, target))
        self.may, self.too_long = there & back, 0
        self._rest_hops = self._after
        if not self.float:
            fits = self._before <= _LARGEST - self._after
            self.too_long = int(run.total(self.may & ~fits))
            self.may &= fits
        if most_hops is not None:
            if weighted:
                first, _ = _on_host(hops(run, source, None, None))
                self._rest_hops, _ = _on_host(_hops_to(run, target))
                self.may &= first + self._rest_hops <= most_hops
            else:
                self.may &= self._through <= most_hops

    @property
    def float(self) -> bool:
        """Whether lengths are floats."""
        return self._before.dtype.kind == "f"

    @cached_property
    def _through(self) -> np.ndarray:
        """How long a path through each vertex is at least, where there may be one."""
        with np.errstate(over="ignore"):  # of those through which there is none
            through: np.ndarray = self._before + self._after
        return through

    def nearest(self, number: int) -> Any:
        """The length of paths up to which that many vertices can be on one; None: no more can. Collective."""
        if self._run.total(self.may) <= number:
            return None
        mine = self._through[: self._run.view.num_owned][self.may[: self._run.view.num_owned]]
        if len(mine) > number:
            mine = np.partition(mine, number - 1)[:number]
        if self._run.ranks is not None:
            mine = np.concatenate(self._run.ranks.all_gather(mine))
        return np.partition(mine, number - 1)[number - 1].item()

    def within(self, limit: Any) -> PathEdges:
        """What paths of at most a length go through; ``limit`` None: of any. Collective."""
        run, view = self._run, self._run.view
        inside = self.may if limit is None else self.may & (self._through <= limit)
        inside = view.at_ghosts(inside.copy())
        source, destination, weight = run.engine.edges_among(view, inside)
        source, destination = to_host(source), to_host(destination)
        rows = to_host(run.rows)
        chosen = np.flatnonzero(inside.take(rows))
        places = chosen if run.ranks is None else to_host(run.vertices)[chosen]
        values = [each.take(rows[chosen]) for each in (self._before, self._after, self._rest_hops)]
        kind = self._before.dtype
        weight = np.ones(len(source), kind) if weight is None else to_host(weight).astype(kind)
        vertices = [places, *values]
        edges = [self._placed(source), self._placed(destination), weight]
        if run.ranks is not None:
            vertices, edges = ([run.ranks.to_first(e) for e in each] for each in (vertices, edges))
        return self._part(limit, vertices, edges)

    def _part(self, limit: Any, vertices: list[np.ndarray], edges: list[np.ndarray]) -> PathEdges:
        """Of the edges those that can be on such a path, between vertices in their order.

        Parameters
        ----------
        vertices : their places, lengths of paths to them and from them, hops from them
        edges : places of sources and of destinations, weights
        """
        order = np.argsort(vertices[0])
        places, before, after, rest_hops = (each[order] for each in vertices)
        source, destination, weight = edges
        source, destination = (np.searchsorted(places, each) for each in (source, destination))
        if not self._run.view.directed:
            source, destination = (
                np.concatenate(pair) for pair in ((source, destination), (destination, source))
            )
            weight = np.concatenate([weight, weight])
        if limit is not None:
            kept = before[source] <= limit - after[destination] - weight
            source, destination, weight = source[kept], destination[kept], weight[kept]
        first, last = np.searchsorted(places, self._placed(self._ends)).tolist()
        return PathEdges(places, source, destination, weight, after, rest_hops, (first, last))

    def _placed(self, dense: Any) -> Any:
        """Places of vertices in the order of the user's ids."""
        if self._run.ranks is not None or self._run.ids.rank is None:
            return dense
        return to_host(self._run.ids.rank)[dense]


def _hops_to(run: Run, target: int) -> tuple[Any, Any]:
    """Hops of each vertex to a target, and which vertices reach it."""
    if not run.view.directed:
        return hops(run, target, None, None)
    state = run.engine.run(HOPS_TO, run.view, run.options(sources=np.array([target])))
    assert state.reached is not None
    return state["level"], state.reached


def _on_host(found: tuple[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Distances as int64 or float64, and which there are, in host memory."""
    distance, reached = map(to_host, found)
    kind = np.float64 if distance.dtype.kind == "f" else np.int64
    return distance.astype(kind), reached
