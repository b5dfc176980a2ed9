"""Graph.run: the arguments that it takes, and what it refuses."""

from enum import IntEnum

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from engines import RANKS

from dask_graphgpu import Checkpoint
from dask_graphgpu.errors import IntegerOverflow, InvalidArgument, NotConverged, ProgramError
from dask_graphgpu.fields import Field, Min
from dask_graphgpu.program import VertexProgram

EDGES = pd.DataFrame({"src": [10, 20, 30], "dst": [20, 30, 40], "weight": [0.5, 1.5, 2.5]})

HOPS = VertexProgram(
    state={"hops": Field("int64", at_source=0)},
    compute=lambda source_hops: source_hops + 1,
    combine="min",
)


def endless(*, a=0, b=1):
    return VertexProgram(
        state={"x": Field("int64", initial=1)},
        compute=lambda source_x: source_x * b + a,
        combine="sum",
        apply=lambda message: message,
        active=lambda x: True,
    )


@pytest.mark.parametrize("engine", ["cpu", "interpreted"])
@pytest.mark.parametrize("make", [list, np.array, pd.Series, pd.Index])
def test_sources_are_lists_arrays_or_series(engine, make):
    found = EDGES.graph(engine=engine).run(HOPS, source=make([10, 30]))
    assert found["hops"].tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("source", [30, np.int64(30), np.uint8(30)])
def test_a_source_is_a_number_of_any_type(source):
    assert EDGES.graph().run(HOPS, source=source)["hops"].tolist() == [pd.NA, pd.NA, 0, 1]


def test_no_sources_at_all_are_refused():
    for nothing in ([], np.array([], np.int64)):
        with pytest.raises(InvalidArgument, match="at least one vertex id"):
            EDGES.graph().run(HOPS, source=nothing)


@pytest.mark.parametrize("steps", [9, np.int64(9), np.uint8(9)])
def test_max_supersteps_is_a_whole_number_of_any_type(steps):
    with pytest.raises(NotConverged, match="after 9 supersteps"):
        EDGES.graph().run(endless(), max_supersteps=steps)


@pytest.mark.parametrize("steps", [0, 2.5, np.float64(9), "9"])
def test_other_limits_are_refused(steps):
    with pytest.raises(InvalidArgument, match=r"a whole number of at least 1$"):
        EDGES.graph().run(endless(), max_supersteps=steps)


def test_constants_are_checked_when_the_method_is_called():
    scaled = VertexProgram(
        state={"x": Field("int64", initial=1)},
        compute=lambda source_x, c: source_x * c,
        combine="max",
        constants={"c": 1},
    )
    for bad in ("2", 2**63):
        with pytest.raises(ProgramError, match="'c'"):
            EDGES.graph().run(scaled, constants={"c": bad})


@pytest.mark.parametrize("engine", ["cpu", "interpreted"])
def test_programs_that_close_over_other_numbers_give_other_results(engine):
    edges = dd.from_pandas(pd.DataFrame({"src": [1, 2], "dst": [2, 1]}), npartitions=1)
    ring = edges.graph(engine=engine)

    def total(a, b):
        start = VertexProgram(
            state={"x": Field("int64", initial=2)},
            compute=lambda source_x: source_x * b + a,
            combine="sum",
            stop=lambda superstep: superstep == 1,
        )
        return ring.run(start)["x"]

    one, other = dask.compute(total(1, 11), total(11, 1))
    assert one.tolist() == [23, 23]
    assert other.tolist() == [13, 13]


class Step(IntEnum):
    LONG = 3


def test_members_of_an_enumeration_are_numbers():
    step = Step.LONG
    program = VertexProgram(
        state={"far": Field("int64", at_source=0)},
        compute=lambda source_far, scale: source_far + step * scale,
        combine="min",
        constants={"scale": Step.LONG},
    )
    for engine in ("cpu", "interpreted"):
        found = EDGES.graph(engine=engine).run(program, source=10)
        assert found["far"].tolist() == [0, 9, 18, 27]


@pytest.mark.parametrize("engine", ["cpu", "interpreted"])
def test_a_message_of_the_type_of_weights_reads_them(engine):
    counted = VertexProgram(
        state={"x": Field("float64", initial=1.5)},
        compute=lambda source_x: source_x,
        combine="sum",
        message="weight",
        apply=lambda message: message + 0.25,
        active=lambda x: False,
    )
    found = EDGES.graph(engine=engine).run(counted)
    assert found["x"].tolist() == [0.25, 1.75, 1.75, 1.75]


