"""Graph analytics as dataframe methods: ``ddf.graph.sssp(source)``."""

# First: distributed's defaults are lost when it is first imported inside dask.config.set, as
# dask.dataframe does while reading Parquet.
import distributed  # noqa: F401  isort: skip

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dask_graphgpu import errors, forking  # noqa: F401  (which is told of forks)
from dask_graphgpu.accessor import graph, register
from dask_graphgpu.checkpoint import Checkpoint
from dask_graphgpu.drawing import draw
from dask_graphgpu.fields import Field, Max, Min, Sum
from dask_graphgpu.graphs import Graph
from dask_graphgpu.loading import load
from dask_graphgpu.matching import match_ids
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.progress import ProgressBar
from dask_graphgpu.report import last_report
from dask_graphgpu.report_drawing import plot_report

if TYPE_CHECKING:
    from dask_graphgpu.jobs.job import run_job

__version__ = "0.1.0"

__all__ = [
    "Checkpoint",
    "Field",
    "Graph",
    "Max",
    "Min",
    "ProgressBar",
    "Sum",
    "VertexProgram",
    "__version__",
    "draw",
    "errors",
    "graph",
    "last_report",
    "load",
    "match_ids",
    "plot_report",
    "run_job",
]

register()


def __getattr__(name: str) -> Any:
    """What few need, which the import of this package does not wait for."""
    if name != "run_job":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("dask_graphgpu.jobs.job").run_job


def __dir__() -> list[str]:
    """What is public, for completion and `help`."""
    return list(__all__)
