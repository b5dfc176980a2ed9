"""Weakly connected components by linking trees: one launch.

References
----------
.. [1] Sutton, Ben-Nun, Barak. Optimizing parallel graph connectivity computation via subgraph sampling. IPDPS 2018.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.degree_lists import degree_lists
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.runs import State
from dask_graphgpu.kernels.compile import cuda

if TYPE_CHECKING:
    from dask_graphgpu.partition.csr import Adjacency
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report

_FIELDS = [(name, np.uint64) for name in ("barrier", "giant", "read")]
_NONE = np.uint64(0)  # a null pointer


def components(view: View, report: Report) -> Any:
    """Component of every vertex, the direction of edges ignored; as `engine.cpu.components`.

    Parameters
    ----------
    view : View
    report : Report
        Gets a row for the sampled neighbours and one for the rest, both "link".

    Returns
    -------
    array of the type of the neighbours, shape (num_vertices,)
        Dense id of the component's member that is smallest in the order of the user's ids.

    Notes
    -----
    Of a directed view without in-edges all edges are linked; the in-edges are not made for this. See
    kernels/cuda/components.cu.
    """
    here = DeviceView.of(view)
    if not here.n:
        return here.to_caller(cupy.empty(0, here.id_dtype))
    into = here.into if here.directed and here.has_into else None
    trees = Trees(here.out, here.user_rank, here.defines)
    trees.link(into, both=here.has_into)
    id_bytes = here.id_dtype.itemsize
    for run in trees.state.read()[1]:
        report.advance(
            run.direction, supersteps=run.supersteps, frontier=run.frontier, edges=run.edges,
            bytes=run.edges * 2 * id_bytes + here.n * (2 * id_bytes + 16), seconds=run.seconds,
        )  # fmt: skip
    return here.to_caller(trees.parent)


class Trees:
    """Trees that are linked on the device.

    Parameters
    ----------
    rows : Adjacency
        On the device, of at least one vertex.
    rank : array, shape (n,), optional
        Place of each vertex in the order by which a tree's smallest member is told.
    defines : dict of str to str
        Types of the rows.
    parent : array, optional
        Where they are made; default: new memory. More than one of each vertex: neighbours from the
        number of rows on are left out, which stand behind the others in their rows.

    Attributes
    ----------
    parent : same dtype as neighbours, shape (n,)
        The smallest member of each vertex's tree.
    state : State
    """

    def __init__(
        self, rows: Adjacency, rank: Any, defines: dict[str, str], parent: Any = None
    ) -> None:
        n, ids = rows.num_vertices, rows.neighbours.dtype
        self._rows, self._rank = rows, rank
        self.parent = cupy.empty(n, ids) if parent is None else parent
        self._lists, self._separators = degree_lists(rows)
        self.state = State(_FIELDS, {0: "link", 1: "link"})
        self._holder = None if rank is None else cupy.empty(n, ids)
        rank_type = c_type(np.dtype(np.int64) if rank is None else rank.dtype)
        alone = {"OWN_ALONE": str(int(parent is not None))}
        module = cuda("components", defines={**defines, **alone, "RANK": rank_type})
        self._kernel = module.kernel("components")

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
                rows.offsets, rows.neighbours, *(
                    (_NONE, _NONE) if into is None else (into.offsets, into.neighbours)
                ),
                np.uint64(rows.num_vertices), np.uint32(both),
                _NONE if self._rank is None else self._rank, *self._lists, *self._separators,
                self.parent, _NONE if self._holder is None else self._holder, self.state.memory,
            ),
        )  # fmt: skip
