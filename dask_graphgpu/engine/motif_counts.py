"""Motifs of three and four vertices by class; whichever engine found the edges.

References
----------
.. [1] Chiba, Nishizeki. Arboricity and subgraph listing algorithms. SIAM Journal on Computing 14 (1985).
.. [2] Meira, Máximo, Fazenda, da Conceição. Acc-Motif: accelerated network motif detection. IEEE/ACM Transactions on
   Computational Biology and Bioinformatics 11 (2014).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphgpu.engine import motif_classes as forms
from dask_graphgpu.engine.directed_triangles import directed_triangles
from dask_graphgpu.engine.joined_rows import JoinedRows
from dask_graphgpu.engine.motif_classes import MotifClasses, motif_classes
from dask_graphgpu.engine.triads import TRIANGLE_OF
from dask_graphgpu.errors import IntegerOverflow
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.report import Report

_MOST = 2**62


def motif_counts(view: AnyView, edges: tuple[Any, Any], size: int, report: Report) -> np.ndarray:
    """Motifs of a size by class; see the contract. Collective.

    Notes
    -----
    Stars, paths, triangles with a tail, cycles and diamonds of four vertices are counted by multiplying numbers of
    neighbours, of triangles of an edge and of wedges of a pair; only triangles, wedges and cliques are gone along [1]_.
    Those that are part of others with the same vertices are taken away [2]_. Each rank gets all edges and does a part.
    """
    start = time.perf_counter()
    classes = motif_classes(size)
    if size == 3:
        sums = _of_three(classes, *directed_triangles(view, edges, report))
    else:
        joined = JoinedRows.of(view, edges, size, "motifs")
        sums = _of_four(joined, view.ranks, classes)
        report.advance(
            "motifs", supersteps=1, frontier=view.num_vertices, edges=joined.num_edges,
            bytes=joined.num_edges * 10, seconds=time.perf_counter() - start,
        )  # fmt: skip
    found: np.ndarray = induced(sums[None], classes)[0]
    return found


def _of_four(joined: JoinedRows, ranks: Ranks, classes: MotifClasses) -> np.ndarray:
    """Of each class those of four vertices, whatever else joins them."""
    width = len(classes.ids)
    blocks = joined.blocks(joined.downward(), ranks)
    found = np.zeros((len(blocks) - 1, width), np.int64)
    for_blocks(
        kernels.motifs.count, np.arange(len(blocks)), blocks, joined.rows, joined.degree,
        tables(classes), found,
    )  # fmt: skip
    blocks = joined.blocks(joined.upward(), ranks)
    more = np.zeros((len(blocks) - 1) * width, np.int64)
    cliques = classes.table(forms.CLIQUE)
    for_blocks(
        kernels.motifs.cliques, np.arange(len(blocks)), blocks, joined.rows, cliques, False, width,
        more,
    )  # fmt: skip
    sums = found.sum(axis=0) + more.reshape(-1, width).sum(axis=0)
    total: np.ndarray = np.sum(ranks.all_gather(sums), axis=0)
    return total


def _of_three(
    classes: MotifClasses, sums: dict[tuple[int, int], int], triangles: list[int]
) -> np.ndarray:
    """Of each class those of three vertices, whatever else joins them."""
    found = [0] * len(classes.ids)
    wedges = classes.table(forms.WEDGE).reshape(3, 3)
    for (a, b), number in sums.items():
        if a:
            found[wedges[a - 1, b - 1]] += number
    of_kind = dict(zip(TRIANGLE_OF.tolist(), classes.table(forms.TRIANGLE).tolist(), strict=True))
    for kind, number in enumerate(triangles):
        if kind in of_kind:
            found[of_kind[kind]] += number
    if max(found) > _MOST:
        raise IntegerOverflow(
            f"motifs: there are {max(found):,} pairs of edges of one vertex, beyond 64 bits: take a part of the graph"
        )
    return np.array(found)


def tables(classes: MotifClasses) -> tuple[np.ndarray, ...]:
    """What `kernels.motif_parts` takes."""
    seen = forms.STAR, forms.PATH, forms.TAILED_TRIANGLE, forms.CYCLE, forms.DIAMOND
    return tuple(classes.table(each) for each in seen)


def induced(counts: np.ndarray, classes: MotifClasses) -> np.ndarray:
    """Of graphs of each class in rows those that nothing else joins; in place."""
    for_blocks(
        kernels.motifs.induced, even_blocks(len(counts), work=len(classes.wholes)), *classes.parts(),
        counts,
    )  # fmt: skip
    return counts
