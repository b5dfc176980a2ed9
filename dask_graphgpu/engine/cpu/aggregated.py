"""The level above one of Louvain or Leiden: a vertex for each community."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import from_edges, offsets_of

# Entries, about, of a piece of a large community, whose rows are added up by one thread.
PIECE = 1 << 14

# Bytes of an entry of the row of a piece, which may be that of a community, too.
OF_ENTRY = 24


@dataclass(frozen=True, eq=False)
class _Unfinished:
    """What there is of a community whose further pieces are not at hand yet."""

    labels: np.ndarray
    sums: np.ndarray
    within: float
    degree: float


def aggregated(level: Any, labels: np.ndarray, count: int) -> Any:
    """A level with a vertex for each of ``count`` labels.

    Notes
    -----
    Which sums are added in which order depends on the level alone. Memory: 8 bytes and a label for each entry at
    hand, and the same for each of the next level.
    """
    n, entries = len(level), int(level.offsets[-1])
    by_label = from_edges(n, labels, np.arange(n, dtype=labels.dtype))
    members, starts = by_label.neighbours, by_label.offsets[: count + 1]
    most = max(PIECE * n // (entries + n), 1)
    first = offsets_of(-(-np.diff(starts) // most))
    pieces = int(first[-1])
    community = np.repeat(np.arange(count, dtype=labels.dtype), np.diff(first))
    cut = members, starts, first, most
    space = np.empty(pieces, np.int64)
    for_blocks(
        kernels.aggregating.entries_of_pieces, edge_blocks(starts), level.offsets, *cut, space
    )
    entries_before, spaces = offsets_of(space), offsets_of(np.minimum(space, count, out=space))
    del space
    begins = np.append(
        starts.take(community) + (np.arange(pieces) - first.take(community)) * most, n
    )
    found = np.empty(pieces, np.int64), np.empty(pieces), np.empty(pieces)
    lengths, loops, degree = np.empty(count, np.int64), np.empty(count), np.empty(count)
    made, left = level.above(count), None
    for lo, hi, part in level.along(members, begins, OF_ENTRY * spaces):
        carried = 0 if left is None else len(left.labels)
        number = carried + int(spaces[hi] - spaces[lo])
        rows = np.empty(number, labels.dtype), np.empty(number)
        here = spaces - (spaces[lo] - carried)
        for_blocks(
            kernels.aggregating.sum_pieces, lo + edge_blocks(entries_before[lo : hi + 1]), *part.edges,
            level.loops, level.degree, labels, *cut, community, here, *rows, *found,
        )  # fmt: skip
        of_pieces, here = [each[lo:hi] for each in found], here[lo : hi + 1]
        place = np.clip(first, lo, hi) - lo
        c, stop = int(community[lo]), int(community[hi - 1]) + 1
        if left is not None:  # it is a piece as well, the first of its community
            rows[0][:carried], rows[1][:carried] = left.labels, left.sums
            before = carried, left.within, left.degree
            of_pieces = [np.append(one, each) for one, each in zip(before, of_pieces, strict=True)]
            here = np.append(0, here)
            place[c + 1 :] += 1
        if len(of_pieces[0]) > stop - c:
            for_blocks(
                kernels.aggregating.join_pieces, c + edge_blocks(here[place[c : stop + 1]]), place, here,
                *rows, *of_pieces, lengths, loops, degree,
            )  # fmt: skip
        else:
            lengths[c:stop], loops[c:stop], degree[c:stop] = of_pieces
        left = None
        if hi < first[stop]:
            stop -= 1
            begin = int(here[place[stop]])
            kept = slice(begin, begin + int(lengths[stop]))
            left = _Unfinished(
                rows[0][kept].copy(), rows[1][kept].copy(), loops[stop], degree[stop]
            )
        offsets = np.zeros(count + 1, np.int64)
        offsets[c : stop + 1] = offsets_of(lengths[c:stop])
        neighbours, weight = np.empty(offsets[stop], labels.dtype), np.empty(offsets[stop])
        for_blocks(
            kernels.aggregating.compact, c + edge_blocks(offsets[c : stop + 1]), place, here, *rows,
            offsets, neighbours, weight,
        )  # fmt: skip
        made.append(c, offsets[c : stop + 1].copy(), neighbours, weight)
        del rows, here, offsets, neighbours, weight  # before there are those of the next pieces
    return made.level(loops, degree)
