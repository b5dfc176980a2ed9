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

    By how many are distinct in runs of rows, and by how many runs share: were all drawn from d strings, two of them
    are the same once in d times. What comes frequently counts more, so that "little" is said rather too seldom.
    Cost: hashes of some thousand strings at each look, sorted with those before.

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
        self._looked_at, self._pairs = 0, 0.0  # strings, and pairs of hashes of two runs

    def are_few(self, source: pa.Array, destination: pa.Array) -> bool:
        """Whether ends repeat little, as far as is known with these; of what is not large strings, False."""
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
            self._pairs += float(len(run)) * len(self._seen)
            self._seen = np.concatenate([self._seen, run])
        _, times = np.unique(self._seen, return_counts=True)
        same = float((times * (times - 1) // 2).sum())
        if not same or len(self._seen) < _LEAST:
            return  # nothing that repeats was seen, or too little to tell
        drawn = self._expected * len(self._seen) / self._looked_at
        strings = self._pairs / same
        different = strings * -np.expm1(-drawn / strings)
        self._few = bool(different >= _REPEATED * self._expected)
