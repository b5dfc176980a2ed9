"""Distances between some vertices and some others, as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.path_lengths import PathLengths
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.start_vertices import as_start_vertices, named_vertices
from dask_graphgpu.algorithms.traversal import each_hops, each_length
from dask_graphgpu.engine.known import DISTANCES_TO
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class Distances(PathLengths):
    """Distances from some vertices to others, as a table.

    Parameters
    ----------
    sources : id, list of ids or frame
        Where paths start. Of a frame the id columns.
    targets : id, list of ids or frame
        Where they end.
    weighted : bool, optional
        A path's length is the sum of its weights, else the number of its edges. Default: by weights
        where the graph has some.

    Returns
    -------
    frame
        ``source``, ``target`` and ``distance`` (Int64, Float64 over float weights; null: no path). One row for each
        source and target, also for those that are named twice, in the order in which they are given: the first
        source with all targets, and so on.

    Raises
    ------
    InvalidArgument
        ``weighted=True`` and the graph has no weights.
    UnknownVertex
        A source or a target is not a vertex.
    IntegerOverflow
        A distance does not fit int64, or the sum of a final one and the weight of an edge does not.

    Notes
    -----
    Of repeated edges the lightest counts. Cost: a search, as of ``bfs`` or ``sssp``, from each source, or where there
    are fewer targets to each of these, against the edges: floats are then added up from the end, and may differ in
    the last digit from what ``sssp`` gives. Up to 64 searches are made at once; where they can, they end when all
    their vertices are found. Memory: the table, and 64 distances a vertex.
    """

    sources: Any
    targets: Any

    name = "distances"
    row = "pair"

    def __post_init__(self) -> None:
        for name in ("sources", "targets"):
            as_start_vertices(self, name, optional=False)

    def engine_functions(self) -> tuple[str, ...]:
        return ("bfs", "run")

    def frame_columns(self, name: str) -> int:
        return 0

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {
            "source": ColumnType("vertex"),
            "target": ColumnType("vertex"),
            "distance": self.length_column(schema, nullable=True),
        }

    def run(self, run: Run) -> Table:
        sources = named_vertices(run, "sources", self.sources)
        targets = named_vertices(run, "targets", self.targets)
        if not (len(sources) and len(targets)):
            none = np.zeros(0, np.int64, like=run.rows)
            run.order(none)
            return dict.fromkeys(("source", "target"), Values(none)) | {
                "distance": Values(none, none.astype(bool))
            }
        begins, of_source = np.unique(sources, return_inverse=True)
        ends, of_target = np.unique(targets, return_inverse=True)
        backwards = len(ends) < len(begins)
        if backwards:  # rows of the table of distances are those that are searched from
            begins, ends, of_source, of_target = ends, begins, of_target, of_source
        rows, places = run.rows_of(ends)
        parts = [
            (value[:, rows], reached[:, rows])
            for value, reached in self._each(run, begins, ends, backwards)
        ]
        distance, known = (np.concatenate(each) for each in zip(*parts, strict=True))
        # This rank has the columns of the ends that it owns; an end that is named several times has several.
        column = np.full(len(ends), -1, np.int64)
        column[places] = np.arange(len(places))
        column = column[of_target]
        mine = np.flatnonzero(column >= 0)
        i, j = np.repeat(np.arange(len(of_source)), len(mine)), np.tile(mine, len(of_source))
        if backwards:
            order = np.lexsort((i, j))
            i, j = i[order], j[order]
        cells = np.asarray(of_source[i] * len(places) + column[j], like=run.rows)
        first, second = (j, i) if backwards else (i, j)
        run.order(first * len(targets) + second)
        return {
            "source": Values(np.asarray(sources[first], like=run.rows)),
            "target": Values(np.asarray(targets[second], like=run.rows)),
            "distance": Values(distance.ravel()[cells], known.ravel()[cells]),
        }

    def _each(
        self, run: Run, begins: np.ndarray, ends: np.ndarray, backwards: bool
    ) -> Iterator[tuple[Any, Any]]:
        """Distances from some vertices, or to them, of one group after another; and which there are."""
        if backwards and run.view.directed:
            return each_length(run, begins, None, ends, DISTANCES_TO)
        if self.reads_weight(run.schema):
            return each_length(run, begins, None, ends)
        return each_hops(run, begins, None, ends)
