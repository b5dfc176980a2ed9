"""Columns of the vertices frame go to the owners of the vertices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition.partition import VertexColumns
from dask_graphgpu.partition.ranks.homes import rounds
from dask_graphgpu.partition.ranks.numbering import VertexRun
from dask_graphgpu.partition.ranks.shuffle import Tables


def vertex_columns(
    ranks: Ranks,
    runs: Sequence[VertexRun],
    tables: Tables,
    bounds: np.ndarray,
    num_local: int,
    kinds: dict[str, np.dtype[Any]],
) -> VertexColumns:
    """The columns of shape (num_local,), values at own vertices, with what the whole graph lacks.

    Collective. How many values are missing and how many ids repeat is counted over all ranks.
    """
    here = slice(*bounds[ranks.rank : ranks.rank + 2].tolist())
    num_owned = here.stop - here.start
    columns = {name: np.zeros(num_local, kind) for name, kind in kinds.items()}
    known = {name: np.zeros(num_local, bool) for name in kinds}
    seen, repeated = np.zeros(num_owned, bool), 0
    for place, values in _arriving(ranks, runs, tables, bounds, kinds):
        rows = (place - place.dtype.type(here.start)).astype(np.int64)
        seen[rows] = True
        repeated += len(rows)
        for name, (value, null) in values.items():
            columns[name][rows] = value
            known[name][rows] = ~null
    repeated = int(ranks.sum(repeated - int(np.count_nonzero(seen))))
    missing, gaps = {}, {}
    for name, has in known.items():
        missing[name] = int(ranks.sum(num_owned - int(has.sum())))
        if missing[name]:
            gaps[name] = has
    listed = np.zeros(num_local, bool)
    listed[:num_owned] = seen
    return VertexColumns(columns, missing, repeated, gaps, int(bounds[-1]), listed)


def _arriving(
    ranks: Ranks,
    runs: Sequence[VertexRun],
    tables: Tables,
    bounds: np.ndarray,
    kinds: dict[str, np.dtype[Any]],
) -> Iterator[tuple[np.ndarray, dict[str, tuple[np.ndarray, np.ndarray]]]]:
    """Rows of own vertices from each rank, in rounds: their places, values and which are null."""
    places = _joined([run.codes.of(tables.places).take(run.vertex) for run in runs], bounds.dtype)
    owners = _joined(
        [run.codes.of(tables.owners).take(run.vertex) for run in runs], np.dtype(np.uint8)
    )
    order = np.argsort(owners, kind="stable")
    cuts = np.searchsorted(owners[order], np.arange(ranks.size + 1))
    given = {
        name: (
            _joined([run.chunk.columns[name] for run in runs], kind).astype(kind, copy=False),
            _joined(
                [run.chunk.nulls.get(name, np.zeros(len(run.vertex), bool)) for run in runs],
                np.dtype(bool),
            ),
        )
        for name, kind in kinds.items()
    }
    for parts in rounds(ranks, cuts):
        rows = [order[part] for part in parts]
        got = ranks.all_to_all([places[row] for row in rows])
        values = {
            name: [ranks.all_to_all([side[row] for row in rows]) for side in sides]
            for name, sides in given.items()
        }
        for j, place in enumerate(got):
            yield place, {name: (value[j], null[j]) for name, (value, null) in values.items()}


def _joined(parts: list[np.ndarray], kind: np.dtype[Any]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.empty(0, kind)
