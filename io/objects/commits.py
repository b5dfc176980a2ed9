"""Commits: how a folder of an object store is replaced as one step, without locks and clocks.

A folder holds numbered commits and generations. A commit is a small object that is created only if there is none of its
number; the one with the highest number counts. A generation is what one writer has written; its name begins with the
number that the writer had found when it began, the one that its own commit follows. So whoever comes second finds the
number taken, and what began before the highest number can never count any more, and is swept.
"""

from __future__ import annotations

import errno
import json
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from dask_graphgpu.io.claims import LostRace, lost_race
from dask_graphgpu.io.objects.object_folder import ObjectFolder

_COMMIT = re.compile(r"commit-([0-9]{20})\.json")
_GENERATION = re.compile(r"([0-9]{20})-[0-9a-f]{16}")
_FORMAT = "dask_graphgpu commit"
_TRIES = 100  # at a commit that is replaced each time before it is read

_exclusive: set[tuple[str, str, int]] = (
    set()
)  # stores that are known to create an object only if there is none


@dataclass(frozen=True)
class Commit:
    """What counts in a folder.

    Attributes
    ----------
    number : int
    kind : str
        What the folder is, such as "result".
    generation : str or None
        Where its files are; None: they are being removed.
    shared : tuple of (str, str, int)
        Names of files that are an earlier generation's, where they stay, that one and their bytes.
    """

    number: int
    kind: str
    generation: str | None
    shared: tuple[tuple[str, str, int], ...] = ()

    @property
    def name(self) -> str:
        """Of its object."""
        return f"commit-{self.number:020d}.json"

    def text(self) -> bytes:
        """What its object holds."""
        content: dict[str, object] = {
            "format": _FORMAT,
            "version": 2 if self.shared else 1,
            "kind": self.kind,
            "generation": self.generation,
        }
        if self.shared:
            content["shared"] = [list(each) for each in self.shared]
        return json.dumps(content).encode()


def is_ours(name: str) -> bool:
    """Whether the name in a folder is of a commit or a generation."""
    return bool(_COMMIT.fullmatch(name) or _GENERATION.fullmatch(name))


def latest(folder: ObjectFolder) -> Commit | None:
    """The commit that counts; None: there is none.

    Raises
    ------
    OSError
        It cannot be read, or is of something else.
    """
    for _ in range(_TRIES):
        numbers = [int(found[1]) for name in folder.sizes() if (found := _COMMIT.fullmatch(name))]
        if not numbers:
            return None
        with suppress(FileNotFoundError):  # another one has taken its place
            return _read(folder, max(numbers))
    raise OSError(f"{folder} is replaced all the time")


def _read(folder: ObjectFolder, number: int) -> Commit:
    name = Commit(number, "", None).name
    try:
        content = json.loads((folder / name).read())
        if content["format"] != _FORMAT or content["version"] not in (1, 2):
            raise ValueError
        shared = tuple(
            (str(file), str(where), int(size)) for file, where, size in content.get("shared", ())
        )
        commit = Commit(number, str(content["kind"]), content["generation"], shared)
        generations = [where for _, where, _ in shared]
        if commit.generation is not None:
            generations.append(commit.generation)
        if not all(map(_GENERATION.fullmatch, generations)):
            raise ValueError
    except (ValueError, KeyError, TypeError) as error:
        raise OSError(f"{folder / name} is damaged, or of another version") from error
    return commit


@dataclass(frozen=True)
class Generation:
    """What one writer writes.

    Attributes
    ----------
    log : ObjectFolder
        The folder with the commits.
    name : str
    """

    log: ObjectFolder
    name: str

    @classmethod
    def new(cls, log: ObjectFolder, began: int) -> Generation:
        """One whose writer has found a number."""
        return cls(log, f"{began:020d}-{secrets.token_hex(8)}")

    @property
    def folder(self) -> ObjectFolder:
        """Where its files are."""
        return self.log / self.name


