"""What several GPUs add to the kernels of one compiles, for architectures by turns; no GPU is needed."""

import itertools

import numpy as np
import pytest
from cuda_cases import ARCHITECTURES, WIDTHS, by_turns, compiles, lowered

pytest.importorskip("numba_cuda", reason="the compilers of the GPU engine are not installed")

from rank_programs import CASES

NAMES = tuple(WIDTHS.values())


def types(number):
    """All widths for the first architecture, for the others the widest and the narrowest."""
    same = zip(by_turns(number), NAMES[::-1], NAMES[::-1], strict=True)
    return [*itertools.product(ARCHITECTURES[:1], NAMES, NAMES), *same]


# Of near_far.cuh; the engine's are in engine/gpu/near_far.py, which needs CuPy.
MACROS = {"THREADS": "512", "RESIDENT": "2", "UNROLL": "2", "PIECE": "512", "STAGE": "1024"}


def sources(program):
    return ["program_ranks", *(["near_far_ranks"] if program.in_place else [])]


@pytest.mark.parametrize(
    ("architecture", "name"),
    [
        (arch, name)
        for i, name in enumerate(CASES)
        for arch in (ARCHITECTURES[0], *by_turns(i) * ("sssp" in name))
    ],
    indirect=["architecture"],
)
def test_compiles(architecture, name):
    case = CASES[name]
    made = lowered(case.program, case.weight, np.uint32, np.uint32, ranks=True)
    for source in sources(case.program):
        given = made.sources(source)
        defines = {**given.pop("defines"), **MACROS, "CHECKS_JOINED": "1"}
        compiles(source, architecture, defines=defines, **given)


@pytest.mark.parametrize("architecture", ARCHITECTURES[:1], indirect=True)
@pytest.mark.parametrize("ids", WIDTHS.values(), ids=str)
@pytest.mark.parametrize("value", ["unsigned char", "unsigned short", "unsigned long long"])
def test_packing_compiles(architecture, ids, value):
    defines = {"ID": ids, "OFFSET": ids, "VALUE": value}
    compiles("ranks", architecture, defines=defines)


@pytest.mark.parametrize(("architecture", "vertex", "number"), types(0), indirect=["architecture"])
def test_components_compile(architecture, vertex, number):
    defines = {"ID": number, "OFFSET": number, "VERTEX": vertex}
    for source in ("rank_components", "rank_labels"):
        compiles(source, architecture, defines=defines)


@pytest.mark.parametrize(("architecture", "ids", "offsets"), types(1), indirect=["architecture"])
def test_searches_compile(architecture, ids, offsets):
    defines = {"ID": ids, "OFFSET": offsets, "BLOCKS": "2"}
    compiles("rank_bfs", architecture, defines=defines)


@pytest.mark.parametrize(("architecture", "ids", "offsets"), types(2), indirect=["architecture"])
def test_orders_by_level_compile(architecture, ids, offsets):
    defines = {"ID": ids, "OFFSET": offsets}
    compiles("by_level", architecture, defines=defines)
