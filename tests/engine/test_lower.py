"""From a program to a compiled module: what may be carried along, the cache, and the errors."""

import json
import math
import os
import subprocess
import sys
import traceback

import numba
import numpy as np
import pytest

from dask_graphgpu.engine import module_cache
from dask_graphgpu.engine.cpu import run
from dask_graphgpu.engine.embed import embed
from dask_graphgpu.engine.lower import lower
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.errors import ProgramError
from dask_graphgpu.fields import Field
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report


def view(weight="int64"):
    source, destination = np.array([0, 0, 1]), np.array([1, 2, 2])
    columns = {} if weight is None else {"weight": np.array([1, 5, 2], weight)}
    return View.of(from_edges(3, source, destination, columns))


def program(compute, dtype="float64", **more):
    state = {"x": Field(dtype, initial=1)}
    return VertexProgram(state=state, compute=compute, combine="sum", **more)


def totals(compute, dtype="float64", **more):
    """What meets at each vertex when every vertex has 1."""
    found = run(
        program(compute, dtype, **more), view(), RunOptions(max_supersteps=1, report=Report("test"))
    )
    return found["x"].tolist()


# -- what functions may read --------------------------------------------------------------------

BY = 4
PAIR = (2, np.float32(0.5))
ALIAS = math.sqrt


def plus(x):
    return x + BY


plus_compiled = numba.njit(plus)


def unless_deeper(x):
    return plus(x) if x > 0 else 0.0


def endless(x):
    return endless(x - 1)


@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        (lambda source_x: source_x * BY, [0, 4, 8]),
        (lambda source_x: plus(source_x), [0, 5, 10]),
        (lambda source_x: plus_compiled(source_x), [0, 5, 10]),
        (lambda source_x: unless_deeper(source_x), [0, 5, 10]),
        (lambda source_x: source_x * PAIR[0] + PAIR[1], [0, 2.5, 5]),
        (lambda source_x: ALIAS(source_x * BY), [0, 2, 4]),
        (lambda source_x: math.exp(np.log(source_x)) + math.inf * 0 if source_x < 0 else 7.0, [0, 7, 14]),
        (lambda source_x: np.minimum(source_x, 0.5), [0, 0.5, 1]),
        (lambda source_x, factor=3.0: source_x * factor, [0, 3, 6]),
        (lambda factor=3.0, source_x=9.0: source_x * factor, [0, 3, 6]),
        (lambda source_x, weight: weight if weight > 1 else source_x, [0, 1, 7]),
        (lambda source_x: max(abs(-source_x), 0.0), [0, 1, 2]),
    ],
)  # fmt: skip
def test_functions_may_read(compute, expected):
    assert totals(compute) == expected


def test_a_global_is_frozen_when_the_program_runs():
    def compute(source_x):
        return source_x * factor

    factor = 2.0
    assert totals(compute) == [0, 2, 4]
    factor = 3.0
    assert totals(compute) == [0, 3, 6]


@pytest.mark.parametrize(
    ("compute", "telling"),
    [
        (lambda source_x: source_x + len(os.environ), "reads <module 'os'"),
        (lambda source_x: endless(source_x), "calls itself"),
        (lambda source_x: source_x + not_there, "'not_there' is not defined"),  # noqa: F821
        (lambda source_x: TABLE[0], "reads array"),
    ],
)
def test_functions_may_not_read(compute, telling):
    with pytest.raises(ProgramError, match=telling) as caught:
        totals(compute)
    assert "test_lower.py:" in str(caught.value)


TABLE = np.zeros(3)


def test_embedded_text_does_not_depend_on_where_a_function_stands():
    spaces = {}
    exec("f = lambda source_x: source_x + 1.5", spaces)
    first = spaces["f"]
    exec("\n\n\nf = lambda source_x: source_x + 1.5", spaces)
    assert embed(first, "_f", "compute") == embed(spaces["f"], "_f", "compute")


# -- errors ----------------------------------------------------------------------------------------


