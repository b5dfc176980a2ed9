"""Manifests of folders, changed at random: as text, in a value, or with a right checksum."""

import hashlib
import json

import numpy as np
from crafted_manifests import NAMES, VALUES, parent_of, places
from fuzz_damage import damage

from dask_graphgpu.store import manifest
from dask_graphgpu.store.unread import checksum_of

MORE = [
    2**31,
    2**63,
    2**64,
    -(2**63),
    0.5,
    "0",
    "auto",
    "source",
    "int8",
    "float64",
    "numpy:int8",
    "arrow:string",
]


def changed_value(content, rng):
    """Leave out, rename or replace something of what a manifest says."""
    at = rng.choice(list(places(content)))
    parent, key = parent_of(content, at), at[-1]
    how = rng.random()
    if how < 0.2:
        parent.pop(key)
    elif how < 0.3 and isinstance(parent, dict):
        parent[rng.choice(NAMES)] = parent.pop(key)
    elif how < 0.5:  # by a value of another place, which may be of the same kind
        other = rng.choice(list(places(content)))
        parent[key] = parent_of(content, other)[other[-1]]
    elif how < 0.6 and isinstance(parent[key], int):
        parent[key] += rng.choice([-1, 1, 8, 2**32])
    else:
        parent[key] = rng.choice([*VALUES, *MORE])
    return at


def rewritten(folder, rng, change, honest):
    """Change what a manifest says; with ``honest`` its checksum stays as it was."""
    path = folder / manifest.NAME
    content = json.loads(path.read_text())
    checksum = content.pop("checksum")
    for _ in range(rng.choice([1, 1, 3])):
        try:
            change(content, rng)
        except (IndexError, RecursionError):  # nothing is left
            break
    try:
        content["checksum"] = checksum if honest else manifest.fingerprint(content)
        path.write_text(json.dumps(content))
    except (ValueError, UnicodeError):  # a value within itself, or of no text
        path.write_text("{}")


def forged_file(folder, rng, path):
    """Damage a file, and have the manifest say that it is so."""
    damage(path, rng, path.read_bytes())

    def change(content, rng):
        data = path.read_bytes()
        about = content["files"][path.name]
        about["bytes"], about["sha256"] = len(data), hashlib.sha256(data).hexdigest()
        if "checksum" in about:
            about["checksum"] = checksum_of(np.frombuffer(data, np.uint8))

    rewritten(folder, rng, change, honest=False)
