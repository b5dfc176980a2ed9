"""The argument ``sources``: all vertices, some by their ids, or so many drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm, as_plain_ids
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.arguments import check_whole, is_whole, refuse
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.partition.distinct import distinct


def check_sources(algorithm: Algorithm, seed: Any) -> None:
    """Make the ``sources`` of an algorithm None, a number or a list of plain ids. Raises InvalidArgument."""
    sources = algorithm.sources  # type: ignore[attr-defined]
    if isinstance(sources, np.ndarray) and sources.ndim == 0:
        sources = sources[()]
        object.__setattr__(algorithm, "sources", sources)
    if is_whole(sources):
        check_whole("sources", sources, 1)
    elif sources is not None:
        as_plain_ids(algorithm, "sources")
        if not isinstance(algorithm.sources, list):  # type: ignore[attr-defined]
            refuse("sources", sources, "are None (all), how many to draw, and a list of vertex ids")
    check_whole("seed", seed, 0)


def sources_of(run: Run, sources: Any, seed: int) -> Any:
    """Dense ids of the sources, on ranks numbers.

    Raises
    ------
    InvalidArgument
        There are fewer vertices, or one is named twice.
    UnknownVertex
    """
    n = run.num_vertices
    every = np.arange(n) if run.ranks is not None else run.vertices.astype(np.int64)
    if sources is None:
        return every
    if isinstance(sources, list):
        found = np.asarray(run.ids.find(sources), np.int64)
        if len(distinct(found)) < len(found):
            raise InvalidArgument("sources has an id more than once; drop the repeats")
        return found
    if sources > n:
        raise InvalidArgument(f"sources={sources}; the graph has {n} vertices")
    drawn = np.random.default_rng(seed).choice(n, sources, replace=False)
    return every[np.asarray(drawn, like=every)]
