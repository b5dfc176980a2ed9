"""Old and new groups as numbers: how many vertices they share, which belong together, what has changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.order import falling_degree

CHANGES = ("kept", "grown", "shrunk", "changed", "merged", "split", "new", "gone")
_KEPT, _GROWN, _SHRUNK, _CHANGED, _MERGED, _SPLIT, _NEW, _GONE = range(len(CHANGES))
NONE = -1  # in place of a group


@dataclass(frozen=True, eq=False)
class Overlaps:
    """Pairs of an old and a new group that share vertices, the largest overlap first, ties by old and then new group.

    ``old``, ``new`` and ``count`` : int64, of one length.
    """

    old: np.ndarray
    new: np.ndarray
    count: np.ndarray

    @classmethod
    def of(
        cls,
        of_vertex: tuple[np.ndarray, np.ndarray],
        of_group: tuple[np.ndarray, np.ndarray],
        vertices: int,
        groups: int,
    ) -> Overlaps:
        """Of the numbers of vertices and of their groups in old rows and in new, below ``vertices`` and ``groups``.

        Cost: a look at each vertex, a sort of those that both have and one of the pairs.
        """
        group_of = np.full(vertices, NONE, np.int64)
        group_of[of_vertex[0]] = of_group[0]
        pairs = group_of.take(of_vertex[1])
        known = pairs >= 0
        pairs = pairs[known] * groups + of_group[1][known]
        pairs.sort()
        starts = np.flatnonzero(np.diff(pairs, prepend=NONE))
        count = np.diff(starts, append=len(pairs))
        place = falling_degree(count, np.int64)
        made = np.empty((3, len(count)), np.int64)
        made[:, place] = *np.divmod(pairs[starts], groups), count
        return cls(*made)


@dataclass(frozen=True, eq=False)
class Fates:
    """What has become of groups, those of ``new`` first: int64 arrays with an item a group.

    Attributes
    ----------
    old
        Of a new group the old one that it goes on, or else comes from; of a group that is gone itself. Or `NONE`.
    new
        Of a group that is gone the new one that has most of its vertices; of a new group itself. Or `NONE`.
    overlap
        Vertices that both have.
    change
        Index into `CHANGES`.
    matched
        Whether the new group goes on the old one.
    """

    old: np.ndarray
    new: np.ndarray
    overlap: np.ndarray
    change: np.ndarray
    matched: np.ndarray


def fates(overlaps: Overlaps, old_sizes: np.ndarray, new_sizes: np.ndarray) -> Fates:
    """Pair off groups, by the largest overlap first, and say what has become of all.

    ``old_sizes`` and ``new_sizes`` : vertices of each group, 0 of those that are on the other side only.
    """
    groups = len(old_sizes)
    new_of, old_of = np.full((2, groups), NONE, np.int64)
    taken = np.zeros(len(overlaps.old), bool)
    kernels.matching.take_in_turn(
        np.arange(len(taken)), overlaps.old, overlaps.new, *np.zeros((2, groups), bool), taken
    )
    new_of[overlaps.old[taken]] = overlaps.new[taken]
    old_of[overlaps.new[taken]] = overlaps.old[taken]
    matched = old_of >= 0
    new = np.flatnonzero(new_sizes)
    gone = np.flatnonzero((old_sizes > 0) & (new_of < 0))
    into, left = _first(overlaps.old, overlaps.new, overlaps.count, groups)
    source, brought = _first(overlaps.new, overlaps.old, overlaps.count, groups)
    own = matched[overlaps.new] & (old_of[overlaps.new] == overlaps.old)
    brought[overlaps.new[own]] = overlaps.count[own]
    source = np.where(matched, old_of, source)
    return Fates(
        old=np.concatenate([source[new], gone]),
        new=np.concatenate([new, into[gone]]),
        overlap=np.concatenate([brought[new], left[gone]]),
        change=np.concatenate(
            [
                _changes(new, source, brought, into[gone], old_sizes, new_sizes),
                np.full(len(gone), _GONE),
            ]
        ),
        matched=np.concatenate([matched[new], np.zeros(len(gone), bool)]),
    )


def _changes(
    new: np.ndarray,
    source: np.ndarray,
    overlap: np.ndarray,
    swallowed: np.ndarray,
    old_sizes: np.ndarray,
    new_sizes: np.ndarray,
) -> np.ndarray:
    """What has become of new groups, ``swallowed`` being those that have most of a group that is gone."""
    from_old, came, now = source[new], overlap[new], new_sizes[new]
    is_new = from_old < 0
    before = old_sizes[from_old]  # of no group any, which is not looked at
    pieces = np.bincount(from_old[~is_new], minlength=len(source))[from_old] > 1
    swallows = np.bincount(swallowed[swallowed >= 0], minlength=len(source))[new] > 0
    return np.select(
        [
            is_new,
            swallows,
            pieces,
            (came == before) & (came == now),
            came == before,
            came == now,
        ],
        [_NEW, _MERGED, _SPLIT, _KEPT, _GROWN, _SHRUNK],
        _CHANGED,
    )


def _first(
    groups: np.ndarray, others: np.ndarray, count: np.ndarray, number: int
) -> tuple[np.ndarray, np.ndarray]:
    """The other group of the first pair of each group, and its overlap; `NONE` and 0 where it is in no pair."""
    other, overlap = np.full(number, NONE, np.int64), np.zeros(number, np.int64)
    backwards = slice(None, None, -1)  # the last that is written stays
    other[groups[backwards]] = others[backwards]
    overlap[groups[backwards]] = count[backwards]
    return other, overlap
