"""The user's ids of a graph on many ranks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.partition.device.beside import Beside
from dask_graphgpu.partition.device.memory import has_room
from dask_graphgpu.partition.distinct import distinct_vertices
from dask_graphgpu.partition.ids import VertexIds, common_type, composite, unknown_vertex
from dask_graphgpu.partition.ranks.homes import Homes, rounds
from dask_graphgpu.partition.ranks.places import Places
from dask_graphgpu.partition.ranks.splits import cuts_of
from dask_graphgpu.partition.ranks.wire import tables_to_all
from dask_graphgpu.partition.searching import first_places
from dask_graphgpu.partition.string_entries import taken

# A rank that asks for more than one of so many ids gets all of them.
_MANY = 4


class RankIds:
    """The vertices of a graph on many ranks: their ids, numbers, and who owns them.

    A vertex's number is the place of its id in the ascending order of all ids. The ids lie at the
    vertices' homes, which are not their owners; what is collective here asks those.

    Parameters
    ----------
    homes : Homes
    ids : Arrow arrays
        The ids that this rank is home to.
    splits : as `Numbered.splits`
    places : Places
    """

    def __init__(
        self, homes: Homes, ids: list[pa.Array], splits: list[tuple[Any, ...]], places: Places
    ) -> None:
        self.homes = homes
        self.here = VertexIds(ids, None)
        self.splits = splits
        self.places = places
        self._own: np.ndarray | None = None
        self._beside = Beside()  # `in_user_order` on the GPU
        self._every_beside = [Beside() for _ in ids]  # the ids of all numbers

    def __len__(self) -> int:
        """Vertices of the whole graph."""
        return len(self.homes)

    @property
    def kinds(self) -> list[str]:
        """Type of each id column, in words."""
        return self.here.kinds

    @property
    def nbytes(self) -> int:
        """Bytes on this rank, without the numbers of its own vertices."""
        places = self.places
        return self.here.nbytes + places.at_home.nbytes + places.ascending.nbytes

    def in_user_order(self) -> np.ndarray:
        """Local ids of this rank's own vertices, in ascending order of the user's ids."""
        return self.places.ascending

    def in_user_order_beside(self, values: Any) -> Any:
        """`in_user_order` on the GPU where ``values`` are."""
        return self._beside.of(self.in_user_order, values)

    def own_numbers(self) -> np.ndarray:
        """Numbers of this rank's own vertices, ascending: those of `in_user_order`."""
        if self._own is None:
            self._own = self.places.own.take(self.places.ascending)
        return self._own

    def own_places(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Local ids of those vertices that this rank owns, and which of ``numbers`` these are, as indices."""
        own = self.own_numbers()
        place = first_places(own, numbers.astype(own.dtype))
        here = np.flatnonzero(place < len(own))
        here = here[own[place[here]] == numbers[here]]
        return self.places.ascending[place[here]].astype(np.int64), here

    def find(self, values: Sequence[Any]) -> np.ndarray:
        """Numbers of some of the user's ids (tuples when there are several id columns), int64.

        Collective; every rank gives the same values.

        Raises
        ------
        UnknownVertex
            On every rank: one of them is not a vertex; the message names it and the type of the
            graph's ids.
        """
        here = self.here.find_each(values)
        known = np.where(here < 0, -1, self.homes.first + here)
        every = self.homes.ranks.all_gather(known)
        found: np.ndarray = np.max(every, axis=0)
        if len(missing := (found < 0).nonzero()[0]):
            raise unknown_vertex(values[missing[0]], len(self), self.kinds)
        return found

    def find_rows(self, table: Sequence[pa.Array]) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the rows of an id table, int64, and which rows are vertices at all.

        Collective; every rank gives a table of its own, which may be empty and of any type then.
        Cost: the distinct ids go to their homes, their numbers come back.
        """
        kinds = [column.type for column in self.here.columns]
        if len(table[0]):
            kinds = [
                common_type([own, other.type], "the graph's ids and those given")
                for own, other in zip(kinds, table, strict=True)
            ]
            columns = [[c.cast(kind)] for c, kind in zip(table, kinds, strict=True)]
            distinct, (codes,) = composite(columns)
        else:
            distinct, codes = [pa.array([], kind) for kind in kinds], np.empty(0, np.uint32)
        cuts = np.array(cuts_of(distinct, self.splits))
        numbers = np.empty(len(distinct[0]), np.int64)
        ranks = self.homes.ranks
        for parts in rounds(ranks, cuts):
            asked = tables_to_all(ranks, [[c[part] for c in distinct] for part in parts])
            replies = [self._numbers(each) for each in asked]
            for part, reply in zip(parts, ranks.all_to_all(replies), strict=True):
                numbers[part] = reply
        found = numbers.take(codes)
        known = found >= 0
        return np.where(known, found, 0), known

    def take(self, numbers: np.ndarray, valid: np.ndarray | None = None) -> list[pa.Array]:
        """The user's ids of some numbers, an array an id column; null where not ``valid``.

        Collective; every rank gives numbers of its own. Cost: the distinct numbers go to their
        homes, the ids come back; a rank that asks for many gets all ids instead, and lets go of
        them again.
        """
        numbers = np.asarray(numbers).astype(self.homes.dtype, copy=False)
        asked = numbers if valid is None else numbers[valid]
        some, index = asked, None
        ascending = bool(
            (asked[1:] > asked[:-1]).all()
        )  # as own vertices in the order of their ids
        many = False
        if not ascending:
            some, index = distinct_vertices(asked, len(self))
            many = len(some) * _MANY >= len(self)
        if many:
            some, index = asked[:0], asked
        columns = self._taken(some)
        wanted = self.homes.ranks.scalars([int(many)])[:, 0].astype(bool)
        if wanted.any():
            every = self._every_id(wanted)
            columns = every if many else columns
        if index is None and valid is None:
            return columns
        index = np.arange(len(asked)) if index is None else index
        if valid is None:
            return [taken(column, index) for column in columns]
        rows = np.zeros(len(numbers), np.int64)
        rows[valid] = index
        wanted = pa.array(rows, mask=~valid)
        return [column.take(wanted) for column in columns]

    def every_beside(self, values: Any) -> list[Any] | None:
        """The ids of all numbers, an array an id column, on the GPU where ``values`` are; kept there. Collective.

        None: they are not integers, or some GPU has no room for them.
        """
        ranks = self.homes.ranks
        if any(not pa.types.is_integer(column.type) for column in self.here.columns):
            return None
        found = [column.found(values) for column in self._every_beside]
        if ranks.min(int(all(column is not None for column in found))):
            return found
        num_bytes = sum(column.type.bit_width // 8 for column in self.here.columns) * len(self)
        if not ranks.min(int(has_room(num_bytes, "the ids of all vertices"))):
            return None
        every = zip(self._every_beside, self._every_id(np.ones(ranks.size, bool)), strict=True)
        return [there.of(partial(np.asarray, column), values) for there, column in every]

    def to_owners(
        self, numbers: np.ndarray, columns: Sequence[np.ndarray]
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """Rows that belong to vertices go to the vertices' owners.

        Collective; every rank gives rows of its own, with columns of the same dtypes everywhere.
        Rows of one vertex come in the order of the ranks, and of the rows of each.

        Returns
        -------
        local ids of own vertices, one a row, uint32 or uint64
        columns
        """
        ranks = self.homes.ranks
        numbers = np.asarray(numbers).astype(self.homes.dtype, copy=False)
        distinct, codes = distinct_vertices(numbers, len(self))
        places = self.homes.ask(distinct, self.places.at_home).take(codes)
        owners = self.places.owners(places)
        order = np.argsort(owners, kind="stable")
        cuts = np.searchsorted(owners[order], np.arange(1, ranks.size))

        def sent(column: np.ndarray) -> np.ndarray:
            parts = ranks.all_to_all(np.split(column[order], cuts))
            return np.concatenate(parts)

        first = self.places.bounds[ranks.rank]
        local = sent(places) - self.homes.dtype.type(first)
        return local, [sent(np.asarray(column)) for column in columns]

    def _numbers(self, table: Sequence[pa.Array]) -> np.ndarray:
        """Numbers of ids that this rank is home to, -1 for those of no vertex."""
        rows, known = self.here.find_rows(table)
        return np.where(known, rows + self.homes.first, -1)

    def _every_id(self, wanted: np.ndarray) -> list[pa.Array]:
        """The ids of all numbers, on the ranks where they are wanted; nothing on others. Collective."""
        columns = self.here.columns
        none = [column[:0] for column in columns]
        got = tables_to_all(self.homes.ranks, [columns if each else none for each in wanted])
        if not wanted[self.homes.ranks.rank]:
            return none
        return [pa.concat_arrays([table[k] for table in got]) for k in range(len(columns))]

    def _taken(self, numbers: np.ndarray) -> list[pa.Array]:
        """The ids of ascending numbers. Collective."""
        homes, ranks = self.homes, self.homes.ranks
        cuts = homes.cuts(numbers)
        pieces: list[list[list[pa.Array]]] = [[] for _ in range(ranks.size)]
        for parts in rounds(ranks, cuts):
            asked = ranks.all_to_all([numbers[part] for part in parts])
            replies = [[_rows(c, each, homes.first) for c in self.here.columns] for each in asked]
            for piece, reply in zip(pieces, tables_to_all(ranks, replies), strict=True):
                piece.append(reply)
        got = [reply for piece in pieces for reply in piece]
        return [
            pa.concat_arrays([column[:0], *(table[k] for table in got)])
            for k, column in enumerate(self.here.columns)
        ]


def _rows(column: pa.Array, numbers: np.ndarray, first: int) -> pa.Array:
    """The ids of some ascending numbers, of which the column has those from ``first`` on."""
    if len(numbers) and (numbers[1:] - numbers[:-1] == 1).all():
        return column[int(numbers[0]) - first :][: len(numbers)]
    return taken(column, numbers.astype(np.int64) - first)
