"""The saved graph that a job keeps of its edges: files that are new are appended, anything else builds it anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from dask_graphgpu.errors import InvalidArgument, InvalidEdges, InvalidSavedGraph
from dask_graphgpu.io.objects.object_folder import ObjectFolder, is_object
from dask_graphgpu.io.objects.storage_options import redacted
from dask_graphgpu.io.place import Place
from dask_graphgpu.io.schema import EdgeSchema, is_integer
from dask_graphgpu.io.tables.read import files_of
from dask_graphgpu.io.tables.table_files import expanded
from dask_graphgpu.jobs.journal import Journal
from dask_graphgpu.jobs.step_graph import StepGraph, graph_of, read_edges
from dask_graphgpu.jobs.steps import GraphOptions
from dask_graphgpu.loading import load
from dask_graphgpu.store import saved
from dask_graphgpu.store.manifest import fingerprint
from dask_graphgpu.store.saved import Replaced, Saved
from dask_graphgpu.store.saved_format import schema_to_json
from dask_graphgpu.store.shape import Each, misfit
from dask_graphgpu.store.source import inputs_of

_RUNNING = (
    "engine",
    "ranks",
    "partitioner",
    "npartitions",
)  # options that say nothing of what is saved
_LISTED = ("delta", "iceberg")  # tables in which files take the place of others
_SHAPE = {"began": str, "options": str, "vertices": Each(str), "files": Each(str)}


@dataclass(frozen=True)
class _Inputs:
    """What a graph is made of: files and their states, by path, and options; ``form`` of the edges."""

    form: str
    files: dict[str, str]
    vertices: dict[str, str]
    options: str

    @classmethod
    def of(cls, options: GraphOptions) -> _Inputs:
        """What is there now."""
        form, files = _states(options, options.edges, dict(options.table).get("format"))
        vertices = {} if options.vertices is None else _states(options, options.vertices)[1]
        said = {
            "edges": _place(options.edges),
            "columns": options.columns,
            "vertices": options.vertices and _place(options.vertices),
            "graph": {name: value for name, value in options.others if name not in _RUNNING},
            "table": dict(options.table),
        }
        return cls(form, files, vertices, fingerprint(said))

    def as_json(self, began: str) -> dict[str, Any]:
        """What is written into the saved graph; ``began`` tells graphs apart that were built anew."""
        named = {"vertices": self.vertices, "files": self.files}
        return {"began": began, "options": self.options, **named}

    def differ(self, before: Mapping[str, Any]) -> str | None:
        """What keeps a graph of what was there ``before`` from being taken further; None: nothing does."""
        if before["options"] != self.options:
            return "it is of other edges, columns or options"
        if before["vertices"] != self.vertices:
            return "the vertices have changed"
        for path, state in before["files"].items():
            if path not in self.files:
                return f"{redacted(path)} is gone"
            if self.files[path] != state:
                return f"{redacted(path)} was written again"
        if self.form in _LISTED and len(self.files) > len(before["files"]):
            return f"the {self.form} table has changed, whose new files may stand for old ones"
        return None


def _states(
    options: GraphOptions, path: str, form: str | None = None
) -> tuple[str, dict[str, str]]:
    kind, files = files_of(path, form, options.options_for(path))
    return kind, {file.path: f"{file.size} {file.stamp}" for file in files}


def _place(path: str) -> str:
    return redacted(path) if is_object(path) else str(Path(expanded(path)).absolute())


def check_kept(options: GraphOptions) -> None:
    """Raise InvalidArgument where no saved graph can be kept."""
    ranks = dict(options.others).get("ranks", 1)
    if options.kept is not None and ranks not in (1, "auto"):
        raise InvalidArgument(
            f"ranks is {ranks!r} and saved keeps a saved graph, which is on one rank: leave one of them out"
        )


def brought_up(options: GraphOptions, place: Place, journal: Journal) -> StepGraph:
    """The saved graph of the edges that options describe, brought up to date; tells what was done.

    Raises
    ------
    GraphError
        The edges cannot be read, or the graph cannot be written.
    """
    now = _Inputs.of(options)
    whole = graph_of(options, now.files)
    # Without what a writer has found there, which is the first one's to know.
    here = replace(place, began=None) if isinstance(place, ObjectFolder) else Path(place)
    found, why = _earlier(here, now, whole.handle._input.schema)
    told: dict[str, Any] = {"path": redacted(options.kept or "")}
    if found is not None:
        before = inputs_of(found.source) or {}
        new = now.files.keys() - before["files"].keys()
        told |= {"how": "appended" if new else "unchanged", "files": len(new)}
        try:
            if new:
                text_ids = not all(map(is_integer, found.schema.ids))
                rows = read_edges(options, new, text_ids=text_ids)
                inputs = now.as_json(before["began"])
                told["rows"] = load(here, stale="ignore")._updated(rows, None, inputs)[1].appended
        except Replaced:
            raise
        except (InvalidArgument, InvalidEdges, InvalidSavedGraph) as error:
            why = str(error)
    if why is not None:
        whole.handle._save(place, (), inputs=now.as_json(uuid4().hex))
        told |= {"how": "built", "files": len(now.files), "why": why}
    others = dict(options.others)
    how = {name: others[name] for name in ("engine", "npartitions") if name in others}
    graph = load(here, stale="ignore", **how)
    held = graph._saved("load")
    journal.tell(
        "graph", **told, edges=held.rows, vertices=held.vertices, generation=held.generation
    )
    return StepGraph(graph, graph._input.schema)


def _earlier(place: Place, now: _Inputs, schema: EdgeSchema) -> tuple[Saved | None, str | None]:
    """The graph that can be taken further; None, and why not."""
    if not (place.exists() if isinstance(place, Path) else place.all_sizes()):
        return None, "there is none yet"
    try:
        found = saved.read(place, stale="ignore")
    except InvalidSavedGraph as error:
        return None, str(error)
    before = inputs_of(found.source)
    if misfit(before, _SHAPE, "inputs") is not None:
        return None, "no job has kept it up to date before"
    assert before is not None
    why = now.differ(before)
    if why is None and schema_to_json(schema, ()) != schema_to_json(found.schema, ()):
        why = "the columns of the edges, or their types, have changed"
    return (None, why) if why is not None else (found, None)
