"""What methods that look for communities of high modularity share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms import hierarchy
from dask_graphgpu.algorithms.algorithm import (
    Algorithm,
    reads_optional_weight,
    refuse_extreme_weights,
)
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.several import as_numbers, each_of, endings
from dask_graphgpu.algorithms.vertex_labels import check_groups, read_start
from dask_graphgpu.algorithms.vertex_values import vertices_columns
from dask_graphgpu.arguments import check_flag, check_whole, refuse, said
from dask_graphgpu.engine.communities import Start
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class Communities(Algorithm):
    """The community of every vertex and their modularity; see the algorithms that derive from this."""

    _: KW_ONLY
    resolution: float | Sequence[float] = 1.0
    seed: int = 0
    weighted: bool | None = None
    initial: Any = None
    fixed: str | None = None
    levels: bool = False
    max_size: int | None = None

    rule = "sum"
    group_frames = ("initial",)

    def __post_init__(self) -> None:
        plain = as_numbers(
            "resolution", self.resolution, "a finite number above 0", lambda r: 0 < r < np.inf
        )
        object.__setattr__(self, "resolution", plain)
        check_whole("seed", self.seed, 0)
        check_flag("levels", self.levels)
        if self.levels and isinstance(plain, tuple):
            raise InvalidArgument(
                f"levels=True and resolution={said(self.resolution)}: give one resolution, and call it for each"
            )
        if self.max_size is not None:
            check_whole("max_size", self.max_size, 1, any_size=True)
            if self.fixed is not None:
                raise InvalidArgument(
                    f"max_size={self.max_size} and fixed={self.fixed!r}: a community of fixed vertices that is too "
                    "large could not be divided; leave one of them out"
                )
        if self.initial is not None:
            check_groups("initial", self.initial)
        if self.fixed is None:
            return
        if not isinstance(self.fixed, str):
            refuse("fixed", self.fixed, "is the name of a column")
        if self.initial is None:
            raise InvalidArgument(
                f"fixed={self.fixed!r} names a column of initial, which is not given"
            )

    def vertex_columns(self) -> Sequence[str]:
        return vertices_columns(self.initial, self.fixed if isinstance(self.initial, str) else None)

    def beside_groups(self, name: str) -> tuple[str, ...]:
        return () if self.fixed is None else (self.fixed,)

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return reads_optional_weight(
            schema, self.weighted, f"{type(self).__name__.lower()}(weighted=True)"
        )

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        if self.levels:
            return hierarchy.COLUMNS
        columns = {"vertex": ColumnType("vertex")}
        for end in endings(self.resolution):
            columns[f"community{end}"] = ColumnType("vertex")
            columns[f"modularity{end}"] = ColumnType("float64")
        return columns

    def num_rows(self, num_vertices: int, schema: EdgeSchema) -> int | None:
        return None if self.levels else num_vertices

    @abstractmethod
    def found(
        self, run: Run, resolution: float, start: Start | None, finer: list[Any] | None
    ) -> tuple[np.ndarray, float]:
        """The smallest member of each vertex's community, and the modularity; ``finer`` as of the engine."""

    @abstractmethod
    def iterations(self, start: Start | None) -> int | None:
        """Of the Leiden method; None: the Louvain method is meant."""

    def _bounded(
        self, run: Run, resolution: float, community: np.ndarray
    ) -> tuple[list[np.ndarray], float]:
        """Communities after each step of dividing those that are too large, and the modularity of the last."""
        assert self.max_size is not None
        labels = community[: run.view.num_owned]
        size = min(int(self.max_size), run.num_vertices)
        seed, iterations = int(self.seed), self.iterations(None)
        steps, modularity = run.engine.smaller_communities(
            run.view, labels, size, resolution, seed, iterations, run.report
        )
        return steps, modularity

    def run(self, run: Run) -> Table:
        refuse_extreme_weights(run, "graph")
        start = None
        if self.initial is not None:
            start = read_start(run, "initial", self.initial, self.fixed)
        if self.levels:
            finer: list[Any] = []
            (resolution,) = each_of(self.resolution)
            bounded = self.max_size is not None
            community, _ = self.found(run, float(resolution), start, None if bounded else finer)
            if bounded:
                finer = self._bounded(run, float(resolution), community)[0][::-1]
            return hierarchy.table(run, [community, *reversed(finer)])
        table = {"vertex": Values(run.vertices)}
        for resolution, end in zip(each_of(self.resolution), endings(self.resolution), strict=True):
            community, modularity = self.found(run, float(resolution), start, None)
            if self.max_size is not None:
                steps, modularity = self._bounded(run, float(resolution), community)
                community = steps[-1] if steps else community
            table[f"community{end}"] = Values(run.own(community))
            table[f"modularity{end}"] = Values(np.full(len(run.rows), modularity))
        return table
