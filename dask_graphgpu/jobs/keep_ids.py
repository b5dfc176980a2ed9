"""Ids of groups that stay from one job to the next: the earlier result, and what is told of the change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dask_graphgpu.errors import InvalidArgument, InvalidVertices
from dask_graphgpu.io.frames import to_host
from dask_graphgpu.io.objects.object_folder import ObjectFolder
from dask_graphgpu.io.objects.storage_options import redacted
from dask_graphgpu.io.place import holds, place_of
from dask_graphgpu.io.tables.read import read_table
from dask_graphgpu.jobs.ranking import groups_of
from dask_graphgpu.jobs.steps import Step
from dask_graphgpu.matching import CHANGES, match_ids

# Methods whose rows say which group they are in.
GROUPED = (
    "biconnected_components",
    "label_propagation",
    "leiden",
    "louvain",
    "strongly_connected_components",
    "weakly_connected_components",
)


@dataclass(frozen=True, eq=False)
class KeptIds:
    """A result whose groups have the ids of an earlier one, and what has become of each group.

    ``first`` : whether there was no earlier one yet.
    """

    frame: Any
    report: Any
    first: bool


def counts(report: Any) -> dict[str, int]:
    """How many groups there are of each change."""
    table = to_host(report["change"].value_counts().reset_index().compute())
    found = dict(zip(table["change"], table["count"], strict=True))
    return {word: int(found[word]) for word in CHANGES if word in found}


def keeping_ids(step: Step, result: Any, names: Mapping[str, str]) -> KeptIds:
    """The result of a step with the ids of the earlier result that it names.

    ``names`` : those in the result of the columns that the method makes.

    Raises
    ------
    InvalidArgument
        The earlier result has other columns, or ids of another type.
    UnreadableTable
        It cannot be read.
    """
    assert step.keep_ids is not None
    group = groups_of(names)
    own = {*names.values()} - {names.get("vertex")}
    vertex = [name for name in result.columns if name not in own]
    old = earlier_result(step, vertex + group)
    path = redacted(step.keep_ids)
    if old is not None:
        here = [str(name) for name in old.columns]
        for name in vertex + group:
            if name not in here:
                raise InvalidArgument(
                    f"keep_ids: {path} has no column {name!r}; it has {here}: give an earlier result of "
                    f"{step.algorithm}, with the same names"
                )
    try:
        found = match_ids(result._meta if old is None else old, result, vertex=vertex, group=group)
    except InvalidVertices as error:
        raise InvalidArgument(f"keep_ids: {path}: {error}") from error
    return KeptIds(*found, first=old is None)


def earlier_result(step: Step, ids: list[str]) -> Any | None:
    """The result whose ids a step keeps, as a frame; None if it is the step's own output, which is not there yet.

    ``ids`` : columns of ids.

    Raises
    ------
    UnreadableTable
        It cannot be read.
    """
    assert step.keep_ids is not None
    options = step.options_for(step.keep_ids)
    if is_own_output(step):
        place = place_of(step.keep_ids, "keep_ids", options)
        there = (
            place.all_sizes()
            if isinstance(place, ObjectFolder)
            else place.exists() and any(place.iterdir())
        )
        if not there:
            return None
    return read_table(step.keep_ids, ids, storage_options=options)


def is_own_output(step: Step) -> bool:
    """Whether a step keeps the ids of what is at its output, and is replaced."""
    if step.keep_ids is None or step.output is None:
        return False
    one, other = (
        place_of(path, "keep_ids", step.options_for(path)) for path in (step.keep_ids, step.output)
    )
    return holds(one, other) and holds(other, one)
