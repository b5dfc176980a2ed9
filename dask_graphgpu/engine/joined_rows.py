"""All vertices with their neighbours, on each rank, for methods that look at what these are joined by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.engine.joined_pairs import BACK, by_degree, code_degrees, joined_pairs
from dask_graphgpu.engine.room import require_room_for_all
from dask_graphgpu.engine.whole_edges import check_number, everywhere
from dask_graphgpu.errors import IntegerOverflow
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.kernels.cpu.threads import edge_blocks
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.ranks.view import AnyView

_BUILDING = 150  # bytes an edge
_MOST = 2.0**62


@dataclass(frozen=True, eq=False)
class JoinedRows:
    """Vertices with all their neighbours, numbered in ascending order of how many they are.

    Attributes
    ----------
    place : the number of each vertex
    rows : offsets, neighbours and codes; what kernels take
    degree : int64, shape (num_vertices, 3), of each vertex the neighbours by code
    """

    place: np.ndarray
    rows: tuple[np.ndarray, np.ndarray, np.ndarray]
    degree: np.ndarray

    @classmethod
    def of(cls, view: AnyView, edges: tuple[Any, Any], size: int, what: str) -> JoinedRows:
        """All edges, on each rank, to count parts of so many vertices. Collective.

        Raises
        ------
        IntegerOverflow
            There may be more stars and paths of so many vertices than 64 bits hold.
        """
        n = view.graph_vertices
        check_number(n, what)
        require_room_for_all(view, len(edges[0]), _BUILDING, f"{what} of")
        source, destination = (everywhere(view.ranks, to_host(each)) for each in edges)
        low, high, code = joined_pairs(source, destination, directed=view.directed)
        by_code = code_degrees(n, low, high, code)
        total = by_code.sum(axis=0)
        stars = total.astype(np.float64) ** (size - 1)  # more than paths, too
        if stars.sum() > _MOST:
            raise IntegerOverflow(
                f"{what}: with a vertex of {int(total.max()):,} neighbours, stars and paths of {size} vertices may be "
                "beyond 64 bits: take a part of the graph"
            )
        place = by_degree(total)
        degree = np.empty((n, 3), np.int64)
        degree[place] = by_code.T
        low, high = place[low], place[high]
        ends = np.concatenate([low, high]), np.concatenate([high, low])
        code = np.concatenate([code, np.array(BACK, np.uint8).take(code)])
        made = from_edges(n, *ends, {"code": code})
        return cls(place, (made.offsets, made.neighbours, made.columns["code"]), degree)

    @property
    def num_edges(self) -> int:
        return len(self.rows[1]) // 2

    def blocks(self, steps: np.ndarray, ranks: Ranks | None = None) -> np.ndarray:
        """Blocks of vertices of about equal work: of all, or of those that this one of some ranks is to look at.

        steps : of each vertex
        """
        ends = np.cumsum(np.append(0, steps))
        rank, size = (0, 1) if ranks is None else (ranks.rank, ranks.size)
        bounds = np.searchsorted(ends, ends[-1] * np.arange(1, size) // size)
        first, last = np.array([0, *bounds, len(steps)])[rank : rank + 2]
        blocks: np.ndarray = edge_blocks(ends[first : last + 1]) + first
        return blocks

    def downward(self) -> np.ndarray:
        """Of each vertex, how many neighbours those before it have."""
        offsets, neighbours, _ = self.rows
        row = np.repeat(np.arange(len(self.place)), np.diff(offsets))
        before = np.flatnonzero(neighbours < row)
        lengths = np.diff(offsets).take(neighbours[before])
        return np.bincount(row[before], lengths, len(self.place)).astype(np.int64)

    def upward(self) -> np.ndarray:
        """Of each vertex, how many neighbours are behind it, squared."""
        offsets, neighbours, _ = self.rows
        row = np.repeat(np.arange(len(self.place)), np.diff(offsets))
        behind = np.bincount(row[neighbours > row], minlength=len(self.place))
        squares: np.ndarray = behind**2
        return squares
