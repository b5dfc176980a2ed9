"""polars and SciPy: polars numbers ids by joins and writes the answer, SciPy does the work."""

from __future__ import annotations

from functools import cache, cached_property
from pathlib import Path

import numpy as np
import polars as pl

from peers.numbered import Numbered


class Polars(Numbered):
    """All threads but for SciPy's."""

    name = "polars + SciPy"

    def write(self, values: np.ndarray, out: Path) -> None:
        pl.DataFrame({"vertex": self._ids, "value": values}).write_parquet(out)

    @property
    def ids(self) -> np.ndarray:
        return self._ids.to_numpy()

    @cache  # noqa: B019  one of these is held for as long as it is asked
    def _frame(self, columns: tuple[str, ...]) -> pl.DataFrame:
        return pl.read_parquet(self._graph.path, columns=list(columns))

    @cached_property
    def _ids(self) -> pl.Series:
        frame = self._frame(self.columns)
        return pl.concat([frame["src"], frame["dst"].rename("src")]).unique().sort()

    def numbered(self) -> list[np.ndarray]:
        numbers = self._ids.alias("id").to_frame().with_row_index("number")
        ends = self._frame(self.columns)
        for name in ("src", "dst"):
            ends = ends.join(numbers, left_on=name, right_on="id")
            ends = ends.drop(name).rename({"number": name})
        return [ends[name].to_numpy() for name in self.columns]
