"""Jaccard coefficients: how much of their neighbourhoods two vertices share.

References
----------
.. [1] Jaccard, "The distribution of the flora in the alpine zone", New Phytologist 1912.
.. [2] Liben-Nowell, Kleinberg, "The link-prediction problem for social networks", JASIST 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.vertex_values import FrameColumns, dense_ids, numbers_by_row
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.frames import is_frame
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class Jaccard(Algorithm):
    """Jaccard similarity of the neighbours of two vertices.

    Of the neighbours of either of them, the part that are neighbours of both.

    Directions, repeated edges and self-loops mean nothing here.

    Parameters
    ----------
    pairs : frame, optional
        One row a pair, with the id columns that the edges have. Default: all pairs of vertices that
        have a neighbour in common, each once, the smaller id first; for all others it is 0.

    Returns
    -------
    frame
        The id columns under the names that edges have them under, ``jaccard`` (float64, 0 to 1; 0
        where neither has a neighbour). One row a pair: as given, or ordered by both ids.

    Raises
    ------
    UnknownVertex
        An id of ``pairs`` is not a vertex.

    Notes
    -----
    Cost: of given pairs at most the neighbours of both for each; else O(sum of squared degrees), and
    the pairs may be as many: there is one for any two neighbours of a vertex. Weights are not read.
    On several ranks the rows of remote vertices are sent, no more at once than a rank has of its own. On disk the edges
    are read once for as many pairs as there is memory for; all pairs have to fit the limit.
    """

    pairs: Any = None

    row = "pair"
    rule = "one"
    pair_frames = ("pairs",)

    def __post_init__(self) -> None:
        frame = isinstance(self.pairs, FrameColumns) or is_frame(self.pairs)
        if self.pairs is not None and not frame:
            raise InvalidArgument(
                f"pairs is a {type(self.pairs).__name__}; give a frame with the id columns of both "
                "vertices, named as in the edge frame"
            )

    def engine_functions(self) -> tuple[str, ...]:
        return ("jaccard_two_hop" if self.pairs is None else "jaccard_of_pairs",)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {
            "edge source": ColumnType("vertex"),
            "edge destination": ColumnType("vertex"),
            "jaccard": ColumnType("float64"),
        }

    def run(self, run: Run) -> Table:
        if self.pairs is None:
            first, second, values = run.engine.jaccard_two_hop(run.answering, report=run.report)
            run.order(first, second)
        else:
            names = [f"pairs {end}" for end in ("source", "destination")]
            if run.ranks is None:
                first, second = (dense_ids(run, name) for name in names)
            else:
                rows, _, (first, second) = numbers_by_row(run, names)
                run.order(rows)
            values = run.engine.jaccard_of_pairs(run.view, first, second, report=run.report)
        return {
            "edge source": Values(first),
            "edge destination": Values(second),
            "jaccard": Values(values),
        }
