"""What owners tell ghosts where few values have changed: a list of these, instead of the whole border."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.kernels.cuda_build import Kernel
from dask_graphgpu.kernels.sizes import SIZES

# Border values for each place in the list. It always travels as a whole: how much of it is filled would
# have to be asked of the device.
VALUES_A_PLACE = 32

_TOGETHER = SIZES["near_far_ranks.cu"]["TOGETHER"]  # border values for each thread that lists them

# Blocks of `arriving` on a multiprocessor, and their threads.
_BLOCKS, _THREADS = 4, 512


def arriving(kernel: Kernel, threads: int, args: Any) -> None:
    """Launch a kernel that adds up what has come: each of its blocks adds to the same counters."""
    most = launch.num_multiprocessors() * _BLOCKS * _THREADS
    launch.flat(kernel, min(threads, most), args, threads=_THREADS)


class News:
    """The lists of a rank, and those that come; see near_far_ranks.cu.

    A value that differs from the one that was sent last is listed. Those for which there is no room
    are listed the next time, so that nothing depends on there being enough.

    Parameters
    ----------
    kernels : dict of str to Kernel
        ``list_news`` and ``take_news``.
    given : tuple
        What the kernels take first.
    border : DeviceBorder
    travelling : list of arrays
        Values, and where these do not say it who is reached.

    Attributes
    ----------
    room : int
        Places in all lists that this rank sends.
    told : tuple
        Arguments of the kernel `tell`: how many were to be listed, and where each peer's places begin.
    """

    def __init__(
        self, kernels: dict[str, Kernel], given: Any, border: DeviceBorder, travelling: list[Any]
    ) -> None:
        self._link, self._given = border.link, given
        self._list, self._take = (kernels[name] for name in ("list_news", "take_news"))
        values, late = travelling[0], travelling[1:]
        ids = border.vertices.dtype
        flag = [("late", "u4")] if late else []
        one = np.dtype([("place", ids), *flag, ("value", values.dtype)], align=True)
        size = np.uint64(len(border.cuts))
        sent, came = (
            [last - first for first, last in cuts] for cuts in (border.cuts, border.ghosts)
        )
        self._sent, self._came = (
            Lists(each, one.itemsize, VALUES_A_PLACE) for each in (sent, came)
        )
        self.room = self._sent.room
        self.told = self._sent.counts, self._sent.starts, size
        packed = border.make_room(travelling)
        last = packed[0].view(values.dtype), packed[1] if late else launch.NULL
        ghosts = cupy.asarray(np.array([first for first, _ in border.ghosts], np.uint64))
        number = np.uint64(border.padded.size)
        listed = border.padded, number, border.starts, border.lengths, size
        self._listed = *listed, *last, *self._sent.given
        self._taken = *self._came.given, ghosts, size
        self._number = int(number), self._came.room

    def queue(self, told: Any, told_late: Any) -> None:
        """Queue that lists are made, travel and are taken; collective.

        Ghosts that were told something better are to send: see `Stretches.arrive`.
        """
        number, room = self._number
        launch.flat(self._list, -(-number // _TOGETHER), (*self._given, *self._listed))
        self._link.swap([*zip(self._sent.parts, self._came.parts, strict=True)])
        given = *self._given, *self._taken, told, told_late
        arriving(self._take, room, given)


class Lists:
    """A list of each peer, one after another, and how long they are.

    Parameters
    ----------
    border : list of int
        Border values of each peer.
    item : int
        Bytes of one in a list.
    values_a_place : int
        Border values for each place in a list.

    Attributes
    ----------
    room : int
        Places in all lists.
    rooms : uint64 array
        Places of each peer.
    given : tuple
        Arguments of kernels: the lists, where each peer's begins, and how many are in it.
    parts : pair of lists
        What travels: of each peer its list, and its count.
    """

    def __init__(self, border: list[int], item: int, values_a_place: int) -> None:
        # Each list begins at a multiple of 16 bytes: see border.py.
        rooms = [-(-count // (4 * values_a_place)) * 4 for count in border]
        self.rooms = np.array(rooms, np.uint64)
        starts = _starts(rooms)
        self.room = int(starts[-1])
        self.counts, self.starts = cupy.zeros(len(border), np.uint64), cupy.asarray(starts)
        lists = cupy.empty(self.room * item, np.uint8)
        self.given = lists, self.starts, self.counts
        there = [int(room > 0) for room in rooms]
        self.parts = (
            [lists[a * item : b * item] for a, b in pairwise(starts.tolist())],
            [self.counts[i : i + some] for i, some in enumerate(there)],
        )


def _starts(lengths: list[int]) -> np.ndarray:
    return np.cumsum([0, *lengths]).astype(np.uint64)
