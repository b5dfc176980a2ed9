"""The first rows of a result: by its ranks, distances and so on, or its largest groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.label_rows import GROUPS

# Columns that rank the rows of a result, the first that there is: whether the largest come first.
_LARGEST_FIRST = {
    "path": False,
    "distance": False,
    "rank": True,
    "betweenness": True,
    "core_number": True,
    "degree": True,
    "triangles": True,
    "clustering_coefficient": True,
    "jaccard": True,
    "score": True,
    "authority": True,
    "paths": True,
    "width": True,
    "belief": True,
    "activation": True,
    "heat": True,
    "potential": True,
}


def top(result: Any, n: int, names: Mapping[str, str]) -> Any:
    """The ``n`` first rows of a result: the largest ranks, degrees, widths and so on, the shortest distances.

    Of components, labels and the like, the ``n`` with the most vertices. ``names`` are those in the result of
    the columns that the method makes.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    InvalidArgument
        The result has no such column.
    """
    columns, largest_first = ranking(names)
    if largest_first is not None:
        first = result.nlargest if largest_first else result.nsmallest
        return _computed(first(n, columns[0]))
    sizes = _computed(result.groupby(columns).size()).rename("vertices").reset_index()
    return sizes.sort_values(
        ["vertices", *columns], ascending=[False, *(True for _ in columns)]
    ).head(n)


def ranking(names: Mapping[str, str]) -> tuple[list[str], bool | None]:
    """The column that ranks rows, and whether the largest come first; or those that say which group a row is in.

    Raises
    ------
    InvalidArgument
        There is none.
    """
    for column, largest_first in _LARGEST_FIRST.items():
        if column in names:
            return [names[column]], largest_first
    groups = [shown for name, shown in names.items() if name.split("_")[0] in GROUPS]
    if not groups:
        raise InvalidArgument(
            f"top needs a result with one of {[*_LARGEST_FIRST, *GROUPS]}; this one has {[*names.values()]}"
        )
    return groups, None


def _computed(frame: Any) -> Any:
    return frame.compute() if hasattr(frame, "compute") else frame
