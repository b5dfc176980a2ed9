"""Graphs of one rank cut into the shares of many, and what the shares give put together again."""

import numpy as np

from dask_graphgpu.exchange.border import Border
from dask_graphgpu.exchange.local import run_local
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.partition.rowwise import row_ids


class Cut:
    """A view cut by an array that says which rank owns each vertex.

    Attributes
    ----------
    owned : list of int64 arrays
        The dense ids that each rank owns, in the order of its local ids.
    numbers : int64 array, shape (n,)
        The number of each dense id.
    """

    def __init__(self, view, owner, size):
        self.view, self.owner, self.size = view, np.asarray(owner, np.int64), size
        self.n = view.num_vertices
        self.owned = [np.flatnonzero(self.owner == rank) for rank in range(size)]
        rank = view.user_rank
        self.numbers = np.arange(self.n) if rank is None else np.asarray(rank, np.int64)
        self._local = np.empty(self.n, np.int64)  # at the owner
        for owned in self.owned:
            self._local[owned] = np.arange(len(owned))
        self._edges = {"out": _arcs(view.out)}
        if view.directed:
            source, destination, columns = self._edges["out"]
            self._edges["into"] = destination, source, columns
        self._ghosts = [self._remote(rank) for rank in range(size)]

    def share(self, ranks):
        """The `RankView` of a rank."""
        me, view = ranks.rank, self.view
        dtype = view.out.neighbours.dtype
        ghosts = self._ghosts[me]
        here = np.r_[self.owned[me], ghosts]
        num_owned = len(self.owned[me])
        counts = np.bincount(self.owner[ghosts], minlength=self.size)
        sends = [
            self._local[other[self.owner[other] == me]].astype(dtype) for other in self._ghosts
        ]
        border = Border(ranks, num_owned, num_owned + np.r_[0, np.cumsum(counts)], sends)
        rows = {name: self._rows(arcs, me, here, dtype) for name, arcs in self._edges.items()}
        columns = {
            name: np.r_[column[self.owned[me]], _poison(len(ghosts), column.dtype)]
            for name, column in view.vertex_columns.items()
        }
        return RankView(
            ranks,
            border,
            self.numbers[here].astype(dtype),
            num_owned,
            self.n,
            directed=view.directed,
            out=rows["out"],
            into=rows.get("into", rows["out"]),
            vertex_columns=columns,
            graph_edges=view.num_edges,
            own_order=np.argsort(self.numbers[self.owned[me]]),
        )

    def run(self, function):
        """What ``function(share)`` gives on each rank."""
        return run_local(self.size, lambda ranks: function(self.share(ranks)))

    def whole(self, parts):
        """Arrays of all ranks, right for what they own, as one in dense order."""
        made = np.empty((self.n, *parts[0].shape[1:]), parts[0].dtype)
        for owned, part in zip(self.owned, parts, strict=True):
            assert part.dtype == made.dtype
            made[owned] = part[: len(owned)]
        return made

    def dense(self, numbers):
        """Numbers as dense ids."""
        back = np.empty(self.n, np.int64)
        back[self.numbers] = np.arange(self.n)
        return back[numbers]

    def local(self, ids):
        """The local ids of dense ids at their owners."""
        return self._local[ids]

    def _remote(self, rank):
        """Remote neighbours of what a rank owns, by owner, then as the owner has them."""
        ends = [
            destination[self.owner[source] == rank]
            for source, destination, _ in self._edges.values()
        ]
        found = np.unique(np.concatenate(ends))
        found = found[self.owner[found] != rank]
        return found[np.lexsort((self._local[found], self.owner[found]))]

    def _rows(self, arcs, rank, here, dtype):
        source, destination, columns = arcs
        own = self.owner[source] == rank
        place = np.zeros(self.n, np.int64)
        place[here] = np.arange(len(here))
        return from_edges(
            len(here),
            place[source[own]].astype(dtype),
            place[destination[own]].astype(dtype),
            {name: column[own] for name, column in columns.items()},
        )


def owners(n, size, way, seed=0):
    """Who owns each of ``n`` vertices: "blocks", "random", "cyclic" or "last" (all the last rank's)."""
    if way == "blocks":
        return np.arange(n) * size // max(n, 1)
    if way == "random":
        return np.random.default_rng(seed).integers(size, size=n)
    return np.arange(n) % size if way == "cyclic" else np.full(n, size - 1)


def cut(view, size, way="random", seed=0):
    """A view cut in one of the ways of `owners`."""
    return Cut(view, owners(view.num_vertices, size, way, seed), size)


def _arcs(rows):
    return row_ids(rows).astype(np.int64), rows.neighbours.astype(np.int64), rows.columns


def _poison(count, dtype):
    """What nobody may read."""
    if dtype.kind == "f":
        return np.full(count, np.nan, dtype)
    return np.full(count, True if dtype.kind == "b" else np.iinfo(dtype).max, dtype)
