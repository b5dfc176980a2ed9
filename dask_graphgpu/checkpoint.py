"""Checkpoints of a run: when they are written, what is in them, and going on from one."""

from __future__ import annotations

import secrets
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from dask.base import tokenize

from dask_graphgpu.arguments import check_flag, check_real, check_whole, refuse
from dask_graphgpu.errors import InvalidArgument, InvalidCheckpoint, OutputError
from dask_graphgpu.io.objects.storage_options import StorageOptions
from dask_graphgpu.io.place import Place, place_of
from dask_graphgpu.partition import fingerprint
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.store import checkpoint as folder

if TYPE_CHECKING:
    from dask_graphgpu.exchange.ranks import Ranks

_NUMBER = "vertex number"
_TRIES = 20  # to find the same checkpoint on all ranks, while another run replaces it
# Arguments of a method that do not change what it computes.
_BESIDE = ("max_iterations", "max_supersteps", "columns", "checkpoint", "resume")


@dataclass(frozen=True)
class Checkpoint:
    """Where a run writes its state down, and how often.

    Parameters
    ----------
    path : str or Path
        Folder on a file system that all workers see, or its URL on an object store: new, empty or a checkpoint.
    seconds : float or None
        Write when so many have passed since the last time, with edges on disk and in rounds over edges in
        host memory also in the middle of a superstep. Default: 60.
    supersteps : int or None
        Write after so many supersteps. Default: only by the clock.
    storage_options : dict, optional
        Of the object store, as its fsspec file system takes them. Default: what the environment says.

    Raises
    ------
    InvalidArgument
    """

    path: str | Path
    seconds: float | None = 60.0
    supersteps: int | None = None
    storage_options: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.storage_options is not None:  # in a class that does not show them
            object.__setattr__(self, "storage_options", StorageOptions(self.storage_options))
        if self.seconds is None and self.supersteps is None:
            raise InvalidArgument(
                "a checkpoint that is never due: give seconds= or supersteps=, or both"
            )
        if not isinstance(self.path, str | Path):
            refuse("path", self.path, "is a folder")
        if self.seconds is not None:
            check_real("seconds", self.seconds, "a number of at least 0", lambda s: s >= 0)
        if self.supersteps is not None:
            check_whole("supersteps", self.supersteps, 1)

    @property
    def place(self) -> Place:
        """Where it is, behind links."""
        return place_of(self.path, "checkpoint", self.storage_options)


def call_of(name: str, algorithm: Any) -> str:
    """A method with a token of the arguments that its values depend on."""
    given = [
        (field.name, getattr(algorithm, field.name))
        for field in fields(algorithm)
        if field.name not in _BESIDE
    ]
    return f"{name} {tokenize(given)}"


@dataclass(frozen=True)
class Checkpointing:
    """What a call says of checkpoints: where and how often, and whether to go on from one."""

    choice: Checkpoint
    resume: bool

    @classmethod
    def asked(cls, checkpoint: Any, resume: Any) -> Checkpointing | None:
        """The arguments ``checkpoint=`` and ``resume=`` of a method.

        Raises
        ------
        InvalidArgument
        OutputError
            The folder holds something else.
        """
        check_flag("resume", resume)
        if checkpoint is None:
            if resume:
                raise InvalidArgument("resume=True goes on from a checkpoint: give checkpoint= too")
            return None
        if not isinstance(checkpoint, str | Path | Checkpoint):
            raise InvalidArgument(
                f"checkpoint is a {type(checkpoint).__name__}; give a folder or a Checkpoint"
            )
        choice = checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint)
        place = choice.place
        if not resume:
            folder.check_destination(place)
        # Workers may stand elsewhere.
        path = str(place) if isinstance(place, Path) else place.url
        return cls(replace(choice, path=path), bool(resume))

    def keeper(
        self,
        call: str,
        ids: Any,
        numbers: np.ndarray | None,
        num_owned: int,
        ranks: Ranks | None = None,
    ) -> CheckpointKeeper:
        """Who keeps the state of the call; see `CheckpointKeeper`."""
        return CheckpointKeeper(
            self.choice,
            resume=self.resume,
            call=call,
            ids=ids,
            numbers=numbers,
            num_owned=num_owned,
            ranks=ranks,
        )


@dataclass(frozen=True, eq=False)
class KeptState:
    """The state of a run after ``superstep``: columns of vertices as the run has them."""

    superstep: int
    columns: dict[str, np.ndarray]
    aggregates: dict[str, Any]


