"""Programs that the GPU engine is tried on in supersteps, with what a run of each is given."""

import math

import numpy as np
import pytest
from made_graphs import rmat

from dask_graphgpu.algorithms import circuit_simulation, heat_simulation, neural_network, pagerank
from dask_graphgpu.algorithms.linear_beliefs import System
from dask_graphgpu.algorithms.sswp import program as widest
from dask_graphgpu.engine import hops
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.fields import Field, Max, Min, Sum
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report


def on(engine, program, view, **arguments):
    return engine.run(program, view, RunOptions(report=Report("test"), **arguments))


def same(found, expected, *, rtol=0.0):
    assert list(found) == list(expected)
    assert found.supersteps == expected.supersteps
    near = {"rel": max(rtol, 1e-9), "abs": max(rtol / 10, 1e-12)}
    assert found.aggregates == pytest.approx(expected.aggregates, **near)
    assert (found.reached is None) == (expected.reached is None)
    if found.reached is not None:
        np.testing.assert_array_equal(found.reached, expected.reached)
    for name in found:
        assert found[name].dtype == expected[name].dtype
        np.testing.assert_allclose(found[name], expected[name], rtol=rtol, atol=rtol * 1e-3)


def graph(*, weight="int64", directed=True, ids=np.uint32, seed=3):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 9, 16 << 8) if weight != "float64" else rng.random(16 << 8)
    given = {} if weight is None else {"weight": weights.astype(weight)}
    return rmat(8, directed=directed, ids=ids, seed=seed, **given)


def numbered(view):
    """The same, of which programs see ids that are not the places in memory."""
    view.user_rank = np.random.default_rng(2).permutation(view.num_vertices)
    return view.with_user_numbers()


def columned(view):
    rng = np.random.default_rng(0)
    n = view.num_vertices
    names = ("initial", "bias", "explicit", "start", "current", "personalization", "residual")
    columns = {name: rng.random(n) / n for name in names}
    columns["held"] = (rng.random(n) < 0.1) | (view.degrees("both") == 0)
    columns["terminal"] = (rng.random(n) < 0.1).astype(np.int32)
    return view.with_columns(columns)


DELTA = {"max_supersteps": 300, "constants": {"threshold": 1e-6}}
EXACTLY = {"max_supersteps": 12, "exact_supersteps": True}
ALL_TWELVE = EXACTLY | {"constants": {"tolerance": 0.0}}  # float32's last bits decide when to stop
STEP = {"constants": {"step": 0.001, "tolerance": 1e-9}, **EXACTLY}
BUILT_IN = {
    **{
        f"pagerank {dtype} {'weighted' if weighted else 'plain'}{' personal' if personal else ''}": (
            pagerank.power_program(dtype, weighted=weighted, personal=personal), ALL_TWELVE,
            1e-9 if dtype == "float64" else 1e-5,
        )
        for dtype in ("float64", "float32") for weighted in (False, True) for personal in (False, True)
    },
    "delta": (pagerank.delta_program("float64", weighted=False), DELTA, 1e-9),
    "delta weighted": (pagerank.delta_program("float64", weighted=True), DELTA, 1e-9),
    "beliefs": (System(kind="uniform", coupling=0.001, echo=1e-6).program(), EXACTLY, 1e-9),
    "beliefs weighted": (System(kind="weighted", coupling=0.0001, echo=1e-9).program(), EXACTLY, 1e-9),
    "neural network": (neural_network.program("weight"), EXACTLY, 1e-9),
    "heat": (heat_simulation.program(weighted=False), STEP, 1e-9),
    "heat weighted": (heat_simulation.program(weighted=True), STEP, 1e-9),
    "circuit": (circuit_simulation.program(weighted=True), EXACTLY, 1e-9),
    "circuit joined": (circuit_simulation.joined_program(weighted=True), {"max_supersteps": 50}, 0.0),
    "sssp": (SSSP, {"sources": [0], "max_supersteps": 300}, 0.0),
    "widest": (widest(2**63 - 1), {"sources": [1], "max_supersteps": 300}, 0.0),
}  # fmt: skip


def _helped(x, by):
    return x + by


