"""Rows that are cut over parts: every edge once, the same bits for any number of threads."""

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_graphgpu.engine import interpret
from dask_graphgpu.engine.cpu import merge_path, run
from dask_graphgpu.engine.cpu.merge_path import edge_parts
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.errors import IntegerOverflow
from dask_graphgpu.fields import Field
from dask_graphgpu.kernels.cpu import threads
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report


def program(combine, dtype, compute=lambda source_x, weight: source_x + weight, **more):
    state = {"x": Field(dtype, initial=lambda id: id)}  # noqa: A006
    return VertexProgram(state=state, compute=compute, combine=combine, **more)


PROGRAMS = {
    "min": program("min", "int64"),
    "max": program("max", "float64", message="float64"),
    "checked sum": program("sum", "int64"),
    "checked narrow sum": program("sum", "int32"),
    "wrapping sum": program("sum", "int64", lambda source_x: (source_x + 1) << 57, wraps=True),
    "float sum": program("sum", "float64", lambda source_x, weight: weight / (source_x + 3.0)),
    "float32 sum": program("sum", "float32", lambda source_x, weight: weight / (source_x + 3.0)),
    "source only": program("sum", "float64", lambda source_x: 1.0 / (source_x + 1.0)),
    "any": program(
        "any",
        "int64",
        lambda weight: weight > 8,
        message="bool",
        apply=lambda x, message: x * 2 + message,
        wraps=True,
    ),
    "any, where one comes": program("any", "int64", lambda source_x: source_x % 1),
    "bool min": program("min", "bool", lambda weight: weight > 0),
    "received": program(
        "sum",
        "int64",
        lambda weight: 0,
        apply=lambda x, received: x + 1 if received else -1,
    ),
}
EXACT = {name for name in PROGRAMS if name not in ("float sum", "float32 sum", "source only")}


def hubs(rows, degree, n=40, seed=0):
    """A sparse random graph in which ``rows`` have ``degree`` in-edges each."""
    random = np.random.default_rng(seed)
    into = np.concatenate([np.repeat(rows, degree), random.integers(0, n, 2 * n)]).astype(np.int64)
    weight = random.integers(0, 9, len(into))
    return View.of(from_edges(n, random.integers(0, n, len(into)), into, {"weight": weight}))


def states(task, view, number, direction, **more):
    with dask.config.set({"graphgpu.threads": number, "graphgpu.direction": direction}):
        arguments = {"max_supersteps": 2, "exact_supersteps": True, **more}
        return run(task, view, RunOptions(report=Report("test"), **arguments))


@given(
    degrees=st.lists(st.one_of(st.just(0), st.integers(0, 5), st.integers(0, 200)), max_size=60),
    part=st.integers(1, 40),
    number=st.integers(1, 5),
)
def test_every_edge_is_in_one_part_and_parts_are_even(degrees, part, number):
    offsets = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)]).astype(np.int64)
    with pytest.MonkeyPatch.context() as patch, dask.config.set({"graphgpu.threads": number}):
        patch.setattr(merge_path, "PART", part)
        patch.setattr(threads, "LITTLE_WORK", 4)
        found = edge_parts(offsets)
    rows, edges = found.rows.astype(np.int64), found.edges.astype(np.int64)
    assert (edges[0], edges[-1]) == (0, offsets[-1])
    assert rows[0] == 0
    assert not degrees or rows[-1] == len(degrees) - 1
    if degrees:
        assert (offsets[rows] <= edges).all()
        assert (edges <= offsets[rows + 1]).all()
    work = np.diff(rows + edges)
    assert (work[:-1] == part).all()
    assert (work <= part).all()
    assert (found.blocks[0], found.blocks[-1]) == (0, len(found))


def test_a_row_with_all_edges_is_shared_out():
    offsets = np.array([0, 0, 10_000_000, 10_000_000])
    with dask.config.set({"graphgpu.threads": 2}):
        found = edge_parts(offsets)
    shares = np.diff(found.edges[found.blocks].astype(np.int64))
    assert len(shares) == 2 * threads.BLOCKS_PER_THREAD
    assert shares.max() - shares.min() <= 2 * merge_path.PART


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("rows", [[0], [39], [17, 18], [0, 20, 39]])
def test_cut_rows_are_as_the_interpreter_has_them(monkeypatch, name, rows):
    view, task = hubs(rows, 60), PROGRAMS[name]
    arguments = {"max_supersteps": 2, "exact_supersteps": True}
    expected = interpret.run(task, view, RunOptions(report=Report("test"), **arguments))["x"]
    monkeypatch.setattr(threads, "LITTLE_WORK", 4)
    for part in (1, 7, 64, 1000):
        monkeypatch.setattr(merge_path, "PART", part)
        for direction in ("pull", "notify-pull"):
            found = [states(task, view, number, direction)["x"] for number in (1, 2, 3, 4)]
            assert len({x.tobytes() for x in found}) == 1
            if name in EXACT:
                np.testing.assert_array_equal(found[0], expected)
            else:
                np.testing.assert_allclose(found[0], expected, rtol=1e-6)


def test_sources_reach_over_cut_rows(monkeypatch):
    """Vertices without a value, few of them active: marks and ``received`` of cut rows."""
    task = VertexProgram(
        state={"x": Field("int64", initial=None, at_source=0)},
        compute=lambda source_x, weight: source_x + weight,
        combine="min",
    )
    view = hubs([5, 30], 50, seed=3)
    expected = interpret.run(task, view, RunOptions(sources=[1], report=Report("test")))
    monkeypatch.setattr(threads, "LITTLE_WORK", 4)
    monkeypatch.setattr(merge_path, "PART", 9)
    for number in (1, 2, 3):
        for direction in ("pull", "notify-pull"):
            found = states(task, view, number, direction, sources=[1], max_supersteps=100)
            np.testing.assert_array_equal(found["x"], expected["x"])
            np.testing.assert_array_equal(found.reached, expected.reached)


def weighted_star(weights):
    k = len(weights)
    columns = {"weight": np.array(weights, np.int64)}
    return View.of(from_edges(k + 1, np.arange(1, k + 1), np.zeros(k, np.int64), columns))


@pytest.mark.parametrize("part", [1, 2, 1000])
def test_overflow_is_that_of_the_whole_row(monkeypatch, part):
    monkeypatch.setattr(merge_path, "PART", part)
    for dtype, top in (("int64", 2**63 - 1), ("int32", 2**31 - 1)):
        task = program("sum", dtype, lambda weight: weight)
        # All of it fits, but the first pieces do not.
        half = top // 2 + 1
        fits = weighted_star([half, half, half, -half, -half, -1])
        assert states(task, fits, 2, "pull", max_supersteps=1)["x"][0] == half - 1
        # Each piece fits, all of it does not.
        for direction in ("pull", "notify-pull", "push"):
            with pytest.raises(IntegerOverflow):
                states(task, weighted_star([half, half]), 2, direction, max_supersteps=1)
