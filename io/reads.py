"""What a lazy result reads, shown to Dask: it deletes no folder that the same frame reads from."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import pandas as pd
from dask.base import is_dask_collection
from dask.dataframe.dask_expr.io.parquet import ReadParquet


class Reads(ReadParquet):
    """A leaf beneath a result that stands for the reading of a folder.

    Dask looks for expressions of this kind before it clears a folder for ``to_parquet``. It has no
    task: what reads the folder is one of the tasks of the result.

    Parameters
    ----------
    path : str
        The folder, as its file system spells it.
    """

    _parameters = ["path"]  # noqa: RUF012  so Dask has it
    _absorb_projections = False

    @cached_property
    def _meta(self) -> Any:
        return pd.DataFrame()

    @property
    def columns(self) -> list[str]:
        return []

    @cached_property
    def _name(self) -> str:
        return f"reads-{self.operands[0]}"

    def __dask_tokenize__(self) -> Any:
        return self._name

    def _divisions(self) -> tuple[None, None]:
        return None, None

    def _layer(self) -> dict[Any, Any]:
        return {}

    def _lower(self) -> None:
        return None

    def _simplify_down(self) -> None:
        return None

    def _simplify_up(self, parent: Any, dependents: Any) -> None:
        return None

    def _tune_up(self, parent: Any) -> None:
        return None


def folders_read(frames: Iterable[Any]) -> tuple[str, ...]:
    """The folders with Parquet files that some frames read when they are computed.

    Local ones as they are given and as they are behind links. Frames in memory read nothing, nor do
    Dask's that are persisted.
    """
    found: set[str] = set()
    for frame in frames:
        if is_dask_collection(frame):
            for each in frame.expr.find_operations(ReadParquet):
                found |= {each.operands[0]} if isinstance(each, Reads) else _folders(each)
    return tuple(sorted(found))


def _folders(expr: ReadParquet) -> set[str]:
    folders = {os.path.dirname(path) for path in _files(expr)}
    return folders | {os.path.realpath(folder) for folder in folders if os.path.isdir(folder)}


def _files(expr: Any) -> list[str]:
    if hasattr(expr, "fragments"):
        return [fragment.path for fragment in expr.fragments]
    return list(expr._dataset_info["ds"].files)
