"""The k shortest paths without loops, vertex by vertex.

References
----------
.. [1] Yen, "Finding the k shortest loopless paths in a network", Management Science 17, 1971.
.. [2] Lawler, "A procedure for computing the k best solutions to discrete optimization problems and its application to
   the shortest path problem", Management Science 18, 1972.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import as_plain_ids
from dask_graphgpu.algorithms.between_ends import BetweenEnds, PathEdges
from dask_graphgpu.algorithms.path_lengths import PathLengths
from dask_graphgpu.algorithms.run import Run, at
from dask_graphgpu.arguments import check_whole
from dask_graphgpu.engine.simple_paths import SLACK, Path, SimplePaths
from dask_graphgpu.errors import IntegerOverflow, NoPath
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema

# Vertices near the shortest path that are looked at first, for each path that is asked for and at least; and how many
# times more when these do not have all paths.
_OF_PATH, _LEAST, _MORE = 16, 4096, 8


@dataclass(frozen=True)
class KShortestPaths(PathLengths):
    """The k shortest loopless paths from a source to a target.

    A path goes through no vertex twice, and is given by its vertices: of repeated edges the lightest counts.

    Parameters
    ----------
    source : id
        The vertex where paths start.
    target : id
        The vertex where they end.
    k : int
        How many paths, at most.
    max_hops : int, optional
        Edges that a path has at most. Default: any number.
    weighted : bool, optional
        A path's length is the sum of its weights, else the number of its edges. Default: by weights
        where the graph has some.

    Returns
    -------
    frame
        ``path`` (int64, from 0 on, the shortest first), ``position`` of the vertex on it (int64, from 0 on), the
        vertex, and ``distance`` (int64, or float64 over float weights), the length of the path up to there. One row a
        vertex of a path. Of paths of one length that with fewer edges comes first, of these the one that goes to the
        smaller id where they part. If there are fewer than k, these are all. Where source and target are the same,
        there is one path, of this vertex.

    Raises
    ------
    NoPath
        The target is not reached from the source, or not by so few edges.
    UnknownVertex
        The source or the target is not a vertex.
    InvalidArgument
        ``weighted=True`` and the graph has no weights.
    IntegerOverflow
        A distance, or the length of one of the paths, does not fit int64.

    Notes
    -----
    Yen's method, in which Lawler's classes of paths wait in order of the least length that one of theirs can have by
    the distances to the target, so that few are searched. Over floats, lengths that differ by less than a part of
    1e-9 may be told apart or not where they decide which path is the last.

    Cost: a search over the graph from the source and one, against the edges, from the target; with ``max_hops`` over
    weights as many again by hops. Then searches in memory, on one processor, in the part of the graph that can be on a
    path that short: the edges among vertices whose two distances come to no more than the longest path that is looked
    for, some thousand vertices at first. At most one search is made for each vertex of a path, each near that
    path. On several ranks the first one gets these edges; of a disk their pages are read. Memory: 40 bytes an edge of
    that part.
    """

    source: Any
    target: Any
    k: int
    _: KW_ONLY
    max_hops: int | None = None

    name = "k_shortest_paths"
    row = "step"

    def __post_init__(self) -> None:
        as_plain_ids(self, "source", "target", several=False)
        check_whole("k", self.k, 1)
        if self.max_hops is not None:
            check_whole("max_hops", self.max_hops, 1)

    def engine_functions(self) -> tuple[str, ...]:
        return ("bfs", "run", "edges_among")

    def num_rows(self, num_vertices: int, schema: EdgeSchema) -> int | None:
        return None

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {
            "path": ColumnType("int64"),
            "position": ColumnType("int64"),
            "vertex": ColumnType("vertex"),
            "distance": self.length_column(schema),
        }

    def run(self, run: Run) -> Table:
        source, target = (int(run.ids.find([each])[0]) for each in (self.source, self.target))
        places, paths = self._found(run, source, target)
        counts = [len(path.vertices) for path in paths]
        kind = np.dtype(self.result_columns(run.schema)["distance"].dtype)
        found = {
            "path": np.repeat(np.arange(len(paths)), counts),
            "position": np.concatenate([np.empty(0, np.int64), *map(np.arange, counts)]),
            "vertex": np.concatenate([places[:0], *(places[path.vertices] for path in paths)]),
            "distance": np.concatenate([np.empty(0, kind), *(path.length for path in paths)]),
        }
        table = {name: np.asarray(each, like=run.rows) for name, each in found.items()}
        rows = len(found["path"])
        if run.ranks is not None:
            run.order(np.arange(rows))
        elif run.ids.position is not None:
            table["vertex"] = at(run.ids.position, table["vertex"])
        return {name: Values(each) for name, each in table.items()}

    def _found(self, run: Run, source: int, target: int) -> tuple[np.ndarray, list[Path]]:
        """Vertices by their places in the order of the user's ids, and the paths over them; on the first rank."""
        weighted = self.reads_weight(run.schema)
        between = BetweenEnds(run, source, target, weighted=weighted, most_hops=self.max_hops)
        if not run.total(between.may):
            raise self._no_path()
        number = max(_LEAST, _OF_PATH * self.k)
        while True:
            limit = between.nearest(number)
            part = between.within(limit)
            paths, overflows = (
                self._searched(part, limit, between) if len(part.places) else ([], False)
            )
            enough, overflows = len(paths) >= self.k, overflows or between.too_long > 0
            if run.ranks is not None:
                enough, overflows = (bool(run.ranks.max(int(each))) for each in (enough, overflows))
            if enough:
                return part.places, paths
            if limit is None:
                if overflows:
                    raise IntegerOverflow(
                        f"a path from {self.source!r} to {self.target!r} is longer than int64 can hold, and fewer than "
                        f"k={self.k} are shorter: make the weights smaller, or float64"
                    )
                return part.places, paths
            number *= _MORE

    def _searched(
        self, part: PathEdges, limit: Any, between: BetweenEnds
    ) -> tuple[list[Path], bool]:
        """The best paths of at most a length in a part of the graph, and whether there was one beyond int64."""
        most = limit
        if limit is None:
            most = np.inf if between.float else np.iinfo(np.int64).max
        elif between.float:
            most = limit * (1 - SLACK)  # what comes to the limit may have been added up to more
        hops = self.max_hops
        if hops is not None and not between.weighted:
            hops, most = None, min(most, hops)
        search = SimplePaths(
            part.source, part.destination, part.weight, part.rest, part.rest_hops, hops
        )
        return search.best(*part.ends, self.k, most), search.overflows

    def _no_path(self) -> NoPath:
        few = "" if self.max_hops is None else f" over at most {self.max_hops} edges"
        return NoPath(f"no path leads from {self.source!r} to {self.target!r}{few}")
