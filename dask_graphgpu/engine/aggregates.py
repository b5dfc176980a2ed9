"""Which aggregates can be worked out while vertices get their new values, in one pass with `apply`."""

from __future__ import annotations

from typing import Literal

from dask_graphgpu.functions import parameters, plain
from dask_graphgpu.program import VertexProgram


def on_the_way(program: VertexProgram) -> dict[str, Literal["this", "next"]]:
    """Aggregates that `apply` gives on the way, and for which superstep.

    Those over the new state for this superstep, unless they read another such one. Those over the
    old state for the next superstep, whose old state is the new one of this; not if they read what
    changes between the two, an aggregate or ``superstep``.
    """
    after = program.aggregates_after()
    found: dict[str, Literal["this", "next"]] = {}
    for name, aggregate in program.aggregates.items():
        named = set(parameters(plain(aggregate.value, name), name))
        if name in after:
            if not named.intersection(after):
                found[name] = "this"
        elif not named.intersection((*program.aggregates, "superstep")):
            found[name] = "next"
    return found
