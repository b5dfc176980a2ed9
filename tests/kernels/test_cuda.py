"""Every CUDA source compiles, for the first architecture and others by turns; none of this needs a GPU."""

import itertools
from pathlib import Path

import pytest
from cuda_cases import ARCHITECTURES, WIDTHS, by_turns, compiles

import dask_graphgpu.kernels
from dask_graphgpu import config
from dask_graphgpu.errors import GraphError

pytest.importorskip("numba_cuda", reason="the compilers of the GPU engine are not installed")

from dask_graphgpu.kernels import cache_folder, cuda_build
from dask_graphgpu.kernels.compile import cuda_cubin

NAMES = list(WIDTHS.values())
IDS = [{"ID": id_type, "OFFSET": offset} for id_type, offset in itertools.product(NAMES, NAMES)]


def paired(*more):
    """Macros with ids and offsets: each with either width of both, and all widths together."""
    return [
        ids | given for i, given in enumerate(more) for ids in (IDS[1:3] if i % 2 else IDS[::3])
    ]


SUMS = [{**ids, "SUM": total} for ids, total in zip(IDS, ("uint32", "uint64") * 2, strict=True)]

# Types of a search and of its weights.
PATHS = [
    {**ids, "RANK": "int64", "DIST": distance, "WEIGHT": weight}
    for ids, (distance, weight) in zip(
        IDS,
        [("int32", "int32"), ("int64", "uint8"), ("float", "float"), ("double", "float")],
        strict=True,
    )
]
# Of edges with weights in words: 24 bits of an end, 6 of a weight less 1.
WORDS = {
    "PACKED": "24",
    "WORD": "uint32",
    "WEIGHT": "float",
    "WEIGHT_IN(word)": "(float)(int64)(((uint64)word >> 24 & 63ull) + 1ull)",
}

# Types of weights, or of none.
WEIGHTED = [
    {**ids, "WEIGHT": weight}
    for ids, weight in zip(IDS, ("uint8", "int64", "float", "double"), strict=True)
]

# What sources are written over but ids and offsets, as lists of macros from the narrowest to the widest.
MORE = {
    "bfs": [{**ids, "BLOCKS": "2"} for ids in IDS],
    "arrays": [{}],
    "building": [{}],
    "path_counts": paired({"COUNT": "int64"}, {"COUNT": "double"}),
    **dict.fromkeys(("hits", "rank_hits", "neighbour_statistics"), WEIGHTED),
    "nearest": [
        {**ids, "WEIGHT": weight, "DISTANCE": distance}
        for ids, weight, distance in zip(
            IDS,
            ("uint8", "int64", "float", "double"),
            ("int64", "int64", "double", "double"),
            strict=True,
        )
    ],
    "leiden": SUMS,
    "louvain": SUMS,
    "peeling": paired({}, {"TIERED": "1"}),
    "betweenness": paired(
        {}, {"WEIGHT": "uint8", "DIST": "int64"}, {"WEIGHT": "float", "DIST": "double"}
    ),
    "spanning_forest": [
        {**ids, "RANK": "int64", "WEIGHT": weight}
        for ids, weight in zip(IDS, ("uint8", "int64", "float", "double"), strict=True)
    ],
    "strong_components": [{**ids, "RANK": "int64"} for ids in IDS],
    "hub_triangles": [{**ids, "WORDS": "8"} for ids in IDS],
    "triangles": paired({"ARCS": "0"}, {"ARCS": "1"}),
    "components": paired(*({"RANK": "int64", "OWN_ALONE": alone} for alone in "01")),
    "tier_components": [{**ids, "RANK": "int64"} for ids in IDS],
    "tier_forest": [
        {**ids, "RANK": "int64", "WEIGHT": weight}
        for ids, weight in zip(IDS, ("uint8", "int64", "float", "double"), strict=True)
    ]
    + [{**IDS[0], "RANK": "int64", **WORDS}],
    "tier_hits": [
        {**ids, "WEIGHT": weight}
        for ids, weight in zip(IDS, ("uint8", "int64", "float", "double"), strict=True)
    ]
    + [{**IDS[0], **WORDS}],
    "tier_path_counts": paired({"COUNT": "int64"}, {"COUNT": "double"}),
    **dict.fromkeys(("predecessors", "tier_predecessors"), PATHS),
}
# Those have their own tests.
GENERATED = {"layers", "near_far", "program", "program_blocked", "program_fused"}
OF_RANKS = {
    "by_level",
    "near_far_ranks",
    "program_ranks",
    "rank_bfs",
    "rank_components",
    "rank_labels",
    "ranks",
}  # test_ranks_cuda.py

