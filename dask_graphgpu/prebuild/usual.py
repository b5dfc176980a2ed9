"""Which kernels the usual methods ask for, over the usual types: ids in 32 bits, and weights that most frames have.

Of one GPU, and of several ranks with a GPU each.

What runs ask for is compared with this by tests/gpu/test_prebuilt.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dask_graphgpu.algorithms import eigenvector_centrality, katz_centrality, pagerank, sswp
from dask_graphgpu.engine.cuda.lower import Lowered
from dask_graphgpu.engine.cuda.outline import Outline, bound, reads_weighted_degree
from dask_graphgpu.engine.known import DISTANCES
from dask_graphgpu.kernels.cuda_build import DeviceFunction
from dask_graphgpu.program import VertexProgram

_ID = np.dtype(np.uint32)
_TYPES = {"ID": "unsigned int", "OFFSET": "unsigned int"}
_RANK = {"RANK": "int64"}
_WEIGHTS = ("uint8", "uint32", "int64", "float", "double")

# Kernel source: the macros that it is read with, beside those of ids and offsets.
_PLAIN: dict[str, list[dict[str, str]]] = {
    "bfs": [{"BLOCKS": "2"}],
    "components": [{**_RANK, "OWN_ALONE": alone} for alone in "01"],
    "hub_triangles": [{"WORDS": "8"}],
    "hits": [{"WEIGHT": weight} for weight in _WEIGHTS],
    "leiden": [{"SUM": total} for total in ("uint32", "uint64")],
    "louvain": [{"SUM": total} for total in ("uint32", "uint64")],
    "predecessors": [
        {"RANK": rank, "DIST": distance, "WEIGHT": weight}
        for rank in ("int64", "uint32")
        for distance, weight in (
            ("int32", "int32"),
            *(("int64", weight) for weight in _WEIGHTS[:3]),
            *(("double", weight) for weight in _WEIGHTS[3:]),
        )
    ],
    "rank_bfs": [{"BLOCKS": "2"}],
    "rank_hits": [{"WEIGHT": weight} for weight in _WEIGHTS],
    "rank_components": [{"VERTEX": "unsigned int"}],
    "rank_labels": [{"VERTEX": "unsigned int"}],
    "ranks": [
        {"VALUE": value}
        for value in ("unsigned char", "unsigned short", "unsigned int", "unsigned long long")
    ],
    "spanning_forest": [{**_RANK, "WEIGHT": weight} for weight in _WEIGHTS],
    "strong_components": [_RANK],
    "triangles": [{"ARCS": arcs} for arcs in "01"],
}  # fmt: skip
_WHOLE, _REAL = ("uint32", "int64"), ("float32", "float64")
_OVER_IDS = (
    "betweenness",
    "betweenness_levels",
    "by_level",
    "induced",
    "jaccard",
    "label_propagation",
    "multi_bfs",
    "path",
    "peeling",
    "similar",
    "trusses",
    "walks",
)
_OF_RANKS = {"CHECKS_AGGREGATES": "0", "CHECKS_JOINED": "1"}
_NEAR_FAR = {"THREADS": "512", "RESIDENT": "2", "PIECE": "512", "STAGE": "1024"}


@dataclass(frozen=True)
class AskedKernel:
    """What `kernels.compile.cuda` is asked for."""

    source: str
    defines: dict[str, str]
    text: str = ""
    functions: list[DeviceFunction] = field(default_factory=list)


def usual() -> Iterator[AskedKernel]:
    """All of them; programs are lowered meanwhile, which takes no GPU and some seconds."""
    for source in ("arrays", "building", "hop_sums"):
        yield AskedKernel(source, {})
    for source in _OVER_IDS:
        yield AskedKernel(source, _TYPES)
    for source, several in _PLAIN.items():
        for macros in several:
            yield AskedKernel(source, {**_TYPES, **macros})
    for weight in (None, *_WHOLE, *_REAL):
        power = {"weighted": weight is not None}
        iterated = (
            pagerank.power_program("float64", personal=False, **power),
            eigenvector_centrality.program(**power),
            katz_centrality.program(**power),
        )
        for program in (*iterated, eigenvector_centrality.program_with_momentum(**power)):
            yield _asked("program", _lowered(program, weight))
        for program in iterated:
            lowered = _lowered(program, weight, ranks=True)
            yield _asked("program", lowered)
            yield _asked("program_ranks", lowered, _OF_RANKS)
    for weight in _WHOLE:
        yield from _in_place(DISTANCES, weight, narrow=True)
        yield from _in_place(sswp.program(sswp.LARGEST), weight)
    for weight in _REAL:
        yield from _in_place(DISTANCES, weight)
        yield from _in_place(sswp.program(float("inf")), weight)


def _in_place(
    program: VertexProgram, weight: str, *, narrow: bool = False
) -> Iterator[AskedKernel]:
    """A program whose values are improved where they stand; ``narrow``, stored in 32 bits."""
    macros = {**_NEAR_FAR, "UNROLL": "4" if narrow else "2"}
    yield _asked("near_far", _lowered(program, weight, narrow=narrow), macros)
    lowered = _lowered(program, weight, narrow=narrow, ranks=True)
    for source in ("near_far", "near_far_ranks"):
        yield _asked(source, lowered, macros)


def _asked(source: str, lowered: Lowered, more: dict[str, str] | None = None) -> AskedKernel:
    given = lowered.sources(source)
    return AskedKernel(
        source, {**given["defines"], **(more or {})}, given["text"], given["functions"]
    )


def _lowered(
    program: VertexProgram, weight: str | None, *, narrow: bool = False, ranks: bool = False
) -> Lowered:
    """A program on graphs with such weights; on ``ranks``, where vertices have numbers besides their places."""
    read: Any = () if weight is None else (("weight", np.dtype(weight)),)
    binding = bound(program, {}, Outline(2, 1, _ID if ranks else None, _ID, _ID, read))
    total = _ID if weight is None else binding.weight_dtype
    return Lowered(
        binding,
        narrow=narrow,
        every=program.combine == "sum" and program.active is None,
        defines=_TYPES,
        degree=_ID,
        weighted_degree=total if reads_weighted_degree(program) else None,
    )
