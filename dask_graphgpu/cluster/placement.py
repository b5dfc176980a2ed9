"""How many ranks a graph is spread over: as asked for, or as many as its size calls for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import distributed
import numpy as np
import pandas as pd
from dask.base import is_dask_collection

from dask_graphgpu import config
from dask_graphgpu.arguments import is_whole, refuse
from dask_graphgpu.cluster.tasks import Spread
from dask_graphgpu.errors import EngineUnavailable, InvalidArgument
from dask_graphgpu.io import parquet

# Building takes at most about this many times the bytes of the columns that are read.
_NEED = 3
_THREADS = 256  # ranks of one process, at most: more than anybody has cores for
_TEXT = 24  # bytes taken for a string, of which footers say only how it is encoded


def check_ranks(ranks: Any) -> int | str:
    """The argument ``ranks``, or where that is "auto" the setting.

    Raises
    ------
    InvalidArgument
    """
    name, given = "ranks", ranks
    if isinstance(ranks, str) and ranks == "auto":
        name, given = "graphgpu.ranks", config.get("ranks")
    if isinstance(given, str) and given == "auto":
        return given
    if not (is_whole(given) and given >= 1):
        refuse(name, given, "are 'auto' and whole numbers from 1")
    return int(given)


def check_partitioner(partitioner: Any) -> Any:
    """The argument ``partitioner``, or where that is "auto" the setting.

    Raises
    ------
    InvalidArgument
    """
    if isinstance(partitioner, str) and partitioner == "auto":
        partitioner = config.get("partitioner")
    if not (isinstance(partitioner, str) and partitioner == "balanced"):
        from dask_graphgpu.partition.ranks.owner import chosen

        chosen(partitioner)
    return partitioner


def choose(
    ranks: int | str, edges: Callable[[], Any], engine: str, *, asked: bool
) -> Spread | None:
    """How a graph is spread over ranks; None: it is on one, without any of this.

    "auto" is one rank where the graph fits a worker, or where nobody can tell: the estimate for a
    bare Parquet frame of Dask is compared to half of the memory of a worker. Else it is all workers.
    With a GPU it is one: where several are faster has not been measured.

    Parameters
    ----------
    edges : function
        Gives the frame of edges, with the columns that will be read.
    asked : bool
        Whether the number is an argument, and not a setting.

    Raises
    ------
    EngineUnavailable
        A number of ranks is asked for, and the engine runs on one only.
    InvalidArgument
        More ranks than threads of this process may be, and no cluster.
    """
    if engine in ("hybrid", "interpreted"):
        if asked and ranks not in ("auto", 1):
            raise EngineUnavailable(
                f"ranks={ranks}: the engine {engine!r} runs on one rank; use ranks=1"
            )
        return None
    if ranks == 1 or (ranks == "auto" and engine == "gpu"):
        return None
    timeouts = config.get("start-timeout"), config.get("idle-timeout")
    if isinstance(ranks, int):
        if ranks > _THREADS and not _workers():
            raise InvalidArgument(
                f"ranks={ranks}, and without a cluster they are threads of this process: allowed are up "
                f"to {_THREADS}; give fewer, or make a distributed.Client"
            )
        return Spread(ranks, "as asked for", *timeouts)
    reason = too_large(edges)
    return None if reason is None else Spread(None, reason, *timeouts)


def too_large(edges: Callable[[], Any]) -> str | None:
    """Why the edges of a frame are better spread over all workers; None: they are not."""
    limits = _memory_limits()
    if len(limits) < 2:
        return None
    frame = edges()
    found = parquet.pieces(frame) if is_dask_collection(frame) else None
    if found is None:
        return None
    need = _NEED * parquet.num_rows(found) * _row_bytes(frame._meta)
    half = min(limits) // 2
    if need <= half:
        return None
    return f"it needs about {need:,} bytes, and half of a worker's memory is {half:,}"


def num_workers() -> int:
    """Workers of the active cluster; 1 without one."""
    return len(_workers()) or 1


def _memory_limits() -> list[int]:
    """Bytes that each worker may use; of those with a limit only."""
    return [int(each["memory_limit"]) for each in _workers() if each["memory_limit"]]


def _workers() -> list[dict[str, Any]]:
    """What the scheduler of the active client knows of its workers."""
    try:
        client = distributed.get_client()
    except ValueError:
        return []
    if client.status != "running" or client.asynchronous:
        return []
    assert client.scheduler is not None  # of one that runs
    # Not by `Client.scheduler_info`: what that returns may be from a look without workers, which the client takes
    # every two seconds.
    return list(client.sync(client.scheduler.identity, n_workers=-1)["workers"].values())


def _row_bytes(meta: pd.DataFrame) -> int:
    """Bytes of a row as Arrow has it."""
    kinds = [getattr(dtype, "numpy_dtype", dtype) for dtype in meta.dtypes]  # Arrow's, masked ones
    numbers = [kind for kind in kinds if isinstance(kind, np.dtype) and kind.kind != "O"]
    return sum(kind.itemsize for kind in numbers) + _TEXT * (len(kinds) - len(numbers))
