"""GPUs that are connected, lose each other, and are connected again."""

import gc
import threading
import time

import cupy
import numpy as np
import pytest
from cut_graphs import cut
from device_rank_runs import marks, on_gpus, on_ranks
from made_graphs import grid, path, rmat
from rank_programs import HOPS
from rank_runs import on_one, same

from dask_graphgpu.engine import device_ranks
from dask_graphgpu.engine.device_ranks.view import border_of, connected
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.errors import RanksAborted
from dask_graphgpu.exchange import nccl
from dask_graphgpu.exchange.idle import Idle
from dask_graphgpu.report import Report

pytestmark = marks


def test_a_rank_that_raises_ends_the_others():
    """They wait for its GPU, and would do so for ever."""

    def work(share):
        border = border_of(share)
        if share.ranks.rank == 1:
            raise ZeroDivisionError("here")
        border.refresh([cupy.zeros(share.num_vertices)])
        border.link.settle()

    start = time.monotonic()
    with pytest.raises(ZeroDivisionError, match="here"):
        on_gpus(cut(grid(40).view(), 2, "blocks"), work)
    assert time.monotonic() - start < 60


def test_gpus_are_connected_anew_after_a_loss():
    view = grid(40).view()
    expected = on_one(HOPS, view, sources=[0])["hops"]

    def work(share):
        first = border_of(share)
        if share.ranks.rank == 1:
            first.link.abort()
        state = device_ranks.run(HOPS, share, RunOptions(sources=[0], report=Report("test")))
        assert border_of(share) is not first
        return state["hops"]

    parts = cut(view, 2, "blocks")
    np.testing.assert_array_equal(parts.whole(on_gpus(parts, work)), expected)


def test_a_connection_is_used_again(monkeypatch):
    """By later runs, also of other graphs; but not one that was ended."""
    made, connect = [], nccl._connected

    def counted(ranks, name):
        made.append(ranks.rank)
        return connect(ranks, name)

    monkeypatch.setattr(nccl, "IDLE", Idle(most=2))
    monkeypatch.setattr(nccl, "_connected", counted)
    shapes = [grid(20), rmat(7), path(50, directed=True)]
    for shape in (*shapes, *shapes):
        view = shape.view()
        expected = on_one(HOPS, view, sources=[0])
        same(on_ranks(HOPS, cut(view, 2, "random"), sources=[0]), expected, rtol=0)
        gc.collect()
    assert sorted(made) == [0, 1]

    def work(share):
        border_of(share).link.abort()

    on_gpus(cut(grid(5).view(), 2, "random"), work)
    assert sorted(made) == [0, 1]
    on_ranks(HOPS, cut(grid(5).view(), 2, "random"), sources=[0])
    assert sorted(made) == [0, 0, 1, 1]


def test_a_recording_that_fails_is_ended():
    """NCCL would wait for ever for a communicator that a recording uses."""
    parts = cut(grid(5).view(), 2, "random")

    def record(share):
        with connected(share) as (border, _):
            link = border.link
            own, every = cupy.zeros(1, np.uint8), cupy.zeros(share.ranks.size, np.uint8)

            def step():
                link.all_gather(own, every)
                raise ZeroDivisionError("here")

            link.recorded(step)()

    def work(share):
        link = border_of(share).link
        with pytest.raises(ZeroDivisionError, match="here"):
            record(share)
        assert link.failed
        return int(cupy.arange(4).sum())

    assert on_gpus(parts, work) == [6, 6]
    on_ranks(HOPS, parts, sources=[0])


def test_a_connection_is_not_ended_while_it_is_in_a_call(monkeypatch):
    """When a peer is lost: who ends it frees what the call works with."""
    real, called, goes_on = nccl.nccl.NcclCommunicator, threading.Event(), threading.Event()
    within, ended = [], []

    class Slow:
        """The connection of rank 0, whose first message takes until it ``goes_on``."""

        def __init__(self, *given):
            self._made = real(*given)

        def allGather(self, *given):
            within.append(given)
            called.set()
            assert goes_on.wait(60)
            within.clear()

        def abort(self):
            ended.append(len(within))
            self._made.abort()

    def work(share):
        ranks = share.ranks
        own = bytes(nccl.nccl.get_unique_id()) if ranks.rank == 0 else b""
        given = ranks.size, ranks.all_gather_bytes(own)[0], ranks.rank
        if ranks.rank == 0:
            with pytest.raises(RanksAborted):
                nccl._connected(ranks, given[1])
            assert not ended
            goes_on.set()
            return
        peer = real(*given)
        assert called.wait(60)
        peer.abort()
        raise ZeroDivisionError("here")

    monkeypatch.setattr(
        nccl.nccl, "NcclCommunicator", lambda *given: (real if given[2] else Slow)(*given)
    )
    with pytest.raises(ZeroDivisionError, match="here"):
        on_gpus(cut(grid(5).view(), 2, "random"), work)
    patient = time.monotonic() + 60
    while not ended and time.monotonic() < patient:
        time.sleep(0.01)
    assert ended == [0]
