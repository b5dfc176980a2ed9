"""Object stores of a job: the option that says how they are reached, and a job file that is on one."""

from __future__ import annotations

import json
from collections import ChainMap
from collections.abc import Mapping
from typing import Any

import click
from fsspec.core import split_protocol

from dask_graphgpu.io.objects.object_folder import ObjectFolder, is_object
from dask_graphgpu.io.objects.storage_options import StorageOptions, redacted

_WORDS = {"true": True, "false": False}


def storage_parameter() -> click.Option:
    """The parameter that says how object stores are reached."""
    return click.Option(
        ["--storage-options"],
        type=_storage_option,
        multiple=True,
        metavar="NAME=VALUE|JSON",
        help="Option of the object store that URLs are on, such as endpoint_url=http://localhost:9000. "
        "Default: what the environment says.",
    )


def _storage_option(text: str) -> dict[str, Any]:
    """One or several options of an object store. Errors do not repeat them: they may be secrets."""
    name, equals, value = text.partition("=")
    if equals and name.isidentifier():
        return {name: _WORDS.get(value.lower(), value)}
    try:
        options = json.loads(text)
    except ValueError:
        options = None
    if not isinstance(options, dict):
        raise click.BadParameter("give NAME=VALUE or a JSON object (what was given is not shown).")
    return options


def options_of(given: Mapping[str, Any]) -> StorageOptions:
    """Storage options of parsed options, the last of each name."""
    return StorageOptions(dict(ChainMap(*reversed(given["storage_options"]))))


def words_of(options: Any) -> str:
    """The table of a job file as the command line has it.

    Raises
    ------
    click.UsageError
        It is none.
    """
    if not isinstance(options, Mapping):
        raise click.UsageError(
            "storage_options is no table: write [storage_options] and a line for each."
        )
    try:
        return json.dumps(dict(options))
    except TypeError:
        raise click.UsageError(
            "storage_options has a value that is neither text nor number."
        ) from None


def read_job(path: str, options: StorageOptions) -> bytes:
    """The text of a job file, at a path or a URL; "-" is the standard input.

    Raises
    ------
    click.UsageError
        It cannot be read.
    """
    try:
        if is_object(path):
            return ObjectFolder.of(path, "the job file", options).read()
        with click.open_file(split_protocol(path)[1], "rb") as file:
            return bytes(file.read())
    except OSError as error:
        what = f"the job file {redacted(path)} cannot be read: {error.strerror}."
        raise click.UsageError(what) from error
