"""Vertex programs that the CPU engine is tried on, graphs for them, and both ways to run them."""

import heapq
from dataclasses import replace

import numpy as np
from engines import run
from rank_programs import PATHS

from dask_graphgpu.engine import interpret
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.fields import Field, Sum
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

TOP = 2**63 - 1

SSSP = VertexProgram(
    state={"distance": Field("weight", initial=None, at_source=0)},
    compute=lambda source_distance, weight: source_distance + weight,
    combine="min",
    priority=lambda distance: distance,
)
WIDEST = VertexProgram(
    state={"width": Field("weight", initial=None, at_source=TOP)},
    compute=lambda source_width, weight: min(source_width, weight),
    combine="max",
    priority=lambda width: -width,
)
LABELS = VertexProgram(
    state={"label": Field("id", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_label: source_label,
    combine="min",
    edges="both",
)
LABELS_BACK = replace(LABELS, edges="in")
SUMMED = VertexProgram(
    state={"x": Field("float64", initial=1.0)},
    compute=lambda source_x, edge_cost: source_x * edge_cost,
    combine="sum",
    apply=lambda message, x: 0.5 * x + 0.001 * message,
    stop=lambda superstep: superstep >= 4,
)
REACHED = VertexProgram(
    state={"seen": Field("bool", initial=None, at_source=True)},
    compute=lambda source_seen: source_seen,
    combine="any",
)
PAGERANK = VertexProgram(
    state={"rank": Field("float64", initial=lambda num_vertices: 1.0 / num_vertices)},
    compute=lambda source_rank, source_degree: source_rank / source_degree,
    combine="sum",
    apply=lambda message, dangling, damping, num_vertices: (
        (1.0 - damping) / num_vertices + damping * (message + dangling / num_vertices)
    ),
    constants={"damping": 0.85, "tolerance": 1e-10},
    aggregates={
        "dangling": Sum(lambda rank, degree: rank if degree == 0 else 0.0),
        "change": Sum(lambda rank, new_rank: abs(new_rank - rank)),
    },
    stop=lambda change, tolerance: change < tolerance,
)


def random_view(seed, *, weight="int64", directed=True, n=60, m=240, columns=None, **more):
    random = np.random.default_rng(seed)
    source, destination = random.integers(0, n - 5, m), random.integers(0, n - 5, m)
    values = random.integers(0, 9, m) if weight != "float64" else random.random(m) * 8
    columns = {} if weight is None else {"weight": values.astype(weight)}
    if not directed:
        source, destination = np.r_[source, destination], np.r_[destination, source]
        columns = {name: np.r_[column, column] for name, column in columns.items()}
    ids = np.uint64 if more.pop("wide", False) else np.uint32
    rows = from_edges(n, source.astype(ids), destination.astype(ids), columns)
    return View.of(rows, directed=directed, **more)


def chain(weights, dtype="int64"):
    """0 -> 1 -> 2 ... with these weights."""
    v = np.arange(len(weights))
    column = np.array(weights, dtype)
    return View.of(from_edges(len(weights) + 1, v, v + 1, {"weight": column}))


def star(weights):
    """Vertices 1 .. k all send to 0."""
    k = len(weights)
    columns = {"weight": np.array(weights, np.int64)}
    return View.of(from_edges(k + 1, np.arange(1, k + 1), np.zeros(k, np.int64), columns))


WEIGHT_SUM = VertexProgram(
    state={"total": Field("int64", initial=0)}, compute=lambda weight: weight, combine="sum"
)


def compiled(program, view, **arguments):
    return run(program, view, RunOptions(report=Report("test"), **arguments))


def interpreted(program, view, **arguments):
    return interpret.run(program, view, RunOptions(report=Report("test"), **arguments))


def same(found, expected, *, rtol=0.0):
    assert list(found) == list(expected)
    assert (found.reached is None) == (expected.reached is None)
    if found.reached is not None:
        np.testing.assert_array_equal(found.reached, expected.reached)
    for name in found:
        assert found[name].dtype == expected[name].dtype
        if rtol:
            np.testing.assert_allclose(found[name], expected[name], rtol=rtol)
        else:
            np.testing.assert_array_equal(found[name], expected[name])


def edges_of(view):
    out = view.out
    weight = np.ones(out.num_edges, np.int64) if out.weight is None else out.weight
    rows = np.repeat(np.arange(out.num_vertices), out.degrees)
    return list(zip(rows.tolist(), out.neighbours.tolist(), weight.tolist(), strict=True))


def dijkstra(view, source):
    rows = {}
    for u, v, w in edges_of(view):
        rows.setdefault(u, []).append((v, w))
    final, heap = {}, [(0, source)]
    while heap:
        distance, u = heapq.heappop(heap)
        if u not in final:
            final[u] = distance
            for v, w in rows.get(u, []):
                heapq.heappush(heap, (distance + w, v))
    return final


CASES = {
    "sssp": (SSSP, {"sources": [0]}, 0.0),
    "sssp from several": (SSSP, {"sources": [0, 7, 30]}, 0.0),
    "widest": (WIDEST, {"sources": [1]}, 0.0),
    "labels": (LABELS, {}, 0.0),
    "reached": (REACHED, {"sources": [2]}, 0.0),
    "pagerank": (PAGERANK, {"max_supersteps": 300}, 1e-9),
    "paths": (PATHS, {"sources": [0]}, 0.0),
}
