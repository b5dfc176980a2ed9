"""Integers that do not fit their type are errors, the same ones in the engine and the interpreter."""

import dask
import numpy as np
import pytest
from engines import run

from dask_graphgpu.engine import interpret
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.errors import IntegerOverflow, ProgramError
from dask_graphgpu.fields import Field, Max, Min, Sum
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

TOP = 2**63 - 1
BEYOND = 2**63


def view():
    """0 -> 1 -> 2, and 0 -> 2."""
    source, destination = np.array([0, 0, 1]), np.array([1, 2, 2])
    return View.of(from_edges(3, source, destination, {"weight": np.array([1, 5, 2])}))


@pytest.fixture(params=["compiled", "interpreted"])
def engine(request):
    function = run if request.param == "compiled" else interpret.run

    def called(program, **arguments):
        return function(
            program, view(), RunOptions(report=Report("test"), max_supersteps=1, **arguments)
        )

    return called


def program(dtype="int64", **changes):
    arguments = {
        "state": {"x": Field(dtype, initial=1)},
        "compute": lambda source_x: source_x,
        "combine": "sum",
    }
    return VertexProgram(**arguments | changes)


# -- numbers of the program ---------------------------------------------------------------------


def helper(x):
    return x + 9223372036854775808


@pytest.mark.parametrize(
    "changes",
    [
        {"compute": lambda source_x: 9223372036854775808},
        {"compute": lambda source_x: source_x - 9223372036854775809},
        {"compute": lambda source_x: source_x if source_x in (1, 2**63) else 0},
        {"apply": lambda message: 2**64},
        {"constants": {"c": BEYOND}},
        {"constants": {"c": np.uint64(BEYOND)}},
        {"constants": {"c": -BEYOND - 1}},
        {"aggregates": {"a": Max(lambda x: 2**63)}},
        {"state": {"x": Field("int64", initial=lambda id: 2**63)}},  # noqa: A006
    ],
)
def test_numbers_beyond_int64_are_refused_at_declaration(changes):
    with pytest.raises(ProgramError, match=r"beyond int64.*float"):
        program(**changes)


def test_numbers_at_the_ends_of_int64_are_not():
    found = program(
        compute=lambda source_x: 9223372036854775807,
        apply=lambda message, c: -9223372036854775808 if c < 0 else message,
        constants={"c": -BEYOND},
        stop=lambda superstep: superstep > 2**80,
        bound=lambda num_vertices: 2**80,
    )
    assert found.constants == {"c": -BEYOND}


@pytest.mark.parametrize("where", ["cell", "default", "helper", "tuple", "scalar"])
def test_numbers_beyond_int64_that_a_function_reads_are_refused(engine, where):
    c = {"tuple": (1, (BEYOND,)), "scalar": np.uint64(BEYOND)}.get(where, BEYOND)
    compute = {
        "default": lambda source_x, c=BEYOND: source_x + c,
        "helper": lambda source_x: helper(source_x),
    }.get(where, lambda source_x: source_x + (c[0] if where == "tuple" else c))
    with pytest.raises(ProgramError, match=r"compute .*beyond int64"):
        engine(program(compute=compute))


def test_constants_of_a_run_are_checked_and_made_plain_numbers(engine):
    scaled = program(compute=lambda source_x, c: source_x * c, constants={"c": np.int32(3)})
    assert type(scaled.constants["c"]) is int
    assert engine(scaled)["x"].tolist() == [0, 3, 6]
    assert engine(scaled, constants={"c": np.uint64(4)})["x"].tolist() == [0, 4, 8]
    with pytest.raises(ProgramError, match="beyond int64"):
        engine(scaled, constants={"c": BEYOND})
    with pytest.raises(ProgramError, match="give a number"):
        engine(scaled, constants={"c": "4"})


# -- narrow fields ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "role"),
    [
        ({"compute": lambda source_x: 2**40}, "compute"),
        ({"compute": lambda source_x, c: c, "constants": {"c": -(2**31) - 1}}, "compute"),
        ({"compute": lambda weight: 2**31 if weight > 4 else weight}, "compute"),
        ({"apply": lambda message: 2**40}, "apply"),
        ({"apply": lambda message, c: {"x": c}, "constants": {"c": 2**31}}, "apply"),
        ({"apply": lambda x, big: big if x > 0 else x, "state": {
            "x": Field("int32", initial=1), "big": Field("int64", initial=2**31)}}, "apply"),
    ],
)  # fmt: skip
def test_what_is_handed_on_to_a_narrow_field_has_to_fit(engine, changes, role):
    with pytest.raises(IntegerOverflow, match=rf"{role} \(.*does not fit"):
        engine(program("int32", **changes))
    wide = {"state": {"x": Field("int64", initial=1)}} if "state" not in changes else {}
    if wide:
        engine(program(**changes | wide))


