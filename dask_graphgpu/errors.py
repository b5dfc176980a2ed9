"""Errors, sorted by what the caller can do about them."""


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
