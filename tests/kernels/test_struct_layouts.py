"""Structs that kernels and the host share lie alike in kernels/cuda and in the engines.

Both are read as text: neither a GPU nor a compiler is needed.
"""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
KERNELS, ENGINES = ROOT / "kernels/cuda", ROOT / "dask_graphgpu/engine"
BYTES = {"uint64": 8, "int64": 8, "double": 8, "PRIORITY": 8, "uint32": 4, "int32": 4, "float": 4}
MEMBER = re.compile(r"(?:alignas\((\d+)\) )?(?:const )?(\w+) (\**.+)")


def layout(name, file, seen=()):
    """Offsets of the members of a struct by name, its bytes, and what these are to be a multiple of."""
    text = re.sub(r"//.*", "", (KERNELS / file).read_text())
    text = re.sub(r"#if TIERED.*?#endif\n", "", text, flags=re.S)
    found = re.search(rf"struct (?:alignas\((\d+)\) )?{name} {{(.*?)\n}};", text, re.S)
    if found is None:
        for other in re.findall(r'#include "(\w+\.cuh)"', text):
            if other not in seen and (made := layout(name, other, (*seen, file))):
                return made
        return None
    offsets, end, most = {}, 0, int(found[1] or 1)
    members = found[2].partition("__device__")[0].split(";")  # functions stand behind them
    for statement in filter(None, map(str.strip, members)):
        aligned, kind, names = MEMBER.fullmatch(" ".join(statement.split())).groups()
        for each in names.split(","):
            star, member, *lengths = re.fullmatch(r"\s*(\**)(\w+)((?:\[\w+\])*)", each).groups()
            number = int(np.prod([size(word, text) for word in re.findall(r"\w+", lengths[0])]))
            if star:
                nbytes, multiple = 8, 8
            elif kind in BYTES:
                nbytes = multiple = BYTES[kind]
            else:
                _, nbytes, multiple = layout(kind, file)
            multiple = max(multiple, int(aligned or 1))
            end = -(-end // multiple) * multiple
            offsets[member], end, most = end, end + number * nbytes, max(most, multiple)
    return offsets, -(-end // most) * most, most


def size(word, text):
    """An array's length, which may be a constant of the file."""
    return int(word) if word.isdigit() else int(re.search(rf"\b{word} = (\d+);", text)[1])


def of_host(file, name):
    """What a module assigns to a name, without importing it: it may need CuPy."""
    for node in ast.parse((ENGINES / file).read_text()).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(each, ast.Name) and each.id == name for each in targets):
            given = {"np": np} | ({"_RUN": of_host(file, "_RUN")} if name == "_RUNS" else {})
            return eval(compile(ast.Expression(node.value), file, "eval"), given)
    raise AssertionError(f"{file} has no {name}")


def as_dtype(members):
    """As `np.dtype`; members by name, where "priority" stands for a type of 8 bytes."""
    if isinstance(members, np.dtype):
        return members
    pairs = members.items() if isinstance(members, dict) else members
    return np.dtype([(name, "i8" if kind == "priority" else kind) for name, kind in pairs])


WITH_RUNS = sorted(
    path.name for path in (ENGINES / "gpu").glob("*.py") if "_FIELDS" in path.read_text()
)
KERNEL_OF = {"communities": "louvain.cu"}


@pytest.mark.parametrize("module", WITH_RUNS)
def test_what_stands_before_the_runs_of_a_launch(module):
    stem = module.removesuffix(".py")
    offsets, _, _ = layout("State", KERNEL_OF.get(stem, f"{stem}.cu"))
    fields = as_dtype(of_host(f"gpu/{module}", "_FIELDS"))
    assert fields.itemsize == offsets["runs"]
    same = [name for name in fields.names if name in offsets]
    assert len(same) >= 2
    assert {name: fields.fields[name][1] for name in same} == {name: offsets[name] for name in same}


WHOLE = [
    ("gpu/runs.py", "_RUN", "runs.cuh", "Run"),
    ("gpu/runs.py", "_RUNS", "runs.cuh", "Runs"),
    ("gpu/near_far.py", "_CONTROL", "near_far.cuh", "Control"),
    ("gpu/near_far.py", "_LISTS", "near_far.cuh", "Lists"),
    ("device_ranks/near_far.py", "_AGREED", "near_far_ranks.cu", "Agreed"),
    ("device_ranks/by_level.py", "_PART", "by_level.cu", "Part"),
    ("gpu/community_levels.py", "_ROUND", "louvain.cu", "Round"),
]


@pytest.mark.parametrize(("module", "name", "file", "struct"), WHOLE)
def test_structs_of_the_same_members(module, name, file, struct):
    offsets, nbytes, _ = layout(struct, file)
    found = as_dtype(of_host(module, name))
    assert found.itemsize == nbytes
    assert [spelled(each) for each in found.names for _ in range(words(found[each]))] == [
        each for each, many in lengths(offsets, nbytes).items() for _ in range(many)
    ]


def spelled(name):
    """Members of an array in the kernel have numbers on the host: near_0, near_1."""
    return re.sub(r"_\d$", "", name)


def words(kind):
    return kind.itemsize // 8


def lengths(offsets, nbytes):
    """Words of 8 bytes of each member."""
    ends = [*list(offsets.values())[1:], nbytes]
    return {name: (end - at) // 8 for (name, at), end in zip(offsets.items(), ends, strict=True)}


def test_the_control_block_of_programs():
    """Of which the host reads two words of 32 bits as one of 64."""
    offsets, nbytes, _ = layout("RunControl", "program.cuh")
    names = of_host("gpu/arrays.py", "CONTROL")
    assert nbytes == 8 * len(names)
    halves = {"small": "rows"}  # the list's first length begins the word
    begins = {halves.get(name, name): at for name, at in offsets.items() if at % 8 == 0}
    assert begins == {name: 8 * i for i, name in enumerate(names)}


def test_what_a_rank_tells():
    _, nbytes, _ = layout("Told", "near_far_ranks.cu")
    assert nbytes == 8 * of_host("device_ranks/near_far.py", "_TOLD")


def test_where_a_search_finds_its_planes():
    place = of_host("gpu/multi_bfs.py", "_PLACE_OF_PLANES")
    assert place.start == layout("State", "multi_bfs.cu")[0]["planes"]
