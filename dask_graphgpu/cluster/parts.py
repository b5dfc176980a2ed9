"""Parts of a graph on ranks by an edge column: one task leads the ranks, each of which takes them of its share."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from distributed import get_worker

from dask_graphgpu.cluster.calls import this_task
from dask_graphgpu.cluster.gang import lead
from dask_graphgpu.cluster.holdings import RUN, holdings
from dask_graphgpu.cluster.relay import Relay
from dask_graphgpu.cluster.share import Share
from dask_graphgpu.cluster.tasks import Held, HeldHere, Spread, built_of
from dask_graphgpu.cluster.work import size_of
from dask_graphgpu.errors import briefly
from dask_graphgpu.exchange.local import run_local
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition.bounds import Bound, Cut, count_rows, extent
from dask_graphgpu.partition.empty import EmptyPartition, built
from dask_graphgpu.partition.ranks.filtered import filtered, values_of
from dask_graphgpu.partition.ranks.partition import RankPartition

# The least value of each window, where it ends, and how many rows it has.
Numbers: TypeAlias = list[tuple[int | float, int | float, int]]


@briefly
def part_graph(
    spread: Spread, held: Held | HeldHere, column: str, low: Bound, high: Bound
) -> Held | HeldHere:
    """The graph of the rows with ``low <= column < high``, on the same ranks."""
    asked = column, low, high
    if isinstance(held, HeldHere):
        shares = _here(held, _part_of, *asked)
        return HeldHere(shares, built_of([size_of(share) for share in shares], [""] * len(shares)))
    key = this_task(get_worker())
    workers, sizes = _led(spread, held, _part_rank, key, held.name, *asked)
    return Held(key, workers, built_of(sizes, workers))


@briefly
def cut_graph(spread: Spread, held: Held | HeldHere, column: str, cut: Cut) -> Numbers:
    """Windows of a graph; ``cut`` gives the edges of those that hold two values."""
    if isinstance(held, HeldHere):
        each = _here(held, _cut_of, column, cut)
    else:
        _, each = _led(spread, held, _cut_rank, held.name, column, cut)
    found: Numbers = each[0]
    return found


def _here(held: HeldHere, work: Callable[..., Any], *arguments: Any) -> list[Any]:
    """What ``work(ranks, share, *arguments)`` gives on each rank of this process."""
    with held.lock:
        return run_local(
            len(held.shares), lambda ranks: work(ranks, held.shares[ranks.rank], *arguments)
        )


def _led(
    spread: Spread, held: Held, work: Callable[..., Any], *arguments: Any
) -> tuple[tuple[str, ...], list[Any]]:
    """What ``work(ranks, *arguments)`` gives on each worker of a graph, and their addresses."""
    return lead(
        "dask-graphgpu-part",
        held.workers,
        work,
        lambda workers: [arguments] * len(workers),
        spread.timeouts,
        ("share", held.name),
    )


def _part_rank(ranks: Ranks, key: str, graph: str, column: str, low: Bound, high: Bound) -> Any:
    """Take the part of a share, and leave it in the worker's holdings."""
    held = holdings(get_worker())
    share = _part_of(ranks, held.get(("share", graph)), column, low, high)
    held.drop("share", key)
    held.put(("share", key), share, key, RUN)
    return size_of(share)


def _cut_rank(ranks: Ranks, graph: str, column: str, cut: Cut) -> Numbers | None:
    found = _cut_of(ranks, holdings(get_worker()).get(("share", graph)), column, cut)
    return found if ranks.rank == 0 else None


def _part_of(ranks: Ranks, share: Share, column: str, low: Bound, high: Bound) -> Share:
    """The part of a rank's share. Collective."""
    relay = Relay(ranks.rank, ranks.size)
    if isinstance(share.partition, EmptyPartition):
        return Share(relay, share.partition)
    with share.over(ranks) as whole, relay.to(ranks):
        return Share(relay, built(filtered, relay, whole, column, low, high))


def _cut_of(ranks: Ranks, share: Share, column: str, cut: Cut) -> Numbers:
    """Windows of the graph that a rank has a share of. Collective; the same on all ranks."""
    if isinstance(share.partition, EmptyPartition):
        return []
    with share.over(ranks) as whole:
        assert isinstance(whole, RankPartition)  # a graph that is kept has rows
        values = list(values_of(whole, column))
        own = extent(values)
        found = extent(ranks.all_gather(np.array([*(own or ())], values[0].dtype)))
        if found is None:
            return []
        edges = cut(*found)
        numbers = np.sum(ranks.all_gather(count_rows(values, edges)), axis=0)
        return [(*ends, int(n)) for ends, n in zip(pairwise(edges), numbers, strict=True)]
