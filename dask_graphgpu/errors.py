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


class ProgramError(GraphError, TypeError):
    """A vertex program does not keep the contract or does not compile."""


class IntegerOverflow(GraphError, OverflowError):
    """An exact integer result does not fit 64 bits: use float weights."""


class NotConverged(GraphError, RuntimeError):
    """The iteration limit came before the tolerance."""


class EngineUnavailable(GraphError, RuntimeError):
    """The engine asked for cannot run on this machine."""


class OutOfDeviceMemory(GraphError, MemoryError):
    """The GPU has too little memory left: free some, or use the CPU engine."""


class UnreadableParquet(GraphError, OSError):
    """A Parquet file cannot be read; the message names it."""


class OutputError(GraphError, OSError):
    """A result could not be written; what was there before is untouched."""


class InvalidSavedGraph(GraphError, ValueError):
    """A folder cannot be loaded as a saved graph: torn, stale, foreign or of a newer version."""