@contextmanager
def committing(
    folder: ObjectFolder,
    log: ObjectFolder,
    kind: str,
    shared: tuple[tuple[str, str, int], ...] = (),
) -> Iterator[Generation]:
    """Give a new generation to fill, which counts from the end of the block on.

    Parameters
    ----------
    folder : ObjectFolder
        What is written, with the number that the writer has found there.
    log : ObjectFolder
        Where the commits are.
    kind : str
    shared
        As of `Commit`: what stays where it is.

    Raises
    ------
    LostRace
        Another writer was faster; nothing of this one is left.
    OSError
        The store has failed; what was there counts. Where it is not known whether the commit is there, the generation
        is left to the next writer.
    """
    began = folder.began or 0
    current = latest(log)
    if (current.number if current else 0) != began:
        raise lost_race(folder)
    made = Generation.new(log, began)
    try:
        require_exclusive(made.folder)
        yield made
    except BaseException as error:
        with suppress(OSError):
            made.folder.remove_all()
        if isinstance(error, OSError) and not isinstance(error, LostRace) and _is_lost(log, began):
            raise lost_race(folder) from error  # which sweeps what this one has written
        raise
    if not _commit(log, Commit(began + 1, kind, made.name, shared)):
        with suppress(OSError):
            made.folder.remove_all()
        raise lost_race(folder)


def _is_lost(log: ObjectFolder, began: int) -> bool:
    try:
        current = latest(log)
    except OSError:
        return False
    return current is not None and current.number > began


def _commit(log: ObjectFolder, commit: Commit) -> bool:
    """Create a commit; whether it counts."""
    try:
        (log / commit.name).create(commit.text())
    except OSError:
        # Also where the store has made it and its answer was lost.
        current = latest(log)
        if current is None or current.number < commit.number:
            raise
        return current == commit
    current = latest(log)
    if current == commit:
        return True
    with suppress(OSError):  # its number was free again: a later one counts
        log.remove([commit.name])
    return False


def sweep(log: ObjectFolder, current: Commit) -> None:
    """Remove what can never count any more; what cannot be removed is left to the next writer.

    These are older commits, and generations of writers that began before the commit that counts, but for its own and
    those that it shares files with.
    """
    kept = {current.generation, *(where for _, where, _ in current.shared)}
    with suppress(OSError):
        for name in log.sizes():
            older, began = _COMMIT.fullmatch(name), _GENERATION.fullmatch(name)
            if older and int(older[1]) < current.number:
                log.remove([name])
            elif began and int(began[1]) < current.number and name not in kept:
                (log / name).remove_all()


def removing(folder: ObjectFolder, kind: str) -> None:
    """Remove what a writer has committed, the commit last.

    Raises
    ------
    LostRace
        Another writer's is there, which is left alone.
    """
    if not folder.began and not any(map(is_ours, folder.sizes())):
        return
    gone = Commit((folder.began or 0) + 1, kind, None)
    if not _commit(folder, gone):
        raise lost_race(folder)
    sweep(folder, gone)
    folder.remove([gone.name])


def claimed(folder: ObjectFolder, log: ObjectFolder) -> ObjectFolder:
    """A folder with the number that a writer finds there."""
    current = latest(log)
    return replace(folder, began=current.number if current else 0)


def require_exclusive(folder: ObjectFolder) -> None:
    """Look once whether a store creates an object only if there is none: not all that speak a protocol do.

    Raises
    ------
    OSError
        It does not.
    """
    package, path = folder.key
    bucket = package, path.partition("/")[0], hash(folder.options)
    if bucket in _exclusive:
        return
    probe = folder / "probe"
    probe.create(b"")
    try:
        probe.create(b"")
    except OSError as error:
        folder.remove([probe.name])
        if error.errno not in (
            errno.EEXIST,
            errno.EINVAL,
        ):  # the store has failed: it has not refused
            raise
        _exclusive.add(bucket)
        return
    folder.remove([probe.name])
    raise OSError(
        f"the store of {folder} writes over an object that it is asked to create, so two jobs could mix what they "
        "write: use one that knows If-None-Match"
    )
