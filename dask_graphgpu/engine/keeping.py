"""Keeping the state of a run, and going on from one that was kept."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dask_graphgpu.engine.state import Binding
from dask_graphgpu.errors import InvalidArgument, InvalidCheckpoint
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.program import VertexProgram


class Kept(Protocol):
    """What was kept of a run: columns of vertices by name, right for own ones."""

    @property
    def superstep(self) -> int: ...

    @property
    def columns(self) -> dict[str, np.ndarray]: ...

    @property
    def aggregates(self) -> dict[str, Any]: ...


class Keeper(Protocol):
    """Where an engine has its state kept; of ranks, all of them call these together."""

    def begin(
        self, program: str, edges: Adjacency, by: str, state: Mapping[str, np.ndarray]
    ) -> Kept | None:
        """A program starts; what was kept of it."""

    def steps_left(self, superstep: int) -> int | None:
        """Supersteps after which the state is due by their number; None: by the clock alone."""

    def due(self, superstep: int) -> bool:
        """Whether to keep the state now."""

    def late(self) -> bool:
        """Whether the state is due by the clock, on one rank; also in the middle of a superstep."""

    def write(
        self, superstep: int, columns: Mapping[str, np.ndarray], aggregates: Mapping[str, Any]
    ) -> None:
        """Keep the state after a superstep."""


def begun(
    keeper: Keeper,
    program: VertexProgram,
    binding: Binding,
    state: Mapping[str, np.ndarray],
    *arguments: Any,
) -> Kept | None:
    """Say that a program starts; ``arguments`` are what else of the run its answer depends on.

    The binding may be of the program as one rank runs it.
    """
    given = repr((program.__dask_tokenize__(), sorted(binding.constants.items()), arguments))
    token = hashlib.sha256(given.encode()).hexdigest()
    if binding.has_gather:
        return keeper.begin(token, binding.gather, "destination", state)
    return keeper.begin(token, binding.send, "source", state)


def keeps_senders(program: VertexProgram, keeper: Keeper | None, cutoff: Any) -> bool:
    """Whether a run goes in supersteps because what is kept has to say who is to send.

    Of a run in place all vertices with a value send again, as that does no harm; but some of them must
    not where the program has ``active``.

    Raises
    ------
    InvalidArgument
        There is a cutoff, which supersteps do not have.
    """
    if keeper is None or program.active is None:
        return False
    if cutoff is not None:
        raise InvalidArgument(
            "checkpoint= of a program with active= is of runs without a cutoff: leave one of them out"
        )
    return True


class Keepable(Protocol):
    """An engine whose state can be kept between supersteps."""

    def kept(self) -> dict[str, np.ndarray]:
        """What to keep so that `resume` can go on from here."""

    def resume(self, columns: Mapping[str, np.ndarray]) -> None:
        """Take what was kept for the state at the start."""


@dataclass(frozen=True)
class Keeping:
    """The keeping of a run in supersteps."""

    engine: Keepable
    keeper: Keeper
    found: Kept | None

    def resume(self, aggregates: dict[str, Any]) -> int:
        """Go on from what was kept, if there is something; the superstep after which that was, or 0."""
        if self.found is None:
            return 0
        self.engine.resume(self.found.columns)
        aggregates.update(self.found.aggregates)
        return self.found.superstep

    def after(self, superstep: int, aggregates: Mapping[str, Any]) -> None:
        """Have the state kept, if that is due."""
        if self.keeper.due(superstep):
            self.now(superstep, aggregates)

    def now(self, superstep: int, aggregates: Mapping[str, Any]) -> None:
        """Have the state kept, also in the middle of the superstep after this one."""
        self.keeper.write(superstep, self.engine.kept(), aggregates)


# Columns of what was kept in the middle of a round: messages that are yet to be taken, and whether there
# is one. Who is active has sent to nobody, all others to all: what they sent is among these.
PENDING, PENDING_RECEIVED = "pending", "pending received"


def refuse_pending(columns: Mapping[str, np.ndarray], engine: str) -> None:
    """Raise InvalidCheckpoint where messages are to be taken, on an engine that begins a superstep without any."""
    if PENDING in columns:
        raise InvalidCheckpoint(
            f"the checkpoint was written in the middle of an asynchronous round, which {engine} cannot go "
            "on from: use engine='cpu', or set graphgpu.device-memory-limit as when it was written"
        )
