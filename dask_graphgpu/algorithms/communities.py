"""What methods that look for communities of high modularity share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass

import numpy as np

from dask_graphgpu.algorithms.algorithm import (
    Algorithm,
    refuse_extreme_weights,
    require_weight,
)
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.arguments import check_real, check_whole
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class Communities(Algorithm):
    """The community of every vertex and their modularity; see the algorithms that derive from this."""

    _: KW_ONLY
    resolution: float = 1.0
    seed: int = 0
    weighted: bool | None = None

    rule = "sum"

    def __post_init__(self) -> None:
        check_real(
            "resolution", self.resolution, "a finite number above 0", lambda r: 0 < r < np.inf
        )
        check_whole("seed", self.seed, 0)

    def reads_weight(self, schema: EdgeSchema) -> bool:
        if self.weighted:
            require_weight(schema, f"{type(self).__name__.lower()}(weighted=True)", "")
        return schema.weight is not None and self.weighted is not False

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {
            "vertex": ColumnType("vertex"),
            "community": ColumnType("vertex"),
            "modularity": ColumnType("float64"),
        }

    @abstractmethod
    def found(self, run: Run) -> tuple[np.ndarray, float]:
        """The smallest member of each vertex's community, and the modularity."""

    def run(self, run: Run) -> Table:
        refuse_extreme_weights(run, "graph")
        community, modularity = self.found(run)
        return {
            "vertex": Values(run.vertices),
            "community": Values(community.take(run.rows)),
            "modularity": Values(np.full(len(run.rows), modularity)),
        }
