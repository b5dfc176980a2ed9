"""What settings ask of supersteps on the GPU, and whether a program allows it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dask_graphgpu.engine.options import configured_direction
from dask_graphgpu.engine.schedule import (
    configured_allocation,
    configured_combine,
    configured_filter,
    configured_fusion,
    configured_gather,
    configured_tail,
    needs_all_vertices,
)
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.errors import InvalidArgument

_MANY_EDGES, _MOST_EDGES, _MOST_VERTICES = 1 << 26, 1 << 31, 1 << 28


def every_sends(binding: Binding, sources: np.ndarray | None) -> bool:
    """Whether all vertices send in every superstep, and those that get it pull."""
    program = binding.program
    always = program.combine == "sum" and program.active is None and not program.has_reached
    return always and sources is None and forced(binding) in ("auto", "pull")


def forced(binding: Binding) -> str:
    """The direction that was asked for, if the program allows it."""
    forced = configured_direction()
    return "auto" if forced == "push" and binding.shadowed("sum") else forced


def directions(binding: Binding, every: bool) -> tuple[str, str]:
    """While active vertices send over more than half of the edges, and while over fewer."""
    given = forced(binding)
    if every:
        return "pull", "pull"
    if given != "auto":
        return given, given
    if binding.program.combine == "sum":
        # The edges are turned over when it turns out that few vertices are active: see `Synchronous`.
        sends = binding.has_send or configured_filter() != "auto"
        rows = configured_gather() != "shards"  # a shard has no part that is marked
        return "pull", "notify-pull" if sends and rows else "pull"
    return "pull" if binding.has_gather else "push", "push"


def blocks_pay(binding: Binding) -> bool:
    """Whether sums by blocks of sources are faster than by rows.

    They are where what rows look up is far apart: not in an order of ids that keeps neighbours
    together, nor where most of it is in a cache. Of values of 8 bytes half as many are in a block.
    """
    view = binding.view
    many = _MANY_EDGES <= view.num_edges <= _MOST_EDGES and view.num_vertices <= _MOST_VERTICES
    return binding.message.itemsize <= 4 and view.by_degree and many


@dataclass(frozen=True)
class Asked:
    """The ways of a run in supersteps.

    Attributes
    ----------
    directions : tuple of str
        While active vertices send over more than half of the edges, and while over fewer.
    every : bool
        Whether all vertices send in every superstep.
    stops_on_device : bool
        Whether the device knows when to stop.
    fuses : bool
        Whether kernels of several supersteps are fused where nothing is asked for.
    """

    binding: Binding
    directions: tuple[str, str]
    every: bool
    stops_on_device: bool
    fuses: bool

    def filter_and_fusion(self) -> tuple[str, str]:
        """The filter and the fusion that are asked for; InvalidArgument where they cannot be."""
        kind, fusion = configured_filter(), configured_fusion()
        if kind == "batch" and configured_allocation() == "fused":
            kind, fusion = "jit", "all"  # nothing is written between advance and filter
        if kind != "auto" and (reason := self._not_filtered(kind)):
            raise InvalidArgument(f"graphgpu.filter is {kind!r}, which cannot be used: {reason}.")
        if configured_combine() == "atomic" and self.binding.shadowed("sum"):
            raise InvalidArgument(
                "graphgpu.combine is 'atomic', which cannot be used: sums of integers are watched "
                "for overflow (wraps=True or a bound would say that there is none)."
            )
        if fusion in ("selective", "all") and not self.stops_on_device:
            raise InvalidArgument(
                f"graphgpu.fusion is {fusion!r}, which cannot be used: stop= is asked in Python, "
                "after every superstep (it divides, may leave 64 bits, or does not compile)."
            )
        return kind, self._fusion_unasked() if fusion == "auto" else fusion

    def _fusion_unasked(self) -> str:
        """Supersteps in which all send are as long as their kernels; others as their launches."""
        rows = configured_gather() != "shards"
        fuses = self.fuses and self.stops_on_device and not self.every and rows
        return "selective" if fuses else "none"

    def in_shards(self) -> bool:
        """Whether sums are pulled in shards; InvalidArgument where they cannot be."""
        if configured_gather() != "shards":
            return False
        reason = None
        if self.binding.program.combine != "sum":
            reason = f"shards add up, and combine is {self.binding.program.combine!r}"
        elif self.binding.shadowed("sum"):
            reason = "sums of integers are watched for overflow"
        elif self.directions != ("pull", "pull"):
            reason = f"supersteps do not all pull with graphgpu.direction {self.directions[0]!r}"
        elif self.filter_and_fusion()[1] in ("selective", "all") or configured_combine() != "auto":
            reason = "graphgpu.fusion and graphgpu.combine are of rows"
        elif self.binding.view.graph_vertices != self.binding.view.num_vertices:
            reason = "it is of one GPU, and the graph is on several"
        if reason is not None:
            raise InvalidArgument(f"graphgpu.gather is 'shards', which cannot be used: {reason}.")
        return True

    def in_blocks(self) -> bool:
        """Whether sums are pulled by blocks of sources; InvalidArgument where they cannot be."""
        gather, reason = configured_gather(), None
        if gather not in ("auto", "blocks"):
            return False
        if not self.every:
            reason = "not all vertices send in every superstep"
        elif not self.binding.source_only:
            reason = (
                "compute reads more than the source, so that every edge has a message of its own"
            )
        elif self.binding.shadowed("sum"):
            reason = "sums of integers are watched for overflow"
        elif self.filter_and_fusion()[1] in ("selective", "all") or configured_combine() != "auto":
            reason = "graphgpu.fusion and graphgpu.combine are of rows"
        elif configured_tail() is not None:
            reason = "with graphgpu.tail some supersteps push"
        if gather == "auto":
            return reason is None and blocks_pay(self.binding)
        if reason is not None:
            raise InvalidArgument(f"graphgpu.gather is 'blocks', which cannot be used: {reason}.")
        return True

    def tail(self) -> float | None:
        """The part of a value of which a change waits; None: all send. InvalidArgument."""
        tail, reason = configured_tail(), None
        if tail is None:
            return None
        if not self.every:
            reason = "not all vertices send in every superstep"
        elif self.binding.message.kind != "f" or not self.binding.source_only:
            reason = "it is for floats that a vertex sends along all its edges alike"
        elif self.in_shards() or configured_combine() != "auto":
            reason = "graphgpu.gather and graphgpu.combine leave no sums to add changes to"
        elif self.filter_and_fusion()[1] in ("selective", "all"):
            reason = "with graphgpu.fusion directions are not chosen by changes"
        elif self.binding.view.graph_vertices != self.binding.view.num_vertices:
            reason = "it is of one GPU, and the graph is on several"
        if reason is not None:
            raise InvalidArgument(f"graphgpu.tail is {tail!r}, which cannot be used: {reason}.")
        return tail

    def _not_filtered(self, kind: str) -> str | None:
        """Why a filter cannot be used; None if it can."""
        if self.every:
            return "all vertices send in every superstep, and nobody lists them"
        all_vertices = needs_all_vertices(self.binding.program)
        if all_vertices is None:
            lists = {"push"}
        else:
            lists = {"push", "notify-pull"}
            if kind == "batch":
                return f"it finds those that get a message, but {all_vertices}"
        if not lists & set(self.directions):
            return f"no superstep pushes with graphgpu.direction {self.directions[0]!r}"
        return None
