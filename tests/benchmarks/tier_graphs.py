"""Graphs whose edges lie in host memory, made on the GPU: views by falling degree, plain and weighted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np
import pandas as pd

from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.view import View


def rmat(scale: int, edge_factor: int = 16, *, weighted: bool = True) -> tuple[View, View]:
    """R-MAT (.57, .19, .19)."""
    cp.random.seed(1)
    n, number = 1 << scale, edge_factor << scale
    ends = [cp.zeros(number, np.uint32) for _ in range(2)]
    for _ in range(scale):
        r = cp.random.random(number, dtype=np.float32)
        for end, bit in zip(
            ends, (r >= 0.76, ((r >= 0.57) & (r < 0.76)) | (r >= 0.95)), strict=True
        ):
            end *= 2
            end += bit
    return views(ends, n, weighted=weighted)


def grid(side: int) -> tuple[View, View]:
    """Square grid."""
    ids = cp.arange(side * side, dtype=np.uint32).reshape(side, side)
    a = cp.concatenate([ids[:, :-1].ravel(), ids[:-1].ravel()])
    b = cp.concatenate([ids[:, 1:].ravel(), ids[1:].ravel()])
    return views([a, b], side * side)


def real(path: Path) -> tuple[View, View]:
    """Edges of a Parquet file with whole numbers ``src`` and ``dst``, each looked at both ways."""
    frame = pd.read_parquet(path)
    codes, ids = pd.factorize(np.concatenate([frame["src"], frame["dst"]]))
    ends = np.split(codes.astype(np.uint32), 2)
    return views([cp.asarray(end) for end in ends], len(ids))


def views(ends: list[Any], n: int, *, weighted: bool = True) -> tuple[View, View]:
    """Undirected edges, by falling degree: in host memory, and with weights 1 to 64, if these are asked for."""
    degree = sum(cp.bincount(end, minlength=n) for end in ends)
    place = cp.empty(n, np.uint64)
    place[cp.argsort(-degree)] = cp.arange(n)
    a, b = (place[end] for end in ends)
    ends.clear()
    keys = cp.concatenate([a << np.uint64(32) | b, b << np.uint64(32) | a])
    del a, b, degree, place
    keys = keys[keys >> np.uint64(32) != keys & np.uint64(0xFFFFFFFF)]
    keys.sort()
    first = cp.ones(len(keys), bool)
    first[1:] = keys[1:] != keys[:-1]
    keys = keys[first]
    offsets = cp.searchsorted(keys, cp.arange(n + 1, dtype=np.uint64) << np.uint64(32))
    if not weighted:
        rows = cp.asnumpy(offsets).astype(np.int64), cp.asnumpy(keys.astype(np.uint32))
        plain = View.of(Adjacency(*rows), directed=False)
        return plain, plain
    u, v = keys >> np.uint64(32), keys & np.uint64(0xFFFFFFFF)
    mixed = (cp.minimum(u, v) << np.uint64(32) | cp.maximum(u, v)) * np.uint64(0x9E3779B97F4A7C15)
    weight = cp.asnumpy(((mixed >> np.uint64(40)) % np.uint64(64)).astype(np.int32) + 1)
    rows = cp.asnumpy(offsets).astype(np.int64), cp.asnumpy(v.astype(np.uint32))
    del keys, first, u, v, mixed, offsets
    cp.get_default_memory_pool().free_all_blocks()
    return (
        View.of(Adjacency(*rows), directed=False),
        View.of(Adjacency(*rows, {"weight": weight}), directed=False),
    )
