"""What a writer has found at a local folder: what it writes takes the place of that, and of nothing newer.

The counterpart of the number that a writer finds on an object store; see `objects.commits`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path, PosixPath
from typing import Any, TypeAlias

from dask_graphgpu.errors import OutputError

# Names, inodes and times of what is in a folder: what is written anew has others.
Entries: TypeAlias = frozenset[tuple[str, int, int]]


class LostRace(OutputError):
    """Another job has written there since this one has looked."""


def lost_race(place: Any) -> LostRace:
    """The error of who comes second."""
    return LostRace(
        f"another job has written to {place} meanwhile, which stays as it is: nothing of this job is kept there; "
        "give each job an output of its own, or run them one after the other"
    )


class ClaimedPath(PosixPath):
    """A local folder, with what a writer has found there; paths made of it are not claimed.

    Attributes
    ----------
    began : Entries or None
        None: it has not looked.
    """

    began: Entries | None = None

    def __reduce__(self) -> Any:
        return _claimed, (str(self), self.began)


def claimed(folder: Path) -> ClaimedPath:
    """A folder with what a writer finds there, or has found before."""
    if isinstance(folder, ClaimedPath) and folder.began is not None:
        return folder
    return _claimed(str(folder), _entries(folder))


def require_claimed(folder: Path, others: Callable[[Path], list[str]]) -> None:
    """Raise LostRace where another writer has been in a claimed folder since.

    A removed folder does not count, nor do files of no writer, which ``others`` lists.
    """
    began = folder.began if isinstance(folder, ClaimedPath) else None
    if began is None:
        return
    found = _entries(folder)
    if found and found != began:
        foreign = set(others(folder))
        if (ours := {each for each in found if each[0] not in foreign}) and ours != began:
            raise lost_race(folder)


def _claimed(path: str, began: Entries | None) -> ClaimedPath:
    made = ClaimedPath(path)
    made.began = began
    return made


def _entries(folder: Path) -> Entries:
    """What is in a folder; nothing where there is none."""
    try:
        with os.scandir(folder) as found:
            states = [(each.name, each.stat(follow_symlinks=False)) for each in found]
    except FileNotFoundError:
        return frozenset()
    return frozenset((name, state.st_ino, state.st_mtime_ns) for name, state in states)
