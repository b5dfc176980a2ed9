"""What NetworkX reads of its backends when it is imported.

Installed as ``_dask_graphgpu_networkx``: as a part of the package it would have Dask and pandas
imported with every ``import networkx``.
"""

from typing import Any

from _dask_graphgpu_networkx.functions import FUNCTIONS


def get_info() -> dict[str, Any]:
    """Name, address and functions of the backend."""
    return {
        "backend_name": "graphgpu",
        "project": "dask_graphgpu",
        "package": "dask_graphgpu",
        "short_summary": "Graph analytics on the threads of a CPU, on GPUs and on clusters",
        "functions": {name: {} for name in FUNCTIONS},
    }
