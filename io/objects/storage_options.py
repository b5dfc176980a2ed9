"""Options of object stores, which hold credentials: they are passed on and never shown."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from dask_graphgpu.errors import InvalidArgument

# A user with a password, and what a signed URL carries.
_LOGIN = re.compile(r"(?<=://)[^/@:\s'\"]*:[^/\s'\"]*@")
_SIGNED = re.compile(
    r"([?&][^=&\s]*(?:sig|token|key|secret|credential|password)[^=&\s]*=)[^&\s'\"]+", re.IGNORECASE
)
_SHORTEST = (
    4  # characters of what is taken out of a text: less is no secret, and stands in many words
)
_PLAIN = re.compile(r"https?://|(?:true|false|none|auto)$", re.IGNORECASE)


class StorageOptions(Mapping[str, Any]):
    """Options of an fsspec file system, such as a key and a secret; no text of it shows their values.

    Parameters
    ----------
    given : mapping of str or None
        As the file system takes them. Empty or None: credentials come from the environment.

    Raises
    ------
    InvalidArgument
        It is no mapping of texts.
    """

    def __init__(self, given: Mapping[str, Any] | None = None) -> None:
        if given is not None and not isinstance(given, Mapping):
            raise InvalidArgument(
                f"storage_options is a {type(given).__name__}; give a dict, such as "
                '{"key": ..., "secret": ...}'
            )
        if not all(isinstance(name, str) for name in given or ()):
            raise InvalidArgument("storage_options has a key that is no text; give a dict of texts")
        self._given = dict(given or {})

    def __getitem__(self, name: str) -> Any:
        return self._given[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def __repr__(self) -> str:
        return f"<StorageOptions: {len(self)}, not shown>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StorageOptions) and self._given == other._given

    def __hash__(self) -> int:
        return hash(self._digest())

    def __dask_tokenize__(self) -> str:
        return self._digest()

    def _digest(self) -> str:
        text = json.dumps(self._given, sort_keys=True, default=repr)
        return hashlib.sha256(text.encode()).hexdigest()

    def without_secrets(self, text: str) -> str:
        """A text of somebody else, such as an error, without the values of these options."""
        for secret in sorted(set(_texts(self._given)), key=len, reverse=True):
            text = text.replace(secret, "***")
        return redacted(text)


def redacted(text: str) -> str:
    """A URL, or a text with some, without the credentials in it."""
    return _SIGNED.sub(r"\1***", _LOGIN.sub("***@", text))


def _texts(value: Any) -> Iterator[str]:
    """All texts in nested options that may be secrets."""
    if isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str) and len(value) >= _SHORTEST and not _PLAIN.match(value):
        yield value
