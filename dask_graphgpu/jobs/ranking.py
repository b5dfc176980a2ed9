"""The first rows of a result: by its ranks, distances and so on, its largest groups, or as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dask.base import is_dask_collection

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


def top(result: Any, n: int, names: Mapping[str, str]) -> Any:
    """The ``n`` first rows of a result: the largest ranks, degrees, widths and so on, the shortest distances.

    Of components, labels and the like, the ``n`` with the most vertices, each level of a hierarchy for itself. Rows
    that nothing ranks, such as edges and embeddings, come as they are. ``names`` are those in the result of the
    columns that the method makes.

    Returns
    -------
    pandas.DataFrame
    """
    for column, largest_first in _LARGEST_FIRST.items():
        if column in names:
            first = result.nlargest if largest_first else result.nsmallest
            return _computed(first(n, names[column]))
    groups = groups_of(names)
    if not groups:
        return _first(result, n)
    if "level" in names:
        groups = [names["level"], *groups]
    sizes = _computed(result.groupby(groups).size()).rename("vertices").reset_index()
    return sizes.sort_values(
        ["vertices", *groups], ascending=[False, *(True for _ in groups)]
    ).head(n)


def groups_of(names: Mapping[str, str]) -> list[str]:
    """The columns of a result that say which group a row is in."""
    return [shown for name, shown in names.items() if name.split("_")[0] in GROUPS]


def _first(result: Any, n: int) -> Any:
    """The first rows as they are."""
    return result.head(n, npartitions=-1) if is_dask_collection(result) else result.head(n)


def _computed(frame: Any) -> Any:
    return frame.compute() if hasattr(frame, "compute") else frame
