"""Monotone programs in near-far order over edges in host memory: kernels read rows where they lie.

One launch for the whole run, as of `engine.gpu.near_far`: what deep graphs need, whose thousands of frontiers have few
edges each.

References
----------
.. [1] Min et al. EMOGI: efficient memory-access for out-of-memory graph-traversal in GPUs. VLDB 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from dask_graphgpu.engine.gpu import near_far
from dask_graphgpu.engine.gpu.checkpoints import Beginning
from dask_graphgpu.engine.gpu.copies import address
from dask_graphgpu.engine.limits import Cut
from dask_graphgpu.engine.link_rates import LINE
from dask_graphgpu.engine.plan import Plan
from dask_graphgpu.engine.state import Binding, State
from dask_graphgpu.engine.tiered.arrays import TieredArrays
from dask_graphgpu.engine.tiered.packed import bytes_of_edge, num_arrays
from dask_graphgpu.engine.tiered.transfer import Moved, tell

# How often a row is read in near-far order, about; and of the edges beyond the device how many
# cross in rounds that begin with the resident ones, where these are the hubs'.
_READ, _CROSSED = 1.3, 1.2

# Buckets are made wider in rounds of fewer edges than this, if the rows on the device are not the hubs'. It is less
# than for edges in device memory: an edge that is relaxed too early costs time of the link. If they are the hubs', half
# of the edges do not cross the link, rounds take the time, and the bound is that of device memory.
STARVED = 1 << 13

# Bytes that could cross the link while such rounds look at the host and start kernels: 5 ms.
_ROUNDS = 256 << 20

# Edges of a resident row over those of any row, from which they are called hubs'.
_HUBS = 8


def pays(binding: Binding, cut: Cut) -> bool:
    """Whether fewer bytes are read in near-far order than cross in rounds: those count their looks.

    It follows from the graph and what fits the device, so that a run that goes on from a checkpoint
    is of the same kind. Without hubs on the device nothing bounds how many rounds there are.
    """
    rows, rest, first = binding.send, cut.num_edges - cut.resident, _first_beyond(binding, cut)
    if not _has_hubs(binding, cut):
        return True
    edge = bytes_of_edge(binding)
    lines = min(rest, rows.num_vertices - first) * num_arrays(binding) * LINE // 2
    return _READ * (rest * edge + lines) < _CROSSED * rest * edge + _ROUNDS


def _first_beyond(binding: Binding, cut: Cut) -> int:
    """The first row that is not on the device as a whole."""
    return int(np.searchsorted(binding.send.offsets, cut.resident, side="right")) - 1


def _has_hubs(binding: Binding, cut: Cut) -> bool:
    """Whether the rows on the device are much longer than any."""
    rows, first = cut.resident * binding.send.num_vertices, max(_first_beyond(binding, cut), 1)
    return rows >= _HUBS * cut.num_edges * first


def prepared(how: Plan) -> Callable[[Cut], State]:
    """What runs a program with its edges where a cut says; as `engine.gpu.near_far`."""
    options = how.options
    beginning = Beginning(options.keeper, True, options.cutoff)

    def attempt(cut: Cut) -> State:
        arrays = TieredArrays(how.binding, how.starts, cut.without_buffers())
        first = beginning.places(arrays, how.starts)
        return arrays.result(near_far.improved(arrays, first, how.ends, options, TieredNearFar))

    return attempt


class TieredNearFar(near_far.NearFar):
    """`NearFar` over edges of which the first are on the device, and all in pinned host memory."""

    arrays: TieredArrays
    _read = 0  # bytes of host memory, as told so far

    def __init__(self, arrays: TieredArrays, *given: Any, **named: Any) -> None:
        super().__init__(arrays, *given, **named)
        tier, lists, run = arrays.tier, self._lists, self._run
        lists["resident"] = tier.cut.resident
        lists["neighbours_there"] = address(tier.on_host()["neighbours"])
        lists["there"] = self._along(run, tier.on_host())
        self._run = self._along(run, tier.on_device())

    def advance(self, rounds: int, edges: int, *, frontier: int, seconds: float) -> int:
        """As of `NearFar`, and what was read of host memory."""
        done = super().advance(rounds, edges, frontier=frontier, seconds=seconds)
        tier, found = self.arrays.tier, int(self.control["there"][0])
        if tier.cut.resident < tier.num_edges:
            size = found * tier.bytes_of_edge - self._read
            self._read += size
            tell({"zero-copy": Moved(parts=1, supersteps=done, bytes=size)}, self.report)
        return done

    @property
    def _starved(self) -> int:
        arrays = self.arrays
        return near_far.STARVED if _has_hubs(arrays.binding, arrays.tier.cut) else STARVED

    def _layout(self, lists: np.dtype[Any]) -> np.dtype[Any]:
        return _layout(lists, self.arrays.lowered.glue.layout)

    def _neighbours(self) -> Any:
        return self.arrays.tier.resident["neighbours"]

    def _most_items(self, num_edges: int) -> int:
        """Pieces of long rows, counted once for the rows of the view."""
        rows = self.arrays.binding.send

        def counted() -> int:
            lengths = np.diff(rows.offsets)
            return int((-(-lengths[lengths >= near_far.PIECE] // near_far.PIECE)).sum())

        return self.arrays.edge_view.made(("pieces of rows", id(rows.offsets)), counted) + 1

    def _along(self, run: Any, begins: Mapping[str, int]) -> Any:
        """Struct Run with the columns of edges that begin there."""
        made = run.copy()
        for member in self.arrays.lowered.glue.members:
            if member.of == "column":
                made[member.name] = address(begins[member.what])
        return made


@lru_cache(maxsize=64)
def _layout(lists: np.dtype[Any], run: np.dtype[Any]) -> np.dtype[Any]:
    """Struct Lists with where the other edges are; it takes as long to make as a few launches."""
    there = [(name, "u8") for name in ("resident", "neighbours_there")]
    return np.dtype([*lists.descr, *there, ("there", run)])
