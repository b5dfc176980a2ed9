"""Paths of a job, looked at before its first step runs: no step writes over what a step reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from fsspec.core import split_protocol

from dask_graphgpu.errors import InvalidArgument, OutputError
from dask_graphgpu.io import output
from dask_graphgpu.io.table_files import expanded
from dask_graphgpu.jobs.steps import Step, paths_among
from dask_graphgpu.store import checkpoint, save


@dataclass(frozen=True)
class _Place:
    """A path behind links, and what of which step it is."""

    path: Path
    what: str
    step: int

    def meets(self, other: _Place) -> bool:
        """Whether one is the other or lies within it."""
        return self.path.is_relative_to(other.path) or other.path.is_relative_to(self.path)


def check_paths(steps: Sequence[Step]) -> set[int]:
    """Refuse outputs and reports that cannot be written, or would be over something of the job.

    Returns
    -------
    set of int
        The places of steps that read what an earlier one writes, which need not be there yet.

    Raises
    ------
    InvalidArgument
        A path is empty or a URL; an output or a checkpoint equals, contains or lies within what a
        step reads, or the output or checkpoint of another; a report is or lies within one of these.
    OutputError
        An output or a checkpoint is neither new nor empty nor an earlier one of its kind; a report
        has no folder.
    InvalidCheckpoint
        A checkpoint to go on from is torn, damaged or something else.
    """
    read = [place for i, step in enumerate(steps) for place in _read(step, i)]
    outputs = [
        _Place(output.local_path(step.output, "output"), "output", i)
        for i, step in enumerate(steps)
        if step.output is not None
    ]
    checkpoints = [
        _Place(checkpoint.path_of(step.checkpoint.path), "checkpoint", i)
        for i, step in enumerate(steps)
        if step.checkpoint is not None
    ]
    reports = [
        _Place(output.local_path(step.report, "report"), "report", i)
        for i, step in enumerate(steps)
        if step.report is not None and step.report != "-"
    ]
    waiting: set[int] = set()
    for i, place in enumerate(outputs):
        for other in read:
            if place.path == other.path and place.step < other.step:
                waiting.add(other.step)
            elif place.meets(other):
                raise _refusal(place, other, steps)
        for other in outputs[:i]:
            if place.meets(other):
                raise _refusal(place, other, steps)
    for i, place in enumerate(checkpoints):
        for other in [*read, *outputs, *checkpoints[:i]]:
            if place.meets(other):
                raise _refusal(place, other, steps)
    for place in reports:
        for other in [*read, *outputs, *checkpoints]:
            if place.path.is_relative_to(other.path):
                raise _refusal(place, other, steps)
    for place in outputs:
        kind = save if steps[place.step].algorithm == "build" else output
        kind.check_destination(place.path)
    for place in checkpoints:
        if steps[place.step].resume:
            checkpoint.read(place.path)
        else:
            checkpoint.check_destination(place.path)
    for place in reports:
        _check_report(Path(steps[place.step].report or "").expanduser())
        for other in read:
            if _is_among(place.path, other.path):
                raise InvalidArgument(
                    f"the report {place.path} is a file of the {other.what}, {other.path}, by a link: "
                    "name another place; nothing was changed"
                )
    return waiting


def _read(step: Step, number: int) -> Iterator[_Place]:
    """The local files and folders that a step reads."""
    given = [("edges", step.graph.edges), ("vertices", step.graph.vertices)]
    if step.algorithm != "build":
        given += paths_among(step.arguments)
    for what, text in given:
        if text is None:
            continue
        protocol, path = split_protocol(expanded(text))
        if protocol not in (None, "file", "local"):
            continue
        for name in glob(path) if "*" in path else [path]:
            yield _Place(Path(name).resolve(), what, number)


def _is_among(file: Path, read: Path) -> bool:
    """Whether a file that is there is one of those that are read, under another name."""
    if not file.is_file():
        return False
    files = [read, *read.rglob("*")] if read.is_dir() else [read]
    return any(each.is_file() and each.samefile(file) for each in files)


def _check_report(file: Path) -> None:
    if file.is_dir() or not file.parent.is_dir():
        raise OutputError(
            f"the report cannot be written to {file}: "
            + ("it is a folder" if file.is_dir() else f"there is no folder {file.parent}")
        )
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise OutputError(f"the report cannot be written to {file}: permission denied")


def _refusal(place: _Place, other: _Place, steps: Sequence[Step]) -> InvalidArgument:
    mine, theirs = (
        f"the {p.what} of step {p.step + 1}" if len(steps) > 1 else f"the {p.what}"
        for p in (place, other)
    )
    if place.path == other.path:
        how = "is"
    else:
        how = "contains" if other.path.is_relative_to(place.path) else "lies within"
    return InvalidArgument(
        f"{mine}, {place.path}, {how} {theirs}{'' if how == 'is' else f', {other.path}'}: name "
        "another place; nothing was changed"
    )
