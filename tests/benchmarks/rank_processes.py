"""Ranks that are processes of this machine with a GPU each, connected as workers of a cluster are."""

from __future__ import annotations

import multiprocessing
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dask_graphgpu.exchange.mesh import Listener, Mesh

_PATIENCE = 60.0  # seconds for processes to come together
_ENDED = 5.0  # the same to end


def run_processes(size: int, function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """What ``function(ranks, *arguments)`` returns on each of ``size`` ranks.

    A rank is a process whose first visible GPU is that of its number, as a worker of
    `LocalCUDACluster`, and the ranks are a `Mesh`. The function is one of a module.

    Raises
    ------
    RuntimeError
        A rank has raised, or ended before it returned; all others are ended then.
    """
    context = multiprocessing.get_context("spawn")  # a forked process has no use of a GPU
    token, members = secrets.token_bytes(32), []
    try:
        for rank in range(size):
            here, there = context.Pipe()
            given = there, rank, token, function, arguments
            process = context.Process(target=_member, args=given, daemon=True)
            with _gpu_first(rank, size):
                process.start()
            there.close()
            members.append((process, here))
        table = [_heard(rank, pipe) for rank, (_, pipe) in enumerate(members)]
        for _, pipe in members:
            pipe.send(table)
        return [_heard(rank, pipe) for rank, (_, pipe) in enumerate(members)]
    finally:
        for process, pipe in members:
            pipe.close()
            process.join(_ENDED)
            if process.is_alive():
                process.kill()


@contextmanager
def _gpu_first(rank: int, size: int) -> Iterator[None]:
    """Processes that are started meanwhile have this rank's GPU as their first."""
    name = "CUDA_VISIBLE_DEVICES"
    given = os.environ.get(name)
    seen = given.split(",") if given else [str(i) for i in range(size)]
    os.environ[name] = ",".join([*seen[rank:], *seen[:rank]])
    try:
        yield
    finally:
        if given is None:
            del os.environ[name]
        else:
            os.environ[name] = given


def _member(pipe: Any, rank: int, token: bytes, function: Callable[..., Any], given: Any) -> None:
    listener = Listener("127.0.0.1")
    pipe.send((listener.address, None))
    table = pipe.recv()
    try:
        with Mesh(listener, rank, table, token, timeout=_PATIENCE) as ranks:
            found = function(ranks, *given)
    except BaseException as error:
        pipe.send((None, f"{type(error).__name__}: {error}"))
        raise
    pipe.send((found, None))


def _heard(rank: int, pipe: Any) -> Any:
    try:
        value, error = pipe.recv()
    except EOFError:
        error = "its process has ended"
    if error is not None:
        raise RuntimeError(f"rank {rank}: {error}")
    return value
