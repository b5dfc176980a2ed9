"""Damage to files, drawn at random, and calls of ``dask graph`` on what is damaged."""

import os
import re
import shutil

import pandas as pd
from click.testing import CliRunner
from fuzz_children import Wrong

from dask_graphgpu.jobs.cli import graph


def flipped(data, rng, other):
    for _ in range(rng.choice([1, 1, 3, 12])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def overwritten(data, rng, other):
    for _ in range(rng.choice([1, 4, 12])):
        data[rng.randrange(len(data))] = rng.randrange(256)


def one_value(data, rng, other):
    """A run of bytes that are all alike."""
    start = rng.randrange(len(data))
    end = min(start + rng.choice([4, 8, 64, 4096]), len(data))
    data[start:end] = bytes([rng.choice([0, 0, 255, 128])]) * (end - start)


def cut(data, rng, other):
    del data[
        rng.choice([rng.randrange(len(data)), len(data) - rng.randint(1, min(12, len(data)))]) :
    ]


def longer(data, rng, other):
    data += rng.randbytes(rng.choice([1, 8, 64, 5000]))


def spliced(data, rng, other):
    """A range of another place, or of another file."""
    source = bytes(rng.choice([data, other or data]))
    start, at = rng.randrange(len(source)), rng.randrange(len(data))
    piece = source[start : start + rng.choice([4, 32, 512])]
    data[at : at + (len(piece) if rng.random() < 0.7 else 0)] = piece


def left_out(data, rng, other):
    start = rng.randrange(len(data))
    del data[start : start + rng.choice([1, 8, 100])]


def end_of_other(data, rng, other):
    """The end of another file, with its footer."""
    length = int.from_bytes(other[-8:-4], "little") + 8
    if rng.random() < 0.5 and length <= len(other):
        own = min(int.from_bytes(data[-8:-4], "little") + 8, len(data))
        data[len(data) - own :] = other[-length:]
    else:
        data[len(data) // 2 :] = other[len(other) // 2 :]


def another(data, rng, other):
    data[:] = other


KINDS = [
    flipped,
    flipped,
    overwritten,
    one_value,
    cut,
    longer,
    spliced,
    left_out,
    end_of_other,
    another,
]


def damage(path, rng, other=b""):
    """Change a file in one way; ``other`` is the content of another one. How, in a word."""
    data = bytearray(path.read_bytes())
    kind = rng.choice(KINDS if len(other) > 8 else KINDS[:-2]) if data else longer
    kind(data, rng, other)
    path.write_bytes(data)
    return kind.__name__


def misplaced(path, rng):
    """Put something else in the place of a file. What, in a word."""
    kind = rng.choice(["missing", "a folder", "a link", "a pipe", "empty", "no rights"])
    data = path.read_bytes()
    if kind == "no rights":
        path.chmod(0)
        return kind
    path.unlink()
    if kind == "a folder":
        path.mkdir()
    elif kind == "a link":
        kept = path.parent.parent / f"elsewhere-{path.name}"
        kept.write_bytes(data)
        path.symlink_to(kept)
    elif kind == "a pipe":
        os.mkfifo(path)
    elif kind == "empty":
        path.write_bytes(b"")
    return kind


def files_under(folder):
    """Content of all files, by path; of what is no plain file None."""
    return {
        path: path.read_bytes() if path.is_file() and os.access(path, os.R_OK) else None
        for path in sorted(folder.rglob("*"))
        if not path.is_dir()
    }


def copied(folder, to):
    shutil.copytree(folder, to)
    return to


def commanded(words, out):
    """The result of a command of ``dask graph``, or None and its one line of error."""
    done = CliRunner().invoke(graph, [*map(str, words), "--output", str(out)])
    if done.exit_code == 0:
        return pd.read_parquet(out), None
    last = done.stderr.splitlines()[-1] if done.stderr else ""
    foreign = re.match(r"Error: (\w+(?:Error|Exception|Warning|Exit|Interrupt)): ", last)
    if done.exit_code not in (1, 2) or not last.startswith("Error: ") or foreign:
        raise Wrong(f"exit code {done.exit_code}: {done.stderr} {done.exception!r}")
    return None, last
