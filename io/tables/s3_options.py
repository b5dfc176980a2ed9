"""Options of S3 as fsspec has them, for libraries that call them otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NAMES = ("key", "secret", "token", "endpoint_url", "region_name")


def s3_options(options: Mapping[str, Any] | None, names: Mapping[str, str]) -> dict[str, str]:
    """Those of some options of fsspec that another library has, by its names; all others as they are.

    Parameters
    ----------
    options : mapping or None
        As of `s3fs.S3FileSystem`.
    names : mapping of str to str
        What the library calls "key", "secret", "token", "endpoint_url" and "region_name".
    """
    given = dict(options or {})
    given = {**given.pop("client_kwargs", {}), **given}
    found = {name: str(value) for name, value in given.items() if name not in _NAMES}
    return found | {names[name]: str(given[name]) for name in _NAMES if given.get(name)}
