"""A saved graph as the input of methods."""

from __future__ import annotations

from pathlib import Path

from dask.base import persist, tokenize

from dask_graphgpu import engine as engines
from dask_graphgpu.ingest import Needs
from dask_graphgpu.inputs import Built
from dask_graphgpu.io.partitions import BUILD, called
from dask_graphgpu.io.place import Place
from dask_graphgpu.store import saved
from dask_graphgpu.store.saved import Replaced, open_partition


def opened(
    folder: Place,
    engine: str,
    npartitions: int | None = None,
    *,
    verify: bool = False,
    stale: str = "error",
) -> Built:
    """The graph that is saved in a folder now; arguments are those of `dask_graphgpu.load`, checked."""
    while True:
        found = saved.read(folder, verify=verify, stale=stale)
        engines.check_layout(engine, False, layered=found.layout.layered)
        try:
            place = str(found.path) if isinstance(found.path, Path) else found.path
            given = place, found.fingerprint
            held = persist(called(open_partition, *given, key=BUILD + tokenize("open", *given)))
            break
        except Replaced:  # between the two looks at the folder: the new graph is loaded
            continue
    needs = Needs(found.schema.carries_weight, found.edge_columns, found.vertex_columns)
    number = found.npartitions if npartitions is None else npartitions
    about = needs, number, found.source, found.schema, found.layout
    where = str(found.path)
    state = f"saved in {where}"
    return Built(held[0], *about, vertices=found.vertices, reads=(where,), state=state, saved=found)
