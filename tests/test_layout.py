"""The shape of the code: the direction of imports, the cost of importing, parents and names of classes."""

import ast
import compileall
import functools
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from itertools import takewhile

import pytest
from package_modules import MODULES, ROOT

# The areas from the bottom up, and what each may import. All that is left out would be an arrow upwards.
_BELOW = {
    "errors": "",
    "arguments": "errors",
    "config": "arguments errors",
    "markup": "",
    "optional": "errors",
    "stages": "",
    "report": "errors kernels markup",
    "functions": "errors",
    "fields": "arguments errors functions",
    "program": "arguments errors fields functions",
    "interrupting": "",
    "forking": "",
    "kernels": "config errors interrupting",
    "exchange": "config errors kernels",
    "partition": "arguments config errors exchange interrupting kernels stages",
    "io": "arguments config errors exchange interrupting kernels partition stages",
    "store": "config errors exchange io kernels markup partition",
    "engine": "config errors exchange fields functions interrupting kernels partition program report",
    "algorithms": "arguments checkpoint engine errors exchange fields functions io optional partition "
    "program report",
    "ingest": "config errors exchange io kernels partition stages",
    "checkpoint": "arguments errors exchange io partition store",
    "cluster": "algorithms arguments checkpoint config engine errors exchange ingest interrupting io "
    "partition report stages store",
    "inputs": "cluster errors ingest io partition store",
    "execute": "algorithms checkpoint cluster engine errors exchange ingest inputs interrupting io "
    "partition report where",
    "where": "algorithms engine errors",
    "since": "algorithms cluster errors execute ingest inputs io partition store where",
    "labelled": "algorithms checkpoint cluster errors execute ingest inputs io partition since where",
    "signatures": "algorithms errors",
    "tiers": "config engine errors store",
    "features": "algorithms arguments errors execute ingest inputs io signatures",
    "as_networkx": "errors io optional",
    "opening": "cluster engine ingest inputs io partition store",
    "changed_rows": "errors ingest io partition store",
    "updating": "arguments changed_rows errors inputs opening store",
    "graph_options": "arguments cluster config engine errors inputs io partition",
    "at_hand": "algorithms cluster engine errors execute inputs partition store",
    "methods": "algorithms arguments checkpoint errors inputs io labelled signatures",
    "graph_parts": "cluster errors inputs io partition",
    "windows": "algorithms arguments errors graph_parts inputs io",
    "filtering": "arguments errors graph_parts inputs io windows",
    "graphs": "",  # all above
    "matching": "arguments errors ingest io kernels partition",
    "report_drawing": "errors optional report",
    "bars": "",
    "progress": "bars cluster report stages",
    "loading": "arguments cluster config engine errors graph_options graphs io opening store",
    "post_import": "",
    "accessor": "algorithms config errors graphs io post_import signatures",
    "drawn_values": "as_networkx errors io",
    "drawing": "accessor arguments as_networkx at_hand drawn_values errors graphs io optional",
    "jobs": "algorithms checkpoint cluster config engine errors features graph_options io loading "
    "matching partition progress report store",
    "prebuild": "algorithms engine kernels program",
    "networkx_info": "",
    "networkx_weights": "",
    "networkx_graph": "graphs networkx_weights",
    "networkx_functions": "errors kernels networkx_graph networkx_weights",
    "networkx_backend": "networkx_functions networkx_graph",
}
ALLOWED = {name: set(below.split()) for name, below in _BELOW.items()}
ALLOWED["graphs"] = {*takewhile(lambda name: name != "graphs", _BELOW)}

