"""Direction-optimizing breadth-first search on several GPUs, level by level.

References
----------
.. [1] Beamer, Asanovic, Patterson. Direction-optimizing breadth-first search. SC 2012.
.. [2] Pan, Wang, Wu, Yang, Owens. Multi-GPU graph analytics. IPDPS 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dask_graphgpu.engine.device_ranks.programs import run
from dask_graphgpu.engine.device_ranks.search import Search
from dask_graphgpu.engine.device_ranks.view import connected
from dask_graphgpu.engine.gpu.bfs import FORCED
from dask_graphgpu.engine.hops import up_to
from dask_graphgpu.engine.options import configured_direction
from dask_graphgpu.fields import Field
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

# What a search is where the frontier is to mark those that then look for a message.
LEVELS_BY_NOTIFYING = VertexProgram(
    state={"level": Field("int32", initial=-1, at_source=0)},
    compute=lambda superstep: superstep,
    combine="any",
    apply=lambda level, message, received: message if received and level < 0 else level,
    bound=lambda num_vertices: num_vertices,
)


def bfs(view: RankView, source: int, *, cutoff: int | None, targets: Any, report: Report) -> Any:
    """Hops from `source` along the edges; as `engine.ranks.bfs`. Collective.

    Returns
    -------
    array of int32, shape (num_vertices,)
        -1 where not reached; right for own vertices. On the host, but of a view that is
        `RankView.staying`.

    Notes
    -----
    All ranks push, or all pull, as on one GPU (`engine.gpu.bfs`), by what the frontiers of all have of
    edges [2]_. What travels is a bit a border vertex and level. Buffers and recorded launches stay
    with the share for the next search.
    """
    if configured_direction() == "notify-pull":
        return run(LEVELS_BY_NOTIFYING, view, up_to(cutoff, source, report))["level"]
    asked = source, cutoff, forced_direction()
    with searching(view, begin=lambda kept: kept.begin(*asked)) as search:
        search.run(*asked, report)
        return search.level.copy() if view.stays else search.level.get()


def forced_direction() -> int:
    """What `Search.run` is to be told of `graphgpu.direction`."""
    return FORCED.get(configured_direction(), 0)


@contextmanager
def searching(
    view: RankView,
    separators: tuple[int, int] | None = None,
    *,
    begin: Callable[[Search], None] | None = None,
) -> Iterator[Search]:
    """For searches along the edges, on a stream of their own; collective.

    ``separators``: as of `Search`, where others are better. ``begin``: as of `border_and_kept`.
    """
    toward = view.toward("out")
    key = "search", toward.rows, separators
    given = () if separators is None else (separators,)
    with connected(view, key, begin) as (border, search):
        if search is None:
            search = Search(view, toward, border, *given)
            view.ranks.barrier()  # to allocate waits for devices, and a peer's may wait for this one
        yield search
        border.leave(key, search)
