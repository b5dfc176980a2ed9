"""``frame.graph`` on frames of Dask, pandas, cuDF and polars; `graph` for those of all libraries."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import dask.dataframe as dd
import pandas as pd

from dask_graphgpu.algorithms import ALGORITHMS
from dask_graphgpu.errors import briefly, guess
from dask_graphgpu.graphs import Graph
from dask_graphgpu.post_import import after_import
from dask_graphgpu.signatures import check_call, of_method, options_of

_PASSED_ON = {*ALGORITHMS, "features", "persist", "save", "explain"}
_PASSED_ON |= {"num_vertices", "num_edges", "vertices", "to_networkx"}
_OPTIONS = options_of(Graph)


class GraphAccessor:
    """Graph methods of a frame whose rows are edges.

    Called, it takes the columns and options of `Graph`; used directly, it takes the defaults:
    ``edges.graph.bfs(0)`` is ``edges.graph().bfs(0)``.
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    @briefly
    def __call__(self, *args: Any, **options: Any) -> Graph:
        check_call("graph", _OPTIONS, args, options)
        return Graph(self._frame, **options)

    def __getattr__(self, name: str) -> Any:
        if name in _PASSED_ON:
            return getattr(self(), name)
        meant = guess(name, sorted(_PASSED_ON)) or f" There are {', '.join(sorted(_PASSED_ON))}."
        raise AttributeError(f"a graph has no method {name!r}.{meant}")

    def __repr__(self) -> str:
        return f"<GraphAccessor of {type(self._frame).__name__}: call it with columns and options>"

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_PASSED_ON]


@briefly
def graph(frame: Any, **options: Any) -> Graph:
    """A graph of a frame whose rows are edges, of any library: ``graph(table, source="from", destination="to")``.

    As ``frame.graph(**options)``, also for frames that have no such attribute.

    Parameters
    ----------
    frame : frame
        Of pandas, Dask, cuDF, Dask-cuDF, polars (DataFrame or LazyFrame), pyarrow (Table, RecordBatch or
        RecordBatchReader), a relation of DuckDB's, or anything else that has columns and gives an Arrow stream
        (``__arrow_c_stream__``).
    **options
        As of `Graph`.

    Returns
    -------
    Graph
        Its methods give frames of the library of ``frame``, on all but Dask's at once; where that is not known,
        tables of pyarrow. Of LazyFrames they are DataFrames.

    Raises
    ------
    InvalidEdges, InvalidVertices, InvalidArgument, EngineUnavailable

    Notes
    -----
    Columns of Arrow are read where they are. Of LazyFrames and relations each method runs the query once, for the
    columns that it needs; `Graph.persist` runs it once for many methods.
    """
    return GraphAccessor(frame)(**options)


GraphAccessor.__call__.__doc__ = Graph.__doc__
GraphAccessor.__call__.__signature__ = of_method(_OPTIONS)  # type: ignore[attr-defined]


class _Attribute:
    """Gives a new accessor each time.

    The frames' own registration keeps the accessor on the frame, which is a cycle: it holds
    persisted partitions until the garbage collector runs, and the columns of the time before
    ``frame["weight"] = 1``.
    """

    def __get__(self, frame: Any, kind: type) -> Any:
        return GraphAccessor if frame is None else GraphAccessor(frame)


def register() -> None:
    """Put ``.graph`` on Dask frames (Dask-cuDF's derive from them), pandas, cuDF and polars frames.

    cuDF's and polars' as soon as these have been imported, which this does not do.
    """
    put_on(dd)
    put_on(pd)
    after_import("cudf", put_on)
    after_import("polars", put_on)


def put_on(library: ModuleType) -> None:
    """Put ``.graph`` on the ``DataFrame`` of a library."""
    library.DataFrame.graph = _Attribute()
    if hasattr(library, "LazyFrame"):  # polars'
        library.LazyFrame.graph = _Attribute()
