"""Trees that a rank has linked on its GPU, and a forest that joins those of all ranks by their labels."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import cupy
import cupyx
import numpy as np

from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.view import RankDeviceView
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.components import Trees
from dask_graphgpu.engine.gpu.device import integer_types
from dask_graphgpu.kernels.compile import cuda

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView, TowardView


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
        self._n = view.num_vertices
        self._numbers = here.made("numbers", lambda: cupy.asarray(view.numbers))
        self._ghosts = cupy.asarray(view.border.ghosts, np.uint64)
        self._label = cupy.empty(self._n, ids)
        self._forest = cupy.empty(view.graph_vertices, ids)
        self._pairs = cupy.empty((view.border.num_ghosts, 2), ids)
        self._giant, self._giants = cupy.empty(1, ids), cupy.empty(size, ids)
        self._found = cupy.empty(1 + size, np.uint64)
        self._seen = cupyx.empty_pinned(1 + size, np.uint64)
        self._counts: list[int] = []
        self._most = [0] * size  # pairs of each rank that there is room for, in the arrays
        self._rooms = [self._pairs[:0]] * size
        self.read = 0
        self._trees = Trees(here.into, self._numbers, here.defines) if self._n else None
        words = 0 if self._trees is None else self._trees.state.size
        self._state = cupyx.empty_pinned(words, np.uint8)
        vertex = integer_types(here.id_dtype, ids)["ID"]
        module = cuda("rank_components", defines=integer_types(ids, ids) | {"VERTEX": vertex})
        names = "start label_trees meet list_joined join_pairs compress_joined relabel"
        self._kernels = {name: launch.loaded(module.kernel(name)) for name in names.split()}
        border.make_room([self._label])
        self._meeting = border.link.recorded(self._meet, lasts=True)

    def link(self, *, skips: bool) -> bool:
        """Link trees, and join labels over the border; whether no edge was skipped that is needed."""
        state: Any = np.uint64(0) if self._trees is None else self._trees.state.memory
        self._launch(
            "start", max(1, self._forest.size), *self._joined, self._found, np.uint64(self._ranks.size),
            self._giant, state, np.uint64(0 if self._trees is None else state.nbytes // 8),
        )  # fmt: skip
        if self._trees is not None:
            self._trees.link(None, both=skips)
        self._meeting()
        self._found.get(out=self._seen, blocking=False)
        if self._trees is not None:
            linked = self._trees.state
            linked.memory[: linked.size].get(out=self._state, blocking=False)
        self._border.link.settle()
        if self._trees is not None:
            self.read += int(self._trees.state.of(self._state)[0]["read"])
        count, *met = self._seen.tolist()
        bounds = enumerate(pairwise(self._bounds))
        apart = any(not met[j] for j, (first, last) in bounds if first < last)
        every = self._ranks.scalars([count, int(apart and skips)])
        self._counts = every[:, 0].tolist()
        return not every[:, 1].any()

    def _meet(self) -> None:
        """Queue that trees are told of over the border, and joined."""
        if self._trees is not None:
            giant = self._trees.state.memory.view(np.uint64)[1:2]
            given = np.uint64(self._n), giant, self._label, self._giant
            self._launch("label_trees", self._n, *self._labelled, *given)
        self._border.refresh([self._label])
        self._border.link.all_gather(self._giant, self._giants)
        if self._trees is not None:
            self._launch(
                "meet", len(self._pairs), *self._labelled, self._label, self._ghosts,
                np.uint64(self._ranks.rank), np.uint64(self._ranks.size), self._giants,
                self._forest, self._found,
            )  # fmt: skip
        self._launch("list_joined", self._forest.size, *self._joined, self._pairs, self._found)

    def join(self) -> None:
        """Join the pairs of labels of all ranks; collective."""
        own, counts = self._ranks.rank, self._counts
        if not any(counts):
            return
        self._make_room()
        every = [room[:count] for room, count in zip(self._rooms, counts, strict=True)]
        sent = [self._pairs[: counts[own]]] * len(counts)
        every[own] = sent[own] = self._pairs[:0]
        self._border.link.swap([(sent, every)])
        for pairs in every:
            self._launch("join_pairs", len(pairs), pairs, np.uint64(len(pairs)), self._forest)
        self._launch("compress_joined", self._forest.size, *self._joined)
        if self._trees is not None:
            given = *self._labelled, self._forest, np.uint64(self._n), self._label
            self._launch("relabel", self._n, *given)
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
        self._meeting.forget()
        del self._meeting  # it holds this

    @property
    def _joined(self) -> tuple[Any, Any]:
        return self._forest, np.uint64(self._forest.size)

    @property
    def _labelled(self) -> tuple[Any, Any]:
        assert self._trees is not None
        return self._trees.parent, self._numbers

    def _launch(self, name: str, n: int, *args: Any) -> None:
        launch.flat(self._kernels[name], n, args)
