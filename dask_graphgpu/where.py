"""What runs where: a method runs where an engine has the functions that it takes."""

from __future__ import annotations

import ast
from functools import cache
from importlib.resources import files

from dask_graphgpu.algorithms import ALGORITHMS, Algorithm
from dask_graphgpu.engine.contract import Engine
from dask_graphgpu.errors import EngineUnavailable

# Files below `dask_graphgpu.engine`, by the place that they are for: where edges lie, and on which engine if not the
# CPU's.
_MODULES = {
    "cpu": "cpu/__init__.py",
    "gpu": "gpu/__init__.py",
    "hybrid": "hybrid/__init__.py",
    "interpreted": "interpret.py",
    "ranks": "ranks/__init__.py",
    "ranks, gpu": "device_ranks/__init__.py",
    "host memory": "tiered/__init__.py",
    "disk": "paged/__init__.py",
    "disk, gpu": "tiered/on_disk.py",
    "disk, hybrid": "hybrid/on_disk.py",
}

# Of what an engine does not have itself.
_REST = {"ranks, gpu": "ranks"}

# Functions that are there for engines which have none of their own.
_SHORTCUTS = "dask_graphgpu.engine.shortcuts"

# Functions that work on such edges only where another method has brought them there.
_AT_HAND = {"edges_among", "simple_degrees"}

# By the first word of a place.
_ERRORS = {
    "gpu": "{name} does not run on the GPU engine, where this graph is: use engine='cpu'; cuDF frames are converted "
    "with .to_pandas(), Dask's with .to_backend('pandas')",
    "hybrid": "engine='hybrid' runs vertex programs and what is made of them ({others}), and this method takes "
    "{missing}: use engine='gpu' or engine='cpu'",
    "interpreted": "engine='interpreted' runs vertex programs only, and this method needs {missing}; use engine='cpu'",
    "ranks": "{name} does not run on several ranks, where this graph is: give ranks=1",
    "host memory": "the graph needs more than graphgpu.device-memory-limit, and this method, which takes {missing}, "
    "does not run on edges in host memory ({others} do): raise the limit, or use engine='cpu'",
    "disk": "the graph needs more than graphgpu.host-memory-limit, and this method, which takes {missing}, does not "
    "run on edges in pages on disk with engine={engine!r}: raise the limit, or set it to null",
}


@cache
def functions(place: str) -> frozenset[str]:
    """Functions of an engine, which is read and not imported: those for GPUs are not imported everywhere."""
    rest = functions(_REST[place]) if place in _REST else frozenset[str]()
    return rest | _named(_MODULES[place]) & {*dir(Engine)}


def _named(file: str) -> frozenset[str]:
    """Names that a file below `dask_graphgpu.engine` defines or imports."""
    names = set[str]()
    for node in ast.parse(files("dask_graphgpu.engine").joinpath(file).read_text()).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module != _SHORTCUTS:
            rest = node.module.removeprefix("dask_graphgpu.engine.").replace(".", "/") + ".py"
            for each in node.names:
                names |= _named(rest) if each.name == "*" else {each.name}
    return frozenset(names)


def gathering() -> list[str]:
    """Methods that work, on several ranks with GPUs, on the edges of all ranks: on each GPU, if they fit there."""
    defined = _named("device_ranks/whole.py") | _named("device_ranks/whole_rows.py")
    whole = (defined & {*dir(Engine)}) - _AT_HAND
    return [name for name, each in _plain().items() if whole.intersection(each.engine_functions())]


def runs(algorithm: Algorithm, place: str) -> bool:
    """Whether a method with its arguments runs in a place."""
    return functions(place).issuperset(algorithm.engine_functions())


def methods(place: str) -> list[str]:
    """Methods that run in a place, in any of their forms."""
    return [name for name, algorithm in _plain().items() if runs(algorithm, place)]


def _plain() -> dict[str, Algorithm]:
    """Each method without the checks of arguments, of which those that may be left out are."""
    return {name: object.__new__(kind) for name, kind in ALGORITHMS.items()}


def check(algorithm: Algorithm, place: str, engine: str = "auto") -> None:
    """Raise EngineUnavailable, which says what to do, unless a method runs in a place.

    ``engine`` : the one of the graph.
    """
    if place == "cpu" or runs(algorithm, place):
        return
    missing = [name for name in algorithm.engine_functions() if name not in functions(place)]
    told = _ERRORS[place.partition(",")[0]].format(
        name=name_of(algorithm),
        missing=", ".join(missing),
        others=", ".join(methods(place)),
        engine=engine,
    )
    raise EngineUnavailable(told)


def name_of(algorithm: Algorithm) -> str:
    """The method of a graph that an algorithm is."""
    return next(name for name, kind in ALGORITHMS.items() if kind is type(algorithm))
