"""The scalar system that linearized belief propagation comes to, and whether it converges.

x = e + M x, M x (v) = sum over edges {u, v} of c_uv x(u) - a_uv x(v), iterated from x = e. It
converges from any e just when the spectral radius of M is below 1. M is symmetric, so the radius is
at most the largest row sum of |M| (Gershgorin), and at least |M y| / |y| for any y.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.iterated import UNTIL_QUIET
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.fields import Field, Sum
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram

EXPLICIT, _START = "explicit", "start"

# Steps of the power iteration: it ends when the estimate grows no more, which it never does downwards.
_MOST_STEPS, _FEWEST_STEPS = 200, 10


@dataclass(frozen=True, kw_only=True, eq=False)
class System:
    """c and a of a system, and how they are made of an edge.

    Attributes
    ----------
    kind : "uniform" (c = coupling, a = echo), "weighted" (c = coupling w, a = echo w**2) or
        "homophily" (of the edge column of that name; coupling 1, echo 1 or 0)
    coupling, echo : float
    """

    kind: str
    coupling: float = 1.0
    echo: float

    @property
    def constants(self) -> dict[str, float]:
        return {"coupling": self.coupling, "echo": self.echo}

    def program(self) -> VertexProgram:
        """The iteration; vertices have a column ``explicit``."""
        return VertexProgram(
            state={
                "x": Field("float64", vertices=EXPLICIT),
                "explicit": Field("float64", vertices=EXPLICIT),
            },
            compute=_COMPUTE[self.kind],
            combine="sum",
            apply=_step if self.kind == "uniform" else _step_of_edges,
            edges="both",
            constants={**self.constants, "tolerance": 0.0},
            **UNTIL_QUIET,
        )

    def radius_bound(self, run: Run, view: View) -> float:
        """Largest row sum of |M|: the spectral radius is not above it."""
        if self.kind == "uniform":
            degree = view.degrees("both" if view.directed else "out")
            return float(run.most(degree)) * (abs(self.coupling) + self.echo)
        program = VertexProgram(
            state={"row_sum": Field("float64", initial=0.0)},
            compute=_MAGNITUDE[self.kind],
            combine="sum",
            edges="both",
            constants=self.constants,
        )
        once = run.options(max_supersteps=1, exact_supersteps=True)
        state = run.engine.run(program, view, once)
        # Terms below the least normal number have lost digits.
        return float(run.most(state["row_sum"])) + float(np.finfo(np.float64).tiny)

    def radius_estimate(self, run: Run, view: View) -> float:
        """A lower bound of the spectral radius that is close to it, by power iteration."""
        program = VertexProgram(
            state={"x": Field("float64", vertices=_START)},
            compute=_COMPUTE[self.kind],
            combine="sum",
            apply=_power if self.kind == "uniform" else _power_of_edges,
            edges="both",
            constants=self.constants,
            aggregates={
                "square": Sum(lambda x: x * x),
                "next_square": Sum(lambda new_x: new_x * new_x),
            },
            # x is M y / |y| of the y before, so its length is an estimate, and |M x| / |x| the next.
            stop=lambda square, next_square, superstep: (
                next_square >= 1.0
                or (superstep > _FEWEST_STEPS and next_square <= 1.00001 * square)
            ),
        )
        seed = 0 if run.ranks is None else run.ranks.rank
        start = np.random.default_rng(seed).standard_normal(view.num_vertices)
        options = run.options(max_supersteps=_MOST_STEPS, exact_supersteps=True)
        state = run.engine.run(program, view.with_columns({_START: start}), options)
        return float(np.sqrt(state.aggregates["next_square"]))


def _coupling_of(homophily: Any) -> Any:
    """C of an edge (FaBP); a is 2 h c."""
    h = homophily - 0.5
    return 2.0 * h / (1.0 - 4.0 * h * h)


_COMPUTE: Mapping[str, Any] = {
    "uniform": lambda source_x: source_x,
    "weighted": lambda source_x, destination_x, weight, coupling, echo: (
        weight * (coupling * source_x - echo * weight * destination_x)
    ),
    "homophily": lambda source_x, destination_x, edge_homophily, echo: (
        _coupling_of(edge_homophily)
        * (source_x - echo * (2.0 * edge_homophily - 1.0) * destination_x)
    ),
}
_MAGNITUDE: Mapping[str, Any] = {
    "weighted": lambda weight, coupling, echo: weight * (abs(coupling) + echo * weight),
    "homophily": lambda edge_homophily, echo: (
        abs(_coupling_of(edge_homophily)) * (1.0 + echo * abs(2.0 * edge_homophily - 1.0))
    ),
}


def _step(message: Any, x: Any, explicit: Any, degree: Any, coupling: Any, echo: Any) -> Any:
    return explicit + coupling * message - echo * degree * x


def _step_of_edges(message: Any, explicit: Any) -> Any:
    return explicit + message


def _power(message: Any, x: Any, degree: Any, coupling: Any, echo: Any, square: Any) -> Any:
    return (coupling * message - echo * degree * x) / square**0.5


def _power_of_edges(message: Any, square: Any) -> Any:
    return message / square**0.5
