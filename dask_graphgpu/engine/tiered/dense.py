"""Supersteps over edges in host memory in which all vertices send, as of PageRank: all edges, as they lie.

What crosses the link is the same each time. So nobody lists who is active, the host waits for no such
list, and what of the next superstep can be on its way is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine import link_rates
from dask_graphgpu.engine.gpu.checkpoints import Beginning
from dask_graphgpu.engine.gpu.policies import Blind, OneByOne, Policy
from dask_graphgpu.engine.gpu.superstep import Superstep
from dask_graphgpu.engine.gpu.synchronous import Synchronous
from dask_graphgpu.engine.limits import Cut
from dask_graphgpu.engine.plan import Plan
from dask_graphgpu.engine.state import Binding, State
from dask_graphgpu.engine.tiered import link, packed
from dask_graphgpu.engine.tiered.arrays import TieredArrays
from dask_graphgpu.engine.tiered.disk import kinds_of
from dask_graphgpu.engine.tiered.packed import bits_in_order
from dask_graphgpu.engine.tiered.supersteps import PIECE, SegmentCarrier
from dask_graphgpu.engine.tiered.transfer import AtHand, Go, Moved


def prepared(how: Plan, way: str) -> Callable[[Cut], State]:
    """What runs a program in which all vertices send, with its edges, of `bytes_of_edge`, where a cut says.

    Parameters
    ----------
    way : str
        Of `limits.WAYS`; "compact" has nothing to leave out here, and is "stream".
    """
    binding, options = how.binding, how.options
    bits, edge = bits_in_order(binding), bytes_of_edge(binding)
    beginning = Beginning(options.keeper, False, None)

    def attempt(cut: Cut) -> State:
        chosen = way
        if way == "auto" and cut.resident < cut.num_edges:
            rates = link.rates(cupy.cuda.Device().id)
            link.mend(rates)
            chosen = _faster(cut, edge, rates)
        if chosen == "zero-copy":
            cut = cut.without_buffers()
        else:
            chosen = "stream"
        arrays = TieredArrays(binding, how.starts, cut, bits)
        beginning(arrays)
        _, kind = kinds_of(binding.send)
        superstep = Superstep(arrays, options.report, in_parts=True)
        transfer = kind(arrays.tier, chosen, arrays.edge_view.defines)
        engine = Synchronous(superstep, InOrder(superstep, transfer))
        return engine.run(options, beginning.keeping(engine))

    return attempt


def bytes_of_edge(binding: Binding) -> float:
    """What an edge takes here."""
    bits = bits_in_order(binding)
    return packed.bytes_of_edge(binding) if bits is None else bits / 8


def _faster(cut: Cut, edge: float, rates: link_rates.Rates) -> str:
    """Whether segments are streamed or read where they lie: that is one launch, and takes no buffers."""
    beyond = cut.num_edges - cut.without_buffers().resident
    streamed = link_rates.streams(np.diff(cut.bounds), edge, rates)
    return "zero-copy" if link_rates.reads_in_order(beyond, edge, rates) < streamed else "stream"


class _UpToTheLast(OneByOne):
    """As `OneByOne`, of supersteps that send edges ahead for the next one, unless they are the last."""

    carrier: InOrder

    def advance(self, done: int, limit: int | None) -> None:
        while True:
            done += 1
            self.carrier.follows = done != limit
            self.one()
            if self.is_done():
                return


class InOrder(SegmentCarrier):
    """Brings all edges in each superstep, along which all vertices send.

    Attributes
    ----------
    follows : bool
        Whether another superstep may come after this one.
    """

    follows = True

    def _lists(self) -> tuple[Any, ...]:
        return ()

    def policy(self) -> Policy:
        """Without looks, but where the host is asked `stop`, or copies edges."""
        if not self.superstep.stops_on_device:
            return OneByOne(self)
        return _UpToTheLast(self) if self._copies else Blind(self)

    @property
    def _copies(self) -> bool:
        """Whether edges are copied to the device in each superstep."""
        tier = self.arrays.tier
        return self.transfer.way == "stream" and tier.cut.resident < tier.num_edges

    def bring(self, run: Any, push: Go) -> None:
        self.transfer.whole(push, ahead=self.follows)

    def _launches(self, run: Any, edges: AtHand) -> list[Callable[[], None]]:
        """Along what was brought, and as large a share of the resident edges."""
        tier = self.arrays.tier
        resident = tier.cut.resident

        def share(edge: int) -> int:
            """How many of the resident edges are gone along before one of the others is."""
            beyond = tier.num_edges - resident
            return (edge - resident) * resident // beyond // PIECE * PIECE

        if edges.way == "resident":
            return [self._along("push_all", run, 0, resident, edges._replace(hi=0))]
        until = resident if edges.hi == tier.num_edges else share(edges.hi)
        return [self._along("push_all", run, share(edges.lo), until, edges)]

    def tell(self) -> None:
        """As of `SegmentCarrier`, and what kernels have read."""
        tier, done = self.arrays.tier, self.superstep.control["completed"] - self.superstep.before
        beyond = tier.bytes_of(tier.num_edges - tier.cut.resident)
        if self.transfer.way == "zero-copy" and beyond and done > 0:
            self.transfer.moved["zero-copy"] = Moved(done, done, done * beyond)
        super().tell()
