"""Settings, read from Dask's configuration under ``graphgpu``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dask
from dask.utils import parse_bytes

from dask_graphgpu.arguments import check_choice, said
from dask_graphgpu.errors import InvalidArgument, guess

DEFAULTS: dict[str, Any] = {
    "engine": "auto",  # of graphs made with engine="auto": auto | cpu | gpu | hybrid | interpreted
    "order": "auto",  # of graphs made with order="auto": auto | input | degree
    "direction": "auto",  # auto | push | pull | notify-pull
    # Of vertex programs in supersteps on a GPU, and of BFS, to measure them; "auto" is the fastest.
    # How the next active vertices are found: auto | batch | strided | online | ballot | jit | atomic.
    "filter": "auto",
    "filter-bins": 64,  # vertices that a thread records with online and jit before its bin overflows
    # Of the list of edges that filter "batch" writes: just-enough | fixed | maximum | fused (none).
    "allocation": "just-enough",
    "combine": "auto",  # of messages to a vertex: auto (in registers where it can be) | atomic
    # Where all vertices send in all supersteps: changes of a smaller part of a value are not sent,
    # and few changes are pushed; None: everything is sent.
    "tail": None,
    "gather": "auto",  # of sums that are pulled: auto | rows | blocks (of sources) | shards
    "replication": "auto",  # copies of a shard's sums: auto (by its degrees) | 1 | 2 | 4 | 8 | 16 | 32
    "fusion": "auto",  # of supersteps' kernels: auto | none | selective | all
    "worklists": "auto",  # edges from which a row is a warp's, and blocks': auto | [32, 128] | off
    "threads": None,  # threads of the CPU engine; None: what this process may use
    # Bytes (a whole number, or text such as "4GB") or a fraction (0.5) of the machine's memory that a
    # graph may take on the CPU engine; edges that do not fit lie in pages on disk. None: no limit.
    "host-memory-limit": None,
    # The same of a GPU's memory on the GPU engine; edges that do not fit lie in pinned host memory.
    "device-memory-limit": None,
    # How they get to the GPU: auto (by measured rates) | stream | zero-copy | compact.
    "transfer": "auto",
    # How programs go over such edges:
    # synchronous: in supersteps
    # asynchronous: what is loaded, until nothing changes; monotone and accumulative programs only
    # resident-first: what is on the device until nothing changes there, then the rest once; monotone ones only
    # near-far: vertices in the order of their priority, each row read where it lies; monotone ones only
    # auto: monotone ones by that of the last two that reads fewer bytes, others in supersteps
    "rounds": "auto",
    # With engine="hybrid", who goes along pages of edges: auto (by measured rates) | gpu | cpu |
    # alternate (the two in turn) | supersteps (whole ones in turn).
    "dispatch": "auto",
    "spill-directories": None,  # folders for pages; None: one in Dask's temporary-directory
    "page-bytes": "2MiB",
    "dense-id-bits": None,  # 32 | 64; None: 32 while the ids fit
    # Of graphs by layers: layers with fewer edges are run together, on the CPU by one thread. None:
    # 524288; on a GPU as many as it holds threads.
    "layer-edges": None,
    # Times that a layer, or some that are run together, are gone over again at once, as long as vertices of
    # them have improved by then: WolfPath's repetition within a level.
    "layer-repeats": 0,
    # Of graphs made with ranks="auto" and partitioner="auto".
    "ranks": "auto",  # auto | a number: on workers of a cluster, else on threads of this process
    "partitioner": "balanced",  # balanced | random | biased_random | metis
    "idle-timeout": 60.0,  # seconds after which a rank that shows no sign of life is lost
    "start-timeout": 300.0,  # seconds that the ranks of a run have to come together on busy workers
    "cache-directory": None,  # compiled code; None: the user's cache folder
    # Whether on many ranks monotone programs run on each until nothing changes before values travel;
    # False: one round, as if each were a superstep.
    "local-convergence": True,
    # Whether on several GPUs most values travel while sums over the sources that are there already are
    # put together, on a second stream: of sums by blocks of sources in which a field is what is sent.
    "overlap": True,
    # Of errors that this package raises on purpose: short (where it was called) | full.
    "tracebacks": "short",
}

_ROOT = "graphgpu"
dask.config.update_defaults({_ROOT: DEFAULTS})


def check_names() -> None:
    """Raise InvalidArgument where Dask's configuration has a setting under ``graphgpu`` that there is not."""
    given = dask.config.get(_ROOT, default={})
    if not isinstance(given, dict):
        raise InvalidArgument(
            f"graphgpu is {said(given)} in Dask's configuration, and is a table of settings"
        )
    for name in given:
        if str(name).replace("_", "-") not in DEFAULTS:
            meant = guess(str(name), DEFAULTS) or f" There are {', '.join(DEFAULTS)}"
            raise InvalidArgument(f"graphgpu.{name} is set, and there is no such setting.{meant}")


def get(name: str) -> Any:
    """The value of ``graphgpu.<name>`` as Dask's configuration has it now."""
    return dask.config.get(f"graphgpu.{name}", default=DEFAULTS[name])


def word(name: str, allowed: Sequence[str]) -> str:
    """A setting that is one of some words; InvalidArgument if it is none of them."""
    given = get(name)
    if not (isinstance(given, str) and given in allowed):
        raise InvalidArgument(
            f"graphgpu.{name} is {said(given)}: allowed are {', '.join(allowed)}."
        )
    return str(given)


def settings() -> dict[str, Any]:
    """All settings, as they are now."""
    return {name: get(name) for name in DEFAULTS}


def num_bytes(name: str) -> int:
    """A setting in bytes, which is not None; InvalidArgument if it is not above 0."""
    given = get(name)
    try:
        if isinstance(given, bool) or not isinstance(given, (int, str)):
            raise ValueError
        found = int(parse_bytes(given))
        if found <= 0:
            raise ValueError
    except ValueError:
        raise InvalidArgument(
            f"graphgpu.{name} is {given!r}; give bytes as a whole number above 0 or as text such as "
            "'4GB'"
        ) from None
    return found


def memory(name: str, whole: Callable[[], int], whose: str) -> int | None:
    """A limit of memory in bytes; None: there is none. A fraction is one of ``whole()`` bytes."""
    given = get(name)
    if not isinstance(given, float):
        return None if given is None else num_bytes(name)
    if not 0 < given <= 1:
        raise InvalidArgument(
            f"graphgpu.{name} is {given!r}; allowed are a fraction above 0 and up to 1.0 of "
            f"{whose} memory, bytes as a whole number, or text such as '4GB'"
        )
    return int(given * whole())


def chosen(name: str, value: Any, allowed: Sequence[str]) -> str:
    """An argument, or where that is "auto" the setting of the same name; InvalidArgument if it is not allowed."""
    check_choice(name, value, allowed)
    return word(name, allowed) if value == "auto" else str(value)
