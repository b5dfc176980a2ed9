"""Whether strings repeat little, by a sample."""

from __future__ import annotations

import threading

import numpy as np
import pyarrow as pa

from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.id_table import hashes

_RUNS, _ROWS = 8, 1 << 10  # of edges that are looked at together, and their rows
_LEAST, _ENOUGH = 1 << 12, 1 << 16  # hashes from which there is an answer, and after which it stays
_FEWEST = 1 << 17  # strings for which it matters
_REPEATED = 0.5  # distinct strings of all, where these repeat much


class Repeats:
    """Tells whether the ends of edges repeat little, of edges that several threads bring.

    By how many are distinct in runs of rows, and how many of these stand in one run and in two: from both numbers
    follows how many have not been seen, at least (Chao 1984), and how many of them come with the rest (Chao et al.
    2014). A hub, which stands in many runs, is one string. "Little" is said rather too seldom.
    Cost: hashes of some thousand strings at each look, sorted with those before.

    References
    ----------
    Chao, Nonparametric estimation of the number of classes in a population, Scand. J. Statist. 11, 1984.
    Chao et al., Rarefaction and extrapolation with Hill numbers, Ecological Monographs 84, 2014.

    Parameters
    ----------
    expected
        How many ends there are.
    """

    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._few = expected >= _FEWEST
        self._lock = threading.Lock()
        self._seen = np.empty(0, np.uint64)  # hashes that are distinct in their run
        self._looked_at = 0  # strings

    def are_few(self, source: pa.Array, destination: pa.Array) -> bool:
        """Whether ends repeat little, as far as is known with these; of what is not large strings, False.

        Also of dictionaries, which are hashed once for all of their rows. Where they are hardly shorter than these, to
        write their strings out for the homes made no difference that could be measured: processor seconds of 4.6 to
        5.6 before and 5.0 to 5.8 then, and a sixteenth less where they were read as plain strings (1.5 million pairs
        in row groups of 20,000, two ranks, 2026-11-27).
        """
        if not (pa.types.is_large_string(source.type) and source.type == destination.type):
            return False
        with self._lock:
            if self._few and len(self._seen) < _ENOUGH:
                self._look(source, destination)
            return self._few

    def _look(self, source: pa.Array, destination: pa.Array) -> None:
        size = min(_ROWS, max(len(source) // _RUNS, 1))
        for lo in np.linspace(0, len(source) - size, _RUNS).astype(int).tolist():
            ends = [hashes(each.slice(lo, size)) for each in (source, destination)]
            run = distinct(np.concatenate(ends))
            self._looked_at += 2 * size
            self._seen = np.concatenate([self._seen, run])
        _, times = np.unique(self._seen, return_counts=True)
        once, twice = np.count_nonzero(times == 1), np.count_nonzero(times == 2)
        seen = len(self._seen)
        if seen < _LEAST and self._looked_at < _ENOUGH:
            return  # too little to tell
        if not twice:  # nothing repeats but hubs, or everything does
            self._few = bool(once >= _REPEATED * seen)
            return
        to_come = self._expected * seen / self._looked_at - seen
        unseen = once**2 / (2 * twice)
        different = len(times) + unseen * -np.expm1(
            -to_come * 2 * twice / (seen * once + 2 * twice)
        )
        self._few = bool(different >= _REPEATED * self._expected)
