"""A rank's share of the edges on its GPU, and the link to those of the others."""

from __future__ import annotations

import threading
import weakref

from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.gpu.device import DeviceView
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
        made: Adjacency = self.made(key, lambda: transpose(into))
        return made


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
    with _lock:
        made = _of_borders.get(whole.border)
    there = made is not None and not made.link.failed
    if not whole.ranks.min(int(there)):
        if made is not None:
            made.link.abort()
        made = DeviceBorder(DeviceLink(whole.ranks), whole.border)
        with _lock:
            _of_borders[whole.border] = made
    assert made is not None
    return made
