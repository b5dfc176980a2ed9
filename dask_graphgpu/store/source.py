"""The files that a graph was built from, and whether they are still the same."""

from __future__ import annotations

import os
from collections.abc import Sequence
from glob import glob
from pathlib import Path
from typing import Any

from dask.base import is_dask_collection

from dask_graphgpu.io import parquet
from dask_graphgpu.io.tables import file_frames
from dask_graphgpu.io.tables.table_files import files_at
from dask_graphgpu.io.tables.table_kind import listings

_INPUTS = "inputs"


def stated(frames: Sequence[Any]) -> dict[str, Any] | None:
    """The local files behind some frames, with sizes and times of change.

    Frames that are anything but bare local files are left out, as what made them cannot be looked
    at again; None where no frame is left.
    """
    listed: dict[str, list[str]] = {}
    files: dict[str, list[int]] = {}
    for frame in frames:
        found = _parts(frame) if is_dask_collection(frame) else None
        if found is None or any(part.filesystem is not None for part in found):
            continue
        for part in found:
            path = Path(part.path).resolve()
            files[str(path)] = _state(path) or [0, 0]
        given = parquet.given_path(frame)
        if isinstance(given, (str, Path)):
            path_or_pattern = os.path.abspath(given)
            listed[path_or_pattern] = _listed(path_or_pattern)
    return {"listed": listed, "files": files} if files else None


def both(one: dict[str, Any] | None, other: dict[str, Any] | None) -> dict[str, Any] | None:
    """Two lists of files, as `stated` gives them, as one; of a file in both the second's state."""
    if one is None or other is None:
        return one or other
    found = {key: one[key] | other[key] for key in ("listed", "files")}
    inputs = other.get(_INPUTS, one.get(_INPUTS))
    return found if inputs is None else with_inputs(found, inputs)


def with_inputs(source: dict[str, Any] | None, inputs: dict[str, Any]) -> dict[str, Any]:
    """A list of files, with what whoever keeps a graph up to date has to know of them: JSON values."""
    return {**(source or {"listed": {}, "files": {}}), _INPUTS: inputs}


def inputs_of(source: dict[str, Any] | None) -> dict[str, Any] | None:
    """What `with_inputs` was given; None: nothing."""
    return (source or {}).get(_INPUTS)


def _parts(frame: Any) -> Sequence[Any] | None:
    """The files behind a Dask frame; None where it is not known to be nothing but some."""
    return parquet.pieces(frame) or file_frames.parts_of(frame)


def changed(source: dict[str, Any]) -> str | None:
    """What has changed since `stated`, in words; None where nothing has.

    Nothing is known, and nothing reported, when all files are gone.
    """
    now = {path: _state(Path(path)) for path in source["files"]}
    listed = {given: _listed(given) for given in source["listed"]}
    if not any(now.values()) and not any(listed.values()):
        return None
    for path, state in source["files"].items():
        if now[path] is None:
            return f"{path} is gone"
        if now[path] != state:
            return f"{path} was written again"
    for given, names in listed.items():
        more = sorted(set(names) - set(source["listed"][given]) - set(source["files"]))
        if more:
            return f"{more[0]} is new"
    return None


def _state(path: Path) -> list[int] | None:
    """Size in bytes and time of change in nanoseconds; None where there is no such file."""
    try:
        state = path.stat()
    except OSError:
        return None
    return [state.st_size, state.st_mtime_ns]


def _listed(given: str) -> list[str]:
    """The files that a folder holds or a pattern matches now; none for a single file."""
    entries = glob(given) if "*" in given else [given]
    folders = [Path(entry) for entry in entries if Path(entry).is_dir()]
    found = [file for folder in folders for file in files_at(str(folder))]
    inside = [file.path for file in found if file.kind or not Path(file.path).suffix]
    lists = [name for folder in folders for name in listings(str(folder))]
    return sorted(inside + lists + [entry for entry in entries if "*" in given])
