"""Options of ``dask graph`` that say what the graph is: its edges, how they are read, what becomes of them."""

from __future__ import annotations

import click

from dask_graphgpu import engine
from dask_graphgpu.graph_options import DUPLICATES, LAYOUTS, ORDERS
from dask_graphgpu.io.tables.table_kind import FORMATS
from dask_graphgpu.io.tables.text_options import TYPES
from dask_graphgpu.jobs.list_option import ListOption
from dask_graphgpu.jobs.method_options import number_or_text
from dask_graphgpu.jobs.storage import storage_parameter
from dask_graphgpu.partition.ranks import owner
from dask_graphgpu.store.saved import STALE


def _column_type(text: str) -> tuple[str, str]:
    """A column of a file of text and the type that it is to have."""
    name, equals, kind = text.rpartition("=")
    if not (name and equals and kind in TYPES):
        raise click.BadParameter(
            f"{text!r}; give a column and one of {', '.join(TYPES)}, such as weight=float."
        )
    return name, kind


def table_options() -> list[click.Parameter]:
    """Parameters that say how a table of edges is read."""
    option = click.Option
    return [
        option(
            ["--format"],
            type=click.Choice(FORMATS),
            help="What the edges are kept as. Default: as the names of files say.",
        ),
        option(
            ["--where"],
            metavar="CONDITION",
            help="Edges that are read, such as \"day >= 2026-11-01 and kind in ('a', 'b')\".",
        ),
        option(
            ["--separator"],
            metavar="CHARACTER",
            help="Between columns of CSV. Default: a comma; a tab in .tsv.",
        ),
        option(
            ["--no-header"],
            is_flag=True,
            help="The first line of CSV is data: columns are called 0, 1 and so on.",
        ),
        option(
            ["--type"],
            type=_column_type,
            multiple=True,
            metavar="COL=TYPE",
            help=f"Type of a column of CSV, one of {', '.join(TYPES)}; may be repeated.",
        ),
    ]


def graph_options() -> list[click.Parameter]:
    """Parameters that say what the graph is."""
    option = click.Option
    return [
        click.Argument(["edges"]),
        *table_options(),
        ListOption(
            ["--columns"],
            metavar="SRC,DST",
            help="Id columns of the source, then of the destination. Default: src,dst, or source,destination.",
        ),
        option(
            ["--weight"], metavar="COL", help="Weight column. Default: weight, if there is one."
        ),
        option(["--unweighted"], is_flag=True, help="Ignore weights."),
        option(
            ["--undirected"],
            is_flag=True,
            help="Edges lead both ways. Default: from source to destination.",
        ),
        option(
            ["--vertices"],
            metavar="PATH",
            help="Table of vertices; those without edges are kept.",
        ),
        option(
            ["--duplicates"],
            type=click.Choice(DUPLICATES),
            default="auto",
            help="How repeated edges are merged into one. Default: auto, which suits the method.",
        ),
        option(
            ["--order"],
            type=click.Choice(ORDERS),
            default="auto",
            help="Order of vertices in memory; changes speed, not the answer. Default: auto.",
        ),
        option(
            ["--engine"],
            type=click.Choice(engine.NAMES),
            default="auto",
            help="What computes. Default: auto, the CPU unless the setting graphgpu.engine names another.",
        ),
        option(
            ["--ranks"],
            type=number_or_text,
            metavar="N",
            help="How many workers of a cluster, or threads, share the graph. Default: auto, one where it fits.",
        ),
        option(
            ["--partitioner"],
            type=click.Choice(tuple(owner.NAMED)),
            help="How vertices are shared among ranks; changes speed, not the answer. Default: balanced.",
        ),
        option(
            ["--layout"],
            type=click.Choice(LAYOUTS),
            help="How edges lie in memory; changes speed, not the answer. Default: rows.",
        ),
        option(
            ["--root"],
            metavar="ID",
            help="Vertex from which layers are counted. Default: the one with the most out-edges.",
        ),
        option(
            ["--npartitions"],
            type=number_or_text,
            metavar="N",
            help="Partitions, and so files, of a result. Default: those of the edges, but none for less than 16 MiB.",
        ),
        option(
            ["--stale"],
            type=click.Choice(STALE),
            help="What to do if the files that a saved graph was built from have changed since. Default: error.",
        ),
        option(["--verify"], is_flag=True, help="Check the checksums of a saved graph first."),
        storage_parameter(),
    ]
