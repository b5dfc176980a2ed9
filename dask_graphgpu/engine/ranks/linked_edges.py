"""Weakly connected components of edges that lie on the ranks that have read them, in no order and without rows.

Each rank links the ends of its edges; trees of numbers come of it, each with the smallest one as its root. A vertex
tells its root to its home, where the roots that several ranks know of one vertex meet. What meets is joined there,
always under the smallest number: of vertices at home that is their label from then on. Two numbers of lower homes
that have met are told to the home of the larger one. So news goes to lower homes only, and of k ranks nothing is new
after k - 1 rounds. A label of a lower home is then asked for there, until it is a root that its own home has.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from dask_graphgpu.engine.ranks.joining import JoinedLabels
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.distinct import distinct_vertices
from dask_graphgpu.partition.ranks.edge_list import RankEdgeList
from dask_graphgpu.partition.ranks.homes import Homes
from dask_graphgpu.report import Report


def linked_components(edges: RankEdgeList, report: Report) -> np.ndarray:
    """Component of every vertex that this rank is home to. Collective.

    Returns
    -------
    array of the dtype of numbers, shape (num_owned,)
        The smallest number in the component.

    Notes
    -----
    Cost: two looks at each edge; each vertex that a rank has seen travels once, with a label. Messages after that
    are of labels that differ: at most as many rounds as there are ranks, and the logarithm of that.
    """
    homes = edges.homes
    with _noted(report, edges.seen, sum(len(source) for source, _ in edges.edges)):
        known = _trees(edges)
    with _noted(report, edges.numbers, 0):
        labels = _Labels(homes)
        while homes.ranks.max(len(known[0])):
            known = labels.meet(*_at_homes(homes, *known))
        labels.settle()
    return labels.of_own


def _trees(edges: RankEdgeList) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of vertices that this rank has linked to a smaller one, ascending, and the smallest in their trees."""
    parent = np.arange(len(edges.seen), dtype=edges.seen.dtype)
    for source, destination in edges.edges:
        blocks = even_blocks(len(source))
        for_blocks(kernels.components.link_pairs, blocks, source, destination, parent)
    for_blocks(kernels.components.compress, even_blocks(len(parent)), parent)
    linked = np.flatnonzero(parent != np.arange(len(parent), dtype=parent.dtype))
    return edges.seen.take(linked), edges.seen.take(parent.take(linked))


def _at_homes(
    homes: Homes, numbers: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which vertices homes are told of, counted from their first, and the smaller numbers beside. Collective."""
    came = [(here, told) for here, (told,) in homes.tell(numbers, [labels])]
    here, told = zip((numbers[:0], labels[:0]), *came, strict=True)
    return np.concatenate(here), np.concatenate(told)


class _Labels:
    """Labels of the vertices that a rank is home to: the smallest number that each is known to be joined with.

    ``of_own`` : dtype of numbers, shape (num_here,). A label that is at home here is its own label.
    """

    def __init__(self, homes: Homes) -> None:
        self._homes = homes
        self.of_own = homes.numbers()

    def meet(self, here: np.ndarray, smaller: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Join vertices that are at home here with smaller numbers; pairs that lower homes are to be told."""
        first, size = self._homes.first, self._homes.num_here
        a, b = self.of_own.take(here), self._labels(smaller)
        number, smallest = JoinedLabels.of(a, b, first + size, size).pairs()
        lower = np.searchsorted(number, first)
        label = self._homes.numbers()
        label[number[lower:].astype(np.intp) - first] = smallest[lower:]
        self.of_own = self._labels(self.of_own, label)  # of other labels the homes are told
        return number[:lower], smallest[:lower]

    def settle(self) -> None:
        """Have labels be the smallest number of the whole component. Collective."""
        homes, first = self._homes, self._homes.first
        lower = np.flatnonzero(self.of_own < first)
        asked, codes = distinct_vertices(self.of_own[lower], len(homes))
        found = asked.copy()
        left = np.arange(len(asked))  # of those asked for whose root is not known yet
        while homes.ranks.max(len(left)):
            order = np.argsort(found[left])
            left = left[order]
            answers = homes.ask(found[left], self.of_own)
            # Homes have flat trees: what is of the home that was asked, too, is a root.
            further = self._home_of(answers) < self._home_of(found[left])
            found[left] = answers
            left = left[further]
            self.of_own[lower] = found.take(codes)

    def _labels(self, numbers: np.ndarray, label: np.ndarray | None = None) -> np.ndarray:
        """Labels of numbers, those of lower homes as they are; ``label`` : of own vertices, default: `of_own`."""
        if label is None:
            label = self.of_own
        first = numbers.dtype.type(self._homes.first)
        if not first:
            return label.take(numbers)
        here = np.flatnonzero(numbers >= first)
        labels = numbers.copy()
        labels[here] = label.take(numbers[here] - first)
        return labels

    def _home_of(self, numbers: np.ndarray) -> np.ndarray:
        homes: np.ndarray = np.searchsorted(self._homes.starts, numbers, side="right")
        return homes


@contextmanager
def _noted(report: Report, vertices: np.ndarray, edges: int) -> Iterator[None]:
    """Tell the report what a phase over so many vertices and edges took."""
    start, n = time.perf_counter(), len(vertices)
    yield
    moved = 4 * vertices.itemsize * (edges + n)  # both ends and their parents, and labels
    now = time.perf_counter()
    report.advance("link", supersteps=1, frontier=n, edges=edges, bytes=moved, seconds=now - start)