class CheckpointKeeper:
    """Writes the checkpoints of one call of a method, and finds the one to go on from.

    A call may run several programs, one after another; a checkpoint is of one of them, and of those
    before it nothing is kept: they are run again. All methods are called by all ranks.

    Parameters
    ----------
    choice : Checkpoint
    resume : bool
        Go on from the checkpoint that is there; from the start if there is none.
    call : str
        The method with a token of its arguments.
    ids : VertexIds or RankIds
    numbers : unsigned array of shape (num_vertices,) or None
        Place of each vertex in the order of the user's ids; None: the vertices are in that order.
    num_owned : int
        The first of them, which are this rank's.
    ranks : Ranks or None

    Raises
    ------
    OutputError
        The folder holds something else.
    InvalidCheckpoint
        It is to be resumed from, and is torn, damaged, or the checkpoint of another call.
    """

    def __init__(
        self,
        choice: Checkpoint,
        *,
        resume: bool,
        call: str,
        ids: Any,
        numbers: np.ndarray | None,
        num_owned: int,
        ranks: Ranks | None = None,
    ) -> None:
        self.choice, self.call, self.ids, self.ranks = choice, call, ids, ranks
        self.numbers = None if numbers is None else to_host(numbers)
        self.num_owned = num_owned
        if ranks is not None:  # one of them alone puts right what a crash has left
            if self._is_first:
                folder.settle(choice.place)
            ranks.barrier()
        self._found = self._agreed(choice.place) if resume else None
        self.path = folder.check_destination(choice.place)
        if self._found is not None:
            self._check("call", "the method or its arguments", call)
        self._run: dict[str, Any] = {"call": call, "program number": 0}
        self._last, self._last_superstep = time.monotonic(), 0
        self._name, self._has_written = secrets.token_hex(8), False

    def begin(
        self, program: str, edges: Adjacency, by: str, state: Mapping[str, np.ndarray]
    ) -> KeptState | None:
        """Begin a program with these values; returns what a checkpoint has of it, if there is one.

        ``program`` is a token of it; ``edges`` are rows of which those of the own vertices count,
        ``by`` "source" or "destination".

        Raises
        ------
        InvalidCheckpoint
            The checkpoint is of other edges, values at the start, or another program.
        """
        graph = fingerprint.of_edges(edges, self.numbers, self.num_owned, by)
        start = fingerprint.of_values(state, self.numbers, self.num_owned)
        self._run = {
            "call": self.call,
            "program number": self._run["program number"] + 1,
            "program": program,
            "graph": self._sum(graph),
            "start": self._sum(start),
        }
        self._last, self._last_superstep = time.monotonic(), 0
        found = self._found
        if found is None or found.content["program number"] != self._run["program number"]:
            return None
        self._check("program", "the program", program)
        self._check("graph", "the edges or their weights", self._run["graph"])
        self._check("start", "the values that it starts from", self._run["start"])
        columns = self._read(len(next(iter(state.values()))))
        for name, values in state.items():
            kept = columns.get(f"state {name}", values)
            if kept.dtype != values.dtype:
                raise self._damaged(f"has {name} as {kept.dtype} instead of {values.dtype}")
        superstep = int(found.content["superstep"])
        # A run in place, which keeps no frontier, counts its rounds anew.
        self._last_superstep = superstep if "active" in columns else 0
        return KeptState(superstep, columns, dict(found.content["aggregates"]))

    def steps_left(self, superstep: int) -> int | None:
        """Supersteps after which it is due to write by their number; None: by the clock alone."""
        most = self.choice.supersteps
        if most is None or self._is_ahead:
            return None
        return max(self._last_superstep + most - superstep, 1)

    def due(self, superstep: int) -> bool:
        """Whether to write now: on ranks, when it is due on one of them."""
        most = self.choice.supersteps
        steps = most and superstep - self._last_superstep >= most and not self._is_ahead
        due = bool(steps or self.late())
        return due if self.ranks is None else bool(self.ranks.max(int(due)))

    def late(self) -> bool:
        """Whether it is due by the clock, on this rank; so it may be in the middle of a superstep."""
        seconds = self.choice.seconds
        if seconds is None or self._is_ahead:
            return False
        return time.monotonic() - self._last >= seconds

    def write(
        self, superstep: int, columns: Mapping[str, np.ndarray], aggregates: Mapping[str, Any]
    ) -> None:
        """Write the values after a superstep in place of the checkpoint that is there.

        Raises
        ------
        OutputError
            It cannot be written, or another run writes its own there.
        """
        if self._is_first and self._is_of_another():
            raise OutputError(
                f"another run has written its checkpoint to {self.path} meanwhile: give each run a "
                "folder of its own; that checkpoint is untouched"
            )
        own = self.num_owned
        numbers = np.arange(own) if self.numbers is None else self.numbers[:own]
        arrays = {_NUMBER: numbers, **{name: column[:own] for name, column in columns.items()}}
        content = {
            **self._run,
            "run": self._name,
            "library": version("dask-graphgpu"),
            "superstep": superstep,
            "aggregates": dict(aggregates),
            "columns": {name: str(array.dtype) for name, array in arrays.items()},
        }
        self.path = folder.write(self.path, pa.table(arrays), content, self.ranks)
        self._has_written = True
        self._last, self._last_superstep = time.monotonic(), superstep

    def end(self) -> None:
        """The call has its result: remove the checkpoint, but for one of a run that goes on.

        One that cannot be removed is a warning: the result counts.
        """
        if not self._is_first or self._is_of_another():
            return
        try:
            folder.remove(self.path)
        except (OSError, InvalidCheckpoint) as error:
            warnings.warn(
                f"the result is there, and the checkpoint {self.path} is not removed: {error}; remove it yourself",
                stacklevel=2,
            )

    @property
    def _is_ahead(self) -> bool:
        """Whether the checkpoint to go on from is of a later program, which will read it."""
        found = self._found
        return found is not None and found.content["program number"] > self._run["program number"]

    @property
    def _is_first(self) -> bool:
        return self.ranks is None or self.ranks.rank == 0

    def _is_of_another(self) -> bool:
        """Whether what is there has taken the place of what this run has written; asked by rank 0."""
        return self._has_written and folder.written_by(self.path) not in (None, self._name)

    def _check(self, key: str, what: str, value: Any) -> None:
        assert self._found is not None
        content = self._found.content
        if content[key] != value:
            raise InvalidCheckpoint(
                f"{self.path} is the checkpoint of another run ({content['call']}): {what} "
                "differ; give another folder, or run without resume=True to replace it"
            )

    def _read(self, num_vertices: int) -> dict[str, np.ndarray]:
        """The columns of the checkpoint as arrays of which the own vertices' part is filled."""
        found, ranks = self._found, self.ranks
        assert found is not None
        kinds = found.content["columns"]
        if _NUMBER not in kinds or np.dtype(kinds[_NUMBER]).kind not in "iu":
            raise self._damaged("does not say whose values they are")
        tables = found.tables()
        found.close()
        read = {
            name: np.concatenate(
                [np.empty(0, dtype), *(table[name].to_numpy() for table in tables)], dtype=dtype
            )
            for name, dtype in kinds.items()
        }
        total = self.num_owned if ranks is None else ranks.scalars([self.num_owned]).sum()
        numbers = read[_NUMBER]
        if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < total:
            raise self._damaged("has values of vertices that there are not")
        numbers = read.pop(_NUMBER)
        if ranks is None:
            position, given = self.ids.position, [*read.values()]
            rows = numbers if position is None else to_host(position).take(numbers)
        else:
            rows, given = self.ids.to_owners(numbers, [*read.values()])
        if len(distinct(rows)) != self.num_owned:
            raise self._damaged(
                f"has values of {len(distinct(rows)):,} vertices instead of {self.num_owned:,}"
            )
        columns = _Columns(
            self.path,
            {name: np.zeros(num_vertices, values.dtype) for name, values in read.items()},
        )
        for column, values in zip(columns.values(), given, strict=True):
            column[rows.astype(np.intp)] = values
        return columns

    def _agreed(self, path: Place) -> folder.Written | None:
        """The checkpoint that is there, the same on all ranks, with this rank's share of its parts."""
        ranks = self.ranks
        if ranks is None:
            return folder.read(path, slice(None))
        for _ in range(_TRIES):
            found = folder.read(path, slice(ranks.rank, None, ranks.size))
            token = "" if found is None else found.token
            if len(set(ranks.all_gather_bytes(token.encode()))) == 1:
                return found
        raise InvalidCheckpoint(
            f"{path} is replaced all the time by another run: give each run a folder of its own"
        )

    def _damaged(self, what: str) -> InvalidCheckpoint:
        return InvalidCheckpoint(f"{self.path} is damaged: it {what}; {folder.CHECKPOINT.again}")

    def _sum(self, mine: int) -> str:
        """Sum of a fingerprint over all ranks, as text: JSON numbers end at 2**53 elsewhere."""
        total = mine
        if self.ranks is not None:
            halves = self.ranks.scalars([mine >> 32, mine & 0xFFFFFFFF]).sum(axis=0).tolist()
            total = (halves[0] << 32) + halves[1]
        return f"{total % 2**64:016x}"


class _Columns(dict[str, np.ndarray]):
    """The columns of a checkpoint; one that an engine asks for and that is not there is an error."""

    def __init__(self, path: Place, columns: Mapping[str, np.ndarray]) -> None:
        super().__init__(columns)
        self._path = path

    def __missing__(self, name: str) -> np.ndarray:
        raise InvalidCheckpoint(
            f"{self._path} is damaged: it has no column {name!r}; {folder.CHECKPOINT.again}"
        )
