"""What a run of a vertex program is asked to do, by who calls and by settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dask_graphgpu import config
from dask_graphgpu.engine.keeping import Keeper
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.report import Report


@dataclass(frozen=True, kw_only=True, eq=False)
class RunOptions:
    """What a run of a vertex program is asked to do; `engine.plan` decides how it is done.

    Attributes
    ----------
    report : Report
        Gets one row an advance.
    sources : int or array of int, optional
        Vertices that get ``at_source`` and start active; default: all start active. Dense ids, on ranks the
        numbers of vertices, the same on all ranks.
    constants : mapping of str to number
        Values in place of the program's own.
    cutoff : number, optional
        Messages of a higher priority are dropped. Needs ``priority=``.
    targets : array of int, optional
        Vertices, as ``sources``. The run may end once their values are final, others' may not be. Needs a
        ``priority=`` that never falls along an edge.
    max_supersteps : int, optional
        Most supersteps; a monotone program runs in supersteps then.
    exact_supersteps : bool
        To reach ``max_supersteps`` is what was asked for, not a failure.
    keeper : Keeper, optional
        Has the state kept, and may have one to go on from.
    """

    report: Report
    sources: Any = None
    constants: Mapping[str, Any] = field(default_factory=dict)
    cutoff: Any = None
    targets: Any = None
    max_supersteps: int | None = None
    exact_supersteps: bool = False
    keeper: Keeper | None = None

    @property
    def exactly(self) -> int | None:
        """Supersteps that were asked for, and to reach them is no failure; None: no number was."""
        return self.max_supersteps if self.exact_supersteps else None


DIRECTIONS = ("auto", "push", "pull", "notify-pull")


def configured_direction() -> str:
    """``graphgpu.direction`` of Dask's configuration; InvalidArgument if there is no such one."""
    return config.word("direction", DIRECTIONS)


def layer_edges(default: int) -> int:
    """``graphgpu.layer-edges``: edges below which a layer is combined with its neighbours."""
    given = config.get("layer-edges")
    if given is None:
        return default
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise InvalidArgument(
            f"graphgpu.layer-edges is {given!r}: give a number of edges from 1, or None."
        )
    return given


def layer_repeats() -> int:
    """``graphgpu.layer-repeats``: times that layers are gone over again while their vertices improve."""
    given = config.get("layer-repeats")
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise InvalidArgument(
            f"graphgpu.layer-repeats is {given!r}: give a number of times from 0."
        )
    return given
