"""What the log of a saved graph says of what has changed since an update."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dask_graphgpu.errors import InvalidArgument, InvalidSavedGraph
from dask_graphgpu.io.generation import OpenFolder
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.io.times import as_times, is_time
from dask_graphgpu.partition.growth import Growth
from dask_graphgpu.partition.ids import VertexIds
from dask_graphgpu.store import manifest
from dask_graphgpu.store.empty import no_vertices
from dask_graphgpu.store.log import Tables, change_of, ends_of, open_log
from dask_graphgpu.store.saved import Saved, current, nothing_of
from dask_graphgpu.store.saved_format import SAVED


def changes_since(saved: Saved, since: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows added since an update that are there, and pairs of ends between which rows went; see `Graph.changes`.

    Raises
    ------
    InvalidArgument, InvalidSavedGraph
    """
    growth, schema = growth_since(saved, since), saved.schema
    added = _frame(growth, (growth.source, growth.destination), schema)
    for name, column in _carried(saved).items():
        values, kind = growth.columns[name], dict(schema.dtypes)[column]
        added[column] = as_times(values, kind) if is_time(kind) else pd.Series(values).astype(kind)
    return added, _frame(growth, growth.removed_pairs, schema)


def check_known(saved: Saved, since: int) -> None:
    """Raise InvalidArgument where the log does not say what has changed since an update."""
    manifest.look(saved.path, SAVED, lambda folder: _known(folder, saved, since))


def rows_since(saved: Saved, since: int) -> int:
    """How many rows updates have added since one, and how many pairs of ends they have removed."""

    def found(folder: OpenFolder) -> int:
        content = _known(folder, saved, since)
        return sum(content["files"][name]["length"] for name in _names(content, since))

    return manifest.look(saved.path, SAVED, found)


def growth_since(saved: Saved, since: int) -> Growth:
    """All that has changed since an update, as if there had been nothing before.

    Raises
    ------
    InvalidArgument, InvalidSavedGraph
    """

    def found(folder: OpenFolder) -> list[Tables]:
        content = _known(folder, saved, since)
        folder.fetch(_names(content, since))
        try:
            return open_log(folder, content, since)()
        except (ValueError, pa.ArrowException) as error:
            raise InvalidSavedGraph(
                f"{saved.path} is damaged: {error}; save the graph again"
            ) from error

    return _growth(manifest.look(saved.path, SAVED, found), saved)


def _known(folder: OpenFolder, saved: Saved, since: int) -> dict[str, Any]:
    """The manifest, whose log says what has changed since an update."""
    content = current(folder, saved.fingerprint)
    updates = content["updates"]
    log = updates["log"]
    first = log[0]["number"] - 1 if log else updates["generation"]
    if not 0 <= since <= updates["generation"]:
        raise InvalidArgument(
            f"since={since}, and the generation of the graph is {updates['generation']}: give one from 0 to that"
        )
    if since < first:
        raise InvalidArgument(
            f"since={since}, and what came after it is put into the files of the graph: known are changes since "
            f"{first} to {updates['generation']}; begin from the whole graph"
        )
    return content


def _names(content: dict[str, Any], since: int) -> list[str]:
    """Files of the log that say what updates after one have changed."""
    later = [entry for entry in content["updates"]["log"] if entry["number"] > since]
    return [entry[what] for entry in later for what in ("added", "removed") if entry[what]]


def _carried(saved: Saved) -> dict[str, str]:
    """What edges carry, by the names that it has there, and the columns of the frame."""
    carried = {"weight": str(saved.schema.weight)} if saved.schema.carries_weight else {}
    return carried | {name: name for name in saved.edge_columns}


def _growth(tables: Sequence[Tables], saved: Saved) -> Growth:
    """Entries of the log as changes of a graph that had nothing."""
    base = no_vertices(saved.schema, saved.layout, tuple(_carried(saved)), ())
    known = next((table for both in tables for table in both if table is not None), None)
    if known is not None:  # ids of one type may be kept in several, as text
        kinds = [column.type for column in ends_of(known)[0]]
        base.ids = VertexIds([pa.array([], kind) for kind in kinds], None)
    return Growth(base, [change_of(*each, nothing_of(base)) for each in tables])


def _frame(growth: Growth, ends: tuple[np.ndarray, np.ndarray], schema: EdgeSchema) -> pd.DataFrame:
    """Pairs of ends in the columns of the edge frame, in its types."""
    made = {}
    for names, numbers in zip((schema.source, schema.destination), ends, strict=True):
        for name, column in zip(names, growth.fresh, strict=True):
            made[name] = (
                column.take(pa.array(numbers)).to_pandas().astype(dict(schema.dtypes)[name])
            )
    return pd.DataFrame(made)
