"""Motifs of three and four vertices that each vertex is in; whichever engine found the edges.

References
----------
.. [1] Hočevar, Demšar. A combinatorial approach to graphlet counting. Bioinformatics 30 (2014).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphgpu.engine import motif_classes as forms
from dask_graphgpu.engine.joined_rows import JoinedRows
from dask_graphgpu.engine.motif_classes import MotifClasses, motif_classes
from dask_graphgpu.engine.motif_counts import induced, tables
from dask_graphgpu.engine.room import require_room_on_each
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.report import Report

_KINDS = 27  # of triangles at a corner


def vertex_motifs(view: AnyView, edges: tuple[Any, Any], size: int, report: Report) -> np.ndarray:
    """Motifs of a size that the own vertices are in, by class; see the contract. Collective.

    Notes
    -----
    As `motif_counts`, for each vertex [1]_: what has the same vertices has each of them, so the same is taken away.
    Each rank looks for triangles from all vertices, and for what has four vertices from some.
    """
    start = time.perf_counter()
    classes = motif_classes(size)
    n, width = view.graph_vertices, len(classes.ids)
    copies = 3 if size == 4 else 1
    require_room_on_each(
        view, n * (copies * width + _KINDS) * 8, f"{width} motifs of {n:,} vertices"
    )
    joined = JoinedRows.of(view, edges, size, "vertex_motifs")
    numbers = view.numbers
    own = joined.place if numbers is None else joined.place.take(numbers[: view.num_owned])
    if size == 3:
        found = _of_three(joined, own, classes)
    else:
        found = _shared(view.ranks, own, _together(joined, view.ranks, classes))
        _add_leaves(joined, own, classes, found)
    report.advance(
        "motifs", supersteps=1, frontier=view.num_vertices, edges=joined.num_edges,
        bytes=joined.num_edges * 10 + found.nbytes, seconds=time.perf_counter() - start,
    )  # fmt: skip
    return induced(found, classes)


def _of_three(joined: JoinedRows, own: np.ndarray, classes: MotifClasses) -> np.ndarray:
    """What some vertices are in, whatever else joins the vertices."""
    found = np.zeros((len(own), len(classes.ids)), np.int64)
    for_blocks(
        kernels.vertex_motifs.of_three, even_blocks(len(own), work=_KINDS), own, joined.rows,
        joined.degree, _corners(joined), classes.table(forms.WEDGE), classes.table(forms.TRIANGLE),
        found,
    )  # fmt: skip
    return found


def _together(joined: JoinedRows, ranks: Ranks, classes: MotifClasses) -> np.ndarray:
    """What `kernels.vertex_motifs.count` and cliques have of all vertices, from the share of a rank."""
    width = len(classes.ids)
    found = np.zeros(len(joined.place) * width, np.int64)
    blocks = joined.blocks(joined.downward(), ranks)
    for_blocks(
        kernels.vertex_motifs.count, np.arange(len(blocks)), blocks, joined.rows, joined.degree,
        tables(classes), width, found,
    )  # fmt: skip
    blocks = joined.blocks(joined.upward(), ranks)
    for_blocks(
        kernels.motifs.cliques, np.arange(len(blocks)), blocks, joined.rows,
        classes.table(forms.CLIQUE), True, width, found,
    )  # fmt: skip
    return found.reshape(-1, width)


def _shared(ranks: Ranks, own: np.ndarray, found: np.ndarray) -> np.ndarray:
    """What all ranks have found of the own vertices. Collective."""
    if ranks.size == 1:
        return found.take(own, axis=0)
    rows = [found.take(theirs, axis=0) for theirs in ranks.all_gather(own)]
    total: np.ndarray = np.sum(ranks.all_to_all(rows), axis=0)
    return total


def _add_leaves(
    joined: JoinedRows, own: np.ndarray, classes: MotifClasses, found: np.ndarray
) -> None:
    """Add to what some vertices have together with others what they are leaves of."""
    n = len(joined.place)
    steps = np.zeros((n, 9), np.int64)
    for_blocks(
        kernels.vertex_motifs.onward, even_blocks(n, work=9), joined.rows, joined.degree, steps
    )
    for_blocks(
        kernels.vertex_motifs.leaves, even_blocks(len(own), work=_KINDS), own, joined.rows,
        joined.degree, steps, _corners(joined), tables(classes), found,
    )  # fmt: skip


def _corners(joined: JoinedRows) -> np.ndarray:
    """See `kernels.vertex_motifs`."""
    found = np.zeros(len(joined.place) * _KINDS, np.int64)
    blocks = joined.blocks(joined.downward())
    for_blocks(
        kernels.vertex_motifs.triangles, np.arange(len(blocks)), blocks, joined.rows, found
    )  # fmt: skip
    return found
