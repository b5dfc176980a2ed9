"""Ctrl-C ends a call at once, also in the middle of compiled code, and what was at work for it stops."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

from dask_graphgpu import interrupting
from dask_graphgpu.kernels.cpu import threads

CALLS = {
    "betweenness": lambda g: g.betweenness_centrality(),
    "edge betweenness": lambda g: g.edge_betweenness_centrality(),
    "weighted betweenness": lambda g: g.betweenness_centrality(weighted=True),
    "louvain": lambda g: g.louvain(),
    "leiden": lambda g: g.leiden(),
    "pagerank": lambda g: g.pagerank(tolerance=0, max_iterations=10**7),
    "label propagation": lambda g: g.label_propagation(10**6),
}
PATIENCE = 30.0


def small(n=50, m=200):
    rng = np.random.default_rng(0)
    ends = rng.integers(0, n, (2, m))
    return pd.DataFrame({"src": ends[0], "dst": ends[1], "weight": rng.random(m) + 0.1})


@pytest.fixture(scope="module")
def large():
    """Minutes of work for the first three."""
    return small(50_000, 500_000).graph(ranks=1).persist()


def at_work():
    return [each for each in threading.enumerate() if each.name == "graphgpu-call"]


def ended_by_ctrl_c(call, after):
    """Seconds that a call takes from Ctrl-C on."""
    sent = []

    def press():
        time.sleep(after)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    def press_and_call():
        pressing.start()
        call()
        time.sleep(PATIENCE)  # it was faster than that

    pressing = threading.Thread(target=press)
    with pytest.raises(KeyboardInterrupt):
        press_and_call()
    took = time.monotonic() - sent[0]
    pressing.join()
    until = time.monotonic() + PATIENCE
    while at_work():
        assert time.monotonic() < until, "it goes on"
        time.sleep(0.01)
    return took


@pytest.mark.parametrize("name", CALLS)
def test_a_method(large, name):
    assert ended_by_ctrl_c(lambda: CALLS[name](large), 0.5) < 2
    wanted = small().graph(ranks=1).degree()
    assert len(wanted) == 50  # the next call is none the worse


@pytest.mark.parametrize("ranks", [1, 3])
def test_on_ranks_and_while_a_graph_is_built(ranks):
    frame = small(200_000, 4_000_000)
    for call in (lambda g: g.triangle_count(), lambda g: g.persist()):
        made = frame.graph(ranks=ranks)
        assert ended_by_ctrl_c(lambda made=made, call=call: call(made), 0.3) < 2


def test_what_a_function_returns_and_raises():
    assert interrupting.interruptible(lambda a, b: a + b, 1, 2) == 3
    with pytest.raises(ZeroDivisionError):
        interrupting.interruptible(lambda: 1 / 0)
    assert not at_work()


def test_elsewhere_than_in_the_main_thread_it_is_a_plain_call():
    found = []

    def work():
        own = threading.get_ident()
        found.append(interrupting.interruptible(threading.get_ident) == own)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [True]


@pytest.mark.parametrize("number", [1, 2])
def test_no_block_is_begun_once_a_call_is_to_stop(monkeypatch, number):
    monkeypatch.setattr(threads, "num_threads", lambda: number)
    stopped, begun = threading.Event(), []
    monkeypatch.setattr(threads, "stopping", lambda: stopped)

    def block(lo, hi):
        begun.append(lo)
        stopped.set()
        time.sleep(0.05)

    with pytest.raises(KeyboardInterrupt):
        threads.for_blocks(block, np.arange(100))
    assert len(begun) <= number


def test_at_every_moment_the_thread_is_told_to_stop(monkeypatch):
    """Also before it has begun, while it is started."""
    otherwise = sys.unraisablehook

    def dropped(told):
        """Python drops what is raised while a weak reference ends: the key is pressed again."""
        if told.exc_type is KeyboardInterrupt:
            signal.setitimer(signal.ITIMER_REAL, 1e-3)
        else:
            otherwise(told)

    def works():
        until = time.monotonic() + PATIENCE
        while not interrupting.stopping().is_set():
            assert time.monotonic() < until
            time.sleep(0.001)

    def press(*_):
        raise KeyboardInterrupt

    def call(after):
        signal.setitimer(signal.ITIMER_REAL, after)
        interrupting.interruptible(works)

    monkeypatch.setattr(sys, "unraisablehook", dropped)
    former = signal.signal(signal.SIGALRM, press)
    try:
        for i in range(400):
            # The second is of Python's own locks, that are interrupted while a thread is started.
            with pytest.raises((KeyboardInterrupt, RuntimeError)):
                call(1e-5 + i % 100 * 4e-6)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    until = time.monotonic() + 5
    while any(each.is_alive() for each in at_work()):  # one may not have begun
        assert time.monotonic() < until
        time.sleep(0.01)
