"""The first rows of a result: by its ranks, distances and so on, its largest groups, or as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dask.base import is_dask_collection
from pandas.api.types import is_numeric_dtype

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.io.label_rows import GROUPS

# Columns that rank the rows of a result, the first that there is: whether the largest come first.
_LARGEST_FIRST = {
    "path": False,
    "cycle": False,
    "walk": False,
    "batch": False,
    "distance": False,
    "arrival": False,
    "rank": True,
    "betweenness": True,
    "closeness": True,
    "harmonic": True,
    "eigenvector_centrality": True,
    "katz_centrality": True,
    "core_number": True,
    "trussness": True,
    "biconnected_components": True,
    "degree": True,
    "weighted_degree": True,
    "triangles": True,
    "clustering_coefficient": True,
    "jaccard": True,
    "score": True,
    "weight": True,
    "authority": True,
    "paths": True,
    "width": True,
    "belief": True,
    "activation": True,
    "heat": True,
    "potential": True,
    "vertices": True,
    "count": True,
    "position": False,
}


def top(
    result: Any, n: int, names: Mapping[str, str], makers: Mapping[str, type[Algorithm]]
) -> Any:
    """The ``n`` first rows of a result: the largest ranks, degrees, widths and so on, the shortest distances.

    Of a method that is about long ones the longest. Of components, labels and the like, the ``n`` with the most rows,
    each level of a hierarchy for itself. Rows that nothing ranks, such as edges and embeddings, come as they are.
    ``names`` are those in the result of the columns that methods make, ``makers`` the methods.

    Returns
    -------
    pandas.DataFrame
    """
    for column, largest_first in _LARGEST_FIRST.items():
        if column in names:
            largest_first |= column == "distance" and makers[column].longest_first
            return _ranked(result, n, names[column], largest_first=largest_first)
    groups = groups_of(names)
    if not groups:
        return _first(result, n)
    if "level" in names:
        groups = [names["level"], *groups]
    rows = "edges" if any(each.row == "edge" for each in makers.values()) else "vertices"
    sizes = _computed(result.groupby(groups).size()).rename(rows).reset_index()
    return sizes.sort_values([rows, *groups], ascending=[False, *(True for _ in groups)]).head(n)


def groups_of(names: Mapping[str, str]) -> list[str]:
    """The columns of a result that say which group a row is in."""
    return [shown for name, shown in names.items() if name.split("_")[0] in GROUPS]


def _ranked(result: Any, n: int, column: str, *, largest_first: bool) -> Any:
    """The first rows by a column of numbers or times, of equal ones those that come first."""
    if is_numeric_dtype(result.dtypes[column]):
        first = result.nlargest if largest_first else result.nsmallest
        return _computed(first(n, column))

    def sorted_rows(frame: Any) -> Any:  # what nsmallest does not take: times of Arrow's
        return frame.sort_values(column, ascending=not largest_first, kind="stable").head(n)

    if is_dask_collection(result):
        result = result.map_partitions(sorted_rows, meta=result._meta).compute()
    return sorted_rows(result)


def _first(result: Any, n: int) -> Any:
    """The first rows as they are."""
    return result.head(n, npartitions=-1) if is_dask_collection(result) else result.head(n)


def _computed(frame: Any) -> Any:
    return frame.compute() if hasattr(frame, "compute") else frame
