"""The pool of threads: blocks, calls at once, forks, exceptions, and how many threads there are."""

import gc
import io
import itertools
import multiprocessing
import os
import subprocess
import sys
import threading
import time
import warnings
import weakref

import dask
import dask.system
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.kernels.cpu import threads
from dask_graphgpu.kernels.cpu.threads import (
    copy_blocks,
    edge_blocks,
    even_blocks,
    for_blocks,
    num_threads,
)


@pytest.fixture(autouse=True)
def two_threads():
    with dask.config.set({"graphgpu.threads": 2}):
        yield


@njit(nogil=True)
def add_up(lo, hi, values):
    total = 0
    for i in range(lo, hi):
        total += values[i]
    return total


@given(
    n=st.integers(0, 2_000_000),
    multiple=st.sampled_from([1, 64]),
    number=st.integers(1, 9),
)
def test_even_blocks_cover_everything_once(n, multiple, number):
    with dask.config.set({"graphgpu.threads": number}):
        bounds = even_blocks(n, multiple=multiple)
    assert bounds.dtype == np.int64
    assert (bounds[0], bounds[-1]) == (0, n)
    assert (bounds[1:-1] % multiple == 0).all()
    lengths = np.diff(bounds)
    assert n == 0 or lengths.min() > 0
    assert len(lengths) <= max(1, number * threads.BLOCKS_PER_THREAD)
    if n >= 4 * threads.LITTLE_WORK and number > 1:
        assert len(lengths) >= 4
        assert lengths.max() - lengths.min() <= 2 * multiple


def test_blocks_that_are_copied_are_large():
    for n, itemsize in ((0, 8), (1, 8), (5_000_000, 8), (10_000_000, 1)):
        bounds = copy_blocks(n, itemsize)
        assert (bounds[0], bounds[-1]) == (0, n)
        assert len(bounds) == 2 or np.diff(bounds).min() * itemsize >= 1 << 20


@pytest.mark.parametrize("multiple", [1, 64])
@pytest.mark.parametrize("first_offset", [0, 17])
def test_edge_blocks_balance_a_skewed_graph(multiple, first_offset):
    degrees = np.random.default_rng(0).pareto(1.0, size=200_000).astype(np.int64)
    offsets = first_offset + np.concatenate([[0], np.cumsum(degrees)])
    bounds = edge_blocks(offsets, multiple=multiple)
    assert (bounds[0], bounds[-1]) == (0, len(degrees))
    assert (bounds[1:-1] % multiple == 0).all()
    work = np.diff(offsets[bounds] + bounds)
    assert work.sum() == degrees.sum() + len(degrees)
    fair = work.sum() / (2 * threads.BLOCKS_PER_THREAD)
    assert work.max() <= fair + degrees.max() + multiple * (1 + degrees.max())
    assert len(work) > 2


def test_edge_blocks_do_not_pile_up_empty_rows():
    offsets = np.zeros(1_000_001, dtype=np.int64)
    offsets[1:] = 100_000
    work = np.diff(edge_blocks(offsets))
    assert len(work) == 8
    assert work.max() <= 2 * 1_000_000 / 8


@pytest.mark.parametrize("offsets", [[0], [0, 0], [0, 5, 5, 9]])
def test_little_work_is_one_block(offsets):
    bounds = edge_blocks(np.array(offsets, dtype=np.int64))
    assert bounds.tolist() == [0, len(offsets) - 1]


def test_results_come_in_the_order_of_the_blocks():
    values = np.arange(1_000_003)
    bounds = even_blocks(len(values))
    assert len(bounds) == 9
    expected = [int(values[lo:hi].sum()) for lo, hi in itertools.pairwise(bounds)]
    assert for_blocks(add_up, bounds, values) == expected


def test_blocks_run_at_once():
    meeting = threading.Barrier(2)
    places = for_blocks(lambda lo, hi: meeting.wait(timeout=30), np.array([0, 1, 2]))
    assert sorted(places) == [0, 1]


def test_one_thread_runs_in_the_caller():
    with dask.config.set({"graphgpu.threads": 1}):
        names = for_blocks(lambda lo, hi: threading.current_thread(), np.array([0, 1, 2, 3]))
    assert set(names) == {threading.current_thread()}


def test_not_more_threads_than_configured():
    for number in (4, 2):  # the helpers of the larger call still exist in the smaller one
        with dask.config.set({"graphgpu.threads": number}):
            at_once = []
            lock = threading.Lock()
            inside = [0]

            def block(lo, hi, at_once=at_once, lock=lock, inside=inside):
                with lock:
                    inside[0] += 1
                    at_once.append(inside[0])
                time.sleep(0.005)
                with lock:
                    inside[0] -= 1

            for_blocks(block, np.arange(17))
            assert 1 < max(at_once) <= number


def test_calls_from_several_threads_at_once():
    values = np.arange(300_000)
    bounds = even_blocks(len(values))
    expected = for_blocks(add_up, bounds, values)
    wrong = []
    start = threading.Barrier(4)

    def call():
        start.wait()
        for _ in range(200):
            if for_blocks(add_up, bounds, values) != expected:
                wrong.append(threading.current_thread().name)

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(timeout=60)
    assert not any(caller.is_alive() for caller in callers)
    assert not wrong


