"""Threads of the CPU engine: kernels over blocks, run by one pool of our own.

A kernel is a function ``kernel(lo, hi, *args)`` that releases the GIL (by `compile.jit`).
The thread that calls `for_blocks` works as well, so a call can always finish by itself: calls from
several threads at once, and calls from inside a block, share the helpers and never wait for a free
one.

Numba's own ``parallel=True`` is not used: its portable threading layer aborts the process on
concurrent calls, and a process forked after an OpenMP kernel dies at its next one.
"""

from __future__ import annotations

import functools
import itertools
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dask.system
import numpy as np
from numpy.typing import NDArray

from dask_graphgpu import config
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.interrupting import check, stopping

# Several blocks a thread, so that a thread with cheap blocks takes over some of its neighbour's.
BLOCKS_PER_THREAD = 4

# Work (items, or edges and rows) below which waking a thread costs more than it saves: it takes
# about 20 us, in which one thread does this many simple steps.
LITTLE_WORK = 1 << 14

# Bytes that a thread copies at once, at least.
_COPIED = 1 << 20


_allowed = threading.local()


@contextmanager
def at_most(threads: int) -> Iterator[None]:
    """Have what this thread calls use so many with itself: for work that is side by side with its kind.

    Whoever shares out fewer than there are inside of another `at_most` asks `num_threads` there.
    """
    before = getattr(_allowed, "threads", None)
    _allowed.threads = threads
    try:
        yield
    finally:
        _allowed.threads = before


def num_threads() -> int:
    """Number of threads that a kernel may use.

    Returns
    -------
    int
        What `at_most` allows, inside of it; else ``graphgpu.threads`` of the Dask configuration;
        where that is not set, the number of threads of the Dask worker whose task this is; outside
        of workers, the CPUs that this process may use (its affinity, and the quota of its control
        group).

    Raises
    ------
    InvalidArgument
        The configured value is not a positive integer.
    """
    allowed: int | None = getattr(_allowed, "threads", None)
    if allowed is not None:
        return allowed
    configured = config.get("threads")
    if configured is not None:
        if isinstance(configured, bool) or not isinstance(configured, int) or configured < 1:
            raise InvalidArgument(
                f"graphgpu.threads is {configured!r}; set it to a positive integer, or to null for all CPUs that the "
                "process may use."
            )
        return configured
    worker_module = sys.modules.get("distributed.worker")
    if worker_module is not None:
        try:
            return int(worker_module.get_worker().state.nthreads)
        except ValueError:  # not inside a task
            pass
    return _cpus(_affinity())


