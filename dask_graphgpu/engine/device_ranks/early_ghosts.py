"""Ghosts whose values travel ahead of those of the border: the ones among the sources with most edges."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import cupy
import numpy as np

from dask_graphgpu import config
from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.exchange.ranks import Ranks

# Multiprocessors that are left to NCCL while the border travels: its kernels do not fit beside blocks
# that take all the shared memory of one, and would begin when these have ended.
SPARE = 32


def overlaps() -> bool:
    """``graphgpu.overlap`` of Dask's configuration."""
    value = config.get("overlap")
    if not isinstance(value, bool):
        raise InvalidArgument(f"graphgpu.overlap is {value!r}: give True or False.")
    return value


class Ahead:
    """Some ghosts, and the values that their owners have sent for them; made by all ranks at once.

    Parameters
    ----------
    ranks : Ranks
    border : DeviceBorder
        Of which they are a part.
    ghosts : array of local ids, on the device
        Ascending.
    dtype : dtype
        Of values.

    Attributes
    ----------
    values : array of ``dtype``, on the device
        One for each ghost.
    """

    def __init__(self, ranks: Ranks, border: DeviceBorder, ghosts: Any, dtype: Any) -> None:
        self._border = border
        wanted = cupy.asnumpy(ghosts).astype(np.int64)
        cuts = [tuple(np.searchsorted(wanted, bounds).tolist()) for bounds in border.ghosts]
        ours = [wanted[a:b] - first for (a, b), (first, _) in zip(cuts, border.ghosts, strict=True)]
        asked = ranks.all_to_all(ours)  # of each peer: places in what it gets from here
        self._vertices = border.own_at(asked)
        self._packed = cupy.empty(self._vertices.size, dtype)
        self.values = cupy.empty(len(wanted), dtype)
        ends = np.cumsum([0, *(len(each) for each in asked)]).tolist()
        self._sent = [self._packed[a:b] for a, b in pairwise(ends)]
        self._received = [self.values[a:b] for a, b in cuts]

    def refresh(self, array: Any) -> None:
        """Queue that own vertices' values in ``array`` are copied to the peers' ``values``; collective."""
        self._border.pack(self._vertices, array, self._packed)
        self._border.link.swap([(self._sent, self._received)])
