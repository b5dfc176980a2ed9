"""What all functions of the backend have in common."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar, cast

from _dask_graphgpu_networkx.rules import arguments, no_edges, weight_of
from dask_graphgpu.errors import EngineUnavailable, IntegerOverflow, InvalidEdges, LimitTooSmall

_Function = TypeVar("_Function", bound=Callable[..., Any])

FUNCTIONS: dict[str, Callable[..., Any]] = {}

# How often each function was called here.
calls: Counter[str] = Counter()

# What NetworkX may be able to do: it has other integers and floats, and no limits of memory.
_DECLINED = IntegerOverflow, InvalidEdges, EngineUnavailable, LimitTooSmall


def offered(function: _Function) -> _Function:
    """Offer a function to NetworkX, under its own name."""
    name = function.__name__

    @functools.wraps(function)
    def counted(*args: Any, **kwargs: Any) -> Any:
        calls[name] += 1
        given = arguments(name, args, kwargs)
        if (weight := weight_of(name, given)) is not None:
            given["G"].read_again(weight)
        if reason := no_edges(name, given["G"], given):
            raise NotImplementedError(reason)  # has NetworkX do it
        try:
            return function(*args, **kwargs)
        except _DECLINED as error:
            raise NotImplementedError(str(error)) from error

    FUNCTIONS[name] = counted
    return cast(_Function, counted)
