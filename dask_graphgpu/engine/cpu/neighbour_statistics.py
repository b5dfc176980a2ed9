"""Sums and extremes of values over the neighbours of every vertex: one pass for all columns."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from dask_graphgpu.engine.cpu.edges import passes_over
from dask_graphgpu.engine.neighbour_rows import RESULTS, START, rows_along
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.report import Report


def neighbour_statistics(
    view: AnyView, values: np.ndarray, direction: str, wanted: Sequence[str], report: Report
) -> dict[str, np.ndarray]:
    """Sums and extremes of several columns of values over the neighbours of every vertex.

    Notes
    -----
    A neighbour's values lie side by side, so that all columns cost little more than one where there are many
    vertices. Sums are made in the order of rows, and do not depend on threads. Cost: O(columns * E), one pass over the
    edges of a direction; 8 bytes a vertex, a column and what is wanted.
    """
    n, width = values.shape
    values = np.ascontiguousarray(values)
    view.border.refresh([values])
    found = {
        name: np.full((n if name in wanted else 0, width), START[name], RESULTS[name])
        for name in START
    }
    # A sum that is NaN may also be one of infinities: then nothing is lost but time.
    only_sums = [*wanted] == ["sum"] and not np.isnan(values.sum())
    for rows in rows_along(view, direction):
        begun = time.perf_counter()
        names = ("weight",) if "weight" in rows.columns else ()
        with passes_over(rows, report, columns=names) as passes:
            held = sum(array.nbytes for array in (values, *found.values()))
            passes.require(held, f"values of the neighbours of {n:,} vertices")

            def add(i: int, part: Adjacency, cuts: np.ndarray = passes.cuts) -> None:
                lo, hi = cuts[i : i + 2].tolist()
                weight = np.empty(0) if part.weight is None else part.weight
                blocks = lo + edge_blocks(part.offsets[lo : hi + 1])
                given = part.offsets.view(np.uint64), part.neighbours, weight, values
                if only_sums:
                    for_blocks(kernels.neighbour_statistics.add_rows, blocks, *given, found["sum"])
                else:
                    arrays = (found[name] for name in START)
                    for_blocks(kernels.neighbour_statistics.accumulate, blocks, *given, *arrays)

            passes.each(add)
        edges = rows.num_edges
        report.advance(
            "pull", supersteps=1, frontier=view.num_owned, edges=edges,
            bytes=edges * (rows.neighbours.itemsize + 8 * width) + held,
            seconds=time.perf_counter() - begun,
        )  # fmt: skip
    return {name: found[name] for name in wanted}
