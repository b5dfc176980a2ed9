"""A saved graph as the input of methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dask.base import persist, tokenize

from dask_graphgpu import engine as engines
from dask_graphgpu.cluster import lazy
from dask_graphgpu.cluster.placement import choose
from dask_graphgpu.cluster.waiting import begun
from dask_graphgpu.cluster.work import Recipe
from dask_graphgpu.ingest import Needs
from dask_graphgpu.inputs import Built, BuiltOnRanks
from dask_graphgpu.io.partitions import BUILD, called
from dask_graphgpu.io.place import Place
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.store import saved
from dask_graphgpu.store.on_device import open_on_device
from dask_graphgpu.store.saved import Replaced, Saved, open_partition


def opened(
    folder: Place,
    engine: str,
    npartitions: int | None = None,
    *,
    on_device: bool = False,
    verify: bool = False,
    stale: str = "error",
) -> Built:
    """The graph that is saved in a folder now; arguments are those of `dask_graphgpu.load`, checked.

    ``on_device``: in the memory of the GPU, for cuDF frames.
    """
    opening = open_on_device if on_device else open_partition
    while True:
        found = saved.read(folder, verify=verify, stale=stale)
        engines.check_layout(engine, on_device, layered=found.layout.layered)
        try:
            given = _where(found)
            key = BUILD + tokenize(opening.__name__, *given)
            held = persist(called(opening, *given, key=key))
            break
        except Replaced:  # between the two looks at the folder: the new graph is loaded
            continue
    about = _about(found, npartitions, on_device=on_device)
    path = str(found.path)
    state = f"saved in {path}"
    return Built(held[0], *about, vertices=found.vertices, reads=(path,), state=state, saved=found)


def opened_on_ranks(
    folder: Place,
    engine: str,
    ranks: int,
    partitioner: str | Callable[..., Any],
    npartitions: int | None = None,
    *,
    verify: bool = False,
    stale: str = "error",
) -> BuiltOnRanks:
    """The same on several ranks, each of which opens its share now."""
    found = saved.read(folder, verify=verify, stale=stale)
    schema, layout = found.schema, found.layout
    engines.check_layout(engine, False, layered=layout.layered, ranks=ranks)
    about = _about(found, npartitions)
    spread = choose(ranks, lambda: None, engine, asked=True)
    assert spread is not None
    layout = replace(layout, by="source")  # a rank has rows of both directions
    recipe = Recipe(schema, about[0].carried, layout, partitioner, saved=_where(found))
    held = begun(lazy.opened(recipe, spread))
    path = str(found.path)
    return BuiltOnRanks(held, *about, spread, reads=(path,), state=f"opened from {path}")


def _where(found: Saved) -> tuple[Any, str]:
    """The folder of a saved graph, and its fingerprint."""
    return str(found.path) if isinstance(found.path, Path) else found.path, found.fingerprint


def _about(
    found: Saved, npartitions: int | None, *, on_device: bool = False
) -> tuple[Needs, int, dict[str, Any] | None, EdgeSchema, Layout]:
    """What is known of a graph that is built, as its input has it."""
    needs = Needs(found.schema.carries_weight, found.edge_columns, found.vertex_columns)
    number = found.npartitions if npartitions is None else npartitions
    schema = replace(found.schema, on_device=on_device)
    return needs, number, found.source, schema, found.layout
