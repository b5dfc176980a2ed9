"""A partition and what has changed since it was built, in one numbering: what is there now.

Vertices of the partition keep their dense ids here, new ones come behind them. So a change costs by its own size: only
the rows that it touches are looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.partition.as_given import find_cells
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.ids import composite
from dask_graphgpu.partition.partition import Partition
from dask_graphgpu.partition.rowwise import edges_of

Found: TypeAlias = tuple[np.ndarray, np.ndarray]  # dense ids, and which ids have one
_MOST = 2**32  # vertices, so that a pair of them is a number of 64 bits


@dataclass(frozen=True, eq=False)
class Change:
    """One update: first all rows between the pairs ``removed`` go, then the rows ``added`` come.

    Attributes
    ----------
    ids : tuple of Arrow arrays
        Distinct ids, a column each, of the types of the partition's.
    added, removed : pair of integer arrays
        Sources and destinations, as rows of ``ids``.
    columns : dict of arrays
        What the added edges carry.
    """

    ids: tuple[pa.Array, ...]
    added: tuple[np.ndarray, np.ndarray]
    removed: tuple[np.ndarray, np.ndarray]
    columns: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class Size:
    """How large a graph is: rows of its frame, and vertices."""

    rows: int
    vertices: int


class Growth:
    """A partition and the changes since, of which none is made of it here.

    Parameters
    ----------
    base : Partition
    changes : sequence of Change

    Attributes
    ----------
    fresh : list of Arrow arrays
        Ids of changes that the partition has not, ascending, a column each.
    source, destination : int64
        Ends of the added rows that are still there, in the order in which they came: dense ids of the partition, and
        behind these places in ``fresh``.
    columns : dict of arrays
        What these rows carry.
    """

    def __init__(self, base: Partition, changes: Sequence[Change]) -> None:
        base.use_vertices()
        if base.origin is not None and base.vertex_columns.listed is not None:
            base.origin.before_use(base.vertex_columns.listed)
        self._of(base, changes, [base.ids.find_rows(change.ids) for change in changes])

    def then(self, change: Change) -> Growth:
        """With one more change, whose ids alone are looked up in the partition."""
        made = Growth.__new__(Growth)
        found = [*self._found, self.base.ids.find_rows(change.ids)]
        made._of(self.base, [*self._changes, change], found)
        return made

    def before(self, later: Growth) -> Growth:
        """Without the last changes, those of ``later``. No id is looked up again."""
        made, left = Growth.__new__(Growth), len(self._changes) - len(later._changes)
        made._of(self.base, self._changes[:left], self._found[:left])
        return made

    def _of(self, base: Partition, changes: Sequence[Change], found: Sequence[Found]) -> None:
        """Number the ids of changes, of which it is known where each is in the partition."""
        self.base, self._directed = base, base.layout.directed
        self._changes, self._found = changes, found
        unknown = [
            [column.filter(pa.array(~known)) for column in change.ids]
            for change, (_, known) in zip(changes, found, strict=True)
        ]
        kinds = [column.type for column in base.ids.columns]
        unknown.append([pa.array([], kind) for kind in kinds])
        self.fresh, rows = composite([list(column) for column in zip(*unknown, strict=True)])
        self._old = base.num_vertices
        self.num_numbered = self._old + len(self.fresh[0])
        if self.num_numbered > _MOST:
            raise InvalidArgument(
                f"the graph has {self.num_numbered:,} vertices, and updates are of at most {_MOST:,}: build it anew"
            )
        numbers = []
        for (dense, known), row in zip(found, rows, strict=False):
            codes = dense.astype(np.int64)
            codes[~known] = self._old + row.astype(np.int64)
            numbers.append(codes)
        self._take(list(zip(numbers, changes, strict=True)))

    def _take(self, of: Sequence[tuple[np.ndarray, Change]]) -> None:
        """Find the added rows that are still there, and all pairs that were removed.

        ``of`` : changes with the number of each of their ids.
        """
        added = [[codes[change.added[k]] for codes, change in of] for k in (0, 1)]
        gone = [[codes[change.removed[k]] for codes, change in of] for k in (0, 1)]
        source, destination = _joined(added[0]), _joined(added[1])
        number = np.repeat(np.arange(len(of)), [len(each) for each in added[0]])
        gone_number = np.repeat(np.arange(len(of)), [len(each) for each in gone[0]])
        pairs = self._pairs(_joined(gone[0]), _joined(gone[1]))
        order = np.lexsort((gone_number, pairs))
        pairs, gone_number = pairs[order], gone_number[order]
        last = np.append(pairs[1:] != pairs[:-1], True)[: len(pairs)]
        self._gone, latest = pairs[last], gone_number[last]
        there = np.ones(len(source), bool)
        if len(self._gone) and len(source):
            keys = self._pairs(source, destination)
            place = np.minimum(np.searchsorted(self._gone, keys), len(self._gone) - 1)
            there = (self._gone[place] != keys) | (latest[place] <= number)
        self.source, self.destination = source[there], destination[there]
        carried = [change.columns for _, change in of if len(change.added[0])]
        self.columns = {
            name: np.concatenate([each[name] for each in carried])[there] if carried else column[:0]
            for name, column in self.base.given.columns.items()
        }

    def _pairs(self, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        """A number for each pair of ends; of an undirected graph the same in both directions."""
        if not self._directed:
            source, destination = (
                np.minimum(source, destination),
                np.maximum(source, destination),
            )
        wide = np.uint64(max(self.num_numbered, 1))
        pairs: np.ndarray = source.astype(np.uint64) * wide + destination.astype(np.uint64)
        return pairs

    # -- what is gone of the partition -----------------------------------------------------------------

    @cached_property
    def removed_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Sources and destinations of all pairs that changes remove, each once; int64."""
        source, destination = np.divmod(self._gone, np.uint64(max(self.num_numbered, 1)))
        return source.astype(np.int64), destination.astype(np.int64)

    @cached_property
    def gone(self) -> tuple[np.ndarray, np.ndarray]:
        """Sources and destinations of all pairs whose rows are gone from the partition; int64."""
        source, destination = self.removed_pairs
        inside = (source < self._old) & (destination < self._old)
        return source[inside], destination[inside]

    def gone_cells(self, rows_by_source: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Rows and neighbours of what is gone, of rows by source or by destination; undirected: at both ends."""
        source, destination = self.gone
        if self._directed:
            return (source, destination) if rows_by_source else (destination, source)
        others = source != destination  # a loop is in one row
        return (
            np.concatenate([source, destination[others]]),
            np.concatenate([destination, source[others]]),
        )

    @cached_property
    def size(self) -> Size:
        """Rows and vertices that there are now."""
        base, old = self.base, self._old
        rows = base.num_rows + len(self.source)
        if len(self.gone[0]):
            rows -= self._gone_rows()
        vertices = old + int(np.count_nonzero(self._touched >= old)) - len(self.vanished)
        return Size(rows, vertices)

    @cached_property
    def _touched(self) -> np.ndarray:
        """Ends of added rows, each once, ascending."""
        used = np.zeros(self.num_numbered, bool)
        used[self.source] = used[self.destination] = True
        return np.flatnonzero(used)

    def _gone_rows(self) -> int:
        """How many rows of the frame are gone from the partition."""
        base, aside = self.base, self.base.as_given
        given = base.use_given()
        if self._directed or aside is None or aside.turned is None:
            cells = self.gone_cells(base.layout.by == "source" or not self._directed)
        else:
            cells = self.gone  # in one of its two rows
        first, end = find_cells(given, *cells)
        number = int((end - first).sum())
        if aside is not None and len(aside.places):
            keys = self._pairs(aside.rows.astype(np.int64), aside.neighbours.astype(np.int64))
            number += int(among(keys, self._gone).sum())
        return number

    @cached_property
    def vanished(self) -> np.ndarray:
        """Dense ids of the partition's vertices that have no row left, and that no vertices frame names; ascending."""
        base = self.base
        touched = _ascending(np.concatenate(self.gone))
        alive = np.zeros(len(touched), bool)
        if len(touched):
            given, by = base.use_given(), base.layout.by
            alive |= self._left(given, touched, by == "source")
            if self._directed:
                other = "destination" if by == "source" else "source"
                rows = base.under("one", False)[1].adjacency(other, ())
                alive |= self._left(rows, touched, other == "source")
            alive |= among(touched, self._touched)
            if base.vertex_columns.listed is not None:
                alive |= base.vertex_columns.listed[touched]
        found: np.ndarray = touched[~alive]
        return found

    def _left(self, rows: Adjacency, vertices: np.ndarray, by_source: bool) -> np.ndarray:
        """Which of some vertices have an edge left in their row."""
        cells = self.gone_cells(by_source)
        first, end = find_cells(rows, *cells)
        gone = np.bincount(
            np.searchsorted(vertices, cells[0]), weights=end - first, minlength=len(vertices)
        )
        lengths = rows.offsets[vertices + 1] - rows.offsets[vertices]
        left: np.ndarray = lengths > gone.astype(np.int64)
        return left

    # -- what is there ---------------------------------------------------------------------------------

    def numbers_of(self, ids: Sequence[pa.Array]) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of some ids, int64, and which of them are known here at all."""
        dense, known = self.base.ids.find_rows(ids)
        numbers = dense.astype(np.int64)
        if len(self.fresh[0]) and not known.all():
            both = [
                [fresh, column.cast(fresh.type)]
                for fresh, column in zip(self.fresh, ids, strict=True)
            ]
            codes = composite(both)[1]
            order = np.argsort(codes[0])
            place = np.minimum(np.searchsorted(codes[0][order], codes[1]), len(order) - 1)
            fresh = ~known & (codes[0][order][place] == codes[1])
            numbers[fresh] = self._old + order[place][fresh]
            known = known | fresh
        return numbers, known

    def count_absent(self, ids: Sequence[pa.Array], places: np.ndarray) -> int:
        """How many of the ids at some places are not vertices now."""
        wanted = np.zeros(len(ids[0]), bool)
        wanted[places] = True
        there = self.are_vertices([column.filter(pa.array(wanted)) for column in ids])
        return len(there) - int(there.sum())

    def are_vertices(self, ids: Sequence[pa.Array]) -> np.ndarray:
        """Which of some ids are vertices now."""
        numbers, known = self.numbers_of(ids)
        used = among(numbers, self._touched)
        there: np.ndarray = known & np.where(
            numbers >= self._old, used, ~among(numbers, self.vanished)
        )
        return there

    def distinct(self, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        """Where each pair of numbers stands first; of an undirected graph in either direction."""
        return np.unique(self._pairs(source, destination), return_index=True)[1]

    def has(self, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        """Whether there is a row between two vertices, by their numbers; of an undirected graph in either direction."""
        keys = self._pairs(source, destination)
        found = among(keys, _ascending(self._pairs(self.source, self.destination)))
        old = np.flatnonzero((source < self._old) & (destination < self._old))
        given = self.base.use_given()
        ends = source[old], destination[old]
        by_source = not self._directed or self.base.layout.by == "source"
        first, end = find_cells(given, *(ends if by_source else ends[::-1]))
        found[old] |= (end > first) & ~among(keys[old], self._gone)
        return found

    def edges_at(
        self, vertices: np.ndarray, *, incoming: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Edges from some vertices (``incoming``: to them), by their numbers: these vertices and the others; int64.

        Repeated rows may come once. Of an undirected graph they are all edges at them. Cost: the rows of the vertices;
        nothing else of the partition is read.
        """
        wanted = _ascending(vertices)
        base, other = self.base, "destination" if incoming else "source"
        if not self._directed or base.layout.by == other:
            rows = base.use_given()
        else:
            rows = base.under("one", False)[1].adjacency(other, ())
        old = wanted[wanted < self._old]
        here = np.repeat(old, rows.offsets[old + 1] - rows.offsets[old])
        there = rows.neighbours[edges_of(rows, old)].astype(np.int64)
        left = ~among(self._pairs(*((there, here) if incoming else (here, there))), self._gone)
        ends = (self.destination, self.source) if incoming else (self.source, self.destination)
        new = among(ends[0], wanted)
        found = [(here[left], there[left]), (ends[0][new], ends[1][new])]
        if not self._directed:
            back = among(ends[1], wanted) & (ends[0] != ends[1])
            found.append((ends[1][back], ends[0][back]))
        return _joined([one for one, _ in found]), _joined([other for _, other in found])


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays one after the other; int64, also of none."""
    return np.concatenate([np.empty(0, np.int64), *parts]).astype(np.int64, copy=False)


def _ascending(values: np.ndarray) -> np.ndarray:
    """The distinct values in ascending order."""
    values = np.sort(values)
    distinct: np.ndarray = values[np.append(True, values[1:] != values[:-1])[: len(values)]]
    return distinct


def among(values: np.ndarray, ascending: np.ndarray) -> np.ndarray:
    """Which of some values are among others, which ascend."""
    if not len(ascending):
        return np.zeros(len(values), bool)
    place = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    found: np.ndarray = ascending[place] == values
    return found
