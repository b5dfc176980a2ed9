"""What a step between ranks takes: between processes of this machine, and between threads.

    python tests/benchmarks/exchange.py [--ranks 2 3 4] [--steps 5000] [--megabytes 100]

Prints a Markdown table. A step sends 512 bytes to every peer, and two scalars. An all-to-all sends
the megabytes of each rank in equal parts to its peers; GB/s is what one rank sends while it receives
as much. ``lost`` is the time from a SIGKILL of one rank, in the middle of steps, until the last of
the others has raised. Medians; of steps also the 99th percentile. More ranks than processors take
turns, so their figures say little of a cluster.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import secrets
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from dask_graphgpu.errors import RankLost
from dask_graphgpu.exchange.local import run_local
from dask_graphgpu.exchange.mesh import Listener, Mesh
from dask_graphgpu.exchange.ranks import Ranks

SPAWN = multiprocessing.get_context("spawn")  # as Dask starts its workers
REPEATS = 9


def seconds(function: Callable[[], Any], number: int) -> np.ndarray:
    """Of each of so many calls, after a tenth of them that does not count."""
    times = np.empty(number + number // 10 + 2)
    for i in range(len(times)):
        start = time.perf_counter()
        function()
        times[i] = time.perf_counter() - start
    return times[-number:]


def measure(ranks: Ranks, steps: int, megabytes: int) -> tuple[float, float, float]:
    """Median and 99th percentile of a step in microseconds, GB/s of an all-to-all."""
    small, scalars = np.zeros(512, np.uint8), np.array([1, 2])
    taken = seconds(lambda: ranks.step([small] * ranks.size, scalars), steps)
    nbytes = 10**6 * megabytes // (ranks.size - 1)
    large = np.ones(nbytes, np.uint8)
    send = [large[: 0 if j == ranks.rank else None] for j in range(ranks.size)]
    whole = np.median(seconds(lambda: ranks.all_to_all(send), REPEATS))
    gigabytes = nbytes * (ranks.size - 1) / 1e9
    return 1e6 * np.median(taken), 1e6 * np.percentile(taken, 99), gigabytes / whole


def step_until_lost(ranks: Ranks) -> float:
    """When this rank has seen that another is gone."""
    with suppress(RankLost):
        while True:
            ranks.barrier()
    return time.monotonic()


def member(pipe: Connection, rank: int, token: bytes, shared: bool, sizes: tuple[int, int]) -> None:
    """What each process does; those that are left tell when they have seen the loss of one."""
    listener = Listener("127.0.0.1")
    pipe.send(listener.address)
    mesh = Mesh(listener, rank, pipe.recv(), token, shared_memory=shared)
    pipe.send(measure(mesh, *sizes))
    pipe.send(step_until_lost(mesh))


def between_processes(size: int, shared: bool, sizes: tuple[int, int]) -> list[float]:
    """The figures of a row."""
    token, pipes, processes = secrets.token_bytes(32), [], []
    for rank in range(size):
        here, there = SPAWN.Pipe()
        arguments = there, rank, token, shared, sizes
        processes.append(SPAWN.Process(target=member, args=arguments, daemon=True))
        processes[-1].start()
        pipes.append(here)
    table = [pipe.recv() for pipe in pipes]
    for pipe in pipes:
        pipe.send(table)
    figures, *_ = [pipe.recv() for pipe in pipes]
    time.sleep(0.2)
    killed = time.monotonic()
    os.kill(processes[-1].pid or 0, signal.SIGKILL)
    seen = max(pipe.recv() for pipe in pipes[:-1])
    for process in processes:
        process.join()
    return [*figures, 1e3 * (seen - killed)]


def between_threads(size: int, sizes: tuple[int, int]) -> list[float]:
    """The figures of a row; no thread can be killed."""
    return [*run_local(size, lambda ranks: measure(ranks, *sizes))[0], float("nan")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="*", default=[2, 3, 4])
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--megabytes", type=int, default=100)
    options = parser.parse_args()
    sizes = options.steps, options.megabytes
    head = ["ranks", "step us", "99 % us", "all-to-all GB/s", "lost ms"]
    print("| " + " | ".join(head) + " |")
    print("| --- " * len(head) + "|")
    for size in options.ranks:
        for name, figures in (
            ("processes", lambda size: between_processes(size, True, sizes)),
            ("processes, sockets only", lambda size: between_processes(size, False, sizes)),
            ("threads", lambda size: between_threads(size, sizes)),
        ):
            median, most, rate, lost = figures(size)
            cells = [f"{size} {name}", f"{median:.0f}", f"{most:.0f}", f"{rate:.2f}"]
            cells.append("" if np.isnan(lost) else f"{lost:.1f}")
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
