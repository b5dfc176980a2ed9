"""Chunks of edges on many ranks, each with names of its own, become one graph over all ranks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition.as_given import AsGiven
from dask_graphgpu.partition.chunk import EdgeChunk, VertexChunk, reading
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device.on_ranks import OnDevice
from dask_graphgpu.partition.host_memory import give_back
from dask_graphgpu.partition.layered import find_levels
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.partition import VertexColumns
from dask_graphgpu.partition.ranks.agree import Agreed, agree
from dask_graphgpu.partition.ranks.ends import AtHome, at_home
from dask_graphgpu.partition.ranks.ids import RankIds
from dask_graphgpu.partition.ranks.local import Local, localize
from dask_graphgpu.partition.ranks.numbering import EdgeRun, Numbered, in_range, number
from dask_graphgpu.partition.ranks.on_host import OnHost
from dask_graphgpu.partition.ranks.owner import chosen
from dask_graphgpu.partition.ranks.partition import RankPartition, Shares
from dask_graphgpu.partition.ranks.places import settle
from dask_graphgpu.partition.ranks.shuffle import Entries, Tables
from dask_graphgpu.partition.ranks.vertex_columns import vertex_columns
from dask_graphgpu.stages import Stage

if TYPE_CHECKING:
    from dask_graphgpu.exchange.nccl import DeviceLink

_DUPLICATIONS = ("neighbours", "all")


def build(
    ranks: Ranks,
    chunks: list[Any],
    vertices: Sequence[VertexChunk],
    layout: Layout,
    partitioner: str | Callable[..., Any] = "balanced",
    duplication: str = "neighbours",
    link: DeviceLink | None = None,
) -> RankPartition:
    """Number the vertices of all ranks, give them owners, and bring them their edges. Collective.

    The list of chunks, `EdgeChunk` or `UncodedEdges`, of which a rank may have none, is emptied.
    Numbers do not depend on how chunks are dealt to ranks. Cost: the codes are passed over about four
    times, every edge travels once to the owner of each end whose rows hold it, and is sorted there as
    by `dask_graphgpu.partition.build.build`.

    Parameters
    ----------
    partitioner : "balanced", "random", "biased_random", "metis" or function
        As of `dask_graphgpu.partition.ranks.owner.chosen`.
    duplication : "neighbours" or "all"
        Which remote vertices are ghosts: those at the other ends of the rank's edges, or every one.
    link : DeviceLink, optional
        Of ranks whose chunks may be on their GPUs, where the edges are worked on then if ids are
        integers from a narrow range. The share is in host memory all the same.

    Raises
    ------
    InvalidEdges
        The chunks' id types disagree, or there is no edge and no vertex at all.
    InvalidArgument
        An unknown partitioner or duplication, or owners that are none.
    EngineUnavailable
        What the partitioner needs is not installed.
    """
    partition = chosen(partitioner)
    if duplication not in _DUPLICATIONS:
        raise InvalidArgument(
            f"duplication={duplication!r}; allowed are {', '.join(map(repr, _DUPLICATIONS))}"
        )
    began, took = time.monotonic(), reading(chunks)
    stage = Stage("building", 3, told=ranks.rank == 0)
    give_back()  # what reading the frames left behind
    stage.say("numbering vertices")
    agreed = agree(ranks, chunks, vertices)
    passes = _passes(ranks, chunks, agreed, link)
    numbered = [number(ranks, chunks, vertices, agreed, passes)]
    made = share_of(numbered, agreed, layout, partition, duplication, passes, stage)
    made.took = took | {"build": time.monotonic() - began}
    stage.step()
    return made


def share_of(
    given: list[Numbered],
    agreed: Agreed,
    layout: Layout,
    partition: Callable[[AtHome], np.ndarray],
    duplication: str,
    passes: OnHost,
    stage: Stage,
    columns_of: Callable[[np.ndarray, int], VertexColumns] | None = None,
) -> RankPartition:
    """The share of a rank once the vertices of all ranks have numbers. Collective.

    Parameters
    ----------
    given : list of one Numbered
        It is emptied, so that the edges go once they have been sent.
    partition : function
        As `dask_graphgpu.partition.ranks.owner.chosen` gives it.
    stage : Stage
        It is taken two steps on, the last one is its caller's.
    columns_of : function, optional
        Gives columns of vertices, of the numbers of those that are owned and of the number of those that are here;
        by default they are made of the rows of the vertices frame.
    """
    numbered = given.pop()
    ranks = numbered.homes.ranks
    give_back()  # and what sorting ids did
    at = at_home(numbered, agreed.chunks, passes)
    by_degree = layout.order == "degree" or (
        layout.order == "auto" and not at.near and at.is_skewed()
    )
    places = settle(ranks, at, partition(at), by_degree)
    balanced = at.balanced
    del at
    here = numbered.homes.ask(numbered.numbers, places.at_home)
    owners = places.owners(here)
    tables = Tables(
        [here.take(table) for table in numbered.tables],
        [owners.take(table) for table in numbered.tables],
    )
    runs, vertex_runs = _cast(numbered.runs, agreed), numbered.vertices
    ways = _ways(ranks, runs, tables, layout, balanced, agreed, passes)
    known = numbered.homes, numbered.ids, numbered.splits
    bounds = places.bounds.astype(here.dtype)
    del numbered, here, owners
    stage.step("bringing edges to their ranks")
    entries = passes.shuffle(ranks, runs, tables, bounds, ways, agreed.columns)
    kept = tables if agreed.num_vertex_rows else None
    del tables
    give_back()  # the frames' columns, which have been sent
    stage.step("sorting edges into rows")
    local = localize(ranks, places, entries, duplication == "all", passes)
    columns = VertexColumns()
    if columns_of is not None:
        columns = columns_of(local.numbers[: local.border.num_owned], len(local.numbers))
    elif kept is not None:
        columns = vertex_columns(
            ranks, vertex_runs, kept, bounds, len(local.numbers), agreed.vertex_columns
        )
    del kept, vertex_runs
    # The same numbers stand there.
    places = replace(places, own=local.numbers[: local.border.num_owned])
    ids = RankIds(*known, places)
    out, into, aside = _rows(entries, layout, local, passes)
    shares = Shares.of(ranks, local, out, into)
    order = "degree" if by_degree else "input"
    levels = None
    if layout.layered:
        root = None if layout.root is None else int(ids.find([layout.root])[0])
        levels = find_levels(out, local.border.num_owned, local.numbers, root, local.border)
    made = RankPartition(
        ids,
        local,
        out,
        into,
        layout,
        order,
        columns,
        agreed.num_rows,
        shares,
        levels,
        agreed.fault,
        aside,
    )
    if levels is not None:
        made.order_by_layers()
    return made


def _passes(
    ranks: Ranks, chunks: list[EdgeChunk], agreed: Agreed, link: DeviceLink | None
) -> OnHost:
    """What goes over the edges where they are; chunks on the device are copied where it cannot be there.

    Collective.
    """
    if link is not None:
        passes = OnDevice(link)
        if ranks.min(int(in_range(agreed, ranks.size) and passes.holds(chunks))):
            chunks[:] = [passes.here(chunk) for chunk in chunks if len(chunk)]
            return passes
        chunks[:] = [chunk.to_host() for chunk in chunks]
    return OnHost()


def _cast(runs: list[EdgeRun], agreed: Agreed) -> list[EdgeRun]:
    """Give what edges carry the types that hold every rank's values."""
    return [
        replace(
            run,
            columns={
                name: run.columns[name].astype(kind, copy=False)
                for name, kind in agreed.columns.items()
            },
        )
        for run in runs
    ]


