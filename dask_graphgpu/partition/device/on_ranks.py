"""What `partition.ranks.build` does for each edge, with the edges of every rank on its GPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition.as_given import AsGiven
from dask_graphgpu.partition.chunk import EdgeChunk, to_host
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device.arrays import blocks, count
from dask_graphgpu.partition.device.csr import Pairs, from_pairs, mirror_sum
from dask_graphgpu.partition.device.host import as_given_on_host, to_new_memory
from dask_graphgpu.partition.device.masks import count_true
from dask_graphgpu.partition.device.undirected import undirected
from dask_graphgpu.partition.ranks.ghosts import Ghosts
from dask_graphgpu.partition.ranks.numbering import EdgeRun
from dask_graphgpu.partition.ranks.on_host import OnHost
from dask_graphgpu.partition.ranks.shuffle import Entries, Tables, ends_of

if TYPE_CHECKING:
    from dask_graphgpu.exchange.nccl import DeviceLink


class OnDevice(OnHost):
    """`OnHost` for edges whose arrays are those of a link between the ranks' GPUs."""

    def __init__(self, link: DeviceLink) -> None:
        self._link, self._xp = link, link.arrays
        self._moved: dict[tuple[int, int], Any] = {}

    def holds(self, chunks: Sequence[EdgeChunk]) -> bool:
        """Whether all edges of the chunks are on a GPU."""
        return all(isinstance(chunk.source, self._xp.ndarray) for chunk in chunks if len(chunk))

    def here(self, chunk: EdgeChunk) -> EdgeChunk:
        """The chunk on the GPU of this rank, which need not be that of the frame."""
        if self._xp is np or chunk.source.device == self._xp.cuda.Device():
            return chunk
        return replace(
            chunk,
            source=self._brought(chunk.source),
            destination=self._brought(chunk.destination),
            columns={name: self._brought(column) for name, column in chunk.columns.items()},
        )

    def _brought(self, array: Any) -> Any:
        """To the current GPU, through the host: a pool's memory is not open to another GPU."""
        with array.device:
            host = self._xp.asnumpy(array)
        return self._xp.asarray(host)

    def at_work(self, array: np.ndarray) -> Any:
        return self._xp.asarray(array)

    def mark(self, codes: Any, present: np.ndarray) -> None:
        flags = self._xp.zeros(len(present), bool)
        for part in blocks(len(codes)):
            flags[codes[part]] = True
        present |= to_host(flags)

    def count(
        self, runs: Sequence[EdgeRun], tables: Sequence[np.ndarray], size: int, dtype: np.dtype[Any]
    ) -> np.ndarray:
        counts = self._xp.zeros((2, size), dtype)
        for run in runs:
            table = self._xp.asarray(run.codes.of(tables))
            for total, codes in zip(counts, (run.source, run.destination), strict=True):
                found = count(codes, len(table))
                here = self._xp.flatnonzero(found)
                total[table[here]] += found[here].astype(dtype)  # a vertex has one code of a run
        return to_host(counts)

    def mirror_sum(self, runs: Sequence[EdgeRun], tables: Tables, name: str | None) -> np.uint64:
        pairs = [
            Pairs(run.source, run.destination, self._of(tables.places, run), run.columns)
            for run in runs
        ]
        return np.uint64(mirror_sum(pairs, name))

    def shuffle(
        self,
        ranks: Ranks,
        runs: list[EdgeRun],
        tables: Tables,
        bounds: np.ndarray,
        ways: Sequence[str],
        kinds: dict[str, np.dtype[Any]],
    ) -> list[Entries]:
        size, names, arriving = ranks.size, [*kinds], []
        for way in ways:
            given = np.zeros(size, np.int64)
            for run in runs:
                for part in blocks(len(run)):
                    owners = self._of(tables.owners, run)[ends_of(run, way)[0][part]]
                    given += [count_true(owners == rank) for rank in range(size)]
            arriving.append(_Arriving(self._xp, told_each(ranks, given), bounds.dtype, kinds))
        pieces = [(run, part) for run in runs for part in blocks(len(run))][::-1]
        runs.clear()
        none = [self._xp.empty(0, bounds.dtype)] * 2
        none += [self._xp.empty(0, kind) for kind in kinds.values()]
        for _ in range(int(ranks.max(len(pieces)))):
            piece = pieces.pop() if pieces else None
            for way, room in zip(ways, arriving, strict=True):
                dealt = [none] * size
                if piece is not None:
                    entries = self._entries(*piece, way, tables)
                    dealt = [self._dealt(entries, bounds, names, rank) for rank in range(size)]
                    del entries
                self._send(ranks, dealt, room)
        self._moved.clear()
        return [room.entries for room in arriving]

    def remote(
        self, neighbours: Sequence[Any], first: np.uint64, last: np.uint64, total: int
    ) -> np.ndarray:
        flags = self._xp.zeros(-(-total // 64) * 64, bool)
        for places in neighbours:
            for part in blocks(len(places)):
                flags[places[part]] = True
        flags[int(first) : int(last)] = False
        words = np.packbits(to_host(flags), bitorder="little").view("<u8")
        return words.astype(np.uint64, copy=False)

    def to_local(self, ghosts: Ghosts, neighbours: Sequence[Any]) -> None:
        first, last = int(ghosts.first), int(ghosts.last)
        bits = np.unpackbits(
            ghosts.words.astype("<u8", copy=False).view(np.uint8), bitorder="little"
        )
        for places in neighbours:
            table = self._xp.cumsum(self._xp.asarray(bits), dtype=places.dtype)
            table += table.dtype.type(last - first)
            table -= table.dtype.type(1)
            table[first:last] = self._xp.arange(last - first, dtype=table.dtype)
            for part in blocks(len(places)):
                places[part] = table[places[part]]

    def rows(self, entries: list[Entries], num_local: int) -> Adjacency:
        last = entries.pop()
        dtype = last.neighbours.dtype
        runs = [Pairs(last.rows, last.neighbours, None, last.columns)]
        del last
        return _on_host(from_pairs(num_local, runs, dtype))

    def settled(self, entries: list[Entries], numbers: np.ndarray) -> tuple[Adjacency, AsGiven]:
        dtype = entries[0].neighbours.dtype
        runs = [
            Pairs(each.rows, each.neighbours, None, each.columns, back)
            for each, back in zip(entries, (False, True), strict=True)
        ]
        entries.clear()
        order = self._xp.asarray(numbers)
        rows, aside = undirected(len(numbers), runs, dtype, order, both=False)
        return _on_host(rows), as_given_on_host(aside)

    # -- parts of `shuffle` -------------------------------------------------------------------------

    def _of(self, tables: Sequence[np.ndarray], run: EdgeRun) -> Any:
        """The table of a run's codes on the device, where it stays until the edges have gone."""
        key = id(tables), run.codes.table
        if key not in self._moved:
            self._moved[key] = self._xp.asarray(tables[run.codes.table])
        return self._moved[key][run.codes.window]

    def _entries(self, run: EdgeRun, part: slice, way: str, tables: Tables) -> _Entries:
        """The entries that some edges make: owners and places of the rows, places of neighbours, columns."""
        rows, neighbours = (codes[part] for codes in ends_of(run, way))
        places, owners = self._of(tables.places, run), self._of(tables.owners, run)
        columns = {name: column[part] for name, column in run.columns.items()}
        return owners[rows], places[rows], places[neighbours], columns

    def _dealt(
        self, entries: _Entries, bounds: np.ndarray, names: Sequence[str], rank: int
    ) -> list[Any]:
        """What goes to a rank: rows as it names them, places of neighbours, and columns."""
        owners, rows, neighbours, columns = entries
        mine = owners == rank
        return [
            rows[mine] - bounds[rank],
            neighbours[mine],
            *(columns[name][mine] for name in names),
        ]

    def _send(self, ranks: Ranks, dealt: list[list[Any]], room: _Arriving) -> None:
        """Send each rank what is dealt to it, and put what comes in its place."""
        got = told_each(ranks, np.array([len(each[0]) for each in dealt], np.int64)).tolist()
        pairs = []
        for column, target in enumerate(room.arrays):
            sent = [each[column].astype(target.dtype, copy=False) for each in dealt]
            received = [
                target[start : start + length]
                for start, length in zip(room.upto.tolist(), got, strict=True)
            ]
            received[ranks.rank][...] = sent[ranks.rank]
            sent[ranks.rank], received[ranks.rank] = sent[ranks.rank][:0], target[:0]
            pairs.append((sent, received))
        self._link.swap(pairs)
        self._link.settle()
        ranks.barrier()  # to allocate waits for the device, and a peer may still receive
        room.upto += np.array(got)


_Entries = tuple[Any, Any, Any, dict[str, Any]]


def _on_host(rows: Adjacency) -> Adjacency:
    """Rows in host memory; what is copied goes from the device."""
    columns = {name: to_new_memory(rows.columns.pop(name)) for name in [*rows.columns]}
    offsets = to_new_memory(rows.offsets.astype(np.int64))
    return Adjacency(offsets, to_new_memory(rows.neighbours), columns)


class _Arriving:
    """Room for the entries that come to a rank, those from rank 0 first.

    ``counts``, of shape (size,), int64, says how many come from each rank; ``upto`` where the next go.
    """

    def __init__(
        self, xp: Any, counts: np.ndarray, dtype: np.dtype[Any], kinds: dict[str, np.dtype[Any]]
    ) -> None:
        total = int(counts.sum())
        columns = {name: xp.empty(total, kind) for name, kind in kinds.items()}
        self.entries = Entries(xp.empty(total, dtype), xp.empty(total, dtype), columns)
        self.arrays = [self.entries.rows, self.entries.neighbours, *columns.values()]
        self.upto = np.cumsum(counts) - counts


def told_each(ranks: Ranks, counts: np.ndarray) -> np.ndarray:
    """Tell each rank a number; what each has told this one. Collective."""
    return np.concatenate(ranks.all_to_all(np.split(counts, ranks.size)))
