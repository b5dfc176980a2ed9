"""A rank's share of the edges on its GPU, and the link to those of the others."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.errors import NotConverged
from dask_graphgpu.exchange.border import Border
from dask_graphgpu.exchange.nccl import DeviceLink
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device.csr import transpose
from dask_graphgpu.partition.ranks.view import RankView


class RankDeviceView(DeviceView):
    """A `TowardView` on the device: rows by source are made of those by destination there."""

    @property
    def out(self) -> Adjacency:
        into = self.into
        key = "turned", id(into.offsets), *into.columns
        return self.made(key, lambda: transpose(into))


def argsort(values: np.ndarray) -> np.ndarray:
    """As of NumPy, by the device."""
    order: np.ndarray = cupy.asnumpy(cupy.argsort(cupy.asarray(values)))
    return order


_of_borders: weakref.WeakKeyDictionary[Border, DeviceBorder] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def border_of(whole: RankView) -> DeviceBorder:
    """The border of a share on the device; collective.

    It is made once, as NCCL takes long to connect GPUs, and again after a run in which a rank was lost.

    Raises
    ------
    EngineUnavailable
        The ranks' GPUs cannot be connected.
    """
    return border_and_kept(whole, None)[0]


def border_and_kept(
    whole: RankView, key: Any, begin: Callable[[Any], None] | None = None
) -> tuple[DeviceBorder, Any]:
    """As `border_of`, and what earlier runs have kept under ``key``: None where a rank has nothing.

    ``begin``: queues what a run from what is kept begins with and needs no peer for, on the link's
    stream, so that the device has work while the ranks agree.
    """
    with _lock:
        made = _of_borders.get(whole.border)
    there = made is not None and not made.link.failed
    kept = made.take(key) if made is not None and there else None
    if made is not None and kept is not None and begin is not None:
        with made.link.stream:
            begin(kept)
    try:
        told = whole.ranks.scalars([int(there), int(kept is not None)])
        every_there, every_kept = told.min(axis=0).tolist()
    except BaseException:
        _over(made, kept)
        raise
    if kept is not None and not every_kept:
        _over(made, kept)
        kept = None
    if not every_there:
        if made is not None:
            made.link.abort()
        made = DeviceBorder(DeviceLink(whole.ranks), whole.border)
        with _lock:
            _of_borders[whole.border] = made
        weakref.finalize(whole.border, _let_go, weakref.ref(made)).atexit = False
    assert made is not None
    return made, kept


def _over(made: DeviceBorder | None, kept: Any) -> None:
    """Let go of what was kept, which the device may be at work on."""
    if made is not None and kept is not None:
        made.link.stream.synchronize()
        kept.forget()


def _let_go(made: weakref.ref[DeviceBorder]) -> None:
    """What is kept holds the border that keeps it, and memory of the device is not to wait for that."""
    border = made()
    if border is not None:
        border.drop()


@contextmanager
def connected(
    whole: RankView, key: Any = None, begin: Callable[[Any], None] | None = None
) -> Iterator[tuple[DeviceBorder, Any]]:
    """A current stream that is the link's own, for a border and what was kept; collective.

    What is taken and given is that of `border_and_kept`.

    Raises
    ------
    EngineUnavailable
        The ranks' GPUs cannot be connected.
    """
    border, kept = border_and_kept(whole, key, begin)
    with launch.own_stream(border.link.stream):
        try:
            yield border, kept
            border.link.forget()
            whole.ranks.barrier()  # nobody goes, and ends the connection, while a peer receives
        except NotConverged:  # on all ranks alike
            border.link.forget()
            raise
        except BaseException:
            border.link.abort()
            raise
