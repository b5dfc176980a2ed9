"""As `partition.as_given`, with what undirected rows do not say in pages on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.partition.as_given import WEIGHT, AsGiven, has_lost
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.paged.files import PagedArray, PageWriter
from dask_graphgpu.partition.paged.folder import SpillFolder


@dataclass(frozen=True, eq=False)
class PagedAsGiven:
    """What the rows of an undirected graph do not say of those of its frame.

    Attributes
    ----------
    turned : PagedArray of uint8 or None
        One an entry of the rows: 1, it was given from the neighbour. None: as of `AsGiven`.
    left : dict of PagedArray
        Of each row that was left out "rows" (its source), "neighbours" and, as "column <name>", what it carries.
    lost : set of str
        Columns in which a row that was left out differs from the one that stands for it.
    """

    turned: PagedArray | None
    left: dict[str, PagedArray]
    lost: frozenset[str] = frozenset()

    @property
    def arrays(self) -> list[PagedArray]:
        """Every array that is held."""
        return [*([] if self.turned is None else [self.turned]), *self.left.values()]


class AsGivenWriter:
    """Writes what rows do not say, run by run as the rows are written."""

    def __init__(
        self, dtype: Any, kinds: Mapping[str, np.dtype[Any]], folder: SpillFolder, page_bytes: int
    ) -> None:
        self._turned = PageWriter(folder, "turned", np.uint8, page_bytes)
        self._lost = set[str]()
        named = {"rows": dtype, "neighbours": dtype} | _columns(kinds)
        self._left = {
            name: PageWriter(folder, f"left-{i}", kind, page_bytes)
            for i, (name, kind) in enumerate(named.items())
        }

    def append(self, first: int, made: Adjacency, aside: AsGiven) -> None:
        """Write what is beside the rows from ``first`` on."""
        assert aside.turned is not None
        self._turned.append(np.unpackbits(aside.turned, count=made.num_edges))
        for name in made.columns.keys() - self._lost - {WEIGHT}:
            if has_lost(made, aside, name):
                self._lost.add(name)
        rows = aside.rows + aside.rows.dtype.type(first)
        left = {"rows": rows, "neighbours": aside.neighbours} | _columns(aside.columns)
        for name, values in left.items():
            self._left[name].append(values)

    def close(self) -> PagedAsGiven:
        return PagedAsGiven(
            self._turned.close(),
            {name: each.close() for name, each in self._left.items()},
            frozenset(self._lost),
        )


def _columns(of: Mapping[str, Any]) -> dict[str, Any]:
    return {f"column {name}": each for name, each in of.items()}
