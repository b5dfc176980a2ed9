"""The most similar vertices of each on many ranks: rows of remote neighbours come by parts and go again."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.engine.cpu.similar import Comparing, Found, joined
from dask_graphgpu.engine.ranks.jaccard import degrees_by_number
from dask_graphgpu.engine.similarity import Similarity
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition import rowwise
from dask_graphgpu.partition.csr import offsets_of
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.ranks.ghost_rows import FEW_EDGES, asked_edges, sent
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.report import Report


def similar(view: RankView, chosen: np.ndarray, asked: Similarity, report: Report) -> Found:
    """The partners of each chosen own vertex; see `contract_similarity.Similarities`. Collective.

    Notes
    -----
    Own vertices are taken in parts, for which the rows of remote neighbours come together: no more
    of them than the rank has of its own, but for vertices that need more by themselves. A row comes
    once for each part that needs it. Every rank has the degree of all vertices of the graph, and 16 bytes for
    each of them and block at work.
    """
    rows, own, numbers = view.symmetric, view.num_owned, view.numbers
    degree = view.at_ghosts(rows.degrees.copy())
    left_out = asked.left_out(degree[:own])
    report.left_out = {what: int(view.ranks.sum(number)) for what, number in left_out.items()}
    amounts, scale = asked.amounts(degree, int(view.ranks.max(int(degree.max(initial=0)))))
    comparing = Comparing(asked, amounts, scale, degrees_by_number(view, degree), report)
    walked = np.where(amounts > 0, degree, 0)
    vertices = np.flatnonzero(chosen[:own])
    vertices = vertices[np.argsort(numbers[vertices])]
    starts = np.empty(max(len(vertices), 1), np.int64)
    room = max(int(rows.offsets[own]), FEW_EDGES)
    parts = int(
        kernels.jaccard.cut_by_ghosts(
            vertices, rows.offsets, rows.neighbours, own, walked, room, starts
        )
    )
    cut = np.split(vertices, starts[1:parts]) if parts else []
    targets = numbers.take(rows.neighbours[: rows.offsets[own]])
    found = [(numbers[:0], numbers[:0], np.empty(0))]
    for i in range(int(view.ranks.max(parts))):
        some = cut[i] if i < parts else vertices[:0]
        ghosts = distinct(rows.neighbours[rowwise.edges_of(rows, some)]).astype(np.int64)
        ghosts = ghosts[(ghosts >= own) & (amounts[ghosts] > 0)]
        edges = asked_edges(view, rows, ghosts)
        far = sent(view, [numbers.take(rows.neighbours[each]) for each in edges])
        lengths = np.zeros(view.num_vertices, np.int64)
        lengths[:own], lengths[ghosts] = degree[:own], degree[ghosts]
        at = offsets_of(lengths)
        found.append(comparing.best(some, numbers[some], rows, at, np.concatenate([targets, far])))
    return joined(found)
