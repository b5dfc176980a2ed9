"""What a run did: one row for each time the engine advanced."""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from dask_graphgpu.errors import GraphError

if TYPE_CHECKING:
    import pandas as pd

_last: Report | None = None
_lock = threading.Lock()


@dataclass(frozen=True)
class Advance:
    """Any number of supersteps between two looks of the loop at the frontier."""

    direction: str
    supersteps: int
    frontier: int
    edges: int
    bytes: int
    seconds: float


@dataclass
class Report:
    """The advances of one run, in order."""

    algorithm: str
    advances: list[Advance] = field(default_factory=list)

    def advance(
        self,
        direction: str,
        *,
        supersteps: int,
        frontier: int,
        edges: int,
        bytes: int,  # noqa: A002  named as the report's column
        seconds: float,
    ) -> None:
        """Note one advance.

        ``bytes`` is modelled: what the arrays that were touched imply (bytes an edge times edges,
        plus state times vertices), not what a counter of the machine saw.
        """
        self.advances.append(Advance(direction, supersteps, frontier, edges, bytes, seconds))

    def to_frame(self) -> pd.DataFrame:
        """One row an advance; ``superstep`` is the number of the first superstep in it."""
        import pandas as pd

        names = ["direction", "supersteps", "frontier", "edges", "bytes", "seconds"]
        frame = pd.DataFrame([asdict(a) for a in self.advances], columns=names)
        first = frame["supersteps"].cumsum() - frame["supersteps"] + 1
        frame.insert(0, "superstep", first.astype("int64"))
        frame.attrs["algorithm"] = self.algorithm
        return frame

    def publish(self) -> None:
        """Make this the report that `last_report` gives."""
        global _last
        with _lock:
            _last = self


def last_report() -> pd.DataFrame:
    """The report of the graph method that finished last in this process.

    Returns
    -------
    pandas.DataFrame
        One row for each time the engine advanced: ``superstep`` (number of the first one in it),
        ``direction``, ``supersteps`` (how many it ran before it came back), ``frontier`` (active
        vertices at its start), ``edges`` read, ``bytes`` moved (modelled from the arrays touched)
        and ``seconds``. ``attrs["algorithm"]`` names the method.

    Raises
    ------
    GraphError
        No graph method has finished in this process: a lazy result that was not computed yet, or
        one that was computed by a worker in another process.
    """
    with _lock:
        if _last is None:
            raise GraphError(
                "no graph method has finished in this process yet: compute a result first "
                "(runs on workers in other processes keep their report there)"
            )
        return _last.to_frame()