FOLDER = Path(dask_graphgpu.kernels.__file__).parent / "cuda"
SOURCES = {path.stem for path in FOLDER.glob("*.cu")}
GIVEN = {source: MORE.get(source, IDS) for source in sorted(SOURCES - GENERATED - OF_RANKS)}


def test_no_source_is_named_that_is_not_there():
    assert SOURCES >= MORE.keys() | GENERATED | OF_RANKS


@pytest.mark.parametrize(
    ("source", "arch", "defines"),
    [
        pytest.param(source, arch, given[i], id=f"{source}-{arch}-{i}")
        for number, (source, given) in enumerate(GIVEN.items())
        for arch, i in [
            *((ARCHITECTURES[0], i) for i in range(len(given))),
            *zip(by_turns(number), (-1, 0), strict=True),
        ]
    ],
)
def test_compiles(source, arch, defines):
    first = arch == ARCHITECTURES[0] and defines == GIVEN[source][0]
    compiles(source, arch, optimised=first, defines=defines)


@pytest.fixture
def empty_cache(tmp_path):
    import dask

    with dask.config.set({"graphgpu.cache-directory": str(tmp_path)}):
        assert config.get("cache-directory") == str(tmp_path)
        yield tmp_path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    folder = tmp_path / "sources"
    folder.mkdir()
    monkeypatch.setattr(cuda_build, "FOLDER", folder)
    (folder / "head.cuh").write_text("#define TWO 2\n")
    (folder / "twice.cu").write_text(
        '#include "head.cuh"\n#include "head.cuh"\n'
        'extern "C" __global__ void twice(T *x) { x[threadIdx.x] *= TWO; }\n'
    )
    return folder


def test_a_cubin_is_kept_under_a_key_of_every_byte(empty_cache, folder, monkeypatch):
    def build(**given):
        given = {"defines": {"T": "int"}, "text": "", "functions": ()} | given
        return cuda_build.cubin("twice", "sm_90", **given)

    code = build()
    assert build() == code
    build(text="// other\n")
    build(defines={"T": "float"})
    (folder / "head.cuh").write_text("#define TWO (1 + 1)\n")
    build()
    assert len(list(empty_cache.glob("dask_graphgpu_cuda_*/cubin"))) == 4
    names = [version.split()[0] for version in cuda_build.versions()]
    assert names == ["nvrtc", "nvjitlink", "numba-cuda", "cuda.core"]
    monkeypatch.setattr(cuda_build, "versions", lambda: ("nvrtc of tomorrow",))
    build()
    assert len(list(empty_cache.glob("dask_graphgpu_cuda_*/cubin"))) == 5


def test_a_torn_cubin_is_compiled_again(empty_cache, folder):
    given = {"defines": {"T": "int"}, "text": "", "functions": ()}
    code = cuda_build.cubin("twice", "sm_90", **given)
    (kept,) = empty_cache.glob("*/cubin")
    kept.write_bytes(kept.read_bytes()[:-100])
    assert cuda_build.cubin("twice", "sm_90", **given) == code


def test_a_cubin_that_cannot_be_kept_is_used_all_the_same(folder, monkeypatch):
    def full(name):
        raise OSError("no space left on the device")

    monkeypatch.setattr(cache_folder, "entry", full)
    given = {"defines": {"T": "int"}, "text": "", "functions": ()}
    with pytest.warns(RuntimeWarning, match="no space left"):
        assert cuda_build.cubin("twice", "sm_90", **given)[:4] == b"\x7fELF"


def test_what_does_not_compile_is_told_with_its_line(folder):
    (folder / "bad.cu").write_text('#include "head.cuh"\nint x = nothing;\n')
    with pytest.raises(GraphError, match=r"(?s)bad\.cu.*nothing"):
        cuda_cubin("bad", "sm_90")
