"""What is begun on a cluster or waited for, also where the client is one of coroutines."""

from __future__ import annotations

from typing import Any

import dask
from dask.base import persist, tokenize
from distributed import Client

from dask_graphgpu.cluster import watch
from dask_graphgpu.cluster.silence import attend_from_client
from dask_graphgpu.errors import EngineUnavailable, RankLost


def begun(made: Any) -> Any:
    """A Delayed that is being computed, and kept."""
    attend_from_client()
    client = _asynchronous_client()
    return persist(made)[0] if client is None else client.persist(made)


def check_may_wait(what: str) -> None:
    """Raise EngineUnavailable where the client is asynchronous: its loop would stand still meanwhile."""
    if _asynchronous_client() is not None:
        raise EngineUnavailable(
            f"{what} waits for the cluster, and the active Client is asynchronous: use a Client without "
            "asynchronous=True for it. Methods and persist() do not wait, as in "
            "await client.compute(graph.pagerank())"
        )


def waited_for(made: Any, what: str) -> Any:
    """The value of a Delayed; as `check_may_wait`."""
    check_may_wait(what)
    return made.compute()


def other_key(key: str) -> str | None:
    """The key of a run that is asked for where results are held that have lost a worker; else None.

    Dask gives the error of a key as long as anybody holds it, as the traceback of that error does: who
    asks again asks for another key.
    """
    lost = _losses_held()
    if not lost:
        return None
    name, _, token = key.rpartition("-")
    other = f"{name}-{tokenize(token, lost)}"
    watch.expect(other)
    return other


def _losses_held() -> list[str]:
    """Results that have lost a worker and are still held."""
    try:
        client = Client.current()
    except ValueError:  # there is none
        return []
    return sorted(
        str(key)
        for key, state in list(client.futures.items())
        if state.status == "error" and isinstance(state.exception, RankLost)
    )


def _asynchronous_client() -> Client | None:
    """The client of this process, if it is one of coroutines and what computes."""
    if dask.config.get("scheduler", None) not in (None, "dask.distributed", "distributed"):
        return None
    try:
        client = Client.current()
    except ValueError:  # there is none
        return None
    return client if client.asynchronous else None
