"""What a run of a vertex program over pages may be asked, and the memory that it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dask_graphgpu.engine.options import configured_direction
from dask_graphgpu.errors import EngineUnavailable
from dask_graphgpu.partition.paged.rows import PagedRows

if TYPE_CHECKING:
    from dask_graphgpu.engine.options import RunOptions
    from dask_graphgpu.engine.state import Binding


def check(options: RunOptions) -> None:
    """Raise EngineUnavailable on ``cutoff``, and on ``graphgpu.direction`` "push"."""
    if options.cutoff is not None:
        raise EngineUnavailable(
            "cutoff= is of runs in place, and the edges of this graph lie in pages on disk, where "
            "programs run in supersteps: leave it out, or raise graphgpu.host-memory-limit"
        )
    if configured_direction() == "push":
        raise EngineUnavailable(
            "graphgpu.direction is 'push', and the edges of this graph lie in pages on disk, which "
            "are pulled: use 'auto', 'pull' or 'notify-pull', or raise graphgpu.host-memory-limit"
        )


def check_memory(binding: Binding, *, keeps: bool) -> None:
    """Raise LimitTooSmall where the values of vertices alone are more than is allowed."""
    rows = binding.view.rows
    assert isinstance(rows, PagedRows)
    needed = bytes_of_vertices(binding, keeps=keeps)
    needed += rows.limits.window_bytes(1 + len(binding.edges.columns))
    rows.limits.require(needed, f"the program on {binding.view.num_vertices:,} vertices")


def bytes_of_vertices(binding: Binding, *, keeps: bool = False) -> int:
    """What a run takes beside pages; ``keeps``: with checkpoints."""
    state = sum(dtype.itemsize for dtype in binding.dtypes.values())
    state += sum(binding.dtypes[name].itemsize for name in binding.program.changing)
    # Messages, what is sent, marks, degrees, offsets and counts of the rows.
    vertex = state + 2 * binding.message.itemsize + 4 + 3 * 8
    if keeps:  # what the rows have got in the middle of a superstep, and whether it is all
        vertex += binding.message.itemsize + 8 + 1
    return binding.view.num_vertices * vertex
