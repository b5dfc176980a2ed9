"""The step that updates a saved graph: its options, and the tables of what comes and goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.objects.storage_options import redacted
from dask_graphgpu.io.place import Place
from dask_graphgpu.io.tables.read import read_table
from dask_graphgpu.io.tables.text_options import TextOptions
from dask_graphgpu.jobs.list_option import ListOption
from dask_graphgpu.jobs.steps import GraphOptions, Step
from dask_graphgpu.jobs.storage import options_of
from dask_graphgpu.loading import load
from dask_graphgpu.store.update import Updated

UPDATE = "update"
_FIRST = ("0", "1")  # columns of a file of text that does not name them


def update_options() -> list[click.Parameter]:
    """Parameters that say what is removed, and how the columns of the tables are called."""
    option = click.Option
    return [
        ListOption(
            ["--columns"],
            metavar="SRC,DST",
            help="Id columns of the tables, where they are called otherwise than in the saved graph.",
        ),
        option(["--weight"], metavar="COL", help="Weight column of EDGES, where it is called so."),
        option(
            ["--remove"],
            metavar="EDGES",
            help="Table of edges of which all rows go, before those of EDGES come.",
        ),
        option(
            ["--compact"],
            is_flag=True,
            help="Put all updates into the files of the graph. Default: where it pays.",
        ),
    ]


def update_step(given: Mapping[str, Any], table: tuple[tuple[str, Any], ...]) -> Step:
    """A step of parsed options; ``table`` says how tables are read."""
    names = ("remove", "compact", "weight")
    arguments = {name: given[name] for name in names if given[name]}
    if not (given["edges"] or given["remove"] or given["compact"]):
        raise click.UsageError("There is nothing to do: give EDGES, --remove or --compact.")
    columns = tuple(given["columns"].split(",")) if given["columns"] else ()
    options = options_of(given)
    graph = GraphOptions(given["edges"] or "", columns, table=table, storage_options=options)
    return Step(UPDATE, graph, arguments, output=given["output"])


class UpdateStep:
    """An update whose graph is found and whose tables are open; nothing is read of these.

    Raises
    ------
    GraphError
        There is no such graph, or a table cannot be read or lacks a column.
    """

    def __init__(self, step: Step, place: Place) -> None:
        self._graph, self._step = load(place, stale="ignore"), step
        edges, remove = step.graph.edges, step.arguments.get("remove")
        where = dict(step.graph.table).get("where")
        self._append = self._table(edges, where) if edges else None
        self._remove = self._table(remove, None) if remove else None

    def run(self) -> tuple[Updated | None, Any]:
        """Update, and compact if that was asked for; what was done, and the graph."""
        graph, done = self._graph, None
        if self._append is not None or self._remove is not None:
            graph, done = graph._updated(self._append, self._remove)
        return done, graph.compact() if self._step.arguments.get("compact") else graph

    def _table(self, path: str, where: str | None) -> Any:
        """A table with the names of columns that the saved graph has."""
        step, schema = self._step, self._graph._input.schema
        ids, table = (*schema.source, *schema.destination), dict(step.graph.table)
        given = step.graph.columns or ids
        if len(given) != len(ids):
            raise InvalidArgument(
                f"columns {','.join(given)!r} are {len(given)}, and the ids of the saved graph are {','.join(ids)}: "
                "give as many"
            )
        alike = zip(given[: len(schema.source)], given[len(schema.source) :], strict=True)
        text = TextOptions(
            table.get("separator"),
            table.get("header", True),
            dict(table.get("types", ())),
            (*alike, _FIRST),
        )
        frame = read_table(
            path,
            given,
            form=table.get("format"),
            where=where,
            text=text,
            storage_options=step.options_for(path),
        )
        if not step.graph.columns and {*frame.columns} & {*_FIRST, *ids} == {*_FIRST}:
            given = _FIRST
        named = dict(zip(given, ids, strict=True))
        weight = step.arguments.get("weight")
        if weight and path == step.graph.edges:
            if schema.weight is None:
                raise InvalidArgument(f"weight is {weight!r}, and the saved graph has no weights")
            named[weight] = schema.weight
        for name in named:
            if name not in frame.columns:
                raise InvalidArgument(
                    f"{redacted(path)} has no column {name!r}; it has {[str(c) for c in frame.columns]}: give "
                    "--columns and --weight"
                )
        same = all(old == new for old, new in named.items())
        return frame if same else frame[list(named)].rename(columns=named)
