"""Trees that a rank has linked on its GPU, and a forest that joins those of all ranks by their labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import cupy
import cupyx
import numpy as np

from dask_graphgpu.engine.device_ranks import news
from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.view import RankDeviceView
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.components import Trees
from dask_graphgpu.engine.gpu.device import integer_types
from dask_graphgpu.kernels.compile import cuda

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView, TowardView

# Border vertices for each place in the list of those outside the largest tree. Of R-MAT 26 on two ranks
# they are more than one in 32: those of one or two edges whose neighbours are all on the other rank.
VALUES_A_PLACE = 8


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
        Edges that were linked.
    """

    def __init__(self, view: RankView, toward: TowardView, border: DeviceBorder) -> None:
        # Not the view, which lives as long as what it keeps.
        self._border, self._ranks, self._bounds = border, view.ranks, view.border.ghosts.tolist()
        here, ids, size = RankDeviceView.of(toward), view.id_dtype, view.ranks.size
        self._n, self._owned = view.num_vertices, view.num_owned
        self._numbers = here.made("numbers", lambda: cupy.asarray(view.numbers))
        self._ghosts = cupy.asarray(view.border.ghosts, np.uint64)
        self._label = cupy.empty(self._n, ids)
        self._names = cupy.empty(view.border.num_ghosts, np.uint8)
        self._forest = cupy.empty(view.graph_vertices, ids)
        self._pairs = cupy.empty((view.border.num_ghosts, 2), ids)
        self._giant, self._giants = cupy.empty(1, ids), cupy.empty(size, ids)
        self._found = cupy.empty(1 + size, np.uint64)
        self._seen = cupyx.empty_pinned(1 + size, np.uint64)
        self._lengths = cupyx.empty_pinned(size, np.uint64)
        self._counts: list[int] = []
        self._most = [0] * size  # pairs of each rank that there is room for, in the arrays
        self._rooms = [self._pairs[:0]] * size
        self.read = 0
        self._trees = Trees(here.into, self._numbers, here.defines) if self._n else None
        words = 0 if self._trees is None else self._trees.state.size
        self._state = cupyx.empty_pinned(words, np.uint8)
        vertex = integer_types(here.id_dtype, ids)["ID"]
        module = cuda("rank_components", defines=integer_types(ids, ids) | {"VERTEX": vertex})
        names = "start label_trees list_others expect take_others meet join_pairs relabel"
        self._kernels = {name: launch.loaded(module.kernel(name)) for name in names.split()}
        border.make_room([self._label])
        self._others, self._came = (
            news.Lists([b - a for a, b in cuts], 2 * ids.itemsize, VALUES_A_PLACE)
            for cuts in (border.cuts, border.ghosts)
        )
        self._border_vertices = border.padded.astype(here.id_dtype, copy=False)
        recorded = border.link.recorded
        self._whole = recorded(partial(self._meet, self._tell_all), lasts=True)
        self._listed = recorded(partial(self._meet, self._tell_others), lasts=True)
        self._by_list = True  # whether there was room so far; the same on all ranks

    def link(self, *, skips: bool) -> bool:
        """Link trees, and join labels over the border; whether no edge was skipped that is needed."""
        self._begin(links=True)
        if self._trees is not None:
            self._trees.link(None, both=skips)
        (self._listed if self._by_list else self._whole)()
        every = self._looked(skips=skips)
        if every[:, 2].any():  # there was no room for what differs from the largest trees
            self._by_list = False
            self._begin(links=False)
            self._whole()
            every = self._looked(skips=skips)
        if self._trees is not None:
            self.read += int(self._trees.state.of(self._state)[0]["read"])
        self._counts = every[:, 0].tolist()
        return not every[:, 1].any()

    def _begin(self, *, links: bool) -> None:
        """Queue that nothing is joined yet; and a state of zeros where trees are to be linked."""
        state: Any = np.uint64(0) if self._trees is None or not links else self._trees.state.memory
        self._launch(
            "start", max(1, self._forest.size), *self._joined, self._found, self._others.counts,
            np.uint64(self._ranks.size), self._names, np.uint64(self._names.size), self._giant, state,
            np.uint64(state.nbytes // 8 if links and self._trees is not None else 0),
        )  # fmt: skip

    def _looked(self, *, skips: bool) -> np.ndarray:
        """Of every rank: how many labels to join, whether edges lack, whether a list was too short."""
        self._found.get(out=self._seen, blocking=False)
        self._others.counts.get(out=self._lengths, blocking=False)
        if self._trees is not None:
            linked = self._trees.state
            linked.memory[: linked.size].get(out=self._state, blocking=False)
        self._border.link.settle()
        count, *met = self._seen.tolist()
        bounds = enumerate(pairwise(self._bounds))
        apart = any(not met[j] for j, (first, last) in bounds if first < last)
        short = self._by_list and bool((self._lengths > self._others.rooms).any())
        return self._ranks.scalars([count, int(apart and skips), int(short)])

    def _meet(self, tell: Callable[[], None]) -> None:
        """Queue that trees are told of over the border, and joined."""
        if self._trees is not None:
            giant = self._trees.state.memory.view(np.uint64)[1:2]
            given = np.uint64(self._owned), giant, self._label, self._giant, self._names
            self._launch("label_trees", max(1, self._owned), *self._labelled, *given)
        self._border.link.all_gather(self._giant, self._giants)
        tell()
        if self._trees is not None:
            self._launch(
                "meet", len(self._pairs), *self._labelled, self._label, *self._owners[:1],
                np.uint64(self._ranks.rank), np.uint64(self._ranks.size), self._giants,
                self._names, self._pairs, self._found,
            )  # fmt: skip

    def _tell_all(self) -> None:
        self._border.refresh([self._label])

    def _tell_others(self) -> None:
        """The same where nearly all border vertices are in the largest trees: a list of the others."""
        number = self._border_vertices.size
        vertices = self._border_vertices, np.uint64(number)
        cuts = self._border.starts, self._border.lengths, np.uint64(self._ranks.size)
        given = self._label, self._giant, *vertices, *cuts, *self._others.given
        self._launch("list_others", number, *given)
        self._border.link.swap([*zip(self._others.parts, self._came.parts, strict=True)])
        self._launch("expect", len(self._pairs), self._label, *self._owners, self._giants)
        self._launch("take_others", self._came.room, self._label, *self._owners, *self._came.given)

    def join(self) -> None:
        """Join the pairs of labels of all ranks; collective."""
        own, counts = self._ranks.rank, self._counts
        if not any(counts):
            return
        self._make_room()
        every = [room[:count] for room, count in zip(self._rooms, counts, strict=True)]
        mine, none = self._pairs[: counts[own]], self._pairs[:0]
        sent = [none if rank == own else mine for rank in range(len(counts))]
        self._border.link.swap([(sent, every)])
        for pairs in (*every, mine):
            self._launch("join_pairs", len(pairs), pairs, np.uint64(len(pairs)), self._forest)
        if self._trees is not None:
            given = *self._labelled, self._forest, np.uint64(self._owned), self._label
            self._launch("relabel", self._owned, *given)
        self._border.link.settle()

    def _make_room(self) -> None:
        """For the pairs of other ranks, where they have never been so many: all ranks know that alike."""
        if all(count <= most for count, most in zip(self._counts, self._most, strict=True)):
            return
        self._most = [max(each) for each in zip(self._counts, self._most, strict=True)]
        self._rooms = [
            self._pairs[:0]
            if rank == self._ranks.rank
            else cupy.empty((most, 2), self._label.dtype)
            for rank, most in enumerate(self._most)
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

    @property
    def _owners(self) -> tuple[Any, Any]:
        return self._ghosts, np.uint64(self._ranks.size)

    @property
    def _joined(self) -> tuple[Any, Any]:
        return self._forest, np.uint64(self._forest.size)

    @property
    def _labelled(self) -> tuple[Any, Any]:
        assert self._trees is not None
        return self._trees.parent, self._numbers

    def _launch(self, name: str, n: int, *args: Any) -> None:
        launch.flat(self._kernels[name], n, args)
