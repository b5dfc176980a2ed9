"""DuckDB and SciPy: DuckDB numbers ids by joins and writes the answer, SciPy does the work."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from peers.numbered import Numbered


class DuckDB(Numbered):
    """All threads but for SciPy's."""

    name = "DuckDB + SciPy"

    def write(self, values: np.ndarray, out: Path) -> None:
        here = self._here
        here.register("answer", pa.table({"value": values}))
        rows = "select id as vertex, value from ids positional join answer"
        here.execute(f"copy ({rows}) to '{out}' (format parquet)")

    @cached_property
    def ids(self) -> np.ndarray:
        found: np.ndarray = self._here.execute("select id from ids").fetchnumpy()["id"]
        return found

    @cached_property
    def _here(self) -> duckdb.DuckDBPyConnection:
        here = duckdb.connect()
        here.execute(f"set threads = {len(os.sched_getaffinity(0))}")
        here.execute(f"create view edges as select * from '{self._graph.path}'")
        here.execute(
            "create table ids as select id, cast(row_number() over (order by id) - 1 as uinteger) as number "
            "from (select src as id from edges union select dst from edges) order by id"
        )
        return here

    def numbered(self) -> list[np.ndarray]:
        columns = self._here.execute(
            f"select a.number as src, b.number as dst{', weight' * ('weight' in self.columns)} "
            "from edges join ids a on src = a.id join ids b on dst = b.id"
        ).fetchnumpy()
        return [columns[name] for name in self.columns]
