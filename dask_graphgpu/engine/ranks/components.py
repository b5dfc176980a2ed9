"""Weakly connected components on many ranks: trees on each, and labels of trees that all agree on.

Each rank links trees over the edges that are here; the label of a tree is the smallest number in it.
Two labels name the same component where they meet: a tree has the one, and its owner knows a ghost in
it by the other. All ranks are told of all such pairs and join them in the same way, so that labels
are as good as they can be after one exchange, however often components cross from rank to rank.

As on one rank [1], a few neighbours of each vertex are linked first, and the vertices of what is then
the largest component are not looked at again. An edge between two of them is not needed, and any
other edge between ranks is linked by the rank of an end that is not in it.

References
----------
.. [1] Sutton, Ben-Nun, Barak. Optimizing parallel graph connectivity computation via subgraph
   sampling. IPDPS 2018.
"""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.engine.cpu.components import ROUNDS, SAMPLES
from dask_graphgpu.engine.ranks.joining import JoinedLabels
from dask_graphgpu.engine.ranks.linked_edges import linked_components
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks
from dask_graphgpu.partition.ranks.edge_list import RankEdgeList
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.report import Report


def components(view: RankView | RankEdgeList, report: Report) -> np.ndarray:
    """Component of every vertex, the direction of edges ignored. Collective.

    Of edges without rows: see `linked_edges`.

    Returns
    -------
    array of the dtype of numbers, shape (num_vertices,)
        The smallest number in the component; right for own vertices.

    Notes
    -----
    Four exchanges, whatever the graph. Of the labels that meet each rank tells all others as many pairs as
    join them: one less than there are labels at most.
    """
    if isinstance(view, RankEdgeList):
        return linked_components(view, report)
    start = time.perf_counter()
    n, trees = view.num_vertices, _Trees(view)
    item = trees.parent.itemsize

    def note(edges: int) -> None:
        nonlocal start
        moved = edges * 2 * item + n * (2 * item + 16)  # an edge: an id and its parent
        now = time.perf_counter()
        report.advance(
            "link", supersteps=1, frontier=n, edges=edges, bytes=moved, seconds=now - start
        )
        start = now

    note(trees.link_sampled())
    note(trees.link_rest())
    labels: np.ndarray = trees.label.take(trees.parent)
    return labels


class _Trees:
    """The forest of a rank.

    Attributes
    ----------
    parent : shape (num_vertices,)
        As kernels have it; a child of the root wherever no kernel is at work.
    label : dtype of numbers, shape (num_vertices,)
        Of roots, the smallest number that is known to be in the component; others hold anything.
    """

    def __init__(self, view: RankView) -> None:
        self.view, self.ranks = view, view.ranks
        self.parent = np.arange(view.num_vertices, dtype=view.out.neighbours.dtype)
        self.blocks = even_blocks(view.num_vertices)
        self._sizes = view.graph_vertices, view.num_vertices
        self.label = view.numbers

    def link_sampled(self) -> int:
        """Link the first neighbours of own vertices, on all ranks; edges read."""
        view, rows = self.view, self.view.out
        for place in range(ROUNDS):
            of = self.blocks, rows.offsets, rows.neighbours, self.parent
            for_blocks(kernels.components.link_sampled, *of, place)
            for_blocks(kernels.components.compress, self.blocks, self.parent)
        self.label = view.numbers.copy()
        for_blocks(
            kernels.components.smallest_rank, self.blocks, self.parent, view.numbers, self.label
        )
        known = view.at_ghosts(self.label.take(self.parent))
        # A root is the first of its tree, and own vertices are before ghosts: a ghost that is a root is alone.
        ghosts = np.arange(view.num_owned, view.num_vertices)
        alone = self.parent[ghosts] == ghosts
        self.label[ghosts[alone]] = known[ghosts[alone]]
        joined = ghosts[~alone]
        self._join(self.label.take(self.parent[joined]), known[joined])
        return min(ROUNDS * view.num_owned, rows.num_edges)

    def link_rest(self) -> int:
        """Link all other edges that may be needed, on all ranks; edges read."""
        view, parent = self.view, self.parent
        skipped = self._largest()
        roots, read = self._roots(), 0
        for rows, first in ((view.out, ROUNDS), (view.into, 0))[: 1 + view.directed]:
            read += sum(for_blocks(
                kernels.components.link_rest, edge_blocks(rows.offsets),
                rows.offsets, rows.neighbours, parent, first, skipped,
            ))  # fmt: skip
        for_blocks(kernels.components.compress, self.blocks, parent)
        self._join(self.label[roots], self.label.take(parent[roots]))
        return read

    def _roots(self) -> np.ndarray:
        return np.flatnonzero(self.parent == np.arange(len(self.parent), dtype=self.parent.dtype))

    def _largest(self) -> int:
        """Make the trees of what is probably the largest component one; its root, or no vertex."""
        label, count = 0, 0
        if self.view.num_owned:
            sampled = np.random.default_rng(0).integers(self.view.num_owned, size=SAMPLES)
            labels, counts = np.unique(self.label.take(self.parent[sampled]), return_counts=True)
            label, count = int(labels[counts.argmax()]), int(counts.max())
        # Of the rank that has the most vertices in one component.
        found = self.ranks.scalars([label, count * self.view.num_owned])
        label = int(found[found[:, 1].argmax(), 0])
        roots = self._roots()
        roots = roots[self.label[roots] == label]
        if not len(roots):
            return len(self.parent)
        if len(roots) > 1:
            self.parent[roots] = roots[0]
            for_blocks(kernels.components.compress, self.blocks, self.parent)
        return int(roots[0])

    def _join(self, a: np.ndarray, b: np.ndarray) -> None:
        """Have labels that are paired on any rank become one, the smallest; collective."""
        differ = a != b
        joined = JoinedLabels.of(a[differ], b[differ], *self._sizes)
        every = np.concatenate(self.ranks.all_gather(joined.pairs().T)).T
        if every.size:
            both = JoinedLabels.of(every[0], every[1], *self._sizes)
            roots = self._roots()
            self.label[roots] = both.smallest(self.label[roots])
