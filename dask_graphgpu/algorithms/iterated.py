"""What algorithms share that make new values of all old ones until these hardly change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Resumable, check_iterations, telling_limits
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.fields import Max
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram

# What ends a program whose field is ``x``; a tolerance of 0 never does.
UNTIL_QUIET: Mapping[str, Any] = {
    "aggregates": {"change": Max(lambda x, new_x: abs(new_x - x))},
    "stop": lambda change, tolerance: change < tolerance,
}


@dataclass(frozen=True)
class Iterated(Resumable):
    """Iterations until the largest change is small, or exactly so many."""

    _: KW_ONLY
    tolerance: float = 1e-6
    max_iterations: int = 1000

    # Repeated rows are edges of their own: what they carry adds up.
    rule = "keep"

    def __post_init__(self) -> None:
        check_iterations(self.tolerance, self.max_iterations)

    def iterate(
        self,
        run: Run,
        view: View,
        program: VertexProgram,
        columns: Mapping[str, np.ndarray],
        **constants: float,
    ) -> np.ndarray:
        """The field ``x`` in the end; ``columns`` are those that the program reads from vertices."""
        options = run.options(
            constants={**constants, "tolerance": float(self.tolerance)},
            max_supersteps=int(self.max_iterations),
            exact_supersteps=self.tolerance == 0,
        )
        with telling_limits():
            state = run.engine.run(program, view.with_columns(columns), options)
        values: np.ndarray = state["x"]
        return values
