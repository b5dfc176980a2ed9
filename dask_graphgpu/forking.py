"""A forked child has none of its parent's threads: what of Dask counts on them is made anew there.

Else a Dask frame is waited for without end: its tasks go to threads of the parent, or to the cluster by a
client whose loop does not run.
"""

from __future__ import annotations

import os
import threading

import dask
from dask import threaded
from distributed import client


def _forget() -> None:
    threaded.default_pool = None
    threaded.pools.clear()
    threaded.pools_lock = threading.Lock()
    client._global_clients.clear()
    client._current_client.set(None)
    if dask.config.get("scheduler", None) in ("dask.distributed", "distributed"):
        dask.config.set(scheduler=None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