def _rows(
    entries: list[Entries], layout: Layout, local: Local, passes: OnHost
) -> tuple[Adjacency, Adjacency, AsGiven | None]:
    """Rows of out-edges and of in-edges, and what those of an undirected graph do not say; ``entries`` is emptied."""
    number = len(local.numbers)
    if layout.directed:
        into = passes.rows(entries, number)
        return passes.rows(entries, number), into, None
    if len(entries) == 1:
        rows, aside = passes.rows(entries, number), AsGiven()
    else:
        rows, aside = passes.settled(entries, local.numbers)
    return rows, rows, aside


def _ways(
    ranks: Ranks,
    runs: list[EdgeRun],
    tables: Tables,
    layout: Layout,
    balanced: bool,
    agreed: Agreed,
    passes: OnHost,
) -> list[str]:
    """Which rows an edge is in. Collective.

    Those of both ends, but of an undirected graph whose list is its own mirror image. In that every
    vertex is as often a source as a destination, which is cheaper to see.
    """
    if not layout.directed and balanced:
        if _is_mirrored(ranks, runs, tables, list(agreed.columns), passes):
            return ["source"]
    return ["source", "destination"]


def _is_mirrored(
    ranks: Ranks, runs: list[EdgeRun], tables: Tables, names: list[str], passes: OnHost
) -> bool:
    """Whether every edge of the graph stands in both directions, as often and as it is carried."""
    wanted: list[str | None] = [*names] or [None]
    sums = np.array([passes.mirror_sum(runs, tables, name) for name in wanted], np.uint64)
    total = np.sum(ranks.all_gather(sums), axis=0, dtype=np.uint64)  # which wraps, as it has to
    return not total.any()
