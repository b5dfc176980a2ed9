"""The contract of vertex programs: what it refuses, and that programs travel."""

import math
import subprocess
import sys

import cloudpickle
import pytest
from dask.tokenize import tokenize

from dask_graphgpu.errors import ProgramError
from dask_graphgpu.fields import Field, Max, Sum
from dask_graphgpu.program import VertexProgram


def sssp(**changes):
    arguments = {
        "state": {"distance": Field("weight", initial=None, at_source=0)},
        "compute": lambda source_distance, weight: source_distance + weight,
        "combine": "min",
        "priority": lambda distance: distance,
    }
    return VertexProgram(**arguments | changes)


def ranks(**changes):
    arguments = {
        "state": {"rank": Field("float64", initial=1.0)},
        "compute": lambda source_rank: source_rank,
        "combine": "sum",
    }
    return VertexProgram(**arguments | changes)


def test_unknown_parameter_is_named_with_its_line_and_what_is_allowed():
    line = sys._getframe().f_lineno + 2
    with pytest.raises(ProgramError) as caught:
        sssp(compute=lambda source_distance, wieght: source_distance + wieght)
    assert f"test_program.py:{line}" in str(caught.value)
    assert "'wieght'" in str(caught.value)
    for name in ("source_distance", "destination_degree", "weight", "edge_<column>"):
        assert name in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "telling"),
    [
        ({"combine": "mean"}, "allowed are 'min', 'max', 'sum', 'any'"),
        ({"edges": "inwards"}, "allowed are 'out', 'in', 'both'"),
        ({"state": {}}, "at least one Field"),
        ({"state": {"distance": 0}}, "give a Field"),
        ({"state": {"weight": Field("int64", initial=0)}}, "'weight' is taken"),
        ({"state": {"new_x": Field("int64", initial=0)}}, "'new_x' is taken"),
        ({"constants": {"distance": 1}}, "used twice"),
        ({"constants": {"k": "three"}}, "give a number"),
        ({"aggregates": {"total": lambda distance: distance}}, "give Sum"),
        ({"compute": 3}, "give a function"),
        ({"compute": math.sqrt}, "plain Python function"),
        ({"compute": lambda *source_distance: 1}, "plain named parameters"),
        ({"stop": lambda superstep: superstep > 3, "monotone": True}, "does not go with stop="),
        ({"stop": lambda superstep: superstep > 3}, "priority= needs a monotone program"),
        ({"message": "float32"}, "Give apply="),
        ({"state": {"distance": Field("int64")}}, "has no value anywhere"),
        ({"priority": lambda degree: degree}, "priority"),
        ({"bound": lambda num_edges: num_edges}, "max_weight, num_vertices"),
        ({"compute": lambda source_new_distance: 1}, "'source_new_distance' is unknown"),
    ],
)
def test_what_the_contract_refuses(changes, telling):
    with pytest.raises(ProgramError, match="(?s)" + telling.replace("(", r"\(")):
        sssp(**changes)


def test_field_refuses_what_it_cannot_hold():
    with pytest.raises(ProgramError, match="allowed are 'weight', 'int64'"):
        Field("int16")
    with pytest.raises(ProgramError, match="one of them"):
        Field("int64", initial=1, vertices="column")


def test_only_the_first_field_may_have_no_value():
    with pytest.raises(ProgramError, match=r"'hops'.* has no initial"):
        sssp(state={"distance": Field("weight", at_source=0), "hops": Field("int64")})


def test_apply_must_return_known_fields_written_out():
    with pytest.raises(ProgramError, match="returns speed; the fields are rank"):
        ranks(apply=lambda message: {"speed": message})
    with pytest.raises(ProgramError, match="written out"):
        ranks(apply=lambda message: dict(rank=message))


def test_fields_that_apply_returns_change_and_others_do_not():
    state = {name: Field("float64", initial=1.0) for name in ("a", "b", "c")}
    program = VertexProgram(
        state=state,
        compute=lambda source_a: source_a,
        combine="sum",
        apply=lambda message, c: {"c": c + message, "a": message},
    )
    assert set(program.changing) == {"a", "c"}


def test_aggregates_that_read_new_values_come_after_apply():
    program = ranks(
        aggregates={
            "total": Sum(lambda rank: rank),
            "change": Max(lambda rank, new_rank: abs(new_rank - rank)),
        }
    )
    assert program.aggregates_after() == ("change",)
    with pytest.raises(ProgramError, match="'change' is unknown"):
        ranks(
            aggregates={"change": Max(lambda new_rank: new_rank)},
            apply=lambda message, change: message + change,
        )


def test_monotone_by_default_only_where_order_cannot_matter():
    assert sssp().in_place
    assert not ranks().in_place
    assert not sssp(priority=None, monotone=False).in_place
    assert not sssp(priority=None, apply=lambda distance, message: min(distance, message)).in_place
    assert not sssp(priority=None, compute=lambda superstep: superstep).in_place


def test_a_program_survives_cloudpickle():
    factor = 3
    program = sssp(
        compute=lambda source_distance, weight: source_distance + factor * weight,
        constants={"k": 2},
    )
    again = cloudpickle.loads(cloudpickle.dumps(program))
    assert again.compute(1, 2) == 7
    assert dict(again.constants) == {"k": 2}
    assert again.state == program.state


def helper(x):
    return x + 1


def made(factor, call=helper):
    return sssp(compute=lambda source_distance, weight: call(source_distance) + factor * weight)


def test_equal_programs_have_equal_tokens_and_different_ones_do_not():
    assert tokenize(made(2)) == tokenize(made(2))
    assert tokenize(made(2)) == tokenize(cloudpickle.loads(cloudpickle.dumps(made(2))))
    others = [
        made(3),
        made(2, lambda x: x + 2),
        sssp(),
        sssp(wraps=True),
        sssp(constants={"k": 1}),
        sssp(constants={"k": 2}),
        sssp(edges="in"),
        sssp(state={"distance": Field("weight", initial=None, at_source=1)}),
    ]
    assert len({tokenize(program) for program in [made(2), *others]}) == 1 + len(others)


def test_token_is_the_same_in_another_process():
    text = (
        "from dask_graphgpu import Field, VertexProgram\n"
        "from dask.tokenize import tokenize\n"
        "k = 5\n"
        "p = VertexProgram(state={'d': Field('weight', at_source=0)}, combine='min',\n"
        "    compute=lambda source_d, weight: max(source_d, k * weight))\n"
        "print(tokenize(p))\n"
    )
    tokens = {
        subprocess.run(
            [sys.executable, "-c", text], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    }
    assert len(tokens) == 1


def test_accumulative_programs_are_sums_without_an_order():
    given = {
        "state": {"x": Field("float64", initial=1.0)}, "compute": lambda source_x: source_x,
        "combine": "sum", "apply": lambda x, message: message, "active": lambda new_x: new_x > 1,
        "accumulative": True,
    }  # fmt: skip
    assert VertexProgram(**given).accumulative
    for changed, reason in (
        ({"combine": "min"}, "combine='min'"),
        ({"active": None}, "no active="),
        ({"apply": None}, "no apply="),
        ({"compute": lambda source_x, superstep: source_x / superstep}, "superstep as a parameter"),
    ):
        with pytest.raises(ProgramError, match=f"accumulative=True does not go with {reason}"):
            VertexProgram(**{**given, **changed})
