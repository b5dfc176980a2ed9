"""Core numbers of a graph that has changed, of those that it had before: only where they may have changed is searched.

References
----------
.. [1] Sariyüce, Gedik, Jacques-Silva, Wu, Çatalyürek, "Streaming algorithms for k-core decomposition", VLDB 2013.
.. [2] Hua, Shi, Yu, Jin, Yu, Cheng, Cai, Chen, "Faster parallel core maintenance algorithms in dynamic graphs", IEEE
   TPDS 2020.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from dask_graphgpu.errors import InvalidArgument, InvalidEdges
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.as_given import find_cells
from dask_graphgpu.partition.csr import Adjacency, offsets_of
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.grown_vertices import merged_ids
from dask_graphgpu.partition.growth import Growth, among
from dask_graphgpu.partition.ids import VertexIds
from dask_graphgpu.partition.united_groups import merged_tables

_FEW = 1 << 16  # edges that do not matter
_WRONG = (
    "give the result of core_number() on the whole graph at since=, or leave start= and since= out"
)


def cores_since(
    growth: Growth, news: Growth, ids: Sequence[pa.Array], before: np.ndarray
) -> tuple[list[pa.Array], np.ndarray] | None:
    """Ids of all vertices in ascending order, a column each, and the core number of each.

    Parameters
    ----------
    growth : Growth
        The graph as it is.
    news : Growth
        What has changed since, as changes of a graph that had nothing.
    ids, before
        Every vertex of the graph before, each once, and its core number; int64.

    Returns
    -------
    tuple or None
        None: more edges would have to be read than peeling reads.

    Raises
    ------
    InvalidArgument
        Vertices are missing or were not there, or a number is not what it can have been.

    Notes
    -----
    First the numbers without any of the new edges: those from before are the most that they can be, and come down
    where neighbours are gone [1]_. Then all new edges come at once, and numbers rise level by level [2]_: who comes
    from the k-core to the next one is joined, by others that do, to an end of a new edge, or to one that has just come
    to the k-core.
    """
    numbers = growth.numbers_of(news.fresh)
    core, new, merged = _numbers_before(growth, news, numbers, ids, before)
    changed = _Changed(growth, news, numbers)
    changed.check(core, new)
    core[new] = 0
    most, read = changed.most(), 0
    if changed.lost.any():
        known = changed.patch(changed.there & ~changed.added)
        read = kernels.core_updates.fall(changed.parted_ends(), most, *known, core)
    if read >= 0:
        seeds = changed.seeds(core)
        known = changed.patch(changed.there)
        read = kernels.core_updates.rise(seeds, core[seeds], most - read, *known, core)
    if read == kernels.core_updates.INCONSISTENT:
        raise InvalidArgument(
            f"start: numbers are larger than those of their neighbours allow; {_WRONG}"
        )
    if read < 0:
        return None
    table, place, there = merged
    found: np.ndarray = np.zeros(len(table[0]), np.int64)
    found[place[there]] = core[there]
    return table, found


def _numbers_before(
    growth: Growth,
    news: Growth,
    numbers: tuple[np.ndarray, np.ndarray],
    ids: Sequence[pa.Array],
    before: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, tuple[list[pa.Array], np.ndarray, np.ndarray]]:
    """By the numbers of vertices: their core numbers before, and which had none; and `merged_ids`.

    ``numbers`` : of ``news.fresh`` in the graph, see `Growth.numbers_of`.
    """
    merged = table, place, there = merged_ids(growth)
    core = np.zeros(growth.num_numbered, np.int64)
    were = growth.before(news).are_vertices(news.fresh)
    came = numbers[0][numbers[1] & ~were]
    came = came[there[came]]
    if all(one.equals(other) for one, other in zip(table, ids, strict=True)):
        core[there] = before[place[there]]
        unknown = len(came)
    else:
        try:
            columns, (now, given) = merged_tables(
                [table, list(ids)], "the graph's ids and those of start"
            )
        except InvalidEdges as error:
            raise InvalidArgument(f"start: {error}") from error
        known = np.full(len(columns[0]), -1, np.int64)
        known[given] = before
        if repeated := len(given) - np.count_nonzero(known >= 0):
            raise InvalidArgument(
                f"start: {repeated} vertices have more than one row; drop the repeats"
            )
        here = np.zeros(len(known), bool)
        here[now] = True
        strange = [column.filter(pa.array(~here)) for column in columns]
        rows, found = VertexIds(news.fresh, None).find_rows(strange)
        core[there] = known[now][place[there]]
        unknown = int(np.count_nonzero(~found)) + int(np.count_nonzero(~were[rows[found]]))
        unknown += int(np.count_nonzero(core[came] >= 0))
    if unknown:
        raise InvalidArgument(f"start: {unknown} of its ids were no vertices at since=; {_WRONG}")
    return core, core < 0, merged


class _Changed:
    """Pairs of different vertices between which rows have come or gone, each once, in either direction.

    Attributes
    ----------
    low, high : int64
        Their numbers, the smaller one first.
    there : bool
        Whether there is a row now.
    added, lost : bool
        Whether a row has come since the numbers before; whether some have gone and none is left.
    """

    def __init__(
        self, growth: Growth, news: Growth, of_fresh: tuple[np.ndarray, np.ndarray]
    ) -> None:
        self._rows: Adjacency = growth.base.under("one", False)[1].symmetric()
        self._old, self._size = growth.base.num_vertices, growth.num_numbered
        numbers, known = of_fresh

        def since(ends: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
            there = known[ends[0]] & known[ends[1]]
            return self._keys(numbers[ends[0][there]], numbers[ends[1][there]])

        added, lost = since((news.source, news.destination)), since(news.removed_pairs)
        others = [self._keys(growth.source, growth.destination), self._keys(*growth.removed_pairs)]
        keys = distinct(np.concatenate([added, lost, *others]))
        low, high = np.divmod(keys, np.uint64(max(self._size, 1)))
        self.low, self.high = low.astype(np.int64), high.astype(np.int64)
        self.there = growth.has(self.low, self.high) | growth.has(self.high, self.low)
        self.added = among(keys, np.sort(added)) & self.there
        self.lost = among(keys, np.sort(lost)) & ~self.there
        self._at = np.full(
            (2, len(keys)), -1, np.int64
        )  # where the rows had the pair, in both directions
        inside = np.flatnonzero(self.high < self._old)
        for at, ends in zip(self._at, ((self.low, self.high), (self.high, self.low)), strict=True):
            first, end = find_cells(self._rows, ends[0][inside], ends[1][inside])
            at[inside] = np.where(first < end, first, -1)

    def most(self) -> int:
        """Edges to be read at most, so that peeling all the same then takes not much longer than at once."""
        return self._rows.num_edges + _FEW

    def _keys(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """A number for each pair of different ends."""
        apart = one != other
        low, high = np.minimum(one, other)[apart], np.maximum(one, other)[apart]
        keys: np.ndarray = low.astype(np.uint64) * np.uint64(max(self._size, 1)) + high.astype(
            np.uint64
        )
        return keys

    def check(self, core: np.ndarray, new: np.ndarray) -> None:
        """Raise InvalidArgument for numbers before that cannot have been; ``new`` are those that had none."""
        degree = np.zeros(self._size, np.int64)
        degree[: self._old] = self._rows.degrees
        had = self._at[0] >= 0
        degree += self._times(self.there & ~had) - self._times(~self.there & had)
        least = degree - self._times(self.added)
        most = degree + self._times(self.lost)
        if (least[new] > 0).any():
            raise InvalidArgument(f"start: vertices that had edges are missing; {_WRONG}")
        wrong = ~new & ((core > most) | ((core == 0) & (least > 0)))
        if number := np.count_nonzero(wrong):
            raise InvalidArgument(
                f"start: {number} numbers are larger than the degree, or 0 with edges; {_WRONG}"
            )

    def _times(self, chosen: np.ndarray) -> np.ndarray:
        """How often each vertex is an end of some pairs."""
        ends = np.concatenate([self.low[chosen], self.high[chosen]])
        return np.bincount(ends, minlength=self._size)

    def parted_ends(self) -> np.ndarray:
        """Ends of pairs that are lost, or not there without what has come."""
        chosen = self.lost | self.added
        return np.concatenate([self.low[chosen], self.high[chosen]])

    def seeds(self, core: np.ndarray) -> np.ndarray:
        """Ends of added pairs at which the number is the lower one, or both, in ascending order of it."""
        low, high = self.low[self.added], self.high[self.added]
        ends = distinct(
            np.concatenate([low[core[low] <= core[high]], high[core[high] <= core[low]]])
        )
        return ends[np.argsort(core[ends], kind="stable")]

    def patch(self, there: np.ndarray) -> tuple[np.ndarray, ...]:
        """The rows with those of the pairs that are ``there``, as kernels read them."""
        had = self._at[0] >= 0
        extra, gone = there & ~had, ~there & had
        ends = [np.concatenate([self.low[c], self.high[c]]) for c in (extra, gone)]
        others = np.concatenate([self.high[extra], self.low[extra]])
        touched = distinct(np.concatenate(ends))
        slot = np.full(self._size, -1, np.int32)
        slot[touched] = np.arange(len(touched))
        counts = [np.bincount(slot[each], minlength=len(touched)) for each in ends]
        order = np.argsort(slot[ends[0]], kind="stable")
        lost = np.sort(np.concatenate(list(self._at[:, gone])))
        rows = self._rows
        longest = int(rows.degrees.max(initial=0)) + int(counts[0].max(initial=0))
        row = np.empty(longest, np.int64)
        return (
            rows.offsets, rows.neighbours, slot, offsets_of(counts[1]), lost,
            offsets_of(counts[0]), others[order], row,
        )  # fmt: skip
