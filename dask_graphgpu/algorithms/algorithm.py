"""What every algorithm declares."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.errors import InvalidArgument, InvalidEdges
from dask_graphgpu.io.results import ColumnType, Table
from dask_graphgpu.io.schema import EdgeSchema


class Algorithm(ABC):
    """A graph method: its arguments are the fields of the dataclass that derives from this.

    Class attributes
    ----------------
    rule : how repeated rows become one edge: "min", "max", "sum", "one" or "keep"
    by : whether its rows are built by "source" or by "destination"
    pair_frames : arguments that are frames with the id columns of edges, instead of a vertex and values
    runs_on : where it runs: on the "cpu" engine and the "gpu" engine of one rank, on several "ranks"
    """

    rule: ClassVar[str]
    by: ClassVar[str] = "source"
    pair_frames: ClassVar[tuple[str, ...]] = ()
    runs_on: ClassVar[tuple[str, ...]] = ("cpu", "gpu", "ranks")

    def engine_functions(self) -> tuple[str, ...]:
        """What an engine must have to run it."""
        return ("run",)

    def reads_weight(self, schema: EdgeSchema) -> bool:
        """Whether the weight column is read. Raises InvalidArgument when it is needed and missing."""
        return False

    def edge_columns(self) -> Sequence[str]:
        """Further columns of the edge frame to read."""
        return ()

    def vertex_columns(self) -> Sequence[str]:
        """Columns of the vertices frame to read."""
        return ()

    def frame_columns(self, name: str) -> int:
        """How many columns of values a frame has that is given as the argument ``name``."""
        return 1

    @abstractmethod
    def columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        """The result's columns, known when the method is called."""

    @abstractmethod
    def run(self, run: Run) -> Table:
        """Compute the result."""


def require_weight(schema: EdgeSchema, method: str, instead: str) -> None:
    """Raise InvalidArgument unless the graph has weights."""
    if schema.weight is None:
        raise InvalidArgument(
            f"{method} needs weights and the graph has none: name the column with "
            f".graph(weight=...); the frame has {[name for name, _ in schema.dtypes]}{instead}"
        )


def refuse_extreme_weights(run: Run, of: str, dtype: str = "float64") -> None:
    """Raise InvalidEdges where weights are so large or small that sums of them, or parts, are lost.

    Sums ``of`` the weights of each "vertex", parts of which are told apart in ``dtype``; of all weights
    of the "graph", twice; or of "products" of two weights, for which as many of the largest are taken as
    there are edges. The others are exact: made only where so many of the largest would be too much.
    On ranks all call it.
    """
    if not run.view.max_weight:
        return
    most, edges = float(run.view.max_weight), float(run.view.graph_edges)
    limits = np.finfo(dtype)
    least, bound = 1 / float(limits.max), float(limits.max)
    if of == "products":
        least, bound = math.sqrt(run.num_vertices * float(limits.tiny / limits.eps)), bound / most
    elif of == "vertex":  # parts of a mean rank, with all their digits
        bound = 1 / float(limits.tiny) / run.num_vertices
    total = 2.0 * edges * most
    if total > bound and of != "products":
        sums = run.view.weighted_degrees("out")
        with np.errstate(over="ignore"):  # it is infinite then
            total = run.most(sums) if of == "vertex" else 2.0 * run.total(sums)
    if total > bound or most < least:
        raise InvalidEdges(
            f"weights are up to {most:g}, too {'much' if total > bound else 'little'} for sums over "
            f"{int(edges):,} edges in {dtype}: multiply all weights by one number, which changes no answer, "
            "or use weighted=False"
        )


def as_python(algorithm: Algorithm, *names: str) -> None:
    """Make Python numbers and lists of those arguments that are NumPy's, pandas', CuPy's or cuDF's.

    Raises InvalidArgument for an empty list.
    """
    for name in names:
        value = getattr(algorithm, name)
        if hasattr(value, "tolist"):
            value = value.to_arrow().tolist() if hasattr(value, "to_arrow") else value.tolist()
            object.__setattr__(algorithm, name, value)
        if isinstance(value, list) and not value:
            raise InvalidArgument(f"{name}=[]; give at least one vertex id")


def check_number(name: str, value: Any, allowed: str, ok: bool) -> None:
    """Raise InvalidArgument unless ``ok``."""
    if not ok:
        raise InvalidArgument(f"{name}={value!r}; allowed is {allowed}")


def is_number(value: Any) -> bool:
    """Whether it is a real number, not a truth value, that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def check_seed(seed: Any) -> None:
    """Raise InvalidArgument unless it is a whole number: with None all ranks would draw for themselves."""
    whole = isinstance(seed, Integral) and not isinstance(seed, bool)
    check_number("seed", seed, "a whole number of at least 0", whole and seed >= 0)


def check_iterations(tolerance: Any, max_iterations: Any) -> None:
    """Raise InvalidArgument unless these can end an iteration."""
    for name, value in (("tolerance", tolerance), ("max_iterations", max_iterations)):
        check_number(name, value, "a number", is_number(value))
    check_number("tolerance", tolerance, "at least 0", tolerance >= 0)
    check_number(
        "max_iterations", max_iterations, "a whole number of at least 1",
        float(max_iterations).is_integer() and max_iterations >= 1,
    )  # fmt: skip
