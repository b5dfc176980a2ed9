"""Manifests that somebody has made up: each value left out, under other names, or of some wrong kinds."""

import copy
import json
import random

from dask_graphgpu.store import manifest

VALUES = [
    *(None, True, -1, 0, 7, 10**30, float("inf"), 1.5, "", "x", [], {}, [[]], {"x": 1}),
    *("../x", "/etc/passwd", "a\0b", "\ud800", "manifest.json", "object", "uint64", "numpy:O"),
    *("arrow:list", "masked:datetime64[ns]"),
]
NAMES = ("../x", "/etc/passwd", "x", "", "\ud800", "a\0b")


def places(value, at=()):
    """Where there are values in JSON, as keys from the outside in."""
    if at:
        yield at
    inside = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, part in inside:
        yield from places(part, (*at, key))


def parent_of(content, at):
    """What holds the value at a place."""
    for key in at[:-1]:
        content = content[key]
    return content


def wrong_manifests(folder):
    """Write one after the other to a folder, each with a right checksum; gives what it says in words."""
    path = folder / manifest.NAME
    whole = json.loads(path.read_text())
    whole.pop("checksum")
    made = random.Random(0)
    for at in places(whole):
        changes = [("left out", lambda parent, key: parent.pop(key))]
        for value in made.sample(VALUES, 3):
            changes.append(
                (f"is {value!r}", lambda parent, key, v=value: parent.__setitem__(key, v))
            )
        if isinstance(parent_of(whole, at), dict):
            for name in made.sample(NAMES, 1):
                changes.append(
                    (
                        f"named {name!r}",
                        lambda parent, key, n=name: parent.__setitem__(n, parent.pop(key)),
                    )
                )
        for what, change in changes:
            content = copy.deepcopy(whole)
            change(parent_of(content, at), at[-1])
            content["checksum"] = manifest.fingerprint(content)
            path.write_text(json.dumps(content))
            yield f"{at} {what}"
    content = json.dumps(whole)
    for what, text in {
        "deep": "[" * 100_000,
        "deep and closed": '{"format":' + "[" * 500 + "]" * 500 + "}",
        "a long number": content.replace('"version": ', '"version": ' + "9" * 5000),
        "binary": "\0\1\2",
        "a list": "[]",
        "a number": "3",
        "nothing": "",
    }.items():
        path.write_text(text)
        yield what
    path.write_bytes(b"\xff\xfe\xff")
    yield "no text"