CUSTOM = {
    "hops": (VertexProgram(
        state={"hops": Field("int64", at_source=0)}, compute=lambda source_hops: source_hops + 1,
        combine="min", bound=lambda num_vertices: num_vertices,
    ), {"sources": [0], "max_supersteps": 300}),
    "hops checked": (VertexProgram(
        state={"hops": Field("int64", at_source=0)}, compute=lambda source_hops: source_hops + 1,
        combine="min",
    ), {"sources": [0, 9], "max_supersteps": 300}),
    "seen": (VertexProgram(
        state={"seen": Field("bool", at_source=True)}, compute=lambda source_seen: source_seen,
        combine="any",
    ), {"sources": [2]}),
    "labels": (VertexProgram(
        state={"label": Field("id", initial=lambda id: id)},  # noqa: A006
        compute=lambda source_label: source_label, combine="min", edges="both",
    ), {"max_supersteps": 300}),
    "paths": (VertexProgram(
        state={"level": Field("int64", initial=-1, at_source=0),
               "paths": Field("int64", initial=0, at_source=1)},
        compute=lambda source_paths: source_paths, combine="sum", message="int64",
        apply=lambda level, paths, message, received, superstep: {
            "level": superstep if received and level < 0 else level,
            "paths": message if received and level < 0 else paths,
        },
        active=lambda level, new_level: new_level != level,
    ), {"sources": [0]}),
    "hash": (VertexProgram(
        state={"hash": Field("int64", initial=1)},
        compute=lambda source_hash, weight: (source_hash ^ weight) * 6364136223846793005,
        combine="sum", wraps=True,
    ), {"max_supersteps": 4}),
    "aggregates of aggregates": (VertexProgram(
        state={"x": Field("float64", initial=lambda id: id % 7 + 1.0)},  # noqa: A006
        compute=lambda source_x, mean: source_x / (1.0 + mean), combine="max",
        apply=lambda x, message, received, most: (x + message) / most if received else x,
        active=lambda x: x > 0.5,
        aggregates={
            "total": Sum(lambda x: x), "most": Max(lambda x, total: x + total),
            "mean": Sum(lambda x, total: x / total), "next_total": Sum(lambda new_x: new_x),
            "spread": Max(lambda new_x, x, next_total: abs(new_x - x) / next_total),
            "count": Sum(lambda x: x > 1.0), "least": Min(lambda id, new_x: id if new_x > 1 else 99),  # noqa: A006
        },
    ), EXACTLY),
    "asked by the host": (VertexProgram(
        state={"x": Field("int64", initial=lambda id: id)},  # noqa: A006
        compute=lambda source_x: source_x + 1, combine="max",
        aggregates={"most": Max(lambda new_x: new_x), "before": Min(lambda x: x)},
        stop=lambda most, superstep, before: most * 2 + before >= 540 or superstep == 50,
    ), {}),
    "edges and helpers": (VertexProgram(
        state={"x": Field("float32", initial=0.5), "odd": Field("bool", initial=lambda id: id % 2 == 1)},  # noqa: A006
        compute=lambda source_x, source_odd, destination_id, source_degree, weight: (
            math.sqrt(_helped(source_x, weight)) / source_degree + (destination_id if source_odd else 1)
        ),
        combine="min", apply=lambda x, message, odd: {"odd": not odd, "x": min(x, message)},
        active=lambda new_odd, id: new_odd or id < 10,  # noqa: A006
    ), EXACTLY),
    "narrow integers": (VertexProgram(
        state={"x": Field("int32", initial=lambda degree: degree)},
        compute=lambda source_x, weight: source_x * weight % 1000, combine="sum",
        apply=lambda message: message % 1000,
    ), {"max_supersteps": 5, "exact_supersteps": True}),
    "against the edges": (VertexProgram(
        state={"far": Field("int64", at_source=3)},
        compute=lambda source_far, weight: source_far + weight, combine="max", edges="in",
        apply=lambda far, message: max(far, min(message, 50)),
        active=lambda far, new_far: new_far > far,
    ), {"sources": [4, 5], "max_supersteps": 100}),
    "constants": (VertexProgram(
        state={"x": Field("float64", initial=1.0)},
        compute=lambda source_x, factor, flag: source_x * factor if flag else 0.0,
        combine="sum", apply=lambda message, shift: message / 1000 + shift,
        constants={"factor": 0.5, "shift": 3, "flag": True},
    ), {"max_supersteps": 3, "constants": {"factor": 2.0}}),
}  # fmt: skip

MONOTONE = {
    "sssp": (SSSP, {"sources": [0]}),
    "widest": (widest(2**63 - 1), {"sources": [1]}),
    "hops": (hops.PROGRAM, {"sources": [0, 9]}),
    "hops checked": (CUSTOM["hops checked"][0], {"sources": [3]}),
    "labels": (CUSTOM["labels"][0], {}),
}


def views(program):
    """Of the graph, with and without directions, as far as a program can have them; and renumbered."""
    both = [graph(directed=directed).view() for directed in (True, False)]
    return [
        *(both[1:] if program.edges == "both" else both),
        numbered(graph(directed=False).view()),
    ]


def equal(found, expected):
    """Assert that two states are the same, bit for bit."""
    assert list(found) == list(expected)
    if expected.reached is not None:
        np.testing.assert_array_equal(found.reached, expected.reached)
    for name in found:
        assert found[name].dtype == expected[name].dtype
        np.testing.assert_array_equal(found[name], expected[name])
