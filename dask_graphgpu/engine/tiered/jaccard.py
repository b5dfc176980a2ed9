"""Jaccard coefficients and similar vertices over edges in host memory: kernels read rows where they lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dask_graphgpu.engine.gpu import jaccard as in_memory
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.run_cache import RunCache
from dask_graphgpu.engine.gpu.similar import partners
from dask_graphgpu.engine.similarity import Similarity
from dask_graphgpu.engine.tiered.in_place import on_host, read_in_place
from dask_graphgpu.partition.device.memory import free_bytes
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

_PAIR = 64  # bytes of a pair of vertices on the device, at most

Part = tuple[Any, ...]


def jaccard_of_pairs(view: View, first: Any, second: Any, report: Report) -> Any:
    """Part of the neighbours of either of two vertices that are those of both; as `engine.gpu.jaccard_of_pairs`.

    Notes
    -----
    Some pairs at a time are on the device. Each look of a bisection crosses the link, 32 bytes of it.
    """

    def compared(rows: View) -> Iterator[Part]:
        step = max(free_bytes() // _PAIR, 1)
        for low in range(0, len(first), step):
            pairs = first[low : low + step], second[low : low + step]
            yield (in_memory.jaccard_of_pairs(rows, *pairs, report),)

    return np.concatenate([np.empty(0), *(each for (each,) in _parts(view, compared))])


def jaccard_two_hop(view: View, report: Report) -> tuple[Any, Any, Any]:
    """As `jaccard_of_pairs`, of all pairs with a neighbour in common; as `engine.gpu.jaccard_two_hop`.

    Raises
    ------
    LimitTooSmall
        What belongs to vertices, or the walks of two edges from one of them, needs more than
        ``graphgpu.device-memory-limit``.

    Notes
    -----
    The rows of the neighbours of each vertex cross the link once; 48 bytes a walk of those that are sorted at once,
    as many as there is room for. Pairs are gathered in host memory.
    """
    return _joined(_parts(view, lambda rows: in_memory.two_hop(DeviceView.of(rows), report)))


def similar(view: View, chosen: Any, asked: Similarity, report: Report) -> tuple[Any, Any, Any]:
    """The partners of each chosen vertex; as `engine.gpu.similar`, errors and notes as of `jaccard_two_hop`."""
    return _joined(_parts(view, lambda rows: partners(DeviceView.of(rows), chosen, asked, report)))


def _parts(view: View, find: Callable[[View], Iterator[Part]]) -> list[Part]:
    """What is found part by part, each brought to the host at once."""
    kept = RunCache.of(DeviceView.of(view))
    parts: list[Part] = read_in_place(
        view, lambda rows: [on_host(each, kept) for each in find(rows)]
    )
    return parts


def _joined(parts: list[Part]) -> tuple[Any, Any, Any]:
    first, second, value = map(np.concatenate, zip(*parts, strict=True))
    return first, second, value
