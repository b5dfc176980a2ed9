"""What a step on a kept graph begins with: its own earlier result, where that is of an earlier state of the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.objects.object_folder import ObjectFolder
from dask_graphgpu.io.output import about_result
from dask_graphgpu.io.place import Place
from dask_graphgpu.io.tables.read import read_table
from dask_graphgpu.jobs.steps import Step
from dask_graphgpu.store.changes import check_known
from dask_graphgpu.store.manifest import fingerprint
from dask_graphgpu.store.saved import Saved
from dask_graphgpu.store.shape import is_count, misfit
from dask_graphgpu.store.source import inputs_of

# Methods that go on from an earlier result, and the argument that takes it.
_ARGUMENTS = {
    "core_number": "start",
    "label_propagation": "initial",
    "leiden": "initial",
    "louvain": "initial",
    "pagerank": "start",
    "weakly_connected_components": "labels",
}
# Of these methods only with the generation that it is of.
_SINCE = ("core_number", "weakly_connected_components")
_SHAPE = {"began": str, "generation": is_count, "step": str}


@dataclass(frozen=True)
class EarlierResult:
    """Arguments that give a method its earlier result, and what is told: ``since`` when, or why it runs ``in_full``."""

    arguments: Mapping[str, Any]
    told: dict[str, Any]

    @classmethod
    def in_full(cls, why: str) -> EarlierResult:
        return cls({}, {"in_full": why})


def about_step(step: Step, graph: Saved) -> dict[str, Any]:
    """What is kept beside the result of a step on a kept graph: which state of which graph it is of."""
    inputs = inputs_of(graph.source) or {}
    said = {"method": step.algorithm, "arguments": step.arguments, "keep": step.keep}
    return {
        "began": inputs["began"],
        "generation": graph.generation,
        "step": fingerprint(said),
    }


def beginning(
    step: Step, output: Place | None, graph: Saved, names: Mapping[str, str]
) -> EarlierResult | None:
    """What a step begins with; None: its method takes no earlier result, or was given one.

    ``names`` : those in the result of the columns that the method makes.
    """
    argument = _ARGUMENTS.get(step.algorithm)
    given = step.arguments
    if argument is None or output is None or argument in given:
        return None
    if given.keys() & {"thresholds", "max_size"} or given.get("levels"):
        return None
    if isinstance(given.get("resolution"), list):
        return None
    for name in ("keep", "partition_by", "checkpoint"):
        if getattr(step, name):
            return EarlierResult.in_full(f"{name.replace('_', '-')} is given")
    now, before = about_step(step, graph), about_result(output)
    if before is None or misfit(before, _SHAPE, "about") is not None:
        return EarlierResult.in_full("there is no earlier result of this job")
    if before["step"] != now["step"]:
        return EarlierResult.in_full("the earlier result is of other options")
    if before["began"] != now["began"]:
        return EarlierResult.in_full("the earlier result is of a graph that was built anew since")
    since, more = before["generation"], {}
    if step.algorithm in _SINCE:
        more["since"] = since
        try:
            check_known(graph, since)
        except InvalidArgument as error:
            return EarlierResult.in_full(str(error))
    return EarlierResult({argument: _earlier(step, output, names), **more}, {"since": since})


def _earlier(step: Step, output: Place, names: Mapping[str, str]) -> Any:
    """The earlier result, with the names that the method gives its columns."""
    path = output.url if isinstance(output, ObjectFolder) else str(output)
    frame = read_table(path, [], storage_options=step.options_for(path))
    return frame.rename(columns={shown: name for name, shown in names.items() if shown != name})
