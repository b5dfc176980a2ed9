"""The METIS partitioner: few edges between ranks, found on one of them."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from dask_graphgpu.errors import EngineUnavailable, InvalidArgument
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.ranks.ends import AtHome
from dask_graphgpu.partition.ranks.homes import PIECE
from dask_graphgpu.partition.rows import Rows

_MOST = 2**31 - 1  # what METIS counts entries of rows with


def metis(at: AtHome) -> np.ndarray:
    """Few edges between ranks and equal edge ends on each, by multilevel k-way partitioning.

    Karypis and Kumar, SIAM J. Sci. Comput. 20 (1998), through pymetis. The whole graph is gathered
    on rank 0, about 40 bytes an edge there, and stays below 2**31 entries of rows.

    Raises
    ------
    EngineUnavailable
        Rank 0 has no pymetis.
    InvalidArgument
        The graph has too many edges for one process to partition.
    """
    homes, ranks = at.homes, at.homes.ranks
    pymetis = _found() if ranks.rank == 0 else None
    if not ranks.max(int(pymetis is not None)):
        raise EngineUnavailable(
            "partitioner='metis' needs pymetis where rank 0 runs: pip install pymetis. The graph is "
            "partitioned there by one process, which has to hold all of it: about 40 bytes an edge, "
            "at most about 2**30 edges. The other partitioners have no such limit"
        )
    work = at.degrees + 1
    total = int(ranks.sum(int(work.sum())))
    if total > _MOST:
        raise InvalidArgument(
            "partitioner='metis' partitions the whole graph in one process, up to "
            f"{_MOST:,} vertices and ends of edges, and there are {total:,}; use 'balanced', "
            "'biased_random' or 'random'"
        )
    source, destination = _gathered(at)
    weights = ranks.all_to_all([work, *[np.empty(0, np.int64)] * (ranks.size - 1)])
    parts = [np.empty(0, np.int64)] * ranks.size
    if pymetis is not None:
        owners = _partitioned(pymetis, source, destination, np.concatenate(weights), ranks.size)
        parts = np.split(owners, homes.starts[1:-1])
    return ranks.all_to_all(parts)[0]


def _found() -> Any:
    try:
        return importlib.import_module("pymetis")
    except ImportError:
        return None


def _gathered(at: AtHome) -> tuple[np.ndarray, np.ndarray]:
    """The ends of all edges on rank 0, none on the others. Collective, in bounded rounds."""
    ranks, numbers = at.homes.ranks, at.numbered.numbers
    got: list[list[np.ndarray]] = [[], []]
    pieces = at.edges(PIECE)
    none = np.empty(0, numbers.dtype)
    for _ in range(int(ranks.max(sum(1 for _ in at.edges(PIECE))))):
        here = next(pieces, None)
        for k, held in enumerate(got):
            ends = none if here is None else numbers.take(here[k])
            held += ranks.all_to_all([ends, *[none] * (ranks.size - 1)])
    source, destination = (np.concatenate(held) if held else none for held in got)
    return source, destination


def _partitioned(
    pymetis: Any, source: np.ndarray, destination: np.ndarray, weights: np.ndarray, size: int
) -> np.ndarray:
    """The part of each vertex, int64."""
    rows = Rows(from_edges(len(weights), source, destination)).symmetric()
    # METIS takes neither a graph without edges nor fewer vertices than parts.
    if not rows.num_edges or len(weights) <= size:
        return np.arange(len(weights)) * size // max(len(weights), 1)
    adjacency = pymetis.CSRAdjacency(
        rows.offsets.astype(np.int32), rows.neighbours.astype(np.int32)
    )
    # Recursive bisection, which pymetis takes for few parts, keeps the balance less well.
    found = pymetis.part_graph(
        size,
        adjacency,
        vweights=weights.astype(np.int32),
        recursive=False,
        options=pymetis.Options(seed=0),
    )
    return np.asarray(found.vertex_part, np.int64)
