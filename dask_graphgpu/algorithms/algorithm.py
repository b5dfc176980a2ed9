"""What every algorithm declares."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.arguments import as_id, as_ids, check_real, check_whole, is_whole, said
from dask_graphgpu.checkpoint import Checkpoint
from dask_graphgpu.errors import InvalidArgument, InvalidEdges, NotConverged, UnknownVertex
from dask_graphgpu.io.results import ColumnType, Table
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.layout import Form


@dataclass(frozen=True)
class Algorithm(ABC):
    """A graph method: its arguments are the fields of the dataclass that derives from this.

    ``columns`` are other names for columns of the result, see `io.naming`.

    Class attributes
    ----------------
    row : what each row of the result is of: a "vertex", an "edge" or a "pair"
    rule : how repeated rows become one edge: "min", "max", "sum", "one" or "keep"
    by : whether its rows are built by "source" or by "destination"
    pair_frames : arguments that are frames with the id columns of edges, instead of a vertex and values
    group_frames : arguments that are frames with the group of each vertex, and may name ids that are no vertices
    free_frames : arguments that are frames whose ids need not be vertices
    returns_weight : whether it reads the weights only to give them back, whatever they are
    longest_first : whether it is about long distances, not short ones
    """

    _: KW_ONLY
    columns: Mapping[str, str] | None = None

    row: ClassVar[str] = "vertex"
    rule: ClassVar[str]
    pair_frames: ClassVar[tuple[str, ...]] = ()
    group_frames: ClassVar[tuple[str, ...]] = ()
    free_frames: ClassVar[tuple[str, ...]] = ()
    returns_weight: ClassVar[bool] = False
    longest_first: ClassVar[bool] = False

    @property
    def by(self) -> str:
        return "source"

    @property
    def edge_form(self) -> Form:
        """The form of edges that is enough on the host: "rows", "unsorted" ones or a "list"; see `partition.layout`."""
        return "rows"

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

    def frame_columns(self, name: str) -> int | None:
        """How many columns of values a frame has that is given as the argument ``name``; None: any number."""
        return 1

    def as_read(self, name: str, frame: Any, values: Sequence[str], schema: EdgeSchema) -> Any:
        """The frame that is read, with columns of ``values``, of one that is given as the argument ``name``."""
        return frame

    def beside_groups(self, name: str) -> tuple[str, ...]:
        """Columns of values that are read of a frame of groups, given as the argument ``name``."""
        return ()

    @abstractmethod
    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        """The result's columns, known when the method is called."""

    def num_rows(self, num_vertices: int, schema: EdgeSchema) -> int | None:
        """Rows of the result, where they do not depend on more than the number of vertices."""
        return num_vertices if "vertex" in self.result_columns(schema) else None

    @abstractmethod
    def run(self, run: Run) -> Table:
        """Compute the result."""


@dataclass(frozen=True)
class Resumable(Algorithm):
    """A method that runs vertex programs, whose state may be kept: see `checkpoint.Checkpointing`."""

    _: KW_ONLY
    checkpoint: str | Path | Checkpoint | None = None
    resume: bool = False


def require_weight(schema: EdgeSchema, method: str, instead: str) -> None:
    """Raise InvalidArgument unless the graph has weights."""
    if schema.weight is None:
        raise InvalidArgument(
            f"{method} needs weights and the graph has none: name the column with "
            f".graph(weight=...); the frame has {[name for name, _ in schema.dtypes]}{instead}"
        )


def reads_optional_weight(
    schema: EdgeSchema, weighted: bool | None, method: str, instead: str = ""
) -> bool:
    """Whether weights are read: as ``weighted`` says, None where the graph has some. Raises as `require_weight`."""
    if weighted:
        require_weight(schema, method, instead)
    return schema.weight is not None and weighted is not False


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


def as_plain_ids(algorithm: Algorithm, *names: str, several: bool = True) -> None:
    """Make plain ids, or where ``several`` lists of them, of arguments that name vertices."""
    for name in names:
        plain = (as_ids if several else as_id)(name, getattr(algorithm, name))
        object.__setattr__(algorithm, name, plain)


def check_names_no_vertex(algorithm: Algorithm, rows: Mapping[str, int]) -> None:
    """Raise where an argument, or a frame of so many ``rows``, names a vertex of a graph that has none."""
    for name in ("source", "target", "sources", "targets", "center", "between", "start", "seeds"):
        value = getattr(algorithm, name, None)
        if name == "sources" and is_whole(value):
            raise InvalidArgument(f"sources={value}; the graph has 0 vertices")
        if name not in ("source", "target", "center") and not isinstance(value, list):
            continue  # a frame, whose rows are counted, or the name of a column
        if value is not None:
            first = value[0] if isinstance(value, list) else value
            raise UnknownVertex(
                f"{said(first)} is no vertex of this graph: the edge frame is empty"
            )
    for name, number in rows.items():
        if number and name not in (*algorithm.group_frames, *algorithm.free_frames):
            raise UnknownVertex(
                f"{name}: {number} of its ids are not vertices of this graph: the edge frame is empty"
            )


@contextmanager
def telling_limits() -> Iterator[None]:
    """Have a program that does not converge say which arguments of the method decide about that."""
    try:
        yield
    except NotConverged as error:
        what, _, _ = str(error).partition(": allow")
        raise NotConverged(
            f"{what}: allow more by max_iterations=, or a larger tolerance="
        ) from None


def check_iterations(tolerance: Any, max_iterations: Any) -> None:
    """Raise InvalidArgument unless these can end an iteration."""
    check_real("tolerance", tolerance, "a number of at least 0", lambda least: least >= 0)
    check_whole("max_iterations", max_iterations, 1)