def test_a_function_that_does_not_compile_is_named_with_its_line():
    def compute(source_x):
        return source_x.upper()

    line = compute.__code__.co_firstlineno
    with pytest.raises(ProgramError, match=rf"compute \(.*test_lower.py:{line}\)") as caught:
        totals(compute)
    assert isinstance(caught.value.__cause__, numba.core.errors.NumbaError)
    assert "numbers" in str(caught.value)


def test_a_fraction_is_not_silently_cut_off():
    with pytest.raises(ProgramError, match=r"compute .*float64 where a whole number is declared"):
        totals(lambda source_x: source_x / 2, "int64")
    assert totals(lambda source_x: int(source_x / 2 + 1), "int64") == [0, 1, 2]


def test_shifts_need_wraps_and_the_error_says_so():
    with pytest.raises(ProgramError, match="wraps=True"):
        totals(lambda source_x: source_x << 3, "int64")
    assert totals(lambda source_x: source_x << 3, "int64", wraps=True) == [0, 8, 16]


def test_bits_of_integers_cannot_overflow():
    assert totals(lambda source_x: (source_x ^ 7) & ~2 | 8 >> 3, "int64") == [0, 5, 10]


# -- the cache ---------------------------------------------------------------------------------------


def test_module_is_shared_by_equal_programs_and_not_by_other_types():
    def made():
        return program(lambda source_x, weight: source_x * weight)

    modules = {
        name: lower(Binding(made(), view(weight))).module.__name__
        for name, weight in [
            ("a", "int64"),
            ("b", "int64"),
            ("int32", "int32"),
            ("float", "float64"),
            ("none", None),
        ]
    }
    assert modules["a"] == modules["b"] == modules["int32"]  # both int64 to the program
    assert len({modules["a"], modules["float"], modules["none"]}) == 3


CHILD = """
import json, sys
import numpy as np
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.cpu import run
from dask_graphgpu.engine.lower import lower
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.fields import Field
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

k = 2
def twice(x): return k * x
program = VertexProgram(
    state={"d": Field("weight", at_source=0)}, combine="min", priority=lambda d: d,
    compute=lambda source_d, weight: source_d + twice(weight),
)
view = View.of(from_edges(3, np.array([0, 1]), np.array([1, 2]), {"weight": np.array([1, 2])}))
state = run(program, view, RunOptions(sources=[0], report=Report("test")))
kernel = lower(Binding(program, view)).module.near_far
print(json.dumps([state["d"].tolist(), sum(kernel.stats.cache_hits.values()),
                  sum(kernel.stats.cache_misses.values())]))
"""


def child(folder):
    settings = os.environ | {"DASK_GRAPHGPU__CACHE_DIRECTORY": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", CHILD], capture_output=True, text=True, check=True, env=settings
    )
    return json.loads(done.stdout)


def test_a_second_process_compiles_nothing_unless_files_are_torn(tmp_path):
    folder = tmp_path / "cache"
    assert child(folder) == [[0, 2, 6], 0, 1]
    files = sorted(path.name for path in folder.iterdir())
    assert child(folder) == [[0, 2, 6], 1, 0]
    assert sorted(path.name for path in folder.iterdir()) == files
    assert folder.stat().st_mode & 0o777 == 0o700
    kept = sorted(path for path in folder.glob("*/*") if path.is_file())
    for i, path in enumerate(kept):  # indices and code, empty or half
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 * (i % 3 > 0)])
    assert child(folder) == [[0, 2, 6], 0, 1]
    assert child(folder) == [[0, 2, 6], 1, 0]
    assert sorted(path for path in folder.glob("*/*") if path.is_file()) == kept


def test_lines_of_a_generated_module_are_shown_in_tracebacks():
    module = module_cache.load("def fails():\n    raise ValueError('here')\n")
    assert module_cache.load("def fails():\n    raise ValueError('here')\n") is module
    with pytest.raises(ValueError, match="here") as caught:
        module.fails()
    assert "raise ValueError('here')" in "".join(traceback.format_exception(caught.value))


def test_a_module_that_fails_leaves_nothing_behind():
    before = set(sys.modules)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            module_cache.load("1 / 0\n")
    assert not any("program" in name for name in set(sys.modules) - before)
