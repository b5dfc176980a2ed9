"""Manifests of folders that this library writes: what a folder is, what is in it, and if that is all there.

It is written last, so a folder with a manifest has been written to its end. Nothing that it says is acted on before it
was found to be of the right shape, and to name nothing outside of its folder.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from dask_graphgpu.errors import GraphError
from dask_graphgpu.io.generation import NoFolder, OpenFolder, is_plain
from dask_graphgpu.io.objects.object_generation import of_one_state
from dask_graphgpu.io.place import Place
from dask_graphgpu.store.shape import Each, Shape, is_count, misfit

NAME = "manifest.json"
_MOST_BYTES = 1 << 28  # of a manifest: more was never written
_FILE: dict[str, Shape] = {"bytes": is_count, "sha256": str}

T = TypeVar("T")


@dataclass(frozen=True)
class Kind:
    """One kind of folder.

    Attributes
    ----------
    name : what it is called
    version : of its format; others cannot be read
    suffix : of the other files
    stem : the rest of their names, as a regular expression
    writer : what writes one
    again : what to do about one that is damaged
    error : raised for one that cannot be read
    content : shapes of what the manifest says, by keys
    file : shapes of what it says of a file, beside its bytes and checksum
    """

    name: str
    version: int
    suffix: str
    writer: str
    again: str
    error: type[GraphError]
    stem: str = ".+"
    content: dict[str, Shape] = field(default_factory=dict)
    file: dict[str, Shape] = field(default_factory=dict)

    @property
    def format(self) -> str:
        """What the manifest says that the folder is."""
        return f"dask_graphgpu {self.name}"

    def owns(self, name: str) -> bool:
        """Whether a file of such a folder may have this name."""
        return is_plain(name) and bool(re.fullmatch(self.stem + re.escape(self.suffix), name))

    @property
    def files(self) -> Shape:
        """The shape of what a manifest says of the other files."""
        return Each({**_FILE, **self.file}, self.owns)


def write(folder: Path, kind: Kind, content: dict[str, Any]) -> None:
    """Write the manifest; ``content`` holds JSON values only."""
    whole = {"format": kind.format, "version": kind.version, **content}
    whole["checksum"] = fingerprint(whole)
    (folder / NAME).write_text(json.dumps(whole, indent=1))


def look(path: Place, kind: Kind, find: Callable[[OpenFolder], T]) -> T:
    """What is found in a folder of a kind, all of it of one generation.

    Raises
    ------
    GraphError
        The kind's: there is no folder, or it cannot be read.
    """
    found = look_if_there(path, kind, find)
    if found is None:
        raise kind.error(f"there is no folder {path}; {kind.writer} makes one")
    return found


def look_if_there(path: Place, kind: Kind, find: Callable[[OpenFolder], T]) -> T | None:
    """As `look`; None where there is no folder."""
    try:
        return of_one_state(path, find)
    except NoFolder:
        return None
    except NotADirectoryError:
        raise kind.error(f"{path} is a file; a {kind.name} is a folder with a {NAME}") from None
    except OSError as error:
        raise kind.error(f"cannot read {path}: {_reason(error)}; {kind.again}") from error


def read(folder: OpenFolder, kind: Kind) -> dict[str, Any]:
    """Read the manifest and check it, and that every file is there in its size.

    Raises
    ------
    GraphError
        The kind's: the folder is none, a torn one, or of another version of this library.
    """
    path = folder.path
    content = _content(folder, kind)
    version: Any = content.get("version")
    if is_count(version) and version != kind.version:
        newer = f"upgrade dask_graphgpu, or {kind.again} with this one"
        raise kind.error(
            f"{path} has format version {version}, written by dask_graphgpu {content.get('library')}; "
            f"this version reads version {kind.version}: "
            + (newer if version > kind.version else kind.again)
        )
    if not _is_whole(content):
        raise kind.error(f"{path / NAME} is damaged: its checksum differs; {kind.again}")
    shape = {"version": is_count, **kind.content, "files": kind.files}
    wrong = misfit(content, shape, "manifest")
    if wrong is not None:
        raise kind.error(f"{path / NAME} is damaged: {wrong}; {kind.again}")
    for name, file in content["files"].items():
        _check_size(folder, name, file["bytes"], kind)
    return content


def others(folder: OpenFolder, kind: Kind, name: str = NAME) -> list[str]:
    """The files of a folder that do not belong to its kind; all where its manifest is of another.

    A file is the manifest's, which has a ``name``, by its name and its size.

    Raises
    ------
    OSError
        It cannot be read, or was replaced and is being deleted: what is left of it says nothing.
    """
    names = folder.names()
    files = files_of(folder, kind, name)
    found = names if files is None else [
        each for each in names if each != name and not _fits(folder, each, files)
    ]  # fmt: skip
    if found:
        folder.require_current()
    return found


def files_of(folder: OpenFolder, kind: Kind, name: str = NAME) -> dict[str, Any] | None:
    """What a manifest says of its files, none if it is damaged; None: there is no manifest of the kind."""
    try:
        content = _content(folder, kind, name)
    except GraphError:
        return None
    files = content.get("files")
    right = _is_whole(content) and misfit(files, Each(_FILE, kind.owns), "") is None
    return files if right and isinstance(files, dict) else {}


def _fits(folder: OpenFolder, name: str, files: dict[str, Any]) -> bool:
    try:
        return name in files and folder.size(name) == files[name]["bytes"]
    except OSError:
        return False


def _is_whole(content: dict[str, Any]) -> bool:
    """Whether what a manifest says has its checksum, which is taken away."""
    checksum = content.pop("checksum", None)
    try:
        return bool(checksum == fingerprint(content))
    except RecursionError:
        return False


def _content(folder: OpenFolder, kind: Kind, name: str = NAME) -> dict[str, Any]:
    """What the manifest of the kind says, unchecked."""
    path = folder.path
    try:
        with folder.open(name) as file:
            text = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        raise kind.error(_without_manifest(folder, kind)) from None
    except OSError as error:
        raise kind.error(f"cannot read {path / NAME}: {_reason(error)}; {kind.again}") from error
    try:
        if len(text) > _MOST_BYTES:
            raise ValueError(f"more than {_MOST_BYTES:,} bytes")
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise kind.error(f"{path / NAME} is damaged ({error}); {kind.again}") from error
    if not isinstance(content, dict) or content.get("format") != kind.format:
        raise kind.error(
            f"{path} is not a {kind.name}: its {NAME} is of something else; give a folder that "
            f"{kind.writer} has written"
        )
    return content


def _without_manifest(folder: OpenFolder, kind: Kind) -> str:
    if any(name.endswith(kind.suffix) for name in folder.names()):
        return f"{folder.path} is torn: it has no {NAME}, which is written last; {kind.again}"
    return (
        f"{folder.path} is not a {kind.name}: it has no {NAME}; give a folder that {kind.writer} has "
        "written"
    )


def _check_size(folder: OpenFolder, name: str, size: int, kind: Kind) -> None:
    try:
        given = folder.size(name)
    except OSError as error:
        raise kind.error(
            f"{folder.path} is torn: {name} cannot be read ({_reason(error)}); {kind.again}"
        ) from None
    if given != size:
        raise kind.error(
            f"{folder.path} is torn: {name} has {given:,} bytes instead of {size:,}; {kind.again}"
        )


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def fingerprint(content: Any) -> str:
    """SHA-256 of JSON values, whatever the order of their keys."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