@contextmanager
def sharing_cpus(processes: int) -> Iterator[None]:
    """Have what this thread calls use its part of all CPUs, which so many processes share.

    For a worker whose one thread is to drive a GPU. Never fewer threads than `num_threads` says, and no more
    where ``graphgpu.threads`` is set.
    """
    most = num_threads()
    if config.get("threads") is None:
        most = max(most, _cpus(_affinity()) // processes)
    with at_most(most):
        yield


def _affinity() -> frozenset[int]:
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()


@functools.cache
def _cpus(affinity: frozenset[int]) -> int:
    """Usable CPUs; asked once for each affinity, because the quota is read from files."""
    return max(1, dask.system.cpu_count())


def even_blocks(n: int, *, multiple: int = 1, work: int = 1) -> NDArray[np.int64]:
    """Bounds that cut ``range(n)`` into blocks of about equal length.

    Parameters
    ----------
    n : int
        Number of items.
    multiple : int
        Inner bounds are multiples of this: 64 where a block writes whole words of a bitmap.
    work : int
        Simple steps that an item takes.

    Returns
    -------
    ndarray of int64, shape (blocks + 1,)
        Ascending; the first is 0, the last `n`. One block when the work is little or there is one
        thread; no empty block unless `n` is 0.
    """
    blocks = _num_blocks(n * work)
    if blocks == 1:
        return np.array([0, n], np.int64)
    return _bounds(np.arange(1, blocks) * n // blocks, n, multiple)


def edge_blocks(offsets: NDArray[np.int64], *, multiple: int = 1) -> NDArray[np.int64]:
    """Bounds that cut the rows of an adjacency into blocks of about equal work.

    Parameters
    ----------
    offsets : ndarray of int64, shape (num_vertices + 1,)
        Where each row starts, and where the last one ends.
    multiple : int
        Inner bounds are multiples of this.

    Returns
    -------
    ndarray of int64, shape (blocks + 1,)
        As of `even_blocks`. An edge and a row count as one step each, so that a million empty rows
        are not one block.
    """
    n = len(offsets) - 1
    start = int(offsets[0])
    work = int(offsets[-1]) - start + n
    blocks = _num_blocks(work)
    if blocks == 1:
        return np.array([0, n], np.int64)
    targets = start + np.arange(1, blocks) * work // blocks
    return _bounds(first_rows(offsets, targets), n, multiple)


def step_blocks(offsets: NDArray[np.int64], steps: int) -> NDArray[np.int64]:
    """Bounds of blocks of so many edges and rows, which do not depend on the threads; as of `edge_blocks`."""
    start, n = int(offsets[0]), len(offsets) - 1
    last = int(offsets[-1]) + n
    return _bounds(first_rows(offsets, np.arange(start + steps, last, steps)), n, 1)


def first_rows(offsets: NDArray[np.int64], targets: NDArray[np.int64]) -> NDArray[np.int64]:
    """First row v, for each target, with ``offsets[v] + v >= target``; the last offset's if none."""
    low = np.zeros(len(targets), dtype=np.int64)
    high = np.full(len(targets), len(offsets) - 1, dtype=np.int64)
    while (low < high).any():  # bisection for all targets at once
        middle = (low + high) // 2
        below = offsets[middle] + middle < targets
        low = np.where(below, middle + 1, low)
        high = np.where(below, high, middle)
    return low


def _num_blocks(work: int) -> int:
    if work < 2 * LITTLE_WORK:
        return 1
    threads = num_threads()
    if threads == 1:
        return 1
    return min(threads * BLOCKS_PER_THREAD, work // LITTLE_WORK)


def _bounds(inner: NDArray[np.int64], n: int, multiple: int) -> NDArray[np.int64]:
    inner = inner // multiple * multiple
    some = sorted(set(inner[(inner > 0) & (inner < n)].tolist()))
    return np.array([0, *some, n], np.int64)


def copy_blocks(n: int, itemsize: int) -> NDArray[np.int64]:
    """As `even_blocks`, of items of so many bytes that NumPy copies: a megabyte a block, or more.

    A thread holds the GIL between two such copies: with 64 KiB each, 32 threads brought 67 MB into memory that nobody
    had touched in 29 ms, and one thread alone in 12.
    """
    blocks = min(num_threads() * BLOCKS_PER_THREAD, max(1, n * itemsize // _COPIED))
    return np.arange(blocks + 1) * n // blocks


def for_blocks(kernel: Callable[..., Any], bounds: NDArray[np.int64], *args: Any) -> list[Any]:
    """Run ``kernel(lo, hi, *args)`` over each block, on up to `num_threads` threads.

    Parameters
    ----------
    kernel : callable
        Releases the GIL, or nothing is gained.
    bounds : ndarray of int64, shape (blocks + 1,)
        Of `even_blocks` or `edge_blocks`.
    *args
        Handed to every block.

    Returns
    -------
    list
        What each block returned, in the order of the blocks.

    Raises
    ------
    Exception
        The first that a block raised. No further block is started then, and those that run have
        ended.
    KeyboardInterrupt
        The call that it is part of is to stop; see `interrupting`.

    Notes
    -----
    With one block or one thread it is a plain loop. Otherwise a fork and join costs tens of
    microseconds.
    """
    cuts = bounds.tolist()
    blocks = list(itertools.pairwise(cuts))
    helpers = min(num_threads(), len(blocks)) - 1
    stopped = stopping()
    if helpers < 1:
        results = []
        for lo, hi in blocks:
            check(stopped)
            results.append(kernel(lo, hi, *args))
        return results
    job = _Job(kernel, blocks, args, stopped)
    _pool.offer(job, helpers)
    job.work()
    return job.results()


class _Job:
    """One call of `for_blocks`: blocks are handed out one at a time, the last wakes the caller."""

    def __init__(
        self,
        kernel: Callable[..., Any],
        blocks: list[tuple[int, int]],
        args: tuple[Any, ...],
        stopped: threading.Event | None,
    ) -> None:
        self._kernel = kernel
        self._blocks = blocks
        self._args = args
        self._stopped = stopped
        self._results: list[Any] = [None] * len(blocks)
        self._error: BaseException | None = None
        self._lock = threading.Lock()
        self._next = 0
        self._running = 0
        self._idle = threading.Event()

    def work(self) -> None:
        """Take blocks until there are none left."""
        while True:
            with self._lock:
                i = self._next
                if i >= len(self._blocks):
                    break
                self._next = i + 1
                self._running += 1
            error = None
            try:
                check(self._stopped)
                self._results[i] = self._kernel(*self._blocks[i], *self._args)
            except BaseException as caught:  # KeyboardInterrupt too: a helper survives it
                error = caught
            with self._lock:
                self._running -= 1
                if error is not None:
                    if self._error is None:
                        self._error = error
                    self._next = len(self._blocks)
                if self._running == 0 and self._next >= len(self._blocks):
                    self._idle.set()

    def results(self) -> list[Any]:
        """Wait for the blocks that helpers still run."""
        self._idle.wait()
        # A helper may find this job in the queue much later: let go of the arrays, which the kernel
        # may hold too.
        del self._kernel, self._args
        error, self._error = self._error, None
        if error is not None:
            raise error
        return self._results


class _Pool:
    """Helper threads: as many as the largest call so far asked for, each waits for jobs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._helpers = 0

    def offer(self, job: _Job, helpers: int) -> None:
        """Ask up to `helpers` threads to join in: those that are free before the job is done do."""
        if self._helpers < helpers:
            with self._lock:
                while self._helpers < helpers:
                    name = f"graphgpu-{self._helpers + 1}"
                    threading.Thread(target=self._help, name=name, daemon=True).start()
                    self._helpers += 1
        for _ in range(helpers):
            self._jobs.put(job)

    def _help(self) -> None:
        while True:
            job = self._jobs.get()
            job.work()
            del job  # no reference to its results while waiting for the next


_pool = _Pool()


def _forget_pool() -> None:
    """Start anew in a forked child, which has neither its parent's threads nor use for locks they held."""
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
