"""What `Graph.explain` says about the tiers of a graph beyond a limit: what lies where, what moves, and how."""

from __future__ import annotations

from collections.abc import Sequence

from dask_graphgpu import config
from dask_graphgpu.engine import limits
from dask_graphgpu.errors import LimitTooSmall
from dask_graphgpu.store.plan import BuildPlan

Lines = tuple[tuple[str, str], ...]

# Where methods run for which some GPU has no room.
_HOST = "on the workers' processors, all of them"


def tiers_of(plan: BuildPlan, gathering: Sequence[str] = ()) -> Lines:
    """Lines about a graph beyond a limit of memory, of the GPU's or of the host's, or on the GPUs of several ranks.

    ``gathering`` : methods that work on the edges of all ranks on each GPU.
    """
    if plan.num_edges is None or plan.edge_bytes is None:
        return ()
    if plan.ranks > 1:
        return _of_ranks(plan, plan.num_edges, plan.edge_bytes, gathering)
    if plan.on_device:
        return ()
    if plan.engine in ("gpu", "hybrid"):
        return _of_gpu(plan, plan.num_edges, plan.edge_bytes)
    if plan.disk_bytes is None:
        return ()
    direction = config.get("direction")
    way = "pull or notify-pull" if direction == "auto" else direction
    size = plan.num_edges * plan.edge_bytes
    return (("read", f"at most about {size:,} bytes of the disk a superstep, by {way}"),)


def _of_ranks(plan: BuildPlan, edges: int, edge: int, methods: Sequence[str]) -> Lines:
    if plan.engine != "gpu" or plan.vertices is None:
        return ()
    limit, lines = limits.configured_of(plan.gpu_bytes), []
    for carried in sorted({edge - plan.id_bytes, 0}, reverse=True):
        sizes = plan.vertices, edges, plan.id_bytes, carried
        stays, made = limits.bytes_of_gathered(*sizes), limits.bytes_to_gather(*sizes)
        text = f"about {stays:,} bytes on each GPU, {made:,} while they are brought there"
        if limit is not None and stays > limit:
            text = f"{_HOST}: {text}, and graphgpu.device-memory-limit is {limit:,}"
        elif plan.gpu_bytes is not None and made > plan.gpu_bytes:
            text = f"{_HOST}: {text}, and a GPU has {plan.gpu_bytes:,}"
        elif plan.vertices > 2**32:
            text = f"{_HOST}: there are more than {2**32:,} vertices"
        else:
            text = f"on the GPUs, where so much is free: {text}; else {_HOST}"
        what = "all edges" if carried or edge == plan.id_bytes else "ids alone"
        lines.append((what, text))
    return (*lines, ("all edges of", ", ".join(methods)))


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
