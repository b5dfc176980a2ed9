"""A graph that is built to look at it: its size, or all of its vertices and edges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
from dask.base import compute

from dask_graphgpu import engine as engines
from dask_graphgpu.algorithms import Degree, KCore
from dask_graphgpu.cluster.waiting import check_may_wait
from dask_graphgpu.cluster.watch import unasked
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.execute import at_once, call
from dask_graphgpu.inputs import Built, BuiltOnRanks, Input
from dask_graphgpu.partition.empty import NoVertices
from dask_graphgpu.store.plan import BuildPlan


def on_engine(graph: Input, engine: str) -> str:
    """The engine that runs a graph's methods, by the memory that its frames are in."""
    return engines.of_frames(engine, on_device=graph.schema.on_device)


def built(
    graph: Input, engine: str, columns: tuple[str, ...] = (), ranks: int | str = "auto"
) -> Built | BuiltOnRanks:
    """The graph, kept, with some columns of the edges."""
    return at_once(graph, engine, graph.built, columns, on_engine(graph, engine), ranks)


def sized(graph: Input, engine: str, asked: str) -> BuildPlan:
    """The plan, exact; without vertices of an edge frame without rows. ``asked`` is the call that wants it."""
    chosen = on_engine(graph, engine)
    try:
        return _kept(graph, engine).plan(chosen, None, asked)
    except NoVertices:
        return replace(graph.plan(chosen), rows=0, vertices=0)


def at_hand(
    graph: Input, engine: str, limit: int | None, asked: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """All vertices, and all edges by the rule for repeated rows, or all rows where that is "auto".

    ``asked`` is what fetches them, ``limit`` how many edges there may be.
    """
    if graph.lazy:
        check_may_wait(asked)
    kept = _kept(graph, engine)
    number = sized(kept, engine, asked).rows or 0
    if limit is not None and number > limit:
        raise InvalidArgument(
            f"the graph has {number:,} edges, and {asked} takes at most {limit:,}: choose a part of it first, "
            "such as with ego(), k_core() or a filter of the frame"
            + (", or give limit=None" if asked == "to_networkx()" else "")
        )
    chosen = engine if engine in ("auto", "cpu", "gpu") else "cpu"
    with unasked():
        ids = call(Degree(), kept, chosen)[list(kept.schema.vertex)]
        vertices, edges = compute(ids, call(KCore(0), kept, chosen))
    return _pandas(vertices), _pandas(edges)


def _kept(graph: Input, engine: str) -> Input:
    return graph if graph.token else built(graph, engine)


def _pandas(frame: Any) -> pd.DataFrame:
    made: pd.DataFrame = frame.to_pandas() if hasattr(frame, "to_pandas") else frame
    return made
