"""Graphs to measure on, as Parquet files with dense integer ids and integer or float weights."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from scipy.sparse import csgraph

JACCARD_PAIRS = 100_000

# Where traversals start that have a published answer from another vertex than that with most out-edges.
STARTS = {"git-v2.0.0": 0}

_AT_ONCE = 1 << 16  # edges that are drawn, so that they stay in the cache


@dataclass(frozen=True)
class BenchmarkGraph:
    """A Parquet file of edges ``src``, ``dst``, ``weight``; undirected ones give each edge once."""

    name: str
    path: Path
    directed: bool
    start: int | None = None  # where traversals start; None: the vertex with most out-edges

    def arrays(self, *names: str) -> tuple[np.ndarray, ...]:
        """Columns of the file."""
        table = pq.read_table(self.path, columns=list(names))
        return tuple(table[name].to_numpy() for name in names)

    def source(self) -> int:
        """Where traversals start."""
        if self.start is not None:
            return self.start
        src, dst = self.arrays("src", "dst")
        return int(np.bincount(src if self.directed else np.concatenate([src, dst])).argmax())

    def starts_of(self, algorithm: str) -> int | list[int] | np.ndarray:
        """What an algorithm starts from: a source, or what the rest of this says.

        Of betweenness the 16 smallest ids with out-edges; of several searches as many ids with
        out-edges, drawn at random; of one path the source and a vertex that half of those reached
        are nearer than; of the k-core k, half of the mean degree; of Jaccard coefficients the ends
        of edges, ``JACCARD_PAIRS`` at random, as an array of shape (pairs, 2).
        """
        if algorithm.endswith(" sources"):
            number = int(algorithm.split()[-2])
            some = np.unique(self.arrays("src")[0])
            drawn = np.random.default_rng(4).choice(some, number, replace=number > len(some))
            return [int(each) for each in drawn]
        if algorithm == "shortest path":
            return [self.source(), self._halfway()]
        if algorithm == "k-core":
            src, dst = self.arrays("src", "dst")
            return math.ceil(len(src) / len(np.unique(np.concatenate([src, dst]))))
        if algorithm == "jaccard":
            ends = np.stack(self.arrays("src", "dst"), axis=1)
            return ends[np.random.default_rng(3).integers(len(ends), size=JACCARD_PAIRS)]
        if not algorithm.endswith("betweenness"):
            return self.source()
        found: list[int] = np.unique(self.arrays("src")[0])[:16].tolist()
        return found

    def _halfway(self) -> int:
        src, dst = self.arrays("src", "dst")
        n = int(max(src.max(), dst.max())) + 1
        matrix = sp.coo_array((np.ones(len(src), np.int8), (src, dst)), shape=(n, n)).tocsr()
        order = csgraph.breadth_first_order(
            matrix, self.source(), directed=self.directed, return_predecessors=False
        )
        return int(order[len(order) // 2])


def rmat(scale: int, edge_factor: int, folder: Path) -> BenchmarkGraph:
    """Undirected R-MAT with a, b, c = .57, .19, .19, without repeats and loops, weights 1 to 64.

    Of ``2**scale`` vertices, scale at most 31; R-MAT 20 takes some seconds.
    """
    path = folder / f"rmat{scale}x{edge_factor}.parquet"
    if not path.exists():
        src, dst = _rmat_edges(scale, edge_factor << scale, 1)
        keys = np.sort((np.minimum(src, dst) << scale) | np.maximum(src, dst))
        keys = keys[
            np.diff(keys, prepend=-1) != 0
        ]  # np.unique hashes them, which takes 20 times as long
        low, high = keys >> scale, keys & ((1 << scale) - 1)
        _write(path, low[low != high], high[low != high])
    return BenchmarkGraph(f"R-MAT {scale} x {edge_factor}", path, directed=False)


def grid(side: int, folder: Path) -> BenchmarkGraph:
    """Undirected square grid, weights 1 to 64."""
    path = folder / f"grid{side}.parquet"
    if not path.exists():
        ids = np.arange(side * side).reshape(side, side)
        src = np.concatenate([ids[:, :-1].ravel(), ids[:-1].ravel()])
        dst = np.concatenate([ids[:, 1:].ravel(), ids[1:].ravel()])
        _write(path, src, dst)
    return BenchmarkGraph(f"grid {side} x {side}", path, directed=False)


def real(source: Path, *, directed: bool, folder: Path) -> BenchmarkGraph:
    """A graph of a Parquet file, without loops and repeats; weights 1 to 64 where it has none."""
    path = folder / source.name
    if not path.exists():
        edges = pd.read_parquet(source)
        edges = edges[edges.src != edges.dst].drop_duplicates(["src", "dst"])
        weight = edges["weight"].to_numpy() if "weight" in edges else None
        _write(path, edges["src"].to_numpy(), edges["dst"].to_numpy(), weight)
    return BenchmarkGraph(source.stem, path, directed, STARTS.get(source.stem))


def shuffled(graph: BenchmarkGraph, folder: Path) -> BenchmarkGraph:
    """The same under ids permuted at random, which say nothing of what is near."""
    path = folder / f"shuffled-{graph.path.name}"
    src, dst, weight = graph.arrays("src", "dst", "weight")
    order = np.random.default_rng(3).permutation(int(max(src.max(), dst.max())) + 1)
    if not path.exists():
        _write(path, order[src], order[dst], weight)
    start = int(order[graph.source()])
    return BenchmarkGraph(f"{graph.name}, permuted", path, graph.directed, start)


def _write(path: Path, src: np.ndarray, dst: np.ndarray, weight: np.ndarray | None = None) -> None:
    if weight is None:
        weight = np.random.default_rng(2).integers(1, 65, len(src))
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"src": src.astype(np.int64), "dst": dst.astype(np.int64), "weight": weight})
    made = path.with_suffix(f".{os.getpid()}")
    pq.write_table(table, made)
    made.replace(path)  # another process may be making it, too


def _rmat_edges(scale: int, number: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    drawn = np.arange(1 << 16) / (1 << 16)  # by 16 bits a quadrant
    source, destination = drawn >= 0.76, ((drawn >= 0.57) & (drawn < 0.76)) | (drawn >= 0.95)
    quadrant = (source.astype(np.int64) << 32) | destination
    ends = np.zeros(number, np.int64)  # both of an edge, side by side
    for lo in range(0, number, _AT_ONCE):
        here = ends[lo : lo + _AT_ONCE]
        for bits in rng.integers(0, 1 << 16, (scale, len(here)), dtype=np.uint16):
            here <<= 1
            here |= quadrant[bits]
    order = rng.permutation(1 << scale)  # ids say nothing of degrees
    return order[ends >> 32], order[ends & (2**32 - 1)]
