"""The engines: modules with the same functions, chosen by name when a run starts.

It may import `config`, `errors`, `exchange`, `fields`, `functions`, `interrupting`, `kernels`, `partition`, `program`,
`report` of the package.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from dask_graphgpu.engine import driver, limits
from dask_graphgpu.errors import EngineUnavailable
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.kernels.compiled import times_compiled as times_compiled
from dask_graphgpu.kernels.cpu.threads import sharing_cpus
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.view import View

_ENGINES = {
    "cpu": "dask_graphgpu.engine.cpu",
    "gpu": "dask_graphgpu.engine.gpu",
    "hybrid": "dask_graphgpu.engine.hybrid",
    "interpreted": "dask_graphgpu.engine.interpret",
}

NAMES = ("auto", *_ENGINES)


def check(name: str) -> None:
    """Raise EngineUnavailable unless this machine can run the engine, one of `NAMES`."""
    if name in ("gpu", "hybrid") and (lacking := driver.missing()):
        raise EngineUnavailable(f"engine={name!r}: {lacking}; or use engine='cpu'")


def of_frames(name: str, *, on_device: bool) -> str:
    """The engine of a graph whose frames are, or are not, in the memory of a GPU.

    Raises
    ------
    EngineUnavailable
        An engine of the host for frames on the device, which are not moved unasked.
    """
    if not on_device or name == "gpu":
        return name
    if name == "auto":
        return "gpu"
    raise EngineUnavailable(
        f"engine={name!r} works in host memory, and the graph's frames are cuDF's: use engine='gpu', "
        "or convert them with .to_pandas(), Dask's with .to_backend('pandas')"
    )


def load_on_ranks(name: str) -> ModuleType:
    """The module of an engine that works on one of several ranks, which has been checked.

    Raises
    ------
    EngineUnavailable
        This rank has no GPU that the engine can use.
    """
    check(name)
    of_ranks = "device_ranks" if name == "gpu" else "ranks"
    return importlib.import_module(f"dask_graphgpu.engine.{of_ranks}")


@contextmanager
def all_cpus(ranks: Ranks) -> Iterator[None]:
    """Have what this thread calls use all CPUs of its host, which ranks there share. Collective.

    Of ranks with GPUs: a worker that drives one has one thread, and what has no kernels runs on the host.
    """
    with sharing_cpus(ranks.nearby().host):
        yield


def check_layout(name: str, on_device: bool, *, layered: bool, ranks: int = 1) -> None:
    """Raise EngineUnavailable where an engine does not run on edges by layers, on so many ranks."""
    if layered and (on_device or name not in ("auto", "cpu", "gpu")):
        raise EngineUnavailable(
            "layout='layered' is of graphs in host memory on the engines 'cpu' and 'gpu', and this one "
            f"has {'frames on the GPU' if on_device else f'engine={name!r}'}: use layout='rows', or "
            "one of those"
        )
    if layered and name == "gpu" and ranks > 1:
        raise EngineUnavailable(
            "layout='layered' does not run on several ranks with engine='gpu': use layout='rows', "
            "ranks=1 or engine='cpu'"
        )


def check_paged(name: str) -> None:
    """Raise EngineUnavailable unless an engine runs on a graph whose edges lie on disk."""
    if name not in ("auto", "cpu", "gpu", "hybrid"):
        raise EngineUnavailable(
            f"engine={name!r} works in memory, and the graph needs more than graphgpu.host-memory-limit: "
            "use engine='cpu', 'gpu' or 'hybrid', or raise the limit"
        )


def load_paged(name: str) -> ModuleType:
    """The module of an engine that runs on a graph whose edges lie on disk."""
    module = {"gpu": "tiered.on_disk", "hybrid": "hybrid.on_disk"}.get(name, "paged")
    return importlib.import_module(f"dask_graphgpu.engine.{module}")


def beyond_device(name: str, view: View) -> bool:
    """Whether a graph takes more of the GPU's memory than it may: see `load_tiered`."""
    return name == "gpu" and limits.exceeds(view)


def word_bytes(num_vertices: int, rows: Adjacency) -> int | None:
    """Bytes of an edge with all that it carries where it is one word on its way to a GPU; None: it is not."""
    packing = importlib.import_module("dask_graphgpu.engine.cuda.packing")
    found: int | None = packing.word_bytes(num_vertices, rows)
    return found


def on_device_alone(view: View) -> bool:
    """Whether there is nothing for the CPU to do: all edges fit the GPU, and nothing is forced."""
    return limits.configured_dispatch() == "auto" and not beyond_device("gpu", view)


def load_tiered() -> ModuleType:
    """The module of the GPU engine for a graph whose edges are not all on the device."""
    return importlib.import_module("dask_graphgpu.engine.tiered")


def load(name: str) -> ModuleType:
    """The module of an engine; "auto" is the fastest that can run here."""
    return importlib.import_module(_ENGINES.get(name, _ENGINES["cpu"]))
