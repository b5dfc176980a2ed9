"""Weakly connected components on several GPUs: trees on each, and labels of trees that all agree on.

As the ranks of the CPU engine do (`engine.ranks.components`): each links trees, a ghost says which
trees of two ranks meet, and all join the same pairs of labels.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import cupy
import cupyx
import numpy as np

from dask_graphgpu.engine.device_ranks import ghost_updates
from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.segments import Segments
from dask_graphgpu.engine.device_ranks.view import RankDeviceView, connected
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.components import Trees, firsts
from dask_graphgpu.engine.gpu.device import integer_types
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.ranks.view import RankView, TowardView
from dask_graphgpu.report import Report


def components(view: RankView, report: Report) -> Any:
    """Component of every vertex, the direction of edges ignored. Collective.

    Returns
    -------
    array of the dtype of numbers, shape (num_vertices,)
        The smallest number in the component; right for own vertices. On the host, but of a view that
        is `RankView.staying`.

    Notes
    -----
    Own vertices are linked first, of which nearly all are in one tree then, on each rank. A bit of each
    border vertex tells whether it is. Only those that are not look at their ghosts: to one in its owner's
    largest tree they are linked, and to no more where the largest trees of all have met; to another one
    if there is none. What is still outside is told by its
    label, and pairs of labels that meet are joined by all ranks alike: three exchanges, whatever the
    graph. Each rank holds a word for every vertex of the graph meanwhile.
    """
    start = time.perf_counter()
    toward = view.toward("both")
    key = "components", toward.rows
    with connected(view, key, lambda kept: kept.begin()) as (border, joined):
        if joined is None:
            joined = Joined(view, toward, border)
            view.ranks.barrier()  # to allocate waits for devices, and a peer's may wait for this one
        joined.read = 0
        joined.run()
        n, item, read = view.num_vertices, view.id_dtype.itemsize, joined.read
        report.advance(
            "link", supersteps=1, frontier=n, edges=read,
            bytes=read * 2 * item + n * (3 * item + 16), seconds=time.perf_counter() - start,
        )  # fmt: skip
        labels = joined.labels(stays=view.stays)
        border.leave(key, joined)
    return labels


# Border vertices for each place in the list of those that are still outside the largest tree when their
# ghosts in other ranks' largest trees are linked. Of R-MAT graphs they are those of small components.
VALUES_A_PLACE = 32

# Pairs of labels of each rank that travel in any case, at least, and vertices of the graph for each. Where
# a rank has more, the host sees it.
FEW_PAIRS, VERTICES_A_PAIR = 1 << 12, 1 << 9

# Vertices that are asked first for an edge between two largest trees: those with most edges, mostly.
_ASKED = 1 << 16

# Blocks of kernels that go over own vertices, on a multiprocessor, and threads of one.
_BLOCKS, _THREADS = 8, 256

# Own vertices are looked at for the smallest of the largest tree that have one of so many numbers, of
# each rank, from the smallest one here on.
_FIRST_NUMBERS = 1024

_HEAD = 2  # words in front of pairs that travel: how many there are, whether a list was too short

_KERNELS = {
    "rank_components": "start pack meet_giants hang absorb settle",
    "rank_labels": "list_others take_others name_own meet join_first join_pairs relabel part_first part_pairs",
}


class Joined:
    """The trees of a rank, and a forest over the labels of all ranks' trees; kept from run to run.

    Parameters
    ----------
    view : RankView
    toward : TowardView
        Of ``view``, with every edge both ways.
    border : DeviceBorder

    Attributes
    ----------
    read : int
        Edges that were linked or looked at.
    """

    def __init__(self, view: RankView, toward: TowardView, border: DeviceBorder) -> None:
        # Not the view: it keeps this, and neither would ever go.
        self._border, self._ranks = border, view.ranks
        here, ids, size = RankDeviceView.of(toward), view.id_dtype, view.ranks.size
        n, self._owned, rank = view.num_vertices, view.num_owned, view.ranks.rank
        rows, vertex = here.into, here.id_dtype
        threads = _BLOCKS * launch.num_multiprocessors() * _THREADS
        self._most = min(self._owned, threads)  # threads that go over own vertices
        ghosts = view.border.ghosts
        # Of ghosts nothing is told, between runs.
        self._label = cupy.full(n, np.iinfo(ids).max, ids)
        # Every label in a tree of its own, between runs.
        self._forest = cupy.arange(view.graph_vertices, dtype=ids)
        few = self._few = max(FEW_PAIRS, view.graph_vertices // VERTICES_A_PAIR)
        words = 2 * ids.itemsize // 8  # of a pair
        told = cupy.empty(_HEAD + max(n - self._owned + size, few) * words, np.uint64)
        self._pairs = told[_HEAD:].view(ids).reshape(-1, 2)
        self._told = told[: _HEAD + few * words]
        self._every_told = cupy.empty((size, self._told.size), np.uint64)
        self._giants = cupy.empty(size, ids)
        places = [self._giants[peer : peer + 1] for peer in range(size)]
        none = self._giants[:0]
        self._swapped = (  # labels of the largest trees
            [none if peer == rank else places[rank] for peer in range(size)],
            [none if peer == rank else places[peer] for peer in range(size)],
        )
        self._found = cupy.empty(1 + size, np.uint64)
        self._heads = cupy.empty(_HEAD * size, np.uint64)
        self._seen = [cupyx.empty_pinned(e.size, np.uint64) for e in (self._found, self._heads)]
        self._counts: list[int] = []
        self._room = [0] * size  # pairs of each rank that there is room for, in the arrays
        self._rooms = [self._pairs[:0]] * size
        self.read = 0
        # Ghosts are in trees of their own, between runs.
        parent = cupy.arange(n + size, dtype=vertex)
        self._linked = cupy.zeros((n - self._owned + 31) // 32, np.uint32)
        own = Adjacency(rows.offsets[: self._owned + 1], rows.neighbours)
        beyond = cupy.empty(self._owned, vertex)
        inside = cupy.empty((self._owned + 31) // 32, np.uint32)
        alone = parent, beyond, inside
        self._trees = Trees(own, here.defines, alone=alone) if self._owned else None
        self._begun = False
        numbers = here.made("numbers", lambda: cupy.asarray(view.numbers))
        first = firsts(numbers[: self._owned], _FIRST_NUMBERS * size).astype(vertex)
        state = cupy.zeros(16, np.uint8) if self._trees is None else self._trees.state.memory
        self._state = cupyx.empty_pinned(
            0 if self._trees is None else self._trees.state.size, np.uint8
        )
        sends = Segments([len(each) for each in view.border.sends], rank, header=0)
        comes = Segments(np.diff(ghosts).tolist(), rank, header=0)
        self._sends, self._comes = sends, comes
        self._packed = cupy.empty(sends.words, np.uint32)
        self._received = cupy.empty(comes.words, np.uint32)
        self._others, self._came = (
            ghost_updates.Lists([b - a for a, b in cuts], 2 * ids.itemsize, VALUES_A_PLACE)
            for cuts in (border.cuts, border.ghosts)
        )
        self._held = [
            rows.offsets, rows.neighbours, self._owned, n, cupy.asarray(ghosts, np.uint64), rank, size,
            numbers, first, len(first), state[8:], state, state.nbytes // 8, parent, beyond, self._label,
            inside, self._linked,
            cupy.asarray(sends.spread(view.border.sends, vertex)), *sends.picks(view.border.sends),
            *sends.arrays, comes.arrays[0],
            self._packed, self._received, *self._others.given, *self._came.given, self._giants,
            self._found, told, self._every_told, self._heads, few, self._forest,
        ]  # fmt: skip
        self._given = launch.struct(self._held)
        types = integer_types(vertex, rows.offsets.dtype)
        defines = integer_types(ids, rows.offsets.dtype) | {"VERTEX": types["ID"]}
        self._kernels = {
            name: launch.loaded(cuda(file, defines=defines).kernel(name))
            for file, names in _KERNELS.items()
            for name in names.split()
        }
        recorded = border.link.recorded
        self._whole = recorded(partial(self._join, self._tell_all), lasts=True)
        self._listed = recorded(partial(self._join, self._tell_others), lasts=True)
        self._by_list = True  # whether there was room so far; the same on all ranks

    def begin(self) -> None:
        """Queue that own vertices are linked; of a `run` what needs no peer, which may begin before it."""
        self._launch("start", _THREADS)
        if self._trees is not None:
            self._trees.link(None, both=True)
        self._begun = True

    def run(self) -> None:
        """Find the labels of components; collective."""
        every = self._labelled()
        # There was no room for what is outside the largest trees.
        if self._by_list and every[:, 1].any():
            self._by_list = False
            self._border.make_room([self._label])
            self._ranks.barrier()  # to allocate waits for devices, and a peer's may wait for this one
            every = self._labelled()
        self._counts = every[:, 0].tolist()
        if max(self._counts) > self._few:
            self.join_many()

    def _labelled(self) -> np.ndarray:
        """Link trees, and join them by few pairs. Of every rank: how many, whether a list was too short."""
        link = self._border.link
        if not self._begun:
            self.begin()
        self._begun = False
        (self._listed if self._by_list else self._whole)()
        for array, seen in zip((self._found, self._heads), self._seen, strict=True):
            array.get(out=seen, blocking=False)
        if self._trees is not None:
            linked = self._trees.state
            linked.memory[: linked.size].get(out=self._state, blocking=False)
        link.settle()
        if self._trees is not None:
            sampled = int(self._trees.state.of(self._state)[0]["read"])
            self.read += sampled + int(self._seen[0][0])
        every: np.ndarray = self._seen[1].reshape(-1, 2).copy()
        return every

    def _join(self, tell: Callable[[], None]) -> None:
        """Queue what follows the linking of own vertices."""
        link, owned, asked = self._border.link, self._owned, min(self._owned, _ASKED)
        self._launch("pack", self._packed.size)
        link.swap([(self._sends.of(self._packed), self._comes.of(self._received))])
        self._launch("meet_giants", asked * self._ranks.size, np.uint64(asked))
        for name in ("hang", "absorb", "settle"):
            self._launch(name, self._most)
        tell()
        if owned:
            self._launch("meet", max(self._linked.size, self._ranks.size))
        link.all_gather(self._told, self._every_told)
        self._launch("join_first", self._ranks.size * self._few)
        self._launch("relabel", self._most)
        self._launch("part_first", self._ranks.size * self._few)

    def _tell_all(self) -> None:
        """Queue that ghosts are told their labels, and all ranks those of the largest trees."""
        self._launch("name_own", self._owned)
        self._border.link.swap([self._swapped])
        self._border.refresh([self._label])

    def _tell_others(self) -> None:
        """The same where nearly all border vertices are in the largest trees: a list of the others."""
        if self._owned:
            self._launch("list_others", max(self._packed.size, 1))
        parts = zip(self._others.parts, self._came.parts, strict=True)
        self._border.link.swap([self._swapped, *parts])
        self._launch("take_others", self._came.room)

    def join_many(self) -> None:
        """Join the pairs of labels of all ranks, where they are more; collective."""
        own, counts = self._ranks.rank, self._counts
        self._make_room()
        every = [room[:count] for room, count in zip(self._rooms, counts, strict=True)]
        mine, none = self._pairs[: counts[own]], self._pairs[:0]
        sent = [none if rank == own else mine for rank in range(len(counts))]
        self._border.link.swap([(sent, every)])

        def of_all(name: str) -> None:
            for pairs in (*every, mine):
                given = pairs, np.uint64(len(pairs)), self._forest
                launch.flat(self._kernels[name], len(pairs), given)

        of_all("join_pairs")
        self._launch("relabel", self._most)
        of_all("part_pairs")
        self._border.link.settle()

    def _make_room(self) -> None:
        """For the pairs of other ranks, where they have never been so many: all ranks know that alike."""
        if all(count <= most for count, most in zip(self._counts, self._room, strict=True)):
            return
        self._room = [max(each) for each in zip(self._counts, self._room, strict=True)]
        self._rooms = [
            self._pairs[:0]
            if rank == self._ranks.rank
            else cupy.empty((most, 2), self._label.dtype)
            for rank, most in enumerate(self._room)
        ]
        self._ranks.barrier()  # to allocate waits for devices, and a peer's may wait for this one

    def labels(self, *, stays: bool) -> Any:
        """What each vertex's component is called; on the host, or on the device where it ``stays``."""
        return self._label.copy() if stays else cupy.asnumpy(self._label)

    def forget(self) -> None:
        """End what was recorded."""
        for each in (self._whole, self._listed):
            each.forget()
        del self._whole, self._listed  # they hold this

    def _launch(self, name: str, threads: int, *more: Any) -> None:
        launch.flat(self._kernels[name], threads, (self._given, *more), threads=_THREADS)
