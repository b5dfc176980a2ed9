"""The command line's own words: its options in the place of a method's arguments."""

from __future__ import annotations

import dataclasses
import re

from dask_graphgpu.algorithms import ALGORITHMS

_FIELDS = {f.name: str(f.type) for a in ALGORITHMS.values() for f in dataclasses.fields(a)}
_FLAGS = {name for name, kind in _FIELDS.items() if kind.startswith("bool")}
_GRAPH = (
    "weight", "vertices", "duplicates", "order", "engine", "ranks", "partitioner", "layout", "root",
    "npartitions", "stale", "verify", "scheduler", "cluster", "workers", "wait",
)  # fmt: skip
_NAMES = {*_FIELDS, *_GRAPH} - {"columns"}

# How a call is written in an error of a method, and what that is on the command line.
_CALLS = (
    (r"\.graph\(source=\.\.\., destination=\.\.\.\)", "--columns SRC,DST"),
    (r"\.graph\(source='([^']*)', destination='([^']*)'\)", r"--columns \1,\2"),
    (r"\.graph\(weight=\.\.\.\)", "--weight COL"),
    (r"columns=\{'([^']*)': \.\.\.\}", r"--name \1=NEW"),
    (r"\bcolumns= names", "--name names"),
    (r"\bdirected=False\b", "--undirected"),
    (r"\bweight=None\b", "--unweighted"),
    (r"\bsources=(\d+)", r"--draw \1"),
)
_ARGUMENT = re.compile(r"(?<![\w./])([a-z_]+)=('[^']*'|[\w+-]+(?:\.\w+)*)?")


def in_options(text: str) -> str:
    """An error of a method with options where it has arguments: ``--max-iterations 0`` for ``max_iterations=0``."""
    for pattern, words in _CALLS:
        text = re.sub(pattern, words, text)
    return _ARGUMENT.sub(_as_option, text)


def _as_option(match: re.Match[str]) -> str:
    name, value = match[1], match[2] or ""
    if name not in _NAMES:
        return match[0]
    option = name.replace("_", "-")
    if name in _FLAGS and value in ("True", "False"):
        return f"--{'no-' * (value == 'False')}{option}"
    value = value.strip("'")
    return f"--{option} {value}" if value else f"--{option}"