def test_a_call_from_inside_a_block_does_not_deadlock():
    cuts = np.arange(5)

    def inner(lo, hi):
        time.sleep(0.001)
        return lo

    def outer(lo, hi):
        return for_blocks(inner, cuts)

    done = []
    caller = threading.Thread(target=lambda: done.append(for_blocks(outer, cuts)), daemon=True)
    caller.start()
    caller.join(timeout=60)
    assert done == [[[0, 1, 2, 3]] * 4]


@pytest.mark.parametrize("bad", [0, 3])
def test_an_exception_reaches_the_caller_and_the_pool_lives_on(bad):
    def block(lo, hi):
        time.sleep(0.001)
        if lo == bad:
            raise ZeroDivisionError(f"block {lo}")
        return lo

    for _ in range(3):
        with pytest.raises(ZeroDivisionError, match=f"block {bad}"):
            for_blocks(block, np.arange(5))
    values = np.arange(100_000)
    assert sum(for_blocks(add_up, even_blocks(len(values)), values)) == values.sum()


def test_an_exception_stops_the_blocks_that_have_not_started():
    started = []

    def block(lo, hi):
        started.append(lo)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        for_blocks(block, np.arange(101))
    assert len(started) <= 2


@pytest.mark.parametrize("way", ["argument", "closure"])
def test_arrays_are_let_go_after_the_call(way):
    """Also while a helper has yet to come to the call: all are busy here."""

    class Data:
        pass

    for_blocks(lambda lo, hi: None, np.arange(3))  # there is a helper
    number = threads._pool._helpers + 1
    met, done = threading.Barrier(number + 1), threading.Event()

    def be_busy(lo, hi):
        met.wait(timeout=30)
        done.wait(timeout=30)

    def occupy():
        with dask.config.set({"graphgpu.threads": number}):
            for_blocks(be_busy, np.arange(number + 1))

    other = threading.Thread(target=occupy)
    other.start()
    met.wait(timeout=30)
    data = Data()
    gone = weakref.ref(data)
    if way == "argument":
        for_blocks(lambda lo, hi, data: None, np.arange(5), data)
    else:
        for_blocks(lambda lo, hi, data=data: None, np.arange(5))
    del data
    gc.collect()
    assert gone() is None
    done.set()
    other.join()


def add_up_in_child(values, results):
    meeting = threading.Barrier(2)  # passed only if the child has a helper of its own
    for_blocks(lambda lo, hi: meeting.wait(timeout=30), np.array([0, 1, 2]))
    results.put(for_blocks(add_up, even_blocks(len(values)), values))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_makes_its_own_pool():
    values = np.arange(100_000)
    expected = for_blocks(add_up, even_blocks(len(values)), values)
    assert len(expected) > 1
    context = multiprocessing.get_context("fork")
    results = context.SimpleQueue()
    child = context.Process(target=add_up_in_child, args=(values, results))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of forks with threads
        child.start()
    child.join(timeout=60)
    assert child.exitcode == 0
    assert results.get() == expected


def test_waiting_helpers_do_not_keep_the_process_alive():
    code = (
        "import dask, numpy as np\n"
        "from dask_graphgpu.kernels.cpu.threads import for_blocks\n"
        "dask.config.set({'graphgpu.threads': 3})\n"
        "print(for_blocks(lambda lo, hi: lo, np.arange(9)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == str(list(range(8))).split()


def test_threads_of_the_configuration():
    with dask.config.set({"graphgpu.threads": 5}):
        assert num_threads() == 5


@pytest.mark.parametrize("bad", [0, -1, 2.0, "2", True])
def test_bad_configuration_is_an_error(bad):
    with (
        dask.config.set({"graphgpu.threads": bad}),
        pytest.raises(InvalidArgument, match=r"graphgpu\.threads"),
    ):
        num_threads()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_threads_of_the_affinity():
    before = os.sched_getaffinity(0)
    with dask.config.set({"graphgpu.threads": None}):
        try:
            os.sched_setaffinity(0, {min(before)})
            assert num_threads() == 1
        finally:
            os.sched_setaffinity(0, before)
        assert num_threads() <= len(before)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="control groups are Linux's")
def test_threads_of_the_quota(monkeypatch):
    files = {
        "/proc/self/cgroup": "0::/batch\n",
        "/sys/fs/cgroup/batch/cpu.max": "300000 100000\n",
    }

    def opened(path, *args, **kwargs):
        if path not in files:
            raise FileNotFoundError(path)
        return io.StringIO(files[path])

    monkeypatch.setattr(dask.system, "open", opened, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    if hasattr(os, "process_cpu_count"):
        monkeypatch.setattr(os, "process_cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)
    if dask.system.psutil is not None:
        monkeypatch.setattr(dask.system.psutil.Process, "cpu_affinity", lambda self: range(64))
    with dask.config.set({"graphgpu.threads": None}):
        assert num_threads() == 3


@pytest.mark.cluster
def test_threads_of_the_worker_whose_task_this_is():
    import distributed

    with (
        dask.config.set({"graphgpu.threads": None}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=3, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert client.submit(num_threads).result(timeout=30) == 3


def test_workers_of_few_threads_share_all_cpus(monkeypatch):
    """None has fewer than it has otherwise, and what is configured stays."""
    monkeypatch.setattr(threads, "_cpus", lambda affinity: 16)
    monkeypatch.setattr(threads, "num_threads", lambda: 3)
    for configured, processes, expected in ((None, 2, 8), (None, 8, 3), (3, 2, 3)):
        with (
            dask.config.set({"graphgpu.threads": configured}),
            threads.sharing_cpus(processes),
        ):
            assert threads._allowed.threads == expected
