"""Graphs to measure the GPU engine on, made on the device as cuDF frames of edges.

Each holds both directions of every edge, without repeats and self-loops; weights are 1 to 64, the
same in both directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cudf
import cupy as cp
import numpy as np

_PIECE = 1 << 26  # edges of a part of a graph that are drawn at once
_BUCKET = 1 << 28  # the same that are sorted at once, about
_FIRST, _DRAWN = 16, 1024  # candidates of `chosen`: of each part, and of all


@dataclass(frozen=True)
class DeviceGraph:
    """A frame with int32 ``src`` and ``dst`` and float32 or int32 ``weight``."""

    name: str
    edges: Any
    source: int
    num_vertices: int

    def sources(self, number: int) -> list[int]:
        """Ids of vertices with edges, drawn at random."""
        return drawn(self.edges, number)

    def pairs(self, number: int = 1_000_000) -> Any:
        """Different vertices with edges, ordered by both."""
        cp.random.seed(11)
        drawn = cp.random.randint(len(self.edges), size=(2, number))
        first, second = (cp.asarray(self.edges["src"])[rows] for rows in drawn)
        keys = cp.unique(_key(first, second)[first != second])
        return cudf.DataFrame(
            {
                "src": (keys >> np.uint64(32)).astype(np.int32),
                "dst": (keys & np.uint64(0xFFFFFFFF)).astype(np.int32),
            }
        )

    def halved(self) -> Any:
        """About half of the edges, each direction of one drawn by itself."""
        source, destination = (
            cp.asarray(self.edges[name]).astype(np.uint64) for name in ("src", "dst")
        )
        drawn = source * np.uint64(0x9E3779B97F4A7C15) + destination
        drawn *= np.uint64(0xBF58476D1CE4E5B9)
        return self.edges[["src", "dst"]][drawn >> np.uint64(63) == 0].reset_index(drop=True)

    def weighted(self, dtype: str) -> Any:
        """The edges with weights of a type."""
        edges = self.edges.copy(deep=False)
        edges["weight"] = cp.asarray(edges["weight"]).astype(dtype)
        return edges


def rmat(scale: int, edge_factor: int = 16) -> DeviceGraph:
    """R-MAT with a, b, c = .57, .19, .19; ids say nothing of degrees."""
    cp.random.seed(1)
    ends = _rmat_ends(scale, edge_factor << scale)
    order = cp.random.permutation(1 << scale).astype(np.uint32)
    return _graph(f"R-MAT {scale} x {edge_factor}", *(order[end] for end in ends), 1 << scale)


def rmat_part(
    part: int, parts: int, scale: int, edge_factor: int = 16, *, weights: bool = True
) -> Any:
    """One of ``parts`` frames that are an R-MAT graph together, each edge in one direction.

    Whoever makes a part draws all edges and keeps those that a hash of their ends gives it, so that
    parts can be made anywhere, and no edge is in two of them. Without ``weights`` there are ends only.
    Memory: some 30 bytes an edge of the part; a frame holds 2**31 - 1 edges at most.
    """
    cp.random.seed(1)
    order = cp.random.permutation(1 << scale).astype(np.uint32)
    number = edge_factor << scale
    buckets = max(number // parts // _BUCKET, 1)
    kept: list[list[Any]] = [[] for _ in range(buckets)]
    for first in range(0, number, _PIECE):
        cp.random.seed(2 + first // _PIECE)
        a, b = (order[end] for end in _rmat_ends(scale, min(_PIECE, number - first)))
        keys = _key(cp.minimum(a, b), cp.maximum(a, b))[a != b]
        drawn_for = keys * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40)
        drawn_for %= np.uint64(parts * buckets)
        for bucket, each in enumerate(kept):
            each.append(keys[drawn_for == np.uint64(part * buckets + bucket)])
    del order, a, b, keys, drawn_for
    made = [_columns(_distinct(cp.concatenate(kept.pop())), weights) for _ in range(buckets)]
    # One column after another: the frame is all that stays.
    columns = {}
    for name in list(made[0]):
        columns[name] = cp.concatenate([each.pop(name) for each in made])
    cp.get_default_memory_pool().free_all_blocks()
    return cudf.DataFrame(columns)


def drawn(edges: Any, number: int) -> list[int]:
    """Sources of edges, drawn at random."""
    cp.random.seed(7)
    some = cp.random.randint(len(edges), size=4 * number)
    ids = cp.unique(cp.asarray(edges["src"])[some])
    return cp.random.permutation(ids)[:number].tolist()


def busiest(edges: Any) -> int:
    """The vertex that most edges have as an end."""
    ends = [cp.asarray(edges[name]) for name in ("src", "dst")]
    most = max(int(end.max()) for end in ends) + 1
    return int(sum(cp.bincount(end, minlength=most) for end in ends).argmax())


def chosen(part: Any, ranks: Any, scale: int, number: int) -> list[int]:
    """The vertex that most edges have as an end, then sources of edges; the same for any parts.

    ``part``: of this rank, of a graph of 2**scale ids; collective.
    """
    ends = [cp.asarray(part[name]) for name in ("src", "dst")]
    degrees = sum(cp.bincount(end, minlength=1 << scale) for end in ends)
    # The first of all has many edges in each part.
    most = cp.argpartition(-degrees, min(_FIRST, 1 << scale) - 1)[:_FIRST]
    every = np.unique(np.concatenate(ranks.all_gather(cp.asnumpy(most))))
    totals = sum(ranks.all_gather(cp.asnumpy(degrees[cp.asarray(every)])))
    drawn_by = _key(*ends) * np.uint64(0xBF58476D1CE4E5B9)
    least = np.uint64(min(2**64 // max(len(part) * ranks.size // _DRAWN, 1), 2**64 - 1))
    rows = cp.flatnonzero(drawn_by <= least)
    found = cp.asnumpy(cp.stack([drawn_by[rows], ends[0][rows].astype(np.uint64)], axis=1))
    found = np.concatenate(ranks.all_gather(found))
    sources = dict.fromkeys(found[np.argsort(found[:, 0]), 1].tolist())
    return [int(every[totals.argmax()]), *list(sources)[:number]]


def _rmat_ends(scale: int, number: int) -> list[Any]:
    """Sources and destinations of edges drawn from CuPy's random numbers."""
    ends = [cp.zeros(number, np.uint32) for _ in range(2)]
    for _ in range(scale):
        r = cp.random.random(number, dtype=np.float32)
        for end, bit in zip(
            ends, (r >= 0.76, ((r >= 0.57) & (r < 0.76)) | (r >= 0.95)), strict=True
        ):
            end *= np.uint32(2)
            end += bit
    return ends