def test_what_fits_a_narrow_field_is_kept(engine):
    ends = program("int32", compute=lambda weight: 2**31 - 1 if weight > 4 else -(2**31))
    assert engine(ends)["x"].tolist() == [0, -(2**31), -1 - 2**31 + 2**31]


@pytest.mark.parametrize("direction", ["auto", "push"])
def test_messages_in_place_have_to_fit(direction):
    narrow = VertexProgram(
        state={"x": Field("int32", at_source=0)},
        compute=lambda weight, big: big if weight == 5 else weight,
        combine="max",
        constants={"big": 2**31},
    )
    assert narrow.in_place
    for function in (run, interpret.run):
        with (
            dask.config.set({"graphgpu.direction": direction}),
            pytest.raises(IntegerOverflow, match="compute"),
        ):
            function(narrow, view(), RunOptions(sources=[0], report=Report("test")))


def test_narrow_fields_wrap_where_that_is_meant(engine):
    for changes in (
        {"compute": lambda source_x: 2**32 + 5},
        {"apply": lambda message: 2**33 - 7},
        {"state": {"x": Field("int32", initial=lambda id: 2**32 + id)}},  # noqa: A006
        {"state": {"x": Field("int32", initial=lambda num_vertices: 2**32 + num_vertices)}},
    ):
        state = engine(program("int32", wraps=True, **changes))
        assert np.abs(state["x"]).max() <= 14


# -- values at the start --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "initial"),
    [
        ("int32", lambda id: id + 2**31 - 2),  # noqa: A006
        ("int32", lambda id: 2**31 if id == 2 else 0),  # noqa: A006
        ("int64", lambda id: id * 2**62),  # noqa: A006
        ("int64", lambda id, c: id + c),  # noqa: A006
        ("int64", lambda degree: degree << 62),
        ("int64", lambda num_vertices: num_vertices * 2**62),
        ("int32", lambda num_vertices: 2**40),
        ("id", lambda id: id - 1),  # noqa: A006
    ],
)
@pytest.mark.parametrize("at_source", [False, True])
def test_values_at_the_start_have_to_fit(engine, dtype, initial, at_source):
    field = (
        Field(dtype, initial=0, at_source=initial) if at_source else Field(dtype, initial=initial)
    )
    role = "at_source" if at_source else "initial"
    with pytest.raises((IntegerOverflow, ProgramError), match=rf"state\['x'\].{role} \(") as caught:
        engine(
            program(state={"x": field}, constants={"c": TOP}, combine="max"),
            sources=[0, 1, 2] if at_source else None,
        )
    shifts = "does not compile" in str(caught.value)  # no floats are shifted
    assert caught.type is IntegerOverflow or shifts


def test_values_at_the_ends_of_their_type_are_kept(engine):
    for dtype, initial, expected in [
        ("int64", lambda id, c: c - id, [TOP, TOP - 1, TOP - 2]),  # noqa: A006
        ("int32", lambda id: 2**31 - 1 - id, [2**31 - 1, 2**31 - 2, 2**31 - 3]),  # noqa: A006
        ("int64", lambda id: ~(id ^ 5) >> 1 & 7, [5, 5, 4]),  # noqa: A006
    ]:
        keeps = program(
            state={"x": Field("int64", initial=0), "y": Field(dtype, initial=initial)},
            constants={"c": TOP},
        )
        assert engine(keeps)["y"].tolist() == expected


def test_values_at_the_start_may_be_bounded_or_wrap(engine):
    def start(id):  # noqa: A002
        return (id & 1) * 3

    for more in ({"wraps": True}, {"bound": lambda num_vertices: 3 * num_vertices}):
        found = engine(program(state={"x": Field("int64", initial=start)}, **more))
        assert found["x"].tolist() == [0, 0, 3]


# -- aggregates ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "aggregate",
    [
        Sum(lambda x: x * 2),
        Sum(lambda x: x),
        Max(lambda new_x: new_x * 2**40),
        Min(lambda x, id: -x - x - id),  # noqa: A006
    ],
)
def test_aggregates_of_whole_numbers_have_to_fit(engine, aggregate):
    large = program(
        state={"x": Field("int64", initial=2**62)}, combine="max", aggregates={"a": aggregate}
    )
    with pytest.raises(IntegerOverflow, match=r"aggregates\['a'\]"):
        engine(large, exact_supersteps=True)


def test_aggregates_of_floats_may_be_large(engine):
    large = program(
        "float64",
        compute=lambda source_x: source_x * 1e200,
        aggregates={"a": Sum(lambda new_x: new_x * 1e200), "b": Max(lambda degree: degree / 2)},
    )
    state = engine(large, exact_supersteps=True)
    assert state.aggregates == {"a": np.inf, "b": 1.0}
