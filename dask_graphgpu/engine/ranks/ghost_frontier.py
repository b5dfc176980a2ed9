"""Which own vertices have gone, for the ranks that have them as ghosts: cheap where they are few."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition import csr
from dask_graphgpu.partition.ranks.view import RankView


class News:
    """What a rank tells of its border by lists alone; `Border.refresh` goes over the whole border.

    Attributes
    ----------
    shared : bool, shape (num_owned,)
        Whether an own vertex is a ghost elsewhere; others need not be told.
    """

    def __init__(self, view: RankView) -> None:
        self._ranks, self._ghosts = view.ranks, view.border.ghosts
        sends, kind = view.border.sends, view.border.sends[0].dtype
        self.shared = np.zeros(view.num_owned, np.bool_)
        self.shared[view.shared.astype(np.intp)] = True
        # Of each own vertex, who has it as a ghost, and where.
        peers = np.repeat(np.arange(len(sends), dtype=np.uint16), [len(each) for each in sends])
        places = np.concatenate([np.arange(len(each), dtype=kind) for each in sends])
        self._holders = csr.from_edges(
            view.num_owned, np.concatenate(sends), places, {"peer": peers}
        )

    def tell(self, vertices: np.ndarray, scalars: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Name some own vertices where they are ghosts; collective, one step.

        Returns
        -------
        ids
            The ghosts here that others have named.
        scalars : shape (size, k)
            Every rank's.
        """
        holders = self._holders
        lengths = np.empty(self._ranks.size, np.int64)
        peers = holders.columns["peer"]
        kernels.rank_peeling.count_peers(vertices, holders.offsets, peers, lengths)
        ends = np.cumsum(lengths)
        out = np.empty(int(ends[-1]), holders.neighbours.dtype)
        kernels.rank_peeling.address(
            vertices, holders.offsets, holders.neighbours, peers, ends - lengths, out
        )
        send = [out[a:b] if a < b else None for a, b in pairwise([0, *ends.tolist()])]
        received, every = self._ranks.step(send, scalars)
        parts = [
            each.view(out.dtype) + out.dtype.type(first)
            for each, first in zip(received, self._ghosts.tolist(), strict=False)
            if len(each)
        ]
        return np.concatenate(parts) if parts else out[:0], every
