"""What traversals from a source share: several sources, targets, cutoff, predecessors."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm, Run, check_number
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class Traversal(Algorithm):
    """Distances from a source; see the algorithms that derive from this."""

    source: Any
    predecessor: bool = False
    target: Any = None
    cutoff: float | None = None

    hops = False

    def __post_init__(self) -> None:
        for name in ("source", "target", "cutoff"):
            value = getattr(self, name)
            if hasattr(value, "tolist"):  # a NumPy scalar, an array or a pandas Series
                value = value.tolist()
                object.__setattr__(self, name, value)
            if isinstance(value, list) and not value:
                raise InvalidArgument(f"{name}=[]; give at least one vertex id")
        if self.source is None:
            raise InvalidArgument("source=None; give a vertex id, or a list of them")
        if self.cutoff is not None:
            number = isinstance(self.cutoff, (int, float)) and not isinstance(self.cutoff, bool)
            check_number(
                "cutoff", self.cutoff, "a number of at least 0", number and self.cutoff >= 0
            )

    @abstractmethod
    def distance_dtype(self, schema: EdgeSchema) -> str:
        """Type of a distance."""

    @abstractmethod
    def distances(
        self, run: Run, source: int, targets: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Distance of every vertex in dense order, and whether it was reached."""

    def columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        several = {"source": ColumnType("vertex")} if isinstance(self.source, list) else {}
        last = {"predecessor": ColumnType("vertex", nullable=True)} if self.predecessor else {}
        distance = ColumnType(self.distance_dtype(schema), nullable=True)
        return {**several, "vertex": ColumnType("vertex"), "distance": distance, **last}

    def run(self, run: Run) -> Table:
        sources = run.ids.find(self.source if isinstance(self.source, list) else [self.source])
        targets = None
        if self.target is not None:
            targets = run.ids.find(self.target if isinstance(self.target, list) else [self.target])
        rows = run.ids.in_user_order() if targets is None else targets
        parts = [self._from_one(run, int(source), rows, targets) for source in sources]
        return {
            name: Values(
                np.concatenate([part[name].data for part in parts]),
                None
                if parts[0][name].valid is None
                else np.concatenate([part[name].valid for part in parts]),
            )
            for name in parts[0]
        }

    def _from_one(
        self, run: Run, source: int, rows: np.ndarray, targets: np.ndarray | None
    ) -> Table:
        distance, reached = self.distances(run, source, targets)
        table = {
            "source": Values(np.full(len(rows), source)),
            "vertex": Values(rows),
            "distance": Values(distance[rows], reached[rows]),
        }
        if self.predecessor:
            before = run.engine.predecessors(
                run.view, source, distance, reached, hops=self.hops, report=run.report
            )[rows]
            table["predecessor"] = Values(before, before != rows)
        return table
