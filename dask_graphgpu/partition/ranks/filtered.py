"""As `partition.filtered`, on ranks: each takes the rows whose sources it owns, and vertices stay where they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition.bounds import Bound
from dask_graphgpu.partition.build import dense_dtype
from dask_graphgpu.partition.empty import NoVertices
from dask_graphgpu.partition.filtered import fault_left, rows_within, values_given
from dask_graphgpu.partition.partition import VertexColumns
from dask_graphgpu.partition.ranks.agree import Agreed
from dask_graphgpu.partition.ranks.build import share_of
from dask_graphgpu.partition.ranks.homes import Homes
from dask_graphgpu.partition.ranks.numbering import Codes, EdgeRun, Numbered
from dask_graphgpu.partition.ranks.on_host import OnHost
from dask_graphgpu.partition.ranks.partition import RankPartition
from dask_graphgpu.partition.weight_fault import WeightFault
from dask_graphgpu.stages import Stage


def filtered(
    ranks: Ranks, whole: RankPartition, column: str, low: Bound, high: Bound
) -> RankPartition:
    """The share of the graph of the rows with ``low <= column < high``. Collective.

    Vertices have the owners that they had. Cost: a pass over the column and one over the vertices; the edges that stay
    are brought and sorted as in a build, but ids are neither sent nor compared.

    Parameters
    ----------
    ranks : Ranks
        Of the new share; those of ``whole`` work beside them.

    Raises
    ------
    NoVertices
        There is no row, and no vertex that a vertices frame has named, on any rank.
    """
    began = time.monotonic()
    stage = Stage("building", 3, told=ranks.rank == 0)
    stage.say("taking a part of a graph")
    source, destination, columns = rows_within(whole.out, whole.as_given, column, low, high)
    left = _Left.of(ranks, whole, source, destination)
    types = tuple(each.type for each in whole.ids.here.columns)
    agreed = Agreed(
        types=types,
        columns={name: each.dtype for name, each in columns.items()},
        vertex_columns={},
        num_rows=int(ranks.sum(len(source))),
        num_vertex_rows=0,
        chunks=ranks.size,
        span=None,
        fault=_fault_left(ranks, whole.fault, columns),
    )
    numbered = [left.numbered(source, destination, columns)]
    del source, destination, columns
    made = share_of(
        numbered,
        agreed,
        whole.layout,
        left.owners,
        "neighbours",
        OnHost(),
        stage,
        left.columns_of(),
    )
    made.took = {"build": time.monotonic() - began}
    stage.step()
    return made


def values_of(whole: RankPartition, column: str) -> Iterator[np.ndarray]:
    """The values of a column in the rows of the frame whose sources this rank owns, in arrays."""
    return values_given(whole.out, whole.as_given, column)


@dataclass(frozen=True, eq=False)
class _Left:
    """The vertices of a graph that some edges and a vertices frame leave.

    Attributes
    ----------
    whole : RankPartition
    homes : Homes
        Of the vertices that are left.
    there : bool array
        Which of the vertices that this rank is home to in the whole graph are left.
    places : array
        Their new numbers; of others, anything.
    used : array
        Local ids in the whole graph of the vertices at the ends of this rank's edges, by their numbers.
    """

    whole: RankPartition
    homes: Homes
    there: np.ndarray
    places: np.ndarray
    used: np.ndarray

    @classmethod
    def of(
        cls, ranks: Ranks, whole: RankPartition, source: np.ndarray, destination: np.ndarray
    ) -> _Left:
        occurs = np.zeros(len(whole.numbers), bool)
        for ends in (source, destination):
            occurs[ends.astype(np.intp)] = True
        used, named = np.flatnonzero(occurs), occurs
        if whole.vertex_columns.listed is not None:
            named = occurs | whole.vertex_columns.listed
        old, known = np.sort(whole.numbers[named]), whole.ids.homes
        there = np.zeros(known.num_here, bool)
        for index, _ in known.tell(old, []):
            there[index] = True
        counts = ranks.scalars([int(np.count_nonzero(there))])[:, 0]
        starts = np.append(0, np.cumsum(counts)).astype(np.int64)
        if not starts[-1]:
            raise NoVertices
        homes = Homes(ranks, starts, np.dtype(dense_dtype(int(starts[-1]))))
        places = np.maximum(np.cumsum(there), 1) - 1 + homes.first
        used = used[np.argsort(whole.numbers[used])]
        return cls(whole, homes, there, places.astype(homes.dtype), used)

    def numbered(
        self, source: np.ndarray, destination: np.ndarray, columns: dict[str, np.ndarray]
    ) -> Numbered:
        """Edges by local ids of the whole graph, whose vertices have their new numbers. Collective."""
        ids = self.whole.ids
        numbers = ids.homes.ask(self.whole.numbers[self.used], self.places)
        here = [each.filter(pa.array(self.there)) for each in ids.here.columns]
        about = self.homes, here, ids.splits, numbers
        if not len(source):
            return Numbered(*about, [], [])
        table = np.zeros(len(self.whole.numbers), self.whole.numbers.dtype)
        table[self.used] = np.arange(len(self.used), dtype=table.dtype)
        return Numbered(
            *about, [table], [EdgeRun(source, destination, Codes(0, slice(None)), columns)]
        )

    def owners(self, _: object) -> np.ndarray:
        """The owner of each vertex that this rank is home to: who owns it in the whole graph."""
        places = self.whole.ids.places
        found: np.ndarray = places.owners(places.at_home)[self.there]
        return found

    def columns_of(self) -> Callable[[np.ndarray, int], VertexColumns]:
        """What gives a rank the columns of the vertices that it owns."""
        whole, ranks = self.whole, self.homes.ranks
        ids, held = whole.ids, whole.vertex_columns

        def columns_of(own: np.ndarray, num_local: int) -> VertexColumns:
            asked = ids.own_numbers()
            stays = ids.homes.ask(asked, self.there)
            numbers = ids.homes.ask(asked, self.places)[stays]
            before = ids.in_user_order()[stays][np.searchsorted(numbers, own)]

            def ours(column: np.ndarray) -> np.ndarray:
                values = np.zeros(num_local, column.dtype)
                values[: len(own)] = column.take(before)
                return values

            columns = {name: ours(column) for name, column in held.columns.items()}
            gaps = {name: ours(column) for name, column in held.known.items()}
            missing = dict(held.missing)
            for name, has in gaps.items():
                missing[name] = int(ranks.sum(len(own) - int(np.count_nonzero(has))))
            known = {name: gap for name, gap in gaps.items() if missing[name]}
            listed = None if held.listed is None else ours(held.listed)
            return VertexColumns(columns, missing, held.repeated, known, len(self.homes), listed)

        return columns_of


def _fault_left(
    ranks: Ranks, fault: WeightFault | None, columns: dict[str, np.ndarray]
) -> WeightFault | None:
    """What is wrong with the weights that stay on any rank. Collective."""
    if fault is None:
        return None
    return fault if ranks.max(int(fault_left(fault, columns) is not None)) else None
