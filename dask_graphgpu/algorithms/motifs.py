"""How often each connected way of joining three or four vertices occurs.

References
----------
.. [1] Milo, Shen-Orr, Itzkovitz, Kashtan, Chklovskii, Alon, "Network motifs: simple building blocks of complex
   networks", Science 2002.
.. [2] Meira, Máximo, Fazenda, da Conceição, "Acc-Motif: accelerated network motif detection", IEEE/ACM Transactions on
   Computational Biology and Bioinformatics 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.arguments import refuse
from dask_graphgpu.engine.motif_classes import motif_classes
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class OfMotifs(Algorithm):
    """A method of motifs of so many vertices."""

    size: int

    rule = "one"

    def __post_init__(self) -> None:
        size = self.size
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size not in (3, 4):
            refuse("size", size, "are 3 and 4")

    @staticmethod
    def ends(run: Run) -> tuple[Any, Any]:
        """Both ends of every edge."""
        everywhere = np.ones_like(run.rows, bool, shape=run.view.num_vertices)
        source, destination, _ = run.engine.edges_among(run.view, everywhere)
        return source, destination

    def shown(self, *, directed: bool) -> np.ndarray:
        """The classes of `motif_classes` that a graph may have."""
        return np.flatnonzero(motif_classes(self.size).mutual | directed)


@dataclass(frozen=True)
class Motifs(OfMotifs):
    """How often each connected motif of 3 or 4 vertices occurs.

    A motif is a way in which some vertices are joined, whatever they are called: 13 ways join three vertices, 199 four,
    such that they hang together. Counted are induced subgraphs: any three or four vertices, with all edges between
    them, are at most one motif. Repeated edges count once, and self-loops not at all. An edge of an undirected graph
    leads both ways, so its motifs are 2, or 6, of these.

    Those of three vertices are the connected ones of `triad_census`, which has the other three triads too.

    Parameters
    ----------
    size : {3, 4}
        Vertices of a motif.

    Returns
    -------
    frame
        ``motif`` (int64), ``edges`` (text) and ``count`` (int64). One row for each motif that a graph of its kind may
        have, in ascending order. ``edges`` says how its vertices, 0 to size - 1, are joined, as in "0>1 0>2 1>2".
        ``motif`` is the sum of 2**(size * i + j) over edges from i to j, with vertices so ordered that it is least: the
        id of mfinder, by which motifs are known, such as 38 for the feed-forward loop and 204 for the bi-fan.

    Raises
    ------
    IntegerOverflow
        Numbers that counts are made of may be beyond int64, as with a vertex of 1.6 million neighbours.

    Notes
    -----
    Nothing is listed, so there is no limit to what may occur. Stars, paths, cycles and triangles with a tail or with
    another one are counted by products of numbers of neighbours, of triangles of an edge and of wedges between two
    vertices. Of these are taken away those with further edges among their vertices (Meira et al., 2014). Triangles,
    wedges and cliques of four vertices are gone along, each from its vertices with fewer neighbours.

    Cost: O(E^1.5) time at most and, with ``size=4``, O(E) a vertex of a clique more; 150 bytes an edge in memory and
    40 bytes a vertex and thread, on several ranks on each. It is done on the processors, whichever engine finds the
    edges.
    """

    size: int = 4

    row = "motif"

    def engine_functions(self) -> tuple[str, ...]:
        return ("edges_among", "directed_triangles", "motif_counts")

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {
            "motif": ColumnType("int64"),
            "edges": ColumnType("U47"),
            "count": ColumnType("int64"),
        }

    def num_rows(self, num_vertices: int, schema: EdgeSchema) -> int | None:
        return len(self.shown(directed=schema.directed))

    def run(self, run: Run) -> Table:
        counts = run.engine.motif_counts(
            run.view, self.ends(run), int(self.size), report=run.report
        )
        shown = self.shown(directed=run.view.directed)
        classes = motif_classes(self.size)
        rows = shown if run.ranks is None or run.ranks.rank == 0 else shown[:0]
        run.order(np.arange(len(rows)))
        return {
            "motif": Values(classes.ids[rows]),
            "edges": Values(np.array([classes.edges[row] for row in rows], "U47")),
            "count": Values(counts[rows]),
        }
