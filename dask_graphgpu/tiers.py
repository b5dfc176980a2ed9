"""What `Graph.explain` says about the tiers of a graph beyond a limit: what lies where, what moves, and how."""

from __future__ import annotations

from dask_graphgpu import config
from dask_graphgpu.engine import limits
from dask_graphgpu.errors import LimitTooSmall
from dask_graphgpu.store.plan import BuildPlan

Lines = tuple[tuple[str, str], ...]


def tiers_of(plan: BuildPlan) -> Lines:
    """Lines about a graph on one rank, beyond a limit of memory, of the GPU's or of the host's."""
    if plan.ranks != 1 or plan.on_device or plan.num_edges is None or plan.edge_bytes is None:
        return ()
    if plan.engine in ("gpu", "hybrid"):
        return _of_gpu(plan, plan.num_edges, plan.edge_bytes)
    if plan.disk_bytes is None:
        return ()
    direction = config.get("direction")
    way = "pull or notify-pull" if direction == "auto" else direction
    size = plan.num_edges * plan.edge_bytes
    return (("read", f"at most about {size:,} bytes of the disk a superstep, by {way}"),)


def _of_gpu(plan: BuildPlan, edges: int, edge: int) -> Lines:
    if plan.vertices is None:
        return ()
    on_disk = plan.disk_bytes is not None
    # Edges on disk cross as they lie there.
    ids, size = plan.id_bytes, edge if on_disk else plan.word_bytes or edge
    if plan.layout == "layered":  # with either end
        size, ids = ids + edge, 2 * ids
    way = "stream" if on_disk else limits.configured_transfer()
    rounds = limits.configured_rounds()
    chosen = f"transfer {way!r}, rounds {rounds}"
    try:
        tiers = limits.Tiers.of(plan.vertices, edges, size)
        alone = limits.Tiers.of(plan.vertices, edges, ids)
    except LimitTooSmall as error:
        return (("GPU memory", str(error)),)
    pages = f"for the GPU or the CPU, dispatch {limits.configured_dispatch()!r}"
    if tiers is None or alone is None:
        if not on_disk:
            return ()
        device = "no limit: beside the vertices as many edges as fit four fifths of what is free"
        moved, number = edges * size, ""
    else:
        device = f"about {tiers.device:,} bytes of {tiers.limit:,}"
        moved, number = tiers.moved, f"about {tiers.pages:,}, "
    lines: Lines = (("GPU memory", device),)
    if not moved:
        return (*lines, ("link", "nothing: all edges stay in the GPU's memory"))
    link = f"at most about {moved:,} bytes a superstep"
    if on_disk:
        lines = (
            *lines,
            ("link", f"{link}, {size} each, from disk by way of pinned memory, {chosen}"),
        )
        number = ""  # segments follow from the host's limit as well
    elif tiers is not None and alone is not None:
        pinned = f"about {tiers.pinned:,} bytes of edges in host memory, {size} each"
        lines = (*lines, ("pinned", pinned), ("link", f"{link}, {chosen}"))
        if size != ids:
            of_ids = (
                f"about {alone.pinned:,} bytes pinned, {ids} each, and {alone.moved:,} a superstep"
            )
            lines = (*lines, ("ids alone", of_ids))
    if plan.engine == "hybrid":
        lines = (*lines, ("pages", number + pages))
    return lines
