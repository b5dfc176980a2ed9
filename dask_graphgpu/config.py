"""Settings, read from Dask's configuration under ``graphgpu``."""

from __future__ import annotations

from typing import Any

import dask

DEFAULTS: dict[str, Any] = {
    "engine": "auto",  # of graphs made with engine="auto": auto | cpu | gpu | interpreted
    "order": "auto",  # of graphs made with order="auto": auto | input | degree
    "direction": "auto",  # auto | push | pull | notify-pull
    # Of vertex programs in supersteps on a GPU, and of BFS, to measure them; "auto" is the fastest.
    "filter": "auto",  # how the next active vertices are found: auto | batch | strided | online | ballot | jit
    "filter-bins": 64,  # vertices that a thread records with online and jit before its bin overflows
    "fusion": "auto",  # of supersteps' kernels: auto | none | selective | all
    "worklists": "auto",  # edges from which a row is a warp's, and blocks': auto | [32, 128] | off
    "threads": None,  # threads of the CPU engine; None: what this process may use
    "dense-id-bits": None,  # 32 | 64; None: 32 while the ids fit
    "cache-directory": None,  # compiled code; None: the user's cache folder
}

dask.config.update_defaults({"graphgpu": DEFAULTS})


def get(name: str) -> Any:
    """The value of ``graphgpu.<name>`` as Dask's configuration has it now."""
    return dask.config.get(f"graphgpu.{name}", default=DEFAULTS[name])


def chosen(name: str, value: str) -> str:
    """An argument, or where that is "auto" the setting of the same name."""
    return str(get(name)) if value == "auto" else value
