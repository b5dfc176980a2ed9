"""Single-source widest paths: the narrowest edge of a path, as wide as can be.

b(source) = infinity, b(v) = max over u -> v of min(b(u), w(u, v)): shortest paths with (min, max) in
the place of (+, min). In near-far order by falling width: a width is final once none that is larger
is left to be relaxed.

References
----------
.. [1] Pollack, "The maximum capacity through a network", Operations Research 1960.
.. [2] Davidson et al., "Work-efficient parallel GPU methods for single-source shortest paths", IPDPS 2014.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dask_graphgpu.algorithms.algorithm import Resumable, require_weight
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.traversal import Traversal
from dask_graphgpu.fields import Field
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.program import VertexProgram

LARGEST = 2**63 - 1


def program(without_bound: int | float) -> VertexProgram:
    """The vertex program; ``without_bound`` is the width of the source's empty path."""
    return VertexProgram(
        state={"width": Field(dtype="weight", initial=None, at_source=without_bound)},
        compute=lambda source_width, weight: min(source_width, weight),
        combine="max",
        priority=lambda width: -width,
        bound=lambda max_weight: max_weight,
    )


@dataclass(frozen=True)
class SSWP(Traversal, Resumable):
    """Width of a widest path from a source to every vertex.

    A path is as wide as the least weight on it: the most that can be carried along it where weights
    are capacities.

    Parameters
    ----------
    source : id or list of ids
        With a list the result has a ``source`` column and one row a source and vertex.
    target : id or list of ids, optional
        Stop once the widths of these are final; the result has their rows only.
    cutoff : number, optional
        Edges of less weight than this are not used: narrower vertices are left unreached.

    Returns
    -------
    frame
        ``vertex``, ``width`` (Int64 over integer weights, exact; Float64 over float weights; null:
        unreached). The source's own path is empty and nothing bounds it: infinity over float
        weights, null over integers, which have none. One row a vertex in ascending order of ids.

    Raises
    ------
    InvalidArgument
        The graph has no weights.
    UnknownVertex
        A source or target is not a vertex.

    Notes
    -----
    b(source) = infinity, b(v) = max over edges u -> v of min(b(u), w). Of repeated edges the
    heaviest counts. Cost: O(V + E) and what is relaxed again before its limit has passed.
    """

    rule = "max"
    value = "width"
    unsorted = True

    def reads_weight(self, schema: EdgeSchema) -> bool:
        require_weight(schema, "sswp", "")
        return True

    def dtype_of_values(self, schema: EdgeSchema) -> str:
        return schema.weight_kind or "int64"

    def values(
        self, run: Run, source: int, targets: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        whole = run.schema.weight_kind == "int64"
        options = run.options(
            sources=np.array([source]), cutoff=self._cutoff(whole), targets=targets
        )
        state = run.engine.run(program(LARGEST if whole else float("inf")), run.view, options)
        assert state.reached is not None
        valid = state.reached.copy()
        valid[run.rows_of(np.array([source]))[0]] = not whole
        return np.where(valid, state["width"], 0), valid

    def _cutoff(self, whole: bool) -> int | float | None:
        """The largest priority that is let through; priorities are widths with the sign turned."""
        if self.cutoff is None:
            return None
        return -math.ceil(min(self.cutoff, 2**63)) if whole else -float(self.cutoff)
