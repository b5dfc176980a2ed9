"""Biconnected components by the places of a traversal: what is the same on the host and on GPUs.

References
----------
.. [1] Tarjan, Vishkin. An efficient parallel biconnectivity algorithm. SIAM J. Computing 14 (1985).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.csr import at_ends, offsets_of


@dataclass(frozen=True, eq=False)
class WalkedTrees:
    """Spanning trees, gone through: see kernels/cpu/biconnected.py.

    Attributes
    ----------
    place : of each vertex
    order : the vertex at each place
    up, last : by place, that of the parent and the last of what is below
    """

    place: np.ndarray
    order: np.ndarray
    up: np.ndarray
    last: np.ndarray

    @classmethod
    def of(cls, n: int, low: np.ndarray, high: np.ndarray, ids: np.dtype[Any]) -> WalkedTrees:
        """Of trees between ``n`` vertices with these edges. O(n), on one thread."""
        source, destination = np.concatenate([low, high]), np.concatenate([high, low])
        rows = np.argsort(source, kind="stable")
        offsets = offsets_of(np.bincount(source.astype(np.intp), minlength=n)).view(np.uint64)
        stack, parent, order, up = (np.empty(n, ids) for _ in range(4))
        place = np.full(n, n, ids)
        neighbours = destination[rows].astype(ids, copy=False)
        kernels.biconnected.traverse(offsets, neighbours, stack, parent, place, order, up)
        last = np.arange(n, dtype=ids)
        kernels.biconnected.add_below(up, last, last.copy(), last.copy())
        return cls(place, order, up, last)


class Blocks:
    """Biconnected components.

    Parameters
    ----------
    tree : WalkedTrees
    low, high : arrays of places, by place
        The first and the last one that an edge which is not of the tree leads to; become those of what is below, too.
    pairs : of arrays of places
        That are in one component each.

    Attributes
    ----------
    block : of each place, the component of the edge to its parent, by the first place that is in it
    """

    def __init__(
        self,
        tree: WalkedTrees,
        low: np.ndarray,
        high: np.ndarray,
        pairs: Iterable[tuple[np.ndarray, np.ndarray]],
    ) -> None:
        self.tree, self._low, self._high = tree, low, high
        up, last = tree.up, tree.last
        kernels.biconnected.add_below(up, last.copy(), low, high)
        self.block = np.arange(len(up), dtype=up.dtype)
        blocks = even_blocks(len(up))
        for one, other in pairs:
            for_blocks(kernels.components.link_pairs, even_blocks(len(one)), one, other, self.block)
        for_blocks(kernels.biconnected.link_parents, blocks, up, last, low, high, self.block)
        for_blocks(kernels.components.compress, blocks, self.block)

    def bridges(self) -> tuple[np.ndarray, np.ndarray]:
        """The ends of edges of the tree, the smaller first, from below which no other edge leads elsewhere."""
        tree, (i, has_parent) = self.tree, self._places()
        alone = np.flatnonzero(has_parent & (self._low >= i) & (self._high <= tree.last))
        ends = tree.order[alone], at_ends(tree.order, tree.up[alone])
        return np.minimum(*ends), np.maximum(*ends)

    def number(self) -> np.ndarray:
        """How many components each place is in: those below it, and that of the edge to its parent."""
        i, has_parent = self._places()
        below = self.tree.up[(self.block == i) & has_parent]
        found: np.ndarray = np.bincount(below.astype(np.intp), minlength=len(i)) + has_parent
        return found

    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """All places, and which of them have a parent."""
        up = self.tree.up
        i = np.arange(len(up), dtype=up.dtype)
        return i, up != i
