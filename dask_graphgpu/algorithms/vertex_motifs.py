"""How many connected motifs of three or four vertices each vertex is in.

References
----------
.. [1] Hočevar, Demšar, "A combinatorial approach to graphlet counting", Bioinformatics 2014.
"""

from __future__ import annotations

from dataclasses import dataclass

from dask_graphgpu.algorithms.motifs import OfMotifs
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.engine.motif_classes import motif_classes
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.chunk import to_host


@dataclass(frozen=True)
class VertexMotifs(OfMotifs):
    """How many motifs of 3 or 4 vertices each vertex is in.

    Motifs are those of `motifs`, which says what they are and counts them in the whole graph. A vertex is in one
    whatever its place there.

    Parameters
    ----------
    size : {3, 4}
        Vertices of a motif.

    Returns
    -------
    frame
        ``vertex`` and ``motif_<id>`` (int64), a column for each motif that a graph of its kind may have: 13 or 199 of a
        directed graph, 2 or 6 of an undirected one. One row a vertex in ascending order of ids. The sum of a column is
        ``size`` times the count of that motif.

    Raises
    ------
    IntegerOverflow
        Numbers that counts are made of may be beyond int64, as with a vertex of 1.6 million neighbours.

    Notes
    -----
    As `motifs`, and with the same products for each vertex: nothing is listed. What further edges join has the same
    vertices, so it is taken away from each of these.

    Cost: that of `motifs`, some times. Memory: 150 bytes an edge, 300 a vertex and, with ``size=4``, 5 KB a vertex, on
    several ranks on each. It is done on the processors, whichever engine finds the edges.
    """

    size: int = 3

    def engine_functions(self) -> tuple[str, ...]:
        return ("edges_among", "vertex_motifs")

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        ids = motif_classes(self.size).ids[self.shown(directed=schema.directed)]
        columns = {f"motif_{motif}": ColumnType("int64") for motif in ids.tolist()}
        return {"vertex": ColumnType("vertex"), **columns}

    def run(self, run: Run) -> Table:
        counts = run.engine.vertex_motifs(
            run.view, self.ends(run), int(self.size), report=run.report
        )
        rows, classes = to_host(run.rows), motif_classes(self.size)
        shown = self.shown(directed=run.view.directed)
        columns = {
            f"motif_{classes.ids[each]}": Values(counts[:, each].take(rows)) for each in shown
        }
        return {"vertex": Values(run.vertices), **columns}
