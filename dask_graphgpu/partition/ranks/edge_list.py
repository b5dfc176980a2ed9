"""Edges on many ranks for methods that read no rows: they stay where they were read, and vertices at their homes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from dask_graphgpu.exchange.border import Border
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition.chunk import VertexChunk, reading
from dask_graphgpu.partition.host_memory import give_back
from dask_graphgpu.partition.layered import Layered, Levels
from dask_graphgpu.partition.ranks.agree import agree
from dask_graphgpu.partition.ranks.homes import Homes
from dask_graphgpu.partition.ranks.ids import RankIds
from dask_graphgpu.partition.ranks.numbering import Numbered, number
from dask_graphgpu.partition.ranks.on_host import OnHost
from dask_graphgpu.partition.ranks.partition import Shares
from dask_graphgpu.partition.ranks.places import Places
from dask_graphgpu.partition.weight_fault import WeightFault
from dask_graphgpu.stages import Stage

Pairs = tuple[np.ndarray, np.ndarray]


class RankEdgeList:
    """The edges that a rank has read, in no order, and the vertices that it is home to, which it owns.

    It is its own view: repeated edges and the direction of any mean nothing to who reads no rows.

    Parameters
    ----------
    ids : RankIds
        Of which homes are owners.
    seen : dtype of numbers, ascending
        Numbers of the vertices that occur on this rank.
    edges : list of pairs of arrays
        Places in ``seen`` of the sources and of the destinations of edges.
    num_rows : int
        Of the whole edge frame.
    shares : Shares
    fault : WeightFault, optional
        What is wrong with the weights of the whole graph.
    """

    levels: ClassVar[Levels | None] = None
    order: ClassVar[str] = "input"

    def __init__(
        self,
        ids: RankIds,
        seen: np.ndarray,
        edges: list[Pairs],
        num_rows: int,
        shares: Shares,
        fault: WeightFault | None,
    ) -> None:
        self.ids = ids
        self.seen = seen
        self.edges = edges
        self.num_rows = num_rows
        self.shares = shares
        self.fault = fault
        self.numbers = ids.places.own
        self.num_owned = len(self.numbers)
        self.border = _no_border(ids.homes)
        # Seconds to "read" what this rank has read, and to "build".
        self.took: dict[str, float] = {}
        self.made: dict[Any, Any] = {}  # things on demand, of which others know

    @property
    def homes(self) -> Homes:
        return self.ids.homes

    @property
    def ranks(self) -> Ranks:
        """The ranks as this one sees them."""
        return self.ids.homes.ranks

    @property
    def num_vertices(self) -> int:
        """Of the whole graph."""
        return len(self.ids)

    @property
    def graph_vertices(self) -> int:
        """Of the whole graph."""
        return len(self.ids)

    @property
    def edge_bytes(self) -> int:
        """Of an edge: both ends."""
        return 2 * self.numbers.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes on this rank of ids, numbers and edges."""
        return self.ids.nbytes + self.seen.nbytes + sum(a.nbytes + b.nbytes for a, b in self.edges)

    def layers(self) -> list[Layered]:
        """None: edges by layers are rows."""
        return []

    def anew(self) -> Self:
        """The same, of whose edges nothing is made on demand that others would have to make with it."""
        self.made = {}
        return self

    def view(self, rule: str, weight: bool = True, columns: tuple[str, ...] = ()) -> Self:
        """Itself, under any rule for repeated rows; it carries nothing."""
        assert (weight, columns) == (False, ()), "edges without rows carry nothing"
        return self


def list_edges(ranks: Ranks, chunks: list[Any], vertices: Sequence[VertexChunk]) -> RankEdgeList:
    """Number the vertices of all ranks, and leave the edges where they are. Collective.

    The list of chunks, `EdgeChunk` or `UncodedEdges`, is emptied. Cost: that of `numbering.number`, and a look-up
    of each end.

    Raises
    ------
    InvalidEdges
        The chunks' id types disagree, or there is no edge and no vertex at all.
    """
    began, took = time.monotonic(), reading(chunks)
    stage = Stage("building", 1, told=ranks.rank == 0)
    give_back()  # what reading the frames left behind
    stage.say("numbering vertices")
    agreed = agree(ranks, chunks, vertices)
    numbered = number(ranks, chunks, vertices, agreed, OnHost())
    edges = _ends(numbered)
    homes = numbered.homes
    ids = RankIds(homes, numbered.ids, numbered.splits, _at_home(homes))
    held = [homes.num_here, sum(len(source) for source, _ in edges), 0]
    shares = Shares(*ranks.scalars(held).T)
    made = RankEdgeList(ids, numbered.numbers, edges, agreed.num_rows, shares, agreed.fault)
    made.took = took | {"build": time.monotonic() - began}
    stage.step()
    return made


def _ends(numbered: Numbered) -> list[Pairs]:
    """Places of both ends of the edges; a chunk goes once its codes have become these."""
    themselves = [
        len(table) == len(numbered.numbers) and bool((table == np.arange(len(table))).all())
        for table in numbered.tables
    ]
    edges: list[Pairs] = []
    numbered.runs.reverse()
    while numbered.runs:
        run = numbered.runs.pop()
        if themselves[run.codes.table] and run.codes.window == slice(None):
            edges.append((run.source, run.destination))
        else:
            table = run.codes.of(numbered.tables)
            edges.append((table.take(run.source), table.take(run.destination)))
    return edges


def _at_home(homes: Homes) -> Places:
    """Places of vertices that their homes own, in the order of their numbers."""
    numbers = homes.numbers()
    return Places(homes.starts, numbers, numbers, np.arange(len(numbers), dtype=homes.dtype))


def _no_border(homes: Homes) -> Border:
    """That of a rank without ghosts."""
    size, num_owned = homes.ranks.size, homes.num_here
    none = np.empty(0, homes.dtype)
    return Border(homes.ranks, num_owned, np.full(size + 1, num_owned, np.int64), [none] * size)