@pytest.mark.parametrize("engine", ["cpu", "interpreted"])
@pytest.mark.parametrize(
    ("changes", "error", "telling"),
    [
        ({"apply": lambda who, message: who + 2}, ProgramError, "'who'.* holds 5 .*0 .. 3"),
        ({"apply": lambda who, message: who - 1}, IntegerOverflow, r"apply .*new value of 'who'"),
        ({"compute": lambda source_who: source_who + 4}, ProgramError, "'who'.* holds 6 .*0 .. 3"),
    ],
)
def test_ids_that_are_no_vertices_are_told_with_their_field(engine, changes, error, telling):
    arguments = {
        "state": {"who": Field("id", initial=lambda id: id)},  # noqa: A006
        "compute": lambda source_who: source_who,
        "combine": "max",
        "active": lambda who: False,
        "monotone": False,
    }
    with pytest.raises(error, match=telling):
        EDGES.graph(engine=engine).run(VertexProgram(**arguments | changes))


SMALLEST = VertexProgram(
    state={"label": Field("id", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_label: source_label,
    combine="min",
    edges="both",
)
ORDERED = {
    "smallest": (SMALLEST, None),
    "downwards": (  # along edges to a larger id only
        VertexProgram(
            state={"far": Field("int64", at_source=lambda id: 100 * id)},  # noqa: A006
            compute=lambda source_far, source_id, destination_id: (
                source_far + 1 if source_id < destination_id else 10**6
            ),
            combine="min",
            priority=lambda far: far,
        ),
        6,
    ),
    "sums": (
        VertexProgram(
            state={"x": Field("int64", initial=1), "who": Field("id", initial=0)},
            compute=lambda source_x, source_id: source_x * source_id,
            combine="sum",
            apply=lambda message, id, first: {"x": message + first, "who": id},  # noqa: A006
            aggregates={"first": Min(lambda id, degree: id if degree > 2 else 1000)},  # noqa: A006
            stop=lambda superstep: superstep >= 3,
        ),
        None,
    ),
}


def tangle():
    """Edges whose ids are in another order than their degrees; of the largest id most start."""
    rng = np.random.default_rng(3)
    ends = 40 - (40 * rng.random((2, 90)) ** 3).astype(np.int64)
    return pd.DataFrame({"src": ends[0], "dst": ends[1], "weight": rng.integers(0, 3, 90)})


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", ORDERED)
def test_ids_in_a_program_are_in_the_order_of_the_users_ids(name, directed):
    program, source = ORDERED[name]
    edges = tangle()
    found = {
        str(options): edges.graph(directed=directed, **options).run(program, source=source)
        for options in (
            {"engine": "interpreted", "order": "input", "ranks": 1},
            {"engine": "interpreted", "order": "degree", "ranks": 1},
            {"order": "input"},
            {"order": "degree"},
            {"order": "degree", "layout": "layered"},
            *({"ranks": ranks, "order": "degree", "partitioner": "random"} for ranks in RANKS[1:]),
        )
    }
    (_, wanted), *others = found.items()
    for options, each in others:
        pd.testing.assert_frame_equal(each, wanted, obj=options)
    for direction in ("push", "pull", "notify-pull"):
        with dask.config.set({"graphgpu.direction": direction}):
            each = edges.graph(directed=directed, order="degree").run(program, source=source)
        pd.testing.assert_frame_equal(each, wanted, obj=direction)


def test_the_smallest_id_of_a_component():
    words = tangle().astype({"src": str, "dst": str})
    graph = words.graph(order="degree")
    component = graph.weakly_connected_components()["component"]
    assert graph.run(SMALLEST)["label"].tolist() == component.tolist()


def test_a_checkpoint_holds_ids_that_do_not_depend_on_the_order(tmp_path):
    edges = pd.DataFrame({"src": [9, *range(20)], "dst": [9, *range(1, 21)]})
    wanted = edges.graph(order="input").run(SMALLEST)
    with pytest.raises(NotConverged):
        edges.graph(order="degree").run(
            SMALLEST, max_supersteps=5, checkpoint=Checkpoint(tmp_path, supersteps=1)
        )
    found = edges.graph(order="input").run(
        SMALLEST, max_supersteps=40, checkpoint=tmp_path, resume=True
    )
    pd.testing.assert_frame_equal(found, wanted)
