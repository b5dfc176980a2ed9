"""Belief propagation, linearized: beliefs of vertices from priors of some and coupling along edges.

Two classes (FaBP [1]_): x = belief - 1/2, e = prior - 1/2 and h = homophily - 1/2 solve

    x(v) = e(v) + sum over edges {u, v} of c x(u) - a x(v),   c = 2 h / (1 - 4 h**2),   a = 2 h c,

c and a of the edge where each has a homophily of its own. a takes back what x(v) told its neighbours
and they tell it again (echo cancellation).

K classes (LinBP [2]_): rows of B and E are beliefs and priors less 1/K, H is the coupling, A the
weights of edges, D the diagonal matrix of the sums of their squares at each vertex:

    B = E + A B H - D B H**2.

H is symmetric, H = V L V' with L the diagonal matrix of its eigenvalues and V'V = 1. Times V from
the right, with B V = Y and E V = F, this is Y = F + A Y L - D Y L**2: its columns know nothing of
each other, each is a system of one number a vertex, y = f + l A y - l**2 D y, and B = Y V'. The
constant vector has the eigenvalue 0, because rows of H sum to 0: there y = f, which keeps the sum of
a vertex's beliefs at 1.

References
----------
.. [1] Koutra, Ke, Kang, Chau, Pao, Faloutsos, "Unifying guilt-by-association approaches: theorems and
   fast algorithms", ECML PKDD 2011.
.. [2] Gatterbauer, Günnemann, Koutra, Faloutsos, "Linearized and single-pass belief propagation",
   VLDB 2015.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import require_weight
from dask_graphgpu.algorithms.iterated import Iterated
from dask_graphgpu.algorithms.linear_beliefs import EXPLICIT, System
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.vertex_values import (
    check_finite,
    check_values,
    read_values,
    value_names,
    vertices_columns,
)
from dask_graphgpu.arguments import check_flag, check_real, refuse
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.view import View


@dataclass(frozen=True)
class BeliefPropagation(Iterated):
    """Probability of each class at every vertex, from known ones.

    What is known of some vertices spreads along edges, by how like joins like.

    Give ``homophily`` for two classes or ``coupling`` for any number. Edges have no direction here.

    Parameters
    ----------
    priors : frame or str or list of str
        What is known: a frame with the id column(s) and the chance of the first of two classes, or
        with a column a class, that sum to 1; or the names of such columns of the vertices frame, as
        a list or one text with commas.
        Of vertices that are not in the frame nothing is known: all classes are equally likely.
    homophily : float or str, optional
        Two classes: the chance that the ends of an edge are of the same class, between 0 and 1;
        1/2 says nothing. A number for all edges, or the name of an edge column.
    coupling : K x K numbers, optional
        How much more (or less) likely than 1/K the neighbour of a vertex of one class is of another:
        symmetric, rows that sum to 0. Also as a text of JSON.
    weighted : bool, optional
        Multiply the coupling by an edge's weight. Default: with ``coupling``, when the graph has
        weights.
    echo_cancellation : bool
        Take back what comes back: the last term of the equations.
    tolerance : float
        Stop when no value of a vertex changed by as much as this. 0: exactly ``max_iterations``.
    max_iterations : int
        Iterations at most.

    Returns
    -------
    frame
        ``vertex``, and ``belief`` in the first of two classes or, with ``coupling``,
        ``belief_<column>`` in each class, named as the priors' columns; they sum to 1. Float64, and
        near 0 and 1 beyond them, since the equations are linear: what counts is which is largest.
        One row a vertex in ascending order of ids.

    Raises
    ------
    InvalidArgument
        An argument is out of range, or the coupling is so strong that no number of iterations
        converges (not asked with ``tolerance=0``).
    NotConverged
        ``max_iterations`` came first; the message gives the last change.

    Notes
    -----
    Two classes, with x = belief - 1/2, e = prior - 1/2, h = homophily - 1/2: x(v) = e(v) + sum over
    edges {u, v} of c x(u) - a x(v), c = 2 h / (1 - 4 h**2), a = 2 h c. K classes, with 1/K taken from
    beliefs B and priors E: B = E + A B H - D B H**2, A the weights, D the sums of their squares, H
    the coupling; its eigenvectors make K systems of one number a vertex of it. These iterations
    converge when the sums of c + a (of magnitudes) at each vertex are below 1, for one homophily
    when h < 1 / (2 + 2 * largest degree); where they are not, the spectral radius is estimated by
    power iteration and has to be below 1. Repeated rows are edges of their own; a self-loop is
    two of a directed graph, and one of an undirected graph. Cost: O(E) an iteration and an eigenvalue
    of the coupling that is not 0, and up to 200 times that for the estimate.
    """

    priors: Any
    _: KW_ONLY
    homophily: float | str | Any = None
    coupling: Any = None
    weighted: bool | None = None
    echo_cancellation: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag("weighted", self.weighted, optional=True)
        if (self.homophily is None) == (self.coupling is None):
            raise InvalidArgument(
                "give homophily= (two classes) or coupling= (a matrix, any number of classes), one "
                "of them"
            )
        if self.coupling is not None and isinstance(self.priors, str):
            object.__setattr__(self, "priors", self.priors.split(","))
        check_values("priors", self.priors, several=self.coupling is not None)
        if self.coupling is not None:
            object.__setattr__(self, "coupling", _checked_coupling(self.coupling))
        elif self.weighted:
            raise InvalidArgument(
                "weighted=True goes with coupling=; give homophily= as an edge column instead"
            )
        elif not isinstance(self.homophily, str):
            check_real(
                "homophily", self.homophily, "a number between 0 and 1, or an edge column",
                lambda h: 0 < h < 1,
            )  # fmt: skip

    @property
    def classes(self) -> int:
        """Number of columns of priors."""
        return 1 if self.coupling is None else len(self.coupling)

    def frame_columns(self, name: str) -> int:
        return self.classes

    def reads_weight(self, schema: EdgeSchema) -> bool:
        if self.weighted:
            require_weight(schema, "belief_propagation(weighted=True)", "")
        scaled = self.coupling is not None and self.weighted is not False
        return schema.weight is not None and scaled

    def edge_columns(self) -> Sequence[str]:
        return (self.homophily,) if isinstance(self.homophily, str) else ()

    def vertex_columns(self) -> Sequence[str]:
        return vertices_columns(self.priors)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        names = self._names(schema)
        return {"vertex": ColumnType("vertex"), **dict.fromkeys(names, ColumnType("float64"))}

    def run(self, run: Run) -> Table:
        priors = self._priors(run)
        run = replace(run, view=run.view.undirected())  # once, for all programs
        beliefs = self._two(run, priors) if self.coupling is None else self._several(run, priors)
        rows = run.rows
        named = zip(self._names(run.schema), beliefs.T, strict=True)
        return {
            "vertex": Values(run.vertices),
            **{name: Values(column.take(rows)) for name, column in named},
        }

    def _names(self, schema: EdgeSchema) -> list[str]:
        """Names of the columns of beliefs."""
        if self.coupling is None:
            return ["belief"]
        return [f"belief_{name}" for name in value_names("priors", self.priors, schema)]

    def _priors(self, run: Run) -> np.ndarray:
        """Priors in dense order, of shape (num_vertices, classes)."""
        values, known = read_values(run, "priors", self.priors)
        check_finite(run, "priors", values)
        if values.shape[1] != self.classes:
            raise InvalidArgument(
                f"priors are {values.shape[1]} columns and the coupling has {self.classes} classes"
            )
        values[~known] = 0.5 if self.coupling is None else 1 / self.classes
        least, most = run.least(values), run.most(values)
        if least < 0 or most > 1:
            raise InvalidArgument(f"priors: values from {least} to {most}; allowed are 0 to 1")
        wrong = run.total(np.abs(values.sum(axis=1) - 1) > 1e-6)
        if self.coupling is not None and wrong:
            raise InvalidArgument(
                f"priors: those of {wrong} vertices do not sum to 1; divide each row by its sum"
            )
        return values

    def _two(self, run: Run, priors: np.ndarray) -> np.ndarray:
        echo, view = float(self.echo_cancellation), run.view
        if isinstance(self.homophily, str):
            column = view.out.columns[self.homophily]
            if not ((column > 0) & (column < 1)).all():
                raise InvalidArgument(
                    f"edge column {self.homophily!r}: values of homophily lie between 0 and 1, "
                    "without these"
                )
            view = view.with_edge_column("homophily", self.homophily)
            system = System(kind="homophily", echo=echo)
        else:
            assert self.homophily is not None
            h = float(self.homophily) - 0.5
            c = 2 * h / (1 - 4 * h * h)
            system = System(kind="uniform", coupling=c, echo=echo * 2 * h * c)
        return 0.5 + self._solve(run, view, system, priors - 0.5)

    def _several(self, run: Run, priors: np.ndarray) -> np.ndarray:
        values, vectors = np.linalg.eigh(np.array(self.coupling))
        values[np.abs(values) < 1e-12 * np.abs(values).max()] = 0.0
        vectors = np.asarray(vectors, like=priors)
        solved = (priors - 1 / self.classes) @ vectors
        kind = "weighted" if run.view.is_weighted else "uniform"
        for k, value in enumerate(values.tolist()):
            if value != 0:
                echo = value * value * float(self.echo_cancellation)
                system = System(kind=kind, coupling=value, echo=echo)
                solved[:, k] = self._solve(run, run.view, system, solved[:, [k]])[:, 0]
        beliefs: np.ndarray = solved @ vectors.T + 1 / self.classes
        return beliefs

    def _solve(self, run: Run, view: View, system: System, explicit: np.ndarray) -> np.ndarray:
        if self.tolerance > 0:
            _check_convergence(run, view, system)
        columns = {EXPLICIT: explicit[:, 0].copy()}
        return self.iterate(run, view, system.program(), columns, **system.constants)[:, None]


def _checked_coupling(given: Any) -> tuple[tuple[float, ...], ...]:
    try:
        matrix = np.array(json.loads(given) if isinstance(given, str) else given, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):  # also what is no JSON
        refuse("coupling", given, "are K rows of K numbers")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise InvalidArgument(f"coupling has shape {matrix.shape}; give K rows of K numbers, K > 1")
    if not np.isfinite(matrix).all():
        raise InvalidArgument("coupling: some of its values are infinite or NaN")
    size = np.abs(matrix).max()
    if np.abs(matrix - matrix.T).max() > 1e-9 * size:
        raise InvalidArgument("coupling is not symmetric")
    if np.abs(matrix.sum(axis=1)).max() > 1e-9 * size:
        raise InvalidArgument(
            "the rows of coupling do not sum to 0; of chances, take 1/K from every number"
        )
    return tuple(map(tuple, ((matrix + matrix.T) / 2).tolist()))


def _check_convergence(run: Run, view: View, system: System) -> None:
    """Raise InvalidArgument if the iteration is sure not to converge."""
    if system.radius_bound(run, view) < 1:
        return
    radius = system.radius_estimate(run, view)
    if radius < 1:
        return
    raise InvalidArgument(
        f"the coupling of neighbours is too strong for this graph: the spectral radius of the iteration is "
        f"{radius:.4g} or more and would have to be below 1. Bring homophily nearer to 1/2, or "
        f"multiply the coupling by less than {1 / radius:.4g}; tolerance=0 runs a fixed number of "
        "iterations of it"
    )
