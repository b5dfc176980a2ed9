"""Shorter ways of the contract, for engines that have none: each gives None, and the caller goes the usual way.

An engine imports `of_engine` as its ``__getattr__``: which ways it has not is written nowhere.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any


def run_each(program: Any, view: Any, sources: Any, options: Any) -> None:
    """As of `contract.Engine`."""


def multi_bfs(view: Any, sources: Any, *, cutoff: Any, targets: Any, report: Any) -> None:
    """As of `contract.Engine`."""


def hop_sums(view: Any, sources: Any, *, report: Any) -> None:
    """As of `contract.Engine`."""


def two_sided_path(view: Any, source: Any, target: Any, *, hops: Any, report: Any) -> None:
    """As of `contract.Engine`."""


def pagerank(
    view: Any,
    personal: Any,
    start: Any,
    dtype: Any,
    *,
    damping: Any,
    tolerance: Any,
    max_iterations: Any,
    report: Any,
) -> None:
    """As of `contract.Engine`."""


def small_ego(view: Any, center: Any, radius: Any, report: Any) -> None:
    """As of `contract.Engine`."""


def first_free_colors(view: Any, priority: Any, report: Any) -> None:
    """As of `contract.Engine`."""


def neighbour_statistics(view: Any, values: Any, direction: Any, wanted: Any, report: Any) -> None:
    """As of `contract.Engine`."""


_ALL = {name: each for name, each in globals().items() if isinstance(each, FunctionType)}


def of_engine(name: str) -> Any:
    """The shorter way of a name that an engine has not."""
    if name not in _ALL:
        raise AttributeError(f"no engine's shorter way is called {name!r}")
    return _ALL[name]
