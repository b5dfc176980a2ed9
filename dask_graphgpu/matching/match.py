"""``dask_graphgpu.match_ids``: ids of groups that stay from one run to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dask.base import is_dask_collection

from dask_graphgpu.errors import briefly
from dask_graphgpu.ingest import chunks_of
from dask_graphgpu.io.arrow_frames import ArrowFrame, settled, taken
from dask_graphgpu.io.frames import check_frame, meta_of, with_columns
from dask_graphgpu.io.partitions import Parts, called
from dask_graphgpu.matching.columns import GroupColumns, find, members_of
from dask_graphgpu.matching.frames import report_frame, with_ids
from dask_graphgpu.matching.lazily import lazily
from dask_graphgpu.matching.renaming import Members, renamed


class Matched(NamedTuple):
    """What `match_ids` gives: ``frame``, the new one with its ids replaced, and ``report``, a row a group."""

    frame: Any
    report: Any


@briefly
def match_ids(
    old: Any,
    new: Any,
    *,
    vertex: str | Sequence[str] | None = None,
    group: str | Sequence[str] | None = None,
) -> Matched:
    """Give groups the ids they had in an earlier result.

    A component or a community has the smallest vertex in it as its id, so one vertex more or less may rename it. After
    this a group that is still there has the id that it had, and the report says what has become of each.

    Parameters
    ----------
    old, new : DataFrame of pandas, Dask, cuDF or polars, table of pyarrow, relation of DuckDB
        Results with a row for each vertex: the earlier one, with the ids that are to stay, and the one of now. They may
        be of different kinds and have different vertices.
    vertex : str or list of str, optional
        The id column(s) of vertices in both. Default: ``vertex``, or of ids of several columns, such as ``country`` and
        ``number``, those that columns of groups are called by, such as ``component_country``.
    group : str or list of str, optional
        The column(s) in both that say which group a vertex is in. Default: ``component``, ``community`` or ``label``.

    Returns
    -------
    frame
        ``new`` with other ids of groups, of the same kind; rows and other columns are as they were. Lazy for a Dask
        frame; of a query one that has been run.
    report
        Of the same kind, a row for each new group, by its id in ``new``, then for each old one whose id no new group
        has, by that id. Of ids of several columns, ``old``, ``new`` and ``id`` are several, such as
        ``old_component_country``.

        ========  ==========================================================================================
        old       the old group that it goes on; if it has an id of its own, the one that most of its vertices
                  come from; null: none
        new       id in ``new``; of an old group that is gone the group that most of its vertices are in; null: none
        id        id in the result of the group ``new``
        change    one word, see below
        size_old  int64: vertices of the group ``old``
        size_new  int64: vertices of the group ``new``
        overlap   int64: vertices that are in both
        ========  ==========================================================================================

        ``change`` is the first of these words that is true:

        - "gone": no new group has the old id; of the rest this is never said
        - "new": none of its vertices was in an old group
        - "merged": it has the most vertices of an old group that is gone
        - "split": another new group has the same ``old``
        - "kept", "grown", "shrunk", "changed": the same vertices as ``old``; more; fewer; some came and others went

    Raises
    ------
    InvalidArgument
        Something is no frame, or the columns cannot be told.
    InvalidVertices
        Ids are null, or neither integers nor text, or not of one type in both frames; a vertex has two rows in a frame;
        no integer is left for an id that a group needs.

    Notes
    -----
    An old id goes to one new group at most, by overlap, the number of vertices in both: of all pairs the one with the
    largest overlap is matched, then of the pairs whose groups are both without a match, and so on. Equal overlaps go by
    the smaller old id, then by the smaller new id. So the answer does not depend on the order of rows, nor on
    partitions. A greedy matching has at least half of the overlap that any has (Avis, "A survey of heuristics for the
    weighted matching problem", Networks 13, 1983). The words of ``change`` follow Palla, Barabási, Vicsek,
    "Quantifying social group evolution", Nature 446, 2007.

    A new group without a match keeps its id in ``new``, unless an old group had that. Then its id is its smallest
    vertex that is no id of an old or new group. If there is none, or groups are not called by vertices, it is its own
    id with the last column changed: numbers become the next one above all ids and the vertices of ``new``, a text ``a``
    becomes ``a:2``, ``a:3`` and so on, the first that is neither. So no id of ``old`` means another group than before.
    An id that is in ``old`` no more, as its group has gone earlier, may come back: keep the reports if that matters.

    Cost: O(V), but for sorts of the vertices in both frames and of the distinct ids of groups; less where vertices are
    in ascending order, as results have them. Computed on the host, of Dask frames in one task; about 130 bytes a vertex
    beside the frames.

    Examples
    --------
    >>> import pandas as pd
    >>> from dask_graphgpu import match_ids
    >>> old = pd.DataFrame({"vertex": [1, 2, 3, 4, 5], "component": [1, 1, 1, 4, 4]})
    >>> new = pd.DataFrame({"vertex": [0, 1, 2, 3, 4, 5], "component": [0, 0, 0, 0, 4, 5]})
    >>> frame, report = match_ids(old, new)
    >>> frame["component"].tolist()
    [1, 1, 1, 1, 4, 5]
    >>> report[["old", "new", "id", "change"]]
       old  new  id change
    0    1    0   1  grown
    1    4    4   4  split
    2    4    5   5  split
    """
    old, new = taken(old), taken(new)
    for name, frame in {"old": old, "new": new}.items():
        check_frame(frame, f"{name} is")
    kind, new = new, settled(new)
    columns = find(meta_of(old), meta_of(new), vertex, group)
    if is_dask_collection(new):
        return Matched(*lazily(old, new, columns))
    found = renamed(_members(old, columns, "old"), _members(new, columns, "new"))
    frame = with_ids(new, found.ids[0], columns)
    report = report_frame(found.report, columns, new)
    if isinstance(kind, ArrowFrame):
        return Matched(kind.back(frame), kind.back(report))
    return Matched(frame, report)


def _members(frame: Any, columns: GroupColumns, what: str) -> list[Members]:
    """The rows of a frame, a partition each."""
    found = chunks_of(with_columns(frame, columns.read), False, members_of, columns, what)
    made: list[Members] = called(list, found).compute() if isinstance(found, Parts) else found
    return made