# The rooms of engine/, and what each may import of the others. All are loaded by name when a run starts.
ROOMS = {
    "cuda": set(),
    "cpu": set(),
    "paged": {"cpu"},
    "ranks": {"cpu"},
    "gpu": {"cuda"},
    "device_ranks": {"cuda", "gpu", "ranks"},
    "tiered": {"cuda", "gpu", "cpu", "paged"},
    "hybrid": {"cuda", "gpu", "tiered", "cpu", "paged"},
}
# Entries of the host, which choose between its rooms when a run starts, and import what they choose then.
ENTRIES = {"dask_graphgpu.engine.cpu.programs", "dask_graphgpu.engine.cpu.bfs"}
LATE = 48  # imports inside functions, at most
# Building a partition uses the threads that the CPU engine runs its kernels on, and nothing else of it.
THREADS = "dask_graphgpu.kernels.cpu.threads"
# Loaded by name when a run starts; all else must not load these packages by being imported.
LOADED_AT_FIRST_USE = (
    "dask_graphgpu.kernels",
    "dask_graphgpu.engine.cpu",
    "dask_graphgpu.engine.cuda",
    "dask_graphgpu.engine.device_ranks",
    "dask_graphgpu.engine.gpu",
    "dask_graphgpu.engine.hybrid",
    "dask_graphgpu.engine.lower",
    "dask_graphgpu.engine.module_cache",
    "dask_graphgpu.engine.ranks",
    "dask_graphgpu.engine.tiered",
    "dask_graphgpu.exchange.nccl",
    "dask_graphgpu.partition.device",
    "dask_graphgpu.io.device",
)
HEAVY = {"numba", "llvmlite", "cupy", "cupyx", "cudf", "dask_cudf", "dask_cuda"}


@functools.cache
def parsed(path):
    return ast.parse(path.read_text(), str(path))


@functools.cache
def imports(path, *, module_level_only):
    """Dotted names that a file imports, except for type checkers only."""
    names = []

    def visit(node):
        if isinstance(node, ast.Import):
            names.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.append(node.module)
            names.extend(f"{node.module}.{alias.name}" for alias in node.names)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            children = node.orelse
        elif module_level_only and isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        ):
            children = []
        else:
            children = ast.iter_child_nodes(node)
        for child in children:
            visit(child)

    visit(parsed(path))
    return names


def area(module):
    """First name below dask_graphgpu (errors, engine, kernels...)."""
    return [*module.split("."), ""][1]


AREAS = {area(name) for name in MODULES} - {""}


def test_every_area_has_its_place_in_the_order():
    assert AREAS <= set(ALLOWED), (
        "add the new area to ALLOWED, and to docs/decisions/0001-layout.md"
    )


def test_allowed_imports_have_no_cycle():
    done = set()
    while len(done) < len(ALLOWED):
        ready = {name for name, below in ALLOWED.items() if below <= done} - done
        assert ready, f"a cycle among {sorted(set(ALLOWED) - done)}"
        done |= ready


def all_imports(area_of=None):
    """Pairs of a module, of one area or of any, and a name that it imports."""
    return [
        (name, imported)
        for name, path in MODULES.items()
        if area_of in (None, area(name))
        for imported in imports(path, module_level_only=False)
    ]


def test_imports_point_one_way():
    wrong = []
    for name, imported in all_imports():
        top, target, own = imported.split(".")[0], area(imported), area(name)
        if top in {"kernels", "io"} and imported != "io":
            wrong.append(f"{name}: bare import of {imported}")
        if name == "dask_graphgpu" or top != "dask_graphgpu" or target not in AREAS:
            continue  # the front door may
        if target != own and target not in ALLOWED[own]:
            wrong.append(f"{name} imports {imported}: {own} may import {sorted(ALLOWED[own])}")
    assert not wrong


def test_engines_import_one_another_one_way():
    wrong = []
    for name, imported in all_imports("engine"):
        room, target = [*name.split("."), ""][2], [*imported.split("."), "", ""][2]
        if area(imported) != "engine" or target not in ROOMS or target == room:
            continue
        if name in ENTRIES and target in ("paged", "ranks"):
            continue
        if target not in ROOMS.get(room, ()):
            wrong.append(f"{name} imports {imported}")
    assert not wrong


