"""Settings of the GPU engine's ways: what is allowed, and which programs a filter is for."""

import dask
import pytest

from dask_graphgpu.engine import schedule
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.fields import Field, Max
from dask_graphgpu.program import VertexProgram

MOST = {
    "state": {"x": Field("int64", initial=0)},
    "compute": lambda source_x: source_x,
    "combine": "max",
}


def test_defaults_force_nothing():
    assert schedule.configured_filter() == schedule.configured_fusion() == "auto"
    assert schedule.configured_combine() == "auto"
    assert set(schedule.macros().values()) == {"0"}
    assert (schedule.configured_gather(), schedule.configured_replication()) == ("auto", None)
    assert schedule.configured_bins() == 64
    assert schedule.configured_separators((7, 9)) == (7, 9)
    assert not schedule.is_forced()


@pytest.mark.parametrize(
    ("name", "value", "macro"),
    [
        ("filter", "jit", "FILTERED"),
        ("combine", "atomic", "ATOMIC"),
        ("gather", "shards", "SHARDS"),
        ("tail", 1e-9, "TAIL"),
    ],
)
def test_what_is_forced_is_compiled_in(name, value, macro):
    with dask.config.set({f"graphgpu.{name}": value}):
        assert schedule.is_forced()
        assert [key for key, on in schedule.macros().items() if on == "1"] == [macro]


@pytest.mark.parametrize(
    ("given", "expected"),
    [([4, 128], (4, 128)), ((32, 32), (32, 32)), *((off, (2**32 - 1,) * 2) for off in ("off", None, False))],
)  # fmt: skip
def test_separators(given, expected):
    with dask.config.set({"graphgpu.worklists": given}):
        assert schedule.configured_separators((7, 9)) == expected


@pytest.mark.parametrize(
    ("name", "read", "values"),
    [
        ("filter", schedule.configured_filter, ["best", None, 3]),
        ("fusion", schedule.configured_fusion, ["some", None]),
        ("combine", schedule.configured_combine, ["never", None]),
        ("allocation", schedule.configured_allocation, ["enough", None]),
        ("tail", schedule.configured_tail, [1, -0.1, "off", True]),
        ("gather", schedule.configured_gather, ["row", None]),
        ("replication", schedule.configured_replication, [0, 3, 64, "1", True, None]),
        ("filter-bins", schedule.configured_bins, [0, -1, 2**20, "64", True, 1.5]),
        ("worklists", lambda: schedule.configured_separators((7, 9)),
         ["on", [32], [128, 32], [0, 5], [1.5, 3], [True, 4], [3, 2**32], 32]),
    ],
)  # fmt: skip
def test_other_values_are_refused(name, read, values):
    for value in values:
        with (
            dask.config.set({f"graphgpu.{name}": value}),
            pytest.raises(InvalidArgument, match=f"graphgpu.{name} is"),
        ):
            read()


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({}, None),
        ({"combine": "sum"}, "combine='sum'"),
        ({"apply": lambda x, message: x + message}, "apply="),
        ({"active": lambda x: x > 3}, "active="),
        ({"aggregates": {"most": Max(lambda x: x)}}, "aggregates="),
    ],
)
def test_programs_that_need_all_vertices(more, reason):
    found = schedule.needs_all_vertices(VertexProgram(**{**MOST, **more}))
    assert found is None if reason is None else found is not None and found.startswith(reason)
