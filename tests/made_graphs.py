"""Graphs of known shapes and random ones from seeds, with the views that engines see."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View


@dataclass(frozen=True)
class MadeGraph:
    """Edges as arrays; those of an undirected graph once."""

    n: int
    source: np.ndarray
    destination: np.ndarray
    directed: bool = False
    ids: str = "uint32"
    weight: np.ndarray | None = None
    rank: np.ndarray | None = None  # place of each vertex in the order of the user's ids

    def view(self, *, into=False):
        """A new view, with the in-edges made already where `into`."""
        source, destination, columns = self.source, self.destination, {}
        if self.weight is not None:
            columns["weight"] = self.weight
        if not self.directed:
            other = source != destination
            columns = {name: np.r_[of, of[other]] for name, of in columns.items()}
            source, destination = (
                np.r_[source, destination[other]],
                np.r_[destination, source[other]],
            )
        rows = from_edges(self.n, source.astype(self.ids), destination.astype(self.ids), columns)
        rank = None if self.rank is None else self.rank.astype(self.ids)
        view = View.of(rows, directed=self.directed, user_rank=rank)
        if into:
            assert view.into is not None
        return view

    def frame(self):
        """As users have them."""
        columns = {"src": self.source, "dst": self.destination}
        return pd.DataFrame(columns | ({} if self.weight is None else {"weight": self.weight}))

    def edges(self):
        """As `oracles` takes them."""
        ends = [self.source.tolist(), self.destination.tolist()]
        return list(
            zip(*ends, *([] if self.weight is None else [self.weight.tolist()]), strict=True)
        )


def rmat(scale, edge_factor=16, *, seed=1, by_degree=True, **given):
    """R-MAT (.57, .19, .19, .05); dense ids by falling degree, or as drawn."""
    rng = np.random.default_rng(seed)
    n, size = 1 << scale, edge_factor << scale
    source, destination = np.zeros((2, size), np.int64)
    for _ in range(scale):
        draw = rng.random(size)
        source = 2 * source + (draw >= 0.76)
        destination = 2 * destination + (((draw >= 0.57) & (draw < 0.76)) | (draw >= 0.95))
    if by_degree:
        counted = destination if given.get("directed") else destination[source != destination]
        degree = np.bincount(np.r_[source, counted], minlength=n)
        place = np.empty(n, np.int64)
        place[np.argsort(-degree, kind="stable")] = np.arange(n)
        source, destination = place[source], place[destination]
    return MadeGraph(n, source, destination, **given)


def path(n, **given):
    return MadeGraph(n, np.arange(n - 1), np.arange(1, n), **given)


def star(n, **given):
    """Vertex 0 with all others."""
    return MadeGraph(n, np.zeros(n - 1, np.int64), np.arange(1, n), **given)


def grid(side, **given):
    place = np.arange(side * side).reshape(side, side)
    source = np.r_[place[:, :-1].ravel(), place[:-1].ravel()]
    return MadeGraph(side * side, source, np.r_[place[:, 1:].ravel(), place[1:].ravel()], **given)


def edgeless(n, **given):
    return MadeGraph(n, *np.empty((2, 0), np.int64), **given)


def apart(parts=20, size=50, *, seed=3, **given):
    """Random graphs that nothing joins, their vertices mixed."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(size, size=(2, parts, 2 * size)) + size * np.arange(parts)[:, None]
    return MadeGraph(parts * size, *rng.permutation(parts * size)[ends.reshape(2, -1)], **given)


def random_small(seed, **given):
    """With self-loops, repeated edges and isolated vertices."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    size = int(rng.integers(0, 4 * n))
    given = {"directed": bool(seed % 2), "ids": ("uint32", "uint64")[seed // 2 % 2]} | given
    if seed % 3 == 0:
        given = {"rank": rng.permutation(n)} | given
    return MadeGraph(n, *rng.integers(n, size=(2, size)), **given)


WEIGHTS = ("int64", "uint8", "float64", "float32", "zeros")


def weighted_small(seed, kind):
    """As `random_small`, with weights of a kind of `WEIGHTS`: among them zeros, and small ones that sums absorb."""
    rng, size = np.random.default_rng(seed), len(random_small(seed).source)
    weight = {
        "int64": rng.choice([0, 1, 2, 3, 2**53], size=size),
        "uint8": rng.integers(256, size=size, dtype=np.uint8),
        "float64": rng.choice([0.0, 0.5, 1.0, 1e-300, 2.0**53], size=size),
        "float32": rng.random(size, np.float32),
        "zeros": np.zeros(size, np.int64),
    }[kind]
    return random_small(seed, weight=weight)


def layers(width, number):
    """Layers in which every vertex leads to all of the next: width ** number paths to the end."""
    first = np.arange(number - 1)[:, None, None] * width
    source = np.broadcast_to(first + np.arange(width)[:, None], (number - 1, width, width))
    destination = np.broadcast_to(first + width + np.arange(width), source.shape)
    n = width * number
    ends = [np.arange(width), np.full(width, n + 1)]
    return MadeGraph(
        n + 2,
        np.r_[np.full(width, n), source.ravel(), n - width + ends[0]],
        np.r_[ends[0], destination.ravel(), ends[1]],
        directed=True,
    )


def simple(view):
    """A view without repeated edges, which would count as often as they occur."""
    out = view.out
    row = np.repeat(np.arange(out.num_vertices), out.degrees)
    row, neighbour = np.unique(np.stack([row, out.neighbours]).astype(np.int64), axis=1)
    ids = out.neighbours.dtype
    rows = from_edges(out.num_vertices, row.astype(ids), neighbour.astype(ids))
    return View.of(rows, directed=view.directed)


# The shapes that every traversal is tried on, each made when asked for.
SHAPES = {
    "star": lambda **given: star(5_000, **given),
    "path": lambda **given: path(3_000, **given),
    "grid": lambda **given: grid(60, **given),
    "apart": lambda **given: apart(**given),
    "edgeless": lambda **given: edgeless(70, **given),
    "skewed": lambda **given: rmat(12, **given),
    "skewed in any order": lambda **given: rmat(12, by_degree=False, **given),
}


def web(n=3000, m=9000, seed=3):
    """Edges to few vertices, of whom some have none, as a frame."""
    rng = np.random.default_rng(seed)
    edges = pd.DataFrame({"src": rng.integers(0, n, m), "dst": rng.zipf(1.4, m) % n})
    return edges[edges["src"] != edges["dst"]]
