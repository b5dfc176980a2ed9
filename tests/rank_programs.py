"""Vertex programs that between them read all that a program may, to run on any number of ranks."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dask_graphgpu.algorithms import (
    circuit_simulation,
    heat_simulation,
    neural_network,
    pagerank,
    sswp,
)
from dask_graphgpu.algorithms.linear_beliefs import System
from dask_graphgpu.engine import known
from dask_graphgpu.fields import Field, Max, Min, Sum
from dask_graphgpu.program import VertexProgram

TOP = 2**63 - 1


@dataclass(frozen=True)
class Case:
    """A program, the graphs that it runs on, and what it is run with."""

    program: VertexProgram
    weight: str | None = None  # dtype
    columns: Callable = lambda view, rng: {}  # of the vertices frame, of the view
    arguments: Callable = lambda n: {}  # of the run, of the number of vertices
    rtol: float = 0.0


def steps(number, **more):
    return lambda n: {"max_supersteps": number, "exact_supersteps": True, **more}


def source(**more):
    return lambda n: {"sources": [n // 2], **more}


def drawn(**kinds):
    """Columns of random values: floats, or integers below a number."""

    def columns(view, rng):
        n = view.num_vertices
        return {
            name: rng.random(n) if kind is float else rng.integers(0, kind, n)
            for name, kind in kinds.items()
        }

    return columns


def no_column(view, rng):
    return {}


def terminals(view, rng):
    """Of a circuit: held are some vertices, and those that have no conductance."""
    n = view.num_vertices
    held = (np.arange(n) % 3 != 1) | (view.weighted_degrees("both") == 0)
    return {"start": rng.random(n), "current": rng.random(n), "held": held}


def few_residuals(view, rng):
    n = view.num_vertices
    return {"residual": np.where(np.arange(n) < 3, 0.15 / min(n, 3), 0.0)}


def same_personalization(view, rng):
    return {"personalization": np.full(view.num_vertices, 1 / view.num_vertices)}


HOPS = VertexProgram(
    state={"hops": Field("int32", initial=None, at_source=0)},
    compute=lambda source_hops: source_hops + 1,
    combine="min",
)
WITHIN = VertexProgram(  # only vertices nearer than a limit send on
    state={"hops": Field("int64", initial=100, at_source=0)},
    compute=lambda source_hops: source_hops + 1,
    combine="min",
    active=lambda hops, new_hops, most: new_hops < hops and new_hops < most,
    constants={"most": 3},
)
PATHS = VertexProgram(  # number of shortest paths, counted level by level
    state={
        "level": Field("int64", initial=-1, at_source=0),
        "paths": Field("int64", initial=0, at_source=1),
    },
    compute=lambda source_paths: source_paths,
    combine="sum",
    message="int64",
    apply=lambda level, paths, message, received, superstep: {
        "level": superstep if received and level < 0 else level,
        "paths": message if received and level < 0 else paths,
    },
    active=lambda level, new_level: new_level != level,
)
LABELS = VertexProgram(
    state={"label": Field("id", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_label: source_label,
    combine="min",
    edges="both",
)
FLAGS = VertexProgram(
    state={"seen": Field("bool", initial=None, at_source=True)},
    compute=lambda source_seen: source_seen,
    combine="any",
    edges="in",
)
ENDS = VertexProgram(  # reads both ends, ids and degrees
    state={"x": Field("float64", initial=lambda id, num_vertices: id / num_vertices)},  # noqa: A006
    compute=lambda source_x, destination_x, source_id, destination_degree, weight: (
        (source_x - destination_x) * weight / (1 + destination_degree) + 0.001 * source_id
    ),
    combine="sum",
    apply=lambda x, message, degree, weighted_degree, superstep: (
        0.5 * x + 0.1 * message / (1 + degree) + 0.01 * weighted_degree / superstep
    ),
)
NARROW = VertexProgram(
    state={"x": Field("float32", vertices="start"), "n": Field("int32", vertices="count")},
    compute=lambda source_x, source_n: source_x + source_n,
    combine="max",
    message="float32",
    apply=lambda x, n, message, received: {
        "x": 0.5 * message if received else x,
        "n": (n + 1) % 5,
    },
    edges="both",
)
AGGREGATES = VertexProgram(  # every way in which one is worked out
    state={"x": Field("int64", vertices="start")},
    compute=lambda source_x, weight: source_x + weight,
    combine="max",
    message="int64",
    apply=lambda x, message, total, received: (x + message + total) % 1009 if received else x,
    aggregates={
        "total": Sum(lambda x: x % 7),
        "least": Min(lambda x, superstep: x + superstep),
        "share": Sum(lambda x, total: x / (total + 1)),
        "most": Max(lambda new_x: new_x),
        "changed": Sum(lambda x, new_x: 1 if x != new_x else 0),
        "far": Max(lambda new_x, most: most - new_x),
        "nearest": Min(lambda new_x, degree: float(new_x) / (degree + 1)),
    },
    stop=lambda superstep, changed: superstep >= 6 or changed == 0,
)
MANY_AGGREGATES = VertexProgram(  # more than fit in beside the values
    state={"x": Field("int64", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_x: source_x,
    combine="max",
    message="int64",
    apply=lambda x, message, degree: x + degree % 3 if message < 50 else x,
    aggregates={f"sum_{i}": Sum(lambda new_x: new_x) for i in range(9)},
    stop=lambda sum_8, superstep: superstep > 3,
)
WEIGHTED_IN = VertexProgram(
    state={"x": Field("weight", initial=1)},
    compute=lambda source_x, weight, source_weighted_degree: (
        (source_x + weight) // (1 + source_weighted_degree % 3)
    ),
    combine="sum",
    apply=lambda x, message: (x + message) % 101,
    edges="in",
)
BOTH_WEIGHTED = VertexProgram(
    state={"x": Field("float64", initial=1.0)},
    compute=lambda source_x, weight, destination_weighted_degree: (
        source_x * weight / destination_weighted_degree if destination_weighted_degree > 0 else 0.0
    ),
    combine="sum",
    edges="both",
)

# Over integers, floats and zeros, with and without a limit.
CASES = {
    f"sssp {kind}": Case(known.DISTANCES, kind, arguments=source())
    for kind in ("int64", "int8", "float64", "float32")
} | {
    "sssp, a cutoff": Case(known.DISTANCES, "int64", arguments=source(cutoff=4)),
    "sssp, in supersteps": Case(
        known.DISTANCES, "int64", arguments=source(max_supersteps=100)
    ),
    "sssp from several": Case(
        known.DISTANCES, "float64", arguments=lambda n: {"sources": [0, n // 3, n - 1]}
    ),
    "sswp int64": Case(sswp.program(TOP), "int64", arguments=source()),
    "sswp float64": Case(sswp.program(float("inf")), "float64", arguments=source()),
    "sswp, a cutoff": Case(sswp.program(TOP), "int32", arguments=source(cutoff=-3)),
    "hops": Case(HOPS, arguments=source()),
    "hops within": Case(WITHIN, arguments=source()),
    "paths": Case(PATHS, arguments=source()),
    "labels": Case(LABELS),
    "flags": Case(FLAGS, arguments=source()),
    "ends": Case(ENDS, "float64", arguments=steps(5), rtol=1e-9),
    "ends, integer weights": Case(ENDS, "int16", arguments=steps(5), rtol=1e-9),
    "narrow": Case(NARROW, None, drawn(start=float, count=5), steps(6)),
    "aggregates": Case(AGGREGATES, "int64", drawn(start=100), steps(20), rtol=1e-9),
    "many aggregates": Case(MANY_AGGREGATES, None, no_column, steps(20)),
    "weighted degrees, against": Case(WEIGHTED_IN, "int64", arguments=steps(4)),
    "weighted degrees, both ways": Case(BOTH_WEIGHTED, "float64", arguments=steps(4), rtol=1e-9),
    "pagerank": Case(
        pagerank.power_program("float64", weighted=False, personal=False),
        arguments=lambda n: {"max_supersteps": 100},
        rtol=1e-9,
    ),
    "pagerank, weights": Case(
        pagerank.power_program("float64", weighted=True, personal=True),
        "float64",
        same_personalization,
        lambda n: {"max_supersteps": 100},
        rtol=1e-9,
    ),
    "pagerank, float32": Case(
        pagerank.power_program("float32", weighted=False, personal=False),
        arguments=steps(10),
        rtol=1e-5,
    ),
    "pagerank, delta": Case(
        pagerank.delta_program("float64", weighted=False),
        None,
        few_residuals,
        lambda n: {"max_supersteps": 200, "constants": {"threshold": 1e-7 / n}},
        rtol=1e-9,
    ),
    "heat": Case(
        heat_simulation.program(weighted=True),
        "float64",
        drawn(initial=float),
        steps(10, constants={"step": 0.001}),
        rtol=1e-9,
    ),
    "circuit": Case(
        circuit_simulation.program(weighted=True),
        "int64",
        terminals,
        steps(1),
        rtol=1e-9,
    ),
    "circuit, joined": Case(
        circuit_simulation.joined_program(weighted=True), "int64", drawn(terminal=2)
    ),
    "neural": Case(
        neural_network.program("weight"), "float64", drawn(initial=float, bias=float), steps(5),
        rtol=1e-9,
    ),
    "beliefs": Case(
        System(kind="uniform", coupling=0.01, echo=0.001).program(),
        None,
        drawn(explicit=float),
        lambda n: {"max_supersteps": 500, "constants": {"tolerance": 1e-12}},
        rtol=1e-9,
    ),
    "beliefs, weights": Case(
        System(kind="weighted", coupling=0.001, echo=0.0001).program(),
        "float64",
        drawn(explicit=float),
        lambda n: {"max_supersteps": 500, "constants": {"tolerance": 1e-12}},
        rtol=1e-9,
    ),
}  # fmt: skip

# Those that run in supersteps, as many on any number of ranks.
SUPERSTEPS = {
    name
    for name, case in CASES.items()
    if not case.program.in_place or "max_supersteps" in case.arguments(10)
}