def late_imports(path):
    """How many import statements stand inside functions."""
    functions = (
        node
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    inside = (node for function in functions for node in ast.walk(function))
    return len({node for node in inside if isinstance(node, ast.Import | ast.ImportFrom)})


def test_imports_stand_at_the_top():
    """Where they show who needs whom, and Python tells of a circle.

    Inside functions stand those of packages that need not be installed, in files that are loaded
    without them, and of what few calls need and `import dask_graphgpu` does not wait for. Lower the
    number with every one that goes; before one is raised, look for what is shared and where it belongs.
    """
    found = {name: late_imports(path) for name, path in MODULES.items()}
    assert sum(found.values()) <= LATE, {name: number for name, number in found.items() if number}


def classes_and_parents(room):
    """Each class of a package, and those of the package that it is derived from, by their full names."""
    found = {}
    for module, path in MODULES.items():
        if not module.startswith(room):
            continue
        nodes = list(ast.walk(parsed(path)))
        names = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                bases = (ast.unparse(base).partition("[")[0].partition(".") for base in node.bases)
                found[f"{module}.{node.name}"] = [
                    names.get(first, f"{module}.{first}") + dot + rest for first, dot, rest in bases
                ]
    return {each: [base for base in bases if base in found] for each, bases in found.items()}


def test_engines_hold_parts_rather_than_derive():
    """A class of the engines has one parent there, and no more than four classes say what it does."""
    parents = classes_and_parents("dask_graphgpu.engine")
    assert len(parents) > 100
    parents = {
        each: of for each, of in parents.items() if each.split(".")[-1] != "Engine"
    }  # the contract
    for each, bases in parents.items():
        assert len(bases) <= 1, f"{each} has the parents {bases}: hold one as a part"
        order = [each]
        while parents[order[-1]]:
            order += parents[order[-1]]
        assert len(order) <= 4, f"{each} is made of {order}: hold some of it as a part"


def test_heavy_packages_are_imported_at_first_use():
    assert not [
        f"{name} imports {imported} at module level"
        for name, path in MODULES.items()
        if not name.startswith(LOADED_AT_FIRST_USE)
        for imported in imports(path, module_level_only=True)
        if imported.split(".")[0] in HEAVY
    ]


def test_algorithms_know_neither_device_nor_scheduler():
    banned = HEAVY | {"dask", "distributed"}
    found = all_imports("algorithms")
    assert not [(name, i) for name, i in found if i.split(".")[0] in banned]


def fresh_import(folder):
    """Import Dask, then the package of a folder, in a new interpreter; what either took, and what the second loaded."""
    code = (
        "import json, sys, time\n"
        "first = time.process_time()\n"
        "import dask.dataframe, distributed\n"
        "given = set(sys.modules)\n"  # Dask itself may have loaded CuPy
        "before = time.process_time()\n"
        "import dask_graphgpu\n"
        "after = time.process_time()\n"
        f"assert dask_graphgpu.__file__.startswith({str(folder)!r})\n"
        f"heavy = sorted((set(sys.modules) - given) & {HEAVY!r})\n"
        "print(json.dumps([before - first, after - before, heavy]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder
    )
    return json.loads(done.stdout)


def test_import_is_cheap(tmp_path):
    # Compiled as an installer does it, wherever this environment writes no bytecode by itself.
    # Processor time, and once of five times is enough: other work on the machine, which shares caches, only adds.
    # Where there is so much of it that Dask's own import takes longer, too, by that.
    shutil.copytree(ROOT / "dask_graphgpu", tmp_path / "dask_graphgpu")
    assert compileall.compile_dir(tmp_path, quiet=1)
    for _ in range(5):
        of_dask, seconds, heavy = fresh_import(tmp_path)
        assert heavy == []
        if seconds <= max(0.3, 0.35 * of_dask):
            return
    pytest.fail(f"the import takes {seconds:.2f} s of processor time, that of Dask {of_dask:.2f} s")


def test_rooms_say_what_they_may_import():
    for area, allowed in ALLOWED.items():
        folder = ROOT / "dask_graphgpu" / area
        if (folder / "__init__.py").exists() and area != "networkx_info":
            assert f"It may import {named(allowed)} of the package." in said(folder)
    for room, allowed in ROOMS.items():
        folder = ROOT / "dask_graphgpu/engine" / room
        assert f"Of the engines it may import {named(allowed) or 'no other'}." in said(folder)


def named(rooms):
    return ", ".join(f"`{room}`" for room in sorted(rooms))


def said(folder):
    return " ".join(ast.get_docstring(ast.parse((folder / "__init__.py").read_text())).split())


# What is the same thing for the host and for GPUs, or for one rank and several.
COUNTERPARTS = {
    "Arrays", "Level", "Lowered", "News", "RankInPlace", "Search", "Sweeps", "Synchronous",
}  # fmt: skip


def test_one_name_is_of_one_class():
    found = Counter(
        node.name
        for path in (ROOT / "dask_graphgpu").rglob("*.py")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name, number in found.items() if number > 1} == COUNTERPARTS


def test_the_index_of_helpers_is_whole():
    folder = ROOT / "tests"
    helpers = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("test_")}
    named = set(re.findall(r"`(\w+)`", (folder / "README.md").read_text()))
    assert helpers - {"conftest"} <= named
