"""Embeddings by very sparse random projection (FastRP).

References
----------
.. [1] Chen, Sultan, Tian, Chen, Skiena, "Fast and accurate network embeddings via very sparse random projection",
   CIKM 2019.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import (
    Algorithm,
    reads_optional_weight,
    refuse_extreme_weights,
)
from dask_graphgpu.algorithms.neighbour_programs import statistics
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.sparse_projection import sparse_projection
from dask_graphgpu.arguments import check_choice, check_real, check_whole, is_real, refuse
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema

# Means of vectors that cancel to less than this share of the longest one are 0, but for rounding.
_NOTHING = 1e-13
_OTHER = {"in": "out", "out": "in", "both": "both"}


@dataclass(frozen=True)
class FastRP(Algorithm):
    """Embeddings of vertices by random projection.

    Every vertex begins with a random vector, and takes the mean of its neighbours' vectors, several times. The
    embedding is a weighted sum of what it has after each time, scaled to length 1: vertices with the same
    surroundings come to lie in the same direction.

    Parameters
    ----------
    dimension : int
        Numbers of a vector.
    iteration_weights : list of float
        How much the vector after the first, the second, ... time counts.
    normalization_strength : float
        The random vector of a vertex is multiplied by its share of the edges to the power of this: hubs count less
        below 0, more above 0.
    self_influence : float
        How much the random vector itself counts.
    direction : {"in", "out", "both"}
        Whose vectors: of the vertices that edges come from, of those that edges lead to, or of both. Default: both.
        In an undirected graph all are the same.
    weighted : bool, optional
        Take means by the weights of edges. Default: when the graph has weights.
    seed : int
        Other seeds give other embeddings.

    Returns
    -------
    frame
        ``vertex``, ``embedding_0``, ``embedding_1``, ... (float32), a column a dimension. One row a vertex in
        ascending order of ids. Zeros where a vertex has no neighbour.

    Raises
    ------
    InvalidArgument
        ``weighted`` and there are no weights, or an argument is out of range.

    Notes
    -----
    With the transition matrix P, degrees d, their sum 2m, and a random matrix R of entries sqrt(3), 0 and -sqrt(3)
    with probabilities 1/6, 2/3 and 1/6: N(1) = P (d / 2m)^strength R, N(k) = P N(k - 1), and the embedding is the sum
    of iteration_weights[k - 1] times N(k), its rows scaled to length 1 (Chen et al., CIKM 2019). R is made of hashes
    of ``seed`` and the places of vertices in the order of ids: embeddings are the same to rounding for rows in any
    order, on all engines and on ranks. Those of graphs with other ids cannot be compared.

    A repeated edge counts once, weighted by the sum of its weights, unless the graph was given
    ``duplicates="keep"``. Cost: a pass over the edges an iteration, O(dimension * E); 32 bytes a vertex and
    dimension. Beyond the memory of a GPU a pass for each dimension and iteration.
    """

    dimension: int = 128
    _: KW_ONLY
    iteration_weights: Sequence[float] = (0.0, 1.0, 1.0)
    normalization_strength: float = 0.0
    self_influence: float = 0.0
    direction: str = "both"
    weighted: bool | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole("dimension", self.dimension, 1)
        given: Any = self.iteration_weights
        weights = [given] if is_real(given) else given
        if not (
            isinstance(weights, Sequence | np.ndarray)
            and len(weights) > 0
            and all(is_real(weight) and math.isfinite(weight) for weight in weights)
        ):
            refuse(
                "iteration_weights", given, "is a list of finite numbers, one for each iteration"
            )
        object.__setattr__(self, "iteration_weights", tuple(map(float, weights)))
        for name in ("normalization_strength", "self_influence"):
            check_real(name, getattr(self, name), "a finite number", math.isfinite)
        check_choice("direction", self.direction, tuple(_OTHER))
        check_whole("seed", self.seed, 0)

    @property
    def rule(self) -> str:  # type: ignore[override]
        return "one" if self.weighted is False else "sum"

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return reads_optional_weight(schema, self.weighted, "fastrp(weighted=True)")

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        number = ColumnType("float32")
        columns = {f"embedding_{i}": number for i in range(self.dimension)}
        return {"vertex": ColumnType("vertex"), **columns}

    def run(self, run: Run) -> Table:
        refuse_extreme_weights(run, "vertex")
        vectors = sparse_projection(run, self.dimension, int(self.seed))
        length = _lengths(vectors)
        found = _scaled(vectors, length, self.self_influence)
        if self.normalization_strength:
            share = run.view.weighted_degrees(_OTHER[self.direction]).astype(np.float64)
            share /= max(run.total(share), 1)
            share[share == 0] = 1  # nobody's neighbour
            share **= self.normalization_strength
            vectors *= share[:, None]
            length *= share
        over = run.view.weighted_degrees(self.direction).astype(np.float64)
        over[over == 0] = 1
        for weight in self.iteration_weights[: _last(self.iteration_weights)]:
            nothing = _NOTHING * run.most(length)
            vectors = statistics(run, vectors, self.direction, ["sum"])["sum"]
            vectors /= over[:, None]
            length = _lengths(vectors)
            length[length <= nothing] = 0
            if weight:
                found += _scaled(vectors, length, weight)
        own = found.take(run.rows, axis=0).astype(np.float32)
        columns = own.T.copy(order="C")
        named = {f"embedding_{i}": Values(column) for i, column in enumerate(columns)}
        return {"vertex": Values(run.vertices), **named}


def _lengths(vectors: Any) -> Any:
    return np.sqrt(np.einsum("ij,ij->i", vectors, vectors))


def _scaled(vectors: Any, length: Any, wanted: float) -> Any:
    """Vectors of a length in place of their own; 0 where that is 0."""
    return vectors * (wanted / np.where(length == 0, np.inf, length))[:, None]


def _last(weights: Sequence[float]) -> int:
    """How many there are up to the last one that is not 0."""
    return max((i for i, weight in enumerate(weights, 1) if weight), default=0)
