"""Where something is read or written: a local path or a folder of an object store."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from fsspec.core import split_protocol

from dask_graphgpu.arguments import said
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.claims import ClaimedPath
from dask_graphgpu.io.objects.object_folder import ObjectFolder, is_object
from dask_graphgpu.io.objects.storage_options import StorageOptions

Place: TypeAlias = Path | ObjectFolder


def place_of(path: str | Path | ObjectFolder, name: str, options: Any = None) -> Place:
    """The place that a user names, by a path or a URL; a local one behind links.

    Parameters
    ----------
    path
        ``~`` is the user's home.
    name
        What it is of, for errors.
    options : mapping, optional
        Of the object store.

    Raises
    ------
    InvalidArgument
        It is none, or there are options for a local path.
    """
    if isinstance(path, ObjectFolder | ClaimedPath):
        return path
    if is_object(path):
        return ObjectFolder.of(str(path), name, options)
    if StorageOptions(options):
        raise InvalidArgument(
            f"storage options are for object stores, and {name} {path} is a local path: leave them out, or give a URL"
        )
    return local_path(path, name)


def meets(one: Place, other: Place) -> bool:
    """Whether one is the other or lies within it."""
    return holds(one, other) or holds(other, one)


def holds(outer: Place, inner: Place) -> bool:
    """Whether the inner one is the outer one or lies within it."""
    if isinstance(outer, ObjectFolder) and isinstance(inner, ObjectFolder):
        return outer.holds(inner)
    if isinstance(outer, Path) and isinstance(inner, Path):
        return inner.is_relative_to(outer)
    return False


def local_path(path: str | Path, name: str) -> Path:
    """A path to write to, behind links; ``~`` is the user's home.

    Raises
    ------
    InvalidArgument
        It is empty, which would be the current folder, or cannot be one; ``name`` says of what.
    """
    if not isinstance(path, str | Path):
        raise InvalidArgument(f"{name}={said(path)}; allowed is a path")
    if not str(path):
        raise InvalidArgument(f"{name} is empty: give a path, such as ./{name}")
    path = split_protocol(path)[1]  # of file://
    try:
        found = Path(path).expanduser().resolve()
        found.exists()  # raises for a name that is too long
    except (
        ValueError,
        RuntimeError,
    ) as error:  # a character that no name has, an unknown user's home
        raise InvalidArgument(f"{name}={said(path)} is no path: {error}") from None
    except OSError as error:
        raise InvalidArgument(f"{name}={said(path)} is no path: {error.strerror}") from None
    return found
