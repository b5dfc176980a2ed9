"""The best paths of a graph in memory that go through no vertex twice: Yen's method, on the host, on all engines.

References
----------
.. [1] Yen, "Finding the k shortest loopless paths in a network", Management Science 17, 1971.
.. [2] Lawler, "A procedure for computing the k best solutions to discrete optimization problems and its application to
   the shortest path problem", Management Science 18, 1972.
.. [3] Hart, Nilsson, Raphael, "A formal basis for the heuristic determination of minimum cost paths", IEEE Transactions
   on Systems Science and Cybernetics 4, 1968.
"""

from __future__ import annotations

import heapq
from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.csr import offsets_of

# What sums of floats may differ by, as a part, when they are added up from the other end.
SLACK = 1e-9

_ANY = -1  # hops that are not limited, as in kernels/cpu/simple_paths.py
_LABELS = 1024  # at first


@dataclass(frozen=True, eq=False)
class Path:
    """A path, and where it left an earlier one.

    Attributes
    ----------
    vertices : int64 array
    length : array
        Up to each vertex.
    start : int
        Place of the vertex at which it left.
    barred : tuple of int
        Where it must not have gone from there, as earlier paths did.
    """

    vertices: np.ndarray
    length: np.ndarray
    start: int
    barred: tuple[int, ...]


class SimplePaths:
    """Paths from one vertex to another, by length, then by number of edges, then by their vertices in turn.

    Parameters
    ----------
    source, destination : int64 arrays
        Edges, each direction of an undirected one; of repeated ones the lightest counts.
    weight : int64 or float64 array
    rest : array of the type of weights, shape (vertices,)
        How long a path from each vertex to the target is at least.
    rest_hops : int64 array, shape (vertices,)
        How many edges it has at least; not read unless these are limited.
    most_hops : int, optional

    Attributes
    ----------
    overflows : bool
        Whether there was a path whose length does not fit int64; it is left out.
    """

    def __init__(
        self,
        source: np.ndarray,
        destination: np.ndarray,
        weight: np.ndarray,
        rest: np.ndarray,
        rest_hops: np.ndarray,
        most_hops: int | None,
    ) -> None:
        n = len(rest)
        self._rows = _rows(source, destination, weight, n)
        hops = _ANY if most_hops is None else min(most_hops, n)
        self._rest, self._limits = rest, (rest, rest_hops, hops)
        self._hops = hops
        self._exact = rest.dtype.kind != "f"
        self._shut, self._barred = np.zeros((2, n), bool)
        self._first, self._way = np.full(n, -1), np.empty(n, np.int64)
        self._labels: list[np.ndarray] = []
        self._make_labels(_LABELS)
        self.overflows = False

    def best(self, source: int, target: int, k: int, limit: Any) -> list[Path]:
        """The best ``k`` paths, or as many as there are, of a length of at most ``limit``.

        Notes
        -----
        Paths are divided into classes [1]_ [2]_: those of a class leave a path that is found already at the same one
        of its vertices, by an edge that no path found before takes there. A class has a lower bound of the length of
        its best path. Classes and paths wait in a heap; a class is searched when it is the first, so that most never
        are.
        """
        start = Path(np.array([source]), np.zeros(1, self._rest.dtype), 0, ())
        if source == target:
            return [start]
        waiting: list[tuple[Any, ...]] = []
        lengths: list[Any] = []  # of the paths among them, ascending
        found: list[Path] = []
        number = count()

        def bound() -> Any:
            left = k - len(found)
            return self._loose(lengths[left - 1], limit) if len(lengths) >= left else limit

        def offer(path: Path | None) -> None:
            if path is not None:
                insort(lengths, path.length[-1].item())
                vertices = path.vertices.tolist()
                key = path.length[-1].item(), 1, len(vertices), vertices
                heapq.heappush(waiting, (*key, path))

        offer(self._search(start, 0, (), target, bound()))
        while waiting and len(found) < k:
            least, is_path, *_, given = heapq.heappop(waiting)
            if least > bound():
                break
            if not is_path:
                path, place, barred = given
                offer(self._search(path, place, barred, target, bound()))
                continue
            lengths.pop(0)
            found.append(given)
            if len(found) < k:
                for length, *one in self._classes(given, bound()):
                    heapq.heappush(waiting, (length, 0, next(number), 0, one))
        return sorted(found, key=lambda p: (p.length[-1], len(p.vertices), p.vertices.tolist()))

    def _loose(self, length: Any, limit: Any) -> Any:
        """What a length is at most when it is added up in another way."""
        return length if self._exact else min(length * (1 + SLACK), limit)

    def _classes(self, path: Path, bound: Any) -> Iterator[tuple[Any, ...]]:
        """The least length, path, place and ways that are barred of classes of paths that leave one."""
        places = len(path.vertices) - 1
        found, known = np.zeros(places, self._rest.dtype), np.zeros(places, bool)
        self._barred[list(path.barred)] = True
        kernels.simple_paths.least(
            *self._rows, *self._limits, self._exact, self._shut, self._barred, path.vertices, path.length,
            path.start, self._rest.dtype.type(bound), found, known,
        )  # fmt: skip
        self._barred[list(path.barred)] = False
        for place in np.flatnonzero(known).tolist():
            after = (int(path.vertices[place + 1]),)
            barred = path.barred + after if place == path.start else after
            yield found[place].item(), path, place, barred

    def _search(
        self, path: Path, place: int, barred: tuple[int, ...], target: int, bound: Any
    ) -> Path | None:
        """The best path that goes along another up to a place, and then none of the ways that are barred."""
        root, spur = path.vertices[: place + 1], int(path.vertices[place])
        hops = self._hops if self._hops == _ANY else self._hops - place
        self._shut[root] = True
        self._barred[list(barred)] = True
        while True:
            steps, overflows = kernels.simple_paths.search(
                *self._rows, *self._limits[:2], hops, self._shut, self._barred, spur, target, path.length[place],
                self._rest.dtype.type(bound), 0.0 if self._exact else SLACK, self._first, *self._labels, self._way,
            )  # fmt: skip
            if steps >= 0:
                break
            self._make_labels(2 * len(self._labels[0]))
        self._shut[root] = False
        self._barred[list(barred)] = False
        self.overflows |= bool(overflows)
        if not steps:
            return None
        vertices = np.concatenate([root, self._way[:steps]])
        length = np.empty(len(vertices), self._rest.dtype)
        length[: place + 1] = path.length[: place + 1]
        kernels.simple_paths.measure(*self._rows, vertices, place, length)
        return Path(vertices, length, place, barred)

    def _make_labels(self, number: int) -> None:
        """Room for labels: what the kernel calls next_label, vertex, length, total, hops, before, place, heap."""
        whole, length = np.dtype(np.int64), self._rest.dtype
        kinds = (whole, whole, length, length, whole, whole, whole, whole)
        self._labels = [np.empty(number, kind) for kind in kinds]


def _rows(
    source: np.ndarray, destination: np.ndarray, weight: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Offsets, neighbours and weights of edges, ascending in each row, of repeated ones the lightest."""
    order = np.lexsort((weight, destination, source))
    source, destination, weight = source[order], destination[order], weight[order]
    first = np.ones(len(order), bool)
    first[1:] = (source[1:] != source[:-1]) | (destination[1:] != destination[:-1])
    offsets = offsets_of(np.bincount(source[first], minlength=n))
    return offsets, destination[first], weight[first]
