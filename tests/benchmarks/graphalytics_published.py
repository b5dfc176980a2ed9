"""Published processing times of LDBC Graphalytics on its graph500 graphs, in seconds.

From the raw logs of the competition of 2023, github.com/ldbc/graphalytics-competition-2023-results
(commit c586b7e), the best of three runs. The logs do not state the number of GPUs: it is that of the
instance, Alibaba's ecs.ebmgn7e.32xlarge. LDBC has no SSSP on graph500 graphs: they have no weights.
"""

from __future__ import annotations

from dataclasses import dataclass

COLUMNS = ("BFS", "WCC", "PR", "CDLP", "LCC", "SSSP")


@dataclass(frozen=True)
class Entry:
    """A system and its hardware, and seconds by scale in the order of `COLUMNS`."""

    system: str
    hardware: str
    seconds: dict[int, tuple[float | None, ...]]


PUBLISHED = (
    Entry(
        "libgrape-gpu, 2023",
        "8 x A100",
        {
            22: (0.003, 0.006, 0.011, 0.123, 0.074),
            24: (0.006, 0.015, 0.032, 0.220, 0.373),
            26: (0.020, 0.128, 0.284, 0.588, 1.99),
        },
    ),
    Entry(
        "libgrape-lite, 2023",
        "CPU, r7.16xlarge",
        {24: (0.055, 0.107, 0.464, 0.394, 4.07), 26: (0.136, 0.360, 1.437, 0.878, 12.5)},
    ),
    Entry("GraphBLAS, 2023", "2 x Xeon 8480+", {24: (0.092, 0.159, 0.432, 2.52, 50.0)}),
)
