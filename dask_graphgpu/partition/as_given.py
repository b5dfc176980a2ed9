"""The rows of an edge frame as they were given, which the rows of an undirected graph alone do not tell.

An undirected graph has each edge at both ends, and once what was given in both directions. Whether one more row is
that same edge depends on the directions of the others, so these are kept: a bit an entry, and the rows left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency, offsets_of, transpose
from dask_graphgpu.partition.device.arrays import module_of

if TYPE_CHECKING:
    from dask_graphgpu.partition.partition import Partition

WEIGHT = "weight"
_STEPS = 32  # simple ones that a search takes
_BLOCK = 1 << 13  # bytes of bits that are packed at a time


@dataclass(frozen=True, eq=False)
class AsGiven:
    """What the rows of an undirected graph do not say of those of its frame.

    Attributes
    ----------
    turned : uint8 array or None
        A bit an entry of the rows, the first in the highest bit: it was given from the neighbour. None: every entry
        was given as it stands, as the frame has each edge in both directions.
    places : int64, shape (k,)
        Of each row that was left out, its place among all rows of the frame in the order of their ends.
    rows, neighbours : shape (k,)
        Its source and destination.
    columns : dict of arrays of shape (k,)
    """

    turned: np.ndarray | None = None
    places: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    rows: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint32))
    neighbours: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint32))
    columns: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, marked: Adjacency, keep: np.ndarray, dtype: np.dtype) -> AsGiven:
        """Of marked rows of which some are kept, before they are unmarked; ``dtype`` is that of neighbours."""
        neighbours = marked.neighbours
        one = neighbours.dtype.type(1)
        turned = packed(neighbours if keep.all() else neighbours[keep])
        if len(neighbours) == np.count_nonzero(keep):
            return cls(turned)
        forward = (neighbours & one) == 0
        left = np.flatnonzero(forward & ~keep)
        return cls(
            turned,
            offsets_of(forward)[left],
            (np.searchsorted(marked.offsets, left, "right") - 1).astype(dtype),
            (neighbours[left] >> one).astype(dtype),
            {name: column[left] for name, column in marked.columns.items()},
        )

    @property
    def arrays(self) -> list[np.ndarray]:
        """Every array that is held."""
        held = [self.places, self.rows, self.neighbours, *self.columns.values()]
        return held if self.turned is None else [self.turned, *held]


def packed(marked: np.ndarray) -> np.ndarray:
    """The lowest bit of each value, eight in a byte."""
    packed = np.empty(-(-len(marked) // 8), np.uint8)

    def some(lo: int, hi: int) -> None:
        for first in range(lo, hi, _BLOCK):
            last = min(first + _BLOCK, hi)
            bits = marked[8 * first : 8 * last].astype(np.uint8) & np.uint8(1)
            packed[first:last] = np.packbits(bits)

    for_blocks(some, even_blocks(len(packed), work=8))
    return packed


def rows_as_given(partition: Partition) -> Adjacency:
    """All rows of the frame by source, each as often as it was given, with all columns.

    Rows between two vertices are in the order of the frame. Cost: of a directed graph by source none; else a pass over
    its edges.
    """
    given = partition.use_given()
    if partition.layout.directed:
        return given if partition.layout.by == "source" else transpose(given)
    aside = partition.use_as_given()
    if aside.turned is None:
        return given
    forward = np.unpackbits(aside.turned, count=given.num_edges).view(bool)
    np.logical_not(forward, out=forward)
    offsets = offsets_of(forward)[given.offsets]
    neighbours = given.neighbours[forward]
    columns = {name: column[forward] for name, column in given.columns.items()}
    if not len(aside.places):
        return Adjacency(offsets, neighbours, columns)
    lengths = np.diff(offsets) + np.bincount(aside.rows, minlength=given.num_vertices)
    others = np.ones(len(neighbours) + len(aside.places), bool)
    others[aside.places] = False

    def mixed(kept: np.ndarray, left: np.ndarray) -> np.ndarray:
        made = np.empty(len(others), kept.dtype)
        made[others], made[aside.places] = kept, left
        return made

    return Adjacency(
        offsets_of(lengths),
        mixed(neighbours, aside.neighbours),
        {name: mixed(column, aside.columns[name]) for name, column in columns.items()},
    )


def check_columns(
    adjacency: Adjacency, aside: AsGiven | None, names: Iterable[str], tell: Callable[[bool], bool]
) -> None:
    """Raise where a row that was left out differs in some column from the row that stands for it.

    ``tell`` says whether any rank has found some.

    Raises
    ------
    InvalidArgument
    """
    for name in names:
        if name != WEIGHT and aside is not None and tell(has_lost(adjacency, aside, name)):
            refuse_lost(name)


def refuse_lost(name: str) -> NoReturn:
    """Raise InvalidArgument for a column of which an undirected graph has not all values."""
    raise InvalidArgument(
        f"edge column {name!r} has other values in rows a, b than in rows b, a, which in this undirected graph are "
        "one edge, so that some would be lost: leave directed=False out, and give each row in both directions"
    )


def has_lost(adjacency: Adjacency, aside: AsGiven, name: str) -> bool:
    """Whether a row that was left out has a value in a column that no row in its place has.

    Cost: as of `find_cells`.
    """
    if not len(aside.places):
        return False
    xp = module_of(aside.places)
    at, end = find_cells(adjacency, aside.rows, aside.neighbours)
    values, left = adjacency.columns[name], aside.columns[name]
    weights = adjacency.weight
    share = 0.0 if weights is None else tolerance(weights.dtype)
    open_ = xp.flatnonzero(at < end)
    lost = len(open_) < len(at)
    while not lost and len(open_):
        here = at[open_]
        same = values[here] == left[open_]
        if weights is not None:
            one, other = weights[here], aside.columns[WEIGHT][open_]
            same &= (one == other) | (
                xp.maximum(one, other) - xp.minimum(one, other) <= share * xp.maximum(one, other)
            )
        open_ = open_[~same]
        at[open_] += 1
        lost = bool(len(open_)) and int((at[open_] >= end[open_]).astype(np.int64).max()) > 0
    return lost


def tolerance(dtype: np.dtype[Any]) -> float:
    """Share of a weight up to which another one is the same but for rounding; 0 of integers."""
    if dtype.kind != "f":
        return 0.0
    return max(8 * float(np.finfo(dtype).eps), 1e-12)


def find_cells(
    adjacency: Adjacency, rows: np.ndarray, neighbours: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where the edges from ``rows`` to ``neighbours`` begin and end among those of an adjacency; int64.

    Cost: O(k log d) for k of them in rows of at most d edges; nothing else is read.
    """
    if module_of(rows) is np:
        first, end = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        wanted = neighbours.astype(adjacency.neighbours.dtype, copy=False)
        for_blocks(
            kernels.searching.find_cells, even_blocks(len(rows), work=_STEPS), adjacency.offsets, adjacency.neighbours,
            rows.astype(np.int64, copy=False), wanted, first, end,
        )  # fmt: skip
        return first, end
    xp, rows = module_of(rows), rows.astype(np.intp)
    found = []
    for right in (False, True):
        lo, hi = (adjacency.offsets[each].astype(np.int64) for each in (rows, rows + 1))
        while (open_ := xp.flatnonzero(lo < hi)).size:
            middle = (lo[open_] + hi[open_]) // 2
            there, wanted = adjacency.neighbours[middle], neighbours[open_]
            before = there <= wanted if right else there < wanted
            lo[open_[before]] = middle[before] + 1
            hi[open_[~before]] = middle[~before]
        found.append(lo)
    return found[0], found[1]
