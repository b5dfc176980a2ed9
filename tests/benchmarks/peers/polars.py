"""polars and SciPy: ids of any kind are numbered by joins, SciPy does the work, polars writes the answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
from graphs import BenchmarkGraph

from peers.scipy import SciPy


class Polars(SciPy):
    """SciPy takes ids for row numbers where this does not."""

    name = "polars + SciPy"
    calls: ClassVar = {
        algorithm: SciPy.calls[algorithm]
        for algorithm in ("sssp", "pagerank", "components", "strong components")
    }

    @classmethod
    def end_to_end(
        cls, graph: BenchmarkGraph, algorithm: str, source: Any, out: Path
    ) -> Callable[[], None]:
        def run() -> None:
            made = cls(graph)
            values = made.kernel(algorithm, source)()
            pl.DataFrame({"vertex": made._ids, "value": values}).write_parquet(out)

        return run

    def kernel(self, algorithm: str, source: Any) -> Callable[[], np.ndarray]:
        if algorithm == "sssp":
            source = self._ids.search_sorted(source)
        return super().kernel(algorithm, source)

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        src, dst, *_ = self._numbered
        return src, dst

    @cached_property
    def weighted_ends(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        src, dst, weight = self._numbered
        return src, dst, weight

    @cached_property
    def _frame(self) -> pl.DataFrame:
        return pl.read_parquet(self._graph.path)

    @cached_property
    def _ids(self) -> pl.Series:
        frame = self._frame
        return pl.concat([frame["src"], frame["dst"].rename("src")]).unique().sort()

    @cached_property
    def _numbered(self) -> list[np.ndarray]:
        """Ends of the edges as places of their ids, and the other columns."""
        numbers = self._ids.alias("id").to_frame().with_row_index("number")
        ends = self._frame.join(numbers, left_on="src", right_on="id")
        ends = (
            ends.drop("src").rename({"number": "src"}).join(numbers, left_on="dst", right_on="id")
        )
        ends = ends.drop("dst").rename({"number": "dst"})
        columns = ["src", "dst", *(["weight"] if "weight" in ends.columns else [])]
        return [ends[name].to_numpy() for name in columns]
