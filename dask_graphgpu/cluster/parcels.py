"""Chunks of a Dask frame, left for ranks on the workers where Dask has computed them.

A task that took chunks as its arguments would have all of them sent to its worker. Instead the task
that makes a chunk leaves it in the worker's holdings and gives a parcel: where it lies. Ranks collect
what lies on their own worker, and a few from others.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from distributed import Worker
from distributed.utils import sync

from dask_graphgpu.cluster.calls import ask, this_worker
from dask_graphgpu.cluster.holdings import TO_RUN, holdings

_LARGE = 600.0  # seconds for a chunk to come from another worker
_AT_ONCE = 4  # chunks that are fetched at the same time


class ChunksGone(Exception):
    """Chunks were taken by a run that has ended since, or were lost with their worker.

    Their parcels, which are small, may outlive them: the tasks have to be run again.
    """


@dataclass(frozen=True)
class Parcel:
    """A chunk of ``rows`` rows that lies on a worker."""

    worker: str
    name: str
    rows: int

    def __len__(self) -> int:
        return self.rows


def leave(owner: str, make: Callable[..., Any], *arguments: Any) -> Any:
    """Make a chunk for the task ``owner`` and leave it here; outside of workers give it back."""
    chunk = make(*arguments)
    worker = this_worker()
    if worker is None:
        return chunk
    name = secrets.token_hex(8)
    holdings(worker).put(("chunk", name), chunk, owner, TO_RUN)
    return Parcel(worker.address, name, len(chunk))


def deal(chunks: Sequence[Any], workers: Sequence[str | None]) -> list[list[Any]]:
    """Which rank gets which chunks or parcels: those on its worker; the rest, evenly by rows.

    ``workers`` are those of the ranks; None without a cluster.
    """
    return [[chunk for _, chunk in each] for each in deal_placed(chunks, workers)]


def deal_placed(
    chunks: Sequence[Any], workers: Sequence[str | None]
) -> list[list[tuple[int, Any]]]:
    """What `deal` gives, each with how many rows there are in the chunks before it."""
    at = {worker: rank for rank, worker in enumerate(workers) if worker is not None}
    owners = [at.get(chunk.worker) if isinstance(chunk, Parcel) else None for chunk in chunks]
    rows = [0] * len(workers)
    for owner, chunk in zip(owners, chunks, strict=True):
        if owner is not None:
            rows[owner] += len(chunk)
    fair = -(-sum(map(len, chunks)) // len(workers))
    rank = 0
    for i, chunk in enumerate(chunks):
        if owners[i] is None:  # in order: the first rank that has less than its part
            while rank < len(workers) - 1 and rows[rank] >= fair:
                rank += 1
            owners[i] = rank
            rows[rank] += len(chunk)
    before = [0, *accumulate(map(len, chunks))][: len(chunks)]
    given = list(zip(owners, before, chunks, strict=True))
    return [
        [(row, chunk) for owner, row, chunk in given if owner == rank]
        for rank in range(len(workers))
    ]


def collect(parcels: Sequence[Any], idle_timeout: float | None = None) -> list[Any]:
    """The chunks, which no longer lie where they were left.

    ``idle_timeout``: seconds for which a worker that they lie on may give no sign of life.

    Raises
    ------
    ChunksGone
    """
    worker = this_worker()
    if worker is None:
        return list(parcels)
    far = [i for i, each in enumerate(parcels) if each.worker != worker.address]
    asked = worker, [parcels[i] for i in far], idle_timeout
    fetched = sync(worker.loop, _fetch, *asked) if far else []
    chunks: dict[int, Any] = dict(zip(far, fetched, strict=True))
    for i, parcel in enumerate(parcels):
        if i not in chunks:
            chunks[i] = hand_out(parcel.name, dask_worker=worker)
    return [chunks[i] for i in range(len(parcels))]


def hand_out(name: str, *, dask_worker: Worker) -> Any:
    """A chunk that was left on this worker."""
    try:
        return holdings(dask_worker).pop(("chunk", name))
    except KeyError:
        raise ChunksGone(f"chunks were taken from worker {dask_worker.address} before") from None


async def _fetch(
    worker: Worker, parcels: Sequence[Parcel], idle_timeout: float | None
) -> list[Any]:
    limit = asyncio.Semaphore(_AT_ONCE)
    waiting = {"patience": _LARGE, "idle_timeout": idle_timeout}

    async def fetch(parcel: Parcel) -> Any:
        async with limit:
            try:
                return await ask(worker, parcel.worker, hand_out, parcel.name, **waiting)
            except (OSError, TimeoutError) as error:
                raise ChunksGone(f"chunks are lost with worker {parcel.worker} ({error})") from None

    return await asyncio.gather(*(fetch(parcel) for parcel in parcels))
