"""Runs that go on with fewer edges on the device where its memory is short."""

from __future__ import annotations

import gc
import traceback
from collections.abc import Callable
from typing import TypeVar

from dask_graphgpu.engine.limits import Cut
from dask_graphgpu.partition.device import memory
from dask_graphgpu.report import Report

Found = TypeVar("Found")


def shrinking(cut: Cut, report: Report, attempt: Callable[[Cut], Found]) -> Found:
    """What ``attempt(cut)`` gives, which begins anew when the device refuses an allocation.

    At first with the same cut, after everything is given back that runs have kept for later ones;
    then with fewer and fewer resident edges and smaller buffers. Others may have taken the memory
    that ``graphgpu.device-memory-limit`` allows.

    Raises
    ------
    MemoryError
        CuPy's: not even the least buffers fit beside the vertices.
    """
    following: Cut | None = cut
    while True:
        mark = report.mark()
        try:
            return attempt(cut)
        except MemoryError as error:
            if not memory.is_of_device(error) or following is None:
                raise
            traceback.clear_frames(error.__traceback__)  # they hold the arrays that there were
        gc.collect()  # what a run is made of refers to itself
        memory.drop_kept()
        report.back_to(mark)
        cut, following = following, following.smaller()
