"""Weakly connected components by linking trees: one launch.

References
----------
.. [1] Sutton, Ben-Nun, Barak. Optimizing parallel graph connectivity computation via subgraph sampling. IPDPS 2018.
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.degree_lists import degree_lists
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.runs import LaunchState
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

_FIELDS = [(name, np.uint64) for name in ("barrier", "giant", "most", "of", "read")]

# Vertices that come first in the order of the user's ids: of a component that most vertices are in the
# first member is one of them.
_FIRSTS = 1024


def components(view: View, report: Report) -> Any:
    """Component of every vertex, the direction of edges ignored; as `engine.cpu.components`.

    Notes
    -----
    Of a directed view without in-edges all edges are linked; the in-edges are not made for this. See
    kernels/cuda/components.cu.
    """
    here = DeviceView.of(view)
    if not here.n:
        return here.to_caller(cupy.empty(0, here.id_dtype))
    into = here.into if here.directed and here.has_into else None
    rank = here.user_rank
    named = None if rank is None else (rank, here.made("firsts", lambda: firsts(rank, _FIRSTS)))
    trees = Trees(here.out, here.defines, named=named)
    trees.link(into, both=here.has_into)
    id_bytes = here.id_dtype.itemsize
    for run in trees.state.read()[1]:
        run.note(report, run.edges * 2 * id_bytes + here.n * (2 * id_bytes + 16))
    return here.to_caller(trees.parent)


def firsts(numbers: Any, below: int) -> Any:
    """The vertices whose numbers are less than so much above the smallest, in the order of these."""
    if not len(numbers):
        return cupy.empty(0, np.int64)
    least = int(numbers.min())
    found = elements.places_of(elements.between(numbers, least, least + below))
    return elements.gathered(found, cupy.argsort(elements.gathered(numbers, found)))


class Trees:
    """Trees that are linked on the device.

    Parameters
    ----------
    rows : Adjacency
        On the device, of at least one vertex.
    defines : dict of str to str
        Types of the rows.
    named : pair of arrays, optional
        Place of each vertex in the order by which a tree's smallest member is told, and the `firsts` of
        it; default: the order of the vertices.
    alone : tuple of arrays, optional
        Neighbours from the number of rows on are left out, which stand behind the others in their rows.
        Where ``parent`` is made, of more vertices than there are rows; ``beyond``, the first neighbour of
        each vertex if that is left out, else the vertex; and ``inside``, uint32, a bit of each vertex:
        whether it is in the tree that is probably the largest.

    Attributes
    ----------
    parent : same dtype as neighbours, shape (n,)
        The smallest member of each vertex's tree; where they are linked ``alone`` the parent: the root
        but for the largest tree, whose vertices' parent may have one.
    state : LaunchState
    """

    def __init__(
        self,
        rows: Adjacency,
        defines: dict[str, str],
        *,
        named: tuple[Any, Any] | None = None,
        alone: tuple[Any, Any, Any] | None = None,
    ) -> None:
        n, ids = rows.num_vertices, rows.neighbours.dtype
        self._rows = rows
        self._lists, self._separators = degree_lists(rows)
        self.state = LaunchState(_FIELDS, {0: "link", 1: "link"})
        none = holder = launch.NULL
        rank_type, self._named = np.dtype(np.int64), (none, none, np.uint64(0))
        if named is not None:
            rank, first = named
            rank_type, self._named = rank.dtype, (rank, first.astype(ids), np.uint64(len(first)))
            holder = cupy.empty(n, ids)
        self.parent, *beside = (cupy.empty(n, ids), none, none) if alone is None else alone
        self._made = self.parent, holder, *beside
        more = {"OWN_ALONE": str(int(alone is not None)), "RANK": c_type(rank_type)}
        self._kernel = cuda("components", defines={**defines, **more}).kernel("components")

    def link(self, into: Adjacency | None, *, both: bool) -> None:
        """Queue that they are made, by a state of zeros.

        Parameters
        ----------
        into : Adjacency, optional
            The same edges by destination.
        both : bool
            Whether every edge is seen from both ends.
        """
        rows = self._rows
        launch.cooperative(
            self._kernel,
            (
                rows.offsets, rows.neighbours, *launch.ends_or_null(into),
                np.uint64(rows.num_vertices), np.uint32(both), *self._named, *self._lists,
                *self._separators, *self._made, self.state.memory,
            ),
        )  # fmt: skip
