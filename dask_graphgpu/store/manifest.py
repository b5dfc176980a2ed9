"""The manifest of a saved graph: what the folder is, what is in it, and whether that is all there.

It is written last, so a folder with a manifest has been written to its end.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dask_graphgpu.errors import InvalidSavedGraph
from dask_graphgpu.io.schema import EdgeSchema

NAME = "manifest.json"
FORMAT = "dask_graphgpu saved graph"
VERSION = 1
SUFFIX = ".arrow"

_AGAIN = "save the graph again"


def write(folder: Path, content: dict[str, Any]) -> None:
    """Write the manifest; ``content`` holds JSON values only."""
    whole = {"format": FORMAT, "version": VERSION, **content}
    whole["checksum"] = fingerprint(whole)
    (folder / NAME).write_text(json.dumps(whole, indent=1))


def read(folder: Path) -> dict[str, Any]:
    """Read the manifest and check it, and that every file is there in its size.

    Raises
    ------
    InvalidSavedGraph
        The folder is no saved graph, a torn one, or of a newer version of this library.
    """
    try:
        text = (folder / NAME).read_text()
    except (FileNotFoundError, NotADirectoryError):
        raise InvalidSavedGraph(_without_manifest(folder)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSavedGraph(f"cannot read {folder / NAME}: {error}; {_AGAIN}") from error
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidSavedGraph(f"{folder / NAME} is damaged ({error}); {_AGAIN}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidSavedGraph(
            f"{folder} is not a saved graph: its {NAME} is of something else; give a folder that "
            "Graph.save or `dask graph build` has written"
        )
    version = content.get("version")
    if isinstance(version, int) and version > VERSION:
        raise InvalidSavedGraph(
            f"{folder} has format version {version}, written by dask_graphgpu "
            f"{content.get('library')}; this version reads up to {VERSION}: upgrade dask_graphgpu, "
            "or save the graph again with this one"
        )
    if content.pop("checksum", None) != fingerprint(content):
        raise InvalidSavedGraph(f"{folder / NAME} is damaged: its checksum differs; {_AGAIN}")
    for name, file in content["files"].items():
        _check_size(folder / name, file["bytes"])
    return content


def listed(folder: Path) -> set[str]:
    """The files of a folder that are a saved graph's; none where its manifest is not ours."""
    try:
        content = json.loads((folder / NAME).read_text())
    except (OSError, ValueError):
        return set()
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        return set()
    files = content.get("files")
    return {NAME, *files} if isinstance(files, dict) else set()


def _without_manifest(folder: Path) -> str:
    if not folder.exists():
        return f"there is no folder {folder}; Graph.save and `dask graph build` write one"
    if not folder.is_dir():
        return f"{folder} is a file; a saved graph is a folder with a {NAME}"
    if any(folder.glob(f"*{SUFFIX}")):
        return f"{folder} is torn: it has no {NAME}, which is written last; {_AGAIN}"
    return (
        f"{folder} is not a saved graph: it has no {NAME}; give a folder that Graph.save or "
        "`dask graph build` has written"
    )


def _check_size(path: Path, size: int) -> None:
    try:
        given = path.stat().st_size
    except OSError as error:
        raise InvalidSavedGraph(
            f"{path.parent} is torn: {path.name} cannot be read ({error.strerror}); {_AGAIN}"
        ) from None
    if given != size:
        raise InvalidSavedGraph(
            f"{path.parent} is torn: {path.name} has {given:,} bytes instead of {size:,}; {_AGAIN}"
        )


def fingerprint(content: Any) -> str:
    """SHA-256 of JSON values, whatever the order of their keys."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# -- schema -----------------------------------------------------------------------------------


def schema_to_json(schema: EdgeSchema, edge_columns: Sequence[str]) -> dict[str, Any]:
    """The schema, with the dtypes of those columns that a saved graph holds."""
    weight = [] if schema.weight is None else [schema.weight]
    held = dict.fromkeys([*schema.source, *schema.destination, *weight, *edge_columns])
    dtypes = dict(schema.dtypes)
    return {
        "source": list(schema.source),
        "destination": list(schema.destination),
        "weight": schema.weight,
        "directed": schema.directed,
        "dtypes": [[name, _dtype_to_text(dtypes[name])] for name in held],
        "ids": [_dtype_to_text(dtype) for dtype in schema.ids],
    }


def schema_from_json(given: dict[str, Any]) -> EdgeSchema:
    """`schema_to_json` undone."""
    schema = EdgeSchema(
        tuple(given["source"]),
        tuple(given["destination"]),
        given["weight"],
        tuple((name, _dtype_from_text(text)) for name, text in given["dtypes"]),
        tuple(_dtype_from_text(text) for text in given["ids"]),
    )
    return replace(schema, directed=given["directed"])


def _dtype_to_text(dtype: Any) -> str:
    """A pandas dtype with its backend, which its own name leaves open; of categories, theirs."""
    if isinstance(dtype, pd.CategoricalDtype):
        return _dtype_to_text(dtype.categories.dtype)
    if isinstance(dtype, pd.StringDtype):
        return f"string:{dtype.storage}:{'NaN' if dtype.na_value is np.nan else 'NA'}"
    if isinstance(dtype, pd.ArrowDtype):
        kind = dtype.pyarrow_dtype
        return f"arrow:{kind.value_type if pa.types.is_dictionary(kind) else kind}"
    return f"{'numpy' if isinstance(dtype, np.dtype) else 'masked'}:{dtype}"


def _dtype_from_text(text: str) -> Any:
    backend, name, *missing = text.split(":")
    if backend == "string":
        return pd.StringDtype(name, na_value=np.nan if missing == ["NaN"] else pd.NA)
    if backend == "arrow":
        return pd.ArrowDtype(pa.type_for_alias(name))
    return np.dtype(name) if backend == "numpy" else pd.api.types.pandas_dtype(name)
