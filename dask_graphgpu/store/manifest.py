"""Manifests of folders that this library writes: what a folder is, what is in it, and if that is all there.

It is written last, so a folder with a manifest has been written to its end.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dask_graphgpu.errors import GraphError

NAME = "manifest.json"


@dataclass(frozen=True)
class Kind:
    """One kind of folder.

    Attributes
    ----------
    name : what it is called
    version : of its format; larger ones cannot be read
    suffix : of the other files
    writer : what writes one
    again : what to do about one that is damaged
    error : raised for one that cannot be read
    """

    name: str
    version: int
    suffix: str
    writer: str
    again: str
    error: type[GraphError]

    @property
    def format(self) -> str:
        """What the manifest says that the folder is."""
        return f"dask_graphgpu {self.name}"


def write(folder: Path, kind: Kind, content: dict[str, Any]) -> None:
    """Write the manifest; ``content`` holds JSON values only."""
    whole = {"format": kind.format, "version": kind.version, **content}
    whole["checksum"] = fingerprint(whole)
    (folder / NAME).write_text(json.dumps(whole, indent=1))


def read(folder: Path, kind: Kind) -> dict[str, Any]:
    """Read the manifest and check it, and that every file is there in its size.

    Raises
    ------
    GraphError
        The kind's: the folder is none, a torn one, or of a newer version of this library.
    """
    try:
        text = (folder / NAME).read_text()
    except (FileNotFoundError, NotADirectoryError):
        raise kind.error(_without_manifest(folder, kind)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise kind.error(f"cannot read {folder / NAME}: {error}; {kind.again}") from error
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise kind.error(f"{folder / NAME} is damaged ({error}); {kind.again}") from error
    if not isinstance(content, dict) or content.get("format") != kind.format:
        raise kind.error(
            f"{folder} is not a {kind.name}: its {NAME} is of something else; give a folder that "
            f"{kind.writer} has written"
        )
    version = content.get("version")
    if isinstance(version, int) and version > kind.version:
        raise kind.error(
            f"{folder} has format version {version}, written by dask_graphgpu "
            f"{content.get('library')}; this version reads up to {kind.version}: upgrade "
            f"dask_graphgpu, or {kind.again} with this one"
        )
    if content.pop("checksum", None) != fingerprint(content):
        raise kind.error(f"{folder / NAME} is damaged: its checksum differs; {kind.again}")
    for name, file in content["files"].items():
        _check_size(folder / name, file["bytes"], kind)
    return content


def listed(folder: Path, kind: Kind) -> set[str]:
    """The files of a folder that belong to its kind; none where its manifest is of none."""
    try:
        content = json.loads((folder / NAME).read_text())
    except (OSError, ValueError):
        return set()
    if not isinstance(content, dict) or content.get("format") != kind.format:
        return set()
    files = content.get("files")
    return {NAME, *files} if isinstance(files, dict) else set()


def _without_manifest(folder: Path, kind: Kind) -> str:
    if not folder.exists():
        return f"there is no folder {folder}; {kind.writer} makes one"
    if not folder.is_dir():
        return f"{folder} is a file; a {kind.name} is a folder with a {NAME}"
    if any(folder.glob(f"*{kind.suffix}")):
        return f"{folder} is torn: it has no {NAME}, which is written last; {kind.again}"
    return (
        f"{folder} is not a {kind.name}: it has no {NAME}; give a folder that {kind.writer} has "
        "written"
    )


def _check_size(path: Path, size: int, kind: Kind) -> None:
    try:
        given = path.stat().st_size
    except OSError as error:
        raise kind.error(
            f"{path.parent} is torn: {path.name} cannot be read ({error.strerror}); {kind.again}"
        ) from None
    if given != size:
        raise kind.error(
            f"{path.parent} is torn: {path.name} has {given:,} bytes instead of {size:,}; {kind.again}"
        )


def fingerprint(content: Any) -> str:
    """SHA-256 of JSON values, whatever the order of their keys."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
