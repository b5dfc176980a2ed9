"""Paths of a job, looked at before its first step runs: no step writes over what a step reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from fsspec.core import split_protocol

from dask_graphgpu.errors import InvalidArgument, OutputError
from dask_graphgpu.io import output
from dask_graphgpu.io.objects.object_folder import ObjectFolder, is_object, matching
from dask_graphgpu.io.place import Place, holds, meets, place_of
from dask_graphgpu.io.tables.table_files import expanded
from dask_graphgpu.jobs.steps import GraphOptions, Step, paths_among
from dask_graphgpu.store import checkpoint, save

_KEPT, _GRAPH = "result with the ids to keep", "saved graph"


@dataclass(frozen=True)
class Looked:
    """What was found before the first step runs.

    Attributes
    ----------
    waiting : set of int
        The places of steps that read what an earlier one writes, which need not be there yet.
    outputs : dict of int to Path or ObjectFolder
        Where each step writes; of an object store, with what was there.
    changes : dict of int to Path or ObjectFolder
        Where each step writes what has become of groups.
    kept : dict of GraphOptions to Path or ObjectFolder
        Where saved graphs are kept up to date.
    """

    waiting: set[int]
    outputs: dict[int, Place]
    changes: dict[int, Place]
    kept: dict[GraphOptions, Place]


@dataclass(frozen=True)
class _Named:
    """A place, and what of which step it is."""

    path: Place
    what: str
    step: int

    def meets(self, other: _Named) -> bool:
        """Whether one is the other or lies within it."""
        return meets(self.path, other.path)


def check_paths(steps: Sequence[Step]) -> Looked:
    """Refuse outputs and reports that cannot be written, or would be over something of the job.

    Raises
    ------
    InvalidArgument
        A path is empty, or a URL that cannot be written to; an output or a checkpoint equals, contains or lies
        within what a step reads, or the output or checkpoint of another; a report is or lies within one of these.
        Only the ids that a step keeps may be those in its output.
    OutputError
        An output or a checkpoint is neither new nor empty nor an earlier one of its kind; a report
        has no folder.
    InvalidCheckpoint
        A checkpoint to go on from is torn, damaged or something else.
    """
    read = [place for i, step in enumerate(steps) for place in _read(step, i)]
    outputs = _outputs(steps)
    checkpoints = [
        _Named(step.checkpoint.place, "checkpoint", i)
        for i, step in enumerate(steps)
        if step.checkpoint is not None
    ]
    reports = [
        _Named(_place(step, step.report, "report"), "report", i)
        for i, step in enumerate(steps)
        if step.report is not None and step.report != "-"
    ]
    waiting = _waiting(steps, read, outputs)
    for i, place in enumerate(checkpoints):
        for other in [*read, *outputs, *checkpoints[:i]]:
            if place.meets(other):
                raise _refusal(place, other, steps)
    for place in reports:
        for other in [*read, *outputs, *checkpoints]:
            if holds(other.path, place.path):
                raise _refusal(place, other, steps)
    found = _destinations(steps, outputs)
    for place in checkpoints:
        if steps[place.step].resume:
            checkpoint.read(place.path)
        else:
            checkpoint.check_destination(place.path)
    for place in reports:
        _check_report(place, steps[place.step], read)
    kept = {steps[i].graph: place for i, place in found[_GRAPH].items()}
    return Looked(waiting, found["output"], found["changes"], kept)


def _outputs(steps: Sequence[Step]) -> list[_Named]:
    """Where steps write results, what has become of groups, and graphs that are kept up to date."""
    first = {step.graph: i for i, step in reversed([*enumerate(steps)])}  # that uses a graph
    return [
        _Named(_place(step, path, what), what, i)
        for i, step in enumerate(steps)
        for what, path in (
            (_GRAPH, step.graph.kept if first[step.graph] == i else None),
            ("output", step.output),
            ("changes", step.changes),
        )
        if path is not None
    ]


def _waiting(steps: Sequence[Step], read: list[_Named], outputs: list[_Named]) -> set[int]:
    """The steps that read what an earlier one writes. Raises InvalidArgument: outputs meet others or what is read."""
    waiting: set[int] = set()
    for i, place in enumerate(outputs):
        for other in read:
            if _same(place, other) and place.step < other.step:
                waiting.add(other.step)
            elif _same(place, other) and place.step == other.step and _is_replaced(place, other):
                continue  # read whole before that
            elif place.meets(other):
                raise _refusal(place, other, steps)
        for other in outputs[:i]:
            if place.meets(other):
                raise _refusal(place, other, steps)
    return waiting


def _destinations(steps: Sequence[Step], outputs: list[_Named]) -> dict[str, dict[int, Place]]:
    """Outputs by what they are and by step. Raises OutputError: something else is there."""
    found: dict[str, dict[int, Place]] = {"output": {}, "changes": {}, _GRAPH: {}}
    for place in outputs:
        algorithm = steps[place.step].algorithm
        if algorithm == "update":  # what is there is looked at when the step is asked for
            found[place.what][place.step] = place.path
            continue
        kind = save if algorithm == "build" or place.what == _GRAPH else output
        found[place.what][place.step] = kind.check_destination(place.path)
    return found


def _place(step: Step, path: str, what: str) -> Place:
    return place_of(path, what, step.options_for(path))


def _read(step: Step, number: int) -> Iterator[_Named]:
    """The files and folders that a step reads."""
    given = [("edges", step.graph.edges), ("vertices", step.graph.vertices), (_KEPT, step.keep_ids)]
    if step.algorithm != "build":
        given += paths_among(step.arguments)
    for what, text in given:
        if not text:
            continue
        if is_object(text):
            yield from (_Named(place, what, number) for place in _objects(step, text, what))
            continue
        _, path = split_protocol(expanded(text))
        for name in glob(path) if "*" in path else [path]:
            yield _Named(Path(name).resolve(), what, number)


def _objects(step: Step, url: str, what: str) -> Iterator[Place]:
    """What is read at a URL; nothing where it cannot be read, which is found later, or no job can write."""
    with suppress(InvalidArgument, OSError):
        urls = [url]
        if "*" in url:
            fs, names = matching(url, step.graph.storage_options)
            urls = [fs.unstrip_protocol(name) for name in names]
        for each in urls:
            yield ObjectFolder.of(each, what)


def _is_among(file: Path, read: Place) -> bool:
    """Whether an existing file is, by a link, one of the files that are read."""
    if not file.is_file() or not isinstance(read, Path):
        return False
    files = [read, *read.rglob("*")] if read.is_dir() else [read]
    return any(each.is_file() and each.samefile(file) for each in files)


def _check_bucket(report: ObjectFolder) -> None:
    try:
        report.sizes()
    except OSError as error:
        raise OutputError(f"the report cannot be written to {report}: {error.strerror}") from error


def _check_report(report: _Named, step: Step, read: list[_Named]) -> None:
    """Raise OutputError where it cannot be written, InvalidArgument where it is a file of what is read."""
    if isinstance(report.path, ObjectFolder):
        _check_bucket(report.path)
        return
    _check_file(Path(split_protocol(step.report or "")[1]).expanduser())
    for other in read:
        if _is_among(report.path, other.path):
            raise InvalidArgument(
                f"the report {report.path} is a file of the {other.what}, {other.path}, by a link: "
                "name another place; nothing was changed"
            )


def _check_file(file: Path) -> None:
    if file.is_dir() or not file.parent.is_dir():
        raise OutputError(
            f"the report cannot be written to {file}: "
            + ("it is a folder" if file.is_dir() else f"there is no folder {file.parent}")
        )
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise OutputError(f"the report cannot be written to {file}: permission denied")


def _same(one: _Named, other: _Named) -> bool:
    return holds(one.path, other.path) and holds(other.path, one.path)


def _is_replaced(place: _Named, read: _Named) -> bool:
    """Whether what is read are the ids that a step keeps, and the place is where it writes its own."""
    return place.what == "output" and read.what == _KEPT


def _refusal(place: _Named, other: _Named, steps: Sequence[Step]) -> InvalidArgument:
    mine, theirs = (
        f"the {p.what} of step {p.step + 1}" if len(steps) > 1 else f"the {p.what}"
        for p in (place, other)
    )
    if _same(place, other):
        how = "is"
    else:
        how = "contains" if holds(place.path, other.path) else "lies within"
    return InvalidArgument(
        f"{mine}, {place.path}, {how} {theirs}{'' if how == 'is' else f', {other.path}'}: name "
        "another place; nothing was changed"
    )
