"""Statistics of neighbours' columns: mean, sum, least, largest and count of each, for every vertex.

References
----------
.. [1] Hamilton, Ying, Leskovec, "Inductive representation learning on large graphs", NeurIPS 2017 (mean and
   maximum over neighbours as features).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm, require_weight
from dask_graphgpu.algorithms.known_values import read_with_gaps
from dask_graphgpu.algorithms.neighbour_programs import statistics
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.vertex_values import check_values, value_names, vertices_columns
from dask_graphgpu.arguments import check_choice
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema

STATISTICS = ("mean", "sum", "min", "max", "count")

_TYPES = {
    "count": ColumnType("int64"),
    "sum": ColumnType("float64"),
    **dict.fromkeys(("mean", "min", "max"), ColumnType("float64", nullable=True)),
}


@dataclass(frozen=True)
class NeighborAggregate(Algorithm):
    """Mean, sum, min, max, count of neighbours' values.

    Several columns at once, over one pass along the edges: features of a vertex made of those around it.

    Parameters
    ----------
    values : frame or str or list of str or mapping
        What vertices have: a frame with the id column(s) and columns of numbers, or names of columns of the
        vertices frame, as a list or one text with commas. A mapping of such names to their statistics says
        both in one. Ids of a frame that are no vertices are passed over, and counted in
        ``last_report().attrs["ignored"]``.
    statistics : str or list of str or mapping
        Of "mean", "sum", "min", "max" and "count" those that are made: of all columns, as a list or one text
        with commas, or by column as a mapping of name to these, in Python or as a text of JSON. Columns that
        a mapping does not name are left out. Default: mean.
    direction : {"in", "out", "both"}
        Whose values: of the vertices that edges come from, of those that edges lead to, or of both; a
        neighbour with an edge in each direction then counts twice. In an undirected graph all are the same.
    weighted : bool
        Multiply values by the weights of edges: the sum is that of weight times value, and the mean that over
        the sum of the weights. Least, largest and count stay as they are.

    Returns
    -------
    frame
        ``vertex``, and ``<column>_<statistic>`` of each, in the order asked for. One row a vertex in ascending
        order of ids. A missing value (null or NaN, or a vertex that the frame does not name) is skipped, so
        that ``count`` (int64) is how many neighbours have a value. Of none, and of weights that sum to 0, the
        mean is null; of none min and max are null, and the sum is 0. All but the count are float64: integers
        beyond 2**53 are rounded.

    Raises
    ------
    InvalidArgument
        A statistic or column is not there, a value is infinite, or a vertex has two rows.

    Notes
    -----
    A repeated edge counts once, with ``weighted`` by the sum of its weights, unless the graph was given
    ``duplicates="keep"``; a vertex with a self-loop is its own neighbour. Cost: one pass over the edges of a
    direction for all columns, 8 bytes a vertex, column and statistic; beyond the memory of a GPU a pass for each.
    """

    values: Any
    statistics: str | Sequence[str] | Mapping[str, str | Sequence[str]] = "mean"
    direction: str = "in"
    weighted: bool = False

    free_frames = ("values",)

    def __post_init__(self) -> None:
        values, statistics = self.values, self.statistics
        if isinstance(values, Mapping):
            if statistics != "mean":
                raise InvalidArgument(
                    "values is a mapping of columns to statistics, and statistics= is given too; give one"
                )
            values, statistics = list(values), values
        if isinstance(values, str):
            values = [name.strip() for name in values.split(",")]
        check_values("values", values, several=True)
        if isinstance(values, Sequence) and not values:
            raise InvalidArgument("values=[]; name at least one column of the vertices frame")
        check_choice("direction", self.direction, ("in", "out", "both"))
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "statistics", _checked(statistics))

    @property
    def rule(self) -> str:  # type: ignore[override]
        return "sum" if self.weighted else "one"

    def reads_weight(self, schema: EdgeSchema) -> bool:
        if self.weighted:
            require_weight(schema, "neighbor_aggregate(weighted=True)", "")
        return self.weighted

    def vertex_columns(self) -> Sequence[str]:
        return vertices_columns(self.values)

    def frame_columns(self, name: str) -> int | None:
        return None

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        pairs = self._pairs(value_names("values", self.values, schema))
        named = {f"{column}_{kind}": _TYPES[kind] for column, kind in pairs}
        return {"vertex": ColumnType("vertex"), **named}

    def run(self, run: Run) -> Table:
        names = value_names("values", self.values, run.schema)
        pairs = self._pairs(names)
        values = read_with_gaps(run, "values", self.values)
        if bad := run.total(np.isinf(values)):
            raise InvalidArgument(f"values: {bad} of them are infinite; replace or drop them")
        chosen = list(dict.fromkeys(column for column, _ in pairs))
        values = values[:, [names.index(column) for column in chosen]]
        parts = self._parts(run, values, {kind for _, kind in pairs})
        table = {"vertex": Values(run.vertices)}
        for column, kind in pairs:
            at = chosen.index(column)
            table[f"{column}_{kind}"] = _column(run, kind, {k: v[:, at] for k, v in parts.items()})
        return table

    def _pairs(self, names: list[str]) -> list[tuple[str, str]]:
        """Columns and their statistics, in the order of the result."""
        if isinstance(self.statistics, Mapping):
            for column in self.statistics:
                if column not in names:
                    raise InvalidArgument(
                        f"statistics: there is no column {column!r} among values; it has {names}"
                    )
            return [(column, kind) for column, kinds in self.statistics.items() for kind in kinds]
        return [(column, kind) for column in names for kind in self.statistics]

    def _parts(self, run: Run, values: Any, kinds: set[str]) -> dict[str, Any]:
        """What the statistics are made of, each of shape (num_vertices, columns)."""
        over = "weight" if self.weighted else "count"
        needs = {"mean": ("sum", over), "min": ("min", "count"), "max": ("max", "count")}
        wanted = sorted({part for kind in kinds for part in needs.get(kind, (kind,))})
        found = statistics(run, values, self.direction, wanted)
        if "mean" in kinds:
            total = np.where(found[over] == 0, 1, found[over])
            found |= {"mean": found["sum"] / total, "over": found[over]}
        return found


def _column(run: Run, kind: str, parts: Mapping[str, Any]) -> Values:
    data = parts[kind]
    if not _TYPES[kind].nullable:
        return Values(data.take(run.rows))
    known = parts["over" if kind == "mean" else "count"].take(run.rows) != 0
    return Values(np.where(known, data.take(run.rows), 0.0), known)


def _checked(statistics: Any) -> Any:
    """A tuple of names, or a mapping of column to such."""
    if isinstance(statistics, str) and statistics.lstrip().startswith("{"):
        try:
            statistics = json.loads(statistics)
        except ValueError as error:
            raise InvalidArgument(f"statistics={statistics!r} is no JSON: {error}") from None
    if isinstance(statistics, Mapping):
        if not statistics:
            raise InvalidArgument("statistics={}; name at least one column and its statistics")
        return {str(column): _names(kinds) for column, kinds in statistics.items()}
    return _names(statistics)


def _names(kinds: Any) -> tuple[str, ...]:
    if isinstance(kinds, str):
        kinds = [kind.strip() for kind in kinds.split(",")]
    if not isinstance(kinds, Sequence) or not kinds:
        raise InvalidArgument(
            f"statistics={kinds!r}; allowed are {', '.join(STATISTICS)}: one, a list, or a mapping of "
            "column to these"
        )
    for kind in kinds:
        check_choice("statistics", kind, STATISTICS)
    return tuple(dict.fromkeys(kinds))
