"""How a GPU is to find active vertices, share them out and fuse kernels, where a user forces it.

References
----------
.. [1] Liu, Huang. SIMD-X: programming and processing of graph algorithms on GPUs. USENIX ATC 2019.
"""

from __future__ import annotations

from dask_graphgpu import config
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.program import VertexProgram

FILTERS = ("auto", "batch", "strided", "online", "ballot", "jit", "atomic")
FUSIONS = ("auto", "none", "selective", "all")
COMBINES = ("auto", "atomic")
GATHERS = ("auto", "rows", "blocks", "shards")
ALLOCATIONS = ("just-enough", "fixed", "maximum", "fused")
REPLICATIONS = (1, 2, 4, 8, 16, 32)

# Longer than any row that is in one list.
_NEVER = 2**32 - 1

# Slots of a bin, at most: a thread meets few more vertices in a superstep.
_MOST_SLOTS = 1 << 12


def configured_filter() -> str:
    """``graphgpu.filter`` of Dask's configuration; InvalidArgument if there is no such one."""
    return config.word("filter", FILTERS)


def configured_fusion() -> str:
    """``graphgpu.fusion``; InvalidArgument if there is no such one."""
    return config.word("fusion", FUSIONS)


def configured_combine() -> str:
    """``graphgpu.combine``, how messages are put together; InvalidArgument if there is no such."""
    return config.word("combine", COMBINES)


def configured_gather() -> str:
    """``graphgpu.gather``, how sums are pulled; InvalidArgument if there is no such way."""
    return config.word("gather", GATHERS)


def configured_allocation() -> str:
    """``graphgpu.allocation``, of lists of edges; InvalidArgument if there is no such way."""
    return config.word("allocation", ALLOCATIONS)


def configured_tail() -> float | None:
    """``graphgpu.tail``, a part of a value; None: nothing waits. InvalidArgument outside [0, 1)."""
    given = config.get("tail")
    if given is None:
        return None
    number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not number or not 0 <= given < 1:
        raise InvalidArgument(
            f"graphgpu.tail is {given!r}: give None, or the part of a value, as 1e-9, of which a "
            "change is not sent."
        )
    return float(given)


def configured_replication() -> int | None:
    """``graphgpu.replication``, copies of a shard's sums; None: by the shard's degrees."""
    given = config.get("replication")
    if given == "auto":
        return None
    if not _whole(given) or given not in REPLICATIONS:
        allowed = ", ".join(map(str, REPLICATIONS))
        raise InvalidArgument(
            f"graphgpu.replication is {given!r}: give 'auto' or one of {allowed}."
        )
    return int(given)


def configured_bins() -> int:
    """``graphgpu.filter-bins``, the slots of a thread's bin."""
    slots = config.get("filter-bins")
    if not _whole(slots) or not 1 <= slots <= _MOST_SLOTS:
        raise InvalidArgument(f"graphgpu.filter-bins is {slots!r}: give 1 to {_MOST_SLOTS}.")
    return int(slots)


def configured_separators(auto: tuple[int, int]) -> tuple[int, int]:
    """Edges from which a row is a warp's, and blocks'; ``auto`` where nothing else is asked for."""
    given = config.get("worklists")
    if given == "auto":
        return auto
    if given is None or given is False or given == "off":
        return _NEVER, _NEVER
    pair = tuple(given) if isinstance(given, (list, tuple)) else ()
    if len(pair) != 2 or not all(map(_whole, pair)) or not 1 <= pair[0] <= pair[1] < _NEVER:
        raise InvalidArgument(
            f"graphgpu.worklists is {given!r}: give 'auto', 'off' or two rising lengths of rows, "
            "as [32, 128]."
        )
    return int(pair[0]), int(pair[1])


def is_forced() -> bool:
    """Whether something is asked for that only runs in supersteps have."""
    ways = (configured_filter, configured_fusion, configured_combine)
    forced = any(configured() != "auto" for configured in ways)
    return forced or configured_gather() in ("blocks", "shards") or configured_tail() is not None


def macros() -> dict[str, str]:
    """What kernels of supersteps are compiled with for the ways that are asked for."""
    asked = {
        "FILTERED": configured_filter() != "auto",
        "ATOMIC": configured_combine() == "atomic",
        "SHARDS": configured_gather() == "shards",
        "TAIL": configured_tail() is not None,
    }
    return {name: str(int(value)) for name, value in asked.items()}


def needs_all_vertices(program: VertexProgram) -> str | None:
    """Why a superstep has to look at every vertex; None if those that got a message will do."""
    if program.combine == "sum":
        return "combine='sum' gives a vertex without a message the value 0"
    for role in ("apply", "active", "aggregates"):
        if getattr(program, role):
            return f"{role}= is asked of every vertex"
    return None


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
