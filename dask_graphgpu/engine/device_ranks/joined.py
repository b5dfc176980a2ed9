"""Trees that a rank has linked on its GPU, and a forest that joins those of all ranks by their labels."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import cupy
import cupyx
import numpy as np

from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.view import RankDeviceView
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.components import trees
from dask_graphgpu.engine.gpu.device import integer_types
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.ranks.view import RankView


class Joined:
    """The trees of a rank, and a forest over the labels of all ranks' trees.

    Attributes
    ----------
    read : int
        Edges that were linked.
    """

    def __init__(self, view: RankView, border: DeviceBorder) -> None:
        self._view, self._border, self._ranks = view, border, view.ranks
        toward = view.toward("both")
        self._here = RankDeviceView.of(toward)
        self._rows, ids = self._here.into, view.id_dtype
        self._numbers = self._here.made("numbers", lambda: cupy.asarray(view.numbers))
        self._ghosts = cupy.asarray(view.border.ghosts, np.uint64)
        self._label = cupy.empty(view.num_vertices, ids)
        self._forest = cupy.empty(view.graph_vertices, ids)
        self._pairs = cupy.empty((view.border.num_ghosts, 2), ids)
        self._giant, self._giants = cupy.empty(1, ids), cupy.empty(self._ranks.size, ids)
        self._found = cupy.empty(1 + self._ranks.size, np.uint64)
        self._seen = cupyx.empty_pinned(1 + self._ranks.size, np.uint64)
        self._parent: Any = cupy.empty(0, self._here.id_dtype)
        self._counts: list[int] = []
        self.read = 0
        vertex = integer_types(self._here.id_dtype, ids)["ID"]
        module = cuda("rank_components", defines=integer_types(ids, ids) | {"VERTEX": vertex})
        names = "label_trees meet list_joined join_pairs compress_joined relabel"
        self._kernels = {name: launch.loaded(module.kernel(name)) for name in names.split()}

    def link(self, *, skips: bool) -> bool:
        """Link trees, and join labels over the border; whether no edge was skipped that is needed."""
        view, numbers, state = self._view, self._numbers, None
        n, size = np.uint64(view.num_vertices), self._ranks.size
        self._forest[:] = cupy.arange(view.graph_vertices, dtype=view.id_dtype)
        self._found.fill(0)
        self._giant.fill(~view.id_dtype.type(0))  # nobody's
        if n:
            rows, defines = self._rows, self._here.defines
            self._parent, state = trees(rows, None, numbers, both=skips, defines=defines)
            giant = state.memory.view(np.uint64)[1:2]
            given = self._parent, numbers, n, giant, self._label, self._giant
            self._launch("label_trees", int(n), *given)
        self._border.make_room([self._label])
        self._ranks.barrier()  # to allocate waits for devices, and a peer's may wait for this one
        self._border.refresh([self._label])
        self._border.link.all_gather(self._giant, self._giants)
        self._launch(
            "meet", view.border.num_ghosts, self._parent, numbers, self._label, self._ghosts,
            np.uint64(self._ranks.rank), np.uint64(size), self._giants, self._forest, self._found,
        )  # fmt: skip
        forest = self._forest, np.uint64(self._forest.size)
        self._launch("list_joined", self._forest.size, *forest, self._pairs, self._found)
        self._found.get(out=self._seen, blocking=False)
        self._border.link.settle()
        self.read += 0 if state is None else int(state.read()[0]["read"])
        count, *met = self._seen.tolist()
        bounds = pairwise(view.border.ghosts.tolist())
        apart = any(not met[j] for j, (first, last) in enumerate(bounds) if first < last)
        every = self._ranks.scalars([count, int(apart and skips)])
        self._counts = every[:, 0].tolist()
        return not every[:, 1].any()

    def join(self) -> None:
        """Join the pairs of labels of all ranks; collective."""
        own, counts = self._ranks.rank, self._counts
        if not any(counts):
            return
        every = [cupy.empty((count, 2), self._view.id_dtype) for count in counts]
        every[own] = nothing = self._pairs[:0]
        sent = [self._pairs[: counts[own]]] * len(counts)
        sent[own] = nothing
        self._ranks.barrier()  # as above
        self._border.link.swap([(sent, every)])
        for pairs in every:
            self._launch("join_pairs", len(pairs), pairs, np.uint64(len(pairs)), self._forest)
        size = np.uint64(self._forest.size)
        self._launch("compress_joined", self._forest.size, self._forest, size)
        n = np.uint64(self._view.num_vertices)
        given = self._parent, self._numbers, self._forest, n, self._label
        self._launch("relabel", int(n), *given)
        self._border.link.settle()

    def labels(self) -> np.ndarray:
        """What each vertex's component is called, on the host."""
        labels: np.ndarray = cupy.asnumpy(self._label)
        return labels

    def _launch(self, name: str, n: int, *args: Any) -> None:
        launch.flat(self._kernels[name], n, args)