def grid(side: int) -> DeviceGraph:
    """Square grid."""
    ids = cp.arange(side * side, dtype=np.uint32).reshape(side, side)
    a = cp.concatenate([ids[:, :-1].ravel(), ids[:-1].ravel()])
    b = cp.concatenate([ids[:, 1:].ravel(), ids[1:].ravel()])
    return _graph(f"grid {side} x {side}", a, b, side * side, source=0)


def real(path: Path) -> DeviceGraph:
    """A Parquet file, taken as undirected."""
    edges = cudf.read_parquet(path, columns=["src", "dst"])
    ends = [cp.asarray(edges[name]).astype(np.uint32) for name in ("src", "dst")]
    return _graph(path.stem, *ends, int(max(end.max() for end in ends)) + 1)


def _graph(name: str, a: Any, b: Any, n: int, source: int | None = None) -> DeviceGraph:
    keys = cp.concatenate([_key(a, b), _key(b, a)])
    del a, b
    edges = _frame(_distinct(keys[keys >> np.uint64(32) != keys & np.uint64(0xFFFFFFFF)]))
    if source is None:
        source = int(cp.bincount(cp.asarray(edges["src"]), minlength=n).argmax())
    cp.get_default_memory_pool().free_all_blocks()
    return DeviceGraph(name, edges, source, n)


def _distinct(keys: Any) -> Any:
    keys.sort()
    first = cp.ones(len(keys), bool)
    first[1:] = keys[1:] != keys[:-1]
    return keys[first]


def _frame(keys: Any) -> Any:
    return cudf.DataFrame(_columns(keys))


def _columns(keys: Any, weights: bool = True) -> dict[str, Any]:
    """Of a frame of edges, the source in the upper half of a key."""
    src = (keys >> np.uint64(32)).astype(np.int32)
    dst = (keys & np.uint64(0xFFFFFFFF)).astype(np.int32)
    return {"src": src, "dst": dst, **({"weight": _weights(src, dst)} if weights else {})}


def _key(high: Any, low: Any) -> Any:
    return high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)


def _weights(src: Any, dst: Any) -> Any:
    """1 to 64 by a mix of both ends' bits; the same in both directions."""
    mixed = _key(cp.minimum(src, dst), cp.maximum(src, dst)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return ((mixed >> np.uint64(40)) % np.uint64(64)).astype(np.int32) + 1
