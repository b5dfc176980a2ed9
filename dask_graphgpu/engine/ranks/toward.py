"""A vertex program's edges on ranks: those over which messages come to own vertices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dask_graphgpu.engine.state import Binding
from dask_graphgpu.functions import parameters, plain
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram


def toward(
    program: VertexProgram, view: RankView, constants: Mapping[str, Any]
) -> tuple[RankView, Binding]:
    """The view with columns that are right for ghosts, and the program on those edges; collective."""
    whole = view.with_columns(at_ghosts(program, view))
    return whole, Binding(replace(program, edges="out"), whole.toward(program.edges), constants)


def at_ghosts(program: VertexProgram, view: RankView) -> dict[str, np.ndarray]:
    """The columns of the vertices frame that the program reads, right for ghosts too."""
    given = view.vertex_columns
    read = {declared.vertices for declared in program.state.values() if declared.vertices}
    columns = {name: given[name] for name in sorted(read & given.keys())}
    for name, column in columns.items():
        if column.dtype.kind in "biuf":  # others are refused
            columns[name] = view.at_ghosts(column.copy())
    return columns


def know_degrees(view: View, program: VertexProgram) -> None:
    """Have degrees at hand: to work them out is collective, and not all ranks run all kernels."""
    view.degrees("out")
    named = (parameters(plain(each, role), role) for role, each in program.functions().items())
    if any(name.endswith("weighted_degree") for names in named for name in names):
        view.weighted_degrees("out")
