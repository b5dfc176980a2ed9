"""Partitions built by the rules for devices, and by those of the host."""

import numpy as np
import pandas as pd

from dask_graphgpu.io.edges import read_edges
from dask_graphgpu.io.schema import find_columns
from dask_graphgpu.io.vertices import read_vertices
from dask_graphgpu.partition import rowwise as host_rowwise
from dask_graphgpu.partition.build import build as host_build
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device.build import DeviceEdges, DeviceVertices, build


def frame_of(kind, edges=300, ids=40, dtype="int64", weight="int64"):
    """Edges of a kind that is built in a way of its own."""
    rng = np.random.default_rng(7)
    source, destination = rng.integers(0, ids, (2, edges))
    if kind == "skewed":
        ids *= 10
        source, destination = (ids * rng.random((2, edges)) ** 6).astype(np.int64)
    elif kind == "local":
        destination = (source + 1) % ids
    elif kind == "sparse":
        source, destination = source * 10**15, destination * 10**15
    elif kind == "negative":
        source, destination = source - ids, destination - ids // 2
    elif kind == "mirrored":
        source, destination = np.concatenate([[source, destination], [destination, source]], axis=1)
    frame = pd.DataFrame({"src": source.astype(dtype), "dst": destination.astype(dtype)})
    frame["weight"] = (rng.integers(0, 9, edges).tolist() * 2)[: len(frame)]
    frame["weight"] = frame["weight"].astype(weight)
    return frame


def both_builds(frame, layout, vertices=None, parts=1, xp=np):
    """Partitions built on the host and, of arrays of ``xp``, by the rules for devices."""
    schema = find_columns(frame)
    carried = ["weight"] if schema.weight else []
    cuts = np.array_split(np.arange(len(frame)), parts)
    host = [read_edges(frame.iloc[cut], schema, carried, "here") for cut in cuts]
    device = [
        DeviceEdges(
            (xp.asarray(frame["src"].to_numpy()[cut]),),
            (xp.asarray(frame["dst"].to_numpy()[cut]),),
            {name: xp.asarray(column) for name, column in chunk.columns.items()},
        )
        for cut, chunk in zip(cuts, host, strict=True)
    ]
    on_host, on_device = [], []
    if vertices is not None:
        on_host = [read_vertices(vertices, ["vertex"], ["value"], "the vertices frame", "here")]
        values, nulls = (
            {name: xp.asarray(column) for name, column in columns.items()}
            for columns in (on_host[0].columns, on_host[0].nulls)
        )
        ids = (xp.asarray(vertices["vertex"].to_numpy()),)
        on_device = [DeviceVertices(ids, values, nulls)]
    return host_build(host, on_host, layout), build(device, on_device, layout)


def assert_same(a, b):
    """Two adjacencies with the same edges; repeats of an edge in any order."""
    np.testing.assert_array_equal(a.offsets, b.offsets)
    np.testing.assert_array_equal(a.neighbours, b.neighbours)
    assert a.neighbours.dtype == b.neighbours.dtype
    assert {n: c.dtype for n, c in a.columns.items()} == {n: c.dtype for n, c in b.columns.items()}
    rows = host_rowwise.row_ids(Adjacency(a.offsets.astype(np.int64), a.neighbours))
    for name in a.columns:
        for column in (x.columns[name] for x in (a, b)):
            assert len(column) == len(rows)
        mine, others = (
            x.columns[name][np.lexsort((x.columns[name], a.neighbours, rows))] for x in (a, b)
        )
        np.testing.assert_allclose(mine, others, rtol=1e-12)
