"""Errors, sorted by what the caller can do about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from typing import ParamSpec, TypeVar

import dask

P = ParamSpec("P")
T = TypeVar("T")


class GraphError(Exception):
    """Base of every error that this package raises on purpose."""


class InvalidEdges(GraphError, ValueError):
    """The edge frame cannot be read as a graph: fix the data or name other columns."""


class InvalidVertices(GraphError, ValueError):
    """The vertices frame does not fit the graph: fix the data or name other columns."""


class InvalidArgument(GraphError, ValueError):
    """An argument is outside what the method allows."""


class UnknownVertex(GraphError, LookupError):
    """A given id is not a vertex of the graph."""


class NoPath(GraphError, LookupError):
    """The target of a path is not reached from its source."""


class ProgramError(GraphError, TypeError):
    """A vertex program does not keep the contract or does not compile."""


class IntegerOverflow(GraphError, OverflowError):
    """An exact integer result does not fit 64 bits: use float weights."""


class NotConverged(GraphError, RuntimeError):
    """The iteration limit came before the tolerance."""


class EngineUnavailable(GraphError, RuntimeError):
    """The engine asked for cannot run on this machine."""


class MissingPackage(GraphError, ImportError):
    """A package that is installed apart is not there; the message says how to install it."""


class OutOfDeviceMemory(GraphError, MemoryError):
    """The GPU, or the host for what is pinned for it, has too little memory left: free some, or use the CPU engine."""


class LimitTooSmall(GraphError, MemoryError):
    """What has to stay in memory needs more than a limit allows; the message says which."""


class SpillError(GraphError, OSError):
    """Pages of a graph cannot be written to or read from disk; the message names file and page."""


class UnreadableTable(GraphError, OSError):
    """A file, folder or table cannot be read; the message names it."""


class UnreadableParquet(UnreadableTable):
    """A Parquet file cannot be read; the message names it."""


class OutputError(GraphError, OSError):
    """A result could not be written; what was there before is untouched, unless the message says what is in place."""


class InvalidSavedGraph(GraphError, ValueError):
    """A folder cannot be loaded as a saved graph, or an array of it not be used: torn, damaged, stale or foreign."""


class RankLost(GraphError, ConnectionError):
    """A rank of a run is gone or silent: its process died, is stopped or cannot be reached.

    Attributes
    ----------
    rank : int or None
        Which one.
    address : str or None
        Where it was, "host:port".
    """

    def __init__(self, message: str, rank: int | None = None, address: str | None = None) -> None:
        super().__init__(message)
        self.rank = rank
        self.address = address


class RanksAborted(GraphError, RuntimeError):
    """A run on several ranks was ended by one of them, or from outside; the message says why.

    Attributes
    ----------
    rank : int or None
        The rank that ended it; None: nobody's, it came from outside.
    """

    def __init__(self, message: str, rank: int | None = None) -> None:
        super().__init__(message)
        self.rank = rank


class InvalidCheckpoint(GraphError, ValueError):
    """A run cannot go on from a checkpoint: torn, damaged, or of another graph or program."""


class ClusterUnavailable(GraphError, ConnectionError):
    """The cluster of a job cannot be reached or started, lacks this package, or has too few workers in time."""


def guess(word: str, names: Iterable[str]) -> str:
    """What may have been meant by a word that is none of some names, as a question; "" where nothing is near."""
    plain, known = word.replace("-", "_").lower(), {name.replace("-", "_"): name for name in names}
    near = [name for plainly, name in known.items() if len(plain) > 3 and plain in plainly]
    near += [known[each] for each in get_close_matches(plain, known, 2) if known[each] not in near]
    return f" Did you mean {' or '.join(near[:3])}?" if near else ""


def briefly(function: Callable[P, T]) -> Callable[P, T]:
    """Have a function raise errors of this package as from itself, without the calls inside that led to them.

    Their messages say what to do; where in the package they arose is of use to its developers, who set
    ``graphgpu.tracebacks`` to "full". Other errors are raised as they are.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True  # for IPython and pytest
        try:
            return function(*args, **kwargs)
        except GraphError as error:
            if dask.config.get("graphgpu.tracebacks", "short") != "short":
                raise
            raise error.with_traceback(None) from _last_of(error.__cause__)

    return call


def _last_of(cause: BaseException | None) -> BaseException | None:
    """What another package, or a user's function, has raised, with the place where it did; None of our own."""
    if cause is None or isinstance(cause, GraphError):
        return None
    place = cause.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    cause.__cause__, cause.__suppress_context__ = None, True
    return cause.with_traceback(place)
