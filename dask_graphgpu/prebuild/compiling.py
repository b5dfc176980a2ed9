"""What a process does that compiles some of the usual kernels for an architecture."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from dask_graphgpu.kernels import cuda_build, prebuilt
from dask_graphgpu.prebuild.usual import usual


def take_for_device(arch: str) -> None:
    """Have Numba compile for this architecture what functions call, whichever GPU is here, or none."""
    device = SimpleNamespace(compute_capability=(int(arch[3:-1]), int(arch[-1])))
    dispatcher: Any = import_module("numba.cuda.dispatcher")
    dispatcher.get_current_device = lambda: device


def compiled(arch: str, shares: int, sources: Sequence[str], share: int) -> dict[str, bytes]:
    """One of some shares of the kernels of some sources, or of all, by the names that they have in the archive."""
    made = {}
    wanted = [asked for asked in usual() if not sources or asked.source in sources]
    for asked in wanted[share::shares]:
        whole = cuda_build.joined(asked.source, asked.defines, asked.text)
        name = prebuilt.name_of(cuda_build.texts(whole, asked.functions))
        made[name] = cuda_build.cubin(
            asked.source, arch, defines=asked.defines, text=asked.text, functions=asked.functions
        )
    return made
